// SPDX-License-Identifier: BSL-1.0
// The memory of a call: the result is a new tensor or the caller's, scratch is on the stack or in
// the caller's workspace. Operations and layers write through `computed` and needn't know which.
// Each case is a function because g++ before 14 copies a local variable that is returned from an
// inner block (GCC bug 51571), and a result may be large. Lambdas passed here are
// UMBEL_LAMBDA_INLINE: compilers order captures differently, so one compiler's body must not be
// linked instead of the other's.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/workspace.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// Means "return by value": the result is a new tensor.
struct by_value {};

// The tensor that write(y) fills. write must set all elements: they are uninitialized.
template <class Tensor, class Write>
UMBEL_INLINE constexpr Tensor filled(Write write) noexcept {
  Tensor y;
  write(y);
  return y;
}

// write(y, scratch): y is a new Result or the caller's out; scratch is new or the caller's.
template <class Result, class Scratch, class Write>
UMBEL_INLINE constexpr Result computed(const by_value&, const on_stack&, Write write) noexcept {
  Result y;
  Scratch scratch;
  write(y, scratch);
  return y;
}
template <class Result, class Scratch, class Write>
UMBEL_INLINE constexpr Result computed(const by_value&, Scratch& scratch, Write write) noexcept {
  Result y;
  write(y, scratch);
  return y;
}
template <class Result, class Scratch, class Out, class Write>
  requires(!std::is_same_v<std::remove_const_t<Out>, by_value>)
UMBEL_INLINE constexpr void computed(Out& out, const on_stack&, Write write) noexcept {
  Scratch scratch;
  write(out, scratch);
}
template <class Result, class Scratch, class Out, class Write>
  requires(!std::is_same_v<std::remove_const_t<Out>, by_value>)
UMBEL_INLINE constexpr void computed(Out& out, Scratch& scratch, Write write) noexcept {
  write(out, scratch);
}

// The same without a result.
template <class Scratch, class F>
UMBEL_INLINE constexpr void with_scratch(const on_stack&, F f) noexcept {
  Scratch scratch;
  f(scratch);
}
template <class Scratch, class F>
UMBEL_INLINE constexpr void with_scratch(Scratch& scratch, F f) noexcept {
  f(scratch);
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
