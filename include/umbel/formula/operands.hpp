// SPDX-License-Identifier: BSL-1.0
// Operands in a formula besides nodes: numbers, positions along axes, tensors that are parts of an
// argument; how axes are matched by name, and the types of elements.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/node.hpp>
#include <umbel/operation/lookup.hpp>
#include <umbel/operation/where.hpp>
#include <umbel/tensor/arithmetic.hpp>
#include <umbel/tensor/refusal.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// position<key>: 0, 1, 2 ... along an axis of the other operand.
template <class Family>
struct axis_position : portable::own_arithmetic {
  using is_positional = axis_position;
  constexpr operator float() const noexcept {
    static_assert(report<rules::has_a_number<axis_position>>::ok, "umbel: shapes do not fit");
    return 0;
  }
  template <tensor_like X>
  constexpr operator X() const noexcept {
    static_assert(report<rules::has_a_number<axis_position>>::ok, "umbel: shapes do not fit");
    return X{};
  }
};
// positions_along<later<64>>: the same along an axis that no operand needs to have.
template <class Axis>
struct sized_positions : portable::own_arithmetic {
  static_assert(report<rules::well_formed<Axis>>::ok, "umbel: shapes do not fit");
  using is_positional = sized_positions;
  using axis = typename axis_or_none<Axis>::plain;
  constexpr operator float() const noexcept {
    static_assert(report<rules::has_a_number<sized_positions>>::ok, "umbel: shapes do not fit");
    return 0;
  }
  template <tensor_like X>
  constexpr operator X() const noexcept {
    static_assert(report<rules::has_a_number<sized_positions>>::ok, "umbel: shapes do not fit");
    return X{};
  }
};
struct nothing_more {};
// A tensor that is part of an argument, w.slopes, as an operand; a view is copied.
template <class X>
struct part_of {
  const X* part;
  constexpr explicit part_of(const X& x) noexcept : part(&x) {}
  constexpr const X& get() const noexcept { return *part; }
};
template <class T, class... Axes>
struct part_of<view<T, Axes...>> {
  view<T, Axes...> part;
  constexpr explicit part_of(const view<T, Axes...>& x) noexcept : part(x) {}
  constexpr const view<T, Axes...>& get() const noexcept { return part; }
};
// An operation on positions, numbers and parts before a node joins it.
template <word W, class A, class B = nothing_more, class C = nothing_more>
struct positional : portable::own_arithmetic {
  using is_positional = positional;
  A a;
  B b{};
  C c{};
  constexpr operator float() const noexcept {
    static_assert(report<rules::has_a_number<positional>>::ok, "umbel: shapes do not fit");
    return 0;
  }
};

template <class X>
concept a_positional = requires { typename std::remove_cvref_t<X>::is_positional; };
template <class X>
concept symbolic = a_node<X> || a_positional<X>;
template <class X>
concept an_operand = symbolic<X> || scalar<std::remove_cvref_t<X>> || tensor_like<X> ||
                     one_is_invalid<X> || derived_from_mask<X>;  // masks are refused
// Tensors that are parts of arguments, only in a formula.
template <class... X>
concept operands = (symbolic<X> || ...) && (an_operand<X> && ...);

template <class X>
constexpr X held(const X& x) noexcept {
  return x;
}
template <tensor_like X>
constexpr part_of<X> held(const X& x) noexcept {
  return part_of<X>(x);
}

