// SPDX-License-Identifier: BSL-1.0
// One query (a decoding step) or a few in SIMD. Queries in the lanes would leave most lanes empty,
// so keys are in the lanes for scores and values for the context, and each loaded key or value
// serves all queries. Every score is still a separate chain over head_dim, every context element
// one over the keys, the softmax's sum one chain: the same bits as plain::attend. It doesn't
// support taps and dropout. See attend_block.hpp for many queries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/float/few_scores.hpp>
#include <umbel/kernel/plain/attend.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/kernel/tap.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/fold.hpp>
#include <umbel/simd/half.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::detail {

constexpr bool keys_fit_lanes(attend_shape shape) noexcept {
  return shape.v_dim == 1 && (shape.k_dim == 1 || shape.k_row == 1);
}

// Heads: of keys and values, with queries side by side (attend_each.hpp); 0: unknown.
template <attend_shape S, class T, plan::target Target, std::size_t Heads = 0>
struct attend_few : few_scores<S, T, Target, Heads> {
  using base = few_scores<S, T, Target, Heads>;
  using base::lanes, base::queries, base::round_up, base::score_room, base::score_all;
  using typename base::V;
  template <class W>
  static constexpr bool fetches_values = base::template reads_once<W> && Target.fetch_ahead;

  static constexpr bool fits = queries <= plan::few_queries(Target) && lanes > 1 &&
                               keys_fit_lanes(S);

  // Scratch, query by query: contexts, scores of a block of keys, scaled queries.
  static constexpr std::size_t context_room = round_up(S.value_dim);
  static constexpr std::size_t scores_at = queries * context_room;
  static constexpr std::size_t query_at = scores_at + queries * score_room;
  static constexpr std::size_t scratch_size = query_at + queries * S.head_dim;

  // The keys of a block that are hidden from a query: their score is -infinity and so their weight
  // 0, and they are skipped when weights multiply values.
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

  // The largest of the scores and `maximum`. If it isn't NaN, no score is, so order doesn't matter.
  UMBEL_INLINE static T largest(const T* scores, std::size_t keys, T maximum) noexcept {
    V highest = simd::broadcast<V>(maximum);
    for (std::size_t j = 0; j < keys; j += lanes) {
      highest = simd::larger(simd::load<V>(scores + j), highest);
    }
    V rows[1][1] = {{highest}};
    return simd::fold_rows(rows,
                           [](V a, V b) UMBEL_LAMBDA_INLINE { return simd::larger(a, b); })[0];
  }

  // Turns scores into weights relative to the maximum. Returns the correction for those relative to
  // the old one. MayHide: a score may be hidden; since the exponential of -infinity would raise
  // "invalid", the lowest score with weight 0 is used.
  template <bool MayHide>
  UMBEL_INLINE static T weigh(T* scores, std::size_t keys, T maximum, T old_maximum) noexcept {
    for (std::size_t j = 0; j < keys; j += lanes) {
      V y = simd::load<V>(scores + j) - simd::broadcast<V>(maximum);
      if constexpr (MayHide) {
        const V zero = simd::broadcast<V>(2 * simd::math_constants<T>::exp2_lowest);
        y = simd::select(simd::less(y, zero), zero, y);
      }
      simd::store(scores + j, simd::exp2_not_positive(y));
    }
    return simd::exp2_not_positive(simd::broadcast<V>(old_maximum - maximum))[0];
  }

  UMBEL_INLINE static void write(const T* context, T sum, T* o) noexcept {
    const V factor_of_all = inverse_sum(simd::broadcast<V>(sum));
    if constexpr (S.o_dim == 1) {
      constexpr std::size_t whole = S.value_dim / lanes * lanes, rest = S.value_dim - whole;
      for (std::size_t d = 0; d < whole; d += lanes) {
        simd::store(o + d, simd::load<V>(context + d) * factor_of_all);
      }
      if constexpr (rest != 0) {
        simd::store_first(o + whole, simd::load_first<V>(context + whole, rest) * factor_of_all,
                          rest);
      }
    } else {
      for (std::size_t d = 0; d < S.value_dim; ++d) o[d * S.o_dim] = context[d] * factor_of_all[0];
    }
  }

