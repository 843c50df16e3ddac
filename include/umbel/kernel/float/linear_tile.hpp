// SPDX-License-Identifier: BSL-1.0
// A register tile of linear.hpp: rows of x by vectors of features, for all of k. If the last
// features leave half of their vector or more empty, several rows share it: its lanes are groups,
// one per row. 100 features of 4 rows are then 25 vectors instead of 28. The caller walks over the
// tiles.
#pragma once

#include <cstddef>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/kernel/float/panel.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/groups.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::detail {

// Rows of x by panels of features. The last vector has `tail` elements.
struct linear_tile {
  std::size_t rows, panels, vectors, lanes, tail;  // vectors of one panel
  std::size_t w_in, w_panel;                       // strides of the weights
  bool padded;                                     // weights and biases fill the last vector
  std::size_t tail_group;                          // lanes of a row in the last vector, or 0
  bool prefetched;                                 // one row, one panel: prefetch weights
  std::size_t scales = 0;                          // after the biases: see end_of_sum

  // Vectors that hold only one row.
  constexpr std::size_t whole() const noexcept {
    return panels * vectors - (tail_group != 0 ? 1 : 0);
  }
  constexpr std::size_t rows_together() const noexcept { return lanes / tail_group; }
  constexpr std::size_t tail_packs() const noexcept {
    return tail_group == 0 ? 0 : (rows + rows_together() - 1) / rows_together();
  }
};

// Lanes per row if rows share the last vector, else 0.
template <class T>
constexpr std::size_t linear_tail_group(const linear_shape& s, std::size_t lanes, std::size_t tail,
                                        bool padded) noexcept {
  const std::size_t smallest = 16 / sizeof(T);
  const std::size_t group = tail <= smallest ? smallest : 2 * smallest;
  const bool fits = group * 2 <= lanes && tail <= group && (padded || tail == group);
  return fits && s.rows > 1 && s.y_out == 1 ? group : 0;
}

// The same, if a shared tile of `rows` by `vectors` fits the registers.
template <class T>
constexpr std::size_t shared_tail_group(const linear_shape& s, std::size_t rows,
                                        std::size_t vectors, std::size_t lanes, std::size_t tail,
                                        bool padded, plan::target machine) noexcept {
  const std::size_t group = linear_tail_group<T>(s, lanes, tail, padded);
  const std::size_t shared = group != 0 ? plan::divide_up(rows * group, lanes) : 0;
  return rows * (vectors - 1) + 2 * shared + vectors + 1 < machine.registers ? group : 0;
}

// The last features of all rows in a tile.
template <linear_shape S, class T, linear_tile Tile>
struct linear_tail {
  static constexpr std::size_t group = Tile.tail_group, packs = Tile.tail_packs();
  static constexpr std::size_t together = Tile.rows_together();
  using V = simd::pack<T, Tile.lanes>;
  using G = simd::pack<T, group>;
  V sum[packs], x[packs];

  template <class W>
  UMBEL_INLINE void start(const T* bias) noexcept {
    V from{};
    if constexpr (S.bias && !is_scaled<W>) from = simd::repeat_group<V>(simd::load<G>(bias));
    UMBEL_UNROLL(16)
    for (std::size_t p = 0; p < packs; ++p) sum[p] = from;
  }
  // x of a row, broadcast.
  UMBEL_INLINE void take(std::size_t row, V value) noexcept {
    V& to = x[row / together];
    to = simd::replace_groups<group>(to, value, row % together);
  }
  // w: a row of weights of the last panel.
  template <class W>
  UMBEL_INLINE void end(const T* bias) noexcept {
    UMBEL_UNROLL(16)
    for (std::size_t p = 0; p < packs; ++p)
      sum[p] = end_of_sum<W, Tile.scales>(sum[p], [&](std::size_t at) UMBEL_LAMBDA_INLINE {
        return simd::repeat_group<V>(simd::load<G>(bias + at));
      });
  }
  template <class W>
  UMBEL_INLINE void add(const W* w) noexcept {
    const V weights =
        simd::repeat_group<V>(load_weights<G, Tile.lanes>(w, Tile.vectors - 1, Tile.vectors));
    UMBEL_UNROLL(16)
    for (std::size_t p = 0; p < packs; ++p) sum[p] = simd::fma(x[p], weights, sum[p]);
  }
  UMBEL_INLINE void write(T* y) const noexcept {
    T rows[Tile.lanes];
    UMBEL_UNROLL(16)
    for (std::size_t p = 0; p < packs; ++p) {
      simd::store(rows, sum[p]);
      UMBEL_UNROLL(4)
      for (std::size_t g = 0; g < together; ++g) {
        const std::size_t m = p * together + g;
        if (m >= Tile.rows) break;
        if constexpr (Tile.tail == group) {
          simd::store(y + m * S.y_row, simd::load<G>(rows + g * group));
        } else {
          for (std::size_t e = 0; e < Tile.tail; ++e) y[m * S.y_row + e] = rows[g * group + e];
        }
      }
    }
  }
};

struct no_tail {};

// The part of its sums that a tile adds: all, or (contract.hpp) some, perhaps to y's old value.
template <std::size_t In>
struct whole_sums {
  static constexpr std::size_t in = In;
  static constexpr bool go_on = false;
};
struct part_of_sums {
  std::size_t in;
  bool go_on;
};

// Steps of a sum per loop turn. On scalar cores with fma, loop overhead is a tenth of all.
inline constexpr int steps_of_a_turn =
    UMBEL_VECTOR_BYTES == 0 && UMBEL_FMA && !UMBEL_SMALL_CODE ? 4 : 2;

