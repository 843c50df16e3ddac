// SPDX-License-Identifier: BSL-1.0
// Means of integers, defined by plain/integers.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/plain/integers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// The means along the middle one of three axes.
template <std::size_t Outer, std::size_t Size, std::size_t Inner, class T>
constexpr void integer_mean(const std::int8_t* x, const plain::integer_unit& unit, T* y) noexcept {
  for (std::size_t o = 0; o < Outer; ++o)
    for (std::size_t i = 0; i < Inner; ++i) {
      std::int32_t sum = 0;
      for (std::size_t s = 0; s < Size; ++s) sum += x[(o * Size + s) * Inner + i];
      const std::int32_t v = plain::integer_mean_of<Size>(sum, unit);
      if constexpr (sizeof(T) == 1)
        y[o * Inner + i] = plain::to_int8(v);
      else
        y[o * Inner + i] = plain::to_int16(v);
    }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
