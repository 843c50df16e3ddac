// SPDX-License-Identifier: BSL-1.0
// Floats to the numbers of integer kernels: weights to 8 bits, scales to multipliers and shifts. In
// double, by single multiplications and divisions that no compiler contracts, so that the integers
// are the same whether the compiler, this machine or another one computes them.
//
// See ranges.hpp for which tensor has which range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/panels.hpp>
#include <umbel/kernel/plain/integers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::integers {

// The value of one unit of a tensor whose largest magnitude is `largest`: in 8 bits, and for a
// 16-bit residual sum, which leaves the same room again above it.
constexpr double unit_of_int8(double largest) noexcept { return largest / 127; }
constexpr double unit_of_residual(double largest) noexcept { return largest / 16384; }

constexpr double magnitude(double v) noexcept { return v < 0 ? -v : v; }
// 2^n, exactly. n: -1022 to 1023.
constexpr double power_of_two(int n) noexcept {
  return __builtin_bit_cast(double, static_cast<std::uint64_t>(n + 1023) << 52);
}
// The nearest integer, halves to even, clamped to +-most; 0 for NaN.
constexpr std::int32_t rounded(double v, std::int32_t most) noexcept {
  if (!(v < most && v > -most)) return v >= most ? most : v <= -most ? -most : 0;
  const auto down = static_cast<std::int32_t>(v);  // towards 0
  const double rest = v - down;
  const bool odd = down % 2 != 0;
  return down + (rest > 0.5 || (rest == 0.5 && odd)) - (rest < -0.5 || (rest == -0.5 && odd));
}
// The root of v >= 0, by Newton's steps from above until they stop falling.
constexpr double square_root(double v) noexcept {
  if (!(v > 0)) return 0;
  double root = v > 1 ? v : 1;
  for (double next = (root + v / root) / 2; next < root; next = (root + v / root) / 2) root = next;
  return root;
}

// Factors of a result's features (layer_scale), which packing multiplies into its weights.
template <class T>
struct factors_of_features {
  const T* factors = nullptr;
  constexpr double operator()(std::size_t feature, T value) const noexcept {
    const auto v = static_cast<double>(value);
    return factors == nullptr ? v : v * static_cast<double>(factors[feature]);
  }
};

// Sums in units of results: multiplier / 2^(before + after) for each output's factor, without a
// product of 2^31 for sums up to `most`.
inline constexpr double limit_of_products = 2147483648.0;
struct shifts {
  int before, after;
};
// Drop as few digits of the sums as leave the largest multiplier 12 or more.
template <std::size_t Out>
constexpr shifts shifts_of_sums(const double (&factor)[Out], const double (&most)[Out]) noexcept {
  const auto fits = [&](int before, int after, double& largest) {
    largest = 0;
    for (std::size_t o = 0; o < Out; ++o) {
      const double m = rounded(factor[o] * power_of_two(before + after), 1 << 24);
      if (m > largest) largest = m;
      if (m > 32767 ||
          (most[o] * power_of_two(-before) + 2) * m >= limit_of_products - power_of_two(after - 1))
        return false;
    }
    return true;
  };
  int before = 0, after = 1;
  for (;; ++before) {
    double largest = 0;
    after = 29;
    while (after > 1 && !fits(before, after, largest)) --after;
    if ((fits(before, after, largest) && largest >= 4096) || before == 15) break;
  }
  return {before, after};
}
constexpr std::int16_t multiplier_of_sums(double factor, double most, int before,
                                          int after) noexcept {
  std::int32_t m = rounded(factor * power_of_two(before + after), 32767);
  // A result far beyond its range: as large as stays within 32 bits.
  while ((most * power_of_two(-before) + 2) * m >= limit_of_products - power_of_two(after - 1))
    m /= 2;
  return static_cast<std::int16_t>(m);
}

