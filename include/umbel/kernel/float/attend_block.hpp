// SPDX-License-Identifier: BSL-1.0
// One head of attention in SIMD: queries in the lanes. A block of queries is transposed once, with
// the scale folded in. Scores are S^T = K Q^T, so K and V are only broadcast, in any layout; the
// maximum is found before the scores leave the registers; the softmax has no horizontal step. The
// same bits as plain::attend on every target. This file: a block of queries against a number of
// keys. After the scores: attend_context.hpp; masks and score changes: attend_scores.hpp; the
// interface: attend.hpp.
#pragma once

#include <cstddef>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/kernel/float/attend_context.hpp>
#include <umbel/kernel/float/transpose.hpp>
#include <umbel/kernel/scaled_rows.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/kernel/tap.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/pack.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

namespace detail {

// Keys with additive scores: see plain::attend_additive. factor: exp2_factor(1).
template <class T>
struct additive_keys {
  const T* keys;
  const T* weights;
  T factor;
  friend constexpr additive_keys operator+(additive_keys k, std::size_t elements) noexcept {
    return {k.keys + elements, k.weights, k.factor};
  }
};

// A block of Vectors vectors of queries against all the keys.
template <attend_shape S, class T, plan::target Target, std::size_t Vectors, bool AllKeys>
struct attend_block : attend_context<S, T, Target, Vectors> {
  using base = attend_context<S, T, Target, Vectors>;
  using base::lanes, base::width, base::tile_rows, base::one_block, base::direct, base::scores_at,
      base::context_at;
  using V = typename base::V;
  using room = typename base::room;
  using softmax_state = typename base::softmax_state;

  // Keys of a score tile. K: dot-product keys, or additive_keys.
  template <class K>
  static constexpr std::size_t score_rows = stored_rows<K> ? tile_rows : 4 / Vectors;

