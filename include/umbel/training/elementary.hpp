// SPDX-License-Identifier: BSL-1.0
// The logarithm and the cosine and sine in double, with the same bits on every target, also on
// those without fused multiply-add, although simd/math.hpp has different ones there. Each product
// is rounded by itself. For values that are computed once: initial weights, the rate of a step.
#pragma once

#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/simd/fma.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::elementary {

// Rounded: no -ffp-contract fuses it into a sum.
constexpr double product(double a, double b) noexcept { return simd::fma(a, b, 0.0); }

struct point {
  double cosine, sine;
};

// 2 pi turns, turns in [0, 1], by power series from the nearest quarter: within 2e-16, exact there.
constexpr point on_circle(double turns) noexcept {
  constexpr double two_pi = 6.283185307179586477;
  const int quarter = static_cast<int>(4 * turns + 0.5);
  const double angle = product(turns - 0.25 * quarter, two_pi);  // the difference is exact
  const double square = -product(angle, angle);
  double cosine = 1, sine = 1;
  for (int k = 9; k > 0; --k) {
    cosine = 1 + product(square, cosine) / ((2 * k - 1) * (2 * k));
    sine = 1 + product(square, sine) / ((2 * k) * (2 * k + 1));
  }
  sine = product(angle, sine);
  switch (quarter % 4) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

// The natural logarithm of a normal number above 0: its exponent and, for a mantissa within 3/4 ..
// 3/2, the atanh series. Relative error 3e-16 or absolute error 2e-16.
constexpr double logarithm(double x) noexcept {
  constexpr double ln_2 = 0.69314718055994530942;
  constexpr std::uint64_t bits_of_one = std::uint64_t{1023} << 52,
                          digits = (std::uint64_t{1} << 52) - 1;
  const auto bits = __builtin_bit_cast(std::uint64_t, x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double mantissa = __builtin_bit_cast(double, (bits & digits) | bits_of_one);
  if (mantissa > 1.5) mantissa /= 2, ++exponent;
  const double t = (mantissa - 1) / (mantissa + 1), square = product(t, t);
  double sum = 0;
  for (int k = 12; k >= 0; --k) sum = 1.0 / (2 * k + 1) + product(square, sum);
  return product(exponent, ln_2) + product(2 * t, sum);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::elementary
UMBEL_WARNINGS_POP
