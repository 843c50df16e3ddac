// SPDX-License-Identifier: BSL-1.0
// Layer and RMS normalization in SIMD, with the bits of the plain ones. y may be x.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/float/row_walk.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/target.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// See plain::layer_norm. gamma and, if S.beta, beta have S.width elements. Never inlined: a product
// that the caller just stored in x could be fused into the sums.
template <norm_shape S, class T, plan::target Target = plan::native_target>
UMBEL_NOINLINE void layer_norm(const T* x, const T* gamma, const T* beta, T epsilon,
                               T* y) noexcept {
  using walk = detail::row_walk<S.width, T, Target>;
  using V = typename walk::V;
  walk::template in_blocks<S.rows>([&]<std::size_t Rows>(std::size_t first) UMBEL_LAMBDA_INLINE {
    typename walk::template of_rows<Rows> mean, inverse;
    const V width = simd::broadcast<V>(static_cast<T>(S.width));
    walk::template fold<Rows>(
        mean, V{},
        [&](std::size_t r) UMBEL_LAMBDA_INLINE {
          const T* const row = x + (first + r) * S.x_row;
          // A chain is never -0 (it starts at +0), so the +0 of lanes past the row changes nothing.
          return [=](std::size_t e, std::size_t count, V sum)
                     UMBEL_LAMBDA_INLINE { return sum + walk::load(row + e, count); };
        },
        walk::add, [=](V sum) { return sum / width; });
    walk::template fold<Rows>(
        inverse, V{},
        [&](std::size_t r) UMBEL_LAMBDA_INLINE {
          const T* const row = x + (first + r) * S.x_row;
          return [=, center = mean[r]](std::size_t e, std::size_t count, V sum)
                     UMBEL_LAMBDA_INLINE {
                       V difference = walk::load(row + e, count) - center;
                       if (count != walk::lanes) difference = simd::keep_first(difference, count);
                       return simd::fma(difference, difference, sum);
                     };
        },
        walk::add, [=](V sum) { return simd::rsqrt(sum / width + simd::broadcast<V>(epsilon)); });
    for (std::size_t r = 0; r < Rows; ++r) {
      const V center = mean[r], factor = inverse[r];
      walk::each([&](std::size_t e, std::size_t count, std::size_t) UMBEL_LAMBDA_INLINE {
        const V value = (walk::load(x + (first + r) * S.x_row + e, count) - center) * factor;
        V shift{};
        if constexpr (S.beta) shift = walk::load(beta + e, count);
        walk::store(y + (first + r) * S.y_row + e,
                    simd::fma(value, walk::load(gamma + e, count), shift), count);
      });
    }
  });
}

// See plain::rms_norm. gamma has S.width elements. Never inlined: as layer_norm, and its products
// could be fused into the caller's sums.
template <norm_shape S, class T, plan::target Target = plan::native_target>
UMBEL_NOINLINE void rms_norm(const T* x, const T* gamma, T epsilon, T* y) noexcept {
  using walk = detail::row_walk<S.width, T, Target>;
  using V = typename walk::V;
  walk::template in_blocks<S.rows>([&]<std::size_t Rows>(std::size_t first) UMBEL_LAMBDA_INLINE {
    typename walk::template of_rows<Rows> inverse;
    const V width = simd::broadcast<V>(static_cast<T>(S.width));
    walk::template fold<Rows>(
        inverse, V{},
        [&](std::size_t r) UMBEL_LAMBDA_INLINE {
          const T* const row = x + (first + r) * S.x_row;
          return [=](std::size_t e, std::size_t count, V sum) UMBEL_LAMBDA_INLINE {
            const V value = walk::load(row + e, count);
            return simd::fma(value, value, sum);
          };
        },
        walk::add, [=](V sum) { return simd::rsqrt(sum / width + simd::broadcast<V>(epsilon)); });
    for (std::size_t r = 0; r < Rows; ++r) {
      const V factor = inverse[r];
      walk::each([&](std::size_t e, std::size_t count, std::size_t) UMBEL_LAMBDA_INLINE {
        const V value = walk::load(x + (first + r) * S.x_row + e, count) * factor;
        walk::store(y + (first + r) * S.y_row + e, value * walk::load(gamma + e, count), count);
      });
    }
  });
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
