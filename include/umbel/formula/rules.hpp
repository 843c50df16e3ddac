// SPDX-License-Identifier: BSL-1.0
// Rules that hold only in formulas: axes are matched by name, so an operand may lack some of the
// other's; allowed parts of a formula.
#pragma once

#include <umbel/config.hpp>
#include <umbel/mask/base.hpp>
#include <umbel/shape/computing_rules.hpp>
#include <umbel/tensor/other_calls.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

namespace say {
struct formula;
struct a_part_of_an_argument_holds;
struct argument;
struct holds;
struct but_the_formula_computes_in;
struct returns;
struct position_of;
}  // namespace say

UMBEL_SAYS(its_footprint_and_workspace_for_need_the_types_of_its_arguments_not_the_axis,
           "its footprint and workspace_for need the types of its arguments, not the axis");
UMBEL_SAYS(got_several_workspaces_but_no_executor_so_write_parallel_of_both,
           "got several workspaces but no executor; write parallel(executor, works)");
UMBEL_SAYS(values_are_immutable_so_write_auto_y, "values are immutable; write auto y = x + 1");
UMBEL_SAYS(has_no_such_operator_so_use,
           "has no such operator; use + - * / % < <= > >= == != && || or !");
UMBEL_SAYS(so_declare_another, "; declare another, auto y = ...");
UMBEL_SAYS(got_a_pointer_to_a_workspace_so_pass_the_workspace_itself,
           "got a pointer to a workspace; pass the workspace itself, f(x, work)");
UMBEL_SAYS(got_an_executor_without_workspaces_so_write_parallel_of_both,
           "got an executor without workspaces; write parallel(executor, works), with a workspace "
           "for each worker");
UMBEL_SAYS(got_a_tie_of_one_tensor_so_write_into_out_x,
           "got a tie of one tensor; write into(out, x)");
UMBEL_SAYS(these_arguments_by_workspace_for, "these arguments, declared with workspace_for");
UMBEL_SAYS(returns_several_results_so_write_into_std_tie,
           "returns several results; write into(std::tie(a, b), x)");
UMBEL_SAYS(returns_an_array_so_return_std_tuple, "returns an array; return std::tuple{a, b}");
UMBEL_SAYS(masks_are_arguments_of_layers_so_hide_scores_or_add_a_bias,
           "masks are arguments of layers; for scores write hide(scores, position<key> > "
           "position<query>), hide(scores, !kept) or scores + bias");

UMBEL_SAYS(but_no_operand_has_that_axis, ", but no operand has that axis");

UMBEL_SAYS(so_pass_it_as_a_separate_argument, "; pass it as a separate argument");
UMBEL_SAYS(
    copies_a_part_of_an_argument_or_uses_it_alone_so_pass_it_separately_and_the_object_as_const_auto,
    "copies a part of an argument or uses it alone, before it has a value; pass that part as a "
    "separate argument, the object as const auto& w; a function that it calls must be constexpr");
UMBEL_SAYS(calls_a_function_that_is_not_constexpr_so_declare_it_constexpr,
           "calls a function that is not constexpr; declare it as constexpr auto f(...); of a "
           "number write umbel::exp(2.0)");
UMBEL_SAYS(compares_the_result_of_a_comparison_so_write_a_less_b_and_b_less_c,
           "compares the result of a comparison; write a < b && b < c");
UMBEL_SAYS(returns_conditions_not_numbers_so_write_where,
           "returns conditions, not numbers; write where(condition, 1, 0)");
UMBEL_SAYS(cannot_branch_on_a_condition_so_write_where,
           "cannot branch on a condition, which has no value yet; write where(condition, a, b), or "
           "maximum(a, b) for std::max");
UMBEL_SAYS(a_value_is_not_a_number_yet_so_write_exp_without_std,
           "a value is not a number yet; write exp(x), not std::exp(x), and functions of numbers "
           "as formulas");
UMBEL_SAYS(an_element_has_no_value_yet_so_write_select_at,
           "an element has no value yet; write select_at<heads, 2>(x), or an operation on the "
           "whole tensor");
UMBEL_SAYS(subtracts_a_value_from_itself_so_rename_an_axis_of_one,
           "subtracts a value from itself, which is 0; for pairs of positions rename an axis of "
           "one, x - (x | rename_axis<query, key>)");
UMBEL_SAYS(cannot_be_printed_so_print_describe,
           "cannot be printed; include umbel/inspect/describe.hpp and print describe(f, x)");
