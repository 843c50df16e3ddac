// SPDX-License-Identifier: BSL-1.0
// Sums up to each position of an axis: the definition, and the same in SIMD with its bits. y may be
// x.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/float/positions.hpp>
#include <umbel/plan/target.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// Each sum is one addition to the sum before it.
template <softmax_shape S, bool Exclusive, bool Reversed, class T>
constexpr void plain_cumulative_sum(const T* x, T* y) noexcept {
  for (std::size_t o = 0; o < S.outer; ++o)
    for (std::size_t i = 0; i < S.inner; ++i) {
      T sum{};
      for (std::size_t p = 0; p < S.width; ++p) {
        const std::size_t at = (o * S.width + (Reversed ? S.width - 1 - p : p)) * S.inner + i;
        const T before = sum;
        sum = before + x[at];
        y[at] = Exclusive ? before : sum;
      }
    }
}

// Never inlined: the caller's product could fuse into the addition.
template <softmax_shape S, bool Exclusive, bool Reversed, class T,
          plan::target Target = plan::native_target, class Range = every_position<S.width>>
UMBEL_NOINLINE void cumulative_sum(const T* x, T* y, Range range = {}) noexcept {
  using walk = positions<S, T, plan::lanes<T>(Target)>;
  using V = typename walk::V;
  walk::template in_blocks<walk::lanes == 1 || walk::transposes ? 1 : 4>(
      [&]<std::size_t Packs>(std::size_t begin, std::size_t count, std::size_t)
          UMBEL_LAMBDA_INLINE {
            V sums[Packs]{};
            walk::template each<Packs, true, Reversed>(
                x + begin, y + begin, count,
                [&](V value, std::size_t pack) UMBEL_LAMBDA_INLINE {
                  const V before = sums[pack];
                  sums[pack] = before + value;
                  return Exclusive ? before : sums[pack];
                },
                range);
          });
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