  // Scores of Rows keys, and their maximum. K, here and below: a pointer to keys, or scaled_rows;
  // Y: the same for values.
  template <std::size_t Rows, stored_rows K>
  UMBEL_INLINE static void score_tile(K keys, const T* q, T* scores,
                                      V (&maximum)[Vectors]) noexcept {
    using W = stored_in<K>;
    const W* const k = elements(keys);
    V sum[Rows][Vectors];
    UMBEL_UNROLL(32)
    for (std::size_t j = 0; j < Rows; ++j) {
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i) sum[j][i] = V{};
    }
    constexpr bool by_machine = simd::has_products<V, T, W>;
    if constexpr (by_machine) {
      simd::add_products<simd::strides{S.k_row, S.k_dim, width}>(k, q, S.head_dim, sum);
    }
    UMBEL_UNROLL(2)
    for (std::size_t d = 0; !by_machine && d < S.head_dim; ++d) {
      V query[Vectors];
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i) {
        query[i] = simd::load<V>(q + d * width + i * lanes);
      }
      UMBEL_UNROLL(32)
      for (std::size_t j = 0; j < Rows; ++j) {
        const auto key = simd::spread<V>(k[j * S.k_row + d * S.k_dim]);
        UMBEL_UNROLL(4)
        for (std::size_t i = 0; i < Vectors; ++i) sum[j][i] = simd::fma(key, query[i], sum[j][i]);
      }
    }
    UMBEL_UNROLL(32)
    for (std::size_t j = 0; j < Rows; ++j) {
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i) sum[j][i] = with_scale(sum[j][i], keys, j);
    }
    finish_scores<Rows>(sum, scores, maximum);
  }

  // Additive scores. Not inlined: a hyperbolic tangent outweighs the call, and is much code.
  template <std::size_t Rows>
  UMBEL_NOINLINE static void score_tile(additive_keys<T> k, const T* q, T* scores,
                                        V (&maximum)[Vectors]) noexcept {
    V sum[Rows][Vectors]{};
    for (std::size_t d = 0; d < S.head_dim; ++d) {
      const V weight = simd::broadcast<V>(k.weights[d] * k.factor);
      UMBEL_UNROLL(4)
      for (std::size_t j = 0; j < Rows; ++j) {
        const V key = simd::broadcast<V>(k.keys[j * S.k_row + d * S.k_dim]);
        UMBEL_UNROLL(4)
        for (std::size_t i = 0; i < Vectors; ++i) {
          const V query = simd::load<V>(q + d * width + i * lanes);
          sum[j][i] = simd::fma(simd::tanh(query + key), weight, sum[j][i]);
        }
      }
    }
    finish_scores<Rows>(sum, scores, maximum);
  }

  template <std::size_t Rows>
  UMBEL_INLINE static void finish_scores(const V (&sum)[Rows][Vectors], T* scores,
                                         V (&maximum)[Vectors]) noexcept {
    // With one vector and many keys, four independent maxima.
    constexpr std::size_t parts = Rows >= 8 && Vectors == 1 ? 4 : 1;
    V part[parts][Vectors];
    UMBEL_UNROLL(4)
    for (std::size_t p = 0; p < parts; ++p) {
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i) part[p][i] = maximum[i];
    }
    UMBEL_UNROLL(32)
    for (std::size_t j = 0; j < Rows; ++j) {
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i) {
        simd::store(scores + j * width + i * lanes, sum[j][i]);
        part[j % parts][i] = simd::raised(part[j % parts][i], sum[j][i]);
      }
    }
    UMBEL_UNROLL(4)
    for (std::size_t i = 0; i < Vectors; ++i) {
      maximum[i] = part[0][i];
      UMBEL_UNROLL(4)
      for (std::size_t p = 1; p < parts; ++p) maximum[i] = simd::raised(maximum[i], part[p][i]);
    }
  }

  // Scores of the keys of one softmax block (KnownKeys of them if KnownCount), and their maximum.
  template <bool KnownCount, std::size_t KnownKeys, class K>
  UMBEL_INLINE static void score_block(K k, std::size_t run_time_keys, T* scratch,
                                       V (&maximum)[Vectors]) noexcept {
    const std::size_t keys = KnownCount ? KnownKeys : run_time_keys;
    T* const scores = scratch + scores_at;
    if constexpr (KnownCount) {
      constexpr plan::split tiles =
          plan::split_evenly(KnownKeys, plan::block_limit(KnownKeys, tile_rows, Target));
      for (std::size_t t = 0; t < tiles.large_count; ++t) {
        const std::size_t j = t * tiles.large;
        score_tile<tiles.large>(from_row(k, j, S.k_row), scratch, scores + j * width, maximum);
      }
      if constexpr (tiles.small_count > 0) {
        for (std::size_t t = 0; t < tiles.small_count; ++t) {
          const std::size_t j = tiles.large_count * tiles.large + t * tiles.smaller();
          score_tile<tiles.smaller()>(from_row(k, j, S.k_row), scratch, scores + j * width,
                                      maximum);
        }
      }
    } else {
      std::size_t j = 0;
      if constexpr (!plan::has_few_registers(Target)) {
        for (; j + tile_rows <= keys; j += tile_rows) {
          score_tile<tile_rows>(from_row(k, j, S.k_row), scratch, scores + j * width, maximum);
        }
      }
      if constexpr (tile_rows > 4) {
        for (; j + 4 <= keys; j += 4) {
          score_tile<4>(from_row(k, j, S.k_row), scratch, scores + j * width, maximum);
        }
      }
      for (; j < keys; ++j) {
        score_tile<1>(from_row(k, j, S.k_row), scratch, scores + j * width, maximum);
      }
    }
  }

  // The maximum before a block.
  UMBEL_INLINE static void copy_maximum(const softmax_state& state,
                                        V (&maximum)[Vectors]) noexcept {
    UMBEL_UNROLL(4)
    for (std::size_t i = 0; i < Vectors; ++i) maximum[i] = state.maximum[i];
  }

  // Writes the queries to scratch, transposed and scaled; resets the softmax's state.
  UMBEL_INLINE static void start(const T* q, T factor, T* scratch, room here,
                                 softmax_state& state) noexcept {
    const V scale = simd::broadcast<V>(factor);
    for (std::size_t i = 0; i < Vectors; ++i) {
      const std::size_t first = i * lanes;
      const std::size_t rest = here.queries > first ? here.queries - first : 0;
      gather_columns<S.head_dim, lanes, S.q_row, S.q_dim>(q + (rest != 0 ? first * S.q_row : 0),
                                                          rest < lanes ? rest : lanes, scale,
                                                          scratch + first, width);
    }
    UMBEL_UNROLL(4)
    for (std::size_t i = 0; i < Vectors; ++i) {
      state.maximum[i] = simd::broadcast<V>(simd::math_constants<T>::lowest);
      state.sum[i] = V{};
    }
  }

  // Writes the context from scratch to o, unless it went there directly.
  UMBEL_INLINE static void write(T* o, const T* scratch, room here) noexcept {
    if constexpr (!direct) {
      for (std::size_t i = 0; i < Vectors; ++i) {
        const std::size_t first = i * lanes;
        if (first >= here.queries) break;
        const std::size_t rest = here.queries - first;
        scatter_columns<S.value_dim, lanes, S.o_row, S.o_dim>(
            scratch + context_at + first, width, rest < lanes ? rest : lanes, o + first * S.o_row);
      }
    }
  }

  // tap: none, or of the softmax, for the block's queries.
  template <class K, class Y, class Tap = no_tap>
  UMBEL_NOINLINE static void attend_queries(const T* q, K k, Y v, T factor, std::size_t key_count,
                                            T* o, T* scratch, room here,
                                            [[maybe_unused]] Tap tap = {}) noexcept {
    softmax_state state;
    start(q, factor, scratch, here, state);
    V maximum[Vectors];
    if constexpr (one_block) {
      copy_maximum(state, maximum);
      score_block<AllKeys, S.keys>(k, key_count, scratch, maximum);
      base::finish_block(v, AllKeys ? S.keys : key_count, maximum, true, true, state, o, scratch,
                         here);
    } else if constexpr (AllKeys) {
      constexpr std::size_t whole = S.keys / plan::key_block, rest = S.keys % plan::key_block;
      for (std::size_t b = 0; b < whole; ++b) {
        copy_maximum(state, maximum);
        score_block<true, plan::key_block>(k, 0, scratch, maximum);
        base::finish_block(v, plan::key_block, maximum, b == 0, rest == 0 && b + 1 == whole, state,
                           o, scratch, here);
        k = from_row(k, plan::key_block, S.k_row);
        v = from_row(v, plan::key_block, S.v_row);
      }
      if constexpr (rest != 0) {
        copy_maximum(state, maximum);
        score_block<true, rest>(k, 0, scratch, maximum);
        base::finish_block(v, rest, maximum, false, true, state, o, scratch, here);
      }
    } else {
      std::size_t first = 0;
      do {
        const std::size_t rest = key_count - first;
        const std::size_t count = rest < plan::key_block ? rest : plan::key_block;
        copy_maximum(state, maximum);
        score_block<false, 0>(from_row(k, first, S.k_row), count, scratch, maximum);
        base::finish_block(from_row(v, first, S.v_row), count, maximum, first == 0, count == rest,
                           state, o, scratch, here);
        first += count;
      } while (first < key_count);
    }
    write(o, scratch, here);
    if constexpr (Tap::stage == tap_stage::softmax) base::leave(state, here, tap);
  }
};

}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
