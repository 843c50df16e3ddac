// SPDX-License-Identifier: BSL-1.0
// Base of operations and layers: a call that fits no overload gets one message that shows the
// accepted forms.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/rules.hpp>
#include <umbel/tensor/calls_of_other_libraries.hpp>
#include <umbel/tensor/view.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct formula;
struct takes_one_tensor_or_view;
struct takes_two_tensors_or_views;
}  // namespace say

UMBEL_SAYS(into_writes_memory_and_formulas_have_none_so_take_the_value_of_a_call,
           "into writes memory, and formulas have none; take the value of a call, layer(x)");
UMBEL_SAYS(is_no_word_of_formulas_so_write_its_operations,
           "is no word of formulas; write its operations, or call it outside");
UMBEL_SAYS(into_takes_the_memory_of_the_result_first_so_write_into_out_x_but_got_only,
           "into takes the memory of the result first, layer.into(out, x), but got only");
UMBEL_SAYS(takes_one_tensor_or_view_then_an_integer, "takes one tensor or view; then an integer");
UMBEL_SAYS(stands_on_the_right_of_a_pipe_and_the_tensor_on_the_left,
           "stands on the right of |, and the tensor on the left");

namespace rules {
// Can Given never be an argument for Takes? (mask/rules.hpp specializes it for calls with a mask.)
template <class Takes, class Given>
inline constexpr bool is_foreign =
    !shaped<Given> && (!std::is_class_v<Given> || requires(Given& x) { x.data() + x.size(); } ||
                            requires(Given& x) { x.begin() == x.end(); } ||
                            requires(Given& x) { x.has_value(); });

template <class Operation, class Takes, std::size_t Number, class... Arguments>
struct foreign_argument_rule {
  using type = accepted;
};
template <class Operation, class Takes, std::size_t Number, class First, class... Rest>
struct foreign_argument_rule<Operation, Takes, Number, First, Rest...>
    : foreign_argument_rule<Operation, Takes, Number + 1, Rest...> {};
template <class Operation, class Takes, std::size_t Number, class First, class... Rest>
  requires is_foreign<Takes, First>
struct foreign_argument_rule<Operation, Takes, Number, First, Rest...> {
  using type = verdict<false, Operation, Takes, say::but_argument, number<Number>, say::is,
                       type_of_given<First>>;
};

// Arguments that fit no overload, unless an earlier error is the cause. Takes: the words of the
// message that describe the accepted arguments.
template <class Operation, class Takes, class... Arguments>
struct arguments_rule {
  using type = first_error<typename foreign_argument_rule<Operation, Takes, 1, Arguments...>::type,
                           verdict<false, Operation, Takes>>;
};
template <class Operation, class Takes, class... Arguments>
  requires one_is_invalid<Arguments...>
struct arguments_rule<Operation, Takes, Arguments...> {
  using type = accepted;
};
// For operations that accept only tensors, called in a formula.
template <class Operation>
using no_word_of_formulas =
    verdict<false, say::formula, Operation, say::is_no_word_of_formulas_so_write_its_operations>;
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
      verdict<false, Operation,
              say::into_takes_the_memory_of_the_result_first_so_write_into_out_x_but_got_only,
              typename layout_of<X>::axes>;
};
template <class Operation, class Takes, class... Arguments>
  requires(traced<Arguments> || ...)
struct arguments_of_into_rule<Operation, Takes, Arguments...> {
  using type = verdict<never<Operation>, say::formula,
                       say::into_writes_memory_and_formulas_have_none_so_take_the_value_of_a_call>;
};
template <class Operation, class Takes, class... Arguments>
using arguments_of_into = typename arguments_of_into_rule<Operation, Takes, Arguments...>::type;
template <class Operation, bool Ok = false>
using pipe_from_the_left =
    verdict<Ok, Operation, say::stands_on_the_right_of_a_pipe_and_the_tensor_on_the_left>;
}  // namespace rules

// Base of every operation usable as x | operation.
struct operation : portable::calls_of_other_layers {};

// Operation: the word that names it. Takes: the words for its arguments. A derived struct has
// `using other_calls<...>::operator()`.
template <class Operation, class Takes = say::takes_one_tensor_or_view>
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
};

// For operations that also have into(out, ...).
template <class Operation, class Takes = say::takes_one_tensor_or_view>
struct other_calls_and_into : other_calls<Operation, Takes> {
  template <class... Arguments>
  constexpr void into(const Arguments&...) const noexcept {
    static_assert(report<rules::arguments_of_into<Operation, Takes, Arguments...>>::ok,
                  "umbel: shapes do not fit");
  }
};

}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
