// SPDX-License-Identifier: BSL-1.0
// Softmax along one axis of a matrix in memory, in SIMD: the bits of plain::softmax whatever the lanes.
// Rows whose elements are adjacent lie in the lanes; others have their neighbours in the lanes. y may be
// x. Not here: the softmax of attention (attend_block.hpp), which never sees a whole row.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/plain.hpp>
#include <umbel/kernel/row_walk.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/target.hpp>
#include <umbel/simd/fold.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/pack.hpp>

namespace umbel::kernel {

namespace detail {

// Rows of adjacent elements.
template <softmax_shape S, class T, plan::target Target>
UMBEL_INLINE void softmax_along(const T* x, T* y) noexcept {
  using walk = row_walk<S.width, T, Target>;
  using V = typename walk::V;
  // The next rows are fetched into the first cache where they have not been there.
  constexpr bool far = S.outer * S.width * sizeof(T) > 24576;
  walk::template in_blocks<S.outer>([&]<std::size_t Rows>(std::size_t first) UMBEL_LAMBDA_INLINE {
    typename walk::template of_rows<Rows> maximum, inverse;
    const V lowest = simd::broadcast<V>(simd::math_constants<T>::lowest);
    walk::fold(
        maximum, lowest,
        [&](std::size_t r) UMBEL_LAMBDA_INLINE {
          const T* const row = x + (first + r) * S.width;
          return [=](std::size_t e, std::size_t count, V highest) UMBEL_LAMBDA_INLINE {
            V value = walk::load(row + e, count);
            if (count != walk::lanes) value = simd::keep_first(value, count, lowest);
            return simd::max(value, highest);
          };
        },
        [](auto a, auto b) { return simd::max(a, b); }, [](V value) { return value; });
    walk::fold(
        inverse, V{},
        [&](std::size_t r) UMBEL_LAMBDA_INLINE {
          const T* const row = x + (first + r) * S.width;
          T* const to = y + (first + r) * S.width;
          const bool has_next = first + r + walk::together < S.outer;
          const T* const next = has_next ? row + walk::together * S.width : row;
          return [=, highest = maximum[r]](std::size_t e, std::size_t count, V sum)
                     UMBEL_LAMBDA_INLINE {
                       if constexpr (far) __builtin_prefetch(next + e);
                       V value = simd::exp_not_positive(walk::load(row + e, count) - highest);
                       if (count != walk::lanes) value = simd::keep_first(value, count);
                       walk::store(to + e, value, count);
                       return sum + value;
                     };
        },
        walk::add, [](V sum) { return inverse_sum(sum); });
    for (std::size_t r = 0; r < Rows; ++r) {
      const V factor = inverse[r];
      walk::each([&](std::size_t e, std::size_t count, std::size_t) UMBEL_LAMBDA_INLINE {
        T* const to = y + (first + r) * S.width + e;
        walk::store(to, walk::load(to, count) * factor, count);
      });
    }
  });
}

// `count` rows side by side, at most the lanes; their elements are `inner` apart.
template <softmax_shape S, class Walk, class T>
UMBEL_INLINE void softmax_across(const T* x, T* y, std::size_t count) noexcept {
  using V = typename Walk::V;
  constexpr std::size_t chains = Walk::chains;
  V maximum = simd::broadcast<V>(simd::math_constants<T>::lowest), sums[chains]{};
  for (std::size_t i = 0; i < S.width; ++i)
    maximum = simd::max(simd::load_first<V>(x + i * S.inner, count), maximum);
  for (std::size_t i = 0; i < S.width; ++i) {
    const V value = simd::exp_not_positive(simd::load_first<V>(x + i * S.inner, count) - maximum);
    simd::store_first(y + i * S.inner, value, count);
    sums[i % chains] = sums[i % chains] + value;
  }
  const V inverse = inverse_sum(simd::fold_packs(sums, Walk::add));
  for (std::size_t i = 0; i < S.width; ++i) {
    T* const to = y + i * S.inner;
    simd::store_first(to, simd::load_first<V>(to, count) * inverse, count);
  }
}

}  // namespace detail

// See plain::softmax. Never inlined: a product that the caller had just stored in x could be fused into
// the subtraction.
template <softmax_shape S, class T, plan::target Target = plan::native_target>
UMBEL_NOINLINE void softmax(const T* x, T* y) noexcept {
  if constexpr (S.inner == 1) {
    detail::softmax_along<S, T, Target>(x, y);
  } else {
    using walk = detail::row_walk<S.width, T, Target>;
    constexpr std::size_t lanes = walk::lanes;
    for (std::size_t o = 0; o < S.outer; ++o) {
      const std::size_t at = o * S.width * S.inner;
      for (std::size_t i = 0; i < S.inner; i += lanes) {
        const std::size_t rest = S.inner - i;
        detail::softmax_across<S, walk>(x + at + i, y + at + i, rest < lanes ? rest : lanes);
      }
    }
  }
}

}  // namespace umbel::kernel
