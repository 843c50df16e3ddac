// SPDX-License-Identifier: BSL-1.0
// learned_positions: a table of one vector for each position, added to every sequence of a batch.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/borrowing.hpp>
#include <umbel/layer/computing.hpp>
#include <umbel/layer/table.hpp>
#include <umbel/tensor/loop.hpp>
#include <umbel/tensor/reshape.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct but_the_table_has;
struct but_the_table_is_of_type;
struct learned_positions;
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
}  // namespace rules

// y = x + table. Never inlined: x is often a product (embeddings times sqrt(hidden)), which the
// compiler could fuse into the sum.
template <class X, class Table, class Y>
UMBEL_NOINLINE constexpr void add_each(const X& x, const Table& table, Y& y) noexcept {
  using T = typename X::value_type;
  for_each([](T& sum, const T& a, const auto& b) { sum = a + static_cast<T>(b); }, y, x, table);
}

// x plus a table, which is repeated along the axes that only x has.
template <class X, class Table, class Y, class... Axes>
constexpr void add_table(const X& x, const Table& table, Y& y, shape<Axes...>) noexcept {
  add_each(x, broadcast<Axes...>(table), y);
}

// The same of a table in 8 bits: y = x + steps scales, rounded once.
template <class X, class Steps, class Scales, class Y, class... Axes>
UMBEL_NOINLINE constexpr void add_steps(const X& x, const Steps& steps, const Scales& scales, Y& y,
                                        shape<Axes...>) noexcept {
  using T = typename X::value_type;
  for_each([](T& sum, const T& a, const auto& step,
              const T& scale) { sum = simd::fma(static_cast<T>(step), scale, a); },
           y, x, broadcast<Axes...>(steps), broadcast<Axes...>(scales));
}

// Calls of the layer and of prepacked<layer>. x: any axes with Position and Hidden, of the table's
// sizes ("the input has token=50 but the table has token=49"). Gives a row-major tensor of the axes
// of x; into(out, x): out may be x.
template <class Derived, class T, class Position, class Hidden>
struct positions_calls : computing<Derived, say::learned_positions> {
  template <class X>
  using rule = rules::learned_positions<X, T, Position, Hidden>;
  template <class X, class Y>
  constexpr void write(const X& x, Y& y) const noexcept {
    using axes = typename layout_of<X>::axes;
    const auto& table = static_cast<const Derived*>(this)->get_weights();
    if constexpr (requires { table.scales(); })
      add_steps(x, table.rows(), table.scales(), y, axes{});
    else
      add_table(x, table.rows(), y, axes{});
  }
};

}  // namespace detail

// x + a learned table of one vector for each position. T: float or double. Position, Hidden:
// token<49>, hidden<32>. The table (Position, Hidden), row-major, is borrowed: of a tensor or view,
// or of view_as<token, hidden>(memory).
template <class T, class Position, class Hidden>
class learned_positions
    : public detail::positions_calls<learned_positions<T, Position, Hidden>, T,
                                     typename detail::axis_or_none<Position>::plain,
                                     typename detail::axis_or_none<Hidden>::plain>,
      public detail::borrowing<
          detail::say::learned_positions, learned_positions<T, Position, Hidden>,
          portable::table_view<T, typename detail::axis_or_none<Position>::plain,
                               typename detail::axis_or_none<Hidden>::plain>> {
  static_assert(detail::reported<detail::rules::axes_of_the_table<detail::say::learned_positions,
                                                                  Position, Hidden>>::ok,
                "umbel: shapes do not fit");

 public:
  using value_type = T;
  using position_axis = typename detail::axis_or_none<Position>::plain;
  using hidden_axis = typename detail::axis_or_none<Hidden>::plain;
  using weights = tensor<T, position_axis, hidden_axis>;
  using weights_view = portable::table_view<T, position_axis, hidden_axis>;
  template <class Stored>
  using packed_weights = detail::packed_table<T, position_axis, hidden_axis, Stored>;
  template <class Derived>
  using calls = detail::positions_calls<Derived, T, position_axis, hidden_axis>;
  using detail::borrowing<detail::say::learned_positions, learned_positions,
                          weights_view>::borrowing;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
