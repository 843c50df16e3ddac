// SPDX-License-Identifier: BSL-1.0
// learned_positions: a table with one vector per position, added to every sequence of a batch; and
// the common base of tables of positions, which finds where a part of a sequence begins.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/borrowing.hpp>
#include <umbel/layer/computing.hpp>
#include <umbel/layer/table.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/loop.hpp>
#include <umbel/tensor/reshape.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct learned_positions;
}  // namespace say

namespace rules {
// Operation: its name in sentences. Fits: does the size of Axis in Layout fit the table?
template <class Operation, class Layout, class Axis, bool Fits>
using axis_of_the_table =
    first_error<has_axis<Operation, Layout, typename Axis::family>,
                verdict<Fits, Operation, say::the_input_has, axis_of<Layout, typename Axis::family>,
                        struct but_the_table_has, typename Axis::plain>>;
template <class X, class Axis>
inline constexpr std::size_t size_along = layout_of<X>::template size_of<typename Axis::family>;
template <class Operation, class X, class T>
using type_of_the_table =
    verdict<std::is_same_v<typename X::value_type, T>, Operation, say::the_input_has_type,
            element<typename X::value_type>, struct but_the_table_has_type, element<T>>;

template <class Operation, class Position, class Hidden>
using axes_of_the_table =
    first_error<well_formed<Position, Hidden>, in_place<Operation, Position, axes::token>,
                in_place<Operation, Hidden, axes::hidden>>;

// The tensor that a table of T is added to. Part: may the input have fewer positions?
template <class Operation, class X, class T, class Position, class Hidden, bool Part>
using positions_of_the_table = first_error<
    axis_of_the_table<Operation, layout_of<X>, Position,
                      Part ? size_along<X, Position> <= Position::size
                           : size_along<X, Position> == Position::size>,
    axis_of_the_table<Operation, layout_of<X>, Hidden, size_along<X, Hidden> == Hidden::size>,
    type_of_the_table<Operation, X, T>>;
}  // namespace rules

// Count rows of a table of positions, from `first` on.
template <class Position, std::size_t Count>
struct part_of_a_table {
  static constexpr std::size_t last = Position::size - Count;
  using axis = typename Position::family::template sized<Count>;

  std::size_t first = 0;

  template <class Hidden, class T>
  constexpr view<const T, axis, Hidden> rows_of(const T* table) const noexcept {
    return view<const T, axis, Hidden>(table + first * Hidden::size);
  }
  template <class T>
  constexpr view<const T, axis> scales_of(const T* scales) const noexcept {
    return view<const T, axis>(scales + first);
  }
};

// Base of the operations that add the rows of a table to x: f(x) from the first row, f(x, offset)
// from row offset, and into(out, x, offset); out may be x. An offset past the last one that fits
// is reduced to that one; a negative one becomes 0. The derived Operation has, for a tensor X,
//   rule<X>, part_rule<X>   the verdicts without and with an offset
//   add_rows(x, part, y)    y = x + those rows; part: a part_of_a_table
template <class Operation, class Name, class Position>
struct placing : computing<Operation, Name, say::expects_one_tensor_or_view_then_an_integer> {
  using base = computing<Operation, Name, say::expects_one_tensor_or_view_then_an_integer>;
  using base::operator();
  using base::into;

  template <tensor_like X, integer_index I>
  constexpr auto operator()(const X& x, I offset) const noexcept {
    using verdict = typename Operation::template part_rule<X>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok)
      return filled<tensor_of<typename X::value_type, row_major<layout_of<X>>>>(
          [&](auto& y) { self().add_rows(x, part_from<X>(offset), y); });
    else
      return invalid{};
  }
  template <tensor_like Out, tensor_like X, integer_index I>
  constexpr void into(Out&& out, const X& x, I offset) const noexcept {
    using result = row_major<layout_of<X>>;
    using T = typename X::value_type;
    using verdict = first_error<typename Operation::template part_rule<X>,
                                rules::row_major_out<Name, Out, T, result>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      view_of<T, result> y(out.data());
      self().add_rows(x, part_from<X>(offset), y);
    }
  }
  template <class X, class Y>
  constexpr void write(const X& x, Y& y) const noexcept {
    self().add_rows(x, part_from<X>(0), y);
  }

 private:
  template <class X, class I>
  static constexpr auto part_from(I offset) noexcept {
    using part = part_of_a_table<Position, rules::size_along<X, Position>>;
    const std::size_t from = offset < I{} ? 0 : static_cast<std::size_t>(offset);
    return part{from < part::last ? from : part::last};
  }
  constexpr const Operation& self() const noexcept { return static_cast<const Operation&>(*this); }
};

// y = x + table. Never inlined: x is often a product (embeddings * sqrt(hidden)): no fusion.
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

// The same for an 8-bit table: y = x + steps scales, rounded once.
template <class X, class Steps, class Scales, class Y, class... Axes>
UMBEL_NOINLINE constexpr void add_steps(const X& x, const Steps& steps, const Scales& scales, Y& y,
                                        shape<Axes...>) noexcept {
  using T = typename X::value_type;
  for_each([](T& sum, const T& a, const auto& step,
              const T& scale) { sum = simd::fma(static_cast<T>(step), scale, a); },
           y, x, broadcast<Axes...>(steps), broadcast<Axes...>(scales));
}

// Calls of the layer and of prepacked<layer>. x: any axes with Position and Hidden, of the table's
// sizes ("the input has token=50 but the table has token=49"); with an offset also fewer positions:
// positions(x, cache.size()) adds those of the next ones. Returns a row-major tensor with the axes
// of x; into(out, x), into(out, x, offset): out may be x.
template <class Derived, class T, class Position, class Hidden>
struct positions_calls : placing<Derived, say::learned_positions, Position> {
  template <class X>
  using rule = rules::positions_of_the_table<say::learned_positions, X, T, Position, Hidden, false>;
  template <class X>
  using part_rule =
      rules::positions_of_the_table<say::learned_positions, X, T, Position, Hidden, true>;
  template <class X, class Part, class Y>
  constexpr void add_rows(const X& x, const Part& part, Y& y) const noexcept {
    using axes = typename layout_of<X>::axes;
    const auto& table = static_cast<const Derived*>(this)->get_weights();
    const auto rows = part.template rows_of<Hidden>(table.rows().data());
    if constexpr (requires { table.scales(); })
      add_steps(x, rows, part.scales_of(table.scales().data()), y, axes{});
    else
      add_table(x, rows, y, axes{});
  }
};

}  // namespace detail

// x + a learned table with one vector per position; positions(x, offset) is for part of a sequence.
// T: float or double. Position, Hidden: token<49>, hidden<32>. The table (Position, Hidden),
// row-major, is borrowed from a tensor or view, or from view_as<token, hidden>(memory).
template <class T, class Position, class Hidden>
UMBEL_EXPECTS(
    "learned_positions: expects an element type, then two axes; write learned_positions<float, "
    "token<128>, hidden<64>>")
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
