// SPDX-License-Identifier: BSL-1.0
// The rules of a formula's call: outputs that fit the results, a workspace of the right type,
// arguments that the function accepts.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/in_parts.hpp>
#include <umbel/formula/run.hpp>
#include <umbel/layer/workspace_rules.hpp>
#include <umbel/tensor/refusal.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// The layouts of results, row-major as nodes are, and as written.
template <class Members>
struct layouts_of_members;
template <class... Member>
struct layouts_of_members<list<Member...>> {
  using row_major = list<umbel::detail::row_major<layout_of<std::remove_cvref_t<Member>>>...>;
  using type = list<layout_of<std::remove_cvref_t<Member>>...>;
};
template <class Result>
using row_major_layouts = typename layouts_of_members<typename members_of<Result>::type>::row_major;
template <class Out>
using out_layouts = typename layouts_of_members<typename members_of<Out>::type>::type;

template <class... X>
inline constexpr bool last_is_workspace = false;
template <class X>
inline constexpr bool last_is_workspace<X> = workspace_like<X>;
template <class First, class Second, class... Rest>
inline constexpr bool last_is_workspace<First, Second, Rest...> =
    last_is_workspace<Second, Rest...>;

template <class X>
concept bare_executor = executor_like<X> && !workspace_like<X>;
// Is the last argument a wrong workspace, or the result of a refused parallel(...)?
template <class... X>
inline constexpr bool last_is_refused = false;
template <class X>
inline constexpr bool last_is_refused<X> =
    one_is_invalid<X> || is_array_of_workspaces<std::remove_cvref_t<X>> ||
    pointer_to_workspace<std::remove_cvref_t<X>> || bare_executor<X>;
template <class First, class Second, class... Rest>
inline constexpr bool last_is_refused<First, Second, Rest...> = last_is_refused<Second, Rest...>;
// For arguments whose last is refused.
template <class... X>
using last_is_one_workspace = first_error<
    rules::executor_with_workspaces<(... || one_is_invalid<X>) || !(... || bare_executor<X>)>,
    rules::workspace_itself<(... || one_is_invalid<X>) ||
                            !(... || pointer_to_workspace<std::remove_cvref_t<X>>)>,
    rules::one_workspace<(... || one_is_invalid<X>) || !last_is_refused<X...>>>;

template <class F, class... X>
concept takes =
    requires { std::declval<const F&>()(std::declval<traced_as<computed_from<X...>, X>>()...); };
// Accepts as many arguments as any function: a call of both is ambiguous, which the compiler finds
// out without the body of the function.
struct refused_call {};
template <std::size_t Arguments>
struct function_of_anything {
  template <class... A>
  refused_call operator()(const A&...) const;
};
template <>
struct function_of_anything<1> {
  template <class A>
  refused_call operator()(A) const;
};
template <>
struct function_of_anything<2> {
  template <class A, class B>
  refused_call operator()(A, B) const;
};
template <>
struct function_of_anything<3> {
  template <class A, class B, class C>
  refused_call operator()(A, B, C) const;
};
template <>
struct function_of_anything<4> {
  template <class A, class B, class C, class D>
  refused_call operator()(A, B, C, D) const;
};
template <>
struct function_of_anything<5> {
  template <class A, class B, class C, class D, class E>
  refused_call operator()(A, B, C, D, E) const;
};
template <>
struct function_of_anything<6> {
  template <class A, class B, class C, class D, class E, class G>
  refused_call operator()(A, B, C, D, E, G) const;
};
template <class F, std::size_t Arguments>
struct function_or_anything : F, function_of_anything<Arguments> {
  using F::operator(), function_of_anything<Arguments>::operator();
};
template <class F, class... X>
concept refuses = !requires { typename list<traced_as<traced_for<X...>, X>...>; } || requires {
  requires std::is_same_v<decltype(std::declval<const function_or_anything<F, sizeof...(X)>&>()(
                              std::declval<traced_as<traced_for<X...>, X>>()...)),
                          refused_call>;
};
// An axis is not an argument.
template <class... X>
concept no_axes = (... && !axis_like<X>);
template <class F, class... X>
concept can_be_called = no_axes<X...> && requires {
  std::declval<const F&>()(std::declval<traced_as<traced_for<X...>, X>>()...);
};
// A function of `auto... more` is less special than that of anything, so a refused call is tried.
template <class F, class... X>
concept has_parameters = no_axes<X...> && (!refuses<F, X...> || can_be_called<F, X...>);
// Has F parameters for these arguments? Then a call that fails has an error in its body, which the
// compiler has reported. Asked before the body is compiled: after an error, clang has no function.
// (Functions that are not lambdas can be deleted or ambiguous, and objects that can't be copied may
// be parameters by value: there only a call that succeeds is known to be accepted.)
template <class F, class... X>
inline constexpr bool accepts = can_be_called<F, X...>;
template <class F, class... X>
  requires(std::is_empty_v<F> && !std::is_aggregate_v<F> &&
           (... && (tensor_like<X> || std::is_array_v<X> || std::is_copy_constructible_v<X>)))
