// SPDX-License-Identifier: BSL-1.0
// 8-bit integer attention with queries in the lanes: each lane has its largest score and sums of
// weights; keys and values are spread. Few queries: attend_few.hpp. The same bits as
// plain::integer_attend.
//
// Keys are the moved operand (simd/dot.hpp): this adds the same to all scores of a query, and only
// distances from the largest matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/attend_lanes.hpp>
#include <umbel/kernel/integer_shapes.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/simd/dot.hpp>
#include <umbel/simd/narrow.hpp>

#if UMBEL_DOT_VECTORS
UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// Scratch of one head: prepared keys, values by four keys, and scores and weights of one vector of
// queries.
template <integer_attend_shape S>
struct integer_attend_block_scratch {
  static constexpr std::size_t lanes = simd::dot_lanes, fours = (S.keys + 3) / 4;
  alignas(64) simd::dot_word keys[4 * fours * (S.head_dim / 4)];
  alignas(64) simd::weigh_word values[fours * S.value_dim];
  alignas(64) std::int32_t scores[4 * fours * lanes];
  alignas(64) std::int32_t weights[fours * lanes];
};

template <integer_attend_shape S>
struct integer_attend_block {
  using words = simd::dot_words;
  static constexpr std::size_t lanes = simd::dot_lanes;
  static constexpr std::size_t key_words = S.head_dim / 4;
  using scratch = integer_attend_block_scratch<S>;

  // Keys and values from `begin`, a multiple of 4, to `end`, padded to four.
  UMBEL_INLINE static void prepare(const std::int8_t* k, const std::int8_t* v, std::size_t begin,
                                   std::size_t end, scratch& work) noexcept {
    for (std::size_t j = begin; j < end; ++j)
      simd::dot_prepare(k + j * S.k_row, S.head_dim, work.keys + j * key_words);
    for (std::size_t j = end; j % 4 != 0; ++j)
      for (std::size_t w = 0; w < key_words; ++w) work.keys[j * key_words + w] = {};
    for (std::size_t j = begin; j < end; j += 4) {
      const std::int8_t* rows[4];
      for (std::size_t i = 0; i < 4; ++i) rows[i] = v + (j + i < end ? j + i : end - 1) * S.v_row;
      simd::weigh_word* const to = work.values + j / 4 * S.value_dim;
      if constexpr (simd::weigh_by_bytes) {
        integer_attention::interleave_all<S.value_dim>(rows, to);
      } else {
        std::int32_t all[S.value_dim];
        integer_attention::interleave_all<S.value_dim>(rows, all);
        for (std::size_t f = 0; f < S.value_dim; f += lanes)  // value_dim is whole words
          simd::weigh_store(to + f, simd::load_words(all + f));
      }
    }
  }

  template <std::size_t Keys>
  UMBEL_INLINE static void scores_of(const simd::dot_vector (&q)[key_words],
                                     const simd::dot_word* keys, words (&to)[Keys]) noexcept {
    UMBEL_UNROLL(8)
    for (std::size_t u = 0; u < Keys; ++u) to[u] = words{};
    const auto add = [&](std::size_t w) UMBEL_LAMBDA_INLINE {
      UMBEL_UNROLL(8)
      for (std::size_t u = 0; u < Keys; ++u)
        to[u] = simd::dot(to[u], simd::dot_spread(keys + u * key_words + w), q[w]);
    };
    if constexpr (simd::dot_by_pairs) {
      // With several words at once, g++ builds trees of sums that overflow the registers.
      UMBEL_UNROLL(1)
      for (std::size_t w = 0; w < key_words; ++w) add(w);
    } else {
      UMBEL_UNROLL(16)
      for (std::size_t w = 0; w < key_words; ++w) add(w);
    }
  }

