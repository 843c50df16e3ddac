// SPDX-License-Identifier: BSL-1.0
// Elementwise + - * / % and += -= *= /= of two tensors or views with the same element type and the
// same axes in the same order, or of one and a scalar on either side. Nothing repeats silently:
// write broadcast<...>. Results are row-major tensors with the operands' axes.
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/float/elementwise.hpp>
#include <umbel/tensor/arithmetic_rules.hpp>
#include <umbel/tensor/copy.hpp>
#include <umbel/tensor/pipe.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// The operators assert their verdicts themselves: a function in between costs three more lines of
// clang's output. Never inlined, here and below: in x * y + z, a compiler that may contract (g++
// does by default) would fuse one call's product into the next one's sum and change bits. No `if
// constexpr` around a result: g++ before 14 then builds it on the stack and copies it.
template <class Verdict, class F, class X, tensor_like Y>
  requires(Verdict::ok)
UMBEL_NOINLINE constexpr auto elementwise(F f, const X& x, const Y& y) noexcept {
  using T = typename X::value_type;
  tensor_of<T, row_major<typename X::layout>> out;
  for_each([&](T& to, const auto& a, const auto& b) { to = static_cast<T>(f(a, b)); }, out, x, y);
  return out;
}
template <class Verdict, class F, class X, scalar S>
  requires(Verdict::ok)
UMBEL_NOINLINE constexpr auto elementwise(F f, const X& x, const S& s) noexcept {
  using T = typename X::value_type;
  tensor_of<T, row_major<typename X::layout>> out;
  for_each([&, b = static_cast<T>(s)](T& to, const auto& a) { to = static_cast<T>(f(a, b)); }, out,
           x);
  return out;
}
template <class Verdict, class F, class X, class Y>
constexpr invalid elementwise(F, const X&, const Y&) noexcept {
  return {};
}

// Function::of(x, y) in packs, for x or y a number or both tensors or views; the bits of the plain
// loop, which computes integers and constant expressions.
template <class T, class X>
constexpr decltype(auto) in_order(const X& x) noexcept {
  if constexpr (scalar<X>)
    return tensor_of<T, layout<>>{static_cast<T>(x)};
  else if constexpr (layout_of<X>::contiguous)
    return (x);
  else
    return contiguous(x);
}
template <class Function, class X, class Y>
constexpr auto each_pair(const X& x, const Y& y) noexcept {
  using tensor_operand = std::conditional_t<tensor_like<X>, X, Y>;
  using T = typename tensor_operand::value_type;
  constexpr std::size_t count = layout_of<tensor_operand>::count;
  tensor_of<T, row_major<layout_of<tensor_operand>>> out{};
  const auto& a = detail::in_order<T>(x);
  const auto& b = detail::in_order<T>(y);
  if (std::is_integral_v<T> || __builtin_is_constant_evaluated()) {
    for (std::size_t i = 0; i < count; ++i)
      out.data()[i] = Function::of(a.data()[scalar<X> ? 0 : i], b.data()[scalar<Y> ? 0 : i]);
  } else if constexpr (!std::is_integral_v<T>) {
    kernel::each_of_two<Function, scalar<X>, scalar<Y>, count>(a.data(), b.data(), out.data());
  }
  return out;
}
struct remainder_function {
  template <class V>
  UMBEL_INLINE static constexpr V of(V a, V b) noexcept {
    return kernel::plain::remainder_of(a, b);
  }
};

template <class F, class X>
  requires(rules::computes<typename X::value_type>::ok)
