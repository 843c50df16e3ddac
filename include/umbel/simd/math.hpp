// SPDX-License-Identifier: BSL-1.0
// The library's exp2, exp, log, tanh, sigmoid, gelu, sqrt and rsqrt: one template each for scalars,
// packs and constant expressions (scalars), with the same bits in all of them and on every target
// that fuses (and a second set on those that don't). Written with fma, integer work on exponents
// and IEEE division: no libm, square root instruction, table or branch. Each function's bounds are
// tested against long double. Rounding is to nearest; exception flags are ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/simd/avx512.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math_constants.hpp>
#include <umbel/simd/pack.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

namespace detail {

template <class V>
UMBEL_INLINE constexpr signed_of<V> bits_of(V value) noexcept {
  return __builtin_bit_cast(signed_of<V>, value);
}

template <class V>
UMBEL_INLINE constexpr V from_bits(signed_of<V> bits) noexcept {
  return __builtin_bit_cast(V, bits);
}

// 2^n for integers n in [1 - bias, bias]: exact.
template <class V>
UMBEL_INLINE constexpr V power_of_two(signed_of<V> n) noexcept {
  using constants = math_constants<element_of<V>>;
  const auto biased = __builtin_bit_cast(unsigned_of<V>, n + constants::exponent_bias);
  return __builtin_bit_cast(V, biased << constants::mantissa_bits);
}

// Between two bounds; NaN stays NaN.
template <class V>
UMBEL_INLINE constexpr V clamp(V x, V lowest, V highest) noexcept {
#if UMBEL_AVX512
  if constexpr (sizeof(V) == 64) return avx512::clamp(x, lowest, highest);
#endif
  const V above = select(less(x, lowest), lowest, x);
  return select(less(highest, above), highest, above);
}

// mantissa 2^n for x between the bounds of exp, 0 below, infinity above. n is in the low bits of
// `shifted`. Two factors, since n reaches 128, which exceeds a float's exponent.
template <class V>
UMBEL_INLINE constexpr V scale_within(V x, V lowest, V highest, V mantissa, V shifted,
                                      [[maybe_unused]] V n) noexcept {
  using constants = math_constants<element_of<V>>;
  const V infinity = broadcast<V>(constants::infinity);
#if UMBEL_AVX512
  if constexpr (sizeof(V) == 64)
    return select(less(highest, x), infinity, avx512::scale_from(x, lowest, mantissa, n));
#endif
  const auto whole = bits_of(shifted) - bits_of(broadcast<V>(constants::rounding_magic));
  const auto half = whole >> 1;
  const V scaled = (mantissa * power_of_two<V>(half)) * power_of_two<V>(whole - half);
  return select(less(x, lowest), V{}, select(less(highest, x), infinity, scaled));
}

}  // namespace detail

// 2^y for y <= 0 (attention's exponential). y < -126 (double: -1022) is exactly 0, so no result is
// subnormal; 0 is exactly 1; NaN stays NaN; above 0.5: undefined. Within 2 ulp (3 if the target
// doesn't fuse). y must not be a bare product: -ffp-contract could fuse it into the sums here.
// Moderate: y is NaN or above -2^20, so that the last product is finite.
template <bool Moderate = false, class V>
UMBEL_INLINE constexpr V exp2_not_positive(V y) noexcept {
  UMBEL_AS_WRITTEN
  using T = element_of<V>;
  using constants = math_constants<T>;
#if UMBEL_AVX512
  if constexpr (sizeof(V) == 64) return avx512::exp2_not_positive(y);
#endif
  if constexpr (lanes_of<V> == 1) {  // infinity - infinity is not a constant expression
    if (__builtin_is_constant_evaluated() && y < constants::exp2_lowest) return V{};
  }
  const V magic = broadcast<V>(constants::rounding_magic);
  V shifted = y + magic;
  UMBEL_KEEP(shifted);
  V n = shifted - magic;
  UMBEL_KEEP(n);
  const V r = y - n;  // exact
  const V mantissa = polynomial<V>(r, constants::exp2);
  // n is in the low bits of `shifted`; the shift drops the bits above it.
  const auto exponent = __builtin_bit_cast(unsigned_of<V>, shifted) << constants::mantissa_bits;
  const auto one = __builtin_bit_cast(unsigned_of<V>, broadcast<V>(T{1}));
  const auto is_low = less(y, broadcast<V>(constants::exp2_lowest));
  if constexpr (Moderate && detail::by_bits<V>)  // keep the exponent in an integer register
    return mantissa * __builtin_bit_cast(V, select(is_low, unsigned_of<V>{}, exponent + one));
  // The product is exact, since only the exponent changes. So it may be contracted.
  V result = mantissa * __builtin_bit_cast(V, exponent + one);
  if constexpr (lanes_of<V> == 1) UMBEL_COMPUTED(result);
  // Written so that NaN, which is not below anything, keeps its result.
  return select(is_low, V{}, result);
}

