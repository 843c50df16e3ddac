// SPDX-License-Identifier: BSL-1.0
// Attention of 8-bit integers, queries in the lanes: the largest score and the sums of weights are
// each lane's own, and keys and values are spread. For few queries: integer_attend_few.hpp. The
// bits of plain::integer_attend.
//
// Keys are the moved operand (simd/dot.hpp): what that adds to a query's scores is the same for
// all of its keys, and only distances from the largest count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/integer_finish.hpp>
#include <umbel/kernel/plain_integers.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/simd/dot.hpp>
#include <umbel/simd/narrow.hpp>
#include <umbel/simd/transpose.hpp>

#if UMBEL_DOT_VECTORS
UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

namespace integer_attention {

using words = simd::dot_words;
using unsigned_words = simd::unsigned_of<words>;
inline constexpr std::size_t lanes = simd::dot_lanes;

// Below the score of any key, and as far above that of a hidden one as a distance is long.
inline constexpr std::int32_t no_score = -(1 << 30);
inline constexpr std::int32_t hidden_score = INT32_MIN;
// The longest query whose scores, moved, are above no_score.
inline constexpr std::size_t longest_query = (1 << 30) / (255 * 128);

// Scores of four keys, queries in the lanes, or four vectors of keys: their weights as the bytes of
// each lane. power_of_half of plain_integers.hpp in 16 bits.
struct weights_of_scores {
  unsigned_words largest, multiplier;
  words least;
  int shift;

