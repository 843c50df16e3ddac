// SPDX-License-Identifier: BSL-1.0
// Integers element by element: tables that are added or looked up, means, conversions. Against
// exact arithmetic, with the extremes of each type.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <tuple>

#include <umbel/quantized.hpp>

namespace {

using namespace umbel;
using namespace umbel::axes;
using range = tensor<float>;

std::int16_t saturated(int v) { return static_cast<std::int16_t>(std::clamp(v, -32767, 32767)); }
// In the unit of a residual sum.
int table_of(double v, double range) {
  return static_cast<int>(std::clamp(std::nearbyint(v / (range / 16384)), -32767.0, 32767.0));
}

BOOST_AUTO_TEST_CASE(conversions_round_to_the_nearest_within_the_range) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const tensor<float, token<10>> x{0, 0.5F, 1.5F, -2.5F, 127, 128, -1000, nan, infinity, -infinity};
  const auto y = quantize<std::int8_t>(x, range{127.0F});  // a unit of 1
  constexpr int expected[] = {0, 0, 2, -2, 127, 127, -127, 0, 127, -127};
  for (std::size_t i = 0; i < 10; ++i) BOOST_TEST(y(i) == expected[i]);
  const auto z = quantize<std::int16_t>(x, range{64.0F});  // of 1/256
  BOOST_TEST(z(1) == 128);
  BOOST_TEST(z(4) == 32512);
  BOOST_TEST(z(5) == 32767);
  BOOST_TEST(z(9) == -32767);
  for (int i = -127; i <= 127; ++i) {
    const tensor<std::int8_t, token<1>> one{static_cast<std::int8_t>(i)};
    const auto there = dequantize(one, range{3.7F});
    BOOST_TEST(quantize<std::int8_t>(there, range{3.7F})(0) == i);
    BOOST_TEST(dequantize<double>(one, range{127.0F})(0) == i);
  }
  // Nothing was seen: no division.
  BOOST_TEST(quantize<std::int8_t>(tensor<float, token<1>>{0.0F}, range{0.0F})(0) == 0);
}

BOOST_AUTO_TEST_CASE(views_of_any_strides_are_converted) {
  tensor<float, token<2>, hidden<3>> x{0, 1, 2, 3, 4, 5};
  const auto y = quantize<std::int8_t>(x | permute<hidden, token>, range{127.0F});
  for (int i = 0; i < 6; ++i) BOOST_TEST(y.data()[i] == i / 2 + i % 2 * 3);
}

template <std::size_t Batch, std::size_t Tokens, std::size_t Hidden>
void add_positions(float largest) {
  using table = learned_positions<float, token<Tokens>, hidden<Hidden>>;
  std::mt19937 random(17);
  std::normal_distribution<float> normal(0, 3);
  typename table::weights w;
  for (float& v : w) v = normal(random);
  const quantized<table> positions{w, {{largest}}};
  tensor<std::int16_t, batch<Batch>, token<Tokens>, hidden<Hidden>> x;
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = i % 7 == 0 ? std::int16_t{-32767}
                  : i % 7 == 1
                      ? std::int16_t{32767}
                      : static_cast<std::int16_t>(static_cast<int>(random() % 65535) - 32767);
  const auto y = positions(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const int row =
        table_of(static_cast<double>(w.data()[i % w.size()]), static_cast<double>(largest));
    BOOST_REQUIRE(y.data()[i] == saturated(x.data()[i] + row));
  }
  // Axes in another order, and in place.
  const auto turned = positions(x | permute<token, hidden, batch>);
  const auto back = contiguous(turned | permute<batch, token, hidden>);
  positions.into(x, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    BOOST_REQUIRE(x.data()[i] == y.data()[i]);
    BOOST_REQUIRE(back.data()[i] == y.data()[i]);
  }
}

// The rows of a table from the offset on, taken back to where the last ones begin.
template <class Positions, class Table>
void check_offsets(const Positions& positions, const Table& table, float range) {
  tensor<std::int16_t, token<4>, hidden<6>> x{};
  x.data()[0] = 32767;
  for (const int offset : {-3, 0, 2, 5, 6, 1000}) {
    const auto y = positions(x, offset);
    const std::size_t first = static_cast<std::size_t>(std::clamp(offset, 0, 5));
    for (std::size_t i = 0; i < x.size(); ++i)
      BOOST_TEST(y.data()[i] ==
                 saturated(x.data()[i] + table_of(static_cast<double>(table.data()[first * 6 + i]),
                                                  static_cast<double>(range))));
    auto z = x;
    positions.into(z, z, offset);
    BOOST_TEST(std::equal(z.begin(), z.end(), y.begin()));
  }
}
BOOST_AUTO_TEST_CASE(positions_are_added_and_saturate) {
  add_positions<1, 1, 1>(3);
  add_positions<2, 5, 7>(10);
  add_positions<3, 4, 16>(0.5F);  // the table itself saturates
}

