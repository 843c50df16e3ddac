// SPDX-License-Identifier: BSL-1.0
// The logarithm of the softmax along one axis of a matrix in memory, in SIMD: the bits of
// plain::log_softmax for any lanes. y may be x.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/float/row_walk.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/target.hpp>
#include <umbel/simd/fold.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

namespace detail {

// Rows of adjacent elements, several at a time.
template <softmax_shape S, class T, plan::target Target>
UMBEL_INLINE void log_softmax_along(const T* x, T* y) noexcept {
  using walk = row_walk<S.width, T, Target>;
  using V = typename walk::V;
  const V lowest = simd::broadcast<V>(simd::math_constants<T>::lowest);
  walk::template in_blocks<S.outer>([&]<std::size_t Rows>(std::size_t begin) UMBEL_LAMBDA_INLINE {
    const T* const from = x + begin * S.width;
    T* const to = y + begin * S.width;
    typename walk::template of_rows<Rows> maximum, log_sum;
    walk::template fold<Rows>(
        maximum, lowest,
        [&](std::size_t r) UMBEL_LAMBDA_INLINE {
          return [row = from + r * S.width, lowest](std::size_t e, std::size_t count, V highest)
                     UMBEL_LAMBDA_INLINE {
                       V value = walk::load(row + e, count);
                       if (count != walk::lanes) value = simd::keep_first(value, count, lowest);
                       return simd::raised(highest, value);
                     };
        },
        [](V a, V b) UMBEL_LAMBDA_INLINE { return simd::raised(b, a); },
        [](V value) UMBEL_LAMBDA_INLINE { return value; });
    walk::template fold<Rows>(
        log_sum, V{},
        [&](std::size_t r) UMBEL_LAMBDA_INLINE {
          return [row = from + r * S.width, highest = maximum[r]](std::size_t e, std::size_t count,
                                                                  V sum) UMBEL_LAMBDA_INLINE {
            V value = walk::load(row + e, count) - highest;
            // Lanes past the row may be far above 0, where the exponential would overflow.
            if (count != walk::lanes) value = simd::select(simd::less(V{}, value), V{}, value);
            value = simd::exp_not_positive(value);
            return sum + (count != walk::lanes ? simd::keep_first(value, count) : value);
          };
        },
        walk::add, [](V sum) UMBEL_LAMBDA_INLINE { return plain::log_of_sum(sum); });
    for (std::size_t r = 0; r < Rows; ++r) {
      const V highest = maximum[r], below = log_sum[r];
      walk::each([&](std::size_t e, std::size_t count, std::size_t) UMBEL_LAMBDA_INLINE {
        const std::size_t at = r * S.width + e;
        walk::store(to + at, walk::load(from + at, count) - highest - below, count);
      });
    }
  });
}

// `count` rows side by side, at most the lanes; a row's elements are `inner` apart.
template <softmax_shape S, class Walk, class T>
UMBEL_INLINE void log_softmax_across(const T* x, T* y, std::size_t count) noexcept {
  using V = typename Walk::V;
  constexpr std::size_t chains = Walk::chains;
  V maximum = simd::broadcast<V>(simd::math_constants<T>::lowest), sums[chains]{};
  for (std::size_t i = 0; i < S.width; ++i)
    maximum = simd::raised(maximum, simd::load_first<V>(x + i * S.inner, count));
  for (std::size_t i = 0; i < S.width; ++i) {
    const V value = simd::load_first<V>(x + i * S.inner, count) - maximum;
    sums[i % chains] = sums[i % chains] + simd::exp_not_positive(value);
  }
  const V log_sum = plain::log_of_sum(simd::fold_packs(sums, Walk::add));
  for (std::size_t i = 0; i < S.width; ++i) {
    const V value = simd::load_first<V>(x + i * S.inner, count);
    simd::store_first(y + i * S.inner, value - maximum - log_sum, count);
  }
}

}  // namespace detail

// See plain::log_softmax. Never inlined: the caller's product could fuse into the subtraction.
template <softmax_shape S, class T, plan::target Target = plan::native_target>
UMBEL_NOINLINE void log_softmax(const T* x, T* y) noexcept {
  if constexpr (S.inner == 1) {
    detail::log_softmax_along<S, T, Target>(x, y);
  } else {
    using walk = detail::row_walk<S.width, T, Target>;
    for (std::size_t o = 0; o < S.outer; ++o) {
      const std::size_t at = o * S.width * S.inner;
      for (std::size_t i = 0; i < S.inner; i += walk::lanes) {
        const std::size_t rest = S.inner - i;
        detail::log_softmax_across<S, walk>(x + at + i, y + at + i,
                                            rest < walk::lanes ? rest : walk::lanes);
      }
    }
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
