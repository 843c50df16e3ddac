// SPDX-License-Identifier: BSL-1.0
// Scores of one or a few queries with a block of keys in the lanes. Each is one chain over
// head_dim, so keys in rows are transposed on their way into registers. Use of the scores:
// attend_few.hpp.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/scaled_rows.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/half.hpp>
#include <umbel/simd/math_constants.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>
#include <umbel/simd/transpose.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::detail {

// S.queries queries. Heads: see attend_few.
template <attend_shape S, class T, plan::target Target, std::size_t Heads>
struct few_scores {
  static constexpr std::size_t lanes = plan::lanes<T>(Target), queries = S.queries;
  using V = simd::pack<T, lanes>;

  static constexpr std::size_t round_up(std::size_t count) noexcept {
    return plan::divide_up(count, lanes) * lanes;
  }
  // Room for a query's scores in scratch.
  static constexpr std::size_t score_room =
      round_up(S.keys < plan::key_block ? S.keys : plan::key_block);

  // Keys in rows are transposed. A core that computes 512 bits in two halves does so in 256 bits,
  // with fewer joins of row parts: Zen 4, which Target.fetch_ahead identifies (docs/speed.md).
  static constexpr bool narrow = queries == 1 && S.k_dim == 1 && S.k_row != 1 &&
                                 sizeof(T) * lanes == 64 && !Target.fetch_ahead;
  using score_vector = simd::pack<T, narrow ? lanes / 2 : lanes>;

  // W, here and below: T, or the stored type of adjacent keys and values; K: a pointer to such
  // keys, or scaled_rows. Keys and values that exceed the second-level cache are read once, so the
  // next ones are prefetched into the first. Measured: 6 % at 8 heads of 512 x 64, 10 % for a layer
  // with a cache of 8 heads of 512 x 32; with 2 heads in that cache, which stay in the second
  // level, a fifth slower. For quarters of rows, which processors predict badly, Zen 4 also
  // prefetches keys: 8 heads of 512 x 64 take a fifth less.
  template <class W>
  static constexpr bool reads_once = [] {
    constexpr std::size_t heads = Heads == 0 ? 1 : Heads, limit = Heads == 0 ? 192 : 512;
    constexpr std::size_t bytes = heads * S.keys * (S.head_dim + S.value_dim) * sizeof(W);
    return queries == 1 && bytes >= limit * 1024;
  }();
  template <class W>
  static constexpr bool fetches_keys = reads_once<W> && (Target.fetch_ahead || narrow);

  // sum += Dims features of Chunks vectors of keys (`rows` keys, if one vector) by the queries at
  // q.
  template <std::size_t Dims, std::size_t Chunks, class V, class W>
  UMBEL_INLINE static void add_products(const W* k, std::size_t rows, const T* q,
                                        V (*sum)[queries]) noexcept {
    constexpr std::size_t lanes = simd::lanes_of<V>;
    constexpr bool in_halves = Dims * 2 == lanes;
    V columns[Chunks][in_halves ? lanes / 2 : lanes];
    UMBEL_UNROLL(4)
    for (std::size_t c = 0; c < Chunks; ++c) {
      const W* const from = k + c * lanes * S.k_row;
      if constexpr (in_halves) {
        simd::load_columns(from, S.k_row, rows, columns[c]);
      } else {
        UMBEL_UNROLL(16)
        for (std::size_t r = 0; r < lanes; ++r) {
          columns[c][r] = r < rows ? simd::load_first<V>(from + r * S.k_row, Dims) : V{};
        }
        simd::transpose(columns[c]);
      }
    }
    UMBEL_UNROLL(16)
    for (std::size_t i = 0; i < Dims; ++i) {
      UMBEL_UNROLL(8)
      for (std::size_t n = 0; n < queries; ++n) {
        const V query = simd::broadcast<V>(q[n * S.head_dim + i]);
        UMBEL_UNROLL(4)
        for (std::size_t c = 0; c < Chunks; ++c)
          sum[c][n] = simd::fma(query, columns[c][i], sum[c][n]);
      }
    }
  }

