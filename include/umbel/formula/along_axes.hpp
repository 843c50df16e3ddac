// SPDX-License-Identifier: BSL-1.0
// Operations along named axes in formulas that are functions: concat, stack, lookup, one_hot,
// rotate by given angles or positions. (softmax, sum, contract and others are objects, or have
// overloads for nodes.)
#pragma once

#include <umbel/attention/rotate.hpp>
#include <umbel/config.hpp>
#include <umbel/formula/arithmetic.hpp>
#include <umbel/formula/gather.hpp>
#include <umbel/formula/node.hpp>
#include <umbel/operation/concat.hpp>
#include <umbel/operation/lookup.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

namespace rules {
// Further rules of rows by integers in a formula. T: the table's type.
template <class Operation, class Rows, class T, class Ids>
struct integers_in_formula_rule {
  using type = rows_in_a_formula<Operation, Rows, T>;
};
template <class Operation, class Rows, class T, tensor_like Ids>
struct integers_in_formula_rule<Operation, Rows, T, Ids> {
  using type = verdict<false, say::formula, say::a_part_of_an_argument_holds,
                       element<typename Ids::value_type>, say::so_pass_it_as_a_separate_argument>;
};
template <class Table, class Ids>
using lookup_in_formula =
    typename integers_in_formula_rule<say::lookup, typename layout_of<Table>::template axis_at<0>,
                                      typename Table::value_type, Ids>::type;
}  // namespace rules

namespace formulas {

// Result: the layout of all parts, one after another along Family's axis.
template <class T, class Result, class Family, class... Layout>
constexpr void write_parts(const T* const* from, T* to) noexcept {
  const auto put = [&]<class Part>(const T* part, Part*) {
    constexpr std::size_t positions = Part::template size_of<Family>;
    copy(view_of<const T, Part>(part), view_of<T, algebra::slice<Result, Family, positions>>(to));
    to += positions * Result::template stride_of<Family>;
  };
  std::size_t next = 0;
  (put(from[next++], static_cast<Layout*>(nullptr)), ...);
}
template <class Family, class Node>
constexpr const Node& concat_nodes(const Node& node) noexcept {
  return node;
}
template <class Family, class First, class... Node>
  requires(sizeof...(Node) > 0 && sizeof...(Node) < 4)
constexpr auto concat_nodes(const First& first, const Node&... rest) noexcept {
  constexpr std::size_t size = (layout_of<First>::template size_of<Family> + ... +
                                layout_of<Node>::template size_of<Family>);
  using T = typename First::value_type;
  using result = resized<layout_of<First>, Family, size>;
  return first.template recorded<result>(
      [&] {
        node_of_graph<T> entry;
        entry.what = word::concat;
        entry.family = family_id<Family>;
        entry.name = "concat";
        entry.run = [](const captured<T>&, const T* const* from, T* to) {
          write_parts<T, result, Family, layout_of<First>, layout_of<Node>...>(from, to);
        };
        entry.from[entry.operands++] = first.as_operand();
        ((entry.from[entry.operands++] = rest.as_operand()), ...);
        return entry;
      },
      first.number, rest.number...);
}
// With more operands, the first are joined first.
template <class Family, class A, class B, class C, class D, class E, class... Node>
constexpr auto concat_nodes(const A& a, const B& b, const C& c, const D& d, const E& e,
                            const Node&... rest) noexcept {
  static_assert(most_operands >= 4);
  return concat_nodes<Family>(concat_nodes<Family>(a, b, c, d), e, rest...);
}

template <class... X>
concept nodes_to_join = (a_node<X> || ...) && ((a_node<X> || tensor_like<X>) && ...);

template <template <std::size_t> class Axis, class... X>
  requires nodes_to_join<X...>
constexpr auto concat(const X&... x) noexcept {
  using family = family_of<Axis>;
  using verdict = in_its_line<first_error<rules::concat<family, X...>,
                                          rules::floating<say::concat, typename X::value_type>...>,
                              X...>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return formulas::concat_nodes<family>(as_node(recorder_of(x...), x)...);
  else
    return refusal<verdict>();
}
template <template <std::size_t> class Axis, class Node, class... Axes>
constexpr auto along_new_axis(const Node& x, shape<Axes...>) noexcept {
  return x.template reread<algebra::broadcast<layout_of<Node>, Axis<1>, Axes...>>(0);
}
template <template <std::size_t> class Axis, class... X>
  requires nodes_to_join<X...>
constexpr auto stack(const X&... x) noexcept {
  using family = family_of<Axis>;
  using verdict = in_its_line<first_error<rules::stack<family, X...>,
                                          rules::floating<say::stack, typename X::value_type>...>,
                              X...>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return formulas::concat_nodes<family>(formulas::along_new_axis<Axis>(
        as_node(recorder_of(x...), x), typename layout_of<X>::axes{})...);
  else
    return refusal<verdict>();
}

template <class Table, class Ids>
  requires(a_positional<Table> && !can_be_gathered<Table> && (symbolic<Ids> || tensor_like<Ids>))
constexpr auto lookup(const Table&, const Ids&) noexcept {
  using verdict = rules::table_and_positions<Table, Ids>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return refusal<verdict>();
}
// At computed positions: gather along the table's first axis.
template <class Positions>
inline constexpr bool is_open = false;
template <a_node Positions>
inline constexpr bool is_open<Positions> = !std::is_same_v<typename Positions::open, families<>>;
template <can_be_gathered Table, class Positions>
  requires(a_positional<Table> || a_positional<Positions> || is_open<Positions>)
constexpr auto lookup(const Table& table, const Positions& positions) noexcept {
  using layout = typename operand_axes<Table>::layout;
  using has_rows =
      verdict<layout::rank != 0, say::lookup, struct rules::the_table_has_no_axis_to_look_up>;
  if constexpr (has_rows::ok) {
    using family = typename layout::template axis_at<0>::family;
    using verdict = in_its_line<rules::gather_in_formula<say::lookup, family, Table, Positions>,
                                Table, Positions>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok)
      return gather_along<family>(table, positions);
    else
      return refusal<verdict>();
  } else {
    static_assert(report<has_rows>::ok, "umbel: shapes do not fit");
    return refusal<has_rows>();
  }
}
// (Positions are not checked here, even with UMBEL_CHECK: invalid ones give zeros.)
template <class Table, class Ids>
  requires(nodes_to_join<Table, Ids> && !is_open<Ids>)
