// SPDX-License-Identifier: BSL-1.0
// The fma that clang's constant expressions use (simd/fma.hpp), run here on many numbers against
// the C library's. At run time a compiler may fuse the very operations that it is made of; a
// constant expression never does, so the same is asked for here.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "kernel_support.hpp"

#include <umbel/simd/fma.hpp>

namespace {

using namespace umbel_test;
namespace simd = umbel::detail::simd;

template <class T>
T hard(seeded& next) {
  const int exponent = static_cast<int>(next() * 20);
  T value = static_cast<T>(std::ldexp(next() + next() * 0x1p-24, exponent));
  return value;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(simd_emulated_fma)

BOOST_AUTO_TEST_CASE(is_exact) {
  seeded next;
  for (int round = 0; round < 20000; ++round) {
    const float a = hard<float>(next), b = hard<float>(next);
    const float c = round % 3 == 0 ? -static_cast<float>(static_cast<double>(a) * b)
                                   : hard<float>(next) * 1e-6f;
    BOOST_TEST_REQUIRE(simd::detail::emulated_fma(a, b, c) == std::fma(a, b, c));
    const double x = hard<double>(next), y = hard<double>(next);
    const double z = round % 3 == 0 ? -static_cast<double>(static_cast<long double>(x) * y)
                                    : hard<double>(next) * 1e-12;
    BOOST_TEST_REQUIRE(simd::detail::emulated_fma(x, y, z) == std::fma(x, y, z));
  }
  // The case that adding in double and rounding twice gets wrong.
  BOOST_TEST(simd::detail::emulated_fma(0x1p0f + 0x1p-12f, 0x1p0f + 0x1p-12f, 0x1p-70f) ==
             std::fma(0x1p0f + 0x1p-12f, 0x1p0f + 0x1p-12f, 0x1p-70f));
}

BOOST_AUTO_TEST_SUITE_END()
