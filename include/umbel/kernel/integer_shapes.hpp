// SPDX-License-Identifier: BSL-1.0
// Parameters of 8-bit integer kernels: sizes, scales, limits of sums. Their use:
// plain/integers.hpp. The scales come from quantized/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// The most 8-bit products in a 32-bit sum: of an input (-128 to 127) by a weight (-127 to 127),
// plus a 25-bit bias and rounding; of an attention weight (0 to 127) by a value (-127 to 127); and
// of a query by a key, so that the difference of two sums fits.
inline constexpr std::size_t most_input_products =
    (0x7fffffff - (1 << 25) - (1 << 14)) / (128 * 127);
inline constexpr std::size_t most_value_products = 0x7fffffff / (127 * 127);
inline constexpr std::size_t most_score_products = 0x7fffffff / (2 * 127 * 127);
// The sum of 16-bit attention weights (0 to 32512) must fit.
inline constexpr std::size_t most_16_bit_weights = 0x7fffffff / 32512;
// The longest row of a norm: sums of its squares, in 32 bits, must leave digits.
inline constexpr std::size_t longest_integer_norm = 16384;

// 8-bit features come in groups of four, one 32-bit word: rows of 8-bit scratch are whole words,
// and missing features have zero weights.
constexpr std::size_t in_words(std::size_t features) noexcept { return (features + 3) / 4 * 4; }

// y(rows, out) = x(rows, in) by weights(out, in). x_row, y_row: elements between rows; y_step:
// between outputs, above 1 if y is transposed.
struct integer_linear_shape {
  std::size_t rows, in, out, x_row, y_row, y_step = 1;
  friend constexpr bool operator==(const integer_linear_shape&,
                                   const integer_linear_shape&) = default;
};

// One head: q(queries, head_dim), k(keys, head_dim), v(keys, value_dim), o(queries, value_dim).
// *_row: elements between queries or keys; head_dim and value_dim are whole words. v_dim: elements
// between features of a value; if v is transposed, at least the keys' whole words, with v_row 1. o
// may be q if their rows have the same distance. weight_bits: the softmax's, 8 (0 to 127) or 16 (0
// to 32512).
struct integer_attend_shape {
  std::size_t queries, keys, head_dim, value_dim, q_row, k_row, v_row, o_row, v_dim = 1;
  int weight_bits = 8;
  friend constexpr bool operator==(const integer_attend_shape&,
                                   const integer_attend_shape&) = default;
};

// The policy of a head of which only the first queries are wanted. A kernel may compute more.
template <class Policy>
struct of_first_queries : Policy {
  std::size_t wanted;
};
template <class Policy>
UMBEL_INLINE constexpr bool wants(const Policy& policy, std::size_t query) noexcept {
  if constexpr (requires { policy.wanted; })
    return query < policy.wanted;
  else
    return true;
}

// Rotary positions of the heads of consecutive rows. head_dim: features between heads. Each head
// has `pairs` pairs; pair i is features i * step and i * step + apart.
struct integer_rotate_shape {
  std::size_t rows, heads, head_dim, pairs, step, apart;
  friend constexpr bool operator==(const integer_rotate_shape&,
                                   const integer_rotate_shape&) = default;
};
// Fraction digits of cosines and sines, and of rotated numbers, in units of the result.
inline constexpr int turn_digits = 14, unturned_digits = 7;

// Scores to weights: 2^-(distance * multiplier / 2^shift / 256) for a score `distance` below its
// row's largest; 0 from distance `cut` on.
struct integer_softmax {
  std::int32_t cut = 1;
  std::uint16_t multiplier = 0;
  std::uint8_t shift = 0;
};

// Gamma, beta and epsilon of a norm along H features (plain::integer_norm), in the norm's units.
template <std::size_t H>
struct integer_norm_numbers {
  // Digits kept of a difference, so that the sum of H + 1 squares is below 2^32.
  static constexpr int digits = [] {
    int d = 15;
    while ((std::uint64_t{H + 1} << (2 * d)) >= (std::uint64_t{1} << 32)) --d;
    return d;
  }();
  std::int32_t beta[H]{};   // each below 2^30
  std::int16_t gamma[H]{};  // times sqrt(H)
  std::int32_t epsilon = 0;
  std::uint8_t shift = 0;
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
