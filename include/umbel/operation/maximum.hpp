// SPDX-License-Identifier: BSL-1.0
// maximum(x, y), minimum(x, y), clamp(x, low, high) and pow(x, y), element by element, of tensors
// or views with the same axes and numbers, as a row-major tensor. (Along an axis: max<key>(x),
// reduce.hpp.) Except for pow, NaN if one is NaN, as in numpy and torch; of -0 and +0, the first.
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/operation/elementwise_function.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/simd/power.hpp>
#include <umbel/tensor/compare.hpp>
#include <umbel/tensor/refusal.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
UMBEL_SAYS(maximum, "maximum");
UMBEL_SAYS(minimum, "minimum");
UMBEL_SAYS(compares_two_tensors_so_write_max_of_that_axis,
           "compares two tensors; along an axis write max<key>(x)");
UMBEL_SAYS(compares_two_tensors_so_write_min_of_that_axis,
           "compares two tensors; along an axis write min<key>(x)");
UMBEL_SAYS(expects_a_tensor_or_view_then_two_bounds,
           "expects a tensor or view, then two bounds: tensors, views or numbers");

namespace rules {
template <class X, class Y>
struct two_operands_rule {
  using type =
      arguments<say::elementwise, say::expects_two_tensors_or_views_or_one_and_a_number, X, Y>;
};
template <tensor_like X, operand Y>
struct two_operands_rule<X, Y> : elementwise_rule<X, Y> {};
template <scalar S, tensor_like X>
struct two_operands_rule<S, X> : elementwise_rule<X, S> {};
template <class X, class Y>
using two_operands = typename two_operands_rule<X, Y>::type;
template <class Name, class... X>
using two_operands_only =
    verdict<one_is_invalid<X...>, Name, say::expects_two_tensors_or_views_or_one_and_a_number>;
}  // namespace rules

namespace rules {
template <class X, class Y>
struct pow_rule {
  using type = two_operands<X, Y>;
};
template <tensor_like X, operand Y>
struct pow_rule<X, Y> {
  using type = first_error<floating<say::pow, typename X::value_type>, two_operands<X, Y>>;
};
template <scalar S, tensor_like X>
struct pow_rule<S, X> : pow_rule<X, S> {};
// Conditions, or one.
template <class X>
inline constexpr bool is_bool = std::is_same_v<X, bool>;
template <class X>
  requires requires { typename X::value_type; }
inline constexpr bool is_bool<X> = std::is_same_v<typename X::value_type, bool>;
template <class... X>
using clamps_numbers =
    verdict<(!is_bool<X> && ...), say::clamp, say::needs_numbers_not, element<bool>>;
template <class... X>
struct clamp_rule {
  using type =
      verdict<one_is_invalid<X...>, say::clamp, say::expects_a_tensor_or_view_then_two_bounds>;
};
template <tensor_like X, operand Low, operand High>
struct clamp_rule<X, Low, High> {
  using type = first_error<clamps_numbers<X, Low, High>, elementwise<X, Low>, elementwise<X, High>>;
};
template <class X, class Y>
using pow = typename pow_rule<X, Y>::type;
template <class... X>
using clamp = typename clamp_rule<X...>::type;
}  // namespace rules

// Chooser: max_of or min_of of kernel/plain/floats.hpp. A number that T can't hold becomes the
// closest one: a bound beyond all elements.
template <class T, scalar S>
constexpr T closest(S s) noexcept {
  const int side = beyond<T>(s);
  return side < 0 ? simd::lowest_of<T> : side > 0 ? simd::highest_of<T> : static_cast<T>(s);
}
template <class Verdict, class Chooser, tensor_like X, class Y>
constexpr auto each_chosen(const X& x, const Y& y) noexcept {
  using T = typename X::value_type;
  if constexpr (scalar<Y>)
    return each_position<Verdict, T>(
        [b = detail::closest<T>(y)](auto a) { return Chooser::with(a, b); }, x);
  else
    return each_position<Verdict, T>([](auto a, auto b) { return Chooser::with(a, b); }, x, y);
}
template <class Verdict, class Chooser, scalar S, class X>
constexpr auto each_chosen(const S& s, const X& x) noexcept {
  using T = typename X::value_type;
  return each_position<Verdict, T>(
      [a = detail::closest<T>(s)](auto b) { return Chooser::with(a, b); }, x);
}

struct pow_function {
  template <class V>
  UMBEL_INLINE static constexpr V of(V a, V b) noexcept {
    return simd::pow(a, b);
  }
};

// x | clamp(0, 1): functions of several tensors have no pipe.
template <std::size_t Count, class... X>
inline constexpr bool are_too_few_numbers =
    sizeof...(X) != 0 && sizeof...(X) < Count && (scalar<X> && ...);

template <class X, class Y>
concept two_to_choose_from = (elements<X> || elements<Y>) && !of_a_formula<X> && !of_a_formula<Y>;
}  // namespace detail

