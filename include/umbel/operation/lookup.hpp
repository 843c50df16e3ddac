// SPDX-License-Identifier: BSL-1.0
// Rows of a table by integers: lookup(table, ids) (an embedding), and one_hot<classes<10>>(ids). An
// integer outside its axis reads nothing and returns zeros. With UMBEL_CHECK=1 it stops the program
// (tensor/check.hpp), except in formulas; in a constant expression it is a compile error.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/operation/elementwise_function.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/check.hpp>
#include <umbel/tensor/refusal.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct lookup;
struct one_hot;
}  // namespace say

UMBEL_SAYS(needs_integers_not, "needs integers, not");

// In formulas, integers are numbers of the formula's type T, which holds all integers up to this
// one.
template <class T>
inline constexpr std::size_t integers_of = std::size_t{1} << (sizeof(T) == 4 ? 24 : 53);
// The row that an integer names; npos for an invalid one in a formula.
template <class Id>
constexpr std::size_t row_number(Id id) noexcept {
  if constexpr (std::is_floating_point_v<Id>)
    return id >= 0 && id < static_cast<Id>(integers_of<Id>) ? static_cast<std::size_t>(id) : npos;
  else
    return static_cast<std::size_t>(id);
}

UMBEL_SAYS(needs_the_axis_of_the_classes_so_write_one_hot_of_10_classes,
           "needs the axis of the classes with its size; write one_hot<classes<10>>(ids)");
UMBEL_SAYS(expects_a_table_and_positions_so_write_lookup_of_both,
           "expects a table and positions; write lookup(table, ids)");

namespace rules {
// A table with these rows, in a formula of T.
template <class Operation, class Rows, class T>
using rows_in_a_formula =
    verdict<Rows::size <= integers_of<T>, Operation, Rows, struct has_more_positions_than,
            element<T>, struct can_count_so_look_up_outside_the_formula>;
template <class Operation, class T>
using integers = verdict<std::is_integral_v<T> && !std::is_same_v<T, bool>, Operation,
                         say::needs_integers_not, element<T>>;

template <class Classes, class T, class Ids>
struct one_hot_rule {
  using type = accepted;
};
template <class Classes, class T, shaped Ids>
struct one_hot_rule<Classes, T, Ids> {
  using type = first_error<
      typename element_rule<T>::type, well_formed<Classes>,
      integers<say::one_hot, typename Ids::value_type>,
      is_new_axis<say::one_hot, layout_of<Ids>, typename axis_or_none<Classes>::family>>;
};
template <class Classes, class T, class Ids>
using one_hot = typename one_hot_rule<Classes, T, Ids>::type;
template <class Ids>
using classes_given = verdict<one_is_invalid<Ids>, say::one_hot,
                              say::needs_the_axis_of_the_classes_so_write_one_hot_of_10_classes>;
template <class... X>
using table_and_positions =
    in_its_line<verdict<one_is_invalid<X...>, say::lookup,
                        say::expects_a_table_and_positions_so_write_lookup_of_both>,
                X...>;
}  // namespace rules

template <class Axes, class More>
struct joined_axes;
template <class... Axes, class... More>
struct joined_axes<shape<Axes...>, shape<More...>> {
  using type = layout<Axes..., More...>;
  template <class Operation>
  using each_once = rules::names_each_once<Operation, shape<Axes..., More...>,
                                           typename Axes::family..., typename More::family...>;
};
// A table's first axis, its features, and the axes of the result.
template <class Table, class Ids>
struct looked_up {
  using rows = typename Table::template axis_at<0>;
  using features = algebra::select<Table, typename rows::family>;
  using joined = joined_axes<typename Ids::axes, typename features::axes>;
};

namespace rules {
template <class Operation, class Table, class Ids>
struct rows_of_axes_rule {
  using type = typename looked_up<Table, Ids>::joined::template each_once<Operation>;
};
template <class Operation, class Table, class Ids>
  requires(Table::rank == 0)
struct rows_of_axes_rule<Operation, Table, Ids> {
  using type = verdict<never<Table>, Operation, struct the_table_has_no_axis_to_look_up>;
};
template <class Table, class Ids>
struct lookup_rule {
  using type =
      verdict<one_is_invalid<Table, Ids>, say::lookup, struct expects_a_table_and_integers>;
};
// Operation: its word.
template <class Operation, class Table, class Ids>
using rows_by_integers =
    first_error<integers<Operation, typename Ids::value_type>,
                typename rows_of_axes_rule<Operation, layout_of<Table>, layout_of<Ids>>::type>;
template <shaped Table, shaped Ids>
struct lookup_rule<Table, Ids> {
  using type = rows_by_integers<say::lookup, Table, Ids>;
};
template <class Table, class Ids>
using lookup = typename lookup_rule<Table, Ids>::type;
}  // namespace rules

