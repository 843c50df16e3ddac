// SPDX-License-Identifier: BSL-1.0
// 8-bit integer linear maps on cores without vectors: four rows by one output at a time, or a row
// by an output. plain/integers.hpp defines the bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/panels.hpp>
#include <umbel/kernel/plain/integers.hpp>
#include <umbel/simd/four_rows.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::scalar {

// The most inputs of four rows side by side, 1 kB of stack; and the outputs that wait for the
// others.
inline constexpr std::size_t inputs_at_once = 64, outputs_at_once = 16;

// in: of a row. `rows`: 1 to 4; the first replaces missing ones.
UMBEL_ONE_COPY void put_rows(std::int32_t* to, const std::int8_t* x, std::size_t row,
                             std::size_t rows, std::size_t in) noexcept {
  for (std::size_t r = 0; r < 4; ++r, ++to) {
    const std::int8_t* from = r < rows ? x + r * row : x;
    std::int32_t* at = to;
    std::size_t i = 0;
    for (; i + 4 <= in; i += 4, at += simd::four_rows_word) simd::put_word(at, from + i, 4);
    if (i < in) simd::put_word(at, from + i, in - i);
  }
}

template <class Map, class Finish>
struct finishing {
  const Map& map;
  const Finish& finish;
  int before;
  plain::rounding after;

  UMBEL_INLINE finishing(const Map& of, const Finish& f) noexcept
      : map(of), finish(f), before(of.before), after(of.after) {}
  template <class T>
  UMBEL_INLINE void one(T& y, std::int32_t sum, std::int32_t multiplier) const noexcept {
    finish(y, after((sum >> before) * multiplier));
  }
  // y: the first of `rows` rows, which are `row` apart.
  template <class T>
  UMBEL_INLINE void four(T* y, std::size_t row, std::size_t rows, const simd::of_four_rows& sums,
                         std::int32_t multiplier) const noexcept {
#if UMBEL_FEW_REGISTERS  // for small code
    const std::int32_t of_rows[] = {sums.first, sums.second, sums.third, sums.fourth};
    for (std::size_t r = 0; r < rows; ++r, y += row) one(*y, of_rows[r], multiplier);
#else
    one(y[0], sums.first, multiplier);
    if (rows > 1) one(y[row], sums.second, multiplier);
    if (rows > 2) one(y[2 * row], sums.third, multiplier);
    if (rows > 3) one(y[3 * row], sums.fourth, multiplier);
#endif
  }
};

template <integer_linear_shape S, class T, class Finish>
void integer_linear(const integer_panels<S.in, S.out>& map, const std::int8_t* x, T* y,
                    const Finish& finish) noexcept {
  using panels = integer_panels<S.in, S.out>;
  const finishing<panels, Finish> finished(map, finish);
  if constexpr (S.rows >= 3) {
    constexpr std::size_t width = panels::words * 4;
    constexpr bool at_once = width <= inputs_at_once;
    constexpr std::size_t block = at_once ? S.out : outputs_at_once;
    std::int32_t rows[(at_once ? width : inputs_at_once) / 4 * simd::four_rows_word];
    for (std::size_t r = 0; r < S.rows; r += 4, x += 4 * S.x_row, y += 4 * S.y_row) {
      const std::size_t count = S.rows - r < 4 ? S.rows - r : 4;
      if constexpr (at_once) {
        put_rows(rows, x, S.x_row, count, S.in);
        for (std::size_t o = 0; o < S.out; ++o) {
          finished.four(
              y + o * S.y_step, S.y_row, count,
              simd::by_column(rows, map.weights + o * width, panels::words, map.starts[o]),
              map.multiplier[o]);
        }
      } else {
        for (std::size_t first = 0; first < S.out; first += block) {
          const std::size_t outputs = S.out - first < block ? S.out - first : block;
          simd::of_four_rows sums[block];
          for (std::size_t o = 0; o < outputs; ++o) {
            const std::int32_t start = map.starts[first + o];
            sums[o] = {start, start, start, start};
          }
          for (std::size_t i = 0; i < S.in; i += inputs_at_once) {
            const std::size_t in = S.in - i < inputs_at_once ? S.in - i : inputs_at_once;
            put_rows(rows, x + i, S.x_row, count, in);
            for (std::size_t o = 0; o < outputs; ++o)
              sums[o] = simd::by_column(rows, map.weights + (first + o) * width + i, (in + 3) / 4,
                                        sums[o]);
          }
          for (std::size_t o = 0; o < outputs; ++o)
            finished.four(y + (first + o) * S.y_step, S.y_row, count, sums[o],
                          map.multiplier[first + o]);
        }
      }
    }
  } else {
    for (std::size_t r = 0; r < S.rows; ++r, x += S.x_row, y += S.y_row) {
      for (std::size_t o = 0; o < S.out; ++o) {
        const std::int8_t* const column = map.weights + o * panels::words * 4;
        std::int32_t sum = map.starts[o];
        UMBEL_UNROLL(4)
        for (std::size_t i = 0; i < S.in; ++i) sum += x[i] * std::int32_t{column[i]};
        finished.one(y[o * S.y_step], sum, map.multiplier[o]);
      }
    }
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::scalar
UMBEL_WARNINGS_POP
