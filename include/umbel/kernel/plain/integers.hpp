// SPDX-License-Identifier: BSL-1.0
// The definition of attention, linear maps and norms in 8-bit integers: the shortest loops that
// compute each result, usable in constant expressions. Integer sums have no order, so there is one
// set of bits for all targets, compilers, tiles and workers. Nothing needs 64 bits; the bounds that
// keep each value within 32 are given with it.
//
// Numbers: activations int8, one scale per tensor; weights int8, -127 to 127, one scale per output;
// sums int32; residual sums int16. docs/integers.md explains the scheme.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/integer_shapes.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/simd/saturate.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::plain {

// Saturates to 8 or 16 bits, without -128, which no tensor of this library holds, or -32768.
constexpr std::int8_t to_int8(std::int32_t v) noexcept {
  return static_cast<std::int8_t>(simd::saturated<8>(v));
}
constexpr std::int16_t to_int16(std::int32_t v) noexcept {
  return static_cast<std::int16_t>(simd::saturated<16>(v));
}

// v / 2^shift, rounded to nearest, halves up. shift: 0 to 30; v + 2^(shift - 1) < 2^31.
constexpr std::int32_t round_shift(std::int32_t v, int shift) noexcept {
  return shift == 0 ? v : (v + (std::int32_t{1} << (shift - 1))) >> shift;
}

// round_shift with one shift in loops, without a branch. half: the rounding term, 0 for shift 0.
struct rounding {
  std::int32_t half;
  int shift;

  UMBEL_INLINE constexpr explicit rounding(int by) noexcept
      : half((std::int32_t{1} << by) >> 1), shift(by) {}
  UMBEL_INLINE constexpr std::int32_t operator()(std::int32_t v) const noexcept {
    return (v + half) >> shift;
  }
};

// A sum of products in units of the result: sum * multiplier / 2^(before + after). The maker of the
// numbers guarantees |sum / 2^before| * multiplier < 2^31 (quantized/pack.hpp).
constexpr std::int32_t rescaled(std::int32_t sum, std::int32_t multiplier, int before,
                                int after) noexcept {
  return round_shift(round_shift(sum, before) * multiplier, after);
}

// floor(sqrt(v)), digit by digit.
constexpr std::uint32_t square_root(std::uint32_t v) noexcept {
  std::uint32_t root = 0;
  for (std::uint32_t bit = std::uint32_t{1} << 30; bit != 0; bit >>= 2) {
    const std::uint32_t next = root + bit;
    root >>= 1;
    if (v >= next) {
      v -= next;
      root += bit;
    }
  }
  return root;
}

// floor(log2(v)) + 1; 0 for 0.
constexpr int bits_of(std::uint32_t v) noexcept { return v == 0 ? 0 : 32 - __builtin_clz(v); }

// 127 * 2^-(t / 256), rounded: 127 at t = 0, 0 from t = 2048 on; with 16 bits 127 * 256 times it, 0
// from t = 4096 on. t: 0 to 7935 (2^12.95). The fraction's power is a parabola, within 0.25 %: 127
// * 256 * 2^-(f / 256) for f from 0 to 255.
template <int Bits = 8>
constexpr std::int32_t power_of_half(std::int32_t t) noexcept {
  const std::int32_t fraction = t & 255, whole = t >> 8;
  const std::int32_t power = 32512 - ((fraction * (21835 - ((fraction * 5579) >> 8))) >> 8);
  return Bits == 16 ? rounding(whole)(power) : ((power >> whole) + 128) >> 8;
}
// The weight of a score `distance` (0 or more) below its row's largest, 0 to 127. The maker of s
// guarantees that cut * multiplier + 2^(shift - 1) stays below 2^31 and amounts to at most 30
// powers, and to 8 or more unless a power exceeds the scores' distances.
template <int Bits = 8>
constexpr std::int32_t weight_at(std::int32_t distance, const integer_softmax& s) noexcept {
  const std::int32_t d = distance < s.cut ? distance : s.cut;
  return power_of_half<Bits>(round_shift(d * s.multiplier, s.shift));
}

// 1 / sum of a row's weights, to average values. sum: 127 or more, the weight of the largest score.
// |context| <= 127 sum, so the product stays below 127 * 2^24.
struct average {
  std::int32_t inverse;
  int drop;
};
constexpr average average_over(std::int32_t sum) noexcept {
  // Drops as many digits of the context as leave the inverse at least 11.
  const int digits = bits_of(static_cast<std::uint32_t>(sum));
  const int drop = digits <= 14 ? 0 : digits <= 21 ? digits - 14 : 7;
  return {static_cast<std::int32_t>((std::uint32_t{1} << (24 + drop)) /
                                    static_cast<std::uint32_t>(sum)),
          drop};
}
constexpr std::int8_t averaged(std::int32_t context, const average& a) noexcept {
  return static_cast<std::int8_t>(round_shift((context >> a.drop) * a.inverse, 24));
}

