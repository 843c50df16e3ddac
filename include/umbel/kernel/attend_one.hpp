// SPDX-License-Identifier: BSL-1.0
// One query (a step of decoding) in SIMD. Queries in the lanes would leave all lanes but one empty, so
// here keys lie in them for the scores and values for the context: every score is still its own chain
// over head_dim, every element of the context its own over the keys, the sum of the softmax one chain.
// The bits of plain::attend. Not here: several queries (attend_block.hpp), taps, dropout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/plain_attend.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/fold.hpp>
#include <umbel/simd/half.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/transpose.hpp>

namespace umbel::kernel::detail {

constexpr bool keys_fit_lanes(attend_shape shape) noexcept {
  return shape.v_dim == 1 && (shape.k_dim == 1 || shape.k_row == 1);
}

template <attend_shape S, class T, plan::target Target>
struct attend_one {
  static constexpr std::size_t lanes = plan::lanes<T>(Target);
  static constexpr bool fits = S.queries == 1 && lanes > 1 && keys_fit_lanes(S);
  using V = simd::pack<T, lanes>;

  static constexpr std::size_t round_up(std::size_t count) noexcept {
    return plan::divide_up(count, lanes) * lanes;
  }
  // In scratch: the scaled query, scores of a block of keys, the context. That is less than
  // attend_block needs, which has room for a vector where one element is enough here.
  static constexpr std::size_t key_room = S.keys < plan::key_block ? S.keys : plan::key_block;
  static constexpr std::size_t context_at = 0;
  static constexpr std::size_t scores_at = round_up(S.value_dim);
  static constexpr std::size_t query_at = scores_at + round_up(key_room);
  static constexpr std::size_t scratch_size = query_at + S.head_dim;

  // W, here and below: T, or what keys and values are stored as, where keys are adjacent.
  // sum += the products of Dims features of `rows` keys.
  template <std::size_t Dims, class W>
  UMBEL_INLINE static void add_products(const W* k, std::size_t rows, const T* q, V& sum) noexcept {
    if constexpr (Dims * 2 == lanes) {
      V columns[lanes / 2];
      simd::load_columns(k, S.k_row, rows, columns);
      UMBEL_UNROLL(16)
      for (std::size_t i = 0; i < Dims; ++i) {
        sum = simd::fma(simd::broadcast<V>(q[i]), columns[i], sum);
      }
    } else {
      V square[lanes];
      UMBEL_UNROLL(16)
      for (std::size_t r = 0; r < lanes; ++r) {
        square[r] = r < rows ? simd::load_first<V>(k + r * S.k_row, Dims) : V{};
      }
      simd::transpose(square);
      UMBEL_UNROLL(16)
      for (std::size_t i = 0; i < Dims; ++i) {
        sum = simd::fma(simd::broadcast<V>(q[i]), square[i], sum);
      }
    }
  }

  // Scores of Chunks vectors of keys; of fewer keys than a vector where Whole is false.
  template <std::size_t Chunks, bool Whole, class W>
  UMBEL_INLINE static void score(const W* k, std::size_t keys, const T* q, T* scores) noexcept {
    const std::size_t rows = Whole ? lanes : keys;
    V sum[Chunks]{};
    if constexpr (S.k_dim == 1) {
      constexpr std::size_t half = lanes / 2, whole = S.head_dim / half * half;
      for (std::size_t d = 0; d < whole; d += half) {
        UMBEL_UNROLL(8)
        for (std::size_t c = 0; c < Chunks; ++c) {
          add_products<half>(k + c * lanes * S.k_row + d, rows, q + d, sum[c]);
        }
      }
      if constexpr (whole != S.head_dim) {
        UMBEL_UNROLL(8)
        for (std::size_t c = 0; c < Chunks; ++c) {
          add_products<S.head_dim - whole>(k + c * lanes * S.k_row + whole, rows, q + whole,
                                           sum[c]);
        }
      }
    } else {
      for (std::size_t d = 0; d < S.head_dim; ++d) {
        const V query = simd::broadcast<V>(q[d]);
        UMBEL_UNROLL(16)
        for (std::size_t c = 0; c < Chunks; ++c) {
          const W* const from = k + d * S.k_dim + c * lanes;
          const V key = Whole ? simd::load<V>(from) : simd::load_first<V>(from, rows);
          sum[c] = simd::fma(query, key, sum[c]);
        }
      }
    }
    UMBEL_UNROLL(16)
    for (std::size_t c = 0; c < Chunks; ++c) simd::store(scores + c * lanes, sum[c]);
  }

