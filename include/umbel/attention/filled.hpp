// SPDX-License-Identifier: BSL-1.0
// filled<Tensor>(fill): the tensor that fill(y) writes, made where the caller wants it. Operations
// return their results through it from within `if constexpr`: g++ before 14 copies a local variable
// that is returned from an inner block (GCC bug 51571), and a result is as large as it is.
#pragma once

#include <umbel/config.hpp>

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

}  // namespace umbel::detail
