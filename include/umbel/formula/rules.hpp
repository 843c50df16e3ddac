// SPDX-License-Identifier: BSL-1.0
// Rules that hold only in formulas: axes are matched by name, so an operand may lack some of the
// other's; allowed parts of a formula.
#pragma once

#include <umbel/config.hpp>
#include <umbel/mask/base.hpp>
#include <umbel/shape/rules.hpp>
#include <umbel/tensor/other_calls.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

namespace say {
struct formula;
struct a_part_of_an_argument_holds;
struct but_the_formula_computes_in;
struct gives;
struct position_of;
}  // namespace say

UMBEL_SAYS(is_given_several_workspaces_and_no_executor_so_write_parallel_of_both,
           "is given several workspaces and no executor; write parallel(executor, works)");
UMBEL_SAYS(a_value_does_not_change_so_write_auto_y,
           "a value does not change; write auto y = x + 1");
UMBEL_SAYS(has_no_such_operator_but,
           "has no such operator; there are + - * / < <= > >= == != && || and !");
UMBEL_SAYS(so_declare_another, "; declare another, auto y = ...");
UMBEL_SAYS(is_given_a_pointer_to_a_workspace_so_pass_the_workspace_itself,
           "is given a pointer to a workspace; pass the workspace itself, f(x, work)");
UMBEL_SAYS(is_given_an_executor_so_write_parallel_of_it_and_its_workspaces,
           "is given an executor by itself; write parallel(executor, works), a workspace for each "
           "of its workers");
UMBEL_SAYS(is_given_a_tie_of_one_so_write_into_out_x,
           "is given a tie of one tensor; write into(out, x)");
UMBEL_SAYS(gives_several_results_so_write_into_std_tie,
           "gives several results; write into(std::tie(a, b), x)");
UMBEL_SAYS(gives_an_array_so_write_std_tuple,
           "gives an array; results are the members of a std::tuple, std::tuple{a, b}");
UMBEL_SAYS(has_masks_for_calls_of_layers_so_write_hide_of_scores_or_add_a_bias,
           "masks are for calls of layers; of scores write hide(scores, position<key> > "
           "position<query>), hide(scores, !kept), scores + bias");

UMBEL_SAYS(which_no_operand_has_as_an_axis,
           ", which nothing that it is combined with has as an axis");

UMBEL_SAYS(so_pass_it_as_an_argument_of_its_own, ", so pass it as an argument of its own");
UMBEL_SAYS(
    uses_a_part_of_an_argument_by_itself_or_copies_it_so_pass_it_as_an_argument_and_take_the_object_as_const_auto,
    "uses a part of an argument by itself, or copies it, and it has no value yet; pass that part "
    "as an argument of its own, and take the object as const auto& w");
UMBEL_SAYS(gives_conditions_so_write_where,
           "gives conditions, which are no numbers; write where(condition, 1, 0)");
UMBEL_SAYS(
    a_condition_has_no_value_yet_so_write_where,
    "a condition has no value yet, so nothing can branch on it; write where(condition, a, b)");
UMBEL_SAYS(a_value_is_no_number_yet_so_write_exp_without_std,
           "a value is no number yet; write exp(x), not std::exp(x), and functions of numbers as "
           "formulas");
UMBEL_SAYS(
    an_element_has_no_value_yet_so_write_select_at,
    "an element has no value yet; write select_at<heads, 2>(x), or an operation on all of them");
UMBEL_SAYS(the_function_takes_other_arguments_or_weights_by_value_so_write_const_auto,
           "the function takes other arguments, or weights by value; write const auto& w");

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
using takes =
    verdict<Ok, say::formula,
            say::the_function_takes_other_arguments_or_weights_by_value_so_write_const_auto>;

template <bool Ok>
using results_tied = verdict<Ok, say::formula, say::gives_several_results_so_write_into_std_tie>;
template <bool Ok>
using one_out_untied = verdict<Ok, say::formula, say::is_given_a_tie_of_one_so_write_into_out_x>;
template <bool Ok>
using one_workspace =
    verdict<Ok, say::formula,
            say::is_given_several_workspaces_and_no_executor_so_write_parallel_of_both>;

template <bool Ok>
using workspace_itself =
    verdict<Ok, say::formula, say::is_given_a_pointer_to_a_workspace_so_pass_the_workspace_itself>;
