// SPDX-License-Identifier: BSL-1.0
// sin and cos of any number of radians, also of the largest, in the same instructions for all: one
// template for scalars, packs and constant expressions, with the same bits. |x| 2 / pi is computed
// in integers, modulo 4, from those bits of 2 / pi that matter for x's exponent (Payne and Hanek
// 1983), so it is the same on every target. Bounds are tested against long double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/math_constants.hpp>
#include <umbel/simd/pack.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

namespace detail {

// 0, then the binary digits of 2 / pi, in integers of the size of T.
template <class T>
struct two_over_pi;
template <>
struct two_over_pi<float> {
  static constexpr std::uint32_t parts[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                            0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
  static constexpr int choices = 3;  // bits of the index of the first integer
  static constexpr int lower = 12;   // bits of the lower part of a mantissa
  static constexpr int in_first = 11;
};
template <>
struct two_over_pi<double> {
  static constexpr std::uint64_t parts[] = {0,
                                            0xa2f9836e4e441529,
                                            0xfc2757d1f534ddc0,
                                            0xdb6295993c439041,
                                            0xfe5163abdebbc561,
                                            0xb7246e3a424dd2e0,
                                            0x06492eea09d1921c,
                                            0xfe1deb1cb129a73e,
                                            0xe88235f52ebb4484,
                                            0xe99c7026b45f7e41,
                                            0x3991d639835339f4,
                                            0x9c845f8bbdf9283b,
                                            0x1ff897ffde05980f,
                                            0xef2f118b5a0a6d1f,
                                            0x6d367ecf27cb09b7,
                                            0x4f463f669e5fea2d,
                                            0x7527bac7ebe5f17b,
                                            0x3d0739f78a5292ea,
                                            0x6bfb5fb11f8d5d08,
                                            0x56033046fc7b6bab};
  static constexpr int choices = 5;
  static constexpr int lower = 26;
  static constexpr int in_first = 32;
};

// The integers first .. first + 3, chosen by the bits of `first`, without a table in memory.
template <class T, class U>
struct four_parts {
  U part[sizeof two_over_pi<T>::parts / sizeof(T)];

  UMBEL_INLINE constexpr explicit four_parts(U first) noexcept : part{} {
    constexpr std::size_t count = sizeof part / sizeof(U);
    UMBEL_UNROLL(32)
    for (std::size_t i = 0; i < count; ++i) part[i] = broadcast<U>(two_over_pi<T>::parts[i]);
    choose<two_over_pi<T>::choices - 1, 4>(first);
  }

