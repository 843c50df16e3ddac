// SPDX-License-Identifier: BSL-1.0
// gather<axis>(x, positions) and lookup(table, positions) in formulas at computed positions:
// elementwise, so a table by the distance of key and query is read in the loop of scores, and no
// pairs are stored.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/arithmetic.hpp>
#include <umbel/formula/node.hpp>
#include <umbel/operation/gather.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// A gather from a part of an argument at positions, before a node joins it.
template <class Family, class X, class Positions>
struct positional_gather : portable::own_arithmetic {
  using is_positional = positional_gather;
  X x;
  Positions positions;
  constexpr operator float() const noexcept {
    static_assert(report<rules::has_a_number<positional_gather>>::ok, "umbel: shapes do not fit");
    return 0;
  }
};
template <class Family, class X, class Positions>
struct operand_axes<positional_gather<Family, X, Positions>> {
  using layout = typename gathered_layouts<typename operand_axes<X>::layout, Family,
                                           typename operand_axes<Positions>::layout>::result;
  using open =
      typename open_of_both<layout, families<>, typename operand_axes<Positions>::open>::type;
  using sized = typename operand_axes<Positions>::sized;
};
template <class Family, class X, class Positions>
struct with_elements<positional_gather<Family, X, Positions>> : with_elements<X> {};

// The elements that it returns: conditions, or numbers of the formula.
template <class T, class E>
using gathered_element = std::conditional_t<std::is_same_v<E, bool>, bool, T>;
template <class Name, class Family, class X, class Positions>
struct condition_rule<Name, positional_gather<Family, X, Positions>>
    : condition_rule<Name, typename with_elements<X>::type> {};

// x: a node whose axis is adjacent in memory, if its positions may be neighbors.
template <class Family, class R, class E, class Layout, class I, class At, class Open>
constexpr auto record_gather(const node<R, E, Layout>& x,
                             const node<R, I, At, Open>& positions) noexcept {
  using T = typename R::value_type;
  using layouts = gathered_layouts<Layout, Family, At>;
  using result = typename layouts::result;
  using open = typename open_of_both<result, families<>, Open>::type;
  node<R, gathered_element<T, E>, result, open> made{{}, x.recorder, 0, 0};
  if constexpr (R::makes_graph) {
    node_of_graph<T> entry;
    entry.what = word::gather;
    entry.open = !std::is_same_v<open, families<>>;
    entry.axes = axes_of_layout<result>();
    if constexpr (R::describes) entry.shape = written_out<typename result::axes>();
    entry.family = family_id<Family>;
    entry.gathered = Layout::template size_of<Family>;
    entry.gathered_stride = Layout::template stride_of<Family>;
    entry.from[0] = {x.number, x.offset, axes_of_layout<typename layouts::features>()};
    entry.from[1] = positions.as_operand();
    entry.operands = 2;
    made.number = x.recorder->add(entry);
  } else {
    made.number = x.recorder->add(x.number, positions.number);
  }
  return made;
}
// Are they of pairs, along two axes without a size?
template <class Open>
inline constexpr bool are_of_pairs = false;
template <class A, class B, class... More>
inline constexpr bool are_of_pairs<families<A, B, More...>> = true;
// In a loop over pairs, neighbors are loaded together: the axis becomes the last in memory. Rows of
// a table, one for each position, are read as they are.
template <class Family, class R, class E, class Layout, class Positions>
constexpr auto gather_from(const node<R, E, Layout>& x, const Positions& positions) noexcept {
  if constexpr (!are_of_pairs<typename Positions::open> ||
                Layout::template stride_of<Family> == 1 || std::is_same_v<E, bool>) {
    return record_gather<Family>(x, positions);
  } else {
    using last =
        algebra::broadcast_to<Layout,
                              typename joined_axes<typename algebra::select<Layout, Family>::axes,
                                                   shape<axis_of<Layout, Family>>>::type::axes>;
    return record_gather<Family>(x.template reread<last>(0).contiguous(), positions);
  }
}
template <class R, class Family, class X, class Positions>
constexpr auto as_node(R* recorder,
                       const positional_gather<Family, X, Positions>& gathered) noexcept {
  return gather_from<Family>(as_node(recorder, gathered.x), as_node(recorder, gathered.positions));
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas

namespace umbel::inline UMBEL_TARGET::detail {
namespace rules {
// In a formula positions are numbers.
template <class Name, class Positions>
struct positions_in_formula_rule {
  using type = verdict<!is_bool<typename formulas::numbers_of<Positions>::type>, Name,
                       say::needs_integers_not, element<bool>>;
};
template <class Name, tensor_like Ids>
struct positions_in_formula_rule<Name, Ids> {
  using type = verdict<false, say::formula, say::a_part_of_an_argument_holds,
                       element<typename Ids::value_type>, say::so_pass_it_as_a_separate_argument>;
};
template <class Name, class Layout, class Family>
struct positions_of_axis_rule {
  using type = accepted;  // has_axis reports it
};
template <class Name, class Layout, class Family>
  requires(Layout::template has<Family>)
struct positions_of_axis_rule<Name, Layout, Family> {
  using type = rows_in_a_formula<Name, axis_of<Layout, Family>, float>;
};
template <class Name, class Family, class X, class Positions>
using gather_in_formula = first_error<
    closed<typename formulas::operand_axes<X>::open>,
    typename gather_axes_rule<Family, typename formulas::operand_axes<X>::layout,
                              typename formulas::operand_axes<Positions>::layout>::type,
    typename positions_of_axis_rule<Name, typename formulas::operand_axes<X>::layout, Family>::type,
    typename positions_in_formula_rule<Name, Positions>::type>;
}  // namespace rules

namespace formulas {
template <class X>
concept can_be_gathered =
    a_node<X> || tensor_like<X> || (a_positional<X> && operand_axes<X>::sized::rank != 0);
template <class X, class Positions>
concept nodes_to_gather =
    can_be_gathered<X> &&
    (a_node<Positions> || a_positional<Positions> || tensor_like<Positions>) &&
    (symbolic<X> || symbolic<Positions>);

template <class Family, class X, class Positions>
constexpr auto gather_along(const X& x, const Positions& positions) noexcept {
  if constexpr (a_node<X> || a_node<Positions>) {
    const auto recorder = recorder_of(x, positions);
    return gather_from<Family>(as_node(recorder, x), as_node(recorder, positions));
  } else {
    return positional_gather<Family, decltype(held(x)), Positions>{{}, held(x), positions};
  }
}
template <template <std::size_t> class Axis, class X, class Positions>
  requires nodes_to_gather<X, Positions>
constexpr auto gather(const X& x, const Positions& positions) noexcept {
  using verdict = in_its_line<rules::gather_in_formula<say::gather, family_of<Axis>, X, Positions>,
                              X, Positions>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return gather_along<family_of<Axis>>(x, positions);
  else
    return refusal<verdict>();
}
}  // namespace formulas
}  // namespace umbel::inline UMBEL_TARGET::detail

// For umbel::gather<axis>(x, ids): a qualified name is looked up only here.
namespace umbel::inline UMBEL_TARGET {
using detail::formulas::gather;
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
