// SPDX-License-Identifier: BSL-1.0
// bfloat16 and float16: rounding against arithmetic in double, every one of the 65536 there and
// back, and vectors of every width against one at a time.
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <umbel/simd/half.hpp>

namespace {

using namespace umbel_test;
using umbel::bfloat16;
using umbel::float16;
namespace simd = umbel::detail::simd;

std::uint32_t bits_of(float x) { return __builtin_bit_cast(std::uint32_t, x); }
float from_bits(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
template <class W>
W stored(std::uint32_t bits) {
  W w{};
  w.bits = static_cast<std::uint16_t>(bits);
  return w;
}

// The value of a pattern by its definition: `exponent` bits and the rest of 15 for the mantissa.
double defined(std::uint32_t bits, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const double mantissa = bits & ((1u << mantissa_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return mantissa != 0 ? NAN : sign * INFINITY;
  const double whole = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
  return sign * std::ldexp(whole, (exponent == 0 ? 1 : exponent) - bias - mantissa_bits);
}
template <class W>
constexpr int exponent_bits = std::is_same_v<W, bfloat16> ? 8 : 5;

template <class W>
void check_values() {
  bool same = true;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const double value = defined(bits, exponent_bits<W>);
    const float widened = static_cast<float>(stored<W>(bits));
    if (std::isnan(value)) {
      same = same && std::isnan(widened) && std::isnan(static_cast<float>(W(widened)));
    } else {
      same = same && bits_of(widened) == bits_of(static_cast<float>(value));
      same = same && W(widened).bits == bits;
    }
  }
  BOOST_TEST(same);
}

// Between two neighbours: the nearer, in the middle the even one, and so for all that lies beside.
template <class W>
void check_rounding() {
  const std::uint32_t largest = std::is_same_v<W, bfloat16> ? 0x7f7f : 0x7bff;
  bool right = true;
  for (std::uint32_t low = 0; low <= largest; ++low) {
    const double below = defined(low, exponent_bits<W>);
    const double step = low == largest ? below - defined(low - 1, exponent_bits<W>)
                                       : defined(low + 1, exponent_bits<W>) - below;
    const float middle = static_cast<float>(below + step / 2);  // exact
    const std::uint32_t even = low % 2 == 0 ? low : low + 1;
    for (const std::uint32_t sign : {0u, 0x8000u}) {
      const float scale = sign != 0 ? -1.0f : 1.0f;
      right = right && W(scale * middle).bits == (even | sign);
      right = right && W(scale * from_bits(bits_of(middle) - 1)).bits == (low | sign);
      right = right && W(scale * from_bits(bits_of(middle) + 1)).bits == ((low + 1) | sign);
    }
  }
  BOOST_TEST(right);
}

template <std::size_t Lanes, class W>
void check_lanes() {
  using V = simd::pack<float, Lanes>;
  bool same = true;
  for (std::uint32_t first = 0; first < 65536; first += 16) {
    W memory[17];  // loaded from an odd address
    for (std::uint32_t i = 0; i < 16; ++i) memory[i + 1] = stored<W>(first + i);
    const auto check = [&](V value, std::size_t from, std::size_t step, std::size_t count) {
      for (std::size_t i = 0; i < Lanes; ++i) {
        const float expected = i < count ? static_cast<float>(memory[from + i * step]) : 0.0f;
        same = same && bits_of(value[i]) == bits_of(expected);
      }
    };
    check(simd::load<V>(memory + 1), 1, 1, Lanes);
    for (std::size_t count = 0; count <= Lanes; ++count) {
      check(simd::load_first<V>(memory + 1, count), 1, 1, count);
    }
    if constexpr (std::is_same_v<W, bfloat16> && UMBEL_LITTLE_ENDIAN && Lanes < 16) {
      check(simd::load_alternate<V, false>(memory + 1), 1, 2, Lanes);
      check(simd::load_alternate<V, true>(memory + 1), 2, 2, Lanes);
    }
  }
  BOOST_TEST(same, Lanes << " lanes");
}

constexpr float infinity = __builtin_huge_valf();
static_assert(sizeof(bfloat16) == 2 && std::is_trivially_copyable_v<bfloat16>);
static_assert(sizeof(float16) == 2 && std::is_trivially_copyable_v<float16>);
static_assert(bfloat16(1.0f).bits == 0x3f80 && float16(1.0f).bits == 0x3c00);
static_assert(bfloat16(-infinity).bits == 0xff80 && float16(-infinity).bits == 0xfc00);
static_assert(bfloat16(3.4e38f).bits == 0x7f80, "past the largest");
static_assert(float16(65519.996f).bits == 0x7bff && float16(65520.0f).bits == 0x7c00);
static_assert(float16(5.9604645e-08f).bits == 1 && float16(2.9802322e-08f).bits == 0);
static_assert(static_cast<float>(float16(0.1f)) == 0.0999755859375f);
static_assert(static_cast<float>(bfloat16(0.1f)) == 0.10009765625f);
static_assert(static_cast<float>(float16(6e-8f)) == 5.9604645e-08f);

}  // namespace

BOOST_AUTO_TEST_SUITE(half)

BOOST_AUTO_TEST_CASE(every_value_is_what_the_format_says_and_comes_back) {
  check_values<bfloat16>();
  check_values<float16>();
}

BOOST_AUTO_TEST_CASE(rounds_to_nearest_ties_to_even) {
  check_rounding<bfloat16>();
  check_rounding<float16>();
}

// What one instruction makes is what the integers make, which constant expressions take; one lane
// of integers is one of widen_float16.
BOOST_AUTO_TEST_CASE(the_instruction_and_the_integers_agree) {
  bool same = true;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float widened = static_cast<float>(stored<float16>(bits));
    same = same && bits_of(widened) == bits_of(simd::detail::widen_float16<float>(bits));
  }
  BOOST_TEST(same);
  static_assert(static_cast<float>(float16(-1.5e-5f)) == -1.50203705e-05f);
  BOOST_TEST(static_cast<float>(float16(-1.5e-5f)) == -1.50203705e-05f);
}

BOOST_AUTO_TEST_CASE(a_nan_stays_one) {
  for (const std::uint32_t bits : {0x7f800001u, 0x7fc00000u, 0xff80ffffu, 0xffffffffu}) {
    BOOST_TEST(std::isnan(static_cast<float>(bfloat16(from_bits(bits)))));
    BOOST_TEST(std::isnan(static_cast<float>(float16(from_bits(bits)))));
  }
}

BOOST_AUTO_TEST_CASE(vectors_widen_as_one_does) {
  check_lanes<4, bfloat16>();
  check_lanes<8, bfloat16>();
  check_lanes<16, bfloat16>();
  check_lanes<4, float16>();
  check_lanes<8, float16>();
  check_lanes<16, float16>();
}

BOOST_AUTO_TEST_SUITE_END()