  // Vectors of value columns for Rows queries: context = correction context + p v; if Sums, also
  // the sums of p. Y, here and below: a pointer to values, or scaled_rows.
  template <std::size_t Rows, std::size_t Vectors, std::size_t Last, bool Sums, class Y, class Skip>
  UMBEL_INLINE static void add_context(Y values, const T* p, std::size_t keys, const Skip& skip,
                                       bool is_first, const T* correction, T* context,
                                       T* block_sum) noexcept {
    using W = stored_in<Y>;
    const W* const v = elements(values);
    V sum[Rows][Vectors];
    // Equal in every lane, which saves a load.
    V sum_of_weights[Rows]{};
    UMBEL_UNROLL(8)
    for (std::size_t n = 0; n < Rows; ++n) {
      UMBEL_UNROLL(8)
      for (std::size_t i = 0; i < Vectors; ++i) {
        const T* const from = context + n * context_room + i * lanes;
        sum[n][i] = is_first ? V{} : simd::load<V>(from) * simd::broadcast<V>(correction[n]);
      }
    }
    UMBEL_UNROLL(4)
    for (std::size_t j = 0; j < keys; ++j) {
      V weight[Rows];
      UMBEL_UNROLL(8)
      for (std::size_t n = 0; n < Rows; ++n) {
        weight[n] = simd::broadcast<V>(p[n * score_room + j]);
        if constexpr (Sums) sum_of_weights[n] = sum_of_weights[n] + weight[n];
      }
      if (skip(j)) continue;
      UMBEL_UNROLL(8)
      for (std::size_t n = 0; n < Rows; ++n) weight[n] = with_scale_of_value(weight[n], values, j);
      if constexpr (fetches_values<W> && Sums) simd::fetch<S.value_dim>(v, (j + 16) * S.v_row);
      UMBEL_UNROLL(8)
      for (std::size_t i = 0; i < Vectors; ++i) {
        const W* const from = v + j * S.v_row + i * lanes;
        const V value = i + 1 == Vectors && Last != lanes ? simd::load_first<V>(from, Last)
                                                          : simd::load<V>(from);
        UMBEL_UNROLL(8)
        for (std::size_t n = 0; n < Rows; ++n) {
          sum[n][i] = simd::fma(weight[n], value, sum[n][i]);
        }
      }
    }
    UMBEL_UNROLL(8)
    for (std::size_t n = 0; n < Rows; ++n) {
      if constexpr (Sums) block_sum[n] = sum_of_weights[n][0];
      UMBEL_UNROLL(8)
      for (std::size_t i = 0; i < Vectors; ++i) {
        simd::store(context + n * context_room + i * lanes, sum[n][i]);
      }
    }
  }

  template <std::size_t Rows, class Y, class Skip>
  UMBEL_INLINE static void add_contexts(Y v, const T* p, std::size_t keys, const Skip& skip,
                                        bool is_first, const T* correction, T* context,
                                        T* block_sum) noexcept {
    constexpr std::size_t vectors = context_room / lanes;
    constexpr std::size_t last = S.value_dim - (vectors - 1) * lanes;
    constexpr std::size_t fit = Target.registers * 3 / 4 / Rows;
    constexpr plan::split tiles = plan::split_evenly(vectors, fit > 8 ? 8 : (fit < 1 ? 1 : fit));
    std::size_t at = 0;
    const auto tile = [&]<std::size_t Vectors, std::size_t Last, bool Sums>(
                          std::integral_constant<std::size_t, Vectors>,
                          std::integral_constant<std::size_t, Last>,
                          std::bool_constant<Sums>) UMBEL_LAMBDA_INLINE {
      add_context<Rows, Vectors, Last, Sums>(v + at, p, keys, skip, is_first, correction,
                                             context + at, block_sum);
      at += Vectors * lanes;
    };
    using full = std::integral_constant<std::size_t, lanes>;
    using cut = std::integral_constant<std::size_t, last>;
    using large = std::integral_constant<std::size_t, tiles.large>;
    constexpr std::true_type sums{};
    constexpr std::false_type no_sums{};
    if constexpr (tiles.count() == 1) {
      tile(large{}, cut{}, sums);
    } else {
      tile(large{}, full{}, sums);
      if constexpr (tiles.small_count == 0) {
        for (std::size_t t = 2; t < tiles.large_count; ++t) tile(large{}, full{}, no_sums);
        tile(large{}, cut{}, no_sums);
      } else {
        using smaller = std::integral_constant<std::size_t, tiles.smaller()>;
        for (std::size_t t = 1; t < tiles.large_count; ++t) tile(large{}, full{}, no_sums);
        for (std::size_t t = 1; t < tiles.small_count; ++t) tile(smaller{}, full{}, no_sums);
        tile(smaller{}, cut{}, no_sums);
      }
    }
  }

