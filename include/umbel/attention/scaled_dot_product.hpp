// SPDX-License-Identifier: BSL-1.0
// scaled_dot_product_attention: softmax(q k^T / sqrt(head_dim)) v, without projections (Vaswani et
// al. 2017), for tensors and views that are already split into heads:
//
//   q (batch, heads, query, head_dim)
//   k (batch, heads, key, head_dim)
//   v (batch, heads, key, head_dim)
//   scaled_dot_product_attention(q, k, v, causal)     (batch, heads, query, head_dim)
//
// with axes in any order and any strides, such as split and permute return. batch and heads are
// optional; keys and values may have fewer heads, kv_heads, shared by those of the queries; values,
// and then the result, may have value_dim instead of head_dim. Masks: mask/combine.hpp. Options
// (score.hpp): scaled_dot_product_attention_with<softcap<50>, score_scale<1, 8>>(q, k, v). Into
// your memory: scaled_dot_product_attention.into(out, q, k, v).
#pragma once

#include <umbel/attention/attend_heads.hpp>
#include <umbel/attention/calls.hpp>
#include <umbel/attention/score.hpp>
#include <umbel/config.hpp>
#include <umbel/tensor/pipe.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct but_the_queries_have_type;
struct but_the_queries_have;
struct scaled_dot_product_attention;
struct the_keys_have;
}  // namespace say

UMBEL_SAYS(so_rename_those_of_the_keys_to, "; rename those of the keys to");

namespace rules {

using kv_heads_family = axis_family<axes::kv_heads>;
using head_dim_family = axis_family<axes::head_dim>;
using value_dim_family = axis_family<axes::value_dim>;

template <class Layout, class... Families>
inline constexpr bool has_only =
    (std::size_t{0} + ... + Layout::template has<Families>) == Layout::rank;

// One of the arguments: it has Position and Width, otherwise only batch and Heads.
template <class Name, class X, class Position, class Heads, class Width>
using dot_product_argument = first_error<
    verdict<layout_of<X>::template has<Position>, say::scaled_dot_product_attention, Name,
            say::need_the_axis, Position, say::but_have, typename layout_of<X>::axes>,
    verdict<layout_of<X>::template has<Width>, say::scaled_dot_product_attention, Name,
            say::need_the_axis, Width, say::but_have, typename layout_of<X>::axes>,
    verdict<has_only<layout_of<X>, batch_family, Heads, Position, Width>,
            say::scaled_dot_product_attention, Name, say::may_have_only_the_axes,
            listed<batch_family, Heads, Position, Width>, say::but_have,
            typename layout_of<X>::axes>>;

// The heads of keys and values: heads, or kv_heads that divide them.
template <class Keys>
using heads_of_keys =
    std::conditional_t<Keys::template has<kv_heads_family>, kv_heads_family, heads_family>;
template <class Values>
using width_of_values =
    std::conditional_t<Values::template has<value_dim_family>, value_dim_family, head_dim_family>;
template <class Queries, class Keys>
inline constexpr bool heads_are_shared_out =
    Keys::template has<kv_heads_family>
        ? Queries::template has<heads_family> &&
              Queries::template size_of<heads_family> % Keys::template size_of<kv_heads_family> == 0
        : Queries::template size_of<heads_family> == Keys::template size_of<heads_family>;

// Fewer heads of keys with the queries' name: they could be kv_heads.
template <class Queries, class Keys>
struct kv_heads_unnamed_rule {
  using type = accepted;
};
template <class Queries, class Keys>
  requires(Queries::template has<heads_family> && Keys::template has<heads_family> &&
           Queries::template size_of<heads_family> > Keys::template size_of<heads_family> &&
           Queries::template size_of<heads_family> % Keys::template size_of<heads_family> == 0)
struct kv_heads_unnamed_rule<Queries, Keys> {
  using type = verdict<false, say::scaled_dot_product_attention, say::the_keys_have,
                       axis_of<Keys, heads_family>, say::but_the_queries_have,
                       axis_of<Queries, heads_family>, say::so_rename_those_of_the_keys_to,
                       axes::kv_heads<Keys::template size_of<heads_family>>>;
};

template <class Q, class K, class V>
using dot_product = first_error<
    floating<say::scaled_dot_product_attention, typename Q::value_type>,
    dot_product_argument<say::the_queries_in_argument_1, Q, query_family, heads_family,
                         head_dim_family>,
    dot_product_argument<say::the_keys_in_argument_2, K, key_family, heads_of_keys<layout_of<K>>,
                         head_dim_family>,
    dot_product_argument<say::the_values_in_argument_3, V, key_family, heads_of_keys<layout_of<K>>,
                         width_of_values<layout_of<V>>>,
    verdict<std::is_same_v<typename K::value_type, typename Q::value_type>,
            say::scaled_dot_product_attention, say::the_keys_in_argument_2, say::have_type,
            element<typename K::value_type>, say::but_the_queries_have_type,
            element<typename Q::value_type>>,
    verdict<std::is_same_v<typename V::value_type, typename Q::value_type>,
            say::scaled_dot_product_attention, say::the_values_in_argument_3, say::have_type,
            element<typename V::value_type>, say::but_the_queries_have_type,
            element<typename Q::value_type>>,
    same_size<say::scaled_dot_product_attention, batch_family, layout_of<Q>, say::the_queries,
              layout_of<K>, say::but_the_keys>,
    same_size<say::scaled_dot_product_attention, batch_family, layout_of<K>, say::the_keys,
              layout_of<V>, say::but_the_values>,
    same_size<say::scaled_dot_product_attention, head_dim_family, layout_of<Q>, say::the_queries,
              layout_of<K>, say::but_the_keys>,
    typename kv_heads_unnamed_rule<layout_of<Q>, layout_of<K>>::type,
    verdict<heads_are_shared_out<layout_of<Q>, layout_of<K>>, say::scaled_dot_product_attention,
            say::the_keys_have, axis_of<layout_of<K>, heads_of_keys<layout_of<K>>>,
            say::but_the_queries_have, axis_of<layout_of<Q>, heads_family>>,
    same_size<say::scaled_dot_product_attention, heads_of_keys<layout_of<K>>, layout_of<K>,
              say::the_keys, layout_of<V>, say::but_the_values>,
    same_size<say::scaled_dot_product_attention, key_family, layout_of<K>, say::the_keys,
              layout_of<V>, say::but_the_values>>;

template <class... Options>
using dot_product_options = first_error<
    options<say::scaled_dot_product_attention,
            option_kinds<option::score_scale, option::softcap, option::empty_rows>, Options...>,
    scoring<say::scaled_dot_product_attention, detail::scoring<Options...>>>;

}  // namespace rules

