// SPDX-License-Identifier: BSL-1.0
// Softmax along one axis of a matrix in memory, in SIMD: the bits of plain::softmax for any lanes.
// Rows of adjacent elements are in the lanes; otherwise neighboring rows are. y may be x. The
// softmax of attention (attend_block.hpp) is separate, since it never sees a whole row.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/float/positions.hpp>
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

// Rows of adjacent elements, a block at a time. Exponentials wait for each other more than for
// memory: along with those of a block, the next block's maxima are found and the previous block is
// divided by its sums.
template <softmax_shape S, class T, plan::target Target>
struct softmax_along {
  using walk = row_walk<S.width, T, Target>;
  using V = typename walk::V;
  // Rows in a block. Three blocks of x and y are in use at a time; the wider the rows, the fewer
  // the first-level cache holds. Measured (docs/speed.md) on Zen 5, and on Zen 4, which
  // Target.fetch_ahead identifies and which has two thirds of that cache.
  static constexpr std::size_t together = Target.fetch_ahead || S.width <= 64
                                              ? (walk::together < 8 ? walk::together : 8)
                                          : S.width < 512 ? 4
                                                          : 1;
  static constexpr std::size_t blocks = S.outer / together, rest = S.outer % together;
  using of_rows = typename walk::template of_rows<together>;

  static constexpr auto larger = [](auto a, auto b) { return simd::raised(b, a); };
  static constexpr T lowest = simd::math_constants<T>::lowest;

  UMBEL_INLINE static V larger_of(V highest, const T* from, std::size_t count) noexcept {
    V value = walk::load(from, count);
    if (count != walk::lanes) value = simd::keep_first(value, count, simd::broadcast<V>(lowest));
    return simd::raised(highest, value);
  }
  UMBEL_INLINE static void multiply(T* at, V factor, std::size_t count) noexcept {
    walk::store(at, walk::load(at, count) * factor, count);
  }

  template <std::size_t Rows>
  UMBEL_INLINE static void take_maxima(const T* x, of_rows& maximum) noexcept {
    walk::template fold<Rows>(
        maximum, simd::broadcast<V>(lowest),
        [&](std::size_t r) UMBEL_LAMBDA_INLINE {
          return [from = x + r * S.width](std::size_t e, std::size_t count, V highest)
                     UMBEL_LAMBDA_INLINE { return larger_of(highest, from + e, count); };
        },
        larger, [](V value) { return value; });
  }

  UMBEL_INLINE static void divide(T* y, const of_rows& inverse, std::size_t begin,
                                  std::size_t end) noexcept {
    for (std::size_t r = begin; r < end; ++r) {
      const V factor = inverse[r];
      walk::each([&](std::size_t e, std::size_t count, std::size_t)
                     UMBEL_LAMBDA_INLINE { multiply(y + r * S.width + e, factor, count); });
    }
  }

  // The exponentials of a block at x to y. maximum: its rows', then the NextRows after them.
  // inverse: the previous block's, if there is one to divide, then this block's.
  template <std::size_t Rows, std::size_t NextRows, bool HasBefore>
  UMBEL_INLINE static void exponentials(const T* x, T* y, of_rows& maximum,
                                        of_rows& inverse) noexcept {
    static constexpr std::size_t kinds = NextRows == 0 ? 1 : 2;
    const of_rows before = inverse;
    of_rows next_maximum;
    const auto row = [&](std::size_t r) UMBEL_LAMBDA_INLINE {
      const T* const from = x + r * S.width;
      // For a missing next row, the last one again.
      const T* const next = x + (Rows + (r < NextRows ? r : NextRows - 1)) * S.width;
      T* const to = y + r * S.width;
      const V highest = maximum[r], factor = before[r];
      return [=](std::size_t e, std::size_t count, V(&now)[kinds]) UMBEL_LAMBDA_INLINE {
        V value = walk::load(from + e, count) - highest;
        // Lanes past the row may be far above 0, where the exponential would overflow.
        if (count != walk::lanes) value = simd::select(simd::less(V{}, value), V{}, value);
        value = simd::exp_not_positive(value);
        if (count != walk::lanes) value = simd::keep_first(value, count);
        walk::store(to + e, value, count);
        now[0] = now[0] + value;
        if constexpr (kinds == 2) now[1] = larger_of(now[1], next + e, count);
        if constexpr (HasBefore) multiply(to - together * S.width + e, factor, count);
      };
    };
    const auto done = [&](std::size_t first, auto& all) UMBEL_LAMBDA_INLINE {
      const std::size_t at = first * walk::apart;
      simd::store(inverse.values + at, inverse_sum(simd::fold_rows(all[0], walk::add)));
      if constexpr (kinds == 2) {
        simd::store(next_maximum.values + at, simd::fold_rows(all[1], larger));
      }
    };
    if constexpr (kinds == 2) {
      walk::template chain<Rows>({V{}, simd::broadcast<V>(lowest)}, row, done);
      maximum = next_maximum;
    } else {
      walk::template chain<Rows>({V{}}, row, done);
    }
    if constexpr (HasBefore) divide(y - together * S.width, before, Rows, together);
  }

