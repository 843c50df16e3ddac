// SPDX-License-Identifier: BSL-1.0
// First weights: by the roles of parameters, with the bounds, means and deviations of the formulas,
// and the same bits by every compiler and on every target, also in constant expressions.
#include <boost/test/unit_test.hpp>

#include <umbel/training/initialize.hpp>
#include <umbel/umbel.hpp>

#include <cmath>
#include <cstring>

#include "kernel_support.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

template <class T>
struct model {
  using block = encoder_layer<T, hidden<64>, heads<4>, intermediate<96>, norm_first<true>,
                              activation<relu>, bias<true>>;
  using scoring = additive_attention<T, hidden<16>, score_hidden<8>>;
  static constexpr const char* part_names[] = {"table", "block", "scoring", "offset"};
  tensor<T, token<50>, hidden<64>> table;
  typename block::weights block_weights;
  typename scoring::weights scoring_weights;
  tensor<T, classes<3>> offset;
};

struct moments {
  double mean = 0, deviation = 0, largest = 0;
};
template <class T>
moments of(const T* x, std::size_t count) {
  moments m;
  for (std::size_t i = 0; i < count; ++i)
    m.mean += static_cast<double>(x[i]) / static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double apart = static_cast<double>(x[i]) - m.mean;
    m.deviation += apart * apart / static_cast<double>(count);
    m.largest = std::max(m.largest, std::fabs(static_cast<double>(x[i])));
  }
  m.deviation = std::sqrt(m.deviation);
  return m;
}

BOOST_AUTO_TEST_CASE(parameters_begin_by_their_roles) {
  static model<double> w;
  initialize(w, 2026);
  const auto near = [](double x, double y, double part) { return std::fabs(x / y - 1) < part; };
  const moments up = of(w.block_weights.feed_forward.up.weight, 64 * 96);
  const double bound = std::sqrt(6.0 / (64 + 96));
  BOOST_TEST(up.largest < bound);
  BOOST_TEST(up.largest > 0.999 * bound);
  BOOST_TEST(near(up.deviation, bound / std::sqrt(3.0), 0.03));
  BOOST_TEST(std::fabs(up.mean) < 4 * bound / std::sqrt(3.0 * 64 * 96));
  const moments table = of(w.table.data(), w.table.size());
  BOOST_TEST(near(table.deviation, 0.02, 0.05));
  BOOST_TEST(table.largest > 0.06);
  BOOST_TEST(table.largest < 0.12);
  for_each_parameter(w, [](const parameter_path& path, const auto& x) {
    const moments m = of(x.data(), x.size());
    const char* const last = std::strrchr(path.c_str(), '.');
    if (last != nullptr && std::strcmp(last, ".gamma") == 0)
      BOOST_TEST((m.mean == 1 && m.deviation == 0), path.c_str());
    else if (path == "offset" || (last != nullptr && (std::strcmp(last, ".beta") == 0 ||
                                                      std::strcmp(last, ".bias") == 0)))
      BOOST_TEST(m.largest == 0, path.c_str());
    else
      BOOST_TEST(m.deviation > 0, path.c_str());
  });
}

BOOST_AUTO_TEST_CASE(deviations_are_those_of_the_formulas) {
  static linear<double, hidden<200>, classes<100>>::weights w;
  const auto check = [&](const initializer& how, double deviation, double most) {
    initialize(w, 7, how);
    const moments m = of(w.weight, 20000);
    BOOST_TEST(std::fabs(m.deviation / deviation - 1) < 0.02);
    BOOST_TEST(std::fabs(m.mean) < 4 * deviation / std::sqrt(20000.0));
    BOOST_TEST(m.largest < most * deviation);
    BOOST_TEST(m.largest > 0.6 * most * deviation);
  };
  const double uniform = std::sqrt(3.0), normal = 5.5;
  check(initializer::xavier_uniform(), std::sqrt(2.0 / 300), uniform);
  check(initializer::xavier_normal(2), 2 * std::sqrt(2.0 / 300), normal);
  check(initializer::kaiming_uniform(), std::sqrt(2.0 / 200), uniform);
  check(initializer::kaiming_normal(1), std::sqrt(1.0 / 200), normal);
  check(initializer::normal(3), 3, normal);
}

// The same numbers for float, rounded; another seed and another path have others.
BOOST_AUTO_TEST_CASE(numbers_belong_to_a_seed_and_a_path) {
  static model<double> w, other;
  static model<float> narrow;
  initialize(w, 1), initialize(other, 2), initialize(narrow, 1);
  BOOST_TEST(w.table(0, 0) != other.table(0, 0));
  BOOST_TEST(w.block_weights.attention.q.weight[0] != w.block_weights.attention.k.weight[0]);
  bool same = true;
  for (std::size_t i = 0; i < w.table.size(); ++i)
    same = same && narrow.table.data()[i] == static_cast<float>(w.table.data()[i]);
  BOOST_TEST(same);
  initialize(w, 1, [](const parameter_path& path, const auto& x) {
    return path == "table" ? initializer::constant(3) : initializer::by_role(path, x);
  });
  BOOST_TEST(w.table(7, 5) == 3);
  initialize(other, 1);
  BOOST_TEST(w.block_weights.attention.q.weight[9] == other.block_weights.attention.q.weight[9]);
}

constexpr auto constant_table = [] {
  tensor<double, token<3>, hidden<3>> x{};
  initialize(x, 5);
  return x;
}();
BOOST_AUTO_TEST_CASE(bits_are_the_same_everywhere) {
  static model<double> w;
  initialize(w, 2026);
  const std::uint64_t hash = umbel_test::hash_bits(w.table.data(), sizeof w / sizeof(double));
  BOOST_TEST(hash == 2087776013169082130u);
  tensor<double, token<3>, hidden<3>> x;
  initialize(x, 5);
  BOOST_TEST(std::memcmp(x.data(), constant_table.data(), sizeof x) == 0);
}

}  // namespace
