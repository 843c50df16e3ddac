// SPDX-License-Identifier: BSL-1.0
// Which operands arithmetic accepts (arithmetic.hpp): two tensors or views with the same axes in
// the same order and the same elements, or one and a scalar.
#pragma once

#include <umbel/config.hpp>
#include <umbel/tensor/copy.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

template <class S>
concept scalar = std::is_arithmetic_v<S>;
template <class Y>
concept operand = tensor_like<Y> || scalar<Y>;

template <class T>
concept has_arithmetic =
    requires(const T& a, const T& b) { a + b; } || requires(const T& a, const T& b) { a* b; };

namespace rules {
template <class T>
using computes = verdict<detail::has_arithmetic<T>, say::elementwise, element<T>,
                         struct has_no_arithmetic_so_convert_it_to_float>;

template <class X, class Y>
struct elementwise_rule {
  using T = typename X::value_type;
  using type = first_error<same_shape<say::elementwise, typename X::layout, typename Y::layout>,
                           same_element<say::elementwise, T, typename Y::value_type>, computes<T>>;
};
template <class X, scalar S>
struct elementwise_rule<X, S> {
  using T = typename X::value_type;
  using type = first_error<computes<T>, keeps_fractions<S, T, say::elementwise>>;
};
template <class X, class Y>
using elementwise = typename elementwise_rule<X, Y>::type;
// x * y of matrices that share one axis and differ in the other: the user meant a matrix product.
template <class LeftAxes, class Right>
inline constexpr std::size_t axes_shared = 0;
template <class... Axes, class Right>
inline constexpr std::size_t axes_shared<shape<Axes...>, Right> =
    (std::size_t{0} + ... + Right::template has<typename Axes::family>);
template <class Left, class Right, class LeftAxes, class RightAxes>
struct product_rule {
  static constexpr std::size_t shared = axes_shared<LeftAxes, Right>;
  using type = verdict<shared == 0 || shared == Left::rank || shared == Right::rank,
                       say::elementwise, LeftAxes, say::and_, RightAxes,
                       say::have_different_axes_so_contract_them_or_multiply_by_weights>;
};
template <class Left, class Right, class Axes>
struct product_rule<Left, Right, Axes, Axes> {
  using type = accepted;
};
template <class X, class Y>
struct product_of_elements : elementwise_rule<X, Y> {};
template <class X, tensor_like Y>
struct product_of_elements<X, Y> {
  using type =
      first_error<typename product_rule<typename X::layout, typename Y::layout,
                                        typename X::layout::axes, typename Y::layout::axes>::type,
                  elementwise<X, Y>>;
};
template <class X, class Y>
using product = typename product_of_elements<X, Y>::type;
// x += y. X is deduced from a forwarding reference.
template <class X, class Y>
struct assigned_rule {
  using T = typename std::remove_cvref_t<X>::value_type;
  using type = first_error<writable<say::elementwise, say::the_left_side, X>, computes<T>,
                           keeps_fractions<Y, T, say::elementwise>>;
};
template <class X, tensor_like Y>
struct assigned_rule<X, Y> {
  using T = typename std::remove_cvref_t<X>::value_type;
  using type = first_error<writable<say::elementwise, say::the_left_side, X>,
                           same_shape<say::elementwise, layout_of<X>, layout_of<Y>>,
                           same_element<say::elementwise, T, typename Y::value_type>, computes<T>>;
};
template <class X, class Y>
using assigned = typename assigned_rule<X, Y>::type;
}  // namespace rules

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
