// SPDX-License-Identifier: BSL-1.0
// UMBEL_CHECK=1: a position known only at run time that is outside of its axis stops the program
// with one sentence, "umbel: x(...): position 7 is outside of batch=2". 0, the default: such a
// position is undefined behaviour, as in an array. In constant expressions it is a compile error,
// whatever UMBEL_CHECK is. docs/checking.md lists what is checked.
//
// Files with and without UMBEL_CHECK may be one program, and each does what it was compiled for:
// code that depends on it is either always inlined or has a template argument that says so.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/verdict.hpp>

#if UMBEL_CHECK && UMBEL_STDERR
#include <cstdio>
#endif

UMBEL_WARNINGS_PUSH
namespace umbel {

// What a failed check calls, with its sentence: one line without a line end, valid during the call.
using check_handler = void (*)(const char* sentence);

namespace portable {
// One for the whole program: visible, whatever -fvisibility says.
[[gnu::visibility("default")]] inline check_handler installed_check_handler = nullptr;
}  // namespace portable

// What failed checks call from now on, in all files of the program, and what they called before.
// nullptr, as at the start: the sentence is written to standard error where there is one. A handler
// may stop the program in its own way or leave by longjmp; when it returns, the program is stopped
// by __builtin_trap(). It may not throw: element access is noexcept. Not synchronised: install it
// before other threads start.
[[gnu::always_inline]] inline check_handler set_check_handler(check_handler handler) noexcept {
  const check_handler before = portable::installed_check_handler;
  portable::installed_check_handler = handler;
  return before;
}

}  // namespace umbel

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

// "umbel: CALL: WHAT -1 is outside of ": negative numbers arrive as the largest.
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

// Not constexpr, so that compilers name it, with its axis, where a constant expression comes here.
template <class Axis>
[[noreturn, gnu::noinline, gnu::cold]] void position_is_outside_of(const char* call,
                                                                   std::size_t position) {
  sentence_buffer sentence = outside(call, "position", position);
  speak<Axis>::to(sentence);
  stop<(UMBEL_CHECK != 0)>(sentence.chars);
}

// "umbel: parallel: worker 2 is outside of workers=2".
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

// Where a position along Axis lies, in elements from position 0. call: what the user wrote.
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