UMBEL_SAYS(the_function_has_other_parameters_or_copies_weights_so_write_const_auto,
           "the function has other parameters, or copies weights; write const auto& w");

namespace formulas {

template <class... F>
struct families {};

template <class List, class Layout, class... F>
struct open_families;
// The families of F that are neither axes of Layout nor listed yet, after the listed ones.
template <class... Done, class Layout>
struct open_families<families<Done...>, Layout> {
  using type = families<Done...>;
};
template <class... Done, class Layout, class First, class... Rest>
struct open_families<families<Done...>, Layout, First, Rest...>
    : open_families<families<Done...>, Layout, Rest...> {};
template <class... Done, class Layout, class First, class... Rest>
  requires(!Layout::template has<First> && !(std::is_same_v<First, Done> || ...))
struct open_families<families<Done...>, Layout, First, Rest...>
    : open_families<families<Done..., First>, Layout, Rest...> {};

template <class Layout, class A, class B>
struct open_of_both;
template <class Layout, class... A, class... B>
struct open_of_both<Layout, families<A...>, families<B...>>
    : open_families<families<>, Layout, A..., B...> {};

// The layout of an elementwise operation: row-major, with the axes of the operand that has all.
template <class Left, class Right>
using wider =
    row_major<std::conditional_t<rules::is_part_of<typename Right::axes, Left>, Left, Right>>;

}  // namespace formulas