  template <class W>
  UMBEL_INLINE static void score_all(const W* k, std::size_t keys, const T* q, T* scores) noexcept {
    // Adjacent keys: long runs of memory, and chains enough to hide an fma.
    constexpr std::size_t together = S.k_dim == 1 ? 2 : Target.registers / 2;
    std::size_t j = 0;
    for (; j + together * lanes <= keys; j += together * lanes) {
      score<together, true>(k + j * S.k_row, keys, q, scores + j);
    }
    if constexpr (together > 8) {
      for (; j + 8 * lanes <= keys; j += 8 * lanes) {
        score<8, true>(k + j * S.k_row, keys, q, scores + j);
      }
    }
    if constexpr (together > 2) {
      for (; j + 2 * lanes <= keys; j += 2 * lanes) {
        score<2, true>(k + j * S.k_row, keys, q, scores + j);
      }
    }
    for (; j + lanes <= keys; j += lanes) {
      score<1, true>(k + j * S.k_row, keys, q, scores + j);
    }
    if (j < keys) score<1, false>(k + j * S.k_row, keys - j, q, scores + j);
    for (j = keys; j < round_up(keys); ++j) scores[j] = simd::math_constants<T>::lowest;
  }

  // Which keys of a block are hidden: their score is -infinity, so that their weight is 0, and they
  // are passed over where weights multiply values.
  struct hidden_keys {
    std::uint64_t word[plan::key_block / 64]{};
    bool any = false;
    UMBEL_INLINE void add(std::size_t j) noexcept {
      word[j / 64] |= std::uint64_t{1} << j % 64;
      any = true;
    }
    UMBEL_INLINE bool has(std::size_t j) const noexcept {
      return (word[j / 64] >> j % 64 & 1) != 0;
    }
  };

  template <class Policy>
  UMBEL_INLINE static void adjust(const Policy& policy, scores::key_range range, std::size_t number,
                                  std::size_t first_key, std::size_t keys, T* scores,
                                  hidden_keys& hidden) noexcept {
    const auto over = policy.template over<T>(number, 1);
    for (std::size_t j = 0; j < keys; ++j) {
      const std::size_t key = first_key + j;
      const bool full = key >= range.full_begin && key < range.full_end;
      if (Policy::selects && !full && !over.sees(key)) {
        scores[j] = -simd::math_constants<T>::infinity;
        hidden.add(j);
      } else if constexpr (Policy::changes) {
        scores[j] = over.change(scores[j], key);
      }
    }
  }

  // The largest of the scores and `maximum`: none of them NaN when it is, so the order does not matter.
  UMBEL_INLINE static T largest(const T* scores, std::size_t keys, T maximum) noexcept {
    V highest = simd::broadcast<V>(maximum);
    for (std::size_t j = 0; j < keys; j += lanes) {
      highest = simd::max(simd::load<V>(scores + j), highest);
    }
    return simd::fold(highest, [](auto a, auto b) { return simd::max(a, b); });
  }

  // Scores become weights, relative to the new maximum. The result corrects what was relative to the old.
  UMBEL_INLINE static T weigh(T* scores, std::size_t keys, T& maximum) noexcept {
    const T old_maximum = maximum;
    maximum = largest(scores, keys, maximum);
    for (std::size_t j = 0; j < keys; j += lanes) {
      const V y = simd::load<V>(scores + j) - simd::broadcast<V>(maximum);
      simd::store(scores + j, simd::exp2_not_positive(y));
    }
    return simd::exp2_not_positive(old_maximum - maximum);
  }

  // o = context / sum.
  UMBEL_INLINE static void write(const T* context, T sum, T* o) noexcept {
    const T inverse = inverse_sum(sum);
    if constexpr (S.o_dim == 1) {
      constexpr std::size_t whole = S.value_dim / lanes * lanes, rest = S.value_dim - whole;
      const V factor_of_all = simd::broadcast<V>(inverse);
      for (std::size_t d = 0; d < whole; d += lanes) {
        simd::store(o + d, simd::load<V>(context + d) * factor_of_all);
      }
      if constexpr (rest != 0) {
        simd::store_first(o + whole, simd::load<V>(context + whole) * factor_of_all, rest);
      }
    } else {
      for (std::size_t d = 0; d < S.value_dim; ++d) o[d * S.o_dim] = context[d] * inverse;
    }
  }