constexpr auto lookup(const Table& table, const Ids& ids) noexcept {
  using verdict =
      in_its_line<first_error<rules::lookup<Table, Ids>, rules::lookup_in_formula<Table, Ids>>,
                  Table, Ids>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return record_gather<typename layout_of<Table>::template axis_at<0>::family>(
        as_node(ids.recorder, table), ids);
  else
    return refusal<verdict>();
}

template <class Pairing, class Family, class From, class Cosines, class Sines, class T>
constexpr void write_rotated(const captured<T>&, const T* const* from, T* to) noexcept {
  using result = row_major<From>;
  copy(view_of<const T, From>(from[0]), view_of<T, result>(to));
  rotate_pairs<Pairing, Family, result, Cosines, Sines>(to, from[1], from[2]);
}
template <class Pairing, template <std::size_t> class Features, class X, class Cosines, class Sines>
  requires nodes_to_join<X, Cosines, Sines>
constexpr auto rotate(const X& x, const Cosines& cosines, const Sines& sines) noexcept {
  using family = family_of<Features>;
  using verdict =
      in_its_line<rules::rotate_by<Pairing, family, X, Cosines, Sines>, X, Cosines, Sines>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) {
    using T = typename X::value_type;
    using result = row_major<layout_of<X>>;
    const auto recorder = recorder_of(x, cosines, sines);
    const auto rotated = as_node(recorder, x);
    const auto cosine = as_node(recorder, cosines);
    const auto sine = as_node(recorder, sines);
    return rotated.template recorded<result>(
        [&] {
          node_of_graph<T> entry;
          entry.what = word::rotate;
          entry.run =
              write_rotated<Pairing, family, layout_of<X>, layout_of<Cosines>, layout_of<Sines>, T>;
          entry.run_back = write_rotated<Pairing, family, result, layout_of<Cosines>,
                                         row_major<layout_of<Sines>>, T>;
          entry.from[0] = rotated.as_operand();
          entry.from[1] = cosine.as_operand();
          entry.from[2] = sine.as_operand();
          entry.operands = 3;
          return entry;
        },
        rotated.number, cosine.number, sine.number);
  } else {
    return refusal<verdict>();
  }
}

