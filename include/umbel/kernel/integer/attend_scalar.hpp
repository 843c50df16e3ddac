// SPDX-License-Identifier: BSL-1.0
// 8-bit integer attention on cores without vectors: four queries at a time if values are transposed
// (v_row 1), each feature's keys adjacent; else query by query. 16-bit weights are computed query
// by query on every target. plain/integers.hpp defines the bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/linear_scalar.hpp>
#include <umbel/kernel/plain/integers.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/simd/four_rows.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::scalar {

// The score of a hidden pair.
inline constexpr std::int32_t unseen = INT32_MIN;

template <integer_attend_shape S>
inline constexpr bool by_four_queries = S.queries >= 3 && S.v_row == 1 && S.weight_bits == 8;

// Scratch of one head: the scores of one or four queries, which become weights.
template <integer_attend_shape S>
struct attend_scratch {
  std::int32_t scores[by_four_queries<S> ? 4 * in_words(S.keys) : S.keys];
};

// plain::power_of_half in fewer steps: rounding down to 1/256 twice equals once to 1/65536.
template <int Bits = 8>
UMBEL_INLINE constexpr std::int32_t power_of_half(std::int32_t t) noexcept {
  if constexpr (Bits == 16) return plain::power_of_half<16>(t);
  const std::int32_t fraction = static_cast<std::uint8_t>(t);
  const std::int32_t power = (32512 * 256 + 255) - fraction * (21835 - ((fraction * 5579) >> 8));
  return ((power >> (t >> 8)) + 32768) >> 16;
}

// Turns scores, Step apart, into weights; returns their sum. Hidden: some pairs may be hidden.
template <bool Hidden, std::size_t Step, int Bits = 8>
UMBEL_NOINLINE std::int32_t weigh(std::int32_t* scores, std::size_t count, std::int32_t largest,
                                  const integer_softmax& softmax) noexcept {
  // All scores below weigh the same. Not below the smallest number.
  const std::uint32_t above_unseen =
      static_cast<std::uint32_t>(largest) - static_cast<std::uint32_t>(unseen);
  const std::int32_t least =
      static_cast<std::uint32_t>(softmax.cut) > above_unseen ? unseen : largest - softmax.cut;
  const std::int32_t multiplier = softmax.multiplier;
  const plain::rounding rounded(softmax.shift);
  // rounded((largest - score) * multiplier), whose parts may overflow.
  const auto start = static_cast<std::uint32_t>(largest) * static_cast<std::uint32_t>(multiplier) +
                     static_cast<std::uint32_t>(rounded.half);
  std::int32_t sum = 0;
  for (const std::int32_t* const end = scores + count * Step; scores != end; scores += Step) {
    std::int32_t weight = 0;
    if (!Hidden || *scores != unseen) {
      const std::int32_t score = *scores > least ? *scores : least;
      const auto product =
          static_cast<std::uint32_t>(score) * static_cast<std::uint32_t>(multiplier);
      weight = power_of_half<Bits>(static_cast<std::int32_t>(start - product) >> rounded.shift);
    }
    *scores = weight;
    sum += weight;
  }
  return sum;
}

// Queries first to first + count - 1, at most four. `scores`: their scratch.
template <integer_attend_shape S, class Policy>
UMBEL_NOINLINE void attend_four(const std::int8_t* q, const std::int8_t* k, const std::int8_t* v,
                                const integer_softmax& softmax, const Policy& policy,
                                std::size_t first, std::size_t count, std::int8_t* o,
                                std::int32_t* scores) noexcept {
  static_assert(S.v_dim % 4 == 0 && S.v_dim >= in_words(S.keys));
  constexpr std::size_t words = S.head_dim / 4;
  std::int32_t rows[words * simd::four_rows_word];
  put_rows(rows, q, S.q_row, count, S.head_dim);
  const scores::key_range range = policy.range(first, count, S.keys);
  // Whole words of keys: hidden keys weigh 0, also those before the range.
  const std::size_t begin = range.begin & ~std::size_t{3};
  simd::of_four_rows largest = {unseen, unseen, unseen, unseen};
  std::int32_t* at = scores;
  for (std::size_t j = begin; j < range.end; ++j, at += 4) {
    simd::of_four_rows score = simd::by_column(rows, k + j * S.k_row, words, 0);
    if constexpr (Policy::selects) {
      if (j < range.full_begin || j >= range.full_end) {
        const auto hide = [&](std::size_t r, std::int32_t& of_row) UMBEL_LAMBDA_INLINE {
          if (r >= count || !policy.template over<float>(first + r, 1).sees(j)) of_row = unseen;
        };
        hide(0, score.first), hide(1, score.second), hide(2, score.third), hide(3, score.fourth);
      }
    }
    const auto put = [](std::int32_t& to, std::int32_t& most, std::int32_t of_row)
                         UMBEL_LAMBDA_INLINE {
                           to = of_row;
                           if (of_row > most) most = of_row;
                         };
    put(at[0], largest.first, score.first);
    put(at[1], largest.second, score.second);
    put(at[2], largest.third, score.third);
    put(at[3], largest.fourth, score.fourth);
  }
  const std::size_t keys = range.end > begin ? range.end - begin : 0, padded = in_words(keys);
  for (std::size_t j = keys; j < padded; ++j, at += 4)
    for (std::size_t r = 0; r < 4; ++r) at[r] = 0;
  plain::average means[4];
  const std::int32_t largest_of[] = {largest.first, largest.second, largest.third, largest.fourth};
  for (std::size_t r = 0; r < count; ++r) {
    const std::int32_t sum = weigh<Policy::selects, 4>(scores + r, keys, largest_of[r], softmax);
    means[r] = plain::average_over(sum == 0 ? 127 : sum);
  }
  for (std::size_t r = count; r < 4; ++r)
    for (std::size_t j = 0; j < keys; ++j) scores[4 * j + r] = 0;
  simd::pair_words(scores, padded / 4);
  for (std::size_t d = 0; d < S.value_dim; ++d) {
    simd::of_four_rows context = {0, 0, 0, 0};
    if (keys != 0) context = simd::by_column(scores, v + d * S.v_dim + begin, padded / 4, 0);
    o[d] = plain::averaged(context.first, means[0]);
    if (count > 1) o[S.o_row + d] = plain::averaged(context.second, means[1]);
    if (count > 2) o[2 * S.o_row + d] = plain::averaged(context.third, means[2]);
    if (count > 3) o[3 * S.o_row + d] = plain::averaged(context.fourth, means[3]);
  }
}

