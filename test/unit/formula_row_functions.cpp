// SPDX-License-Identifier: BSL-1.0
// Attention by blocks of queries whose weights depend on functions along the keys: cumulative sums,
// the k-th largest score, a softmax within the weights. No pairs are stored; the bits are those of
// one step after another.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <umbel/umbel.hpp>

#include "../../examples/variants/15_stick_breaking.hpp"
#include "formula_support.hpp"

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

BOOST_AUTO_TEST_SUITE(formula_row_functions)

// Sums up to each key, and the k-th largest score.
BOOST_AUTO_TEST_CASE(cumulative_sums_along_keys) {
  constexpr auto inclusive = [](auto q, auto k) {
    return cumulative_sum<key>(sigmoid(contract<head_dim>(q, k)));
  };
  constexpr auto contextual = [](auto q, auto k) {
    auto s = contract<head_dim>(q, k);
    auto gates = where(position<key> > position<query>, 0, sigmoid(s));
    return softmax<key>(s - minimum(cumulative_sum<key, from_last>(gates), 4));
  };
  constexpr auto stick_breaking = [](auto q, auto k) {
    auto s = contract<head_dim>(q, k);
    auto passed = where(position<key> < position<query>, log_sigmoid(-s), 0);
    auto left = cumulative_sum<key, exclusive, from_last>(passed);
    return where(position<key> < position<query>, exp(log_sigmoid(s) + left), 0);
  };
  constexpr auto of_scores = [](auto q, auto k, auto bias) {
    auto sums = cumulative_sum<key>(cumulative_sum<key, exclusive>(contract<head_dim>(q, k)));
    return sums / (max<key>(sums) + 2) + bias;
  };
  check_weights<129, 33>(inclusive);
  check_weights<16, 8>(inclusive);
  check_weights<65, 1>(inclusive);
  check_weights<90, 70>(contextual);
  check_weights<100, 100>(stick_breaking);
  check_weights<31, 45>(stick_breaking);
  tensor<float, query<61>, key<64>> bias;
  fill(bias, 9);
  check_weights<61, 64>(of_scores, bias);
  tensor<float, batch<2>, heads<3>, key<64>, query<61>> turned;  // queries are adjacent
  fill(turned, 10);
  check_weights<61, 64>(of_scores, turned);
}
template <std::size_t K>
constexpr auto of_largest = [](auto q, auto k) {
  auto s = contract<head_dim>(q, k);
  return softmax<key>(hide(s, s < kth_largest<K, key>(s)));
};
BOOST_AUTO_TEST_CASE(the_kth_largest_of_rows) {
  constexpr auto causal = [](auto q, auto k, auto... bias) {
    auto s = hide((contract<head_dim>(q, k) + ... + bias), position<key> > position<query>);
    return softmax<key>(hide(s, s < kth_largest<8, key>(s)));
  };
  constexpr auto between = [](auto q, auto k) {
    auto s = contract<head_dim>(q, k);
    auto most = kth_largest<1, key>(s), least = kth_largest<k.template extent<key>, key>(s);
    return (s - least) / (most - least + 1);
  };
  check_weights<129, 33>(of_largest<5>);
  check_weights<90, 70>(of_largest<32>);
  check_weights<50, 70>(of_largest<45>);  // the 26th smallest
  check_weights<65, 1>(of_largest<1>);
  check_weights<100, 75>(causal);
  check_weights<61, 40>(between);
  tensor<float, batch<2>, heads<3>, query<61>, key<64>> bias;
  fill(bias, 9);
  check_weights<61, 64>(causal, bias);
}
BOOST_AUTO_TEST_CASE(scans_and_ranks_of_doubles) {
  static tensor<double, heads<3>, query<70>, head_dim<8>> q;
  static tensor<double, heads<3>, key<50>, head_dim<8>> k;
  static tensor<double, heads<3>, key<50>, value_dim<5>> v;
  fill(q, 1), fill(k, 2), fill(v, 3);
  static constexpr auto weights = [](auto a, auto b) {
    auto s = contract<head_dim>(a, b);
    return cumulative_sum<key>(where(s < kth_largest<7, key>(s), 0, sigmoid(s)));
  };
  constexpr formula stored = weights;
  constexpr formula f = [](auto a, auto b, auto c) { return contract<key>(weights(a, b), c); };
  BOOST_TEST(is_context(f, stored, v, q, k));
}
// Functions along the keys of arguments and of parts that are stored, and within a concat.
BOOST_AUTO_TEST_CASE(functions_of_what_is_not_in_the_block) {
  static const inputs<41, 37> in;
  static tensor<float, batch<2>, heads<3>, query<41>, key<37>> bias;
  fill(bias, 9);
  static constexpr auto of_arguments = [](auto q, auto k, auto b) {
    auto s = sigmoid(contract<head_dim>(q, k));
    auto kept = where(b < kth_largest<3, key>(b), 0, s) * softmax<key>(b);
    return kept + cumulative_sum<key>(b) + cumulative_sum<key>(softmax<key>(b));
  };
  constexpr formula stored = of_arguments;
  constexpr formula f = [](auto q, auto k, auto b, auto v) {
    return contract<key>(of_arguments(q, k, b), v);
  };
  BOOST_TEST(is_context(f, stored, in.v, in.q, in.k, bias));
  const auto turned = bias | permute<key, batch, heads, query> | contiguous;
  const auto as_turned = turned | permute<batch, heads, query, key>;
  BOOST_TEST(is_context(f, stored, in.v, in.q, in.k, as_turned));
  static constexpr auto joined = [](auto q, auto k, auto b) {
    auto s = contract<head_dim>(q, k);
    auto sink = b | slice<key, from<0>, extent<1>>;
    auto sums = concat<key>(sink, cumulative_sum<key>(s), sink) | slice<key, from<1>, extent<37>>;
    auto shares = concat<key>(sink, softmax<key>(s)) | slice<key, from<0>, extent<37>>;
    return sums * shares + b;
  };
  constexpr formula stored_joined = joined;
  constexpr formula g = [](auto q, auto k, auto b, auto v) {
    return contract<key>(joined(q, k, b), v);
  };
  BOOST_TEST(is_context(g, stored_joined, in.v, in.q, in.k, bias));
}
BOOST_AUTO_TEST_CASE(infinities_and_nans_in_ranks_and_sums) {
  static inputs<40, 33> in;
  in.q(0, 0, 3, 0) = NAN, in.q(1, 2, 7, 1) = INFINITY, in.k(0, 1, 5, 2) = NAN;
  static constexpr auto weights = [](auto q, auto k) {
    auto s = contract<head_dim>(q, k);
    return where(s < kth_largest<4, key>(s), 0, cumulative_sum<key>(s));
  };
  constexpr formula f = [](auto q, auto k, auto v) { return contract<key>(weights(q, k), v); };
  constexpr formula stored = weights;
  static workspace_for<decltype(f), decltype(in.q), decltype(in.k), decltype(in.v)> work;
  const auto expected = of_context(stored(in.q, in.k), in.v), found = f(in.q, in.k, in.v, work);
  std::size_t nans = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const float a = found.data()[i], b = expected.data()[i];
    BOOST_TEST((a == b || (a != a && b != b)));
    nans += a != a;
  }
  BOOST_TEST(nans > 5);
}

// As docs/decisions/030 says.
template <class F>
constexpr std::size_t bytes_of(const F&) {
  using queries = tensor<float, heads<4>, query<1024>, head_dim<64>>;
  using keys = tensor<float, heads<4>, key<1024>, head_dim<64>>;
  using values = tensor<float, heads<4>, key<1024>, value_dim<64>>;
  return sizeof(workspace_for<F, queries, keys, values>);
}
constexpr formula largest = [](auto q, auto k, auto v) {
  return contract<key>(of_largest<32>(q, k), v);
};
static_assert(bytes_of(largest) == 131200 && bytes_of(variants::stick_breaking) == 393216);

BOOST_AUTO_TEST_SUITE_END()
