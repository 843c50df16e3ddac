// SPDX-License-Identifier: BSL-1.0
// UMBEL_CHECK=1: a run-time position outside its axis stops the program with "umbel: x(...):
// position 7 is outside of batch=2". With 0, the default, it is undefined behavior, as with
// arrays. In constant expressions it is always a compile error. See docs/checking.md.
//
// A program may mix files with and without UMBEL_CHECK: code that depends on it is always inlined
// or has it as a template argument.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/verdict.hpp>

#if UMBEL_CHECK && UMBEL_STDERR
#include <cstdio>
#endif

UMBEL_WARNINGS_PUSH
namespace umbel {

// Receives a failed check's message: one line without a line end, valid during the call.
using check_handler = void (*)(const char* sentence);

namespace portable {
// One for the whole program: visible despite -fvisibility.
[[gnu::visibility("default")]] inline check_handler installed_check_handler = nullptr;
}  // namespace portable

// Sets the handler of failed checks for all files of the program and returns the previous one. With
// nullptr, the default, the message goes to standard error if there is one. A handler may end the
// program or leave by longjmp; if it returns, __builtin_trap() stops the program. It must not
// throw: element access is noexcept. Not synchronized: install it before other threads start.
[[gnu::always_inline]] inline check_handler set_check_handler(check_handler handler) noexcept {
  const check_handler before = portable::installed_check_handler;
  portable::installed_check_handler = handler;
  return before;
}

}  // namespace umbel

namespace umbel::inline UMBEL_TARGET {
namespace detail {
UMBEL_SAYS(set_check_handler, "set_check_handler");
UMBEL_SAYS(expects_a_function_of_const_char_pointer_that_captures_and_returns_nothing,
           "expects nullptr or a function void (const char*), such as a lambda without captures, "
           "not");
}  // namespace detail

// Other functions: refused.
template <class Handler>
  requires(!std::is_convertible_v<Handler, check_handler>)
constexpr check_handler set_check_handler(const Handler&) noexcept {
  using verdict = detail::verdict<
      detail::never<Handler>, detail::say::set_check_handler,
      detail::say::expects_a_function_of_const_char_pointer_that_captures_and_returns_nothing,
      detail::element<Handler>>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return nullptr;
}
}  // namespace umbel::inline UMBEL_TARGET

namespace umbel::inline UMBEL_TARGET::detail {

template <bool Checked>
[[noreturn, gnu::noinline, gnu::cold]] void stop(const char* sentence) {
  if (portable::installed_check_handler != nullptr) {
    portable::installed_check_handler(sentence);
  } else {
#if UMBEL_CHECK && UMBEL_STDERR
    static_assert(Checked);
    std::fputs(sentence, stderr);
    std::fputs("\n", stderr);
#endif
  }
  __builtin_trap();
}

// "umbel: CALL: WHAT -1 is outside of ". Negative numbers arrive as the largest ones.
constexpr sentence_buffer outside(const char* call, const char* what, std::size_t number) {
  sentence_buffer out;
  out.put("umbel: ");
  out.put(call);
  out.put(": ");
  out.put(what);
  out.put(number > npos / 2 ? " -" : " ");
  out.put(number > npos / 2 ? 0 - number : number);
  out.put(" is outside of ");
  return out;
}

// Not constexpr, so that a constant expression that comes here fails with this name and the axis.
template <class Axis>
[[noreturn, gnu::noinline, gnu::cold]] void position_is_outside_of(const char* call,
                                                                   std::size_t position) {
  sentence_buffer sentence = outside(call, "position", position);
  speak<Axis>::to(sentence);
  stop<(UMBEL_CHECK != 0)>(sentence.chars);
}

[[noreturn, gnu::noinline, gnu::cold]] inline void number_is_outside_of(const char* what,
                                                                        std::size_t number,
                                                                        const char* all,
                                                                        std::size_t size) {
  sentence_buffer sentence = outside("parallel", what, number);
  sentence.put(all);
  sentence.put('=');
  sentence.put(size);
  stop<(UMBEL_CHECK != 0)>(sentence.chars);
}

// The offset of a position along Axis, in elements. call: the user's call, for the message.
template <class Axis, std::size_t Stride>
UMBEL_SHARED constexpr std::size_t offset_along(const char* call, std::size_t position) {
  if (UMBEL_CHECK) {
    if (position >= Axis::size) position_is_outside_of<Axis>(call, position);
  } else if (__builtin_is_constant_evaluated()) {
    if (position >= Axis::size) position_is_outside_of<Axis>(call, position);
  }
  return position * Stride;
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