// The weight of a score y above the maximum: 2^y, added to sum, for y <= 0; for y > 0, which marks
// a hidden pair, -1 without changing sum. Infinity raises no exception, as it would in 2^y.
template <class V>
UMBEL_INLINE constexpr V exp2_or_hidden(V y, V& sum) noexcept {
  using T = element_of<V>;
#if UMBEL_AVX512
  if constexpr (sizeof(V) == 64) return avx512::exp2_or_hidden(y, sum);
#endif
  const auto hidden = less(V{}, y);
  const V weight = exp2_not_positive(select(hidden, V{}, y));
  sum = select(hidden, sum, sum + weight);
  return select(hidden, broadcast<V>(T{-1}), weight);
}

namespace detail {

// e^x = (1 + rest) 2^n within exp's bounds; NaN stays NaN; n is also in the low bits of `shifted`.
template <class V>
struct exponential {
  V rest, shifted, n;
  UMBEL_INLINE constexpr V mantissa() const noexcept {
    return rest + broadcast<V>(element_of<V>{1});
  }
};

// Cody and Waite: x = n ln2 + r in two fma steps, e^r by a polynomial.
template <class V>
UMBEL_INLINE constexpr exponential<V> exponential_of(V x) noexcept {
  UMBEL_AS_WRITTEN
  using constants = math_constants<element_of<V>>;
  const V magic = broadcast<V>(constants::rounding_magic);
  V shifted = fma(x, broadcast<V>(constants::log2_e), magic);
  UMBEL_KEEP(shifted);
  V n = shifted - magic;
  UMBEL_KEEP(n);
  V r = fma(n, broadcast<V>(-constants::ln2_high), x);
  r = fma(n, broadcast<V>(-constants::ln2_low), r);
  return {fma(r * r, polynomial<V>(r, constants::exp), r), shifted, n};
}

}  // namespace detail

// e^x for any x: infinity on overflow, 0 below ln(2^-126) (double: ln(2^-1022)), NaN stays NaN.
// Within 2 ulp (3 if the target doesn't fuse).
template <class V>
UMBEL_INLINE constexpr V exp(V x) noexcept {
  using constants = math_constants<element_of<V>>;
  // Outside the range the last steps would be meaningless or raise exceptions: use a clamped x (NaN
  // stays) and choose at the end.
  const V lowest = broadcast<V>(constants::exp_lowest);
  const V highest = broadcast<V>(constants::exp_highest);
  const detail::exponential<V> e = detail::exponential_of(detail::clamp(x, lowest, highest));
  return detail::scale_within(x, lowest, highest, e.mantissa(), e.shifted, e.n);
}

// The same bits for |x| <= 87.3 (double: 708.3) in fewer steps: one factor and no choice. (Not with
// clang without AVX-512: it zeroes constants in unread lanes, and dividing by 1 + e^x then divides
// 0 by 0 and raises "invalid".)
template <class V>
UMBEL_INLINE constexpr V exp_of_moderate(V x) noexcept {
#if UMBEL_AVX512
  if constexpr (sizeof(V) == 64) {
    const detail::exponential<V> e = detail::exponential_of(x);
    return avx512::scale(e.mantissa(), e.n);
  }
#endif
  if constexpr (UMBEL_CLANG) {
    return exp(x);
  } else {
    const detail::exponential<V> e = detail::exponential_of(x);
    const auto magic = detail::bits_of(broadcast<V>(math_constants<element_of<V>>::rounding_magic));
    return e.mantissa() * detail::power_of_two<V>(detail::bits_of(e.shifted) - magic);
  }
}