// The same for 16-bit weights. sum: 32512 or more. A context exceeds 32 bits: 256 * high + low.
struct average_of_16_bits {
  std::int32_t inverse;
  int down;
};
constexpr average_of_16_bits average_over_16_bits(std::int32_t sum) noexcept {
  const int down = bits_of(static_cast<std::uint32_t>(sum)) - 15;
  return {(std::int32_t{1} << 30) / (sum >> down), down};
}
// |high|, |low| < 2^30: 2^7 of the context at a time. Without the sum's last digits the inverse is
// at most 2^-14 too large, so the mean still rounds to at most 127.
constexpr std::int8_t averaged(std::int32_t high, std::int32_t low,
                               const average_of_16_bits& a) noexcept {
  return static_cast<std::int8_t>(round_shift(((2 * high + (low >> 7)) >> a.down) * a.inverse, 23));
}

// Converts v from one tensor's units to another's: v * multiplier / 2^shift. |v| < 2^15.
struct integer_unit {
  std::int16_t multiplier = 0;
  std::uint8_t shift = 0;
};
constexpr std::int32_t in_unit(std::int32_t v, const integer_unit& u) noexcept {
  return round_shift(v * u.multiplier, u.shift);
}

// The digits dropped from a sum of Count int8, so that the rest is below 2^15.
template <std::size_t Count>
inline constexpr int digits_of_mean = [] {
  static_assert(Count < (std::size_t{1} << 24));
  const int digits = bits_of(static_cast<std::uint32_t>(128 * Count));
  return digits < 15 ? 0 : digits - 14;
}();
// The mean of Count int8, given their sum. u: sum / 2^digits_of_mean to units of the result.
template <std::size_t Count>
constexpr std::int32_t integer_mean_of(std::int32_t sum, const integer_unit& u) noexcept {
  return in_unit(round_shift(sum, digits_of_mean<Count>), u);
}

// The mean of the first `count` of Count int8, given their sum: as if Count int8 had the sum
// sum Count / count, rounded to the nearest, halves up. 0 if count is 0.
template <std::size_t Count>
constexpr std::int32_t integer_mean_of_first(std::int32_t sum, std::size_t count,
                                             const integer_unit& u) noexcept {
  // Below 2^31: 254 Count^2 + Count.
  using integer = std::conditional_t<Count <= 2900, std::int32_t, std::int64_t>;
  if (count == 0) return 0;
  const integer n = static_cast<integer>(count);
  const integer doubled = 2 * integer{sum} * static_cast<integer>(Count) + n;
  const integer down = doubled / (2 * n) - (doubled % (2 * n) < 0 ? 1 : 0);
  return integer_mean_of<Count>(static_cast<std::int32_t>(down), u);
}

// y = finish of x by the map. Map: an integer_panels (integer/panels.hpp). finish(at, v): stores
// the result v of an element at its place in y.
template <integer_linear_shape S, class Map, class T, class Finish>
constexpr void integer_linear(const Map& map, const std::int8_t* x, T* y,
                              const Finish& finish) noexcept {
  for (std::size_t r = 0; r < S.rows; ++r) {
    for (std::size_t o = 0; o < S.out; ++o) {
      // Modulo 2^32: the moved inputs may exceed 32 bits and wrap back.
      auto wrapped = static_cast<std::uint32_t>(map.start(o));
      for (std::size_t i = 0; i < S.in; ++i)
        wrapped += static_cast<std::uint32_t>((x[r * S.x_row + i] + Map::moved) *
                                              std::int32_t{map.weight(o, i)});
      const auto sum = static_cast<std::int32_t>(wrapped);
      finish(y[r * S.y_row + o * S.y_step],
             round_shift((sum >> map.before) * map.multiplier[o], map.after));
    }
  }
}

