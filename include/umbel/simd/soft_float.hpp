// SPDX-License-Identifier: BSL-1.0
// a * b + c by integers, rounded twice, for cores without an FPU: one call instead of
// two, without unpacking and packing the product in between. The bits of the compiler's functions,
// which compute the rare ones: subnormal numbers, products of zero, infinities and NaN.
#pragma once

#include <cstdint>
#include <umbel/config.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

namespace detail {

constexpr std::uint32_t sign_bit = 0x80000000;

constexpr std::uint32_t biased_exponent(std::uint32_t bits) noexcept { return bits << 1 >> 24; }
constexpr bool is_normal(std::uint32_t exponent) noexcept { return exponent - 1 < 254; }

// The upper half of the product of two mantissas with their first bit at 31 and 8 zeros at the end;
// its last bit also stands for all bits of the lower half. Long: by a 64-bit product.
template <bool Long>
constexpr std::uint32_t upper_product(std::uint32_t a, std::uint32_t b) noexcept {
  if constexpr (Long) {
    const std::uint64_t all = std::uint64_t{a} * b;
    return static_cast<std::uint32_t>(all >> 32) | (static_cast<std::uint32_t>(all) != 0 ? 1 : 0);
  } else {
    const std::uint32_t a_high = a >> 16, b_high = b >> 16;
    const std::uint32_t a_low = a >> 8 & 0xff, b_low = b >> 8 & 0xff;
    const std::uint32_t low = a_low * b_low;
    const std::uint32_t middle = a_high * b_low + a_low * b_high + (low >> 8);
    const std::uint32_t rest = (middle | low) << 24;
    return (a_high * b_high + (middle >> 8)) | (rest != 0 ? 1 : 0);
  }
}

}  // namespace detail

template <bool Long = UMBEL_LONG_PRODUCTS == 1>
UMBEL_NOINLINE constexpr float soft_multiply_add(float a, float b, float c) noexcept {
  using namespace detail;
  const auto x = __builtin_bit_cast(std::uint32_t, a), y = __builtin_bit_cast(std::uint32_t, b);
  const std::uint32_t x_exponent = biased_exponent(x), y_exponent = biased_exponent(y);
  std::uint32_t exponent = x_exponent + y_exponent - 127;
  if (!is_normal(x_exponent) || !is_normal(y_exponent) || exponent - 1 >= 253) return a * b + c;
  std::uint32_t mantissa = upper_product<Long>(x << 8 | sign_bit, y << 8 | sign_bit);
  // Its first bit is at 31 or 30. To 24 bits, to the nearest, of two the even one.
  if ((mantissa & sign_bit) == 0) {
    mantissa <<= 1;
    --exponent;
  }
  const std::uint32_t kept = mantissa >> 8;
  std::uint32_t product = kept + (((mantissa & 0xff) + 0x7f + (kept & 1)) >> 8);
  product += exponent << 23;  // its hidden bit adds one to the exponent
  product |= (x ^ y) & sign_bit;

  const auto z = __builtin_bit_cast(std::uint32_t, c);
  const std::uint32_t z_exponent = biased_exponent(z);
  if (!is_normal(z_exponent)) {
    const auto rounded = __builtin_bit_cast(float, product);
    return z << 1 == 0 ? rounded : rounded + c;
  }
  const bool is_larger = product << 1 >= z << 1;
  const std::uint32_t larger = is_larger ? product : z, smaller = is_larger ? z : product;
  exponent = biased_exponent(larger);
  const std::uint32_t apart = exponent - biased_exponent(smaller);
  if (apart > 25) return __builtin_bit_cast(float, larger);
  // Their first bits at 30. The last one of the smaller also stands for the bits shifted out.
  std::uint32_t sum = (larger << 8 | sign_bit) >> 1;
  const std::uint32_t other = (smaller << 8 | sign_bit) >> 1;
  std::uint32_t shifted = other >> apart;
  if (shifted << apart != other) shifted |= 1;
  if (((larger ^ smaller) & sign_bit) == 0) {
    sum += shifted;
    if ((sum & sign_bit) != 0) {
      sum = sum >> 1 | (sum & 1);
      ++exponent;
    }
  } else {
    sum -= shifted;
    if (sum == 0) return 0;
    for (; sum >> 30 == 0; sum <<= 1) --exponent;
  }
  if (!is_normal(exponent)) return __builtin_bit_cast(float, product) + c;
  const std::uint32_t result = ((sum + 0x3f + (sum >> 7 & 1)) >> 7) + ((exponent - 1) << 23);
  return __builtin_bit_cast(float, result | (larger & sign_bit));
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
