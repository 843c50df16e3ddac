// SPDX-License-Identifier: BSL-1.0
// Conditions: < <= > >= of two tensors or views with the same axes, or of one and a number, and !
// && || of conditions. Each returns a row-major tensor of bool. (== compares whole tensors:
// tensor.hpp.) As an attention mask: keep_mask(condition).
#pragma once

#include <umbel/config.hpp>
#include <umbel/tensor/arithmetic.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

UMBEL_SAYS(needs_conditions_not, "needs conditions, elements of bool, not");
UMBEL_SAYS(
    one_bool_is_not_a_condition_of_elements_so_leave_out_true_or_pass_a_tensor_of_bool,
    "one bool is not a condition of elements; leave out true, or pass a tensor of bool as an "
    "argument");

namespace rules {
template <class Operation, class X>
using condition = verdict<std::is_same_v<typename X::value_type, bool>, Operation,
                          say::needs_conditions_not, element<typename X::value_type>>;
template <class X, class Y>
using conditions = first_error<condition<say::elementwise, X>, condition<say::elementwise, Y>,
                               same_shape<say::elementwise, layout_of<X>, layout_of<Y>>>;
}  // namespace rules

template <class Verdict, class T, class F, class X, tensor_like... Y>
  requires(Verdict::ok)
constexpr auto each_position(F f, const X& x, const Y&... y) noexcept {
  tensor_of<T, row_major<layout_of<X>>> out{};
  for_each([&](T& to, const auto&... from) { to = f(from...); }, out, x, y...);
  return out;
}
template <class Verdict, class T, class F, class X, class... Y>
constexpr invalid each_position(F, const X&, const Y&...) noexcept {
  return {};
}

// Numbers of T and of S in one order: integers, which a conversion to T can wrap.
template <class T, class S>
inline constexpr bool can_wrap =
    std::is_integral_v<T> && std::is_integral_v<S> && !std::is_same_v<T, S>;
// -1 for a number below all of T, 1 for one above all, otherwise 0.
template <class T, class S>
constexpr int beyond(S s) noexcept {
  if constexpr (can_wrap<T, S>) {
    const T t = static_cast<T>(s);
    if (static_cast<S>(t) != s || (t < T{}) != (s < S{})) return s < S{} ? -1 : 1;
  }
  return 0;
}
// F: a comparison with a number, as mathematics has it, also if T can't hold the number.
template <class Verdict, class F, class X, scalar S>
  requires(Verdict::ok)
constexpr auto each_compared(F f, const X& x, const S& s) noexcept {
  using T = typename X::value_type;
  if constexpr (can_wrap<T, S>)
    if (const int side = beyond<T>(s); side != 0)
      return each_position<Verdict, bool>([is = f(0, side)](const auto&) { return is; }, x);
  return each_position<Verdict, bool>([f, b = static_cast<T>(s)](const auto& a) { return f(a, b); },
                                      x);
}
template <class Verdict, class F, class X, class Y>
constexpr auto each_compared(F f, const X& x, const Y& y) noexcept {
  return each_position<Verdict, bool>(f, x, y);
}

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::inline UMBEL_TARGET {

template <detail::tensor_like X, detail::operand Y>
constexpr auto operator<(const X& x, const Y& y) noexcept {
  using verdict = detail::rules::elementwise<X, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::each_compared<verdict>([](auto a, auto b) { return a < b; }, x, y);
}
template <detail::tensor_like X, detail::scalar S>
constexpr auto operator<(S s, const X& x) noexcept {
  return x > s;
}
template <detail::tensor_like X, detail::operand Y>
constexpr auto operator<=(const X& x, const Y& y) noexcept {
  using verdict = detail::rules::elementwise<X, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::each_compared<verdict>([](auto a, auto b) { return a <= b; }, x, y);
}
template <detail::tensor_like X, detail::scalar S>
constexpr auto operator<=(S s, const X& x) noexcept {
  return x >= s;
}
template <detail::tensor_like X, detail::operand Y>
constexpr auto operator>(const X& x, const Y& y) noexcept {
  using verdict = detail::rules::elementwise<X, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::each_compared<verdict>([](auto a, auto b) { return a > b; }, x, y);
}
template <detail::tensor_like X, detail::scalar S>
constexpr auto operator>(S s, const X& x) noexcept {
  return x < s;
}
template <detail::tensor_like X, detail::operand Y>
constexpr auto operator>=(const X& x, const Y& y) noexcept {
  using verdict = detail::rules::elementwise<X, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::each_compared<verdict>([](auto a, auto b) { return a >= b; }, x, y);
}
template <detail::tensor_like X, detail::scalar S>
constexpr auto operator>=(S s, const X& x) noexcept {
  return x <= s;
}

// Not short-circuited: both sides are tensors.
template <detail::tensor_like X, detail::tensor_like Y>
constexpr auto operator&&(const X& x, const Y& y) noexcept {
  using verdict = detail::rules::conditions<X, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::each_position<verdict, bool>([](bool a, bool b) { return a && b; }, x, y);
}
template <detail::tensor_like X, detail::tensor_like Y>
constexpr auto operator||(const X& x, const Y& y) noexcept {
  using verdict = detail::rules::conditions<X, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::each_position<verdict, bool>([](bool a, bool b) { return a || b; }, x, y);
}
template <detail::tensor_like X>
constexpr auto operator!(const X& x) noexcept {
  using verdict = detail::rules::condition<detail::say::elementwise, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::each_position<verdict, bool>([](bool a) { return !a; }, x);
}

// An invalid operand is passed on. (In the form of `invalid`'s <=>, so that is not preferred.)
#define UMBEL_PASSES_ON(symbol)                                                          \
  template <detail::operand Y>                                                           \
  constexpr detail::invalid operator symbol(detail::invalid, const Y&) noexcept {        \
    return {};                                                                           \
  }                                                                                      \
  template <detail::operand X>                                                           \
  constexpr detail::invalid operator symbol(const X&, detail::invalid) noexcept {        \
    return {};                                                                           \
  }                                                                                      \
  constexpr detail::invalid operator symbol(detail::invalid, detail::invalid) noexcept { \
    return {};                                                                           \
  }
UMBEL_PASSES_ON(<)
UMBEL_PASSES_ON(<=)
UMBEL_PASSES_ON(>)
UMBEL_PASSES_ON(>=)
UMBEL_PASSES_ON(&&)
UMBEL_PASSES_ON(||)
#undef UMBEL_PASSES_ON
constexpr detail::invalid operator!(detail::invalid) noexcept { return {}; }

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