// Integer attention computes its heads one by one. A query that sees no key gets zeros.
template <integer_attend_shape S, class Policy>
constexpr void integer_attend(const std::int8_t* q, const std::int8_t* k, const std::int8_t* v,
                              const integer_softmax& softmax, const Policy& policy,
                              std::int8_t* o) noexcept {
  for (std::size_t i = 0; i < S.queries && wants(policy, i); ++i) {
    const auto over = policy.template over<float>(i, 1);
    const scores::key_range range = policy.range(i, 1, S.keys);
    std::int8_t query[S.head_dim];  // a copy, o may be q
    for (std::size_t d = 0; d < S.head_dim; ++d) query[d] = q[i * S.q_row + d];
    const auto score = [&](std::size_t j) {
      std::int32_t sum = 0;
      for (std::size_t d = 0; d < S.head_dim; ++d)
        sum += std::int32_t{query[d]} * k[j * S.k_row + d];
      return sum;
    };
    std::int32_t largest = INT32_MIN;
    for (std::size_t j = range.begin; j < range.end; ++j)
      if (over.sees(j) && score(j) > largest) largest = score(j);
    const auto weight = [&](std::size_t j) {
      return over.sees(j) ? weight_at<S.weight_bits>(largest - score(j), softmax) : 0;
    };
    std::int32_t sum = 0;
    for (std::size_t j = range.begin; j < range.end; ++j) sum += weight(j);
    for (std::size_t d = 0; d < S.value_dim; ++d) {
      std::int32_t context = 0, low = 0;
      for (std::size_t j = range.begin; j < range.end; ++j) {
        const std::int32_t w = weight(j), value = v[j * S.v_row + d * S.v_dim];
        context += (S.weight_bits == 16 ? w >> 8 : w) * value;
        if constexpr (S.weight_bits == 16) low += (w & 255) * value;
      }
      if constexpr (S.weight_bits == 16)
        o[i * S.o_row + d] = averaged(context, low, average_over_16_bits(sum == 0 ? 32512 : sum));
      else
        o[i * S.o_row + d] = averaged(context, average_over(sum == 0 ? 127 : sum));
    }
  }
}

// y = x with its feature pairs rotated by their row's angles and other features unchanged, rounded
// to 8 bits. cosine, sine: (row, pair). The sum of both products stays below 2^30.
template <integer_rotate_shape S>
constexpr void integer_rotate(const std::int16_t* x, const std::int16_t* cosine,
                              const std::int16_t* sine, std::int8_t* y) noexcept {
  for (std::size_t r = 0; r < S.rows; ++r, cosine += S.pairs, sine += S.pairs) {
    for (std::size_t h = 0; h < S.heads; ++h, x += S.head_dim, y += S.head_dim) {
      for (std::size_t f = 2 * S.pairs; f < S.head_dim; ++f)
        y[f] = to_int8(round_shift(x[f], unturned_digits));
      for (std::size_t i = 0; i < S.pairs; ++i) {
        const std::int32_t a = x[i * S.step], b = x[i * S.step + S.apart];
        const auto turned = [](std::int32_t v) {
          return to_int8(round_shift(v, turn_digits + unturned_digits));
        };
        y[i * S.step] = turned(a * cosine[i] - b * sine[i]);
        y[i * S.step + S.apart] = turned(b * cosine[i] + a * sine[i]);
      }
    }
  }
}

// A row of residual sums, normalized: (x - mean) / sqrt(variance + epsilon) * gamma + beta.
// Centred: a layer norm, with differences H x - sum; else an RMS norm, with 2^15 x. The epsilon
// counts as one more difference: sqrt(H^3 epsilon), or for an RMS norm 2^15 sqrt(H epsilon), in
// units of x. T: int8 or int16.
template <bool Centred, class T, std::size_t H>
constexpr void integer_norm(const integer_norm_numbers<H>& n, const std::int16_t* x,
                            T* y) noexcept {
  static_assert(H <= longest_integer_norm);
  std::int32_t sum = 0;
  if constexpr (Centred)
    for (std::size_t i = 0; i < H; ++i) sum += x[i];
  // |x| <= 32767 and H <= 2^14, so a difference is at most 2^30.
  const auto difference = [&](std::size_t i) {
    if constexpr (Centred)
      return std::int32_t{x[i]} * static_cast<std::int32_t>(H) - sum;
    else
      return std::int32_t{x[i]} * 32768;
  };
  std::uint32_t any = static_cast<std::uint32_t>(n.epsilon);
  for (std::size_t i = 0; i < H; ++i) {
    const std::int32_t d = difference(i);
    any |= static_cast<std::uint32_t>(d < 0 ? -d : d);
  }
  const int down = bits_of(any) - n.digits;
  const auto digits = [&](std::int32_t d) { return down >= 0 ? d >> down : d * (1 << -down); };
  std::uint32_t squares = 0;
  const auto add = [&](std::int32_t d) { squares += static_cast<std::uint32_t>(d * d); };
  add(digits(n.epsilon));
  for (std::size_t i = 0; i < H; ++i) add(digits(difference(i)));
  const std::uint32_t root = square_root(squares);
  // At least the largest difference, so the product with a difference stays below 2^30.
  const auto inverse = static_cast<std::int32_t>(root == 0 ? 0 : (std::uint32_t{1} << 30) / root);
  for (std::size_t i = 0; i < H; ++i) {
    const std::int32_t v =
        round_shift(((digits(difference(i)) * inverse) >> 15) * n.gamma[i] + n.beta[i], n.shift);
    if constexpr (sizeof(T) == 1)
      y[i] = to_int8(v);
    else
      y[i] = to_int16(v);
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::plain
UMBEL_WARNINGS_POP