  // number: the first query's, for the policy. tap: none, or of the softmax.
  template <class K, class Y, class Policy, class Tap = no_tap>
  UMBEL_NOINLINE static void attend_queries(const T* q, K k, Y v, T factor, const Policy& policy,
                                            std::size_t number, T* o, T* scratch,
                                            [[maybe_unused]] Tap tap = {}) noexcept {
    T* const scores = scratch + scores_at;
    T* const query = scratch + query_at;
    T maximum[queries], sum[queries]{}, correction[queries], block_sum[queries]{};
    for (std::size_t n = 0; n < queries; ++n) {
      maximum[n] = simd::math_constants<T>::lowest;
      for (std::size_t d = 0; d < S.head_dim; ++d) {
        query[n * S.head_dim + d] = q[n * S.q_row + d * S.q_dim] * factor;
      }
    }
    const kernel::scores::key_range range = policy.range(number, queries, S.keys);
    if (range.begin >= range.end) {
      for (std::size_t d = 0; d < queries * context_room; ++d) scratch[d] = T{};
    }
    std::size_t end = 0;
    for (std::size_t first = range.begin; first < range.end; first = end) {
      end = kernel::scores::block_end(first, range.end);
      const std::size_t keys = end - first;
      const bool is_first = first == range.begin;
      score_all(from_row(k, first, S.k_row), keys, query, scores);
      const bool full = range.full_begin <= first && end <= range.full_end;
      const Y values = from_row(v, first, S.v_row);
      hidden_keys hidden[Policy::selects ? queries : 1];
      bool some_hidden = false;
      for (std::size_t n = 0; n < queries; ++n) {
        T* const row = scores + n * score_room;
        if (Policy::changes || (Policy::selects && !full)) {
          hidden_keys& of_query = hidden[Policy::selects ? n : 0];
          adjust(policy, range, number + n, first, keys, row, of_query);
          some_hidden = some_hidden || of_query.any;
        }
        const T old_maximum = maximum[n];
        maximum[n] = largest(row, keys, maximum[n]);
        correction[n] = weigh<Policy::selects>(row, keys, maximum[n], old_maximum);
      }
      if (Policy::selects && some_hidden) {
        for (std::size_t n = 0; n < queries; ++n) {
          const hidden_keys& of_query = hidden[Policy::selects ? n : 0];
          add_contexts<1>(
              values, scores + n * score_room, keys, [&](std::size_t j) { return of_query.has(j); },
              is_first, correction + n, scratch + n * context_room, block_sum + n);
        }
      } else {
        add_contexts<queries>(
            values, scores, keys, [](std::size_t) { return false; }, is_first, correction, scratch,
            block_sum);
      }
      for (std::size_t n = 0; n < queries; ++n) {
        sum[n] = is_first ? block_sum[n] : simd::fma(sum[n], correction[n], block_sum[n]);
      }
    }
    for (std::size_t n = 0; n < queries; ++n) {
      write(scratch + n * context_room, sum[n], o + n * S.o_row);
      if constexpr (Tap::stage == tap_stage::softmax) {
        tap.maximum[number + n] = maximum[n];
        tap.inverse[number + n] = inverse_sum(sum[n]);
      }
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::detail
UMBEL_WARNINGS_POP
