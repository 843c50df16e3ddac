// SPDX-License-Identifier: BSL-1.0
// Base of operations and layers: a call that fits no overload gets one message that shows the
// accepted forms.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/rules.hpp>
#include <umbel/tensor/calls_of_other_libraries.hpp>
#include <umbel/tensor/refusal.hpp>
#include <umbel/tensor/view.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct formula;
struct expects_one_tensor_or_view;
struct expects_two_tensors_or_views;
struct workspace_for;
}  // namespace say

UMBEL_SAYS(into_writes_memory_which_formulas_do_not_have_so_write_layer_of_x,
           "into writes memory, which formulas do not have; write auto y = layer(x)");
UMBEL_SAYS(cannot_be_used_in_formulas_so_write_out_its_operations,
           "cannot be used in formulas; write out its operations, or call it outside");
UMBEL_SAYS(into_expects_the_output_first_so_write_into_out_x_but_got_only,
           "into expects the output first, layer.into(out, x), but got only");
UMBEL_SAYS(expects_one_tensor_or_view_then_an_integer,
           "expects one tensor or view, then an integer");
UMBEL_SAYS(goes_on_the_right_of_a_pipe_and_the_tensor_on_the_left,
           "goes on the right of |, the tensor on the left");

UMBEL_SAYS(expects_a_layer_and_the_types_of_the_tensors_of_its_call_for_axes_write_workspace,
           "expects a layer and the types of the tensors of its call; for axes write "
           "layer::workspace<token<9>>");

UMBEL_SAYS(position_is_an_operand_in_a_formula_so_write_x_plus_position,
           "position<key> and numbers computed from it have values only next to a tensor in a "
           "formula; write x + position<key>");

namespace rules {
template <bool Ok>
using tensors_for_a_workspace =
    verdict<Ok, say::workspace_for,
            say::expects_a_layer_and_the_types_of_the_tensors_of_its_call_for_axes_write_workspace>;
// after<1>{}, exclusive{}: options are template arguments.
template <class Given>
concept is_option = requires { typename Given::kind; };
// Can Given never be an argument for Takes? (mask/rules.hpp specializes it for calls with a mask.)
template <class Takes, class Given>
inline constexpr bool is_foreign =
    !shaped<Given> && (!std::is_class_v<Given> || is_option<Given> || requires(Given& x) { x.data() + x.size(); } ||
                            requires(Given& x) { x.begin() == x.end(); } ||
                            requires(Given& x) { x.has_value(); });

// Can Given not follow Before (void: be the first)? (mask/base.hpp specializes it as well.)
template <class Takes, class Before, class Given>
inline constexpr bool is_misplaced = false;

template <class Operation, class Takes, std::size_t Number, class Before, class... Arguments>
struct foreign_argument_rule {
  using type = accepted;
};
template <class Operation, class Takes, std::size_t Number, class Before, class First,
          class... Rest>
struct foreign_argument_rule<Operation, Takes, Number, Before, First, Rest...>
    : foreign_argument_rule<Operation, Takes, Number + 1, First, Rest...> {};
template <class Operation, class Takes, std::size_t Number, class Before, class First,
          class... Rest>
  requires(is_foreign<Takes, First> || is_misplaced<Takes, Before, First>)
struct foreign_argument_rule<Operation, Takes, Number, Before, First, Rest...> {
  using type = verdict<false, Operation, Takes, say::but_argument, number<Number>, say::is,
                       type_of_given<First>>;
};

// Arguments that fit no overload, unless an earlier error is the cause. Takes: the words of the
// message that describe the accepted arguments.
template <class Operation, class Takes, class... Arguments>
struct arguments_rule {
  using type =
      first_error<typename foreign_argument_rule<Operation, Takes, 1, void, Arguments...>::type,
                  verdict<false, Operation, Takes>>;
};
template <class Operation, class Takes, class... Arguments>
  requires one_is_invalid<Arguments...>
struct arguments_rule<Operation, Takes, Arguments...> {
  using type = accepted;
};
// Positions along an axis, without a tensor that has it.
template <class X>
concept of_positions = of_a_formula<X> && !traced<X>;
template <class Operation, class Takes, of_positions X, class... Rest>
  requires(!one_is_invalid<Rest...>)
struct arguments_rule<Operation, Takes, X, Rest...> {
  using type =
      verdict<false, Operation, say::position_is_an_operand_in_a_formula_so_write_x_plus_position>;
};
// For operations that accept only tensors, called in a formula.
template <class Operation>
using no_word_of_formulas = verdict<false, say::formula, Operation,
                                    say::cannot_be_used_in_formulas_so_write_out_its_operations>;
// For operations without an overload for nodes, whatever the arguments.
template <class Operation>
inline constexpr bool never_in_formulas = false;
template <class Operation, class Takes, traced X, class... Rest>
  requires(sizeof...(Rest) == 0 || (never_in_formulas<Operation> && !one_is_invalid<Rest...>))
struct arguments_rule<Operation, Takes, X, Rest...> {
  using type = no_word_of_formulas<Operation>;
};
template <class Operation, class Takes, class... Arguments>
using arguments = typename arguments_rule<Operation, Takes, Arguments...>::type;
// For into(...): the output is missing.
template <class Operation, class Takes, class... Arguments>
struct arguments_of_into_rule : arguments_rule<Operation, Takes, Arguments...> {};
template <class Operation, class Takes, tensor_like X>
struct arguments_of_into_rule<Operation, Takes, X> {
  using type =
      verdict<false, Operation, say::into_expects_the_output_first_so_write_into_out_x_but_got_only,
              typename layout_of<X>::axes>;
};
template <class Operation, class Takes, class... Arguments>
  requires(traced<Arguments> || ...)
struct arguments_of_into_rule<Operation, Takes, Arguments...> {
  using type = verdict<never<Operation>, say::formula,
                       say::into_writes_memory_which_formulas_do_not_have_so_write_layer_of_x>;
};
template <class Operation, class Takes, class... Arguments>
using arguments_of_into = typename arguments_of_into_rule<Operation, Takes, Arguments...>::type;
template <class Operation, bool Ok = false>
using pipe_from_the_left =
    verdict<Ok, Operation, say::goes_on_the_right_of_a_pipe_and_the_tensor_on_the_left>;
}  // namespace rules