// maximum(x, y): the larger element at each position, of two tensors or views with the same axes or
// of one and a number; NaN if either is NaN, as in numpy. Returns a row-major tensor.
template <class X, class Y>
  requires detail::two_to_choose_from<X, Y>
constexpr auto maximum(const X& x, const Y& y) noexcept {
  using verdict = detail::rules::two_operands<X, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok && !detail::one_is_invalid<X, Y>)
    return detail::each_chosen<verdict, detail::kernel::plain::max_of>(x, y);
  else
    return detail::invalid{};
}
// minimum(x, y): the smaller element at each position; operands and NaN as for maximum.
template <class X, class Y>
  requires detail::two_to_choose_from<X, Y>
constexpr auto minimum(const X& x, const Y& y) noexcept {
  using verdict = detail::rules::two_operands<X, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok && !detail::one_is_invalid<X, Y>)
    return detail::each_chosen<verdict, detail::kernel::plain::min_of>(x, y);
  else
    return detail::invalid{};
}

// clamp(x, low, high): each element between two bounds, numbers or tensors and views with the axes
// of x; the upper bound if they cross. NaN if one of the three is NaN, as in torch. Bounds may be
// beyond the numbers of an integer type.
template <class X, class Low, class High>
  requires((detail::elements<X> || detail::elements<Low> || detail::elements<High>) &&
           !(detail::of_a_formula<X> || detail::of_a_formula<Low> || detail::of_a_formula<High>))
constexpr auto clamp(const X& x, const Low& low, const High& high) noexcept {
  using verdict = detail::rules::clamp<X, Low, High>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok && !detail::one_is_invalid<X, Low, High>)
    return minimum(maximum(x, low), high);
  else
    return detail::invalid{};
}
// pow(x, y): x^y of two tensors or views with the same axes, or of one and a number on either side;
// float or double. Within 1 ulp, as in C: NaN for x < 0 unless y is an integer, 1 for y = 0.
template <class X, class Y>
  requires detail::two_to_choose_from<X, Y>
constexpr auto pow(const X& x, const Y& y) noexcept {
  using verdict = detail::rules::pow<X, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok && !detail::one_is_invalid<X, Y>)
    return detail::each_pair<detail::pow_function>(x, y);
  else
    return detail::invalid{};
}

// A wrong number of operands is refused.
template <class... X>
  requires(detail::are_other_than<3, X...> || detail::are_too_few_numbers<3, X...>)
constexpr detail::invalid clamp(const X&...) noexcept {
  static_assert(detail::report<detail::rules::clamp<X...>>::ok, "umbel: shapes do not fit");
  return {};
}
// Numbers as template arguments, pow<2>(x): refused.
#define UMBEL_INSTEAD "expects its numbers as arguments; write pow(x, 2)"
UMBEL_REFUSED_RESULT(pow, UMBEL_INSTEAD)
UMBEL_REFUSES_OF_TENSOR(pow, UMBEL_INSTEAD, UMBEL_NUMBERS)
#undef UMBEL_INSTEAD
#define UMBEL_INSTEAD "expects its numbers as arguments; write clamp(x, 0, 6)"
UMBEL_REFUSED_RESULT(clamp, UMBEL_INSTEAD)
UMBEL_REFUSES_OF_TENSOR(clamp, UMBEL_INSTEAD, UMBEL_NUMBERS)
#undef UMBEL_INSTEAD
// A wrong number of operands is refused.
template <class... X>
  requires detail::are_other_than<2, X...>
constexpr detail::invalid pow(const X&...) noexcept {
  static_assert(detail::report<detail::rules::two_operands_only<detail::say::pow, X...>>::ok,
                "umbel: shapes do not fit");
  return {};
}
// A wrong number of operands is refused.
template <class... X>
  requires(detail::are_other_than<2, X...> || detail::are_too_few_numbers<2, X...>)
constexpr auto maximum(const X&...) noexcept {
  using verdict =
      detail::in_its_line<detail::rules::two_operands_only<detail::say::maximum, X...>, X...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}
// A wrong number of operands is refused.
template <class... X>
  requires(detail::are_other_than<2, X...> || detail::are_too_few_numbers<2, X...>)
constexpr auto minimum(const X&...) noexcept {
  using verdict =
      detail::in_its_line<detail::rules::two_operands_only<detail::say::minimum, X...>, X...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}

namespace detail {
template <class Name, class Instead, class X>
using of_two = in_its_line<verdict<one_is_invalid<X>, Name, Instead>, X>;
}  // namespace detail
// With an axis: refused.
template <template <std::size_t> class... Axes, class X>
  requires(sizeof...(Axes) != 0)
constexpr auto maximum(const X&) noexcept {
  using verdict = detail::of_two<detail::say::maximum,
                                 detail::say::compares_two_tensors_so_write_max_of_that_axis, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}

// With an axis: refused.
template <template <std::size_t> class... Axes, class X>
  requires(sizeof...(Axes) != 0)
constexpr auto minimum(const X&) noexcept {
  using verdict = detail::of_two<detail::say::minimum,
                                 detail::say::compares_two_tensors_so_write_min_of_that_axis, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
