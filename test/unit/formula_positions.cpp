// SPDX-License-Identifier: BSL-1.0
// positions_along<axis<size>> in formulas: the values of loops, the bits of plain, as a factor, in
// tables that are read at computed positions, in scores, gradients and steps of caches.
#include "gradient_support.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <umbel/decode/cache_of_formula.hpp>
#include <umbel/inspect/describe.hpp>
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;
using umbel_test::draw;
using umbel_test::lcg;
using umbel_test::same_bits;

namespace {

template <std::size_t N>
struct later : umbel::axis<later, N> {};

struct rates {
  tensor<float, heads<3>> of_head;
};

BOOST_AUTO_TEST_CASE(adds_its_axis_in_front_of_the_other_operand) {
  lcg next{1};
  tensor<float, heads<3>> rate;
  draw(next, rate);
  constexpr formula grow = [](auto rate) { return 0.5f + rate * positions_along<later<7>>; };
  const auto grown = grow(rate);
  static_assert(std::is_same_v<decltype(grown), const tensor<float, later<7>, heads<3>>>);
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t h = 0; h < 3; ++h)
      BOOST_TEST(grown(i, h) == 0.5f + rate(h) * static_cast<float>(i));
  BOOST_TEST(same_bits(grown, plain(grow)(rate)));

  // The same formula without it.
  constexpr formula with_broadcast = [](auto rate) {
    return 0.5f + (rate | broadcast<later<7>, heads<3>>)*position<later>;
  };
  BOOST_TEST(same_bits(grown, with_broadcast(rate)));
}

BOOST_AUTO_TEST_CASE(agrees_with_an_axis_that_is_there) {
  lcg next{2};
  tensor<float, heads<3>, later<7>> x;
  draw(next, x);
  constexpr formula f = [](auto x) { return x * exp(-0.25f * positions_along<later<7>>); };
  constexpr formula g = [](auto x) { return x * exp(-0.25f * position<later>); };
  static_assert(std::is_same_v<decltype(f(x)), decltype(x)>);
  BOOST_TEST(same_bits(f(x), g(x)));
}

BOOST_AUTO_TEST_CASE(two_of_them_and_conditions) {
  lcg next{3};
  tensor<float, heads<3>> x;
  draw(next, x);
  constexpr formula f = [](auto x) {
    auto distance = abs(positions_along<query<4>> - positions_along<key<6>>);
    return where(distance < 2, x, x - distance);
  };
  const auto y = f(x);
  BOOST_TEST(y.size() == 4u * 6u * 3u);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 6; ++j)
      for (std::size_t h = 0; h < 3; ++h) {
        const float distance = std::fabs(static_cast<float>(i) - static_cast<float>(j));
        BOOST_TEST(y(at<query>(i), at<key>(j), at<heads>(h)) ==
                   (distance < 2 ? x(h) : x(h) - distance));
      }
  BOOST_TEST(same_bits(y, plain(f)(x)));
}

// A bias by distance, from a rate for each head: one exponential for each distance.
constexpr formula decayed = [](auto q, auto k, auto v, const auto& w) {
  auto table = exp(-0.1f * positions_along<later<31>> * w.of_head);
  auto bias = lookup(table, abs(position<key> - position<query>));
  auto scores = contract<head_dim>(q, k) * 0.25f + bias;
  return contract<key>(softmax<key>(hide(scores, position<key> > position<query>)), v);
};
constexpr formula decayed_by_pairs = [](auto q, auto k, auto v, const auto& w) {
  auto bias = exp(-0.1f * abs(position<key> - position<query>) * w.of_head);
  auto scores = contract<head_dim>(q, k) * 0.25f + bias;
  return contract<key>(softmax<key>(hide(scores, position<key> > position<query>)), v);
};

BOOST_AUTO_TEST_CASE(a_table_by_distance) {
  lcg next{4};
  tensor<float, batch<2>, heads<3>, query<31>, head_dim<4>> q;
  tensor<float, batch<2>, heads<3>, key<31>, head_dim<4>> k;
  tensor<float, batch<2>, heads<3>, key<31>, value_dim<3>> v;
  rates w;
  draw(next, q), draw(next, k), draw(next, v), draw(next, w.of_head);
  const auto y = decayed(q, k, v, w);
  BOOST_TEST(same_bits(y, plain(decayed)(q, k, v, w)));
  BOOST_TEST(same_bits(y, decayed_by_pairs(q, k, v, w)));
}