 private:
  // Bit `Bit` of the index shifts Count of them by 2^Bit.
  template <int Bit, std::size_t Count>
  UMBEL_INLINE constexpr void choose(U first) noexcept {
    constexpr std::size_t by = std::size_t{1} << Bit;
    const U is_set = U{} - ((first >> Bit) & 1);
    UMBEL_UNROLL(16)
    for (std::size_t i = 0; i < Count; ++i) part[i] ^= (part[i] ^ part[i + by]) & is_set;
    if constexpr (Bit > 0) choose<Bit - 1, by / 2 + 3>(first);
  }
};

// The upper half of the product of a mantissa and such an integer, exactly.
template <class T, class U>
UMBEL_INLINE constexpr U upper_product(U mantissa, U part) noexcept {
  constexpr int half = 4 * sizeof(T), lower = two_over_pi<T>::lower;
  const U high = mantissa >> lower, low = mantissa & ((element_of<U>{1} << lower) - 1);
  const U part_high = part >> half, part_low = part & ((element_of<U>{1} << half) - 1);
  const U rest = high * part_low + ((low * part_low) >> lower);
  const U middle = (low * part_high + (rest >> (half - lower))) >> lower;
  return (high * part_high + middle) >> (half - lower);
}

// a = (quadrant + value) pi / 2, value between 0 and 1/2, or negative if `negative` has all bits.
template <class V>
struct quadrant_and_angle {
  unsigned_of<V> quadrant, negative;
  V angle;  // |value| pi / 2
};

// An integer below 2^mantissa_bits as a number.
template <class V>
UMBEL_INLINE constexpr V number_from(unsigned_of<V> natural) noexcept {
  using T = element_of<V>;
  const V one = broadcast<V>(static_cast<T>(std::uint64_t{1} << math_constants<T>::mantissa_bits));
  return __builtin_bit_cast(V, natural | __builtin_bit_cast(unsigned_of<V>, one)) - one;
}
// 2^n.
template <class T>
constexpr T two_to_the(int n) noexcept {
  T power = 1;
  for (; n < 0; ++n) power /= 2;
  return power;
}

template <class V>
UMBEL_INLINE constexpr quadrant_and_angle<V> quadrant_of(V a) noexcept {
  UMBEL_AS_WRITTEN
  using T = element_of<V>;
  using U = unsigned_of<V>;
  using natural = element_of<U>;
  using constants = math_constants<T>;
  constexpr int word = 8 * sizeof(T), digits = constants::mantissa_bits;
  constexpr int first = two_over_pi<T>::in_first, second = digits - first, third = word - second;
  constexpr natural hidden_bit = natural{1} << digits;
  // From 1/2 on: smaller angles are themselves.
  const U bits = __builtin_bit_cast(U, larger(a, broadcast<V>(T{0.5})));
  const U mantissa = (bits & (hidden_bit - 1)) | hidden_bit;
  // The first bit of 2 / pi whose product with x is below 4.
  const U at = (bits >> digits) - (constants::exponent_bias + digits + 2 - word);
  const four_parts<T, U> from(at >> (word == 32 ? 5 : 6));
  const U by = at & (word - 1);
  const auto digits_of = [&](std::size_t i) {
    return (from.part[i] << by) | ((from.part[i + 1] >> 1) >> (word - 1 - by));
  };
  const U middle = digits_of(1);
  // Their product in two integers: two bits of the quadrant, then the fraction.
  const U one = mantissa * middle, other = upper_product<T>(mantissa, digits_of(2));
  const U low = one + other;
  const U carry = ((one & other) | ((one | other) & ~low)) >> (word - 1);
  const U high = mantissa * digits_of(0) + upper_product<T>(mantissa, middle) + carry;
  constexpr natural eighth = natural{1} << (word - 3);
  const U rounded = high + eighth;
  const U fraction = (rounded & (2 * eighth - 1)) - eighth;
  const U negative = U{} - (fraction >> (word - 1));
  const U size = fraction ^ negative, rest = low ^ negative;
  // Three parts of the fraction, exactly.
  const V upper = number_from<V>(size >> first) * broadcast<V>(two_to_the<T>(first + 2 - word));
  const V center =
      number_from<V>(((size & ((natural{1} << first) - 1)) << second) | (rest >> third)) *
      broadcast<V>(two_to_the<T>(third + 2 - 2 * word));
  const V lower = number_from<V>(rest & ((natural{1} << third) - 1)) *
                  broadcast<V>(two_to_the<T>(2 - 2 * word));
  V sum = center + lower;
  UMBEL_KEEP(sum);
  const V angle = (upper + sum) * broadcast<V>(static_cast<T>(1.5707963267948966192));
  const auto is_small = less(a, broadcast<V>(static_cast<T>(0.7853981)));
  return {rounded >> (word - 2), negative, select(is_small, a, angle)};
}

// sin(x + quarters pi / 2).
template <int Quarters, class V>
UMBEL_INLINE constexpr V sine(V x) noexcept {
  using T = element_of<V>;
  using U = unsigned_of<V>;
  using natural = element_of<U>;
  using constants = math_constants<T>;
  constexpr int last = 8 * sizeof(T) - 1;
  const V a = magnitude(x);
  const quadrant_and_angle<V> q = quadrant_of(a);
  const V r = q.angle, z = r * r;
  const V by_sin = fma(r * z, polynomial<V>(z, constants::sin), r);
  const V by_cos = fma(z * z, polynomial<V>(z, constants::cos),
                       fma(z, broadcast<V>(T{-0.5}), broadcast<V>(T{1})));
  const U quadrant = q.quadrant + natural{Quarters};
  const U is_odd = U{} - (quadrant & 1);
  const U sine = __builtin_bit_cast(U, by_sin), cosine = __builtin_bit_cast(U, by_cos);
  U sign = (quadrant >> 1) ^ (q.negative & ~is_odd);
  if constexpr (Quarters == 0) sign ^= __builtin_bit_cast(U, x) >> last;
  const V value = __builtin_bit_cast(V, (sine ^ ((sine ^ cosine) & is_odd)) ^ (sign << last));
  return select(less(a, broadcast<V>(constants::infinity)), value,
                broadcast<V>(constants::not_a_number));
}

}  // namespace detail

// sin(x), exactly odd; NaN for infinities and NaN. Within 3 ulp for every number.
template <class V>
UMBEL_INLINE constexpr V sin(V x) noexcept {
  return detail::sine<0>(x);
}
// cos(x), exactly even; NaN for infinities and NaN. Within 3 ulp for every number.
template <class V>
UMBEL_INLINE constexpr V cos(V x) noexcept {
  return detail::sine<1>(x);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
