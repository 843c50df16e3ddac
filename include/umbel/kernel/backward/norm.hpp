// SPDX-License-Identifier: BSL-1.0
// The gradients of layer and RMS normalization, in readable loops, which define them, and in SIMD
// with the same bits. Means and deviations of the rows are recomputed from x, in the order of the
// forward pass: that costs less than reading them.
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

// With h = (x - mean) inverse, the normalized row (for RMS, centered is false and h = x inverse),
// and g = dy gamma:
//
//   dx = inverse (g - mean of g - h mean of g h)      without the mean of g for RMS
//   dgamma += sum of dy h;   dbeta += sum of dy
//
// Means along a row use the 16 chains of every row sum; sums over rows are one chain each, in row
// order, from 0, added at the end. dbeta: only if there is a beta.
template <norm_shape S, bool Centered, class T>
struct norm_gradients {
  const T *x, *gamma;
  T epsilon;
  const T* dy;
  T *dx, *dgamma, *dbeta;  // dgamma and dbeta may be null if not wanted
};

namespace plain {

template <norm_shape S, bool Centered, class T>
constexpr void norm_backward(const norm_gradients<S, Centered, T>& of, T* sums) noexcept {
  const T width = static_cast<T>(S.width);
  for (std::size_t e = 0; e < 2 * S.width; ++e) sums[e] = T{};
  for (std::size_t m = 0; m < S.rows; ++m) {
    const T *row = of.x + m * S.x_row, *d = of.dy + m * S.y_row;
    T chain[sum_chains]{};
    T mean{};
    if (Centered) {
      for (std::size_t e = 0; e < S.width; ++e)
        chain[e % sum_chains] = chain[e % sum_chains] + row[e];
      mean = fold_chains(chain) / width;
      for (T& c : chain) c = T{};
    }
    for (std::size_t e = 0; e < S.width; ++e) {
      const T difference = Centered ? row[e] - mean : row[e];
      chain[e % sum_chains] = simd::fma(difference, difference, chain[e % sum_chains]);
    }
    const T inverse = simd::rsqrt(fold_chains(chain) / width + of.epsilon);
    T along[sum_chains]{};
    for (T& c : chain) c = T{};
    for (std::size_t e = 0; e < S.width; ++e) {
      const T h = (Centered ? row[e] - mean : row[e]) * inverse;
      const T g = simd::fma(d[e], of.gamma[e], -T{});
      chain[e % sum_chains] = chain[e % sum_chains] + g;
      along[e % sum_chains] = simd::fma(g, h, along[e % sum_chains]);
    }
    const T center = Centered ? fold_chains(chain) / width : T{};
    const T slope = fold_chains(along) / width;
    for (std::size_t e = 0; e < S.width; ++e) {
      const T h = (Centered ? row[e] - mean : row[e]) * inverse;
      sums[e] = simd::fma(d[e], h, sums[e]);
      sums[S.width + e] = sums[S.width + e] + d[e];
      of.dx[m * S.x_row + e] =
          inverse * simd::fma(-h, slope, simd::fma(d[e], of.gamma[e], -center));
    }
  }
  for (std::size_t e = 0; e < S.width; ++e) {
    if (of.dgamma != nullptr) of.dgamma[e] = of.dgamma[e] + sums[e];
    if (of.dbeta != nullptr) of.dbeta[e] = of.dbeta[e] + sums[S.width + e];
  }
}

}  // namespace plain

