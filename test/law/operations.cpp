// SPDX-License-Identifier: BSL-1.0
// Laws of the operations on tensors, bit for bit: functions of each element, activations,
// reductions and softmax against loops written by hand, along any axis; results into memory of the
// caller, of norms, maps and positions too. Not here: what chooses elements (selecting.cpp).
#include "../support/compare.hpp"
#include "../support/random.hpp"
#include "shapes.hpp"

#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

using namespace law;
using namespace umbel_test;

namespace {

namespace simd = detail::simd;

template <class X>
X random(std::uint32_t seed, double scale = 3) {
  lcg next{seed};
  return drawn<X>(next, scale);
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

BOOST_AUTO_TEST_SUITE(operations)

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

BOOST_AUTO_TEST_CASE(of_powers_remainders_and_bounds) {
  each_shape([]<class X>() {
    const X x = random<X>(8), y = abs(random<X>(9)) + 0.5f;
    check_function(x, [](const auto& a) { return sin(a); }, [](float a) { return simd::sin(a); });
    check_function(x, [](const auto& a) { return cos(a); }, [](float a) { return simd::cos(a); });
    check_function(x, [](const auto& a) { return erf(a); }, [](float a) { return simd::erf(a); });
    check_function(
        x, [](const auto& a) { return floor(a); }, [](float a) { return std::floor(a); });
    check_function(
        y, [](const auto& a) { return pow(a, 2.5f); }, [](float a) { return simd::pow(a, 2.5f); });
    check_function(
        x, [](const auto& a) { return pow(3, a); }, [](float a) { return simd::pow(3.0f, a); });
    check_function(
        x, [](const auto& a) { return a % 2.5f; },
        [](float a) { return simd::remainder(a, 2.5f); });
    check_function(
        y, [](const auto& a) { return 7.5f % a; },
        [](float a) { return simd::remainder(7.5f, a); });
    X power{}, rest{};
    for (std::size_t i = 0; i < X::layout::count; ++i) {
      power.data()[i] = simd::pow(y.data()[i], x.data()[i]);
      rest.data()[i] = simd::remainder(x.data()[i], y.data()[i]);
    }
    BOOST_TEST(same_bits(pow(y, x), power));
    BOOST_TEST(same_bits(x % y, rest));
    BOOST_TEST(same_bits(clamp(x, -1, y), minimum(maximum(x, -1), y)));
    BOOST_TEST((log_sigmoid(x) == -softplus(-x)));
    BOOST_TEST((pow(x, 1) == x && pow(x, 0) == x * 0 + 1));
  });
}

BOOST_AUTO_TEST_CASE(remainders_of_integers) {
  constexpr int lowest = std::numeric_limits<int>::min();
  using numbers = tensor<int, key<6>>;
  constexpr numbers x{-7, 7, 5, 0, lowest, -3};
  static_assert(x % 3 == numbers{2, 1, 2, 0, 1, 0});
  static_assert(x % -3 == numbers{-1, -2, -1, 0, -2, 0});
  BOOST_TEST((x % -1 == x * 0 && x % 0 == x * 0 && 7 % (x * 0 + 4) == x * 0 + 3));
  BOOST_TEST((tensor<unsigned, key<2>>{7u, 9u} % 5u == tensor<unsigned, key<2>>{2u, 4u}));
  // Floats that hold integers have the same remainders.
  tensor<float, key<6>> f{};
  copy(tensor<int, key<6>>{-7, 7, 5, 0, 100, -3}, f);
  BOOST_TEST((f % 3 == tensor<float, key<6>>{2, 1, 2, 0, 1, 0}));
  static_assert(clamp(x, -2, 5) == numbers{-2, 5, 5, 0, -2, -2});
  static_assert(floor(tensor<double, key<3>>{-0.5, 2.0, 2.5}) == tensor<double, key<3>>{-1, 2, 2});
}

BOOST_AUTO_TEST_CASE(of_doubles) {
  using X = tensor<double, query<5>, key<7>>;
  const X x = random<X>(2) + 4.0;
  check_function(x, [](const auto& y) { return sqrt(y); }, [](double a) { return std::sqrt(a); });
  check_function(
      x, [](const auto& y) { return rsqrt(y); }, [](double a) { return simd::rsqrt(a); });
  check_function(x, [](const auto& y) { return tanh(y); }, [](double a) { return simd::tanh(a); });
}

BOOST_AUTO_TEST_CASE(activations_go_by_element) {
  lcg next{7};
  const auto x = drawn<tensor<float, token<9>, hidden<13>>>(next, 4);
  const auto part = x | slice<hidden, from<2>, extent<7>> | permute<hidden, token>;
  const auto check = [&](const auto& f) {
    const auto y = f(x);
    BOOST_TEST(same_bits(f(part), y | slice<hidden, from<2>, extent<7>> | permute<hidden, token>));
    bool same = true;
    for (std::size_t i = 0; i < 9; ++i)
      for (std::size_t h = 0; h < 13; ++h)
        same = same && f(tensor<float, hidden<1>>{x(i, h)})(0) == y(i, h);
    BOOST_TEST(same);
  };
  check(gelu_exact);
  check(gelu_tanh);
  check(silu);
  check(relu);
  check(elu);
  check(softplus);
  check(log_sigmoid);
  const auto y = relu(x);
  for (std::size_t i = 0; i < 9; ++i) BOOST_TEST(y(i, 4) == (x(i, 4) > 0 ? x(i, 4) : 0));
  const tensor<float, hidden<4>> special{0.0f, 1e30f, -1e30f, std::nanf("")};
  BOOST_TEST(gelu_exact(special)(0) == 0);
  BOOST_TEST(gelu_exact(special)(1) == 1e30f);
  BOOST_TEST(gelu_exact(special)(2) == 0);
  BOOST_TEST(std::isnan(gelu_exact(special)(3)));
  BOOST_TEST(gelu_tanh(special)(1) == 1e30f);
  BOOST_TEST(gelu_tanh(special)(2) == 0);
  BOOST_TEST(silu(special)(0) == 0);
  BOOST_TEST(silu(special)(1) == 1e30f);
  BOOST_TEST(silu(special)(2) == 0);
  BOOST_TEST(std::isnan(silu(special)(3)));
  BOOST_TEST(std::isnan(relu(special)(3)));
  BOOST_TEST(same_bits(relu(tensor<float, hidden<1>>{-0.0f}), tensor<float, hidden<1>>{0.0f}));
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

BOOST_AUTO_TEST_CASE(means_are_chains) {
  lcg next{5};
  const auto x = drawn<tensor<float, batch<2>, token<5>, hidden<12>>>(next);
  const auto over_token = x | mean<token>;
  const auto over_batch = x | mean<batch>;
  const auto over_hidden = x | mean<hidden>;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t h = 0; h < 12; ++h) {
      float sum = 0;
      for (std::size_t i = 0; i < 5; ++i) sum += x(b, i, h);
      BOOST_TEST(over_token(b, h) == sum / 5);
    }
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t h = 0; h < 12; ++h)
      BOOST_TEST(over_batch(i, h) == (x(0, i, h) + x(1, i, h)) / 2);
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t i = 0; i < 5; ++i) {
      float sum = 0;
      for (std::size_t h = 0; h < 12; ++h) sum += x(b, i, h);
      BOOST_TEST(over_hidden(b, i) == sum / 12);
    }
  // Down to a single number, and in memory whose axes of size 1 have strides of their own.
  const auto number = x | mean<token> | mean<batch> | mean<hidden>;
  static_assert(std::is_same_v<decltype(number), const tensor<float>>);
  BOOST_TEST(std::isfinite(number()));
  float memory[24];
  for (float& e : memory) e = next();
  const view<float, strided<token<1>, 77>, strided<hidden<24>, 1>> odd(memory);
  BOOST_TEST(same_bits(mean<token>(odd), tensor<float, hidden<24>>(memory)));
  BOOST_TEST(mean<hidden>(odd)(0) == mean<hidden>(tensor<float, hidden<24>>(memory))());
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

// sum<token> of x with zeros from the length on, divided; positions from there on are not read.
template <std::size_t Batch, std::size_t Tokens, std::size_t Hidden>
void check_means_of_lengths(unsigned seed) {
  using sequences = tensor<float, batch<Batch>, token<Tokens>, hidden<Hidden>>;
  const auto x = random<sequences>(seed);
  constexpr auto in_a_formula = formula([](auto given, auto n) { return mean<token>(given, n); });
  for (int first = -1; first <= static_cast<int>(Tokens) + 1; ++first) {
    tensor<int, batch<Batch>> lengths;
    for (std::size_t b = 0; b < Batch; ++b)
      lengths(b) = (first + 7 * static_cast<int>(b)) % static_cast<int>(Tokens + 2);
    sequences zeros = x, unknown = x;
    tensor<float, batch<Batch>, hidden<Hidden>> wanted;
    for (std::size_t b = 0; b < Batch; ++b)
      for (std::size_t h = 0; h < Hidden; ++h) {
        for (std::size_t t = static_cast<std::size_t>(std::max(lengths(b), 0)); t < Tokens; ++t) {
          zeros(b, t, h) = 0;
          unknown(b, t, h) = std::numeric_limits<float>::quiet_NaN();
        }
        wanted(b, h) = static_cast<float>(std::clamp(lengths(b), 1, static_cast<int>(Tokens)));
      }
    wanted = sum<token>(zeros) / wanted;
    BOOST_TEST(same_bits(mean<token>(unknown, lengths), wanted));
    BOOST_TEST(same_bits(in_a_formula(unknown, lengths), wanted));
    const auto turned = unknown | permute<hidden, batch, token>;
    BOOST_TEST(same_bits(mean<token>(turned, lengths), wanted | permute<hidden, batch>));
    BOOST_TEST(
        same_bits(mean<token>(turned | contiguous, lengths), wanted | permute<hidden, batch>));
    tensor<float, batch<Batch>, hidden<Hidden>> out;
    mean<token>.into(out, unknown, lengths);
    BOOST_TEST(same_bits(out, wanted));
    const auto one = unknown | select_at<batch>(0);
    BOOST_TEST(same_bits(mean<token>(one, lengths(0)), wanted | select_at<batch>(0)));
    BOOST_TEST(same_bits(mean<token>(one, std::int64_t{lengths(0)}), wanted | select_at<batch>(0)));
    BOOST_TEST(same_bits(in_a_formula(one | contiguous, lengths(0)), wanted | select_at<batch>(0)));
    tensor<short, batch<Batch>, hidden<Hidden>> of_each;
    for (std::size_t b = 0; b < Batch; ++b)
      for (std::size_t h = 0; h < Hidden; ++h) of_each(b, h) = static_cast<short>(lengths(b));
    BOOST_TEST(same_bits(mean<token>(unknown, of_each), wanted));
  }
}
BOOST_AUTO_TEST_CASE(a_mean_of_the_first_positions) {
  check_means_of_lengths<1, 1, 1>(31);
  check_means_of_lengths<3, 5, 3>(32);
  check_means_of_lengths<2, 33, 17>(33);
  constexpr tensor<float, token<3>> x{1, 2, 30};
  static_assert(mean<token>(x, 2)() == 1.5F && mean<token>(x, 0)() == 0 &&
                mean<token>(x, 9)() == 11);
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

// 16 chains, folded in halves.
BOOST_AUTO_TEST_CASE(products) {
  const cube x = random<cube>(11);
  const auto check = [&]<class X>(const X& turned, bool key_first) {
    const auto products = product<key, batch>(turned);
    for (std::size_t q = 0; q < 5; ++q)
      for (std::size_t d = 0; d < 4; ++d) {
        float chain[16];
        std::fill(chain, chain + 16, 1.0f);
        std::size_t e = 0;
        for (float element : elements_of(x, q, d, key_first)) chain[e++ % 16] *= element;
        for (std::size_t half = 8; half > 0; half /= 2)
          for (std::size_t c = 0; c < half; ++c) chain[c] *= chain[c + half];
        BOOST_TEST(products(at<query>(q), at<head_dim>(d)) == chain[0]);
      }
    BOOST_TEST(same_bits(turned | product<key, batch>, products));
  };
  check(x, false);
  check(x | permute<query, key, head_dim, batch>, true);
  constexpr formula rows = [](auto a) { return product<head_dim>(1 - a * a); };
  BOOST_TEST(same_bits(rows(x), product<head_dim>(1.0f - x * x)));
  BOOST_TEST(same_bits(plain(rows)(x), rows(x)));
  BOOST_TEST(std::isnan(product<key>(tensor<float, key<2>>{INFINITY, 0})()));
  static_assert(product<key>(tensor<int, query<2>, key<3>>{{3, -5, 4}, {7, 0, -9}}) ==
                tensor<int, query<2>>{-60, 0});
  BOOST_TEST(product<key>(tensor<std::uint16_t, key<2>>{65535, 65535})() == 1);
  BOOST_TEST(product<key>(tensor<int, key<2>>{65536, 65536})() == 0);
  static_assert(product<query, key>(tensor<double, query<1>, key<1>>{{3}})() == 3);
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

BOOST_AUTO_TEST_CASE(softmax_rows) {
  lcg next{8};
  const auto x = drawn<tensor<float, batch<2>, query<3>, key<5>>>(next, 10);
  const auto y = softmax<key>(x);
  BOOST_TEST(
      same_bits(softmax<key>(x | permute<key, query, batch>) | permute<batch, query, key>, y));
  BOOST_TEST(same_bits(softmax<key>(x | select_at<batch, 1>), y | select_at<batch, 1>));
  // Weights past a length are exactly 0 and the others those of the shorter row.
  const auto masked = softmax<key>(mask_after<key>(x, tensor<int, batch<2>>{3, 0}));
  BOOST_TEST(same_bits(masked | select_at<batch, 0> | slice<key, from<0>, extent<3>>,
                       softmax<key>(x | select_at<batch, 0> | slice<key, from<0>, extent<3>>)));
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 5; ++j) {
      if (j >= 3) BOOST_TEST(masked(0, i, j) == 0);
      BOOST_TEST(masked(1, i, j) == 0);
    }
  auto spoilt = x;
  spoilt(1, 2, 0) = std::nanf("");
  const auto z = softmax<key>(spoilt);
  for (std::size_t j = 0; j < 5; ++j) BOOST_TEST(std::isnan(z(1, 2, j)));
  BOOST_TEST(same_bits(z | select_at<batch, 0>, y | select_at<batch, 0>));
  BOOST_TEST(same_bits(z | slice<query, from<0>, extent<2>>, y | slice<query, from<0>, extent<2>>));
  BOOST_TEST(softmax<key>(tensor<float, key<1>>{-1e30f})(0) == 1);
}

// The scores are a product: if the compiler fused it into softmax's subtraction, the bits would be
// another compiler's.
BOOST_AUTO_TEST_CASE(softmax_of_a_product_is_not_contracted) {
  lcg next{10};
  const auto x = drawn<tensor<float, query<40>, key<9>>>(next, 50);
  const float scale = next() + 1.5f;
  const auto scaled = x * scale;
  tensor<float, query<40>, key<9>> stored{};
  for (std::size_t i = 0; i < 40 * 9; ++i) {
    volatile float product = x.data()[i] * scale;
    stored.data()[i] = product;
  }
  BOOST_TEST(same_bits(softmax<key>(x * scale), softmax<key>(stored)));
  BOOST_TEST(same_bits(softmax<key>(scaled), softmax<key>(stored)));
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

// step(row, width, distance): a row of elements at a distance, changed in place.
template <template <std::size_t> class Axis, class X, class Step>
X each_row(X x, const Step& step) {
  constexpr std::size_t width = X::template extent<Axis>;
  constexpr std::size_t distance = X::layout::template stride_of<detail::family_of<Axis>>;
  for (std::size_t i = 0; i < X::layout::count; ++i)
    if (i / distance % width == 0) step(x.data() + i, width, distance);
  return x;
}
BOOST_AUTO_TEST_CASE(cumulative_sums_are_additions_one_by_one) {
  each_shape([]<class X>() {
    const X x = random<X>(12);
    const auto turned = orders<X>::reversed::permute;
    each_axis<X>([&]<template <std::size_t> class Axis>() {
      const auto check = [&](const auto& sums, bool exclusive, bool reversed) {
        const X expected = each_row<Axis>(x, [&](float* row, std::size_t width, std::size_t step) {
          float sum = 0;
          for (std::size_t i = 0; i < width; ++i) {
            float& at = row[(reversed ? width - 1 - i : i) * step];
            const float before = sum;
            sum = before + at;
            at = exclusive ? before : sum;
          }
        });
        BOOST_TEST(same_bits(sums(x), expected));
        BOOST_TEST(same_bits(sums(x | turned), expected | turned | contiguous));
        X over = x;
        sums.into(over, over);
        BOOST_TEST(same_bits(over, expected));
      };
      check(cumulative_sum<Axis>, false, false);
      check(cumulative_sum<Axis, exclusive>, true, false);
      check(cumulative_sum<Axis, from_last>, false, true);
      check(cumulative_sum<Axis, from_last, exclusive>, true, true);
    });
  });
  static_assert(cumulative_sum<key>(tensor<int, key<4>>{1, 2, 3, 4}) ==
                tensor<int, key<4>>{1, 3, 6, 10});
  const auto spoilt = cumulative_sum<key>(tensor<float, key<3>>{1, INFINITY, -INFINITY});
  BOOST_TEST((spoilt(0) == 1 && std::isinf(spoilt(1)) && std::isnan(spoilt(2))));
}

BOOST_AUTO_TEST_CASE(windows_are_the_same_memory) {
  using rows = tensor<float, batch<2>, token<9>, hidden<5>>;
  const rows x = random<rows>(19);
  const auto y = x | windows<token, kernel_size<3>, stride<2>, dilation<2>>;
  static_assert(decltype(y)::rank == 4 && decltype(y)::template extent<token> == 3);
  BOOST_TEST(&y(0, 0, 0, 0) == x.data());
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t h = 0; h < 5; ++h) BOOST_TEST(&y(b, i, k, h) == &x(b, 2 * i + 2 * k, h));
  BOOST_TEST(same_bits((x * 1.0f | windows<hidden, kernel_size<5>> | select_at<hidden, 0>),
                       x | rename_axis<hidden, kernel_size>));
  BOOST_TEST(same_bits(y, y | contiguous));
  const auto kernel = random<tensor<float, kernel_size<3>, hidden<5>, classes<4>>>(20);
  BOOST_TEST(same_bits(contract<kernel_size, hidden>(y, kernel),
                       contract<kernel_size, hidden>(y | contiguous, kernel)));
  BOOST_TEST(same_bits(max<kernel_size>(y), max<kernel_size>(y | contiguous)));
  BOOST_TEST(same_bits(y * 2.0f + y, (y | contiguous) * 2.0f + (y | contiguous)));
  static_assert((tensor<int, key<4>>{1, 2, 3, 4} | windows<key, kernel_size<2>> | contiguous) ==
                tensor<int, key<3>, kernel_size<2>>{1, 2, 2, 3, 3, 4});
  // Which of them have each element once?
  using apart = decltype(x | windows<token, kernel_size<3>, stride<3>>)::layout;
  using every_second = decltype(x | windows<token, kernel_size<2>, stride<3>, dilation<2>>)::layout;
  static_assert(detail::rules::lies_apart<apart>() && detail::rules::lies_apart<every_second>());
  static_assert(!detail::rules::lies_apart<decltype(y)::layout>());
  static_assert(!detail::rules::lies_apart<
                decltype(tensor<int, key<20>>{} |
                         windows<key, kernel_size<4>, stride<3>, dilation<2>>)::layout>());
}

BOOST_AUTO_TEST_CASE(patches_are_windows_side_by_side) {
  using picture = tensor<float, batch<2>, hidden<3>, query<8>, key<6>>;
  const auto x = random<picture>(23);
  const auto y = x | patches<query, key, token<4>, heads<2>>;
  static_assert(
      std::is_same_v<decltype(y)::layout, decltype(x | windows<query, token<4>, stride<4>> |
                                                   windows<key, heads<2>, stride<2>>)::layout>);
  static_assert(detail::rules::lies_apart<decltype(y)::layout>());
  for (std::size_t i = 0; i < 48; ++i) {
    const std::size_t r = i / 6, c = i % 6;
    BOOST_TEST(&y(1, 2, r / 4, r % 4, c / 2, c % 2) == &x(1, 2, r, c));
  }
  const auto kernel = random<tensor<float, classes<5>, hidden<3>, token<4>, heads<2>>>(24);
  const auto embed = [](const auto& image, const auto& w) {
    return contract<hidden, token, heads>(image | patches<query, key, token<4>, heads<2>>, w) |
           merge<query, key, vocabulary>;
  };
  constexpr formula embedding = [](auto image, auto w) {
    return contract<hidden, token, heads>(image | patches<query, key, token<4>, heads<2>>, w) |
           merge<query, key, vocabulary>;
  };
  BOOST_TEST(same_bits(embedding(x, kernel), embed(x | contiguous, kernel)));
}

BOOST_AUTO_TEST_CASE(padded_axes) {
  using rows = tensor<float, batch<2>, token<3>, hidden<5>>;
  const rows x = random<rows>(21);
  each_axis<rows>([&]<template <std::size_t> class Axis>() {
    constexpr std::size_t width = rows::extent<Axis>;
    const auto y = padded<Axis, before<2>, after<1>>(x, -1.5);
    static_assert(decltype(y)::template extent<Axis> == width + 3);
    BOOST_TEST(same_bits(y | slice<Axis, from<2>, extent<width>>, x));
    for (const float v : y | slice<Axis, from<0>, extent<2>>) BOOST_TEST(v == -1.5f);
    for (const float v : y | select_at<Axis, width + 2>) BOOST_TEST(v == -1.5f);
    BOOST_TEST(same_bits(x | padded<Axis, before<0>>, x));
  });
  static_assert(padded<key, after<1>>(tensor<int, key<2>>{1, 2}) == tensor<int, key<3>>{1, 2, 0});
  static_assert((tensor<bool, key<1>>{true} | padded<key, before<1>>) ==
                tensor<bool, key<2>>{false, true});
  // In formulas integers become numbers, and conditions stay conditions.
  constexpr formula of_integers = [](auto ids, auto flags) {
    const auto seen = flags | padded<key, before<1>> | windows<key, kernel_size<2>>;
    return where(seen, padded<key, before<1>>(ids, -1) | windows<key, kernel_size<2>>, 7);
  };
  const tensor<int, key<2>> ids{4, 5};
  BOOST_TEST((of_integers(ids, tensor<bool, key<2>>{true, false}) ==
              tensor<float, key<2>, kernel_size<2>>{7, 4, 4, 7}));
}

BOOST_AUTO_TEST_CASE(flipped_axes) {
  each_shape([]<class X>() {
    const X x = random<X>(13);
    each_axis<X>([&]<template <std::size_t> class Axis>() {
      const X expected = each_row<Axis>(x, [](float* row, std::size_t width, std::size_t step) {
        for (std::size_t i = 0; i < width / 2; ++i)
          std::swap(row[i * step], row[(width - 1 - i) * step]);
      });
      BOOST_TEST(same_bits(x | flip<Axis>, expected));
    });
  });
  const tensor<int, query<2>, key<2>> x{1, 2, 3, 4};
  BOOST_TEST(((x | flip<key, query>) == tensor<int, query<2>, key<2>>{4, 3, 2, 1}));
}

BOOST_AUTO_TEST_CASE(elements_by_rank) {
  each_shape([]<class X>() {
    const X x = floor(random<X>(14) * 2.0f);  // with equal elements
    each_axis<X>([&]<template <std::size_t> class Axis>() {
      constexpr std::size_t width = X::template extent<Axis>;
      const auto check = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
        const X ranked = each_row<Axis>(x, [](float* row, std::size_t count, std::size_t step) {
          std::vector<float> sorted(count);
          for (std::size_t i = 0; i < count; ++i) sorted[i] = row[i * step];
          std::sort(sorted.begin(), sorted.end(), std::greater<>());
          *row = sorted[K - 1];
        });
        const auto expected = ranked | select_at<Axis, 0> | contiguous;
        BOOST_TEST(same_bits(kth_largest<K, Axis>(x), expected));
        const auto turned = x | orders<X>::reversed::permute;
        BOOST_TEST(same_bits(kth_largest<K, Axis>(turned), ranked | orders<X>::reversed::permute |
                                                               select_at<Axis, 0> | contiguous));
      };
      check(std::integral_constant<std::size_t, (width + 1) / 2>{});
      check(std::integral_constant<std::size_t, width>{});
      BOOST_TEST(same_bits(kth_largest<1, Axis>(x), max<Axis>(x)));
    });
  });
  const tensor<float, key<4>> x{2, std::nanf(""), 3, 1};
  BOOST_TEST((std::isnan(kth_largest<1, key>(x)()) && std::isnan(kth_largest<4, key>(x)())));
  static_assert(kth_largest<3, key>(tensor<int, key<4>>{5, -1, 5, 7})() == 5);
}

BOOST_AUTO_TEST_CASE(sums_and_ranks_in_formulas) {
  const auto x = random<tensor<float, query<5>, heads<2>, key<6>>>(15);
  constexpr formula f = [](auto a) {
    const auto sums = cumulative_sum<query>(a * 2) + cumulative_sum<key, exclusive, from_last>(a);
    return where(a < kth_largest<3, heads>(concat<heads>(a, a)), sums, a | flip<heads, key>);
  };
  BOOST_TEST(same_bits(f(x), plain(f)(x)));
  const auto sums = cumulative_sum<query>(x * 2.0f) + cumulative_sum<key, exclusive, from_last>(x);
  const auto third = kth_largest<3, heads>(concat<heads>(x, x));
  BOOST_TEST(same_bits(f(x), where(x < (third | broadcast<query<5>, heads<2>, key<6>>), sums,
                                   x | flip<heads, key>)));
}

// Integers become numbers, and what is moved of conditions stays one.
BOOST_AUTO_TEST_CASE(of_integers_and_conditions_in_formulas) {
  const auto x = random<tensor<float, query<5>, key<6>>>(16);
  tensor<int, query<5>, key<6>> i;
  for (std::size_t e = 0; e < 30; ++e) i.data()[e] = static_cast<int>(e * 7 % 5) - 2;
  constexpr formula f = [](auto a, auto n) {
    const auto ranked = where(n < kth_largest<2, key>(n), 0, cumulative_sum<key>(n));
    return hide(a + ranked, flip<query, key>(a > 0)) + flip<key>(n);
  };
  const auto n = tensor<float, query<5>, key<6>>(i);
  const auto second = kth_largest<2, key>(n) | broadcast<query<5>, key<6>>;
  const auto expected =
      hide(x + where(n < second, 0, cumulative_sum<key>(n)), flip<query, key>(x > 0)) +
      flip<key>(n);
  BOOST_TEST(same_bits(f(x, i), expected));
  BOOST_TEST(same_bits(plain(f)(x, i), expected));
  constexpr formula flags = [](auto a, auto kept) { return where(flip<key>(kept), a, 0); };
  BOOST_TEST(same_bits(flags(x, x > 0), where(flip<key>(x > 0), x, 0)));
}

// f.into(out, x) writes what f(x) is; where it may, over x.
template <class F, class X>
void check_into(const F& f, const X& x, bool over_x) {
  const auto y = f(x);
  auto out = y * 0 + 7;
  f.into(out, x);
  BOOST_TEST(same_bits(out, y));
  out += 1;
  f.into(as_view(out), as_view(x));
  BOOST_TEST(same_bits(out, y));
  if (!over_x) return;
  X same = x;
  f.into(same, same);
  BOOST_TEST(same_bits(same, y));
}

BOOST_AUTO_TEST_CASE(into_memory_of_the_callers) {
  lcg next{11};
  using tokens = tensor<float, batch<2>, token<7>, hidden<19>>;
  const auto x = drawn<tokens>(next, 3);
  check_into(softmax<hidden>, x, true);
  check_into(softmax<token>, x, true);
  check_into(gelu_exact, x, true);
  check_into(gelu_tanh, x, true);
  check_into(silu, x, true);
  check_into(relu, x, true);
  layer_norm<float, hidden<19>>::weights norm{drawn<tensor<float, hidden<19>>>(next),
                                              drawn<tensor<float, hidden<19>>>(next)};
  check_into(layer_norm<float, hidden<19>>{norm}, x, true);
  rms_norm<float, hidden<19>>::weights rms{drawn<tensor<float, hidden<19>>>(next)};
  check_into(rms_norm<float, hidden<19>>{rms, 1e-6f}, x, true);
  using map = linear<float, hidden<19>, hidden<19>, bias<true>>;
  map::weights w{};
  draw(next, w.weight);
  draw_bias(next, w);
  check_into(map{w}, x, false);
  check_into(prepacked<map>{w}, x, false);
  learned_positions<float, token<7>, hidden<19>>::weights table =
      drawn<tensor<float, token<7>, hidden<19>>>(next);
  check_into(learned_positions<float, token<7>, hidden<19>>{table}, x, true);
  using sinusoids = sinusoidal_positions<float, token<9>, hidden<19>, split_halves>;
  check_into(sinusoids{}, x, true);
  auto moved = x;
  sinusoids{}.into(moved, x, 2);
  BOOST_TEST(same_bits(moved, sinusoids{}(x, 2)));
  // A result of other axes than x.
  tensor<float, batch<2>, hidden<19>> pooled{};
  mean<token>.into(pooled, x);
  BOOST_TEST(same_bits(pooled, mean<token>(x)));
  // Of a view that lies in another way.
  const auto turned = x | permute<hidden, batch, token>;
  tensor<float, hidden<19>, batch<2>, token<7>> out{};
  softmax<hidden>.into(out, turned);
  BOOST_TEST(same_bits(out, softmax<hidden>(turned)));
  gelu_exact.into(out, turned);
  BOOST_TEST(same_bits(out, gelu_exact(turned)));
}

BOOST_AUTO_TEST_SUITE_END()