// e^x for x <= 0, as 2^(x log2 e): 0 below ln(2^-126) (double: ln(2^-1022)), 0 is exactly 1, NaN
// stays NaN. Above 0.3: undefined. Within 2 + |x| ulp (3 + |x| if the target doesn't fuse): the
// product is rounded, as the difference x was before. A third of the work of exp.
template <class V>
UMBEL_INLINE constexpr V exp_not_positive(V x) noexcept {
  // An fma, so that -ffp-contract can't fuse the product into the sums there.
  return exp2_not_positive(fma(x, broadcast<V>(math_constants<element_of<V>>::log2_e), V{}));
}

namespace detail {
template <class V>
struct scaled_number {
  V m, exponent;
};
// x = 2^exponent m for finite x > 0. first: the bits of the least m, which is from 1/2 to 1.
template <class V>
UMBEL_INLINE constexpr scaled_number<V> in_powers_of_two(
    V x, element_of<unsigned_of<V>> first) noexcept {
  UMBEL_AS_WRITTEN
  using constants = math_constants<element_of<V>>;
  using naturals = unsigned_of<V>;
  using natural = element_of<naturals>;
  constexpr int digits = constants::mantissa_bits;
  constexpr natural one = static_cast<natural>(constants::exponent_bias) << digits;
  const auto is_small = less(x, broadcast<V>(constants::lowest_normal));
  const V normal = select(is_small, x * broadcast<V>(constants::even_power), x);
  const naturals above = __builtin_bit_cast(naturals, normal) + (one - first);
  const V m = __builtin_bit_cast(V, (above & ((natural{1} << digits) - 1)) + first);
  const signed_of<V> none{};
  const auto exponent = __builtin_bit_cast(signed_of<V>, above >> digits) -
                        constants::exponent_bias -
                        select(is_small, none + constants::even_exponent, none);
  const V magic = broadcast<V>(constants::rounding_magic);
  V shifted = from_bits<V>(bits_of(magic) + exponent);
  UMBEL_KEEP(shifted);
  return {m, shifted - magic};
}
}  // namespace detail

// The natural logarithm: -infinity for zeros, NaN for negative numbers, 0 for 1; infinity and NaN
// stay. Within 1 ulp, also for subnormal x. x = 2^k m with m within a factor of sqrt 2 of 1, and
// log m = log((1 + s) / (1 - s)) with s = f / (2 + f), f = m - 1, as in fdlibm (Sun, 1993).
template <class V>
UMBEL_INLINE constexpr V log(V x) noexcept {
  UMBEL_AS_WRITTEN
  using T = element_of<V>;
  using constants = math_constants<T>;
  const auto [m, k] = detail::in_powers_of_two(x, constants::root_of_half);
  const V f = m - broadcast<V>(T{1});
  const V s = f / (broadcast<V>(T{2}) + f);
  const V z = s * s;
  const V half_f = f * broadcast<V>(T{0.5});
  const V rest = fma(z, polynomial<V>(z, constants::log), V{});
  const V low = fma(k, broadcast<V>(constants::ln2_low), V{});
  const V correction = fma(half_f, f, -fma(s, fma(half_f, f, rest), low));
  V y = fma(k, broadcast<V>(constants::ln2_high), f - correction);
  y = select(equal(x, V{}), broadcast<V>(-constants::infinity), y);
  y = select(less(x, V{}), broadcast<V>(constants::not_a_number), y);
  return select(either(equal(x, broadcast<V>(constants::infinity)), not_equal(x, x)), x, y);
}

// 1 / (1 + e^-x): 0 below -87.3 (double: -708.3), where it would become subnormal; NaN stays NaN.
// Within 3 ulp (4 if the target doesn't fuse).
template <class V>
UMBEL_INLINE constexpr V sigmoid(V x) noexcept {
  using constants = math_constants<element_of<V>>;
  const V one = broadcast<V>(element_of<V>{1});
  const V lowest = broadcast<V>(constants::sigmoid_lowest);
  // Above, e^-x is negligible; below, the quotient would be subnormal: see tanh.
  const V inside = detail::clamp(x, lowest, -lowest);
  return select(less(x, lowest), V{}, one / (one + exp_of_moderate(-inside)));
}