template <bool Ok>
using executor_with_workspaces =
    verdict<Ok, say::formula, say::is_given_an_executor_so_write_parallel_of_it_and_its_workspaces>;

template <class Operation, bool Ok>
using without_weights = verdict<Ok, say::formula, typename Operation::called,
                                say::is_no_word_of_formulas_so_write_its_operations>;

template <bool Ok>
using captures_nothing =
    verdict<Ok, say::formula, struct captures_variables_so_pass_them_as_arguments>;

// Nodes: their number, or 0, npos, npos - 1 (run.hpp). The graph is made in a constant expression,
// when nothing in an argument object has a value.
template <std::size_t Nodes>
using has_graph = first_error<
    verdict<
        Nodes != 0, say::formula,
        say::
            uses_a_part_of_an_argument_by_itself_or_copies_it_so_pass_it_as_an_argument_and_take_the_object_as_const_auto>,
    verdict<Nodes != npos, say::formula,
            struct uses_a_tensor_that_is_no_argument_and_no_part_of_one_so_pass_it_as_an_argument>,
    mask_of_an_argument<Nodes != npos - 1>>;

// None: are none of arithmetic's operands masks?
template <bool None>
using no_masks = verdict<None, say::formula,
                         say::has_masks_for_calls_of_layers_so_write_hide_of_scores_or_add_a_bias>;

// Node: a class that is complete only when a member is used.
template <class Node>
using has_a_value = verdict<(sizeof(Node) == 0 || traced_before<Node>), say::formula,
                            say::a_condition_has_no_value_yet_so_write_where>;
template <class X>
using has_a_number = verdict<(sizeof(X) == 0 || traced_before<X>), say::formula,
                             say::a_value_is_no_number_yet_so_write_exp_without_std>;
template <class Node>
using has_elements = verdict<(sizeof(Node) == 0 || traced_before<Node>), say::formula,
                             say::an_element_has_no_value_yet_so_write_select_at>;
// x += 1, ++x. X: the operands.
template <class... X>
using stays_as_it_is = verdict<one_is_invalid<X...> || (traced_before<X> || ...), say::formula,
                               say::a_value_does_not_change_so_write_auto_y>;
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
  using type = verdict<traced_before<X>, say::formula, struct a_variable_of,
                       std::conditional_t<same, element<typename X::value_type>, from>,
                       struct cannot_be_given_what_is_of,
                       std::conditional_t<same, element<typename Y::value_type>, to>,
                       say::so_declare_another>;
};
template <class X, one_is_invalid Y>
struct assigned_in_formula_rule<X, Y> {
  using type = accepted;
};
template <class X, class Y>
using assigned_in_formula = typename assigned_in_formula_rule<X, Y>::type;
template <class... X>
using has_operator = verdict<one_is_invalid<X...> || (traced_before<X> || ...), say::formula,
                             say::has_no_such_operator_but>;
template <class Family, bool Ok>
using in_a_formula = verdict<Ok, say::position_of, Family, struct belongs_in_a_formula>;

template <class Result>
struct gives_rule {
  using type = verdict<never<Result>, say::formula,
                       struct gives_something_else_than_a_tensor_made_of_its_arguments>;
};

template <class Open>
struct closed_rule {
  using type = accepted;
};
template <class First, class... Rest>
struct closed_rule<formulas::families<First, Rest...>> {
  using type = verdict<false, say::formula, struct gives_a_position_along, First,
                       say::which_no_operand_has_as_an_axis>;
};
template <class Open>
using closed = typename closed_rule<Open>::type;

template <class Result>
  requires requires { typename Result::is_node; }
struct gives_rule<Result> {
  using type = first_error<verdict<!std::is_same_v<typename Result::value_type, bool>, say::formula,
                                   say::gives_conditions_so_write_where>,
                           verdict<std::is_same_v<typename Result::value_type, typename Result::T>,
                                   say::formula, say::gives, element<typename Result::value_type>,
                                   say::but_the_formula_computes_in, element<typename Result::T>>,
                           closed<typename Result::open>>;
};
template <class Result>
  requires requires { typename Result::value_type::is_node; }
struct gives_rule<Result> {
  using type = verdict<never<Result>, say::formula, say::gives_an_array_so_write_std_tuple>;
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