inline constexpr bool accepts<F, X...> = has_parameters<F, X...>;

// How many parameters F has, if they have no fixed types: it is asked with copies of the first
// argument, or of a number.
template <class F, class X, std::size_t... I>
constexpr bool accepts_as_many(std::index_sequence<I...>) noexcept {
  return accepts<F, nth<I * 0, X>...>;
}
template <class F, class... X>
constexpr std::size_t parameters_of() noexcept {
  using first = nth<0, X..., float>;
  if constexpr (accepts_as_many<F, first>(std::make_index_sequence<1>())) return 1;
  if constexpr (accepts_as_many<F, first>(std::make_index_sequence<2>())) return 2;
  if constexpr (accepts_as_many<F, first>(std::make_index_sequence<3>())) return 3;
  if constexpr (accepts_as_many<F, first>(std::make_index_sequence<4>())) return 4;
  return npos;
}
template <bool Ok, class F, class... X>
struct takes_these_rule {
  using type = rules::takes<Ok, parameters_of<F, X...>(), sizeof...(X)>;
};
template <bool Ok, class F, class First, class... X>
  requires(!axis_like<First> && !no_axes<X...>)
struct takes_these_rule<Ok, F, First, X...> : takes_these_rule<Ok, F, X..., First> {};
template <bool Ok, class F, axis_like Axis, class... X>
struct takes_these_rule<Ok, F, Axis, X...> {
  using type = rules::takes_no_axis<F, Axis>;
};
template <bool Ok, class F, class... X>
using takes_these = typename takes_these_rule<Ok, F, X...>::type;

// std::tie(out), or anything else of one tensor.
template <class Tie>
inline constexpr bool is_tie_of_one = false;
template <template <class...> class Tuple, class Only>
inline constexpr bool is_tie_of_one<Tuple<Only>> = tensor_like<std::remove_cvref_t<Only>>;

// (Also for into(a, b, c, x).)
template <class F, class... X>
inline constexpr bool gives_several = false;
template <class F, class First, class... Rest>
inline constexpr bool gives_several<F, First, Rest...> = gives_several<F, Rest...>;
template <class F, class First, class... Rest>
  requires takes<F, First, Rest...>
inline constexpr bool gives_several<F, First, Rest...> =
    several_results<traced_result<F, First, Rest...>>;

// For arguments that F doesn't accept, before a workspace.
template <bool ByValue, class F, class... X>
struct other_arguments_rule {
  using type = first_error<rules::results_tied<ByValue || !gives_several<F, X...>>,
                           takes_these<accepts<F, X...>, F, X...>>;
};
template <bool ByValue, class F, class... X>
  requires(... || bare_executor<X>)
struct other_arguments_rule<ByValue, F, X...> {
  using type = rules::executor_with_workspaces<never<F>>;
};

template <class Result>
struct given_rule {
  using type = invalid;
};
template <class Node>
  requires(rules::gives<Node>::ok && !one_is_invalid<Node> && !several_results<Node>)
struct given_rule<Node> {
  using type = tensor_of<typename Node::value_type, row_major<typename Node::layout>>;
};
template <class Several>
  requires(rules::gives<Several>::ok && several_results<Several>)
struct given_rule<Several> {
  template <class List>
  struct tensors;
  template <class... Node>
  struct tensors<list<Node...>> {
    using type = typename members_of<Several>::template of<
        typename given_rule<std::remove_cvref_t<Node>>::type...>;
  };
  using type = typename tensors<typename members_of<Several>::type>::type;
};
template <bool Traced, class Result>
using given_by = std::conditional_t<Traced, std::remove_cvref_t<Result>,
                                    typename given_rule<std::remove_cvref_t<Result>>::type>;
template <class>
using nothing_by = void;

template <class Out>
concept memory_of_results = tensor_like<Out> || several_results<Out>;

// Out, for results with these layouts.
template <class T, class Layouts, class Out, class Members = typename members_of<Out>::type>
struct outs_fit;
template <class T, class... Layout, class Out, class... Member>
struct outs_fit<T, list<Layout...>, Out, list<Member...>> {
  using type = rules::one_out_for_each<sizeof...(Layout), sizeof...(Member)>;
};
template <class T, class... Layout>
  requires(sizeof...(Layout) > 1)