namespace detail {

template <class V>
UMBEL_INLINE constexpr V magnitude(V x) noexcept {
  if constexpr (by_bits<V>) {  // not by bits: an FPU instruction
    if (!__builtin_is_constant_evaluated())
      return static_cast<V>(sizeof(V) == 4 ? __builtin_fabsf(static_cast<float>(x))
                                           : __builtin_fabs(static_cast<double>(x)));
  }
  const auto all_but_sign = bits_of(broadcast<V>(element_of<V>{-0.0})) ^ -1;
  return from_bits<V>(bits_of(x) & all_but_sign);
}

template <class V>
UMBEL_INLINE constexpr V with_sign(V size, V sign) noexcept {
  const auto sign_bit = bits_of(broadcast<V>(element_of<V>{-0.0}));
  return from_bits<V>(bits_of(size) | (bits_of(sign) & sign_bit));
}

// The upper half of the bits of a number's mantissa: two such factors have an exact product.
template <class V>
UMBEL_INLINE constexpr V upper_half(V x) noexcept {
  using integer = element_of<signed_of<V>>;
  constexpr int lower = sizeof(integer) == 4 ? 12 : 32;
  return from_bits<V>(bits_of(x) & -(integer{1} << lower));
}

}  // namespace detail

// tanh, exactly odd, NaN stays NaN. Within 2 ulp (3 if the target doesn't fuse). |x| < 0.625: x +
// x^3 P(x^2); else 1 - 2 / (e^2|x| + 1), with |x| clamped to where that is 1: larger quotients
// would be subnormal, which costs some processors three times the rest.
template <class V>
UMBEL_INLINE constexpr V tanh(V x) noexcept {
  using T = element_of<V>;
  using constants = math_constants<T>;
  const V a = detail::magnitude(x);
  const V bound = broadcast<V>(T{0.625});
  const auto is_near = less(a, bound);
  const V inside = smaller(a, bound);  // powers of larger values could overflow
  const V z = inside * inside;
  const V by_polynomial = fma(inside * z, polynomial<V>(z, constants::tanh), inside);
  const V one = broadcast<V>(T{1});
  const V bounded = smaller(broadcast<V>(constants::tanh_last), a);  // NaN stays
  const V by_exp = one - broadcast<V>(T{2}) / (exp_of_moderate(bounded + bounded) + one);
  return detail::with_sign(select(is_near, by_polynomial, by_exp), x);
}

// GELU, x P(Z <= x) of the normal distribution, as max(x, 0) - |x| P(Z > |x|) (Hendrycks and Gimpel
// 2016): one polynomial for either sign, without 1 + erf, whose digits cancel for negative x. For x
// > 0 within 3 ulp (4 if the target doesn't fuse). For x < 0 a relative error of 6e-6 down to -6
// (double: 1e-9, -8.3; twice that if the target doesn't fuse); below, where the value is less than
// half an ulp of x, the error grows while the value falls from 6e-9 (5e-16) to 0. NaN stays NaN.
template <class V>
UMBEL_INLINE constexpr V gelu(V x) noexcept {
  using constants = math_constants<element_of<V>>;
  const V a = detail::magnitude(x), last = broadcast<V>(constants::normal_last);
  const V inside = smaller(last, a);
  const V tail = exp2_not_positive<true>(polynomial_in_halves<V>(inside, constants::normal_tail));
  return fma(-inside, tail, raised(V{}, x));
}

// The same paper's approximation, x (1 + tanh u) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3),
// which is x / (1 + e^-2u), as max(x, 0) - |x| / (1 + e^2|u|). For x > 0 within 3 ulp (4 if the
// target doesn't fuse); for x < 0 a relative error of 1e-5 (double: 3e-13), from rounding u, down
// to -10 (-21); below it is 0. NaN stays NaN.
template <class V>
UMBEL_INLINE constexpr V gelu_tanh(V x) noexcept {
  using T = element_of<V>;
  const V a = detail::magnitude(x), last = broadcast<V>(-math_constants<T>::exp2_lowest);
  const V inside = smaller(last, a);
  // 2 sqrt(2 / pi) log2 e, and 0.044715 times that.
  const V linear = broadcast<V>(static_cast<T>(2.3022081981443249));
  const V cubic = broadcast<V>(static_cast<T>(0.10294323958002349));
  const V power = fma(-inside, fma(inside * inside, cubic, linear), V{});
  const V part = exp2_not_positive(power);
  return fma(-inside, part / (broadcast<V>(T{1}) + part), raised(V{}, x));
}

