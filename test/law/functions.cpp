// SPDX-License-Identifier: BSL-1.0
// Laws of the functions of each element and of reductions, against loops written by hand: bit for
// bit.
#include "../support/compare.hpp"
#include "../support/random.hpp"
#include "shapes.hpp"

#include <boost/test/unit_test.hpp>
#include <umbel/block/elementwise_function.hpp>

#include <cmath>
#include <limits>

using namespace law;
using umbel_test::same_bits;

namespace {

namespace simd = detail::simd;

template <class X>
X random(std::uint32_t seed, double scale = 3) {
  umbel_test::lcg next{seed};
  return umbel_test::drawn<X>(next, scale);
}

// f of each element by hand, of a tensor and of a view of it that lies otherwise.
template <class X, class Function, class Of>
void check_function(const X& x, Function function, Of of) {
  X expected{};
  for (std::size_t i = 0; i < X::layout::count; ++i) expected.data()[i] = of(x.data()[i]);
  BOOST_TEST(same_bits(function(x), expected));
  const auto turned = x | orders<X>::reversed::permute;
  const auto result = function(turned);
  static_assert(decltype(result)::layout::contiguous);
  BOOST_TEST(same_bits(result, expected | orders<X>::reversed::permute | contiguous));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(functions)

BOOST_AUTO_TEST_CASE(are_those_of_each_element) {
  each_shape([]<class X>() {
    const X x = random<X>(1);
    check_function(x, [](const auto& y) { return exp(y); }, [](float a) { return simd::exp(a); });
    check_function(x + 4.0f, [](const auto& y) { return log(y); }, [](float a) { return simd::log(a); });
    check_function(x, [](const auto& y) { return abs(y); }, [](float a) { return std::fabs(a); });
    check_function(
        x, [](const auto& y) { return sigmoid(y); }, [](float a) { return simd::sigmoid(a); });
  });
}

BOOST_AUTO_TEST_CASE(of_doubles) {
  using X = tensor<double, query<5>, key<7>>;
  const X x = random<X>(2) + 4.0;
  check_function(x, [](const auto& y) { return sqrt(y); }, [](double a) { return std::sqrt(a); });
  check_function(
      x, [](const auto& y) { return rsqrt(y); }, [](double a) { return simd::rsqrt(a); });
  check_function(x, [](const auto& y) { return tanh(y); }, [](double a) { return simd::tanh(a); });
}

BOOST_AUTO_TEST_CASE(abs_of_integers) {
  constexpr int lowest = std::numeric_limits<int>::min();
  BOOST_TEST((abs(tensor<int, key<4>>{-3, 3, 0, lowest}) == tensor<int, key<4>>{3, 3, 0, lowest}));
  BOOST_TEST((abs(tensor<unsigned, key<2>>{3u, 0u}) == tensor<unsigned, key<2>>{3u, 0u}));
}

BOOST_AUTO_TEST_CASE(in_constant_expressions_and_beside_those_of_numbers) {
  using namespace std;
  constexpr tensor<float, key<3>> x{-1, 0, 4};
  constexpr auto y = sigmoid(tanh(sqrt(abs(x))));
  BOOST_TEST(same_bits(y, sigmoid(tanh(sqrt(abs(x))))));
  BOOST_TEST(exp(0.0f) + sqrt(4.0) + abs(-3) + log(1.0) + tanh(0.0) == 6);
}

BOOST_AUTO_TEST_SUITE_END()
