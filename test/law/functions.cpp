// SPDX-License-Identifier: BSL-1.0
// Laws of the functions of each element and of reductions, against loops written by hand: bit for
// bit.
#include "../support/compare.hpp"
#include "../support/random.hpp"
#include "shapes.hpp"

#include <boost/test/unit_test.hpp>
#include <umbel/operation/elementwise_function.hpp>
#include <umbel/operation/reduce.hpp>
#include <umbel/operation/softmax.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

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
    check_function(
        x + 4.0f, [](const auto& y) { return log(y); }, [](float a) { return simd::log(a); });
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

namespace {

// Element e of what is reduced in chain e % 16, folded in halves.
template <class T, class Combine>
T chained(const std::vector<T>& elements, T start, Combine combine) {
  T chain[16];
  for (T& c : chain) c = start;
  for (std::size_t e = 0; e < elements.size(); ++e)
    chain[e % 16] = combine(chain[e % 16], elements[e]);
  for (std::size_t half = 8; half > 0; half /= 2)
    for (std::size_t c = 0; c < half; ++c) chain[c] = combine(chain[c], chain[c + half]);
  return chain[0];
}

using cube = tensor<float, batch<3>, query<5>, key<7>, head_dim<4>>;

// The elements of x at one query and head_dim, in the order of `order`: over batch and key.
template <class X>
std::vector<float> elements_of(const X& x, std::size_t q, std::size_t d, bool key_first) {
  std::vector<float> all;
  for (std::size_t i = 0; i < (key_first ? 7 : 3); ++i)
    for (std::size_t j = 0; j < (key_first ? 3 : 7); ++j)
      all.push_back(x(at<query>(q), at<head_dim>(d), at<batch>(key_first ? j : i),
                      at<key>(key_first ? i : j)));
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(sums_are_chains_of_the_elements_in_the_order_of_the_axes) {
  const cube x = random<cube>(5);
  const auto plus = [](float a, float b) { return a + b; };
  const auto check = [&](const auto& y, bool key_first) {
    const auto s = sum<batch, key>(y);
    for (std::size_t q = 0; q < 5; ++q)
      for (std::size_t d = 0; d < 4; ++d)
        BOOST_TEST(s(at<query>(q), at<head_dim>(d)) ==
                   chained(elements_of(x, q, d, key_first), 0.0f, plus));
    // The names may come in any order, and the memory may lie in any way.
    BOOST_TEST(same_bits(s, sum<key, batch>(y)));
    BOOST_TEST(same_bits(s, sum<key, batch>(contiguous(y))));
  };
  check(x, false);
  check(x | permute<query, key, head_dim, batch>, true);
  check(x | permute<batch, key, query, head_dim>, false);
  // A broadcast view is summed as what it shows.
  const tensor<float, query<5>> row{1, 2, 3, 4, 5};
  BOOST_TEST((sum<key>(row | broadcast<query<5>, key<20>>) == row * 20));
}

BOOST_AUTO_TEST_CASE(a_mean_over_several_axes_is_one_chain) {
  const cube x = random<cube>(6);
  const auto check = [&](const auto& y, bool key_first) {
    const auto m = mean<batch, key>(y);
    for (std::size_t q = 0; q < 5; ++q)
      for (std::size_t d = 0; d < 4; ++d) {
        float chain = 0;
        for (float e : elements_of(x, q, d, key_first)) chain += e;
        BOOST_TEST(m(at<query>(q), at<head_dim>(d)) == chain / 21);
      }
  };
  check(x, false);
  check(x | permute<query, key, head_dim, batch>, true);
  BOOST_TEST(same_bits(mean<key>(x | permute<head_dim, key, query, batch>),
                       mean<key>(x | permute<head_dim, key, query, batch> | contiguous)));
}

BOOST_AUTO_TEST_CASE(a_variance_over_several_axes_is_one_chain) {
  const cube x = random<cube>(10);
  const auto check = [&](const auto& y, bool key_first) {
    const auto v = variance<batch, key>(y);
    const auto m = mean<batch, key>(y);
    for (std::size_t q = 0; q < 5; ++q)
      for (std::size_t d = 0; d < 4; ++d) {
        float chain = 0;
        const float center = m(at<query>(q), at<head_dim>(d));
        for (float e : elements_of(x, q, d, key_first))
          chain = simd::fma(e - center, e - center, chain);
        BOOST_TEST(v(at<query>(q), at<head_dim>(d)) == chain / 21);
      }
    BOOST_TEST(same_bits(y | variance<key, batch>, v));
  };
  check(x, false);
  check(x | permute<query, key, head_dim, batch>, true);
  BOOST_TEST((variance<batch, key, query, head_dim>(x * 0 + 3) == tensor<float>{0}));
  BOOST_TEST((variance<key>(tensor<double, key<1>>{5})() == 0));
  static_assert(variance<key>(tensor<float, query<2>, key<4>>{{1, 2, 3, 4}, {0, 0, 4, 4}}) ==
                tensor<float, query<2>>{1.25f, 4});
}

BOOST_AUTO_TEST_CASE(the_largest_and_the_smallest) {
  const cube x = random<cube>(7);
  float most = x.data()[0], least = most;
  for (float e : x) most = std::max(most, e), least = std::min(least, e);
  BOOST_TEST((max<batch, query, key, head_dim>(x)() == most));
  BOOST_TEST((min<head_dim, query, key, batch>(x)() == least));
  BOOST_TEST(same_bits(max<head_dim, query, batch>(x), max<head_dim>(max<batch, query>(x))));
  BOOST_TEST(same_bits(min<key>(x), -max<key>(-x)));
  // NaN wins; infinities are numbers.
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = INFINITY;
  for (const std::size_t at : {0u, 1u, 18u}) {
    tensor<float, key<19>> row{};
    row(at) = nan;
    BOOST_TEST(std::isnan(max<key>(row)()));
    BOOST_TEST(std::isnan(min<key>(row)()));
    row(at) = -infinity;
    BOOST_TEST(max<key>(row)() == 0);
    BOOST_TEST(min<key>(row)() == -infinity);
  }
  const tensor<float, key<2>> lowest{-infinity, -infinity};
  BOOST_TEST(max<key>(lowest)() == -infinity);
}

BOOST_AUTO_TEST_CASE(reductions_in_a_pipe_and_into_memory) {
  using namespace std;  // which has max and min
  const cube x = random<cube>(9);
  BOOST_TEST(same_bits(x | umbel::slice<key, from<1>, umbel::extent<4>> | max<key, batch>,
                       max<key, batch>(x | umbel::slice<key, from<1>, umbel::extent<4>>)));
  BOOST_TEST(same_bits(x | sum<query>, sum<query>(x)));
  BOOST_TEST(same_bits(x * 2 | min<key> | sum<batch>, sum<batch>(min<key>(x * 2))));
  tensor<float, batch<3>, key<7>, head_dim<4>> y{};
  sum<query>().into(y, x);
  BOOST_TEST(same_bits(y, sum<query>(x)));
  static_assert((tensor<int, key<3>>{3, -5, 4} | max<key>)() == 4);
}

BOOST_AUTO_TEST_CASE(reductions_of_integers) {
  constexpr tensor<int, query<2>, key<3>> x{{3, -5, 4}, {7, 0, -9}};
  static_assert(sum<key>(x) == tensor<int, query<2>>{2, -2});
  static_assert(max<query>(x) == tensor<int, key<3>>{7, 0, 4});
  static_assert(min<query, key>(x)() == -9);
  BOOST_TEST((sum<query, key>(x)() == 0));
  const tensor<unsigned char, key<3>> small{3, 200, 4};
  BOOST_TEST(max<key>(small)() == 200);
  BOOST_TEST(min<key>(small)() == 3);
  const tensor<std::int64_t, key<2>> large{-(1LL << 62), 5};
  BOOST_TEST(max<key>(large)() == 5);
  BOOST_TEST(min<key>(large)() == -(1LL << 62));
}

BOOST_AUTO_TEST_CASE(reductions_in_constant_expressions) {
  constexpr auto x = counted<tensor<float, query<3>, key<20>>>();
  constexpr auto s = sum<key>(x);
  constexpr auto m = mean<query, key>(x);
  constexpr auto most = max<key>(x | permute<key, query>);
  BOOST_TEST(same_bits(s, sum<key>(counted<tensor<float, query<3>, key<20>>>())));
  BOOST_TEST(m() == 29.5f);
  BOOST_TEST((most == tensor<float, query<3>>{19, 39, 59}));
}

BOOST_AUTO_TEST_CASE(log_softmax_is_the_logarithm_of_the_softmax) {
  const auto x = random<tensor<float, query<5>, key<19>, batch<3>>>(8);
  const auto y = log_softmax<key>(x);
  const auto expected = log(softmax<key>(x));
  BOOST_TEST((max<query, key, batch>(abs(y - expected))() < 4e-6f));
  const auto turned = permute<batch, key, query>;
  BOOST_TEST(same_bits(log_softmax<key>(x | turned), y | turned | contiguous));
  // Far below the maximum, where the softmax is 0; a row of -infinity stays.
  BOOST_TEST(
      (log_softmax<key>(tensor<float, key<2>>{0, -1000}) == tensor<float, key<2>>{0, -1000}));
  const tensor<float, key<2>> nothing{-INFINITY, -INFINITY};
  BOOST_TEST((log_softmax<key>(nothing) == nothing));
  auto z = x;
  log_softmax<key>.into(z, z);
  BOOST_TEST(same_bits(z, y));
  constexpr auto constant = log_softmax<key>(tensor<float, key<3>>{1, 2, 3});
  BOOST_TEST(same_bits(constant, log_softmax<key>(tensor<float, key<3>>{1, 2, 3})));
}

BOOST_AUTO_TEST_SUITE_END()