template <class R, class E, class L, class O>
constexpr const node<R, E, L, O>& as_node(R*, const node<R, E, L, O>& x) noexcept {
  return x;
}
template <class R, scalar S>
constexpr auto as_node(R* recorder, S value) noexcept {
  using T = typename R::value_type;
  node<R, T, layout<>> made{{}, recorder, -1, 0};
  if constexpr (R::makes_graph) {
    node_of_graph<T> node;
    node.what = word::number;
    node.number = static_cast<T>(value);
    made.number = recorder->add(node);
  }
  return made;
}
template <class R, class Family>
constexpr auto as_node(R* recorder, axis_position<Family>) noexcept {
  using T = typename R::value_type;
  node<R, T, layout<>, families<Family>> made{{}, recorder, -1, 0};
  if constexpr (R::makes_graph) {
    node_of_graph<T> node;
    node.what = word::position;
    node.open = true;
    node.family = family_id<Family>;
    if constexpr (R::describes) node.name = written_out<Family>();
    made.number = recorder->add(node);
  }
  return made;
}
// Positions along an axis, as values.
template <class Axis, class R>
constexpr auto values_of_positions(R* recorder) noexcept {
  const auto along = as_node(recorder, axis_position<typename Axis::family>{});
  return along.template recorded<umbel::detail::layout<Axis>>(
      [&] {
        node_of_graph<typename R::value_type> entry;
        entry.what = word::copy;
        entry.from[0] = along.as_operand();
        entry.operands = 1;
        return entry;
      },
      along.number);
}
template <class R, class Axis>
constexpr auto as_node(R* recorder, sized_positions<Axis>) noexcept {
  return values_of_positions<typename sized_positions<Axis>::axis>(recorder);
}
template <class R, tensor_like X>
constexpr auto as_node(R* recorder, const X& x) noexcept {
  using T = typename R::value_type;
  node<R, typename X::value_type, layout_of<X>> made{{}, recorder, 0, 0};
  captured<T> part;
  // A view that is itself a part can't be read while the graph is made.
  if constexpr (std::is_same_v<typename X::value_type, T>)
    if (!R::makes_graph || is_memory_known<T>(x)) part.values = x.data();
  const std::size_t slot = recorder->capture(part);
  if constexpr (R::makes_graph) {
    // Parts have no readable value here; what has one won't exist when the steps run.
    if (__builtin_constant_p(*x.data())) recorder->made_a_tensor = true;
    node_of_graph<T> node;
    node.what = word::argument;
    node.axes = axes_of_layout<layout_of<X>>();
    if constexpr (R::describes) node.shape = written_out<typename layout_of<X>::axes>();
    node.slot = slot;
    made.number = recorder->add(node);
  } else {
    made.number = recorder->add();
  }
  return made;
}
template <class R, class X>
constexpr auto as_node(R* recorder, const part_of<X>& x) noexcept {
  return as_node(recorder, x.get());
}
template <class R, word W, class... X>
constexpr auto record(R* recorder, const X&... x) noexcept;
template <class R, word W, class A, class B, class C>
constexpr auto as_node(R* recorder, const positional<W, A, B, C>& x) noexcept {
  if constexpr (std::is_same_v<B, nothing_more>)
    return record<R, W>(recorder, x.a);
  else if constexpr (std::is_same_v<C, nothing_more>)
    return record<R, W>(recorder, x.a, x.b);
  else
    return record<R, W>(recorder, x.a, x.b, x.c);
}

// The axes of an operand, positions along axes that it lacks, and axes that the other operands need
// not have.
template <class X>
struct operand_axes {
  using layout = umbel::detail::layout<>;
  using open = families<>;
  using sized = shape<>;
};
template <class Family>
struct operand_axes<axis_position<Family>> : operand_axes<void> {
  using open = families<Family>;
};
template <class Axis>
struct operand_axes<sized_positions<Axis>> : operand_axes<void> {
  using sized = shape<typename sized_positions<Axis>::axis>;
  using layout = layout_with_axes<sized>;
};
template <tensor_like X>
struct operand_axes<X> : operand_axes<void> {
  using layout = layout_of<X>;
};
template <class X>
struct operand_axes<part_of<X>> : operand_axes<X> {};
template <a_node X>
struct operand_axes<X> : operand_axes<void> {
  using layout = layout_of<X>;
  using open = typename X::open;
};

// A layout with those of the axes that it lacks in front.
template <class Layout, class Axes>
struct after_axes {
  using type = Layout;
};
template <class Layout, class First, class... Rest>
struct after_axes<Layout, shape<First, Rest...>>
    : after_axes<
          std::conditional_t<Layout::template has<typename First::family>, Layout,
                             typename joined_axes<shape<First>, typename Layout::axes>::type>,
          shape<Rest...>> {};

template <class Verdict, class Layout, class Open, class Sized, class... Rest>
struct matched {
  using verdict = Verdict;
  using layout = Layout;
  using open = Open;
  using sized = Sized;
};
template <class Left, class Right, class Open, class Sized, class First, class... Rest>
using matched_next =
    matched<rules::matched_by_name<Left, Right>, wider<Left, Right>,
            typename open_of_both<wider<Left, Right>, Open, typename First::open>::type,
            typename after_axes<layout_with_axes<Sized>, typename First::sized>::type::axes,
            Rest...>;
// First and the rest: operand_axes.
template <class Layout, class Open, class Sized, class First, class... Rest>
struct matched<accepted, Layout, Open, Sized, First, Rest...>
    : matched_next<typename after_axes<Layout, typename First::sized>::type,
                   typename after_axes<typename First::layout, Sized>::type, Open, Sized, First,
                   Rest...> {};
