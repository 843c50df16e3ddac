// SPDX-License-Identifier: BSL-1.0
// pow(x, y) of numbers, as the functions of math.hpp: one template for scalars, packs and constant
// expressions, with the same bits. log2 |x| and its product with y are sums of two numbers, whose
// upper one has half the bits, so that its products are exact also on targets that don't fuse (as
// in fdlibm, Sun, 1993).
#pragma once

#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/math_constants.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/rounding.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

namespace detail {

// a - b, which no compiler moves into other sums.
template <class V>
UMBEL_INLINE constexpr V difference(V a, V b) noexcept {
  UMBEL_AS_WRITTEN
  V result = a - b;
  UMBEL_KEEP(result);
  return result;
}

template <class V>
struct two_parts {
  V high, low;
};

// log2 of a > 0, finite. a = 2^k m with m from sqrt(3/4) to sqrt 3; log m = log(m / b) + log b with
// b 1 or 3/2, and m / b = (1 + s) / (1 - s).
template <class V>
UMBEL_INLINE constexpr two_parts<V> log2_in_two_parts(V a) noexcept {
  UMBEL_AS_WRITTEN
  using T = element_of<V>;
  using constants = math_constants<T>;
  const auto [m, k] = in_powers_of_two(a, constants::root_of_three_quarters);

  const auto is_upper = less(broadcast<V>(static_cast<T>(1.2247449)), m);  // sqrt(3/2)
  const V b = select(is_upper, broadcast<V>(T{1.5}), broadcast<V>(T{1}));
  const V u = m - b, sum = m + b;
  const V inverse = broadcast<V>(T{1}) / sum;
  const V s = u * inverse, s_high = upper_half(s);
  const V sum_high = upper_half(sum), sum_low = difference(m, difference(sum_high, b));
  const V s_low = fma(-s_high, sum_low, fma(-s_high, sum_high, u)) * inverse;
  // 3/2 log(m / b) = s (3 + s^2 + rest)
  const V z = s * s;
  const V rest = fma(s_low, s_high + s, (z * z) * polynomial<V>(z, constants::pow));
  const V z_high = s_high * s_high;  // exact
  const V three = broadcast<V>(T{3});
  const V factor = upper_half((three + z_high) + rest);
  const V factor_low = difference(rest, difference(difference(factor, three), z_high));
  const V product = s_high * factor;  // exact
  const V product_low = fma(s_low, factor, factor_low * s);
  const V high = upper_half(product + product_low);
  const V low = difference(product_low, difference(high, product));
  // Times 2 / (3 ln 2), plus log2 b and k.
  const V zero{};
  const V base = select(is_upper, broadcast<V>(constants::log2_of_three_halves_high), zero);
  const V base_low = select(is_upper, broadcast<V>(constants::log2_of_three_halves_low), zero);
  const V scaled = high * broadcast<V>(constants::pow_scale_high);  // exact
  const V scaled_low = fma(broadcast<V>(constants::pow_scale_low), high,
                           fma(low, broadcast<V>(constants::pow_scale), base_low));
  const V log2 = upper_half(((scaled + scaled_low) + base) + k);
  return {log2, difference(scaled_low, difference(difference(difference(log2, k), base), scaled))};
}

// |x|^y for |x| finite and not 0.
template <class V>
UMBEL_INLINE constexpr V power_of_magnitude(V a, V y) noexcept {
  UMBEL_AS_WRITTEN
  using T = element_of<V>;
  using constants = math_constants<T>;
  const two_parts<V> log2 = log2_in_two_parts(a);
  const V most = broadcast<V>(constants::pow_exponent);
  const V by = clamp(y, -most, most), by_high = upper_half(by);
  V low = fma(difference(by, by_high), log2.high, by * log2.low);
  V high = by_high * log2.high;  // exact
  const V exponent = low + high;
  const V lowest = broadcast<V>(constants::pow_lowest);
  const V highest = broadcast<V>(constants::pow_highest);
  const auto is_far = either(less(exponent, lowest), less(highest, exponent));
  low = select(is_far, V{}, low);
  high = select(is_far, V{}, high);
  const V magic = broadcast<V>(constants::rounding_magic);
  V shifted = (low + high) + magic;
  UMBEL_KEEP(shifted);
  // 2^(high + low) = 2^n e^(r + r_low)
  const V part = difference(high, difference(shifted, magic));
  const V upper = upper_half(low + part);
  const V product = upper * broadcast<V>(constants::ln2_first_half);  // exact
  const V product_low = fma(difference(low, difference(upper, part)), broadcast<V>(constants::ln2),
                            upper * broadcast<V>(constants::ln2_second_half));
  const V r = product + product_low;
  const V r_low = difference(product_low, difference(r, product));
  const V rest = fma(r * r, polynomial<V>(r, constants::exp), fma(r, r_low, r_low));
  const V mantissa = broadcast<V>(T{1}) + (r + rest);
  // Two factors, since n exceeds the exponents of a number.
  const auto n = bits_of(shifted) - bits_of(magic);
  const auto half = n >> 1;
  const V value = (mantissa * power_of_two<V>(half)) * power_of_two<V>(n - half);
  if constexpr (lanes_of<V> == 1) UMBEL_COMPUTED(value);
  return select(less(exponent, lowest), V{},
                select(less(highest, exponent), broadcast<V>(constants::infinity), value));
}

}  // namespace detail

// x^y as in C: within 1 ulp, also if it is subnormal. 1 for y = 0 and for x = 1, also if the other
// is NaN. For x < 0: NaN unless y is an integer. pow(0, y) is infinity for y < 0.
template <class V>
UMBEL_INLINE constexpr V pow(V x, V y) noexcept {
  using T = element_of<V>;
  using constants = math_constants<T>;
  const V one = broadcast<V>(T{1}), zero{}, infinity = broadcast<V>(constants::infinity);
  const V none = broadcast<V>(constants::not_a_number);
  const V a = detail::magnitude(x), half = y * broadcast<V>(T{0.5});
  const auto is_zero = equal(a, zero), is_infinite = equal(a, infinity);
  const auto has_fraction = not_equal(floor(y), y), has_half = not_equal(floor(half), half);
  const auto is_negative = less(x, zero);
  V value = detail::power_of_magnitude(select(either(is_zero, is_infinite), one, a), y);
  // y > 0 lets infinity stay and 0 too.
  const V of_zero = select(less(y, zero), infinity, zero);
  const V of_infinity = select(less(y, zero), zero, infinity);
  value = select(is_zero, of_zero, select(is_infinite, of_infinity, value));
  const V of_negative = select(has_fraction, select(is_infinite, value, none), value);
  value = select(is_negative, of_negative, value);
  // The sign of x if y is odd.
  const V sign = select(has_fraction, zero, select(has_half, x, zero));
  value = detail::with_sign(value, sign);
  value = select(either(not_equal(x, x), not_equal(y, y)), none, value);
  return select(either(equal(y, zero), equal(x, one)), one, value);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
