// SPDX-License-Identifier: BSL-1.0
// Numbers in 8 bits: scales and steps against arithmetic in double, what is not finite or too
// small, every byte in every lane.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <umbel/kernel/plain/scaled.hpp>
#include <umbel/simd/int8.hpp>

#include "kernel_support.hpp"

namespace {

using umbel::detail::kernel::linear_shape;
using umbel::detail::kernel::scale_of_numbers;
namespace plain = umbel::detail::kernel::plain;
namespace simd = umbel::detail::simd;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

using in_steps = scale_of_numbers<float>::in_steps;
constexpr scale_of_numbers<float> scale_of(std::initializer_list<float> numbers) {
  scale_of_numbers<float> scale;
  for (float x : numbers) scale.add(x);
  return scale;
}

// The largest is 127 steps, ties go to the even one, of either sign.
constexpr auto of_127 = scale_of({3, -127, 0.5f});
static_assert(of_127.value() == 1);
constexpr in_steps steps_of_127{of_127};
static_assert(steps_of_127(-127) == -127 && steps_of_127(127) == 127 && steps_of_127(-0.0f) == 0);
static_assert(steps_of_127(0.5f) == 0 && steps_of_127(1.5f) == 2 && steps_of_127(-2.5f) == -2);
static_assert(steps_of_127(0.50001f) == 1 && steps_of_127(-1.49999f) == -1);
static_assert(steps_of_127(125.5f) == 126 && steps_of_127(126.5f) == 126);

// Nothing, zeros, numbers whose scale would be subnormal: all 0.
static_assert(scale_of({}).value() == 0 && scale_of({0, -0.0f}).value() == 0);
static_assert(in_steps{scale_of({0, 0})}(0) == 0);
static_assert(scale_of({1.4e-36f}).value() == 0 && in_steps{scale_of({1.4e-36f})}(1.4e-36f) == 0);
static_assert(scale_of({1.6e-36f}).value() > 0 && in_steps{scale_of({1.6e-36f})}(1.6e-36f) == 127);

constexpr linear_shape small{2, 3, 2, 3, 1, 2, 1, true};
constexpr float weights[] = {1, -254, 0.5f, 3, -0.25f, 5};
constexpr float x[] = {1, 2, 3, -1, 0.5f, 4}, bias[] = {10, -1};
constexpr auto computed = [] {
  struct {
    std::int8_t steps[6]{};
    float scales[2]{}, y[4]{};
  } all;
  plain::store_in_8_bits<small>(weights, all.steps, all.scales);
  plain::linear<small>(x, all.steps, all.scales, bias, all.y);
  return all;
}();
static_assert(computed.scales[1] == 2);
static_assert(computed.steps[1] == -127 && computed.steps[3] == 2 && computed.steps[5] == 2);
static_assert(computed.y[1] == 2 * (-127 + 4 + 6) - 1);

template <std::size_t Lanes>
void check_lanes() {
  using V = simd::pack<float, Lanes>;
  std::int8_t bytes[256 + Lanes]{};
  for (std::size_t i = 0; i < 256; ++i)
    bytes[i] = static_cast<std::int8_t>(static_cast<int>(i) - 128);
  for (std::size_t at = 0; at < 256; ++at) {
    const auto whole = simd::load<V>(bytes + at);
    for (std::size_t i = 0; i < Lanes; ++i)
      BOOST_TEST(whole[i] == static_cast<float>(bytes[at + i]));
    for (std::size_t count = 0; count <= Lanes; ++count) {
      const auto first = simd::load_first<V>(bytes + at, count);
      for (std::size_t i = 0; i < Lanes; ++i)
        BOOST_TEST(first[i] == (i < count ? static_cast<float>(bytes[at + i]) : 0.0f));
    }
    BOOST_TEST(simd::broadcast<V>(bytes[at])[Lanes - 1] == static_cast<float>(bytes[at]));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(int8)

BOOST_AUTO_TEST_CASE(steps_are_the_nearest) {
  umbel_test::seeded next{7};
  for (int set = 0; set < 300; ++set) {
    umbel_test::buffer<float> numbers{40};
    numbers.fill(next, std::ldexp(1.0, set % 200 - 100));
    scale_of_numbers<float> scale;
    double largest = 0;
    for (std::size_t i = 0; i < 40; ++i) {
      scale.add(numbers[i]);
      largest = std::fmax(largest, std::fabs(static_cast<double>(numbers[i])));
    }
    BOOST_TEST(scale.value() == static_cast<float>(largest) / 127);
    const in_steps to_steps{scale};
    int most = 0;
    for (std::size_t i = 0; i < 40; ++i) {
      const int steps = to_steps(numbers[i]);
      most = std::max(most, std::abs(steps));
      // Half a step, and the roundings of the scale and of the quotient.
      const double error = std::fabs(steps * (largest / 127) - static_cast<double>(numbers[i]));
      BOOST_TEST(error <= largest / 127 * (0.5 + 127 * std::ldexp(1.0, -22)));
    }
    BOOST_TEST(most == 127);
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_finite_is_nan) {
  for (float bad : {not_a_number, infinity, -infinity}) {
    for (const auto& scale :
         {scale_of({1, bad, 2}), scale_of({bad}), scale_of({infinity, bad, 3})}) {
      BOOST_TEST(std::isnan(scale.value()));
      BOOST_TEST(in_steps{scale}(bad) == 0);
      BOOST_TEST(in_steps{scale}(1) == 0);
    }
  }
  const float largest = std::numeric_limits<float>::max();
  BOOST_TEST(in_steps{scale_of({-largest})}(-largest) == -127);
  BOOST_TEST(scale_of({-largest}).value() == largest / 127);
}

BOOST_AUTO_TEST_CASE(every_byte_in_every_lane) {
  check_lanes<4>();
  check_lanes<8>();
  check_lanes<16>();
}

BOOST_AUTO_TEST_SUITE_END()
