// SPDX-License-Identifier: BSL-1.0
// contract<axis>(x, y): sums of products over a named axis. Axes that both sides have are paired up
// (batch with batch), the others are kept: those of x first, in order, then those of y.
//
//   q (batch, heads, query, head_dim), k (batch, heads, key, head_dim)
//   contract<head_dim>(q, k) is (batch, heads, query, key)
//
// Both sides have the same element type. This is the readable form. Each element is one sum of
// fused multiply-adds in increasing position along the axis, from 0: the order that
// kernel/plain.hpp defines.
#pragma once

#include <umbel/config.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/tensor/pipe.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
template <class Layout, class Axes>
struct broadcast_to;
template <class Layout, class... Axes>
struct broadcast_to<Layout, shape<Axes...>> {
  using type = algebra::broadcast<Layout, Axes...>;
};

// out: of the axes of the result, in any order and with any strides.
template <class Family, class X, class Y, class Out>
constexpr void contract_into(const X& x, const Y& y, const Out& out) noexcept {
  using left = typename X::layout;
  using right = typename Y::layout;
  using result = typename Out::layout;
  using T = typename X::value_type;
  constexpr std::size_t left_step = left::template stride_of<Family>;
  constexpr std::size_t right_step = right::template stride_of<Family>;
  auto sum = [](T& to, const T& a, const T& b) {
    T chain = 0;
    for (std::size_t i = 0; i < left::template size_of<Family>; ++i)
      if constexpr (std::is_integral_v<T>)
        chain = static_cast<T>(chain + (&a)[i * left_step] * (&b)[i * right_step]);
      else
        chain = simd::fma((&a)[i * left_step], (&b)[i * right_step], chain);
    to = chain;
  };
  loop_over<0, result, typename broadcast_to<left, typename result::axes>::type,
            typename broadcast_to<right, typename result::axes>::type>::each(sum, out.data(),
                                                                             x.data(), y.data());
}
template <class Family, class X, class Y>
constexpr auto contract_over(const X& x, const Y& y) noexcept {
  using result = algebra::contract<typename X::layout, typename Y::layout, Family>;
  tensor_of<typename X::value_type, result> out{};
  contract_into<Family>(x, y, view_of<typename X::value_type, result>(out.data()));
  return out;
}

template <template <std::size_t> class Axis>
struct contract_operation : detail::other_calls<say::contract, say::takes_two_tensors_or_views> {
  using detail::other_calls<say::contract, say::takes_two_tensors_or_views>::operator();

  template <shaped X, shaped Y>
  constexpr auto operator()(const X& x, const Y& y) const noexcept {
    using verdict = first_error<
        rules::contract<typename X::layout, typename Y::layout, detail::family_of<Axis>>,
        rules::same_element<say::contract, typename X::value_type, typename Y::value_type>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok && traced<X>)
      return x.template contract<detail::family_of<Axis>>(y);
    else if constexpr (verdict::ok)
      return detail::contract_over<detail::family_of<Axis>>(x, y);
    else
      return invalid{};
  }
};
}  // namespace detail

// contract<head_dim>(q, k): sums of products over a named axis; axes that both have are paired up,
// the others are kept, those of q first.
template <template <std::size_t> class Axis>
inline constexpr detail::contract_operation<Axis> contract{};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