// Base of every operation usable as x | operation.
struct operation : portable::calls_of_other_layers {};

// Operation: the word that names it. Takes: the words for its arguments. A derived struct has
// `using other_calls<...>::operator()`.
template <class Operation, class Takes = say::expects_one_tensor_or_view>
struct other_calls : operation {
  using called = Operation;
  // The verdict on x | operation, if known before the call. x | operation asserts it itself, since
  // each function in between adds three lines to clang's output.
  template <class X>
  using pipe_rule = accepted;
  template <class... Arguments>
  constexpr invalid operator()(const Arguments&...) const noexcept {
    static_assert(report<rules::arguments<Operation, Takes, Arguments...>>::ok,
                  "umbel: shapes do not fit");
    return {};
  }
#if UMBEL_CLANG
  template <class... Arguments>
    requires(... || of_a_formula<Arguments>)
  constexpr auto operator()(const Arguments&...) const noexcept {
    using verdict = in_its_line<rules::arguments<Operation, Takes, Arguments...>, Arguments...>;
    return refusal<verdict>();
  }
#endif
};

// For operations that also have into(out, ...).
template <class Operation, class Takes = say::expects_one_tensor_or_view>
struct other_calls_and_into : other_calls<Operation, Takes> {
  // See workspace_for.
  template <class Name = Operation>
  static auto workspace_of(...) {
    static_assert(report<rules::tensors_for_a_workspace<never<Name>>>::ok,
                  "umbel: shapes do not fit");
    return invalid{};
  }
  template <class... Arguments>
  constexpr void into(const Arguments&...) const noexcept {
    static_assert(report<rules::arguments_of_into<Operation, Takes, Arguments...>>::ok,
                  "umbel: shapes do not fit");
  }
#if UMBEL_CLANG
  template <class... Arguments>
    requires(... || of_a_formula<Arguments>)
  constexpr auto into(const Arguments&...) const noexcept {
    using verdict =
        in_its_line<rules::arguments_of_into<Operation, Takes, Arguments...>, Arguments...>;
    return refusal<verdict>();
  }
#endif
};

}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