  // Scores of Chunks vectors of keys; less than a vector if Whole is false.
  template <class V, std::size_t Chunks, bool Whole, class K>
  UMBEL_INLINE static void score(K keys_there, std::size_t keys, const T* q, T* scores) noexcept {
    using W = stored_in<K>;
    const W* const k = elements(keys_there);
    constexpr std::size_t lanes = simd::lanes_of<V>;
    const std::size_t rows = Whole ? lanes : keys;
    V sum[Chunks][queries]{};
    if constexpr (S.k_dim == 1) {
      constexpr std::size_t half = lanes / 2, whole = S.head_dim / half * half;
      // A loaded query serves all chunks if the registers suffice.
      constexpr bool fit = Chunks * (half + queries) + 2 <= Target.registers;
      constexpr std::size_t step = fit ? Chunks : 1;
      for (std::size_t d = 0; d < whole; d += half) {
        if constexpr (fetches_keys<W> && whole != 0) {
          constexpr std::size_t of_step = plan::divide_up(Chunks * lanes * half, whole);
          const std::size_t next = (Chunks * lanes + d / half * of_step) * S.k_row;
          UMBEL_UNROLL(4)
          for (std::size_t r = 0; r < of_step; ++r) simd::fetch<S.head_dim>(k, next + r * S.k_row);
        }
        UMBEL_UNROLL(4)
        for (std::size_t c = 0; c < Chunks; c += step) {
          add_products<half, step>(k + c * lanes * S.k_row + d, rows, q + d, sum + c);
        }
      }
      if constexpr (whole != S.head_dim) {
        UMBEL_UNROLL(4)
        for (std::size_t c = 0; c < Chunks; ++c) {
          add_products<S.head_dim - whole, 1>(k + c * lanes * S.k_row + whole, rows, q + whole,
                                              sum + c);
        }
      }
    } else {
      for (std::size_t d = 0; d < S.head_dim; ++d) {
        if constexpr (fetches_keys<W>) simd::fetch<Chunks * lanes>(k, (d + 4) * S.k_dim);
        UMBEL_UNROLL(16)
        for (std::size_t c = 0; c < Chunks; ++c) {
          const W* const from = k + d * S.k_dim + c * lanes;
          const V key = Whole ? simd::load<V>(from) : simd::load_first<V>(from, rows);
          UMBEL_UNROLL(8)
          for (std::size_t n = 0; n < queries; ++n) {
            sum[c][n] = simd::fma(simd::broadcast<V>(q[n * S.head_dim + d]), key, sum[c][n]);
          }
        }
      }
    }
    UMBEL_UNROLL(16)
    for (std::size_t c = 0; c < Chunks; ++c) {
      UMBEL_UNROLL(8)
      for (std::size_t n = 0; n < queries; ++n) {
        simd::store(scores + n * score_room + c * lanes,
                    with_scales_of_keys(sum[c][n], keys_there, c * lanes, rows));
      }
    }
  }

  template <class K>
  UMBEL_INLINE static void score_all(K k, std::size_t keys, const T* q, T* scores) noexcept {
    using V = score_vector;
    constexpr std::size_t lanes = simd::lanes_of<V>;
    // Adjacent keys: long runs of memory, and enough chains to hide an fma.
    constexpr std::size_t adjacent = Target.registers / 2 / queries;
    constexpr std::size_t together = narrow ? 4 : S.k_dim == 1 || adjacent < 2 ? 2 : adjacent;
    std::size_t j = 0;
    for (; j + together * lanes <= keys; j += together * lanes) {
      score<V, together, true>(from_row(k, j, S.k_row), keys, q, scores + j);
    }
    if constexpr (together > 8) {
      for (; j + 8 * lanes <= keys; j += 8 * lanes) {
        score<V, 8, true>(from_row(k, j, S.k_row), keys, q, scores + j);
      }
    }
    if constexpr (together > 2) {
      for (; j + 2 * lanes <= keys; j += 2 * lanes) {
        score<V, 2, true>(from_row(k, j, S.k_row), keys, q, scores + j);
      }
    }
    for (; j + lanes <= keys; j += lanes) {
      score<V, 1, true>(from_row(k, j, S.k_row), keys, q, scores + j);
    }
    if (j < keys) score<V, 1, false>(from_row(k, j, S.k_row), keys - j, q, scores + j);
    for (std::size_t n = 0; n < queries; ++n) {
      for (j = keys; j < round_up(keys); ++j) {
        scores[n * score_room + j] = simd::math_constants<T>::lowest;
      }
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::detail
UMBEL_WARNINGS_POP
