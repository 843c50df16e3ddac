// SPDX-License-Identifier: BSL-1.0
// The positions of an axis in turn, with a row of them in each lane. Rows of adjacent
// elements are transposed in registers.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>
#include <umbel/simd/transpose.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// Element p of a row is at p * S.inner; rows are S.width elements apart if S.inner is 1, adjacent
// otherwise.
template <softmax_shape S, class T, std::size_t Lanes>
struct positions {
  static constexpr std::size_t lanes = Lanes;
  using V = simd::pack<T, lanes>;
  static constexpr bool transposes = S.inner == 1 && lanes != 1;
  static constexpr std::size_t whole = transposes ? S.width / lanes * lanes : 0;

  // f(begin, count, row): up to `lanes` rows from x + begin on, whose results are row, row + 1 ...
  template <class F>
  UMBEL_INLINE static void in_blocks(const F& f) noexcept {
    constexpr std::size_t rows = S.inner == 1 ? S.outer : S.inner;
    constexpr std::size_t step = S.inner == 1 ? S.width : 1;
    constexpr std::size_t groups = S.inner == 1 ? 1 : S.outer;
    for (std::size_t o = 0; o < groups; ++o)
      for (std::size_t r = 0; r < rows; r += lanes)
        f(o * S.width * S.inner + r * step, rows - r < lanes ? rows - r : lanes, o * rows + r);
  }

  // f(values): of all positions of `count` rows in turn, the last first if Reversed. y: the
  // results of f, if Writes; y may be x.
  template <bool Writes, bool Reversed, class F>
  UMBEL_INLINE static void each(const T* x, T* y, std::size_t count, F f) noexcept {
    if constexpr (!transposes) {
      for (std::size_t i = 0; i < S.width; ++i) {
        const std::size_t at = (Reversed ? S.width - 1 - i : i) * S.inner;
        const V value = f(simd::load_up_to<V>(x + at, count));
        if constexpr (Writes) simd::store_up_to(y + at, value, count);
      }
    } else {
      if constexpr (Reversed) rest<Writes, Reversed>(x, y, count, f);
      for (std::size_t i = 0; i < whole; i += lanes) {
        const std::size_t at = Reversed ? whole - lanes - i : i;
        V square[lanes];
        UMBEL_UNROLL(16)
        for (std::size_t r = 0; r < lanes; ++r)
          square[r] = r < count ? simd::load<V>(x + r * S.width + at) : V{};
        simd::transpose(square);
        UMBEL_UNROLL(16)
        for (std::size_t p = 0; p < lanes; ++p) {
          V& values = square[Reversed ? lanes - 1 - p : p];
          values = f(values);
        }
        if constexpr (Writes) {
          simd::transpose(square);
          UMBEL_UNROLL(16)
          for (std::size_t r = 0; r < lanes; ++r)
            if (r < count) simd::store(y + r * S.width + at, square[r]);
        }
      }
      if constexpr (!Reversed) rest<Writes, Reversed>(x, y, count, f);
    }
  }

 private:
  template <bool Writes, bool Reversed, class F>
  UMBEL_INLINE static void rest(const T* x, T* y, std::size_t count, F& f) noexcept {
    for (std::size_t i = whole; i < S.width; ++i) {
      const std::size_t at = Reversed ? S.width - 1 - (i - whole) : i;
      T values[lanes]{};
      for (std::size_t r = 0; r < count; ++r) values[r] = x[r * S.width + at];
      const V value = f(simd::load<V>(values));
      if constexpr (Writes) {
        simd::store(values, value);
        for (std::size_t r = 0; r < count; ++r) y[r * S.width + at] = values[r];
      }
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