// A node: rows of the rotary table by integers.
template <bool Sines, class Rope, class Positions, class Features, class Ids>
constexpr auto turns_at(const Ids& ids) noexcept {
  using T = typename Ids::T;
  using name = std::conditional_t<Sines, say::rope_sines, say::rope_cosines>;
  using table = decltype(rope_view<name, Rope, Positions, Features, T>(Sines));
  using positions = row_major<layout_of<Ids>>;
  const auto at = ids.in_numbers();
  return at.template recorded<typename looked_up<layout_of<table>, positions>::joined::type>(
      [&] {
        node_of_graph<T> entry;
        entry.what = word::call;
        entry.run = [](const captured<T>&, const T* const* operands, T* to) {
          write_rows<layout_of<table>>(rope_view<name, Rope, Positions, Features, T>(Sines).data(),
                                       view_of<const T, positions>(operands[0]), to, row_number<T>);
        };
        entry.by_rows = true;
        entry.name = Sines ? "rope_sines" : "rope_cosines";
        entry.tables = layout_of<table>::count * sizeof(T);
        entry.from[0] = at.as_operand();
        entry.operands = 1;
        return entry;
      },
      at.number);
}
template <class Rope, class Positions, template <std::size_t> class Features, class X, class Ids>
  requires nodes_to_join<X, Ids>
constexpr auto rotate(const X& x, const Ids& positions) noexcept {
  using T = typename X::value_type;
  using verdict = in_its_line<
      first_error<rules::rotate_at<Rope, Positions, family_of<Features>, X, Ids>,
                  typename rules::integers_in_formula_rule<say::rotate, Positions, T, Ids>::type>,
      X, Ids>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) {
    using features = axis_of<layout_of<X>, family_of<Features>>;
    return formulas::rotate<typename rope_of<Rope>::pairs, Features>(
        as_node(positions.recorder, x), turns_at<false, Rope, Positions, features>(positions),
        turns_at<true, Rope, Positions, features>(positions));
  } else {
    return refusal<verdict>();
  }
}

// Rotary positions along an axis whose start a cache knows: rows of the table of all positions.
template <class Rope, template <std::size_t> class Position, template <std::size_t> class Features>
struct at_positions<rotate_operation<Rope, Position, Features>> {
  static constexpr bool differs = true;
  template <class Node>
  static constexpr auto of(const Node& x) noexcept {
    using R = typename Node::recorder_type;
    const auto at = values_of_positions<axis_of<layout_of<Node>, family_of<Position>>>(x.recorder);
    using table = Position<R::positions>;
    using features = axis_of<layout_of<Node>, family_of<Features>>;
    return formulas::rotate<typename rope_of<Rope>::pairs, Features>(
        x, turns_at<false, Rope, table, features>(at), turns_at<true, Rope, table, features>(at));
  }
};

// An elementwise condition, as 1 or 0 of the formula's type.
template <class Classes, class Ids, class... Axes>
constexpr auto one_hot_of(const Ids& ids, shape<Axes...>) noexcept {
  const auto repeated =
      ids.template reread<algebra::broadcast<layout_of<Ids>, Axes..., Classes>>(0);
  return where(repeated == axis_position<typename Classes::family>{}, 1, 0);
}
template <class Classes, class T = void, a_node Ids>
constexpr auto one_hot(const Ids& ids) noexcept {
  using element_of_ids = typename Ids::T;
  using element = std::conditional_t<std::is_void_v<T>, element_of_ids, T>;
  using verdict =
      in_its_line<first_error<rules::one_hot<Classes, element, Ids>,
                              rules::same_element<say::one_hot, element, element_of_ids>>,
                  Ids>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return formulas::one_hot_of<typename Classes::plain>(ids, typename layout_of<Ids>::axes{});
  else
    return refusal<verdict>();
}

}  // namespace formulas
}  // namespace umbel::inline UMBEL_TARGET::detail

// For umbel::concat<axis>(x, y): a qualified name is looked up only here.
namespace umbel::inline UMBEL_TARGET {

using detail::formulas::concat;
using detail::formulas::lookup;
using detail::formulas::one_hot;
using detail::formulas::rotate;
using detail::formulas::stack;

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
