// SPDX-License-Identifier: BSL-1.0
// 8-bit integer attention for few queries, one after another: keys in the lanes, four vectors at a
// time, then features. Keys and values are read in place. The same bits as plain::integer_attend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/attend_lanes.hpp>
#include <umbel/kernel/plain/integers.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/simd/transpose.hpp>

#if UMBEL_DOT_VECTORS
UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// A query's scores, then its weights: word l of a block of 4 * lanes keys holds those of keys l, l
// + lanes, l + 2 lanes, l + 3 lanes.
template <integer_attend_shape S>
struct integer_attend_few_scratch {
  static constexpr std::size_t block = 4 * simd::dot_lanes;
  alignas(64) std::int32_t scores[(S.keys + block - 1) / block * block];
};

template <integer_attend_shape S>
struct integer_attend_few {
  using words = simd::dot_words;
  static constexpr std::size_t lanes = simd::dot_lanes, block = 4 * lanes;
  static constexpr std::size_t key_words = S.head_dim / 4;
  using scratch = integer_attend_few_scratch<S>;

  // Are keys read as half a vector each? A pack then has words w of four keys, w + 4 of the same,
  // and both of four others.
  static constexpr bool by_halves = lanes == 16 && key_words % 8 == 0;

  // The operands of a query.
  UMBEL_INLINE static void spread(const std::int8_t* q,
                                  simd::dot_vector (&to)[key_words]) noexcept {
    UMBEL_UNROLL(16)
    for (std::size_t w = 0; w < key_words; ++w) {
      words all = words{} + simd::word_at(q + 4 * w);
#if UMBEL_AVX512_16_BIT
      if constexpr (by_halves) {
        // to[w] and to[w + 4] are equal.
        const auto four = [&](std::size_t i) UMBEL_LAMBDA_INLINE {
          return integer_attention::four_words{} + simd::word_at(q + 4 * (w / 8 * 8 + w % 4 + i));
        };
        all = integer_attention::joined({four(0), four(4), four(0), four(4)});
      }
#endif
      to[w] = simd::dot_operand(all);
    }
  }

#if UMBEL_AVX512_16_BIT
  // Scores of `lanes` keys, by halves.
  UMBEL_INLINE static words scores_by_halves(const simd::dot_vector (&q)[key_words],
                                             const std::int8_t* keys, std::size_t row) noexcept {
    using half = simd::pack<std::int32_t, lanes / 2>;
    words sums[2]{};
    UMBEL_UNROLL(8)
    for (std::size_t w = 0; w < key_words; w += 8) {
      UMBEL_UNROLL(2)
      for (std::size_t eight = 0; eight < 2; ++eight) {
        words four[4];
        UMBEL_UNROLL(4)
        for (std::size_t i = 0; i < 4; ++i) {
          half rows[2];
          const std::int8_t* const at = keys + (8 * eight + i) * row + 4 * w;
          __builtin_memcpy(&rows[0], at, sizeof(half));
          __builtin_memcpy(&rows[1], at + 4 * row, sizeof(half));
          four[i] = integer_attention::joined(rows);
        }
        simd::detail::transpose_fours(four);
        UMBEL_UNROLL(4)
        for (std::size_t i = 0; i < 4; ++i)
          sums[eight] = simd::dot(sums[eight], simd::dot_moved_operand(four[i]), q[w + i]);
      }
    }
    constexpr auto all = std::make_index_sequence<lanes>{};
    return simd::detail::fours_of<0>(sums[0], sums[1], all) +
           simd::detail::fours_of<1>(sums[0], sums[1], all);
  }
#endif
  UMBEL_INLINE static words scores_of(const simd::dot_vector (&q)[key_words],
                                      const std::int8_t* keys, std::size_t row) noexcept {
    using namespace integer_attention;
#if UMBEL_AVX512_16_BIT
    if constexpr (by_halves) return scores_by_halves(q, keys, row);
#endif
    words sums[2]{};
    UMBEL_UNROLL(16)
    for (std::size_t w = 0; w + 4 <= key_words; w += 4) {
      words four[4];
      four_words_of_rows<lanes>(keys + 4 * w, row, four);
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < 4; ++i)
        sums[i % 2] = simd::dot(sums[i % 2], simd::dot_moved_operand(four[i]), q[w + i]);
    }
    for (std::size_t w = key_words / 4 * 4; w < key_words; ++w)
      sums[0] =
          simd::dot(sums[0], simd::dot_moved_operand(word_of_rows<lanes>(keys + 4 * w, row)), q[w]);
    return sums[0] + sums[1];
  }

  // Words with byte f of each of four rows, for Features features.
  template <std::size_t Features>
  UMBEL_INLINE static words values_of(const std::int8_t* const (&rows)[4],
                                      std::size_t from) noexcept {
    using namespace integer_attention;
    simd::pack<std::int8_t, 16> r[4];
    UMBEL_UNROLL(4)
    for (std::size_t i = 0; i < 4; ++i) r[i] = bytes_at<Features>(rows[i] + from);
    four_words all[lanes / 4];
    const interleaved_words low = interleaved<false>(r), high = interleaved<true>(r);
    UMBEL_UNROLL(4)
    for (std::size_t i = 0; i < lanes / 4; ++i) all[i] = i < 2 ? low.of[i] : high.of[i % 2];
    return joined(all);
  }
  // Two packs; one shuffle each if the target shuffles arbitrary bytes.
  UMBEL_INLINE static void values_of(const std::int8_t* const (&rows)[4], std::size_t from,
                                     words (&to)[2]) noexcept {
#if UMBEL_AVX512_VBMI && UMBEL_AVX512_16_BIT
    using namespace integer_attention;
    {
      using half = simd::pack<std::int32_t, 8>;
      half row[4];
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < 4; ++i) __builtin_memcpy(&row[i], rows[i] + from, sizeof(half));
      const auto low = reinterpret_cast<simd::dot_bytes>(joined({row[0], row[1]}));
      const auto high = reinterpret_cast<simd::dot_bytes>(joined({row[2], row[3]}));
      const auto bytes = [&]<std::size_t First, std::size_t... I>(std::index_sequence<First>,
                                                                  std::index_sequence<I...>)
                             UMBEL_LAMBDA_INLINE {
                               return reinterpret_cast<words>(__builtin_shufflevector(
                                   low, high, (First + I / 4 + I % 4 * 32)...));
                             };
      constexpr auto all = std::make_index_sequence<64>{};
      to[0] = bytes(std::index_sequence<0>{}, all);
      to[1] = bytes(std::index_sequence<16>{}, all);
    }
