// SPDX-License-Identifier: BSL-1.0
// argmax<key>(x): the position of the largest element along a named axis. For a row of logits see
// decode/sample.hpp.
#pragma once

#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/operation/reduce.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct argmax;
}

template <class T>
constexpr std::size_t argmax_of_row(const T* x, std::size_t count, std::size_t step) noexcept {
  std::size_t best = npos;
  for (std::size_t i = 0; i < count; ++i) {
    const T value = x[i * step];
    if (value == value && (best == npos || value > x[best * step])) best = i;
  }
  return best;
}
template <class Family>
struct argmax_operation : computing<argmax_operation<Family>, say::argmax> {
  template <class X>
  using rule = first_error<rules::has_axis<say::argmax, layout_of<X>, Family>,
                           verdict<rules::is_number<typename X::value_type>, say::argmax,
                                   say::needs_numbers_not, option_word<typename X::value_type>>>;
  template <class X>
  using result = reduced_layout<layout_of<X>, Family>;
  template <class X>
  using value = std::int32_t;
  static constexpr bool is_position = true;
  template <class X, class Y>
  static constexpr void write(const X& x, Y& y) noexcept {
    using T = typename X::value_type;
    using At = typename Y::value_type;
    using from = layout_of<X>;
    using firsts = algebra::slice<from, Family, 1>;
    using repeated = algebra::broadcast_to<result<X>, typename firsts::axes>;
    for_each(
        [](const T& first, At& found) {
          const std::size_t at = argmax_of_row(&first, from::template size_of<Family>,
                                               from::template stride_of<Family>);
          found = at == npos ? At{-1} : static_cast<At>(at);
        },
        view_of<const T, firsts>(x.data()), view_of<At, repeated>(y.data()));
  }
};
}  // namespace detail

// argmax<classes>(x): the position of the largest element along a named axis, which disappears, as
// std::int32_t; in a formula, as a number of it, which has no gradient. The first of equal ones;
// NaN is never the largest; -1 if all are NaN. x: any axes. x | argmax<classes> is the same.
template <template <std::size_t> class Axis, class X>
  requires detail::shaped<X>
[[nodiscard]] constexpr auto argmax(const X& x) noexcept {
  return detail::argmax_operation<detail::family_of<Axis>>{}(x);
}
template <template <std::size_t> class Axis>
[[nodiscard]] constexpr detail::argmax_operation<detail::family_of<Axis>> argmax() noexcept {
  return {};
}
// More arguments: refused.
template <template <std::size_t> class Axis, class X, class... More>
  requires(sizeof...(More) != 0 && (detail::elements<X> || detail::of_a_formula<X>))
constexpr auto argmax(const X&, const More&...) noexcept {
  using verdict =
      detail::in_its_line<detail::rules::number_of_operands<detail::say::argmax, X, More...>, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