BOOST_AUTO_TEST_CASE(sinusoids_begin_at_the_offset) {
  using layer = sinusoidal_positions<float, token<9>, hidden<6>, adjacent_pairs>;
  constexpr quantized<layer> positions{{{2.0F}}};
  check_offsets(positions, layer::table, 2);
  tensor<std::int16_t, token<4>, hidden<6>> x{};
  x.data()[0] = 32767;
  positions.into(x, x, 2);
  BOOST_TEST(x.data()[0] == 32767);
  BOOST_TEST(x.data()[1] == table_of(std::cos(2.0), 2), boost::test_tools::tolerance(1e-3));
}

BOOST_AUTO_TEST_CASE(learned_positions_begin_at_the_offset) {
  using layer = learned_positions<float, token<9>, hidden<6>>;
  std::mt19937 random(18);
  std::normal_distribution<float> normal(0, 1);
  layer::weights w;
  for (float& v : w) v = normal(random);
  check_offsets(quantized<layer>{w, {{2.0F}}}, w, 2);
  // Seen with an offset, as they are called.
  quantized<layer>::ranges seen{};
  const tensor<float, token<1>, hidden<6>> x{10, 0, 0, 0, 0, 0};
  BOOST_TEST(quantized<layer>::calibrate(seen, w, x, 8)(0, 0) == 10 + w(8, 0));
  BOOST_TEST(seen.residual() == std::max(10.0F, 10 + w(8, 0)));
}

BOOST_AUTO_TEST_CASE(words_are_rows_of_the_table) {
  using table = embedding<float, vocabulary<5>, hidden<3>>;
  table::weights w;
  for (std::size_t i = 0; i < w.size(); ++i) w.data()[i] = static_cast<float>(i) - 7;
  quantized<table>::ranges seen{};
  const tensor<int, batch<2>, token<3>> ids{4, 0, 5, -1, 2, 1};
  const auto floats = quantized<table>::calibrate(seen, w, ids);
  BOOST_TEST(seen.residual() == 7);
  const quantized<table> words{w, seen};
  const auto rows = words(ids);
  for (std::size_t i = 0; i < rows.size(); ++i)
    BOOST_TEST(rows.data()[i] == table_of(static_cast<double>(floats.data()[i]), 7));
  BOOST_TEST(rows(0, 2, 1) == 0);  // 5 is no word
}

template <class Result, std::size_t Outer, std::size_t Size, std::size_t Inner>
void take_mean(unsigned seed) {
  using layer = quantized_mean<token<Size>, output_as<Result>>;
  std::mt19937 random(seed);
  tensor<std::int8_t, batch<Outer>, token<Size>, hidden<Inner>> x;
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = static_cast<std::int8_t>(seed == 0   ? -128
                                           : seed == 1 ? 127
                                                       : static_cast<int>(random() % 256) - 128);
  constexpr bool is_short = sizeof(Result) == 1;
  const double output = seed < 2 ? 2 : 0.25;
  const layer mean{{{2.0F}, {static_cast<float>(output)}}};
  const auto y = x | mean;
  for (std::size_t o = 0; o < Outer; ++o)
    for (std::size_t i = 0; i < Inner; ++i) {
      double sum = 0;
      for (std::size_t s = 0; s < Size; ++s) sum += x(o, s, i);
      const double most = is_short ? 127 : 32767;
      const double unit = is_short ? output / 127 : output / 16384;
      const double exact =
          std::clamp(sum / static_cast<double>(Size) * (2.0 / 127) / unit, -most, most);
      // Half of a unit, and the digits that were dropped.
      BOOST_REQUIRE(std::abs(y(o, i) - exact) <
                    0.5 + 4e-4 * std::abs(exact) + (is_short ? 0.02 : 6));
    }
}
BOOST_AUTO_TEST_CASE(means_have_a_range_of_their_own) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    take_mean<std::int8_t, 1, 1, 1>(seed);
    take_mean<std::int8_t, 2, 49, 5>(seed);
    take_mean<std::int8_t, 3, 127, 2>(seed);
    take_mean<std::int8_t, 1, 128, 1>(seed);  // a sum of 2^14
    take_mean<std::int8_t, 1, 5000, 3>(seed);
    take_mean<std::int16_t, 2, 49, 5>(seed);
    take_mean<std::int16_t, 1, 300, 4>(seed);
  }
}

BOOST_AUTO_TEST_CASE(what_the_compiler_computes_is_the_same) {
  using table = learned_positions<float, token<2>, hidden<2>>;
  static constexpr table::weights w{0.5F, -0.25F, 3.0F, 0.0F};
  static constexpr quantized<table> positions{w, {{1.0F}}};
  static constexpr quantized_mean<token<2>> mean{{{1.0F}, {1.0F}}};
  constexpr tensor<std::int16_t, token<2>, hidden<2>> x{100, 200, 300, -32767};
  constexpr auto y = positions(x);
  static_assert(y(0, 0) == 8292 && y(0, 1) == -3896 && y(1, 0) == 32767 && y(1, 1) == -32767);
  constexpr tensor<std::int8_t, token<2>, hidden<2>> z{100, -128, 51, -127};
  static_assert(mean(z)(0) == 76 && mean(z)(1) == -127);
  constexpr auto q = quantize<std::int8_t>(tensor<float, token<1>>{0.5F}, range{1.0F});
  static_assert(q(0) == 64);
}

}  // namespace