#else
    to[0] = values_of<lanes>(rows, from);
    to[1] = values_of<lanes>(rows, from + lanes);
#endif
  }
  template <std::size_t Feature, std::size_t Vectors>
  UMBEL_INLINE static void add_values(words (&context)[Vectors],
                                      const std::int8_t* const (&rows)[4],
                                      std::int32_t weights_of_rows) noexcept {
    constexpr std::size_t left = S.value_dim - Feature, whole = left / lanes;
    const auto weights = simd::weigh_operand(words{} + weights_of_rows);
    const auto add = [&](std::size_t i, words values) UMBEL_LAMBDA_INLINE {
      context[i] = simd::weigh(context[i], weights, simd::weigh_operand(values));
    };
    constexpr std::size_t all = whole < Vectors ? whole : Vectors;
    UMBEL_UNROLL(8)
    for (std::size_t i = 0; i + 2 <= all; i += 2) {
      words values[2];
      values_of(rows, Feature + i * lanes, values);
      add(i, values[0]);
      add(i + 1, values[1]);
    }
    if constexpr (all % 2 != 0) add(all - 1, values_of<lanes>(rows, Feature + (all - 1) * lanes));
    if constexpr (all < Vectors) add(all, values_of<left % lanes>(rows, Feature + all * lanes));
  }

  // Vectors packs of features from Feature on.
  template <std::size_t Feature, std::size_t Vectors>
  UMBEL_INLINE static void contexts_of(const std::int8_t* v, std::size_t begin, std::size_t end,
                                       const plain::average& mean, std::int8_t* o,
                                       const scratch& work) noexcept {
    constexpr std::size_t left = S.value_dim - Feature;
    // With few features, two sums each: a product waits for the previous one.
    constexpr std::size_t sums = simd::dot_moved != 0 && Vectors <= 2 ? 2 : 1;
    words parts[sums][Vectors]{};
    std::size_t j = begin;
    const std::int32_t* weights = work.scores;
    if constexpr (S.keys >= block)  // else g++ warns of rows that no mask can ask for
      for (; j + block <= end; j += block)
        for (std::size_t l = 0; l < lanes; l += sums) {
          UMBEL_UNROLL(2)
          for (std::size_t p = 0; p < sums; ++p) {
            const std::int8_t* const at = v + (j + l + p) * S.v_row;
            add_values<Feature>(
                parts[p],
                {at, at + lanes * S.v_row, at + 2 * lanes * S.v_row, at + 3 * lanes * S.v_row},
                *weights++);
          }
        }
    for (std::size_t l = 0; l < lanes && j + l < end; ++l) {
      const std::int8_t* rows[4];
      for (std::size_t u = 0; u < 4; ++u) {
        const std::size_t at = j + u * lanes + l;
        rows[u] = v + (at < end ? at : end - 1) * S.v_row;
      }
      add_values<Feature>(parts[0], rows, *weights++);
    }
    words context[Vectors];
    UMBEL_UNROLL(8)
    for (std::size_t i = 0; i < Vectors; ++i)
      context[i] = sums == 1 ? parts[0][i] : parts[0][i] + parts[sums - 1][i];
    UMBEL_UNROLL(8)
    for (std::size_t i = 0; i < Vectors; ++i) {
      const words mean_of = ((context[i] >> mean.drop) * mean.inverse + (1 << 23)) >> 24;
      const auto bytes = __builtin_convertvector(mean_of, simd::pack<std::int8_t, lanes>);
      __builtin_memcpy(o + Feature + i * lanes, &bytes,
                       (i + 1) * lanes <= left ? lanes : left % lanes);
    }
  }
  template <std::size_t Feature = 0>
  UMBEL_INLINE static void all_contexts(const std::int8_t* v, std::size_t begin, std::size_t end,
                                        const plain::average& mean, std::int8_t* o,
                                        const scratch& work) noexcept {
    constexpr std::size_t left = S.value_dim - Feature, most = 8 * lanes;
    constexpr std::size_t some = left < most ? left : most;
    contexts_of<Feature, (some + lanes - 1) / lanes>(v, begin, end, mean, o, work);
    if constexpr (some < left) all_contexts<Feature + some>(v, begin, end, mean, o, work);
  }

  template <class Policy>
  UMBEL_INLINE static void attend(const std::int8_t* q, const std::int8_t* k, const std::int8_t* v,
                                  std::size_t query, const integer_softmax& softmax,
                                  const Policy& policy, std::int8_t* o, scratch& work) noexcept {
    using namespace integer_attention;
    const scores::key_range range = policy.range(query, 1, S.keys);
    const auto over = policy.template over<float>(query, 1);
    simd::dot_vector own[key_words];
    spread(q + query * S.q_row, own);

    words largest = words{} + no_score;
    for (std::size_t j = range.begin; j < range.end; j += lanes) {
      const std::size_t count = range.end - j;
      words score;
      if (count >= lanes) {
        score = scores_of(own, k + j * S.k_row, S.k_row);
      } else {
        alignas(64) std::int8_t rest[lanes * S.head_dim];
        for (std::size_t l = 0; l < lanes; ++l)
          __builtin_memcpy(rest + l * S.head_dim, k + (j + (l < count ? l : count - 1)) * S.k_row,
                           S.head_dim);
        score = scores_of(own, rest, S.head_dim);
      }
      if (j < range.full_begin || j + lanes > range.full_end)
        for (std::size_t l = 0; l < lanes; ++l)
          if (l >= count || !over.sees(j + l)) score[l] = hidden_score;
      largest = simd::larger_words(score, largest);
      simd::store_words(work.scores + (j - range.begin), score);
    }
    const std::size_t keys = range.end - range.begin;
    for (std::size_t j = (keys + lanes - 1) / lanes * lanes; j % block != 0; j += lanes)
      simd::store_words(work.scores + j, words{} + hidden_score);
    std::int32_t top = no_score;
    for (std::size_t l = 0; l < lanes; ++l) top = largest[l] > top ? largest[l] : top;

    const weights_of_scores by(words{} + top, softmax);
    const auto ones = simd::weigh_operand(words{} + 0x01010101);
    words sums{};
    for (std::size_t j = 0; j < keys; j += block) {
      words s[4];
      UMBEL_UNROLL(4)
      for (std::size_t u = 0; u < 4; ++u) s[u] = simd::load_words(work.scores + j + u * lanes);
      const words weights = by(s[0], s[1], s[2], s[3]) & seen_bytes(s[0], s[1], s[2], s[3]);
      simd::store_words(work.scores + j / 4, weights);  // over scores that were read
      sums = simd::weigh(sums, simd::weigh_operand(weights), ones);
    }
    std::int32_t sum = 0;
    for (std::size_t l = 0; l < lanes; ++l) sum += sums[l];
    all_contexts(v, range.begin, range.end, plain::average_over(sum == 0 ? 127 : sum),
                 o + query * S.o_row, work);
  }
};

template <integer_attend_shape S, class Policy>
UMBEL_INLINE void integer_attend_one_by_one(const std::int8_t* q, const std::int8_t* k,
                                            const std::int8_t* v, const integer_softmax& softmax,
                                            const Policy& policy, std::int8_t* o,
                                            integer_attend_few_scratch<S>& work) noexcept {
  for (std::size_t i = 0; i < S.queries && wants(policy, i); ++i)
    integer_attend_few<S>::attend(q, k, v, i, softmax, policy, o, work);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
#endif
