// SPDX-License-Identifier: BSL-1.0
// The rules of operations that compute with elements: which axes of two operands must agree, the
// axes of a sum, distinct places of elements, one element type. See rules.hpp for views.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/rules.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::rules {

// Axes that both sides have are paired up, so their sizes must agree. The first axis of right that
// doesn't, or npos.
template <class Left, class Right>
constexpr std::size_t first_disagreement() {
  for (std::size_t i = 0; i < Right::rank; ++i) {
    const std::size_t at = detail::find_family(Left::families, Left::rank, Right::families[i]);
    if (at != npos && Left::extents[at] != Right::extents[i]) return i;
  }
  return npos;
}
template <class Operation, class Left, class Right,
          std::size_t Bad = first_disagreement<Left, Right>()>
struct shared_axes_agree_rule {
  using axis = typename Right::template axis_at<Bad>;
  using type = verdict<false, Operation, say::the_left_side_has,
                       axis_of<Left, typename axis::family>, say::but_the_right_side_has, axis>;
};
template <class Operation, class Left, class Right>
struct shared_axes_agree_rule<Operation, Left, Right, npos> {
  using type = accepted;
};

// An axis to sum over.
template <class Left, class Right, class Family>
using contract_along = first_error<
    verdict<Left::template has<Family> || Right::template has<Family>, say::contract, say::neither,
            typename Left::axes, say::nor, typename Right::axes, struct has_an_axis, Family>,
    verdict<Left::template has<Family>, say::contract, say::the_left_side, typename Left::axes,
            say::has_no_axis, Family>,
    verdict<Right::template has<Family>, say::contract, struct the_right_side, typename Right::axes,
            say::has_no_axis, Family>,
    verdict<Left::template size_of<Family> == Right::template size_of<Family>, say::contract,
            say::the_left_side_has, axis_of<Left, Family>, say::but_the_right_side_has,
            axis_of<Right, Family>>>;
template <class Left, class Right, class... Families>
using contract =
    first_error<contract_along<Left, Right, Families>...,
                names_each_once<say::contract, shape<axis_of<Left, Families>...>, Families...>,
                typename shared_axes_agree_rule<say::contract, Left, Right>::type>;

template <class Operation, class Layout, class... Families>
using reduce = first_error<
    verdict<sizeof...(Families) != 0, Operation, struct names_no_axis_of, typename Layout::axes>,
    has_axis<Operation, Layout, Families>...,
    names_each_once<Operation, typename Layout::axes, Families...>>;

// The same axes with the same sizes, in any order?
template <class Left, class Right>
struct same_axes;
template <class... Axes, class Right>
struct same_axes<shape<Axes...>, Right> {
  static constexpr bool value =
      sizeof...(Axes) == Right::rank &&
      ((Right::template size_of<typename Axes::family> == Axes::size) && ...);
  static constexpr bool but_for_sizes =
      sizeof...(Axes) == Right::rank && (Right::template has<typename Axes::family> && ...);
};

// Are all axes of Part among those of Whole, with their sizes?
template <class Part, class Whole>
inline constexpr bool is_part_of = false;
template <class... Axes, class Whole>
inline constexpr bool is_part_of<shape<Axes...>, Whole> =
    ((Whole::template size_of<typename Axes::family> == Axes::size) && ...);

// Operations whose message suggests a fix for a tensor with fewer axes.
template <class Operation>
inline constexpr bool pairs_elements =
    std::is_same_v<Operation, say::elementwise> || std::is_same_v<Operation, say::where> ||
    std::is_same_v<Operation, say::hide>;

// Elementwise operations and copies pair elements by position: the same axes in the same order.
// Operation: its word, and its suggestion for other axes, if it has one.
template <class Operation, class Left, class Right, class LeftAxes, class RightAxes>
struct same_shape_rule {
  template <class Word>
  using refused = verdict<false, Operation, LeftAxes, say::and_, RightAxes, Word>;
  static constexpr bool repeats_one = pairs_elements<Operation> && Left::rank != Right::rank &&
                                      (is_part_of<LeftAxes, Right> || is_part_of<RightAxes, Left>);
  using type = std::conditional_t<
      same_axes<LeftAxes, Right>::value,
      refused<struct have_the_same_axes_in_a_different_order_so_permute_one>,
      refused<std::conditional_t<
          same_axes<LeftAxes, Right>::but_for_sizes, struct have_the_same_axes_with_different_sizes,
          std::conditional_t<repeats_one, say::have_different_axes_so_broadcast_one,
                             say::have_different_axes>>>>;
};
template <class Operation, class Left, class Right, class Axes>
struct same_shape_rule<Operation, Left, Right, Axes, Axes> {
  using type = accepted;
};
template <class Operation, class Left, class Right>
using same_shape = typename same_shape_rule<Operation, Left, Right, typename Left::axes,
                                            typename Right::axes>::type;

constexpr std::size_t common_divisor(std::size_t a, std::size_t b) noexcept {
  while (b != 0) {
    const std::size_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}
// Does every element have its own memory location? (Not if broadcast, or if steps along two axes
// meet, as in overlapping windows.)
template <class Layout>
constexpr bool lies_apart() noexcept {
  for (std::size_t i = 0; i < Layout::rank; ++i) {
    if (Layout::extents[i] == 1) continue;
    if (Layout::strides[i] == 0) return false;
    for (std::size_t j = 0; j < i; ++j) {
      const std::size_t step = common_divisor(Layout::strides[i], Layout::strides[j]);
      if (Layout::strides[j] / step < Layout::extents[i] &&
          Layout::strides[i] / step < Layout::extents[j])
        return false;
    }
  }
  return true;
}

// Operations that compute need one element type: nothing is rounded or truncated silently.
template <class Operation, class Left, class Right>
using same_element = verdict<std::is_same_v<Left, Right>, Operation, struct the_left_side_holds,
                             element<Left>, struct but_the_right_side_holds, element<Right>>;

}  // namespace umbel::inline UMBEL_TARGET::detail::rules
UMBEL_WARNINGS_POP
