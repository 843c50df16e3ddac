// SPDX-License-Identifier: BSL-1.0
// A layer without some of its heads: its weights are the columns and rows of the kept heads.
//
//   using smaller = pruned<attention, prune_heads<1, 3>>;      // or keep_heads<0, 2, 4>
//   static const smaller::weights w2 = pruned_weights<attention, prune_heads<1, 3>>(w);
//   smaller{w2}(x)   // the bits of attention{w}(x) without the contributions of heads 1 and 3
//
// Which heads to prune: Michel, Levy and Neubig 2019, "Are Sixteen Heads Really Better than One?";
// examples/08_prune_heads.cpp measures it on a trained model.
#pragma once

#include <umbel/attention/multi_head.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/prepacked.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// Heads by number, from 0: keep_heads<0, 2, 4> keeps these, prune_heads<1, 3> all others.
template <std::size_t... Head>
struct keep_heads {
  static constexpr bool keeps = true;
};
template <std::size_t... Head>
struct prune_heads {
  static constexpr bool keeps = false;
};
namespace detail {
namespace say {
struct head;

struct pruned;
struct shares_its_keys_and_values_with_heads_that_are_treated_differently_so_name_whole_groups_of;
}  // namespace say

template <class Selection>
inline constexpr bool is_head_selection = false;
template <std::size_t... Head>
inline constexpr bool is_head_selection<keep_heads<Head...>> = true;
template <std::size_t... Head>
inline constexpr bool is_head_selection<prune_heads<Head...>> = true;

UMBEL_SAYS(the_second_argument_must_be_keep_heads_or_prune_heads,
           "the second argument must be keep_heads or prune_heads");

// The kept heads, and the kept heads of keys and values.
template <head_sizes S, class Selection, std::size_t... Head>
struct head_choice {
  static constexpr std::size_t group = S.heads / S.kv_heads;