template <class Q, class K, class V>
struct dot_product_call {
  using T = typename Q::value_type;
  using ql = layout_of<Q>;
  using kl = layout_of<K>;
  using vl = layout_of<V>;
  using kv_family = rules::heads_of_keys<kl>;
  using width_family = rules::width_of_values<vl>;
  using width_axis = axis_of<vl, width_family>;
  using result = layout_with_axes<typename algebra::detail::replace_axes<
      ql, ql::template position<rules::head_dim_family>, 1, shape<width_axis>>::type>;

  template <class Layout, class Family>
  static constexpr std::size_t count =
      Layout::template has<Family> ? Layout::template size_of<Family> : 1;
  static constexpr std::size_t batches = count<ql, rules::batch_family>;
  static constexpr std::size_t heads = count<ql, rules::heads_family>;
  static constexpr std::size_t group = heads / count<kl, kv_family>;
  static constexpr std::size_t queries = ql::template size_of<rules::query_family>;
  static constexpr std::size_t keys = kl::template size_of<rules::key_family>;
  static constexpr std::uint64_t flops =
      batches * heads *
      kernel::product_flops(queries, keys,
                            ql::template size_of<rules::head_dim_family> + width_axis::size);
  using scores = scores_of<T, ql::template size_of<rules::batch_family>, heads, queries, keys>;

  template <class Out>
  static constexpr kernel::attend_shape head_into = {
      .queries = queries,
      .keys = keys,
      .head_dim = ql::template size_of<rules::head_dim_family>,
      .value_dim = width_axis::size,
      .q_row = ql::template stride_of<rules::query_family>,
      .q_dim = ql::template stride_of<rules::head_dim_family>,
      .k_row = kl::template stride_of<rules::key_family>,
      .k_dim = kl::template stride_of<rules::head_dim_family>,
      .v_row = vl::template stride_of<rules::key_family>,
      .v_dim = vl::template stride_of<width_family>,
      .o_row = Out::template stride_of<rules::query_family>,
      .o_dim = Out::template stride_of<width_family>,
      .o_room = queries};

  // Scratch for a result with any strides; results whose queries are not adjacent need the most.
  struct workspace : workspace_base {
    static constexpr kernel::attend_shape head = [] {
      kernel::attend_shape apart = head_into<result>;
      apart.o_row = 2;
      return apart;
    }();
    alignas(64) T scratch[kernel::attend_scratch<head, T>];
  };

