// SPDX-License-Identifier: BSL-1.0
// The positions of an axis in turn, with a row of them in each lane. Rows of adjacent
// elements are transposed in registers.
#pragma once

#include <cstddef>
#include <type_traits>
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

  static constexpr std::size_t rows = S.inner == 1 ? S.outer : S.inner;
  static constexpr std::size_t row_step = S.inner == 1 ? S.width : 1;

  // f.operator()<Count>(begin, count, row): Count packs of rows from x + begin on, whose results
  // are row, row + 1 ... The last one alone has fewer than `lanes` rows. Most: of packs, a power of
  // 2, so that additions of different packs overlap.
  template <std::size_t Most, class F>
  UMBEL_INLINE static void in_blocks(const F& f) noexcept {
    for (std::size_t o = 0; o < (S.inner == 1 ? 1 : S.outer); ++o) from_row<Most>(f, o, 0);
  }

  // f(values, i): of all positions of the rows of pack i in turn, the last first if Reversed. y:
  // the results of f, if Writes; y may be x. Some positions only if rows are adjacent.
  template <std::size_t Packs, bool Writes, bool Reversed, class F,
            class Range = every_position<S.width>>
  UMBEL_INLINE static void each(const T* x, T* y, std::size_t count, F f,
                                Range range = {}) noexcept {
    static_assert(!transposes || std::is_same_v<Range, every_position<S.width>>);
    constexpr std::size_t apart = lanes * row_step;
    if constexpr (!transposes) {
      for (std::size_t i = range.begin; i < range.end; ++i) {
        UMBEL_UNROLL(4)
        for (std::size_t p = 0; p < Packs; ++p) {
          const std::size_t at =
              (Reversed ? range.begin + range.end - 1 - i : i) * S.inner + p * apart;
          const V value = f(simd::load_up_to<V>(x + at, Packs == 1 ? count : lanes), p);
          if constexpr (Writes) simd::store_up_to(y + at, value, Packs == 1 ? count : lanes);
        }
      }
    } else {
      if constexpr (Reversed) rest<Packs, Writes, Reversed>(x, y, count, f);
      for (std::size_t i = 0; i < whole; i += lanes)
        for (std::size_t p = 0; p < Packs; ++p) {
          const std::size_t at = p * apart + (Reversed ? whole - lanes - i : i);
          V square[lanes];
          UMBEL_UNROLL(16)
          for (std::size_t r = 0; r < lanes; ++r)
            square[r] = Packs != 1 || r < count ? simd::load<V>(x + r * S.width + at) : V{};
          simd::transpose(square);
          UMBEL_UNROLL(16)
          for (std::size_t e = 0; e < lanes; ++e) {
            V& values = square[Reversed ? lanes - 1 - e : e];
            values = f(values, p);
          }
          if constexpr (Writes) {
            simd::transpose(square);
            UMBEL_UNROLL(16)
            for (std::size_t r = 0; r < lanes; ++r)
              if (Packs != 1 || r < count) simd::store(y + r * S.width + at, square[r]);
          }
        }
      if constexpr (!Reversed) rest<Packs, Writes, Reversed>(x, y, count, f);
    }
  }

 private:
  template <std::size_t Packs, class F>
  UMBEL_INLINE static void from_row(const F& f, std::size_t o, std::size_t r) noexcept {
    for (; r + (Packs == 1 ? 1 : Packs * lanes) <= rows; r += Packs * lanes)
      f.template operator()<Packs>(o * S.width * S.inner + r * row_step,
                                   rows - r < lanes ? rows - r : lanes, o * rows + r);
    if constexpr (Packs != 1) from_row<Packs / 2>(f, o, r);
  }
  template <std::size_t Packs, bool Writes, bool Reversed, class F>
  UMBEL_INLINE static void rest(const T* x, T* y, std::size_t count, F& f) noexcept {
    for (std::size_t p = 0; p < Packs; ++p)
      for (std::size_t i = whole; i < S.width; ++i) {
        const std::size_t at = p * lanes * S.width + (Reversed ? S.width - 1 - (i - whole) : i);
        T values[lanes]{};
        for (std::size_t r = 0; r < count; ++r) values[r] = x[r * S.width + at];
        const V value = f(simd::load<V>(values), p);
        if constexpr (Writes) {
          simd::store(values, value);
          for (std::size_t r = 0; r < count; ++r) y[r * S.width + at] = values[r];
        }
      }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