BOOST_AUTO_TEST_CASE(elements_at_fixed_positions) {
  lcg next{5};
  tensor<float, heads<3>, token<20>> x;
  draw(next, x);
  constexpr formula every_third = [](auto x) {
    return gather<token>(x, 3 * positions_along<later<8>> + 1);
  };
  const auto y = every_third(x);
  static_assert(std::is_same_v<decltype(y), const tensor<float, heads<3>, later<8>>>);
  for (std::size_t h = 0; h < 3; ++h)
    for (std::size_t i = 0; i < 8; ++i)
      BOOST_TEST(y(h, i) == (3 * i + 1 < 20 ? x(h, 3 * i + 1) : 0.0f));
  BOOST_TEST(same_bits(y, plain(every_third)(x)));
}

BOOST_AUTO_TEST_CASE(in_constant_expressions) {
  constexpr auto y = [] {
    constexpr formula f = [](auto x) { return sum<later>(x * positions_along<later<5>>); };
    tensor<float, heads<2>> x;
    x(0) = 1, x(1) = 2;
    return f(x);
  }();
  static_assert(y(0) == 10 && y(1) == 20);
}

BOOST_AUTO_TEST_CASE(gradients) {
  lcg next{6};
  tensor<double, heads<2>> rate;
  tensor<double, token<5>, heads<2>> x;
  draw(next, rate), draw(next, x);
  constexpr formula f = [](auto r, auto x) {
    auto table = exp(-0.25f * positions_along<later<6>> * r);
    auto read = lookup(table, 5 - position<token>) * x;
    return sum<heads>(sum<token>(read * read)) + sum<heads, later>(table * table);
  };
  umbel_test::check(f, rate, x);
}

// The positions of a table are not those of the sequence.
struct weights {
  linear<float, hidden<12>, hidden<12>>::weights q, k, v;
  tensor<float, heads<3>> of_head;
};
constexpr formula causal_by_table = [](auto x, const auto& w) {
  auto q = x * w.q | split<hidden, heads<3>, head_dim> | rename_axis<token, query>;
  auto k = x * w.k | split<hidden, heads<3>, head_dim> | rename_axis<token, key>;
  auto v = x * w.v | split<hidden, heads<3>, head_dim> | rename_axis<token, key>;
  auto table = exp(-0.1f * positions_along<later<16>> * w.of_head);
  auto scores = contract<head_dim>(q, k) + lookup(table, position<query> - position<key>);
  auto context = contract<key>(softmax<key>(hide(scores, position<key> > position<query>)), v);
  return (context | rename_axis<query, token> | permute<token, heads, head_dim> | contiguous |
          merge<heads, head_dim, hidden>);
};

BOOST_AUTO_TEST_CASE(in_caches) {
  lcg next{7};
  static weights w;
  for (auto* map : {&w.q, &w.k, &w.v}) draw(next, map->weight, 0.3);
  tensor<float, token<16>, hidden<12>> x;
  draw(next, x), draw(next, w.of_head);
  const auto whole = causal_by_table(x, w);
  BOOST_TEST(same_bits(whole, plain(causal_by_table)(x, w)));
  using row = tensor<float, token<1>, hidden<12>>;
  static key_value_cache<decltype(causal_by_table), key<16>, called_with<row, weights>> past;
  for (std::size_t t = 0; t < 16; ++t) {
    row y{}, one{};
    copy(x | select_at<token>(t), one | select_at<token, 0>);
    BOOST_TEST(past.step(y, causal_by_table, one, w));
    BOOST_TEST(
        bool((y | select_at<token, 0> | contiguous) == (whole | select_at<token>(t) | contiguous)));
  }
}

BOOST_AUTO_TEST_CASE(described) {
  constexpr formula f = [](auto rate) { return rate * positions_along<later<7>>; };
  std::ostringstream out;
  out << describe(f, tensor<float, heads<3>>{});
  BOOST_TEST(out.str().find("later=7, heads=3") != std::string::npos, out.str());
}

}  // namespace
