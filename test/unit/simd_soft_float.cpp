// SPDX-License-Identifier: BSL-1.0
// The multiply-add of cores without an FPU (simd/soft_float.hpp), run here against the processor's
// product and sum, each rounded by itself; the rare numbers are left to those, too.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif

#include <umbel/simd/soft_float.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <random>

namespace {

namespace simd = umbel::detail::simd;

float rounded_twice(float a, float b, float c) {
  const volatile float product = a * b;  // never fused
  return product + c;
}

std::uint32_t bits(float value) { return __builtin_bit_cast(std::uint32_t, value); }

bool is_nan(float value) { return value != value; }

void check(float a, float b, float c) {
  const float expected = rounded_twice(a, b, c);
  for (const float result :
       {simd::soft_multiply_add<true>(a, b, c), simd::soft_multiply_add<false>(a, b, c)}) {
    if (is_nan(expected) ? !is_nan(result) : bits(result) != bits(expected))
      BOOST_TEST_REQUIRE(result == expected,
                         a << " * " << b << " + " << c << " is " << expected << ", not " << result);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(simd_soft_float)

BOOST_AUTO_TEST_CASE(has_the_bits_of_two_operations) {
  std::mt19937 engine(1);
  const auto next = [&] { return static_cast<std::uint32_t>(engine()); };
  const auto near = [&](std::uint32_t exponent, std::uint32_t spread) {
    const std::uint32_t mantissa = next() % 4 == 0   ? next() % 4
                                   : next() % 4 == 0 ? 0x7fffffu - next() % 4
                                                     : next() & 0x7fffffu;
    const std::uint32_t biased = (exponent + next() % spread) & 0xff;
    return __builtin_bit_cast(float, (next() & 0x80000000u) | biased << 23 | mantissa);
  };
  for (int round = 0; round < 3'000'000; ++round) {
    check(near(125, 5), near(125, 5), near(123, 8));    // sums of like size, cancellation
    check(near(110, 30), near(110, 30), near(96, 60));  // far apart
    check(near(60, 8), near(60, 8), near(0, 30));       // about the smallest
    check(near(186, 8), near(188, 8), near(246, 10));   // about the largest
    check(near(0, 256), near(0, 256), near(0, 256));    // anything
  }
  // Sums that cancel exactly, or all but a few bits.
  for (int round = 0; round < 1'000'000; ++round) {
    const float a = near(120, 10), b = near(120, 10);
    const volatile float product = a * b;
    const std::uint32_t c = bits(-product) + next() % 5 - 2;
    check(a, b, __builtin_bit_cast(float, c));
  }
}

BOOST_AUTO_TEST_CASE(has_the_special_values) {
  const float infinity = __builtin_inff(), nan = __builtin_nanf("");
  const float values[] = {0.0f,       -0.0f,     1.0f,        -1.0f,           0x1p-126f,
                          -0x1p-126f, 0x1p-149f, 0x1.8p-127f, 0x1.fffffep127f, -0x1.fffffep127f,
                          infinity,   -infinity, nan,         0x1p64f,         0x1.fffffep63f,
                          0x1p-75f,   3.0f,      0x1p-25f};
  for (const float a : values)
    for (const float b : values)
      for (const float c : values) check(a, b, c);
  static_assert(simd::soft_multiply_add(3.0f, 5.0f, -15.0f) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
