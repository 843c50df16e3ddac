// SPDX-License-Identifier: BSL-1.0
// Rotary positions in integers: each feature is within half a unit of the rotation in double, also
// of the largest numbers; what is of no pair is rounded. Not here: the table (law/rope.cpp).
#include <boost/test/unit_test.hpp>
#include <umbel/quantized.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../support/random.hpp"

namespace {

using umbel::detail::rope_turns;
namespace kernel = umbel::detail::kernel;

// The largest distance from the rotation by the angles themselves, in units of the result.
template <kernel::integer_rotate_shape S>
double worst(double largest) {
  constexpr std::size_t count = S.rows * S.heads * S.head_dim;
  const auto& table = rope_turns<std::int16_t, S.rows, S.pairs, 10000>();
  umbel_test::lcg next{S.rows};
  std::int16_t x[count];
  for (auto& v : x) v = static_cast<std::int16_t>(static_cast<double>(next()) * largest);
  for (std::size_t i = 0; largest == 32767 && i < count; i += 3) x[i] = i % 2 ? 32767 : -32767;
  std::int8_t y[count];
  kernel::plain::integer_rotate<S>(x, table.cosine, table.sine, y);
  double far = 0;
  for (std::size_t r = 0; r < S.rows; ++r)
    for (std::size_t h = 0; h < S.heads; ++h) {
      const std::size_t from = (r * S.heads + h) * S.head_dim;
      const auto see = [&](std::size_t f, double wanted) {
        const double in_range = std::clamp(wanted / 128, -127.0, 127.0);
        far = std::max(far, std::fabs(y[from + f] - in_range));
      };
      for (std::size_t i = 0; i < S.pairs; ++i) {
        const double exponent = -2.0 * static_cast<double>(i) / (2 * S.pairs);
        const double angle = static_cast<double>(r) * std::pow(10000.0, exponent);
        const std::size_t f = i * S.step;
        const double a = x[from + f], b = x[from + f + S.apart];
        see(f, a * std::cos(angle) - b * std::sin(angle));
        see(f + S.apart, b * std::cos(angle) + a * std::sin(angle));
      }
      for (std::size_t f = 2 * S.pairs; f < S.head_dim; ++f) see(f, x[from + f]);
    }
  return far;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(integer_rotate)

// 2^-15 of a table's entry is 1/128 of a unit of the largest number that stays in range.
BOOST_AUTO_TEST_CASE(within_half_a_unit) {
  BOOST_TEST((worst<kernel::integer_rotate_shape{70, 3, 8, 4, 1, 4}>(16000) < 0.508));
  BOOST_TEST((worst<kernel::integer_rotate_shape{70, 3, 8, 4, 2, 1}>(16000) < 0.508));
  BOOST_TEST((worst<kernel::integer_rotate_shape{21, 1, 12, 3, 1, 3}>(16000) < 0.508));
  BOOST_TEST((worst<kernel::integer_rotate_shape{1, 2, 4, 1, 2, 1}>(16000) < 0.508));
}
BOOST_AUTO_TEST_CASE(the_largest_numbers) {
  BOOST_TEST((worst<kernel::integer_rotate_shape{70, 3, 8, 4, 1, 4}>(32767) < 0.508));
}

BOOST_AUTO_TEST_SUITE_END()
