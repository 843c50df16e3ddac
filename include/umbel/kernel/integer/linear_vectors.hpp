// SPDX-License-Identifier: BSL-1.0
// 8-bit integer linear maps with outputs in the lanes: tiles of rows by vectors of a panel stay in
// registers for all inputs. Rows of x are prepared (simd/dot.hpp) on the stack, some at a time;
// nothing is read past a row of partial words. The same bits as plain::integer_linear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/finish.hpp>
#include <umbel/kernel/integer/panels.hpp>
#include <umbel/simd/dot.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

#if UMBEL_DOT_VECTORS

// The walk over a map. Map: its integer_panels.
template <integer_linear_shape S, class Map>
struct integer_linear_plan {
  static constexpr std::size_t vectors = Map::wide / simd::dot_lanes;
  // Rows of a tile: registers hold its sums, one word's weights and an operand of x.
  static constexpr std::size_t rows_of_tile = [] {
    constexpr std::size_t operand = simd::dot_apart ? 4 : simd::dot_by_pairs ? 2 : 1;
    constexpr std::size_t left =
        UMBEL_VECTOR_REGISTERS - operand * (vectors + 1) - (operand > 1 ? 0 : 2);
    constexpr std::size_t most = left / vectors < 8 ? left / vectors : 8;
    return S.rows < most ? S.rows : most;
  }();
  // Words of prepared rows on the stack, 4 to 8 kB.
  static constexpr std::size_t room = 8192 / sizeof(simd::dot_word);
  static constexpr std::size_t most_words = room / rows_of_tile;
  static constexpr std::size_t chunk = Map::words < most_words ? Map::words : most_words;
  static constexpr bool in_one = chunk == Map::words;
  static constexpr std::size_t rows_prepared = [] {
    const std::size_t most = in_one ? room / chunk / rows_of_tile * rows_of_tile : rows_of_tile;
    return S.rows < most ? S.rows : most;
  }();
};

// sums += rows of x by `count` words of each output's weights.
template <std::size_t Rows, std::size_t Vectors>
UMBEL_INLINE void add_integer_products(simd::dot_words (&sums)[Rows][Vectors],
                                       const simd::dot_word* x, std::size_t x_row,
                                       const std::int8_t* weights, std::size_t count) noexcept {
  for (std::size_t k = 0; k < count; ++k) {
    simd::dot_vector w[Vectors];
    UMBEL_UNROLL(4)
    for (std::size_t v = 0; v < Vectors; ++v)
      w[v] =
          simd::dot_operand(simd::load_words(weights + (k * Vectors + v) * (4 * simd::dot_lanes)));
    UMBEL_UNROLL(8)
    for (std::size_t r = 0; r < Rows; ++r) {
      const simd::dot_vector a = simd::dot_spread(x + r * x_row + k);
      UMBEL_UNROLL(4)
      for (std::size_t v = 0; v < Vectors; ++v) sums[r][v] = simd::dot(sums[r][v], a, w[v]);
    }
  }
}

// Rows of one panel. x: unprepared rows; prepared: room to keep prepared ones.
template <integer_linear_shape S, std::size_t Rows, class Map, class T, class Finish>
UMBEL_INLINE void integer_linear_tile(const Map& map, std::size_t panel, const std::int8_t* x,
                                      simd::dot_word* prepared, T* y,
                                      const Finish& finish) noexcept {
  using plan = integer_linear_plan<S, Map>;
  using words = simd::dot_words;
  constexpr std::size_t lanes = simd::dot_lanes, vectors = plan::vectors;
  const std::int8_t* const weights = map.weights + panel * (Map::words * Map::wide * 4);
  words sums[Rows][vectors];
  UMBEL_UNROLL(8)
  for (std::size_t r = 0; r < Rows; ++r) {
    UMBEL_UNROLL(4)
    for (std::size_t v = 0; v < vectors; ++v)
      sums[r][v] = simd::load_words(map.starts + panel * Map::wide + v * lanes);
  }
  if constexpr (plan::in_one) {
    add_integer_products(sums, prepared, plan::chunk, weights, Map::words);
  } else {
    for (std::size_t k = 0; k < Map::words; k += plan::chunk) {
      const std::size_t inputs = S.in - 4 * k, some = Map::words - k;
      for (std::size_t r = 0; r < Rows; ++r)
        simd::dot_prepare(x + r * S.x_row + 4 * k,
                          inputs < 4 * plan::chunk ? inputs : 4 * plan::chunk,
                          prepared + r * plan::chunk);
      add_integer_products(sums, prepared, plan::chunk, weights + k * (Map::wide * 4),
                           some < plan::chunk ? some : plan::chunk);
    }
  }
  const int before = map.before, after = map.after;
  const std::int32_t half = after == 0 ? 0 : std::int32_t{1} << (after - 1);
  const std::size_t first = panel * Map::wide;
  words multiplier[vectors];
  UMBEL_UNROLL(4)
  for (std::size_t v = 0; v < vectors; ++v)
    multiplier[v] = simd::widened(map.multiplier + first + v * lanes);
  UMBEL_UNROLL(8)
  for (std::size_t r = 0; r < Rows; ++r) {
    UMBEL_UNROLL(4)
    for (std::size_t v = 0; v < vectors; ++v)
      sums[r][v] = ((sums[r][v] >> before) * multiplier[v] + half) >> after;
    T* const to = y + r * S.y_row + first;
    if (S.out % Map::wide == 0 || first + Map::wide <= S.out)
      finish_words<vectors>(finish, to, sums[r]);
    else
      finish_first<vectors>(finish, to, sums[r], S.out - first);
  }
}

template <integer_linear_shape S, class Map, class T, class Finish>
UMBEL_INLINE void integer_linear_vectors(const Map& map, const std::int8_t* x, T* y,
                                         const Finish& finish) noexcept {
  using plan = integer_linear_plan<S, Map>;
  constexpr std::size_t tile = plan::rows_of_tile, tail = S.rows % tile;
  alignas(64) simd::dot_word prepared[plan::rows_prepared * plan::chunk];
  for (std::size_t r = 0; r < S.rows; r += plan::rows_prepared) {
    const std::size_t left = S.rows - r;
    const std::size_t rows = left < plan::rows_prepared ? left : plan::rows_prepared;
    if constexpr (plan::in_one)
      for (std::size_t i = 0; i < rows; ++i)
        simd::dot_prepare(x + (r + i) * S.x_row, S.in, prepared + i * plan::chunk);
    for (std::size_t panel = 0; panel < Map::panels; ++panel) {
      std::size_t i = 0;
      for (; i + tile <= rows; i += tile)
        integer_linear_tile<S, tile>(map, panel, x + (r + i) * S.x_row,
                                     prepared + (plan::in_one ? i * plan::chunk : 0),
                                     y + (r + i) * S.y_row, finish);
      if constexpr (tail != 0)
        if (i < rows)
          integer_linear_tile<S, tail>(map, panel, x + (r + i) * S.x_row,
                                       prepared + (plan::in_one ? i * plan::chunk : 0),
                                       y + (r + i) * S.y_row, finish);
    }
  }
}

#endif

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