  UMBEL_INLINE static void all_rows(const T* x, T* y) noexcept {
    constexpr std::size_t block = together * S.width;
    of_rows maximum, inverse;
    if constexpr (S.outer <= together) {
      take_maxima<S.outer>(x, maximum);
      exponentials<S.outer, 0, false>(x, y, maximum, inverse);
      divide(y, inverse, 0, S.outer);
    } else {
      take_maxima<together>(x, maximum);
      exponentials<together, blocks == 1 ? rest : together, false>(x, y, maximum, inverse);
      for (std::size_t b = 1; b + 1 < blocks; ++b) {
        exponentials<together, together, true>(x + b * block, y + b * block, maximum, inverse);
      }
      constexpr std::size_t last = (blocks - 1) * block;
      if constexpr (blocks > 1) {
        exponentials<together, rest, true>(x + last, y + last, maximum, inverse);
      }
      if constexpr (rest != 0) {
        exponentials<rest, 0, true>(x + last + block, y + last + block, maximum, inverse);
      }
      divide(y + last + (rest != 0 ? block : 0), inverse, 0, rest != 0 ? rest : together);
    }
  }
};

// Rows side by side, up to four packs of them at a time.
template <softmax_shape S, class T, plan::target Target, class Range>
UMBEL_INLINE void softmax_across(const T* x, T* y, Range range) noexcept {
  using chain = row_walk<S.width, T, Target>;
  using walk = positions<S, T, chain::lanes>;
  using V = typename walk::V;
  walk::template in_blocks<UMBEL_SMALL_CODE ? 1 : 4>(
      [&]<std::size_t Packs>(std::size_t begin, std::size_t count,
                             std::size_t) UMBEL_LAMBDA_INLINE {
        V maximum[Packs], sums[Packs][chain::chains]{}, inverse[Packs];
        for (V& highest : maximum) highest = simd::broadcast<V>(simd::math_constants<T>::lowest);
        walk::template each<Packs, false, false>(
            x + begin, static_cast<T*>(nullptr), count,
            [&](V value, std::size_t p) UMBEL_LAMBDA_INLINE {
              maximum[p] = simd::raised(maximum[p], value);
              return value;
            },
            range);
        std::size_t i = 0;
        walk::template each<Packs, true, false>(
            x + begin, y + begin, count,
            [&](V value, std::size_t p) UMBEL_LAMBDA_INLINE {
              value = simd::exp_not_positive(value - maximum[p]);
              V& sum = sums[p][i % chain::chains];
              sum = sum + value;
              if (p + 1 == Packs) ++i;
              return value;
            },
            range);
        for (std::size_t p = 0; p < Packs; ++p)
          inverse[p] = inverse_sum(simd::fold_packs(sums[p], chain::add));
        walk::template each<Packs, true, false>(
            y + begin, y + begin, count,
            [&](V value, std::size_t p) UMBEL_LAMBDA_INLINE { return value * inverse[p]; }, range);
      });
}

}  // namespace detail

// See plain::softmax. Some positions only if rows are adjacent, from a multiple of 16 on.
// Never inlined: a product that the caller just stored in x could be fused into the subtraction.
template <softmax_shape S, class T, plan::target Target = plan::native_target,
          class Range = every_position<S.width>>
UMBEL_NOINLINE void softmax(const T* x, T* y, Range range = {}) noexcept {
  if constexpr (S.inner == 1) {
    static_assert(std::is_same_v<Range, every_position<S.width>>);
    detail::softmax_along<S, T, Target>::all_rows(x, y);
  } else {
    detail::softmax_across<S, T, Target>(x, y, range);
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