  UMBEL_INLINE weights_of_scores(words top, const integer_softmax& s) noexcept
      : multiplier(unsigned_words{} + s.multiplier), least(top - s.cut), shift(s.shift) {
    // (top - score) * multiplier + half; what leaves 32 bits comes back.
    const std::uint32_t half = shift == 0 ? 0u : 1u << (shift - 1);
    largest = reinterpret_cast<unsigned_words>(top) * multiplier + half;
  }
  UMBEL_INLINE words scaled(words score) const noexcept {
    const words kept = simd::larger_words(score, least);
    return reinterpret_cast<words>(
        (largest - reinterpret_cast<unsigned_words>(kept) * multiplier) >> shift);
  }
  UMBEL_INLINE static simd::dot_halves power(simd::dot_halves t) noexcept {
    using halves = simd::dot_unsigned_halves;
    const auto splat = [](unsigned v)
                           UMBEL_LAMBDA_INLINE { return halves{} + static_cast<std::uint16_t>(v); };
    const auto u = reinterpret_cast<halves>(t);
    const halves fraction = u << 8;
    const halves slope = splat(21835) - simd::high_product(fraction, splat(5579));
    const halves one = splat(32512) - simd::high_product(fraction, slope);
    return reinterpret_cast<simd::dot_halves>((simd::lowered(one, u) + std::uint16_t{128}) >> 8);
  }
  UMBEL_INLINE words operator()(words a, words b, words c, words d) const noexcept {
    return simd::words_of(power(simd::halves_of(scaled(a), scaled(b))),
                          power(simd::halves_of(scaled(c), scaled(d))));
  }
};

// 255 << 8 i where score i is that of a key that is seen.
UMBEL_INLINE words seen_bytes(words a, words b, words c, words d) noexcept {
  const auto seen = [](words s, unsigned byte) UMBEL_LAMBDA_INLINE {
    return reinterpret_cast<words>(s != hidden_score) & static_cast<std::int32_t>(byte);
  };
  return seen(a, 0xffu) | seen(b, 0xff00u) | seen(c, 0xff0000u) | seen(d, 0xff000000u);
}

// plain::average_over in each lane. Most: keys.
struct averages {
  words inverse, drop;
};
template <std::size_t Most>
UMBEL_INLINE averages averages_over(words sum) noexcept {
  words drop{};
  UMBEL_UNROLL(8)
  for (int digits = 14; digits < 21; ++digits)
    if (std::size_t{127} * Most >= (std::size_t{1} << digits))
      drop -= reinterpret_cast<words>(sum >= (std::int32_t{1} << digits));
  // 2^(24 + drop) / sum: what float says is at most one off.
  const auto dividend = reinterpret_cast<unsigned_words>(words{} + (1 << 24))
                        << reinterpret_cast<unsigned_words>(drop);
  using floats = simd::pack<float, lanes>;
  const floats quotient =
      __builtin_convertvector(dividend >> 1, floats) * 2.0f / __builtin_convertvector(sum, floats);
  words inverse = __builtin_convertvector(quotient, words);
  const auto rest = reinterpret_cast<words>(dividend - reinterpret_cast<unsigned_words>(inverse) *
                                                           reinterpret_cast<unsigned_words>(sum));
  inverse += reinterpret_cast<words>(rest < 0);
  inverse -= reinterpret_cast<words>(rest >= sum);
  return {inverse, drop};
}
template <std::size_t Most>
UMBEL_INLINE words averaged(words context, const averages& a) noexcept {
  if constexpr (std::size_t{127} * Most >= (std::size_t{1} << 14)) context >>= a.drop;
  return (context * a.inverse + (1 << 23)) >> 24;
}

// From four lanes of each of lanes / 4 rows, and back.
using four_words = simd::pack<std::int32_t, 4>;
// The lanes of all packs, one after another.
template <class V, std::size_t Count>
UMBEL_INLINE auto joined(const V (&f)[Count]) noexcept {
  if constexpr (Count == 1) {
    return f[0];
  } else {
    const auto both = []<std::size_t... I>(const V& a, const V& b, std::index_sequence<I...>)
                          UMBEL_LAMBDA_INLINE { return __builtin_shufflevector(a, b, I...); };
    simd::pack<simd::element_of<V>, 2 * simd::lanes_of<V>> twos[Count / 2];
    UMBEL_UNROLL(2)
    for (std::size_t i = 0; i < Count / 2; ++i)
      twos[i] = both(f[2 * i], f[2 * i + 1], std::make_index_sequence<2 * simd::lanes_of<V>>{});
    return joined(twos);
  }
}
// to[i]: words i of `lanes` rows, the last of which stands for those that are missing.
template <std::size_t Count>
UMBEL_INLINE void four_words_of_rows(const std::int8_t* from, std::size_t row,
                                     words (&to)[4]) noexcept {
  UMBEL_UNROLL(4)
  for (std::size_t i = 0; i < 4; ++i) {
    four_words fours[lanes / 4];
    UMBEL_UNROLL(4)
    for (std::size_t b = 0; b < lanes / 4; ++b) {
      const std::size_t r = 4 * b + i < Count ? 4 * b + i : Count - 1;
      __builtin_memcpy(&fours[b], from + r * row, 16);
    }
    to[i] = joined(fours);
  }
  simd::detail::transpose_fours(to);
}
template <std::size_t Count>
UMBEL_INLINE words word_of_rows(const std::int8_t* from, std::size_t row) noexcept {
  alignas(sizeof(words)) std::int32_t to[lanes];
  for (std::size_t i = 0; i < lanes; ++i)
    to[i] = simd::word_at(from + (i < Count ? i : Count - 1) * row);
  return simd::load_words(to);
}
// Words of each of `lanes` rows, as an operand of dot() each.
template <std::size_t Count, std::size_t Words>
UMBEL_INLINE void words_of_rows(const std::int8_t* from, std::size_t row,
                                words (&to)[Words]) noexcept {
  UMBEL_UNROLL(8)
  for (std::size_t w = 0; w + 4 <= Words; w += 4) {
    words four[4];
    four_words_of_rows<Count>(from + 4 * w, row, four);
    UMBEL_UNROLL(4)
    for (std::size_t i = 0; i < 4; ++i) to[w + i] = four[i];
  }
  for (std::size_t w = Words / 4 * 4; w < Words; ++w)
    to[w] = word_of_rows<Count>(from + 4 * w, row);
}
template <std::size_t Count>
UMBEL_INLINE void store_words_of_rows(words (&from)[4], std::int8_t* to, std::size_t row) noexcept {
  simd::detail::transpose_fours(from);
  UMBEL_UNROLL(4)
  for (std::size_t b = 0; b < lanes / 4; ++b) {
    UMBEL_UNROLL(4)
    for (std::size_t i = 0; i < 4; ++i)
      if (4 * b + i < Count)
        __builtin_memcpy(to + (4 * b + i) * row, reinterpret_cast<const char*>(&from[i]) + 16 * b,
                         16);
  }
}

// The first Features bytes of 16, the others 0. As one number where they are: g++ puts a part of a
// vector together byte by byte.
template <std::size_t Features>
UMBEL_INLINE simd::pack<std::int8_t, 16> bytes_at(const std::int8_t* from) noexcept {
  simd::pack<std::int8_t, 16> all{};
  if constexpr (Features == 8) {
    simd::pack<std::int64_t, 2> wide{};
    std::int64_t number;
    __builtin_memcpy(&number, from, 8);
    wide[0] = number;
    all = reinterpret_cast<simd::pack<std::int8_t, 16>>(wide);
  } else if constexpr (Features == 4) {
    four_words words_of_all{};
    words_of_all[0] = simd::word_at(from);
    all = reinterpret_cast<simd::pack<std::int8_t, 16>>(words_of_all);
  } else {
    __builtin_memcpy(&all, from, Features);
  }
  return all;
}
// Byte f of each of four rows, for 8 features: the words of one half of rows of 16.
struct interleaved_words {
  four_words of[2];
};
template <bool High>
UMBEL_INLINE interleaved_words interleaved(const simd::pack<std::int8_t, 16> (&r)[4]) noexcept {
  using bytes = simd::pack<std::int8_t, 16>;
  using twos = simd::pack<std::int16_t, 8>;
  const auto two = [](bytes a, bytes b) UMBEL_LAMBDA_INLINE {
    if constexpr (High)
      return reinterpret_cast<twos>(__builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                                            28, 13, 29, 14, 30, 15, 31));
    else
      return reinterpret_cast<twos>(
          __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
  };
  interleaved_words all;
  const twos a = two(r[0], r[1]), b = two(r[2], r[3]);
  all.of[0] = reinterpret_cast<four_words>(__builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11));
  all.of[1] =
      reinterpret_cast<four_words>(__builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15));
  return all;
}
// Words of byte f of each of four rows, for the Features features from `from` on.
template <std::size_t Features>
UMBEL_INLINE void interleave_rows(const std::int8_t* const (&rows)[4], std::size_t from,
                                  std::int32_t* to) noexcept {
  simd::pack<std::int8_t, 16> r[4];
  UMBEL_UNROLL(4)
  for (std::size_t i = 0; i < 4; ++i) r[i] = bytes_at<Features>(rows[i] + from);
  const interleaved_words low = interleaved<false>(r);
  __builtin_memcpy(to, low.of, Features < 8 ? 4 * Features : 32);
  if constexpr (Features > 8) {
    const interleaved_words high = interleaved<true>(r);
    __builtin_memcpy(to + 8, high.of, 4 * Features - 32);
  }
}
template <std::size_t Features>
UMBEL_INLINE void interleave_all(const std::int8_t* const (&rows)[4], std::int32_t* to) noexcept {
  for (std::size_t f = 0; f + 16 <= Features; f += 16) interleave_rows<16>(rows, f, to + f);
  if constexpr (Features % 16 != 0)
    interleave_rows<Features % 16>(rows, Features / 16 * 16, to + Features / 16 * 16);
}

}  // namespace integer_attention

