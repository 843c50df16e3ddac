// SPDX-License-Identifier: BSL-1.0
// Verdicts: which values may have a gradient, and which may not.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/node.hpp>
#include <umbel/training/arrays.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::portable {

template <class X>
struct differentiated {
  const X& value;
  X& gradient;
};

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET::detail {

namespace say {
struct gradient;
struct with_gradient;
}  // namespace say

UMBEL_SAYS(
    expects_an_argument_and_a_variable_that_its_gradient_is_added_to,
    "expects an argument and a variable that its gradient is added to; write with_gradient(w, g)");
UMBEL_SAYS(a_layer_in_the_formula_has_no_gradient_so_write_out_its_operations,
           "a layer in the formula has no gradient; write out its operations");
UMBEL_SAYS(packed_weights_have_no_gradient_so_pass_the_unpacked_weights,
           "packed weights have no gradient; pass the unpacked weights");
UMBEL_SAYS(no_argument_requests_a_gradient_so_write_with_gradient_of_w_and_g,
           "no argument requests a gradient; write with_gradient(w, g) for an argument w");
UMBEL_SAYS(but_only_a_scalar_has_gradients_so_sum_it,
           "but only a scalar has gradients; return its sum or mean");
UMBEL_SAYS(which_has_no_gradient, ", which has no gradient");
UMBEL_SAYS(
    the_first_result_depends_on_no_requested_argument_or_only_through_integers_or_conditions,
    "the first result depends on no requested argument, or only through integers or conditions");
UMBEL_SAYS(the_gradient_must_have_the_same_type_as_w,
           "the gradient must have the same type as w; declare decltype(w) g{}");
UMBEL_SAYS(only_one_score_bias_of_a_call_can_have_a_gradient_so_add_them_first,
           "only one score_bias of a call can have a gradient; add them first, score_bias(a + b)");

template <class... Given>
inline constexpr bool are_argument_and_variable = false;
template <class X, class G>
inline constexpr bool are_argument_and_variable<X, G&> = true;

namespace rules {

// An operation of a formula: one with a known name, a linear one, one that selects an element, or
// one whose derivative is 1.
template <class Operation>
struct has_gradient_rule<Operation> {
  using type = verdict<formulas::known_operation<Operation>::what != formulas::word::none ||
                           formulas::adds_a_constant<Operation> || formulas::is_linear<Operation> ||
                           formulas::selects<Operation> || formulas::is_position<Operation>,
                       say::gradient, typename Operation::called, struct has_no_gradient>;
};
template <class Weights>
  requires requires { typename Weights::map; }
struct has_gradient_rule<Weights> {
  using borrowed = std::remove_cvref_t<decltype(as_borrowed(std::declval<const Weights&>()))>;
  using type =
      verdict<formulas::form_of_weights<borrowed> == formulas::weights_form::natural, say::gradient,
              say::packed_weights_have_no_gradient_so_pass_the_unpacked_weights>;
};
// For a block.
template <class W>
concept borrowed_parts = formulas::borrows_weights<W> || requires { typename W::owned; };
template <class W>
struct weights_of_block_rule {
  using type = verdict<borrowed_parts<W>, say::gradient,
                       say::packed_weights_have_no_gradient_so_pass_the_unpacked_weights>;
};
template <class Steps, class T, formulas::owns_weights Packed, class... X>
struct has_gradient_rule<Steps, formulas::layer_call<T, Steps, Packed, X...>> {
  using type = verdict<false, say::gradient,
                       say::packed_weights_have_no_gradient_so_pass_the_unpacked_weights>;
};
template <class Steps, class Call>
struct has_gradient_rule<Steps, Call> {
  static constexpr bool there_is_one = requires { sizeof(formulas::layer_gradient<Call>); };
  using type = verdict<there_is_one, say::gradient,
                       say::a_layer_in_the_formula_has_no_gradient_so_write_out_its_operations>;
};

template <bool Asked>
using asks_for_a_gradient =
    verdict<Asked, say::gradient,
            say::no_argument_requests_a_gradient_so_write_with_gradient_of_w_and_g>;
template <class Layout>
using is_one_number =
    verdict<Layout::count == 1, say::gradient, struct the_first_result_has, typename Layout::axes,
            say::but_only_a_scalar_has_gradients_so_sum_it>;
template <bool Adds>
using depends_on_what_is_asked = verdict<
    Adds, say::gradient,
    say::the_first_result_depends_on_no_requested_argument_or_only_through_integers_or_conditions>;
// First: a node, or anything else, which `gives` reports.
template <class First>
struct is_differentiable_rule {
  using type = accepted;
};
template <class First>
  requires(requires { typename First::is_node; } && First::is_counted)
struct is_differentiable_rule<First> {
  using type = verdict<false, say::gradient, struct the_first_result_has_type,
                       element<typename First::value_type>, say::which_has_no_gradient>;
};
template <class First>
using is_differentiable = typename is_differentiable_rule<First>::type;
template <bool One>
using one_bias_varies =
    verdict<One, say::gradient,
            say::only_one_score_bias_of_a_call_can_have_a_gradient_so_add_them_first>;
// Tensors and views of float or double; owned weights, whose gradients have the same places.
template <class X>
struct has_a_gradient {
  using type = trained<say::with_gradient, X>;
};
template <tensor_like X>
struct has_a_gradient<X> {
  using type = typename trained_parameter<say::with_gradient>::template of<X>;
};
template <class X, class G>
using gradient_is_of_its_type =
    first_error<verdict<std::is_same_v<X, std::remove_const_t<G>>, say::with_gradient,
                        say::the_gradient_must_have_the_same_type_as_w>,
                verdict<!std::is_const_v<G>, say::with_gradient, struct the_gradient_is_const>,
                typename has_a_gradient<X>::type>;

}  // namespace rules
}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
