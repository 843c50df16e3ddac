// SPDX-License-Identifier: BSL-1.0
// Conditions on positions that hide keys: the bits of a mask of the same pairs, and the keys that
// nothing reads.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <string_view>
#include <umbel/inspect/describe.hpp>
#include <umbel/umbel.hpp>

#include "formula_support.hpp"

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// The condition on positions in a formula, and on numbers.
template <class Condition>
struct of_condition {
  static constexpr formula hidden = [](auto q, auto k, auto v) {
    auto scores = contract<head_dim>(q, k);
    return contract<key>(softmax<key>(hide(scores, Condition{}(position<key>, position<query>))),
                         v);
  };
};
constexpr formula by_mask = [](auto q, auto k, auto v, auto hidden) {
  return contract<key>(softmax<key>(hide(contract<head_dim>(q, k), hidden)), v);
};

struct examples {
  tensor<float, query<40>, head_dim<4>> q;
  tensor<float, key<33>, head_dim<4>> k;
  tensor<float, key<33>, value_dim<3>> v;
  examples() { fill(q, 1), fill(k, 2), fill(v, 3); }
};

// says: of the keys that are read, on the page of the formula.
template <class Condition>
void check(Condition condition, std::string_view says) {
  using std::abs;
  static const examples in;
  constexpr auto& f = of_condition<Condition>::hidden;
  tensor<bool, query<40>, key<33>> hidden;
  for (std::size_t i = 0; i < 40; ++i)
    for (std::size_t j = 0; j < 33; ++j)
      hidden(i, j) = condition(static_cast<float>(j), static_cast<float>(i));
  const auto expected = by_mask(in.q, in.k, in.v, hidden);
  BOOST_TEST(same_bits(f(in.q, in.k, in.v), expected), says);
  BOOST_TEST(same_bits(plain(f)(in.q, in.k, in.v), expected), says);
  const std::string_view page = describe(f, in.q, in.k, in.v);
  BOOST_TEST(page.find(says) != page.npos, says << " not in " << page);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(formula_conditions)

using std::abs;

BOOST_AUTO_TEST_CASE(distances) {
  check([](auto k, auto q) { return k != q; }, "keys i to i\n");
  check([](auto k, auto q) { return abs(k - q) > 3; }, "keys i - 3 to i + 3\n");
  check([](auto k, auto q) { return 2.5f <= abs(q - k - 1); }, "keys i - 3 to i + 1\n");
  check([](auto k, auto q) { return 2 * k > 2 * q - 1; }, "keys up to i - 1\n");
  check([](auto k, auto q) { return k > q + 0.5f || -k >= 8 - q; }, "keys i - 7 to i\n");
}
BOOST_AUTO_TEST_CASE(numbers) {
  check([](auto k, auto) { return k >= 7; }, "keys up to 6\n");
  check([](auto k, auto) { return k < 3 || 3 * k > 70; }, "keys from 3 up to 23\n");
  check([](auto k, auto) { return k != 5; }, "keys from 5 up to 5\n");
}
BOOST_AUTO_TEST_CASE(distances_and_numbers) {
  check([](auto k, auto q) { return k > q && k > 5; }, "keys up to i, at least 5\n");
  check([](auto k, auto q) { return !(k <= q + 2 && k + 1 > 4); }, "keys up to i + 2; ");
  check([](auto k, auto q) { return k + 4 < q && k < 20; }, "keys from i - 4, at most 20\n");
}
BOOST_AUTO_TEST_CASE(no_ranges) {
  check([](auto k, auto q) { return abs(k - q) < 2; }, "1 selection; all keys are read\n");
  check([](auto k, auto q) { return k == q || q > 9; }, "all keys are read\n");
  check([](auto k, auto q) { return 2 * k > q; }, "1 selection; all keys are read\n");
  check([](auto k, auto) { return k > 1e19f || k > infinity; }, "all keys are read\n");
  check([](auto k, auto q) { return (k + 1) * infinity < q - infinity; }, "all keys are read\n");
}

BOOST_AUTO_TEST_SUITE_END()
