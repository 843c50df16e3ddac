// SPDX-License-Identifier: BSL-1.0
// Numbers that kernels of 8-bit integers are told: sizes, scales, how wide sums may become. What
// is computed with them: plain/integers.hpp. Not here: where scales come from (quantized/).
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// The most 8-bit products that one sum of 32 bits holds: of an input (-128 to 127) by a weight
// (-127 to 127), beside a bias of 25 bits and what rounds; of a weight of attention (0 to 127) by a
// value (-127 to 127); and of a query by a key, where the difference of two sums is to fit.
inline constexpr std::size_t most_input_products =
    (0x7fffffff - (1 << 25) - (1 << 14)) / (128 * 127);
inline constexpr std::size_t most_value_products = 0x7fffffff / (127 * 127);
inline constexpr std::size_t most_score_products = 0x7fffffff / (2 * 127 * 127);
// Of weights of attention of 16 bits (0 to 32512) their sum is what has to fit.
inline constexpr std::size_t most_16_bit_weights = 0x7fffffff / 32512;
// The longest row that a norm takes: sums of its squares, of 32 bits, need digits to be left.
inline constexpr std::size_t longest_integer_norm = 16384;

// 8-bit features lie in groups of four, one 32-bit word: rows of 8-bit scratch are as wide as
// whole words, weights have zeros where there is no feature.
constexpr std::size_t in_words(std::size_t features) noexcept { return (features + 3) / 4 * 4; }

// y(rows, out) = x(rows, in) by weights(out, in). x_row, y_row: elements from one row to the next;
// y_step: from one output to the next, above 1 where y is transposed.
struct integer_linear_shape {
  std::size_t rows, in, out, x_row, y_row, y_step = 1;
  friend constexpr bool operator==(const integer_linear_shape&,
                                   const integer_linear_shape&) = default;
};

// One head: q(queries, head_dim), k(keys, head_dim), v(keys, value_dim), o(queries, value_dim).
// *_row: elements from one query or key to the next; head_dim and value_dim are whole words.
// v_dim: from one feature of a value to the next; where v is transposed, at least the whole words
// of the keys, and v_row is 1. o may be q where their rows are as far apart. weight_bits: of the
// softmax, 8 (0 to 127) or 16 (0 to 32512).
struct integer_attend_shape {
  std::size_t queries, keys, head_dim, value_dim, q_row, k_row, v_row, o_row, v_dim = 1;
  int weight_bits = 8;
  friend constexpr bool operator==(const integer_attend_shape&,
                                   const integer_attend_shape&) = default;
};

// Rotary positions of the heads of rows one after another. head_dim: features from one head to the
// next. Each head has `pairs` of features, pair i the features i * step and i * step + apart.
struct integer_rotate_shape {
  std::size_t rows, heads, head_dim, pairs, step, apart;
  friend constexpr bool operator==(const integer_rotate_shape&,
                                   const integer_rotate_shape&) = default;
};
// Digits behind the point: of cosines and sines, and of what is rotated, in units of the result.
inline constexpr int turn_digits = 14, unturned_digits = 7;

// Scores to weights: 2^-(distance * multiplier / 2^shift / 256) of a score that lies `distance`
// below the largest of its row. Where the distance is `cut` or more, the weight is 0.
struct integer_softmax {
  std::int32_t cut = 1;
  std::uint16_t multiplier = 0;
  std::uint8_t shift = 0;
};

// Gamma, beta and epsilon of a norm along H features (plain::integer_norm), in its own units.
template <std::size_t H>
struct integer_norm_numbers {
  // Of a difference, as many digits are kept as let the sum of H + 1 squares be below 2^32.
  static constexpr int digits = [] {
    int d = 15;
    while ((std::uint64_t{H + 1} << (2 * d)) >= (std::uint64_t{1} << 32)) --d;
    return d;
  }();
  std::int32_t beta[H]{};   // below 2^30 each
  std::int16_t gamma[H]{};  // times sqrt(H)
  std::int32_t epsilon = 0;
  std::uint8_t shift = 0;
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
