// SPDX-License-Identifier: BSL-1.0
// Gradients of score_bias, what is added to scores of attention: of any axes, of a tensor, a part
// of weights or what a formula computes.
#include <limits>

#include "gradient_support.hpp"

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

namespace {

template <std::size_t N>
struct distances : axis<distances, N> {};

using sequences = tensor<double, batch<2>, token<4>, hidden<8>>;
using grouped = multi_head_attention<double, hidden<8>, heads<4>, kv_heads<2>, bias<true>,
                                     rope<split_halves>, softcap<2>>;

// By distance and head, as T5 has it: rows of a table, read in another order than they lie in.
struct relative {
  static constexpr const char* part_names[] = {"attend", "by_distance"};
  grouped::weights attend;
  tensor<double, distances<7>, heads<4>> by_distance;
};
BOOST_AUTO_TEST_CASE(by_distances) {
  lcg next;
  sequences x;
  relative w;
  draw(next, x), draw_weights(next, w);
  tensor<int, query<4>, key<4>> apart;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      apart(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) = j - i + 3;
  const tensor<int, batch<2>> lens{4, 0};  // one of them sees no key
  constexpr formula f = [](auto a, const auto& all, auto d, auto length) {
    const auto added = lookup(all.by_distance, d);
    const auto y = grouped{all.attend}(a, length & causal & score_bias(added));
    return sum<batch, token, hidden>(y * y);
  };
  check(f, x, w, apart, lens);
}

// Of some of the axes only, in any order, repeated, computed; what it is added to has dropped
// weights.
using attention = multi_head_attention<double, hidden<8>, heads<2>, bias<true>>;
BOOST_AUTO_TEST_CASE(of_some_axes) {
  lcg next;
  tensor<double, batch<2>, query<3>, hidden<8>> x;
  tensor<double, batch<2>, key<5>, hidden<8>> memory;
  draw(next, x), draw(next, memory);
  attention::weights w;
  tensor<double, key<5>, heads<2>, batch<2>> of_keys;
  tensor<double, query<3>, key<5>> of_pairs;
  draw_weights(next, w), draw(next, of_keys), draw(next, of_pairs);
  constexpr formula f = [](auto by_key, auto by_pair, auto a, auto m, const auto& all) {
    const auto y = attention{all}(a, m, m, score_bias(by_key) & sliding_window_top_left<1>);
    const auto z = attention{all}(a, m, m, score_bias(tanh(by_pair)) & dropout(0.25, 7));
    return sum<batch, query, hidden>(y * y * z);
  };
  check(f, of_keys, of_pairs, x, memory, w);
  // One for all keys of a query changes no weight; of repeated elements the sum is 0.
  constexpr formula g = [](auto a, auto m, const auto& all, auto by_query) {
    const auto y = attention{all}(a, m, m, score_bias(by_query));
    return sum<batch, query, hidden>(y * y);
  };
  tensor<double, query<3>, heads<2>> by_query, of_queries{};
  draw(next, by_query);
  (void)gradient{g}(x, memory, w, with_gradient(by_query, of_queries));
  for (const double d : of_queries) BOOST_TEST(d == 0);
}

// In an encoder layer; a key that is hidden by its bias, -infinity, gets no gradient, nor does a
// bias that is frozen beside one that is not.
using encoder = encoder_layer<double, hidden<8>, heads<2>, intermediate<6>, norm_first<true>,
                              activation<relu>, bias<true>>;
BOOST_AUTO_TEST_CASE(of_a_layer) {
  lcg next;
  tensor<double, token<4>, hidden<8>> x;
  encoder::weights w;
  tensor<double, query<4>, key<4>> a, b;
  draw(next, x), draw_weights(next, w), draw(next, a), draw(next, b);
  constexpr formula f = [](auto first, auto second, auto y, const auto& all) {
    const auto z = encoder{all}(y, score_bias(first) & score_bias(second));
    return sum<token, hidden>(z * z);
  };
  constexpr formula of_first = [](auto first, auto y, const auto& all, auto second) {
    const auto z = encoder{all}(y, score_bias(first) & score_bias(second));
    return sum<token, hidden>(z * z);
  };
  check(of_first, a, x, w, b);
  a(1, 2) = -std::numeric_limits<double>::infinity();
  decltype(a) of_a{}, of_b{};
  const auto value = gradient{f}(with_gradient(a, of_a), b, x, w);
  (void)gradient{f}(a, with_gradient(b, of_b), x, w);
  BOOST_TEST(std::isfinite(value()));
  BOOST_TEST(of_a(1, 2) == 0);
  BOOST_TEST(of_a(1, 1) != 0);
  BOOST_TEST(same_bits(of_a, of_b));
}

}  // namespace