// A linear map. weight(i, o), bias(o): its floats. in, out: the units of x and of the result. Each
// output has its scale: its largest weight becomes 127.
template <std::size_t In, std::size_t Out, class Weight, class Bias>
constexpr void pack(kernel::integer_panels<In, Out>& to, const Weight& weight, const Bias& bias,
                    double in, double out) noexcept {
  static_assert(In <= kernel::most_input_products);
  double factor[Out]{};  // of a sum in units of out
  double most[Out]{};    // the largest possible magnitude of a sum
  std::int32_t biases[Out]{}, sums[Out]{};
  for (std::size_t o = 0; o < Out; ++o) {
    double largest = 0;
    for (std::size_t i = 0; i < In; ++i) {
      const double w = static_cast<double>(weight(i, o));
      if (w > largest) largest = w;
      if (-w > largest) largest = -w;
    }
    // If weights are tiny compared with the bias, or all 0: a scale that leaves the bias 24 bits.
    const double added = static_cast<double>(bias(o));
    const double least = magnitude(added) / in / 16777216;
    double scale = largest / 127 > least ? largest / 127 : least;
    // Outputs of zeros, such as the padding of heads, don't affect the shifts.
    const bool zeros = !(scale > 0);
    if (zeros) scale = 1;
    double magnitudes = 0;
    for (std::size_t i = 0; i < In; ++i) {
      const std::int32_t w = rounded(static_cast<double>(weight(i, o)) / scale, 127);
      to.weights[to.place(o, i)] = static_cast<std::int8_t>(w);
      sums[o] += w;
      magnitudes += w < 0 ? -w : w;
    }
    biases[o] = rounded(added / in / scale, 1 << 25);
    factor[o] = zeros ? 0 : in * scale / out;
    most[o] = 128 * magnitudes + magnitude(biases[o]);
  }
  const auto [before, after] = shifts_of_sums(factor, most);
  to.before = static_cast<std::uint8_t>(before);
  to.after = static_cast<std::uint8_t>(after);
  const std::int32_t half = before == 0 ? 0 : std::int32_t{1} << (before - 1);
  for (std::size_t o = 0; o < Out; ++o) {
    to.multiplier[o] = multiplier_of_sums(factor[o], most[o], before, after);
    to.starts[o] = static_cast<std::int32_t>(static_cast<std::uint32_t>(biases[o] + half) -
                                             static_cast<std::uint32_t>(to.moved) *
                                                 static_cast<std::uint32_t>(sums[o]));
  }
}

constexpr kernel::plain::integer_unit unit(double from, double to) noexcept {
  int shift = 29;
  double m = from / to * power_of_two(shift);
  while (m > 32767 && shift > 1) {
    m /= 2;
    --shift;
  }
  return {static_cast<std::int16_t>(rounded(m, 32767)), static_cast<std::uint8_t>(shift)};
}

// A norm of H features. gamma(i), beta(i): its floats. in, out: units of residual sum and result.
template <bool Centred, std::size_t H, class Gamma, class Beta>
constexpr void pack(kernel::integer_norm_numbers<H>& to, const Gamma& gamma, const Beta& beta,
                    double epsilon, double in, double out) noexcept {
  static_assert(H <= kernel::longest_integer_norm);
  constexpr double size = static_cast<double>(H);
  const double root = square_root(size);
  const double of_epsilon =
      Centred ? size * square_root(size * epsilon) / in : 32768 * square_root(size * epsilon) / in;
  to.epsilon = rounded(of_epsilon, 1 << 30);
  // x / sqrt(sum of squares) is in units of 2^-15.
  int shift = 24;
  const auto fits = [&] {
    for (std::size_t i = 0; i < H; ++i)
      if (magnitude(root * static_cast<double>(gamma(i)) / out) * power_of_two(shift - 15) >
              32767 ||
          magnitude(static_cast<double>(beta(i)) / out) * power_of_two(shift) >
              1073741823 - 16777216)
        return false;
    return true;
  };
  while (shift > 1 && !fits()) --shift;
  to.shift = static_cast<std::uint8_t>(shift);
  for (std::size_t i = 0; i < H; ++i) {
    to.gamma[i] = static_cast<std::int16_t>(
        rounded(root * static_cast<double>(gamma(i)) / out * power_of_two(shift - 15), 32767));
    to.beta[i] =
        rounded(static_cast<double>(beta(i)) / out * power_of_two(shift), 1073741823 - 16777216);
  }
}

// The softmax of scores q k^T * scale. Distances are clamped at 2^-(farthest / 256) = 0.
template <int Bits>
constexpr kernel::integer_softmax softmax(double q, double k, double scale) noexcept {
  constexpr double farthest = Bits == 16 ? 4096 : 2304;
  constexpr double log2_e = 1.4426950408889634;
  double each = q * k * scale * log2_e * 256;  // of one unit of score
  if (!(each < 2304)) each = 2304;
  int shift = Bits == 16 ? 18 : 19;  // farthest + each, times 2^shift, is below 2^31
  while (shift > 0 && each * power_of_two(shift) > 65535) --shift;
  const double cut = each > 0 ? farthest / each : 1073741824;
  return {cut < 1073741824 ? static_cast<std::int32_t>(cut) + 1 : 1073741824,
          static_cast<std::uint16_t>(rounded(each * power_of_two(shift), 65535)),
          static_cast<std::uint8_t>(shift)};
}

// An activation: 8 bits to 8 bits. Function: of(v), of a double.
template <class Function>
constexpr void pack_table(std::int8_t (&table)[256], double in, double out) noexcept {
  for (int i = 0; i < 256; ++i)
    table[i] = static_cast<std::int8_t>(rounded(Function::of((i - 128) * in) / out, 127));
}

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