// W: T, or the stored type in panels. With partial sums, rows don't share vectors.
template <linear_shape S, class T, linear_tile Tile, class W, class Sums = whole_sums<S.in>>
UMBEL_INLINE void run_linear_tile(const T* x, const W* w, const T* bias, T* y,
                                  Sums sums = {}) noexcept {
  using V = simd::pack<T, Tile.lanes>;
  constexpr std::size_t vectors = Tile.whole();
  constexpr auto partial = [](std::size_t v) {
    return Tile.tail_group == 0 && Tile.tail != Tile.lanes && v + 1 == vectors;
  };

  V sum[Tile.rows][vectors != 0 ? vectors : 1];
  UMBEL_UNROLL(32)
  for (std::size_t v = 0; v < vectors; ++v) {
    V start{};
    if constexpr (S.bias && !is_scaled<W>) {
      const T* const from = bias + v * Tile.lanes;
      start =
          partial(v) && !Tile.padded ? simd::load_first<V>(from, Tile.tail) : simd::load<V>(from);
    }
    UMBEL_UNROLL(32)
    for (std::size_t m = 0; m < Tile.rows; ++m) sum[m][v] = start;
  }
  if (sums.go_on) {
    UMBEL_UNROLL(32)
    for (std::size_t m = 0; m < Tile.rows; ++m) {
      UMBEL_UNROLL(32)
      for (std::size_t v = 0; v < vectors; ++v) {
        const T* const from = y + m * S.y_row + v * Tile.lanes * S.y_out;
        const std::size_t count = partial(v) ? Tile.tail : Tile.lanes;
        if constexpr (S.y_out != 1 && Tile.lanes != 1) {
          for (std::size_t i = 0; i < count; ++i) sum[m][v][i] = from[i * S.y_out];
        } else {
          sum[m][v] = partial(v) ? simd::load_first<V>(from, count) : simd::load<V>(from);
        }
      }
    }
  }
  constexpr bool has_tail = Tile.tail_group != 0;
  constexpr std::size_t tail_at = vectors * Tile.lanes;
  std::conditional_t<has_tail, linear_tail<S, T, Tile>, no_tail> tail;
  const T* const bias_of_tail = S.bias || is_scaled<W> ? bias + tail_at : bias;
  if constexpr (has_tail) tail.template start<W>(bias_of_tail);
  constexpr bool by_machine =
      simd::has_products<V, T, W> && Tile.panels == 1 && (Tile.padded || Tile.tail == Tile.lanes);
  if constexpr (by_machine) {
    simd::add_products<simd::strides{S.x_row, S.x_in, Tile.w_in}>(x, w, sums.in, sum);
  }
  UMBEL_UNROLL(steps_of_a_turn)
  for (std::size_t k = 0; !by_machine && k < sums.in; ++k) {
    const auto read = [&](std::size_t v) UMBEL_LAMBDA_INLINE {
      const W* const row = w + v / Tile.vectors * Tile.w_panel + k * Tile.w_in;
      const std::size_t at = v % Tile.vectors;
      return partial(v) && !Tile.padded ? simd::load_first<V>(row + at * Tile.lanes, Tile.tail)
                                        : load_weights<V, Tile.lanes>(row, at, Tile.vectors);
    };
    if constexpr (Tile.rows == 1 && !has_tail) {
      if constexpr (Tile.prefetched) simd::fetch<Tile.w_in>(w + k * Tile.w_in, 4096 / sizeof(W));
      // Read once, used once: registers only hold sums, of which one row may have many.
      const auto value = simd::spread<V>(x[k * S.x_in]);
      UMBEL_UNROLL(32)
      for (std::size_t v = 0; v < vectors; ++v) sum[0][v] = simd::fma(value, read(v), sum[0][v]);
      continue;
    }
    V weights[vectors != 0 ? vectors : 1];
    UMBEL_UNROLL(32)
    for (std::size_t v = 0; v < vectors; ++v) weights[v] = read(v);
    UMBEL_UNROLL(32)
    for (std::size_t m = 0; m < Tile.rows; ++m) {
      const T number = x[m * S.x_row + k * S.x_in];
      const auto value = simd::spread<V>(number);
      UMBEL_UNROLL(32)
      for (std::size_t v = 0; v < vectors; ++v) {
        sum[m][v] = simd::fma(value, weights[v], sum[m][v]);
      }
      if constexpr (has_tail) tail.take(m, simd::broadcast<V>(number));
    }
    if constexpr (has_tail) tail.add(w + (Tile.panels - 1) * Tile.w_panel + k * Tile.w_in);
  }
  if constexpr (has_tail) {
    tail.template end<W>(bias_of_tail);
    tail.write(y + tail_at);
  }
  UMBEL_UNROLL(32)
  for (std::size_t m = 0; m < Tile.rows; ++m) {
    UMBEL_UNROLL(32)
    for (std::size_t v = 0; v < vectors; ++v) {
      sum[m][v] = end_of_sum<W, Tile.scales>(sum[m][v], [&](std::size_t at) UMBEL_LAMBDA_INLINE {
        return simd::load<V>(bias + at + v * Tile.lanes);
      });
      T* to = y + m * S.y_row + v * Tile.lanes * S.y_out;
      const std::size_t count = partial(v) ? Tile.tail : Tile.lanes;
      if constexpr (S.y_out != 1 && Tile.lanes != 1) {
        for (std::size_t i = 0; i < count; ++i) to[i * S.y_out] = sum[m][v][i];
      } else if (partial(v)) {
        simd::store_first(to, sum[m][v], count);
      } else {
        simd::store(to, sum[m][v]);
      }
    }
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::detail
UMBEL_WARNINGS_POP