// Checked: does the file check positions? (Functions that depend on it need it in their name.)
template <bool Checked, class Axis, class T, class Ids>
constexpr auto one_hot_rows(const Ids& ids) noexcept {
  using result = typename joined_axes<typename layout_of<Ids>::axes, shape<Axis>>::type;
  return filled<tensor_of<T, result>>([&](auto& out) {
    T* to = out.data();
    for_each(
        [&](const auto& id) {
          const std::size_t at = offset_along<Axis, 1>("one_hot", static_cast<std::size_t>(id));
          for (std::size_t i = 0; i < Axis::size; ++i) *to++ = static_cast<T>(i == at);
        },
        ids);
  });
}
template <class Classes, class T>
struct one_hot_operation : other_calls<say::one_hot> {
  using other_calls<say::one_hot>::operator();
  template <shaped Ids>
  constexpr auto operator()(const Ids& ids) const noexcept;
};
// row_of(id): the row of the table; rows::size or more for zeros.
template <class Layout, class T, class Ids, class F>
constexpr void write_rows(const T* table, const Ids& ids, T* to, F row_of) noexcept {
  using axes = looked_up<Layout, layout_of<Ids>>;
  using features = typename axes::features;
  const auto take = [&](const T& element) { *to++ = element; };
  for_each(
      [&](const auto& id) {
        const std::size_t row = row_of(id);
        if (row < axes::rows::size)
          loop_over<0, features>::each(take, table + row * Layout::strides[0]);
        else
          for (std::size_t i = 0; i < features::count; ++i) take(T{});
      },
      ids);
}
// operation: its name for a failed check.
template <bool Checked, class Table, class Ids>
constexpr auto rows_of_table(const Table& table, const Ids& ids,
                             const char* operation = "lookup") noexcept {
  using T = typename Table::value_type;
  using axes = looked_up<layout_of<Table>, layout_of<Ids>>;
  return filled<tensor_of<T, typename axes::joined::type>>([&](auto& out) {
    write_rows<layout_of<Table>>(table.data(), ids, out.data(), [operation](const auto& id) {
      const std::size_t row = row_number(id);
      offset_along<typename axes::rows, 1>(operation, row);
      return row;
    });
  });
}

}  // namespace detail

// Would lookup(table, ids) compile? indexable<Table, Ids>.
template <class Table, class Ids>
concept indexable =
    detail::fits<detail::rules::lookup<std::remove_cvref_t<Table>, std::remove_cvref_t<Ids>>>;
// Would one_hot<Classes>(ids) compile? one_hot_encodable<Ids, classes<10>>.
template <class Ids, class Classes, class T = float>
concept one_hot_encodable =
    detail::elements<Ids> &&
    detail::fits<detail::rules::one_hot<Classes, T, std::remove_cvref_t<Ids>>>;

// one_hot<classes<10>>(ids): for each integer, zeros with a 1 at its position along a new last
// axis. Returns a row-major tensor of float, or of T with one_hot<classes<10>, T>.
template <class Classes, class T = float, detail::elements Ids>
UMBEL_SHARED constexpr auto one_hot(const Ids& ids) noexcept {
  using verdict = detail::rules::one_hot<Classes, T, Ids>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok && !detail::one_is_invalid<Ids>) {
    return detail::one_hot_rows<(UMBEL_CHECK != 0), typename Classes::plain, T>(ids);
  } else {
    return detail::invalid{};
  }
}

// ids | one_hot<classes<10>> is the same.
template <class Classes, class T = void>
constexpr detail::one_hot_operation<Classes, T> one_hot() noexcept {
  return {};
}
namespace detail {
// (Here, so that a name of the user's is not found instead of the one above.)
template <class Classes, class T>
template <shaped Ids>
constexpr auto one_hot_operation<Classes, T>::operator()(const Ids& ids) const noexcept {
  if constexpr (traced<Ids> || !std::is_void_v<T>)
    return one_hot<Classes, T>(ids);
  else
    return one_hot<Classes, float>(ids);
}
}  // namespace detail

// lookup(table, ids): for each integer, its row of the table; the axes of ids replace the table's
// first axis. ids (batch, token) and a table (words, hidden) give (batch, token, hidden).
template <class Table, class Ids>
  requires((detail::elements<Table> || detail::elements<Ids>) &&
           !(detail::of_a_formula<Table> || detail::of_a_formula<Ids>))
UMBEL_SHARED constexpr auto lookup(const Table& table, const Ids& ids) noexcept {
  using verdict = detail::rules::lookup<Table, Ids>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok && !detail::one_is_invalid<Table, Ids>) {
    return detail::rows_of_table<(UMBEL_CHECK != 0)>(table, ids);
  } else {
    return detail::invalid{};
  }
}

// Without the classes, or without their number: refused.
template <class Ids>
  requires(detail::shaped<Ids> || detail::one_is_invalid<Ids>)
constexpr auto one_hot(const Ids&) noexcept {
  using verdict = detail::in_its_line<detail::rules::classes_given<Ids>, Ids>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}
#define UMBEL_INSTEAD "needs the axis of the classes with its size; write one_hot<classes<10>>(ids)"
UMBEL_REFUSED_RESULT(one_hot, UMBEL_INSTEAD)
UMBEL_REFUSES_NUMBERS_OF_TENSOR(one_hot, UMBEL_INSTEAD)
UMBEL_REFUSES_OF_TENSOR(one_hot, UMBEL_INSTEAD, UMBEL_NAMES)
#undef UMBEL_INSTEAD
// With an axis: refused.
#define UMBEL_INSTEAD "reads along the first axis; for a different one write gather<bucket>(x, ids)"
UMBEL_REFUSED_RESULT(lookup, UMBEL_INSTEAD)
UMBEL_REFUSES_NUMBERS_OF_TENSOR(lookup, UMBEL_INSTEAD)
UMBEL_REFUSES_OF_TENSOR(lookup, UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSES_OF_TENSOR(lookup, UMBEL_INSTEAD, UMBEL_NAMES)
#undef UMBEL_INSTEAD
// A table without positions, or more than both: refused.
template <class... X>
  requires(detail::are_other_than<2, X...> || detail::are_with_another<X...>)
constexpr auto lookup(const X&...) noexcept {
  using verdict = detail::rules::table_and_positions<X...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
