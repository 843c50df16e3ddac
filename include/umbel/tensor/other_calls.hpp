// SPDX-License-Identifier: BSL-1.0
// Base of operations and layers: arguments that fit no form of the call get a sentence that says
// which forms there are. One bug is one error.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/rules.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct takes_one_tensor_or_view;
struct takes_one_tensor_or_view_then_an_integer;
struct takes_two_tensors_or_views;
struct stands_on_the_right_of_a_pipe_and_the_tensor_on_the_left;
}  // namespace say

template <>
inline constexpr const char* spoken<say::takes_one_tensor_or_view_then_an_integer> =
    "takes one tensor or view; then an integer";
template <>
inline constexpr const char* spoken<say::stands_on_the_right_of_a_pipe_and_the_tensor_on_the_left> =
    "stands on the right of |, and the tensor on the left";

namespace rules {
// Arguments of a call that fit no overload, unless an earlier error is the reason. Takes: the words
// that say which fit.
template <class Operation, class Takes, class... Arguments>
using arguments = verdict<one_is_invalid<Arguments...>, Operation, Takes>;
template <class Operation, bool Ok = false>
using pipe_from_the_left =
    verdict<Ok, Operation, say::stands_on_the_right_of_a_pipe_and_the_tensor_on_the_left>;
}  // namespace rules

// Base of all operations that x | operation takes.
struct operation {};

// Operation: the word that names it. Takes: the words that say what it takes. A derived struct has
// `using other_calls<...>::operator()`.
template <class Operation, class Takes = say::takes_one_tensor_or_view>
struct other_calls : operation {
  using called = Operation;
  // The verdict on x | operation where there is one before it is called: x | operation asserts it
  // itself, since each function in between is three more lines of clang's output.
  template <class X>
  using pipe_rule = accepted;
  template <class... Arguments>
  constexpr invalid operator()(const Arguments&...) const noexcept {
    static_assert(report<rules::arguments<Operation, Takes, Arguments...>>::ok,
                  "umbel: shapes do not fit");
    return {};
  }
};

// Of operations that also have the form into(out, ...).
template <class Operation, class Takes = say::takes_one_tensor_or_view>
struct other_calls_and_into : other_calls<Operation, Takes> {
  template <class... Arguments>
  constexpr void into(const Arguments&...) const noexcept {
    static_assert(report<rules::arguments<Operation, Takes, Arguments...>>::ok,
                  "umbel: shapes do not fit");
  }
};

}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
