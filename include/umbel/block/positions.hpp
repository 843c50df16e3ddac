// SPDX-License-Identifier: BSL-1.0
// learned_positions: a table of one vector for each position, added to every sequence of a batch.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/computing.hpp>
#include <umbel/layer/weights_rules.hpp>
#include <umbel/tensor/loop.hpp>
#include <umbel/tensor/reshape.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct but_must_have;
struct but_the_table_has;
struct but_the_table_is_of_type;
struct learned_positions;
struct the_table_has;
}  // namespace say

namespace rules {
// Operation: the word that names it. Fits: does the size of Axis in Layout fit the table?
template <class Operation, class Layout, class Axis, bool Fits>
using axis_of_the_table =
    first_error<has_axis<Operation, Layout, typename Axis::family>,
                verdict<Fits, Operation, say::the_input_has, axis_of<Layout, typename Axis::family>,
                        say::but_the_table_has, typename Axis::plain>>;
template <class X, class Axis>
inline constexpr std::size_t size_along = layout_of<X>::template size_of<typename Axis::family>;
template <class Operation, class X, class T>
using type_of_the_table =
    verdict<std::is_same_v<typename X::value_type, T>, Operation, say::the_input_is_of_type,
            element<typename X::value_type>, say::but_the_table_is_of_type, element<T>>;

// The axes of a table of positions.
template <class Operation, class Position, class Hidden>
using axes_of_the_table =
    first_error<well_formed<Position, Hidden>, in_place<Operation, Position, axes::token>,
                in_place<Operation, Hidden, axes::hidden>>;

template <class X, class T, class Position, class Hidden>
using learned_positions =
    first_error<axis_of_the_table<say::learned_positions, layout_of<X>, Position,
                                  size_along<X, Position> == Position::size>,
                axis_of_the_table<say::learned_positions, layout_of<X>, Hidden,
                                  size_along<X, Hidden> == Hidden::size>,
                type_of_the_table<say::learned_positions, X, T>>;

// A table of another type, other axes, or with gaps.
template <class Table, class T, class... Axes>
using positions_table = first_error<
    verdict<std::is_same_v<typename Table::layout::axes, shape<Axes...>>, say::learned_positions,
            say::the_table_has, typename Table::layout::axes, say::but_must_have, shape<Axes...>>,
    verdict<std::is_same_v<typename Table::value_type, T>, say::learned_positions,
            say::the_input_is_of_type, element<T>, say::but_the_table_is_of_type,
            element<typename Table::value_type>>,
    verdict<sizeof(Table) == 0, say::learned_positions, typename Table::layout::axes,
            say::is_not_row_major_in_memory_so_pass_contiguous_of_x>>;
}  // namespace rules

// y = x + table. Never inlined: x is often a product (embeddings times sqrt(hidden)), which the
// compiler could fuse into the sum.
template <class X, class Table, class Y>
UMBEL_NOINLINE constexpr void add_each(const X& x, const Table& table, Y& y) noexcept {
  for_each([](auto& sum, const auto& a, const auto& b) { sum = a + b; }, y, x, table);
}

// x plus a table, which is repeated along the axes that only x has.
template <class X, class Table, class Y, class... Axes>
constexpr void add_table(const X& x, const Table& table, Y& y, shape<Axes...>) noexcept {
  add_each(x, broadcast<Axes...>(table), y);
}

}  // namespace detail

// x + a learned table of one vector for each position. T: float or double. Position, Hidden:
// token<49>, hidden<32>. The table (Position, Hidden), row-major, is borrowed.
template <class T, class Position, class Hidden>
class learned_positions : public detail::computing<learned_positions<T, Position, Hidden>,
                                                   detail::say::learned_positions> {
  static_assert(detail::reported<detail::rules::axes_of_the_table<detail::say::learned_positions,
                                                                  Position, Hidden>>::ok,
                "umbel: shapes do not fit");

 public:
  using value_type = T;
  using position_axis = typename detail::axis_or_none<Position>::plain;
  using hidden_axis = typename detail::axis_or_none<Hidden>::plain;
  using weights = tensor<T, position_axis, hidden_axis>;
  using weights_view = view<const T, position_axis, hidden_axis>;

  constexpr explicit learned_positions(const weights_view& table) noexcept : table_(table) {}
  template <detail::foreign_weights<weights_view, learned_positions> Table>
    requires detail::tensor_like<Table>
  constexpr explicit learned_positions(const Table&) noexcept : table_(nullptr) {
    static_assert(
        detail::report<detail::rules::positions_table<Table, T, position_axis, hidden_axis>>::ok,
        "umbel: shapes do not fit");
  }

  template <class... Given>
    requires(sizeof...(Given) == 0)
  constexpr learned_positions() noexcept : table_(nullptr) {
    static_assert(
        detail::report<detail::rules::weights_of_this_layer<detail::say::learned_positions, void,
                                                            Given...>>::ok,
        "umbel: shapes do not fit");
  }

  // x: any axes with Position and Hidden, of the table's sizes ("the input has token=50 but the
  // table has token=49"). Gives a row-major tensor of the axes of x; into(out, x): out may be x.
  template <class X>
  using rule = detail::rules::learned_positions<X, T, position_axis, hidden_axis>;
  template <class X, class Y>
  constexpr void write(const X& x, Y& y) const noexcept {
    detail::add_table(x, table_, y, typename detail::layout_of<X>::axes{});
  }
  // The table, borrowed.
  [[nodiscard]] constexpr const weights_view& get_weights() const noexcept { return table_; }

 private:
  weights_view table_;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
