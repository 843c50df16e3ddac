// SPDX-License-Identifier: BSL-1.0
// attention_by_score(f): attention with a custom score, a function of a query and a key, in the
// readable loops of kernel/plain/attend.hpp: for experiments, not for speed.
//
//   const auto near = attention_by_score([](const auto& q, const auto& k) {
//     float sum = 0;                                                  // q, k: views (head_dim)
//     for (std::size_t d = 0; d < 8; ++d) sum -= (q(d) - k(d)) * (q(d) - k(d));
//     return sum;                                                     // in natural units
//   });
//   near(q, k, v, causal)
//
// For arguments, masks and result see scaled_dot_product_attention. f returns the element type and
// must not throw; it may be called twice per pair. To only add to the dot product: score_bias.
#pragma once

#include <umbel/attention/scaled_dot_product.hpp>
#include <umbel/config.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct attention_by_score;
}  // namespace say

UMBEL_SAYS(expects_a_function_of_two_rows_so_write_its_call_after_it,
           "expects one function, of a row of queries and one of keys; write "
           "attention_by_score(f)(q, k, v)");
UMBEL_SAYS(expects_queries_keys_and_values_then_a_mask,
           "expects queries, keys and values; then a mask");

// f of rows Q and K of the tensors, in units of log2.
template <class F, class Q, class K>
struct score_of_rows {
  const F& f;
  const typename Q::element_type* q;
  const typename K::element_type* k;
  std::size_t q_row, k_row;

  constexpr auto operator()(std::size_t i, std::size_t j) const noexcept {
    using T = typename Q::value_type;
    return f(Q(q + i * q_row), K(k + j * k_row)) * simd::math_constants<T>::log2_e;
  }
};

// A row along head_dim as a view with Layout's stride.
template <class T, class Layout>
struct row_along_head_dim {
  static constexpr std::size_t step = Layout::template stride_of<rules::head_dim_family>;
  using axis = axis_of<Layout, rules::head_dim_family>;
  using type =
      std::conditional_t<step == 1, view<const T, axis>, view<const T, strided<axis, step>>>;
};
template <class X>
using row_of = typename row_along_head_dim<typename X::value_type, layout_of<X>>::type;

// Like dot_product_head for the dot product.
template <kernel::attend_shape S, class T, class Score>
struct scored_head {
  using value_type = T;
  static constexpr kernel::attend_shape shape = S;
  Score score;
  const T* v;
  T* o;

  template <class Policy, class Tap>
  constexpr void attend(const Policy& policy, Tap tap) const noexcept {
    kernel::plain::attend_by<S>(score, v, policy, o, tap);
  }
  template <class Policy, class Tap>
  constexpr void tap_scores(const Policy& policy, Tap tap) const noexcept {
    kernel::plain::tap_scores_by<S, T>(score, policy, tap);
  }
};

namespace rules {
template <class F, class Q, class K, class T>
inline constexpr bool scores_rows =
    requires(const F& f, const Q& q, const K& k) { requires std::is_same_v<decltype(f(q, k)), T>; };
template <class... Options>
using scored_options = first_error<
    options<say::attention_by_score, option_kinds<option::softcap, option::empty_rows>, Options...>,
    scoring<say::attention_by_score, detail::scoring<Options...>>>;
template <class F, class Q, class K>
using score_function =
    verdict<scores_rows<F, detail::row_of<Q>, detail::row_of<K>, typename Q::value_type>,
            say::attention_by_score, struct needs_a_function_of_two_views_along,
            axis_of<layout_of<Q>, head_dim_family>, struct that_returns,
            element<typename Q::value_type>>;
}  // namespace rules

template <class F, class... Options>
struct attention_by_score_operation
    : detail::other_calls<say::attention_by_score,
                          say::expects_queries_keys_and_values_then_a_mask> {
  using refused = detail::other_calls<say::attention_by_score,
                                      say::expects_queries_keys_and_values_then_a_mask>;
  using refused::operator();

  F score;
  constexpr explicit attention_by_score_operation(const F& of_rows) noexcept : score(of_rows) {}

  template <tensor_like Q, tensor_like K, tensor_like V, mask_like Mask = every_key>
  constexpr auto operator()(const Q& q, const K& k, const V& v,
                            const Mask& mask = {}) const noexcept {
    using fits = first_error<rules::scored_options<Options...>, rules::dot_product<Q, K, V>>;
    static_assert(report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using call = detail::dot_product_call<Q, K, V>;
      using verdict = first_error<
          rules::score_function<F, Q, K>,
          rules::mask_fits<say::attention_by_score, detail::mask_of<Mask>, typename call::scores>>;
      static_assert(report<verdict>::ok, "umbel: shapes do not fit");
      if constexpr (verdict::ok)
        return detail::filled<tensor_of<typename Q::value_type, typename call::result>>(
            [&](auto& out) { each_head<call>(q, k, v, detail::as_mask(mask), out); });
      else
        return invalid{};
    } else {
      return invalid{};
    }
  }

 private:
  template <class Call, class Q, class K, class V, class Mask, class Out>
  constexpr void each_head(const Q& q, const K& k, const V& v, const Mask& mask,
                           Out& out) const noexcept {
    using T = typename Q::value_type;
    using scores = detail::score_of_rows<F, detail::row_of<Q>, detail::row_of<K>>;
    constexpr auto head = Call::template head_into<typename Out::layout>;
    Call::for_each_head(
        q.data(), k.data(), v.data(), out,
        [&](std::size_t b, std::size_t h, const T* q_head, const T* k_head, const T* v_head, T* o) {
          detail::attend_head<detail::scoring<Options...>>(
              detail::scored_head<head, T, scores>{
                  {score, q_head, k_head, head.q_row, head.k_row}, v_head, o},
              detail::at_head<typename Call::scores>(mask, {b, h}));
        });
  }
};
}  // namespace detail

// attention_by_score(f): attention with the custom score f(query, key), for experiments.
template <class... Options, class F>
constexpr auto attention_by_score(const F& f) noexcept {
  return detail::attention_by_score_operation<F, Options...>(f);
}
// attention_by_score(q, k, v): refused, the score comes first.
template <class... Options, class... Given>
  requires(sizeof...(Given) != 1)
constexpr detail::invalid attention_by_score(const Given&...) noexcept {
  using namespace detail;
  static_assert(report<verdict<one_is_invalid<Given...>, say::attention_by_score,
                               say::expects_a_function_of_two_rows_so_write_its_call_after_it>>::ok,
                "umbel: shapes do not fit");
  return {};
}
#define UMBEL_INSTEAD \
  "expects a function of two rows, then its call; write attention_by_score(f)(q, k, v)"
UMBEL_REFUSES_CALL(attention_by_score, (const Given&...), UMBEL_INSTEAD, UMBEL_NUMBERS)
UMBEL_REFUSES_CALL(attention_by_score, (const Given&...), UMBEL_INSTEAD, UMBEL_NAMES)
#undef UMBEL_INSTEAD

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