  // Calls f(b, h, q, k, v, o) for each head of each sequence, with its parts.
  template <class Out, class F>
  static constexpr void for_each_head(const T* q, const T* k, const T* v, Out& out, F&& f) {
    using ol = typename Out::layout;
    for (std::size_t b = 0; b < batches; ++b)
      for (std::size_t h = 0; h < heads; ++h)
        f(b, h,
          q + b * ql::template stride_of<rules::batch_family> +
              h * ql::template stride_of<rules::heads_family>,
          k + b * kl::template stride_of<rules::batch_family> +
              h / group * kl::template stride_of<kv_family>,
          v + b * vl::template stride_of<rules::batch_family> +
              h / group * vl::template stride_of<kv_family>,
          out.data() + b * ol::template stride_of<rules::batch_family> +
              h * ol::template stride_of<rules::heads_family>);
  }

  template <class Of, class Mask, class Out>
  static constexpr void each_sequence(const Of&, const Q& q, const K& k, const V& v,
                                      const Mask& mask, Out& out, workspace& work) noexcept {
    constexpr auto head = head_into<typename Out::layout>;
    static_assert(kernel::attend_scratch<head, T> <= sizeof(work.scratch) / sizeof(T));
    using ol = typename Out::layout;
    constexpr kernel::heads_shape all_heads = {
        .heads = heads,
        .share = group,
        .q_head = ql::template stride_of<rules::heads_family>,
        .k_head = kl::template stride_of<kv_family>,
        .v_head = vl::template stride_of<kv_family>,
        .o_head = ol::template stride_of<rules::heads_family>};
    const auto& masks = as_mask(mask);
    for (std::size_t b = 0; b < batches; ++b) {
      heads_of_sequence<head, all_heads, T, typename Of::scoring>::attend(
          q.data() + b * ql::template stride_of<rules::batch_family>,
          k.data() + b * kl::template stride_of<rules::batch_family>,
          v.data() + b * vl::template stride_of<rules::batch_family>,
          out.data() + b * ol::template stride_of<rules::batch_family>, work.scratch,
          at_sequence<scores>(masks, b));
    }
  }
};

template <class... Options>
struct dot_product_forms {
  static constexpr bool in_formulas = false;
  template <class Q, class K, class V, class Mask, class Workspace, class Out>
  struct call_of : dot_product_call<Q, K, V> {
    using call = call_of;
    using shapes = dot_product_call<Q, K, V>;
    using result = tensor_of<typename shapes::T, typename shapes::result>;
    using place = typename shapes::workspace;
    using verdict = first_error<
        rules::out_fits<say::scaled_dot_product_attention, Out, typename shapes::T,
                        typename shapes::result>,
        rules::mask_fits<say::scaled_dot_product_attention, mask_of<Mask>, typename shapes::scores>,
        rules::scratch_fits<say::scaled_dot_product_attention, Workspace, place,
                            shape<axes::query<shapes::queries>, axes::key<shapes::keys>>>>;
  };
  template <class Q, class K, class V, class Mask, class Workspace, class Out>
  using cross =
      call_rule<first_error<rules::dot_product_options<Options...>, rules::dot_product<Q, K, V>>,
                call_of<Q, K, V, Mask, Workspace, Out>>;
  // workspace_for<decltype(scaled_dot_product_attention), Q, K, V>
  template <class Q, class K, class V>
  using cross_workspace = typename dot_product_call<Q, K, V>::workspace;
};
template <class... Options>
struct scaled_dot_product_operation
    : attention_calls<
          scaled_dot_product_operation<Options...>, dot_product_forms<Options...>,
          say::scaled_dot_product_attention,
          say::
              expects_queries_keys_and_values_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace> {
  using scoring = detail::scoring<Options...>;
};
}  // namespace detail

// scaled_dot_product_attention_with<softcap<50>>(q, k, v, mask): scaled_dot_product_attention with
// options, score_scale<>, softcap<>, empty_rows<>.
template <class... Options>
UMBEL_EXPECTS(
    "scaled_dot_product_attention_with: expects options, the mask is an argument; write "
    "scaled_dot_product_attention_with<softcap<50>>(q, k, v, causal)")
inline constexpr detail::scaled_dot_product_operation<
    Options...> scaled_dot_product_attention_with{};
// scaled_dot_product_attention(q, k, v, mask): softmax(q k^T / sqrt(head_dim)) v for each head,
// without projections (Vaswani et al. 2017). q (batch, heads, query, head_dim), k and v (batch,
// heads, key, head_dim), with axes in any order; the result has the axes of q.
inline constexpr detail::scaled_dot_product_operation<> scaled_dot_product_attention{};
namespace detail {
template <class Q, class K, class V>
inline constexpr bool attends_by_dot_product = rules::dot_product<Q, K, V>::ok;
}  // namespace detail

// Would scaled_dot_product_attention(q, k, v) compile?
template <class Q, class K, class V>
concept attends_by_dot_product =
    detail::one_is_invalid<Q, K, V> ||
    detail::attends_by_dot_product<std::remove_cvref_t<Q>, std::remove_cvref_t<K>,
                                   std::remove_cvref_t<V>>;

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