// 1 / sqrt(x): infinity for +0 and -0, 0 for infinity, NaN for negative numbers and NaN. Within 2
// ulp, also for subnormal x. A guess from the bits, then Newton's steps.
template <class V>
UMBEL_INLINE constexpr V rsqrt(V x) noexcept {
  using T = element_of<V>;
  using constants = math_constants<T>;
  const auto is_small = less(x, broadcast<V>(constants::lowest_normal));
  const V normal = select(is_small, x * broadcast<V>(constants::even_power), x);
  // Unsigned: a negative x must wrap quietly; its result is chosen at the end.
  V y = __builtin_bit_cast(
      V, constants::rsqrt_magic - (__builtin_bit_cast(unsigned_of<V>, normal) >> 1));
  const V one = broadcast<V>(T{1}), half = broadcast<V>(T{0.5});
  UMBEL_UNROLL(8)
  for (int step = 0; step < constants::newton_steps; ++step) {
    const V error = fma(-(normal * y), y, one);
    y = fma(y * error, half, y);
  }
  y = select(is_small, y * broadcast<V>(constants::root_of_even_power), y);
  y = select(equal(x, V{}), broadcast<V>(constants::infinity), y);
  y = select(equal(x, broadcast<V>(constants::infinity)), V{}, y);
  return select(less(x, V{}), broadcast<V>(constants::not_a_number), y);
}

// sqrt(x), correctly rounded on every target, also for subnormal x: zeros and infinity stay, NaN
// for negative numbers and NaN. With x = m 4^k, 1 <= m < 4, the root of m is within an ulp; the
// integer remainder of m minus its square determines the nearest neighbor. (No square is halfway
// between two.)
template <class V>
UMBEL_INLINE constexpr V sqrt(V x) noexcept {
  UMBEL_AS_WRITTEN
  using T = element_of<V>;
  using constants = math_constants<T>;
  using integers = signed_of<V>;
  using naturals = unsigned_of<V>;
  using natural = element_of<naturals>;
  constexpr int digits = constants::mantissa_bits;
  constexpr natural hidden_bit = natural{1} << digits;
  constexpr natural one = static_cast<natural>(constants::exponent_bias) << digits;
  const auto is_small = less(x, broadcast<V>(constants::lowest_normal));
  const naturals bits =
      __builtin_bit_cast(naturals, select(is_small, x * broadcast<V>(constants::even_power), x));
  // The exponent of 4^k; m has the odd part.
  const naturals odd = ((bits >> digits) & 1) ^ 1;
  const naturals k = ((bits >> digits) + (constants::exponent_bias & 1)) >> 1;
  const naturals fraction = bits & (hidden_bit - 1);
  const V m = __builtin_bit_cast(V, fraction + one + (odd << digits));
  const V guess = rsqrt(m);
  V root = m * guess;
  root = fma(fma(-root, root, m) * broadcast<V>(T{0.5}), guess, root);
  root = larger(root, broadcast<V>(T{1}));
  const naturals whole = __builtin_bit_cast(naturals, root) - one + hidden_bit;
  const naturals square = whole * whole;  // modulo 2^bits, like the difference
  const integers rest =
      __builtin_bit_cast(integers, ((fraction | hidden_bit) << digits << odd) - square);
  const integers size = __builtin_bit_cast(integers, whole);
  const naturals none{};
  naturals nearest = whole + select(less(size, rest), none + 1, none);
  nearest = nearest - select(less_equal(rest, -size), none + 1, none);
  // (bias - 1) / 2 + k is the exponent of the root; half of even_power is removed again.
  const naturals exponent = k + static_cast<natural>(constants::exponent_bias / 2) -
                            select(is_small, none + constants::even_exponent / 2, none);
  V y = __builtin_bit_cast(V, nearest - hidden_bit + (exponent << digits));
  y = select(less(x, V{}), broadcast<V>(constants::not_a_number), y);
  return select(
      either(equal(x, V{}), either(equal(x, broadcast<V>(constants::infinity)), not_equal(x, x))),
      x, y);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