// Scratch of one head: keys as they are multiplied, values by four keys, and of the queries of one
// vector scores and weights.
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

  // Keys and values from `begin`, a multiple of 4, to `end`, filled up to four.
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

  // Scores of Keys keys.
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
      // Of more than one word at once g++ makes trees of sums, beyond all registers.
      UMBEL_UNROLL(1)
      for (std::size_t w = 0; w < key_words; ++w) add(w);
    } else {
      UMBEL_UNROLL(16)
      for (std::size_t w = 0; w < key_words; ++w) add(w);
    }
  }

  // Contexts of the Features features from Feature on, of Count queries. weights_of(g): those of
  // four keys; mean(): known once they all are.
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
  static constexpr std::size_t features_at_once = UMBEL_VECTOR_REGISTERS >= 32 ? 16 : 8;
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

  // Count queries from `first` on.
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
    averages mean;
    const auto weights_of = [&](std::size_t g) UMBEL_LAMBDA_INLINE {
      words s[4];
      UMBEL_UNROLL(4)
      for (std::size_t u = 0; u < 4; ++u)
        s[u] = simd::load_words(work.scores + (4 * g + u) * lanes);
      words weights = by(s[0], s[1], s[2], s[3]);
      if (!all_seen(g)) weights &= seen_bytes(s[0], s[1], s[2], s[3]);
      if constexpr (S.value_dim > features_at_once)
        simd::store_words(work.weights + g * lanes, weights);
      const simd::weigh_vector operand = simd::weigh_operand(weights);
      sum = simd::weigh(sum, operand, ones);
      return operand;
    };
    constexpr std::size_t some = S.value_dim < features_at_once ? S.value_dim : features_at_once;
    std::int8_t* const to = o + first * S.o_row;
    contexts_of<Count, 0, some>(
        begin, end, weights_of,
        [&]() UMBEL_LAMBDA_INLINE {
          mean = averages_over<S.keys>(simd::select(simd::equal(sum, words{}), words{} + 127, sum));
          return mean;
        },
        to, work);
    other_contexts<Count, some>(begin, end, [&]() UMBEL_LAMBDA_INLINE { return mean; }, to, work);
  }
};

template <integer_attend_shape S, class Policy>
UMBEL_INLINE_OPTIMIZED void integer_attend_by_blocks(
    const std::int8_t* q, const std::int8_t* k, const std::int8_t* v,
    const integer_softmax& softmax, const Policy& policy, std::int8_t* o,
    integer_attend_block_scratch<S>& work) noexcept {
  using block = integer_attend_block<S>;
  const scores::key_range range = policy.range(0, S.queries, S.keys);
  if (range.begin < range.end) block::prepare(k, v, range.begin / 4 * 4, range.end, work);
  constexpr std::size_t tail = S.queries % block::lanes;
  for (std::size_t i = 0; i + block::lanes <= S.queries; i += block::lanes)
    block::template attend<block::lanes>(q, i, softmax, policy, o, work);
  if constexpr (tail != 0)
    block::template attend<tail>(q, S.queries - tail, softmax, policy, o, work);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
#endif