  static constexpr bool is_named(std::size_t head) { return ((Head == head) || ...); }
  static constexpr bool stays(std::size_t head) { return is_named(head) == Selection::keeps; }
  static constexpr std::size_t count = [] {
    std::size_t kept = 0;
    for (std::size_t h = 0; h < S.heads; ++h) kept += stays(h);
    return kept;
  }();
  // The first named head that doesn't exist, is named twice or splits its group; or npos.
  static constexpr std::size_t past_the_end = [] {
    std::size_t found = npos;
    ((found = found == npos && Head >= S.heads ? Head : found), ...);
    return found;
  }();
  static constexpr std::size_t twice = [] {
    std::size_t found = npos;
    const std::size_t all[] = {Head..., npos};
    for (std::size_t i = 0; i < sizeof...(Head); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (all[i] == all[j] && found == npos) found = all[i];
    return found;
  }();
  static constexpr std::size_t out_of_group = [] {
    for (std::size_t h = 0; h < S.heads; ++h)
      if (stays(h) != stays(h / group * group)) return h;
    return npos;
  }();

  static constexpr std::size_t place(std::size_t n) {
    for (std::size_t h = 0; h < S.heads; ++h)
      if (stays(h) && n-- == 0) return h;
    return npos;
  }
};
template <head_sizes S, class Selection>
struct head_choice_of;
template <head_sizes S, std::size_t... Head>
struct head_choice_of<S, keep_heads<Head...>> : head_choice<S, keep_heads<Head...>, Head...> {};
template <head_sizes S, std::size_t... Head>
struct head_choice_of<S, prune_heads<Head...>> : head_choice<S, prune_heads<Head...>, Head...> {};

namespace rules {
template <class Layer, class Choice>
using prune = first_error<
    verdict<Choice::past_the_end == npos, say::pruned, say::head, number<Choice::past_the_end>,
            say::is_past_the_end_of, axes::heads<Layer::sizes.heads>>,
    verdict<Choice::twice == npos, say::pruned, say::head, number<Choice::twice>,
            struct is_named_twice>,
    verdict<Choice::count != 0, say::pruned, say::none_of, axes::heads<Layer::sizes.heads>,
            say::would_be_left>,
    verdict<
        Choice::out_of_group == npos, say::pruned, say::head, number<Choice::out_of_group>,
        say::
            shares_its_keys_and_values_with_heads_that_are_treated_differently_so_name_whole_groups_of,
        number<Choice::group>>>;
}  // namespace rules
}  // namespace detail

// Would pruned<Layer, Selection> compile? prunable<attention, prune_heads<1, 3>>.
template <class Layer, class Selection>
concept prunable = detail::rules::prune<Layer, detail::head_choice_of<Layer::sizes, Selection>>::ok;

namespace detail {
// The biases of a layer as an option.
template <head_sizes S>
struct same_biases {
  using kind = option::bias;
  static constexpr bool known = true;
  static constexpr bool q = S.q_bias, k = S.k_bias, v = S.v_bias, o = S.o_bias;
};

template <class Layer, class List>
struct with_options;
template <class T, class Hidden, class Heads, class... Options, class... More>
struct with_options<multi_head_attention<T, Hidden, Heads, Options...>, option_list<More...>> {
  using type = multi_head_attention<T, Hidden, Heads, Options..., More...>;
};

// Of heads that the layer does not have: refused, and so are no more errors of its use.
template <class Layer>
class refused_layer : public invalid {
 public:
  using weights = typename Layer::weights;
  using weights_view = typename Layer::weights_view;
  static constexpr head_sizes sizes = Layer::sizes;
  template <class...>
  using workspace = invalid;
  template <class... Weights>
  constexpr explicit refused_layer(const Weights&...) noexcept {}
};
// type: without those heads. given: the same to users, refused_layer if they do not fit.
template <class Layer, class... How>
struct pruned_layer;
template <class Layer, class Selection>
struct pruned_layer<Layer, Selection> {
  using choice = head_choice_of<Layer::sizes, Selection>;
  using verdict = rules::prune<Layer, choice>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  static constexpr head_sizes sizes = Layer::sizes;
  static constexpr std::size_t heads = verdict::ok ? choice::count : 1;
  static constexpr std::size_t kv_heads = verdict::ok ? choice::count / choice::group : 1;
  using type = typename with_options<
      multi_head_attention<
          typename Layer::value_type, typename Layer::hidden_axis, axes::heads<heads>,
          axes::head_dim<sizes.head_dim>, axes::value_dim<sizes.value_dim>,
          axes::kv_heads<kv_heads>, keys_from<typename Layer::keys_axis>,
          values_from<typename Layer::values_axis>, output_to<typename Layer::output_axis>,
          detail::same_biases<sizes>, typename Layer::rope_option,
          typename Layer::scoring::scale_option, typename Layer::scoring::softcap_option,
          empty_rows<typename Layer::scoring::empty>>,
      typename Layer::norm_options>::type;
  using given = std::conditional_t<verdict::ok, type, refused_layer<Layer>>;
};

template <class Layer, class Selection>
  requires(!is_multi_head<Layer> || !is_head_selection<Selection>)
struct pruned_layer<Layer, Selection> {
  using fits = first_error<rules::a_multi_head_attention<say::pruned, Layer>,
                           verdict<is_head_selection<Selection>, say::pruned,
                                   say::the_second_argument_must_be_keep_heads_or_prune_heads>>;
  static_assert(report<fits>::ok, "umbel: shapes do not fit");
  using type =
      std::conditional_t<is_multi_head<Layer>, Layer,
                         multi_head_attention<float, axes::hidden<1>, axes::heads<1>, bias<true>>>;
  using given = refused_layer<type>;
};

// Columns of the kept heads: from (in, heads * Width) with any strides to (in, kept * Width).
template <std::size_t Width, std::size_t Kept, class Place, class W, class T>
constexpr void take_columns(const W& from, Place place, T* to) noexcept {
  for (std::size_t i = 0; i < W::map::in::size; ++i)
    for (std::size_t n = 0; n < Kept; ++n)
      for (std::size_t d = 0; d < Width; ++d)
        *to++ = from.weight[i * from.strides.in + (place(n) * Width + d) * from.strides.out];
}
// Rows of the kept heads: from (heads * Width, out) with any strides to (kept * Width, out).
template <std::size_t Width, std::size_t Kept, class Place, class W, class T>
constexpr void take_rows(const W& from, Place place, T* to) noexcept {
  for (std::size_t n = 0; n < Kept; ++n)
    for (std::size_t d = 0; d < Width; ++d)
      for (std::size_t o = 0; o < W::map::out::size; ++o)
        *to++ = from.weight[(place(n) * Width + d) * from.strides.in + o * from.strides.out];
}
template <std::size_t Width, std::size_t Kept, class Place, class W, class Map>
constexpr void take_outputs(const W& from, Place place, Map& to) noexcept {
  take_columns<Width, Kept>(from, place, to.weight);
  if constexpr (Map::map::has_bias)
    for (std::size_t n = 0; n < Kept; ++n)
      for (std::size_t d = 0; d < Width; ++d)
        to.bias[n * Width + d] = from.bias[place(n) * Width + d];
}
template <class From, class Norm>
constexpr void copy_norm(const From& from, Norm& to) noexcept {
  const auto copied = [](const auto& x, auto& y) {
    for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] = x.data()[i];
  };
  copied(from.gamma, to.gamma);
  if constexpr (requires { to.beta; }) copied(from.beta, to.beta);
}
// The maps of queries, keys and values, and the shared norms. S: sizes of the smaller layer.
template <head_sizes S, class W, class Head, class KvHead, class Parts>
constexpr void take_heads(const W& from, Head head, KvHead kv_head, Parts& to) noexcept {
  take_outputs<S.head_dim, S.heads>(from.q, head, to.q);
  take_outputs<S.head_dim, S.kv_heads>(from.k, kv_head, to.k);
  take_outputs<S.value_dim, S.kv_heads>(from.v, kv_head, to.v);
  if constexpr (requires { to.q_norm; }) {
    copy_norm(from.q_norm, to.q_norm);
    copy_norm(from.k_norm, to.k_norm);
  }
}

}  // namespace detail

