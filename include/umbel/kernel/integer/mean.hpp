// SPDX-License-Identifier: BSL-1.0
// Means of integers, defined by plain/integers.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/plain/integers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// Means of `count` elements each, Step apart, that begin side by side at x. mean_of(sum): not yet
// clamped.
template <std::size_t Means, std::size_t Step, class T, class MeanOf>
constexpr void integer_means(const std::int8_t* x, std::size_t count, T* y,
                             const MeanOf& mean_of) noexcept {
  for (std::size_t i = 0; i < Means; ++i) {
    std::int32_t sum = 0;
    for (std::size_t s = 0; s < count; ++s) sum += x[s * Step + i];
    const std::int32_t v = mean_of(sum);
    if constexpr (sizeof(T) == 1)
      y[i] = plain::to_int8(v);
    else
      y[i] = plain::to_int16(v);
  }
}
// The means along the middle one of three axes.
template <std::size_t Outer, std::size_t Size, std::size_t Inner, class T>
constexpr void integer_mean(const std::int8_t* x, const plain::integer_unit& unit, T* y) noexcept {
  for (std::size_t o = 0; o < Outer; ++o)
    kernel::integer_means<Inner, Inner>(
        x + o * Size * Inner, Size, y + o * Inner,
        [&](std::int32_t sum) { return plain::integer_mean_of<Size>(sum, unit); });
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