// Three operands: only the last may have all axes.
template <class Layout, class Open, class Sized, class Second, class Third>
  requires(!rules::is_part_of<typename Layout::axes, typename Second::layout> &&
           !rules::is_part_of<typename Second::layout::axes, Layout> &&
           rules::is_part_of<typename Layout::axes, typename Third::layout>)
struct matched<accepted, Layout, Open, Sized, Second, Third>
    : matched_next<Layout, typename Third::layout, Open, Sized, Third, Second> {};
template <class First, class... Rest>
struct matched_axes : matched<accepted, row_major<typename First::layout>, typename First::open,
                              typename First::sized, Rest...> {};
template <class... X>
using matched_operands = matched_axes<operand_axes<X>...>;

template <word W, class A, class B, class C>
struct operand_axes<positional<W, A, B, C>> : matched_operands<A, B, C> {};

// Determines an operand's element type: for an operation on positions, its first part does.
template <class X>
struct with_elements {
  using type = X;
};
template <class X>
struct with_elements<part_of<X>> {
  using type = X;
};
template <class X>
concept has_elements = requires { typename with_elements<X>::type::value_type; };
template <word W, class A, class B, class C>
struct with_elements<positional<W, A, B, C>>
    : with_elements<
          std::conditional_t<has_elements<A>, A, std::conditional_t<has_elements<B>, B, C>>> {};

// Operands of float or double must agree in type, including parts of arguments.
template <class T, class... X>
struct elements_agree {
  using type = accepted;
};
template <class T, class First, class... Rest>
struct elements_agree<T, First, Rest...> : elements_agree<T, Rest...> {};
template <class T, class First, class... Rest>
  requires(std::is_floating_point_v<typename First::value_type> && !one_is_invalid<First>)
struct elements_agree<T, First, Rest...> {
  using type = first_error<rules::same_element<say::elementwise, T, typename First::value_type>,
                           typename elements_agree<T, Rest...>::type>;
};
template <class First, class... Rest>
  requires(std::is_floating_point_v<typename First::value_type> && !one_is_invalid<First>)
struct elements_agree<void, First, Rest...> : elements_agree<typename First::value_type, Rest...> {
};
template <class T, tensor_like First, class... Rest>
  requires(!std::is_floating_point_v<typename First::value_type>)
struct elements_agree<T, First, Rest...> {
  using type = verdict<false, say::formula, say::a_part_of_an_argument_holds,
                       element<typename First::value_type>, say::so_pass_it_as_a_separate_argument>;
};
template <class T, class First, class... Rest>
  requires(!a_node<First> && !tensor_like<First> && derived_from_mask<First>)
struct elements_agree<T, First, Rest...> {
  using type = rules::no_masks<false>;
};
// Conditions are bool: comparisons, tensors of bool, combinations of them.
template <class Name, class X>
struct condition_rule {
  using type = verdict<false, Name, say::needs_conditions_not, element<X>>;
};
template <class Name, class X>
  requires(requires { typename X::value_type; } && !one_is_invalid<X>)
struct condition_rule<Name, X> {
  using type = verdict<std::is_same_v<typename X::value_type, bool>, Name,
                       say::needs_conditions_not, element<typename X::value_type>>;
};
template <class Name>
struct condition_rule<Name, bool> {
  using type = verdict<
      false, Name,
      say::one_bool_is_not_a_condition_of_elements_so_leave_out_true_or_pass_a_tensor_of_bool>;
};
template <class Name, one_is_invalid X>
struct condition_rule<Name, X> {
  using type = accepted;
};
template <class Name, derived_from_mask X>
struct condition_rule<Name, X> {
  using type = rules::no_masks<false>;
};
template <class Name, word W, class A, class B, class C>
struct condition_rule<Name, positional<W, A, B, C>> {
  using type = verdict<is_condition(W), Name, say::needs_conditions_not, element<float>>;
};
template <class Name, class... X>
using are_conditions =
    in_its_line<first_error<typename condition_rule<Name, X>::type..., accepted>, X...>;

// 0 <= x < 5 compares a condition, which is below 5.
template <class X>
inline constexpr bool is_condition_operand = false;
template <has_elements X>
inline constexpr bool is_condition_operand<X> =
    std::is_same_v<typename with_elements<X>::type::value_type, bool>;
template <word W, class A, class B, class C>
inline constexpr bool is_condition_operand<positional<W, A, B, C>> = is_condition(W);
template <class A, class B>
using are_ordered =
    in_its_line<verdict<!is_condition_operand<A> && !is_condition_operand<B>, say::formula,
                        say::compares_the_result_of_a_comparison_so_write_a_less_b_and_b_less_c>,
                A, B>;

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
