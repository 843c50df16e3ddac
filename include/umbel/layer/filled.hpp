// SPDX-License-Identifier: BSL-1.0
// filled<Tensor>(fill): the tensor that fill(y) writes, made where the caller wants it. Operations
// return their results through it from within `if constexpr`: g++ before 14 copies a local variable
// that is returned from an inner block (GCC bug 51571), and a result is as large as it is.
#pragma once

#include <umbel/layer/workspace.hpp>

namespace umbel::detail {

// Elements are not set beforehand: fill writes all of them.
template <class Tensor, class Fill>
UMBEL_INLINE constexpr Tensor filled(Fill fill) noexcept {
  Tensor y;
  fill(y);
  return y;
}

// In place of memory of the caller's: the result is a new tensor.
struct by_value {};

// f(y, scratch) writes a result: into out or, where that is by_value, into a new Result, which is
// returned. given: a Scratch or on_stack.
template <class Result, class Scratch, class Out, class Given, class F>
UMBEL_INLINE constexpr auto computed(Out& out, Given& given, F f) noexcept {
  if constexpr (std::is_same_v<std::remove_const_t<Out>, by_value>)
    return filled<Result>(
        [&](Result& y) { with_scratch<Scratch>(given, [&](Scratch& work) { f(y, work); }); });
  else
    with_scratch<Scratch>(given, [&](Scratch& work) { f(out, work); });
}

}  // namespace umbel::detail