struct outs_fit<T, list<Layout...>, by_value, list<by_value>> {
  using type = accepted;
};
template <class T, class Layout, class Out, class Member>
struct outs_fit<T, list<Layout>, Out, list<Member>> {
  using type = rules::out_fits<say::formula, Out, T, Layout>;
};
// The type of a member as a separate argument: a reference, or as const as its owner.
template <class Several, class Member>
using out_member = std::conditional_t<
    std::is_lvalue_reference_v<Several>,
    std::conditional_t<std::is_const_v<std::remove_reference_t<Several>>, const Member, Member>&,
    Member>;
template <class T, class... Layout, several_results Out, class... Member>
  requires(sizeof...(Layout) == sizeof...(Member))
struct outs_fit<T, list<Layout...>, Out, list<Member...>> {
  using type = first_error<rules::out_fits<say::formula, out_member<Out, Member>, T, Layout>...>;
};

// If the caller provides it: enough for results in any order. On the stack: for these.
template <class F, class Rows, class Work, bool OutFits, class Out, class... X>
struct needed_workspace : formula_workspace<F, Rows, typename argument_of<X>::type...> {};
template <class F, class Rows, class Out, class... X>
struct needed_workspace<F, Rows, on_stack, true, Out, X...> {
  using outs = out_layouts<Out>;
  using type =
      run_workspace<run_of<F, outs, std::is_same_v<Rows, outs>, typename argument_of<X>::type...>>;
};
template <class F, class Rows, class... X>
struct needed_workspace<F, Rows, on_stack, true, by_value, X...> {
  using type = run_workspace<run_of<F, Rows, true, typename argument_of<X>::type...>>;
};

// For a call: F's results, their outputs, the workspace.
template <class F, class Result, class Out, class Work, class... X>
struct call_fits_rule {
  static constexpr bool has_result = false;
  using verdict =
      std::conditional_t<one_was_refused<F>, accepted,
                         first_error<arguments_of_one_type<X...>, rules::gives<Result>>>;
};
// If one of several was refused, the others aren't reported.
template <class Members>
inline constexpr bool one_result_is_invalid = false;
template <class... Member>
inline constexpr bool one_result_is_invalid<list<Member...>> = one_is_invalid<Member...>;
template <class F, class Result>
concept gives_nodes =
    std::is_empty_v<F> && !std::is_same_v<typename given_rule<Result>::type, invalid> &&
    !one_result_is_invalid<typename members_of<Result>::type>;
template <class F, class... X>
using graph_of_call =
    rules::has_graph<nodes_of<F, tracer<computed_from<X...>>, typename argument_of<X>::type...>,
                     (... || is_object<typename argument_of<X>::type>)>;
template <class F, class Result, class Out, class Work, class... X>
  requires(gives_nodes<F, Result> && arguments_of_one_type<X...>::ok && !graph_of_call<F, X...>::ok)
struct call_fits_rule<F, Result, Out, Work, X...> {
  static constexpr bool has_result = false;
  using verdict = std::conditional_t<one_was_refused<F>, accepted, graph_of_call<F, X...>>;
};
template <class F, class Result, class Out, class Work, class... X>
  requires(gives_nodes<F, Result> && arguments_of_one_type<X...>::ok && graph_of_call<F, X...>::ok)
struct call_fits_rule<F, Result, Out, Work, X...> {
  static constexpr bool has_result = true;
  using T = computed_from<X...>;
  using layouts = row_major_layouts<Result>;
  using result = typename given_rule<Result>::type;
  using out_fits = typename outs_fit<T, layouts, Out>::type;
  using scratch = typename needed_workspace<F, layouts, Work, out_fits::ok, Out, X...>::type;
  using passed_workspace = typename given_workspaces<Work, scratch>::each;
  using verdict = first_error<out_fits, rules::scratch_fits<say::formula, passed_workspace, scratch,
                                                            say::these_arguments_by_workspace_for>>;
};
template <class F, class Out, class Work, class... X>
struct call_fits : call_fits_rule<F, traced_result<F, X...>, Out, Work, X...> {
  using gives = traced_result<F, X...>;
};

template <class Fits>
struct workspace_of_call {
  using type = std::conditional_t<reported<typename Fits::verdict>::ok, invalid, invalid>;
};
template <class Fits>
  requires Fits::has_result
struct workspace_of_call<Fits> {
  using type = typename Fits::scratch;
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