// See plain::norm_backward. sums: scratch of 2 S.width elements.
template <norm_shape S, bool Centered, class T, plan::target Target = plan::native_target>
UMBEL_NOINLINE void norm_backward(const norm_gradients<S, Centered, T>& of, T* sums) noexcept {
  using walk = detail::row_walk<S.width, T, Target>;
  using V = typename walk::V;
  for (std::size_t e = 0; e < 2 * S.width; ++e) sums[e] = T{};
  const V width = simd::broadcast<V>(static_cast<T>(S.width));
  const auto known = of;  // so that stores can't alias it
  walk::template in_blocks<S.rows>([&]<std::size_t Rows>(std::size_t first) UMBEL_LAMBDA_INLINE {
    typename walk::template of_rows<Rows> mean, inverse, center, slope;
    const auto row = [&](std::size_t r)
                         UMBEL_LAMBDA_INLINE { return known.x + (first + r) * S.x_row; };
    const auto d_row = [&](std::size_t r)
                           UMBEL_LAMBDA_INLINE { return known.dy + (first + r) * S.y_row; };
    if constexpr (Centered)
      walk::template fold<Rows>(
          mean, V{},
          [&](std::size_t r) UMBEL_LAMBDA_INLINE {
            return [from = row(r)](std::size_t e, std::size_t count, V sum)
                       UMBEL_LAMBDA_INLINE { return sum + walk::load(from + e, count); };
          },
          walk::add, [=](V sum) { return sum / width; });
    const auto difference = [](const T* from, V mean_of_row, std::size_t e,
                               std::size_t count) UMBEL_LAMBDA_INLINE {
      const V value = walk::load(from + e, count);
      if constexpr (!Centered) return value;
      const V apart = value - mean_of_row;
      return count == walk::lanes ? apart : simd::keep_first(apart, count);
    };
    walk::template fold<Rows>(
        inverse, V{},
        [&](std::size_t r) UMBEL_LAMBDA_INLINE {
          return [&, from = row(r), of_row = mean[r]](std::size_t e, std::size_t count, V sum)
                     UMBEL_LAMBDA_INLINE {
                       const V apart = difference(from, of_row, e, count);
                       return simd::fma(apart, apart, sum);
                     };
        },
        walk::add,
        [=](V sum) { return simd::rsqrt(sum / width + simd::broadcast<V>(known.epsilon)); });
    const V zeros[2]{};
    walk::template chain<Rows>(
        zeros,
        [&](std::size_t r) UMBEL_LAMBDA_INLINE {
          return [&, from = row(r), d = d_row(r), of_row = mean[r], factor = inverse[r]](
                     std::size_t e, std::size_t count, V(&now)[2]) UMBEL_LAMBDA_INLINE {
            const V h = difference(from, of_row, e, count) * factor;
            const V g = simd::fma(walk::load(d + e, count), walk::load(known.gamma + e, count),
                                  simd::broadcast<V>(-T{}));
            now[0] = now[0] + g;
            now[1] = simd::fma(g, h, now[1]);
          };
        },
        [&](std::size_t at, auto& all) UMBEL_LAMBDA_INLINE {
          simd::store(center.values + at * walk::apart, simd::fold_rows(all[0], walk::add) / width);
          simd::store(slope.values + at * walk::apart, simd::fold_rows(all[1], walk::add) / width);
        });
    for (std::size_t r = 0; r < Rows; ++r) {
      const V of_row = mean[r], factor = inverse[r], along = slope[r];
      const V minus = Centered ? -center[r] : simd::broadcast<V>(-T{});
      walk::each([&](std::size_t e, std::size_t count, std::size_t) UMBEL_LAMBDA_INLINE {
        const V h = difference(row(r), of_row, e, count) * factor;
        const V d = walk::load(d_row(r) + e, count);
        walk::store(sums + e, simd::fma(d, h, walk::load(sums + e, count)), count);
        walk::store(sums + S.width + e, walk::load(sums + S.width + e, count) + d, count);
        const V inside =
            simd::fma(-h, along, simd::fma(d, walk::load(known.gamma + e, count), minus));
        walk::store(known.dx + (first + r) * S.x_row + e, factor * inside, count);
      });
    }
  });
  for (std::size_t e = 0; known.dgamma != nullptr && e < S.width; ++e)
    known.dgamma[e] = known.dgamma[e] + sums[e];
  for (std::size_t e = 0; known.dbeta != nullptr && e < S.width; ++e)
    known.dbeta[e] = known.dbeta[e] + sums[S.width + e];
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