UMBEL_NOINLINE constexpr auto each_element(F f, const X& x) noexcept {
  using T = typename X::value_type;
  tensor_of<T, row_major<typename X::layout>> out;
  for_each([&](T& to, const auto& a) { to = static_cast<T>(f(a)); }, out, x);
  return out;
}
template <class F, class X>
constexpr invalid each_element(F, const X&) noexcept {
  static_assert(report<rules::computes<typename X::value_type>>::ok, "umbel: shapes do not fit");
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::inline UMBEL_TARGET {

template <detail::tensor_like X, detail::operand Y>
constexpr auto operator+(const X& x, const Y& y) noexcept {
  using verdict = detail::rules::elementwise<X, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::elementwise<verdict>([](auto a, auto b) { return a + b; }, x, y);
}
template <detail::tensor_like X, detail::operand Y>
constexpr auto operator-(const X& x, const Y& y) noexcept {
  using verdict = detail::rules::elementwise<X, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::elementwise<verdict>([](auto a, auto b) { return a - b; }, x, y);
}
template <detail::tensor_like X, detail::operand Y>
constexpr auto operator*(const X& x, const Y& y) noexcept {
  using verdict = detail::rules::product<X, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::elementwise<verdict>([](auto a, auto b) { return a * b; }, x, y);
}
template <detail::tensor_like X, detail::operand Y>
constexpr auto operator/(const X& x, const Y& y) noexcept {
  using verdict = detail::rules::elementwise<X, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::elementwise<verdict>([](auto a, auto b) { return a / b; }, x, y);
}
// The remainder of a division, with the sign of y, as in numpy and torch: x - y floor(x / y),
// exactly. 0 for integers if y is 0.
template <detail::tensor_like X, detail::operand Y>
constexpr auto operator%(const X& x, const Y& y) noexcept {
  using verdict = detail::rules::elementwise<X, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return detail::each_pair<detail::remainder_function>(x, y);
  else
    return detail::invalid{};
}
template <detail::tensor_like X, detail::scalar S>
constexpr auto operator+(S s, const X& x) noexcept {
  return x + s;
}
template <detail::tensor_like X, detail::scalar S>
constexpr auto operator*(S s, const X& x) noexcept {
  return x * s;
}
template <detail::tensor_like X, detail::scalar S>
constexpr auto operator-(S s, const X& x) noexcept {
  using verdict = detail::rules::elementwise<X, S>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::elementwise<verdict>([](auto a, auto b) { return b - a; }, x, s);
}
template <detail::tensor_like X, detail::scalar S>
constexpr auto operator/(S s, const X& x) noexcept {
  using verdict = detail::rules::elementwise<X, S>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::elementwise<verdict>([](auto a, auto b) { return b / a; }, x, s);
}
template <detail::tensor_like X, detail::scalar S>
constexpr auto operator%(S s, const X& x) noexcept {
  using verdict = detail::rules::elementwise<X, S>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return detail::each_pair<detail::remainder_function>(s, x);
  else
    return detail::invalid{};
}
template <detail::tensor_like X>
constexpr auto operator-(const X& x) noexcept {
  return detail::each_element([](auto a) { return -a; }, x);
}
constexpr detail::invalid operator-(detail::invalid) noexcept { return {}; }
// (It converts to numbers, which have the other operators, but a float has no remainder.)
template <class X, class Y>
  requires(detail::one_is_invalid<X, Y> && !detail::of_a_formula<X> && !detail::of_a_formula<Y>)
constexpr detail::invalid operator%(const X&, const Y&) noexcept {
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET

namespace umbel::inline UMBEL_TARGET::detail {

// X is deduced from a forwarding reference. A view that is not an lvalue is returned by value. A
// temporary tensor is refused anyway.
template <class X>
using assigned_to = std::conditional_t<temporary_tensor<X>, X&&, X>;
template <class Verdict, class F, class X, class Y>
UMBEL_NOINLINE constexpr assigned_to<X> assigned(F f, X&& x, const Y& y) noexcept {
  using T = typename std::remove_cvref_t<X>::value_type;
  if constexpr (Verdict::ok) {
    if constexpr (scalar<Y>)
      for_each([&, value = static_cast<T>(y)](T& to) { to = static_cast<T>(f(to, value)); }, x);
    else
      for_each([&](T& to, const T& a) { to = static_cast<T>(f(to, a)); }, x, y);
  }
  return static_cast<X&&>(x);
}
}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::inline UMBEL_TARGET {

// number += x and the like: refused, x is not one number.
#define UMBEL_REFUSED_OF_A_NUMBER(operation)                                           \
  template <detail::scalar S, detail::tensor_like Y>                                   \
    requires(detail::layout_of<Y>::rank != 0)                                          \
  constexpr S& operation(S& x, const Y&) noexcept {                                    \
    static_assert(detail::report<detail::rules::one_number<detail::layout_of<Y>>>::ok, \
                  "umbel: shapes do not fit");                                         \
    return x;                                                                          \
  }
UMBEL_REFUSED_OF_A_NUMBER(operator+=)
UMBEL_REFUSED_OF_A_NUMBER(operator-=)
UMBEL_REFUSED_OF_A_NUMBER(operator*=)
UMBEL_REFUSED_OF_A_NUMBER(operator/=)
#undef UMBEL_REFUSED_OF_A_NUMBER

// x += y and the like, element by element. x is a tensor or view that is not const; y is a tensor,
// view or scalar. y may be x but must not overlap it in any other way. Returns x.
template <detail::tensor_like X, detail::operand Y>
constexpr detail::assigned_to<X> operator+=(X&& x, const Y& y) noexcept {
  using verdict = detail::rules::assigned<X, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::assigned<verdict>([](auto a, auto b) { return a + b; }, static_cast<X&&>(x), y);
}
template <detail::tensor_like X, detail::operand Y>
constexpr detail::assigned_to<X> operator-=(X&& x, const Y& y) noexcept {
  using verdict = detail::rules::assigned<X, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::assigned<verdict>([](auto a, auto b) { return a - b; }, static_cast<X&&>(x), y);
}
template <detail::tensor_like X, detail::operand Y>
constexpr detail::assigned_to<X> operator*=(X&& x, const Y& y) noexcept {
  using verdict = detail::rules::assigned<X, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::assigned<verdict>([](auto a, auto b) { return a * b; }, static_cast<X&&>(x), y);
}
template <detail::tensor_like X, detail::operand Y>
constexpr detail::assigned_to<X> operator/=(X&& x, const Y& y) noexcept {
  using verdict = detail::rules::assigned<X, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::assigned<verdict>([](auto a, auto b) { return a / b; }, static_cast<X&&>(x), y);
}

}  // namespace umbel::inline UMBEL_TARGET

namespace umbel::inline UMBEL_TARGET::detail {

UMBEL_SAYS(have_several_parts_so_name_one, "have several parts; name one, x * w.q");
UMBEL_SAYS(a_layer_is_not_a_tensor_so_write_layer_of_x,
           "a layer is not a tensor; call it, layer(x)");
UMBEL_SAYS(expects_two_tensors_or_views_or_one_and_a_number,
           "expects two tensors or views, or one and a number");

// Types without arithmetic with tensors and views: arrays, vectors, all the weights of a layer.
// (sizeof first: the operators are tried for any type, complete or not.)
template <class Y>
concept no_operand = !operand<Y> && !one_is_invalid<Y> && requires { sizeof(Y); } &&
                     !std::is_base_of_v<own_arithmetic, Y>;

// Is a + b refused, or invalid and passed on? Not if a converts to b's type, which may have it.
template <class A, class B>
concept tensor_and_no_operand = shaped<A> && no_operand<B> && !std::is_convertible_v<const A&, B>;
template <class A, class B>
concept invalid_and_operand =
    one_is_invalid<A, B> && (one_is_invalid<A> || operand<A>) &&
    (one_is_invalid<B> || operand<B> || (one_is_invalid<A> && no_operand<B>));

template <class A, class B>
concept no_sum = tensor_and_no_operand<std::remove_cvref_t<A>, B> ||
                 invalid_and_operand<std::remove_cvref_t<A>, B>;
// x * w.q is a map (layer/project.hpp).
template <class A, class B>
concept no_product = (!requires { typename B::map; } || has_its_weights<B>) && no_sum<A, B>;

template <class A, class B>
struct no_arithmetic_rule {
  using type = rules::arguments<say::elementwise,
                                say::expects_two_tensors_or_views_or_one_and_a_number, A, B>;
};
template <shaped A, class B>
  requires requires { typename B::layer_name; }
struct no_arithmetic_rule<A, B> {
  using type = verdict<false, say::elementwise, say::the_weights_of, typename B::layer_name,
                       say::have_several_parts_so_name_one>;
};
template <shaped A, has_its_weights B>
struct no_arithmetic_rule<A, B> {
  using type = verdict<false, say::elementwise, say::a_layer_is_not_a_tensor_so_write_layer_of_x>;
};
template <class A, class B>
constexpr invalid no_arithmetic() noexcept {
  static_assert(report<typename no_arithmetic_rule<std::remove_cvref_t<A>, B>::type>::ok,
                "umbel: shapes do not fit");
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::inline UMBEL_TARGET {

template <class A, class B>
  requires detail::no_sum<A, B>
constexpr detail::invalid operator+(const A&, const B&) noexcept {
  return detail::no_arithmetic<A, B>();
}
template <class A, class B>
  requires detail::no_sum<A, B>
constexpr detail::invalid operator-(const A&, const B&) noexcept {
  return detail::no_arithmetic<A, B>();
}
template <class A, class B>
  requires detail::no_product<A, B>
constexpr detail::invalid operator*(const A&, const B&) noexcept {
  return detail::no_arithmetic<A, B>();
}
template <class A, class B>
  requires detail::no_sum<A, B>
constexpr detail::invalid operator/(const A&, const B&) noexcept {
  return detail::no_arithmetic<A, B>();
}
template <class A, class B>
  requires detail::no_sum<A, B>
constexpr detail::invalid operator+=(A&&, const B&) noexcept {
  return detail::no_arithmetic<A, B>();
}
template <class A, class B>
  requires detail::no_sum<A, B>
constexpr detail::invalid operator-=(A&&, const B&) noexcept {
  return detail::no_arithmetic<A, B>();
}
template <class A, class B>
  requires detail::no_sum<A, B>
constexpr detail::invalid operator*=(A&&, const B&) noexcept {
  return detail::no_arithmetic<A, B>();
}
template <class A, class B>
  requires detail::no_sum<A, B>
constexpr detail::invalid operator/=(A&&, const B&) noexcept {
  return detail::no_arithmetic<A, B>();
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