// pruned<attention, prune_heads<1, 3>>: the layer type without the pruned heads. A head that
// doesn't exist, a head named twice, or pruning every head does not compile ("pruned: head 7 is
// past the end of heads=5"); with kv_heads, heads are pruned by whole groups. Masks are those of
// the smaller layer: a heads axis has its heads, alibi its slopes. How: keep_heads<> or
// prune_heads<>; for a block the name of the attention goes before it (block/pruned_block.hpp).
template <class Layer, class... How>
using pruned = typename detail::pruned_layer<Layer, How...>::given;

// pruned_weights<attention, prune_heads<1, 3>>(w): the weights of the pruned layer, a copy of the
// kept heads. w: owned, or borrowed with matrices in any order, {view_as<out_features,
// in_features>(memory)}; the copy is (in, out). The bias of the result is kept whole.
template <class Layer, class Selection>
constexpr typename pruned<Layer, Selection>::weights pruned_weights(
    const typename prepacked<Layer>::weights_to_pack& w) noexcept {
  using smaller = pruned<Layer, Selection>;
  using choice = detail::head_choice_of<Layer::sizes, Selection>;
  constexpr detail::head_sizes from = Layer::sizes, to = smaller::sizes;
  constexpr auto head = [](std::size_t n) { return choice::place(n); };
  constexpr auto kv_head = [](std::size_t n) {
    return choice::place(n * choice::group) / choice::group;
  };
  typename smaller::weights out{};
  detail::take_heads<to>(w, head, kv_head, out);
  detail::take_rows<from.value_dim, to.heads>(w.o, head, out.o.weight);
  if constexpr (from.o_bias)
    for (std::size_t i = 0; i < from.output; ++i) out.o.bias[i] = w.o.bias[i];
  return out;
}

namespace detail {
UMBEL_SAYS(pruned_weights, "pruned_weights");
UMBEL_SAYS(expects_the_weights_of_that_layer_so_write_the_layer_and_its_heads,
           "expects the weights of the layer that is pruned; write pruned_weights<attention, "
           "prune_heads<1>>(w)");
template <class Layer, class W>
inline constexpr bool are_weights_to_prune = false;
template <class Layer, class W>
  requires is_multi_head<Layer>
inline constexpr bool are_weights_to_prune<Layer, W> =
    std::is_convertible_v<const W&, const typename prepacked<Layer>::weights_to_pack&>;
template <class... Given>
using no_weights_to_prune =
    verdict<never<Given...>, say::pruned_weights,
            say::expects_the_weights_of_that_layer_so_write_the_layer_and_its_heads>;
}  // namespace detail
// Other weights, no heads, or nothing between angle brackets: refused.
template <class Layer, class Selection, class W>
  requires(detail::is_multi_head<Layer> && detail::is_head_selection<Selection> &&
           !detail::are_weights_to_prune<Layer, W>)
constexpr detail::invalid pruned_weights(const W&) noexcept {
  static_assert(detail::report<detail::no_weights_to_prune<Layer>>::ok, "umbel: shapes do not fit");
  return {};
}
template <class Layer, class W>
  requires(detail::is_multi_head<Layer> && !detail::is_head_selection<W>)
constexpr detail::invalid pruned_weights(const W&) noexcept {
  static_assert(detail::report<detail::no_weights_to_prune<Layer>>::ok, "umbel: shapes do not fit");
  return {};
}
UMBEL_REFUSES_CALL(pruned_weights, (const Given&...),
                   "expects a layer and its heads; write pruned_weights<attention, "
                   "prune_heads<1>>(w)",
                   class Layer, auto First, auto... Rest)
template <class W, class Selection>
  requires detail::is_head_selection<Selection>
constexpr detail::invalid pruned_weights(const W&, const Selection&) noexcept {
  static_assert(detail::report<detail::no_weights_to_prune<W>>::ok, "umbel: shapes do not fit");
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