namespace rules {
// In a gradient's graph: does an operation, a layer's call, or a product with such weights have a
// gradient (training/gradient_rules.hpp)?
template <class... What>
struct has_gradient_rule;
template <bool Asked, class... What>
struct has_gradient_where_asked {
  using type = accepted;
};
template <class... What>
struct has_gradient_where_asked<true, What...> : has_gradient_rule<What...> {};
template <class Recorder, class... What>
using has_gradient = typename has_gradient_where_asked<Recorder::differentiates, What...>::type;

template <class Left, class Right>
using matched_by_name = first_error<
    typename shared_axes_agree_rule<say::elementwise, Left, Right>::type,
    verdict<is_part_of<typename Left::axes, Right> || is_part_of<typename Right::axes, Left>,
            say::elementwise, typename Left::axes, say::and_, typename Right::axes,
            say::have_different_axes_so_broadcast_one>>;

template <bool Ok>
using printed = verdict<Ok, say::formula, say::cannot_be_printed_so_print_describe>;
// Parameters: how many the function has, npos if that is unknown or not the reason.
template <bool Ok, std::size_t Parameters = npos, std::size_t Arguments = 0>
using takes = first_error<
    verdict<Ok || Parameters == npos || Parameters == Arguments, say::formula,
            struct the_function_has, number<Parameters>,
            std::conditional_t<Parameters == 1, struct parameter_but_the_call_has,
                               struct parameters_but_the_call_has>,
            number<Arguments>>,
    verdict<Ok, say::formula,
            say::the_function_has_other_parameters_or_copies_weights_so_write_const_auto>>;

template <class F, class Axis>
using takes_no_axis =
    verdict<never<F>, say::formula,
            say::its_footprint_and_workspace_for_need_the_types_of_its_arguments_not_the_axis,
            Axis>;
template <bool Ok>
using results_tied = verdict<Ok, say::formula, say::returns_several_results_so_write_into_std_tie>;
template <bool Ok>
using one_out_untied = verdict<Ok, say::formula, say::got_a_tie_of_one_tensor_so_write_into_out_x>;
template <bool Ok>
using one_workspace =
    verdict<Ok, say::formula,
            say::got_several_workspaces_but_no_executor_so_write_parallel_of_both>;

template <bool Ok>
using workspace_itself =
    verdict<Ok, say::formula, say::got_a_pointer_to_a_workspace_so_pass_the_workspace_itself>;
template <bool Ok>
using executor_with_workspaces =
    verdict<Ok, say::formula, say::got_an_executor_without_workspaces_so_write_parallel_of_both>;

template <class Operation, bool Ok>
using without_weights = verdict<Ok, say::formula, typename Operation::called,
                                say::cannot_be_used_in_formulas_so_write_out_its_operations>;

template <bool Ok>
using captures_nothing =
    verdict<Ok, say::formula, struct captures_variables_so_pass_them_as_arguments>;

// Nodes: their number, or 0, npos, npos - 1, npos - 2 (trace.hpp). The graph is made in a constant
// expression, when nothing in an argument object has a value. Objects: are there any?
template <std::size_t Nodes, bool Objects = true>
using has_graph = first_error<
    verdict<Nodes != 0 || Objects, say::formula,
            say::calls_a_function_that_is_not_constexpr_so_declare_it_constexpr>,
    verdict<
        Nodes != 0, say::formula,
        say::
            copies_a_part_of_an_argument_or_uses_it_alone_so_pass_it_separately_and_the_object_as_const_auto>,
    verdict<Nodes != npos, say::formula,
            struct uses_a_tensor_that_is_not_part_of_any_argument_so_pass_it_as_an_argument>,
    mask_of_an_argument<Nodes != npos - 1>,
    verdict<Nodes != npos - 2, say::formula,
            say::subtracts_a_value_from_itself_so_rename_an_axis_of_one>>;

// None: are none of arithmetic's operands masks?
template <bool None>
using no_masks =
    verdict<None, say::formula, say::masks_are_arguments_of_layers_so_hide_scores_or_add_a_bias>;

// Node: a class that is complete only when a member is used.
template <class Node>
using has_a_value = verdict<(sizeof(Node) == 0 || traced_before<Node>), say::formula,
                            say::cannot_branch_on_a_condition_so_write_where>;
template <class X>
using has_a_number =
    verdict<(sizeof(X) == 0 || traced_before<X> || one_was_refused<X>), say::formula,
            say::a_value_is_not_a_number_yet_so_write_exp_without_std>;
template <class Node>
using has_elements = verdict<(sizeof(Node) == 0 || traced_before<Node>), say::formula,
                             say::an_element_has_no_value_yet_so_write_select_at>;
// x += 1, ++x. X: the operands.
template <class... X>
using stays_as_it_is = verdict<one_is_invalid<X...> || (traced_before<X> || ...), say::formula,
                               say::values_are_immutable_so_write_auto_y>;
// x = y with different axes, conditions instead of numbers, or something other than a node.
template <class X, class Y>
struct assigned_in_formula_rule {
  using type = stays_as_it_is<X>;
};
template <class X, traced Y>
struct assigned_in_formula_rule<X, Y> {
  using from = typename X::layout::axes;
  using to = typename Y::layout::axes;
  static constexpr bool same = std::is_same_v<from, to>;
  using type = verdict<
      traced_before<X>, say::formula, struct a_variable_of,
      std::conditional_t<same, element<typename X::value_type>, from>, struct cannot_be_assigned,
      std::conditional_t<same, element<typename Y::value_type>, to>, say::so_declare_another>;
};
template <class X, one_is_invalid Y>
struct assigned_in_formula_rule<X, Y> {
  using type = accepted;
};
template <class X, class Y>
using assigned_in_formula = typename assigned_in_formula_rule<X, Y>::type;
template <class... X>
using has_operator = verdict<one_is_invalid<X...> || (traced_before<X> || ...), say::formula,
                             say::has_no_such_operator_so_use>;
template <class Family, bool Ok>
using in_a_formula = verdict<Ok, say::position_of, Family, struct belongs_in_a_formula>;

template <class Result>
struct gives_rule {
  using type =
      verdict<never<Result>, say::formula, struct must_return_a_tensor_computed_from_its_arguments>;
};

template <class Open>
struct closed_rule {
  using type = accepted;
};
template <class First, class... Rest>
struct closed_rule<formulas::families<First, Rest...>> {
  using type = verdict<false, say::formula, struct uses_positions_along, First,
                       say::but_no_operand_has_that_axis>;
};
template <class Open>
using closed = typename closed_rule<Open>::type;

template <class Result>
  requires requires { typename Result::is_node; }
struct gives_rule<Result> {
  using type = first_error<verdict<!std::is_same_v<typename Result::value_type, bool>, say::formula,
                                   say::returns_conditions_not_numbers_so_write_where>,
                           verdict<std::is_same_v<typename Result::value_type, typename Result::T>,
                                   say::formula, say::returns, element<typename Result::value_type>,
                                   say::but_the_formula_computes_in, element<typename Result::T>>,
                           closed<typename Result::open>>;
};
template <class Result>
  requires requires { typename Result::value_type::is_node; }
struct gives_rule<Result> {
  using type = verdict<never<Result>, say::formula, say::returns_an_array_so_return_std_tuple>;
};
template <one_is_invalid Result>
struct gives_rule<Result> {
  using type = accepted;
};
template <class Result>
using gives = typename gives_rule<Result>::type;
}  // namespace rules

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