  // Contexts of Features features from Feature on, for Count queries. weights_of(g): the weights of
  // four keys; mean(): known after all of them.
  template <std::size_t Count, std::size_t Feature, std::size_t Features, class Weights, class Mean>
  UMBEL_INLINE static void contexts_of(std::size_t begin, std::size_t end,
                                       const Weights& weights_of, const Mean& mean_of,
                                       std::int8_t* o, const scratch& work) noexcept {
    words context[Features]{};
    for (std::size_t g = begin; g < end; ++g) {
      const simd::weigh_vector weights = weights_of(g);
      UMBEL_UNROLL(16)
      for (std::size_t f = 0; f < Features; ++f)
        context[f] = simd::weigh(context[f], weights,
                                 simd::weigh_spread(work.values + g * S.value_dim + Feature + f));
    }
    const integer_attention::averages mean = mean_of();
    UMBEL_UNROLL(4)
    for (std::size_t f = 0; f < Features; f += 16) {
      words out[4]{};
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < 4; ++i) {
        if (f + 4 * i >= Features) break;
        const auto at = [&](std::size_t e) UMBEL_LAMBDA_INLINE {
          return integer_attention::averaged<S.keys>(context[f + 4 * i + e], mean);
        };
        out[i] = simd::words_of(simd::halves_of(at(0), at(1)), simd::halves_of(at(2), at(3)));
      }
      std::int8_t* const to = o + Feature + f;
      if (f + 16 <= Features) {
        integer_attention::store_words_of_rows<Count>(out, to, S.o_row);
      } else {
        for (std::size_t i = 0; f + 4 * i < Features; ++i)
          for (std::size_t r = 0; r < Count; ++r)
            __builtin_memcpy(to + r * S.o_row + 4 * i,
                             reinterpret_cast<const char*>(&out[i]) + 4 * r, 4);
      }
    }
  }
  // Are the first features' contexts summed while weights are made? Sums and the constants of
  // weights need all of 32 registers.
  static constexpr bool weighed_at_once = UMBEL_VECTOR_REGISTERS >= 32;
  static constexpr std::size_t features_at_once = weighed_at_once ? 16 : 8;
  template <std::size_t Count, std::size_t Feature, class Mean>
  UMBEL_INLINE static void other_contexts(std::size_t begin, std::size_t end, const Mean& mean_of,
                                          std::int8_t* o, const scratch& work) noexcept {
    constexpr std::size_t left = S.value_dim - Feature;
    constexpr std::size_t some = left < features_at_once ? left : features_at_once;
    if constexpr (some != 0) {
      const auto weights_of = [&](std::size_t g) UMBEL_LAMBDA_INLINE {
        return simd::weigh_operand(simd::load_words(work.weights + g * lanes));
      };
      contexts_of<Count, Feature, some>(begin, end, weights_of, mean_of, o, work);
      other_contexts<Count, Feature + some>(begin, end, mean_of, o, work);
    }
  }

  template <std::size_t Count, class Policy>
  UMBEL_INLINE static void attend(const std::int8_t* q, std::size_t first,
                                  const integer_softmax& softmax, const Policy& policy,
                                  std::int8_t* o, scratch& work) noexcept {
    using namespace integer_attention;
    using V = simd::pack<float, lanes>;
    const scores::key_range range = policy.range(first, Count, S.keys);
    const auto over = policy.template over<V>(first, Count);
    const std::size_t begin = range.begin / 4, end = (range.end + 3) / 4;
    const auto all_seen = [&](std::size_t g) UMBEL_LAMBDA_INLINE {
      return 4 * g >= range.full_begin && 4 * g + 4 <= range.full_end;
    };
    words rows[key_words];
    words_of_rows<Count>(q + first * S.q_row, S.q_row, rows);
    simd::dot_vector own[key_words];
    UMBEL_UNROLL(16)
    for (std::size_t w = 0; w < key_words; ++w) own[w] = simd::dot_operand(rows[w]);

    words largest = words{} + no_score;
    const auto keep = [&]<std::size_t Keys>(std::size_t g, words(&score)[Keys])
                          UMBEL_LAMBDA_INLINE {
                            UMBEL_UNROLL(8)
                            for (std::size_t u = 0; u < Keys; ++u) {
                              largest = simd::larger_words(score[u], largest);
                              simd::store_words(work.scores + (4 * g + u) * lanes, score[u]);
                            }
                          };
    for (std::size_t g = begin; g < end;) {
      if (g + 2 <= end && all_seen(g) && all_seen(g + 1)) {
        words score[8];
        scores_of(own, work.keys + 4 * g * key_words, score);
        keep(g, score);
        g += 2;
        continue;
      }
      words score[4];
      scores_of(own, work.keys + 4 * g * key_words, score);
      if (!all_seen(g)) {
        for (std::size_t u = 0; u < 4; ++u) {
          const std::size_t j = 4 * g + u;
          if (j < range.begin || j >= range.end)
            score[u] = words{} + hidden_score;
          else
            score[u] =
                simd::select(simd::mask_as<words>(over.sees(j)), score[u], words{} + hidden_score);
        }
      }
      keep(g, score);
      ++g;
    }

    const weights_of_scores by(largest, softmax);
    const auto ones = simd::weigh_operand(words{} + 0x01010101);
    words sum{};
    const auto weights_of = [&](std::size_t g) UMBEL_LAMBDA_INLINE {
      words s[4];
      UMBEL_UNROLL(4)
      for (std::size_t u = 0; u < 4; ++u)
        s[u] = simd::load_words(work.scores + (4 * g + u) * lanes);
      words weights = by(s[0], s[1], s[2], s[3]);
      if (!all_seen(g)) weights &= seen_bytes(s[0], s[1], s[2], s[3]);
      if constexpr (!weighed_at_once || S.value_dim > features_at_once)
        simd::store_words(work.weights + g * lanes, weights);
      const simd::weigh_vector operand = simd::weigh_operand(weights);
      sum = simd::weigh(sum, operand, ones);
      return operand;
    };
    averages mean;
    const auto mean_of = [&]() UMBEL_LAMBDA_INLINE {
      mean = averages_over<S.keys>(simd::select(simd::equal(sum, words{}), words{} + 127, sum));
      return mean;
    };
    constexpr std::size_t some = !weighed_at_once                 ? 0
                                 : S.value_dim < features_at_once ? S.value_dim
                                                                  : features_at_once;
    std::int8_t* const to = o + first * S.o_row;
    if constexpr (weighed_at_once) {
      contexts_of<Count, 0, some>(begin, end, weights_of, mean_of, to, work);
    } else {
      for (std::size_t g = begin; g < end; ++g) static_cast<void>(weights_of(g));
      static_cast<void>(mean_of());
    }
    other_contexts<Count, some>(begin, end, [&]() UMBEL_LAMBDA_INLINE { return mean; }, to, work);
  }
};

template <integer_attend_shape S, class Policy>
UMBEL_INLINE void integer_attend_by_blocks(const std::int8_t* q, const std::int8_t* k,
                                           const std::int8_t* v, const integer_softmax& softmax,
                                           const Policy& policy, std::int8_t* o,
                                           integer_attend_block_scratch<S>& work) noexcept {
  using block = integer_attend_block<S>;
  const scores::key_range range = policy.range(0, S.queries, S.keys);
  if (range.begin < range.end) block::prepare(k, v, range.begin / 4 * 4, range.end, work);
  constexpr std::size_t tail = S.queries % block::lanes;
  // (A condition that is always true would change g++'s order of instructions.)
  constexpr bool counts = requires { policy.wanted; };
  for (std::size_t i = 0; i + block::lanes <= S.queries; i += block::lanes) {
    if constexpr (counts)
      if (!wants(policy, i)) return;
    block::template attend<block::lanes>(q, i, softmax, policy, o, work);
  }
  if constexpr (counts && tail != 0)
    if (!wants(policy, S.queries - tail)) return;
  if constexpr (tail != 0)
    block::template attend<tail>(q, S.queries - tail, softmax, policy, o, work);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
#endif