  // Vectors of value columns: context = correction context + p v; the sum of p along with the first.
  template <std::size_t Vectors, std::size_t Last, bool Selects, class W>
  UMBEL_INLINE static T add_context(const W* v, const T* p, std::size_t keys,
                                    const hidden_keys& hidden, bool is_first, T correction,
                                    T* context) noexcept {
    V sum[Vectors];
    UMBEL_UNROLL(8)
    for (std::size_t i = 0; i < Vectors; ++i) {
      sum[i] = V{};
      if (!is_first) sum[i] = simd::load<V>(context + i * lanes) * simd::broadcast<V>(correction);
    }
    T block_sum{};
    UMBEL_UNROLL(4)
    for (std::size_t j = 0; j < keys; ++j) {
      block_sum = block_sum + p[j];
      if constexpr (Selects) {
        if (hidden.has(j)) continue;
      }
      const V weight = simd::broadcast<V>(p[j]);
      UMBEL_UNROLL(8)
      for (std::size_t i = 0; i < Vectors; ++i) {
        const W* const from = v + j * S.v_row + i * lanes;
        const V value = i + 1 == Vectors && Last != lanes ? simd::load_first<V>(from, Last)
                                                          : simd::load<V>(from);
        sum[i] = simd::fma(weight, value, sum[i]);
      }
    }
    UMBEL_UNROLL(8)
    for (std::size_t i = 0; i < Vectors; ++i) simd::store(context + i * lanes, sum[i]);
    return block_sum;
  }

  template <bool Selects, class W>
  UMBEL_INLINE static T add_contexts(const W* v, const T* p, std::size_t keys,
                                     const hidden_keys& hidden, bool is_first, T correction,
                                     T* context) noexcept {
    constexpr std::size_t vectors = plan::divide_up(S.value_dim, lanes);
    constexpr std::size_t last = S.value_dim - (vectors - 1) * lanes;
    constexpr plan::split tiles = plan::split_evenly(vectors, 8);
    T block_sum{};
    std::size_t at = 0;
    const auto tile = [&]<std::size_t Vectors, std::size_t Last>(
                          std::integral_constant<std::size_t, Vectors>,
                          std::integral_constant<std::size_t, Last>) UMBEL_LAMBDA_INLINE {
      block_sum = add_context<Vectors, Last, Selects>(v + at, p, keys, hidden, is_first, correction,
                                                      context + at);
      at += Vectors * lanes;
    };
    using full = std::integral_constant<std::size_t, lanes>;
    using cut = std::integral_constant<std::size_t, last>;
    using large = std::integral_constant<std::size_t, tiles.large>;
    if constexpr (tiles.small_count == 0) {
      for (std::size_t t = 0; t + 1 < tiles.large_count; ++t) tile(large{}, full{});
      tile(large{}, cut{});
    } else {
      using small = std::integral_constant<std::size_t, tiles.small()>;
      for (std::size_t t = 0; t < tiles.large_count; ++t) tile(large{}, full{});
      for (std::size_t t = 0; t + 1 < tiles.small_count; ++t) tile(small{}, full{});
      tile(small{}, cut{});
    }
    return block_sum;
  }

  // number: which query it is, for the policy.
  template <class W, class Policy>
  UMBEL_NOINLINE static void run(const T* q, const W* k, const W* v, T factor, const Policy& policy,
                                 std::size_t number, T* o, T* scratch) noexcept {
    T* const context = scratch + context_at;
    T* const scores = scratch + scores_at;
    T* const query = scratch + query_at;
    for (std::size_t d = 0; d < S.head_dim; ++d) query[d] = q[d * S.q_dim] * factor;
    const kernel::scores::key_range range = policy.range(number, 1, S.keys);
    T maximum = simd::math_constants<T>::lowest, sum{};
    if (range.begin >= range.end) {
      for (std::size_t d = 0; d < S.value_dim; ++d) context[d] = T{};
    }
    std::size_t end = 0;
    for (std::size_t first = range.begin; first < range.end; first = end) {
      end = kernel::scores::block_end(first, range.end);
      const std::size_t keys = end - first;
      const bool is_first = first == range.begin;
      score_all(k + first * S.k_row, keys, query, scores);
      hidden_keys hidden;
      const bool full = range.full_begin <= first && end <= range.full_end;
      if (Policy::changes || (Policy::selects && !full)) {
        adjust(policy, range, number, first, keys, scores, hidden);
      }
      const T correction = weigh(scores, keys, maximum);
      const W* const values = v + first * S.v_row;
      T block_sum{};
      if (Policy::selects && hidden.any) {
        block_sum = add_contexts<true>(values, scores, keys, hidden, is_first, correction, context);
      } else {
        block_sum =
            add_contexts<false>(values, scores, keys, hidden, is_first, correction, context);
      }
      sum = is_first ? block_sum : simd::fma(sum, correction, block_sum);
    }
    write(context, sum, o);
  }
};

}  // namespace umbel::kernel::detail