// A query's context with 16-bit weights, in groups of as many products as a 32-bit sum holds.
template <integer_attend_shape S>
void average_by_16_bits(const std::int32_t* weights, const std::int8_t* v, std::size_t begin,
                        std::size_t end, const plain::average_of_16_bits& mean,
                        std::int8_t* o) noexcept {
  constexpr std::size_t keys_at_once = 512;
  static_assert(keys_at_once * 32512 * 127 <= 0x7fffffff);
  // Compilers vectorize adjacent features.
  constexpr std::size_t features = S.v_dim == 1 ? 16 : 1;
  for (std::size_t first = 0; first < S.value_dim; first += features) {
    const std::size_t count = S.value_dim - first < features ? S.value_dim - first : features;
    std::int32_t high[features]{}, low[features]{};
    for (std::size_t j = begin; j < end;) {
      std::int32_t sums[features]{};
      const auto add = [&](std::size_t some) {
        for (std::size_t d = 0; d < some; ++d)
          sums[d] += weights[j] * v[j * S.v_row + (first + d) * S.v_dim];
      };
      const std::size_t stop = end - j < keys_at_once ? end : j + keys_at_once;
      if (count == features)
        for (; j < stop; ++j) add(features);
      else
        for (; j < stop; ++j) add(count);
      for (std::size_t d = 0; d < features; ++d) {
        high[d] += sums[d] >> 8;
        low[d] += sums[d] & 255;
      }
    }
    for (std::size_t d = 0; d < count; ++d) o[first + d] = plain::averaged(high[d], low[d], mean);
  }
}

template <integer_attend_shape S, class Policy>
void attend_one(const std::int8_t* q, const std::int8_t* k, const std::int8_t* v,
                const integer_softmax& softmax, const Policy& policy, std::size_t query,
                std::int8_t* o, std::int32_t* scores) noexcept {
  const auto over = policy.template over<float>(query, 1);
  const scores::key_range range = policy.range(query, 1, S.keys);
  std::int32_t largest = unseen;
  for (std::size_t j = range.begin; j < range.end; ++j) {
    std::int32_t sum = unseen;
    if (!Policy::selects || over.sees(j)) {
      sum = 0;
      UMBEL_UNROLL(4)
      for (std::size_t d = 0; d < S.head_dim; ++d) sum += std::int32_t{q[d]} * k[j * S.k_row + d];
    }
    scores[j] = sum;
    if (sum > largest) largest = sum;
  }
  const std::size_t keys = range.end > range.begin ? range.end - range.begin : 0;
  const std::int32_t sum =
      weigh<Policy::selects, 1, S.weight_bits>(scores + range.begin, keys, largest, softmax);
  if constexpr (S.weight_bits == 16) {
    average_by_16_bits<S>(scores, v, range.begin, range.end,
                          plain::average_over_16_bits(sum == 0 ? 32512 : sum), o);
  } else {
    const plain::average mean = plain::average_over(sum == 0 ? 127 : sum);
    for (std::size_t d = 0; d < S.value_dim; ++d) {
      std::int32_t context = 0;
      UMBEL_UNROLL(4)
      for (std::size_t j = range.begin; j < range.end; ++j)
        context += scores[j] * v[j * S.v_row + d * S.v_dim];
      o[d] = plain::averaged(context, mean);
    }
  }
}

template <integer_attend_shape S, class Policy>
void integer_attend(const std::int8_t* q, const std::int8_t* k, const std::int8_t* v,
                    const integer_softmax& softmax, const Policy& policy, std::int8_t* o,
                    attend_scratch<S>& work) noexcept {
  constexpr std::size_t step = by_four_queries<S> ? 4 : 1;
  for (std::size_t i = 0; i < S.queries && wants(policy, i);
       i += step, q += step * S.q_row, o += step * S.o_row) {
    if constexpr (by_four_queries<S>) {
      const std::size_t count = S.queries - i < 4 ? S.queries - i : 4;
      attend_four<S>(q, k, v, softmax, policy, i, count, o, work.scores);
    } else {
      attend_one<S>(q, k, v, softmax, policy, i, o, work.scores);
    }
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::scalar
UMBEL_WARNINGS_POP
