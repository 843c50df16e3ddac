// SPDX-License-Identifier: BSL-1.0
// Gradients of additive attention: by queries, keys, values, weights and what is added to scores.
#include "gradient_support.hpp"

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

namespace {

using queries = tensor<double, query<3>, batch<2>, hidden<6>>;  // axes in any order
using keys = tensor<double, batch<2>, key<4>, hidden<5>>;
using values = tensor<double, batch<2>, hidden<4>, key<4>>;

template <class... Options>
using attention = additive_attention<double, hidden<6>, score_hidden<3>, keys_from<hidden<5>>,
                                     heads<2>, Options...>;

BOOST_AUTO_TEST_CASE(by_queries_and_weights) {
  using layer = attention<bias<true>, softcap<1>>;
  lcg next;
  queries x;
  keys y;
  values z;
  layer::weights w;
  draw(next, x), draw(next, y), draw(next, z), draw_weights(next, w);
  const tensor<int, batch<2>> lens{3, 0};  // one of them sees no key
  constexpr formula f = [](auto a, const auto& all, auto b, auto c, auto length) {
    const auto o = layer{all}(a, b, c | rename_axis<hidden, value_dim>, length);
    return sum<query, batch, value_dim>(o * o);
  };
  check(f, x, w, y, z, lens);
}

BOOST_AUTO_TEST_CASE(by_keys_and_values) {
  using layer = attention<>;
  lcg next;
  queries x;
  keys y;
  values z;
  layer::weights w;
  draw(next, x), draw(next, y), draw(next, z), draw_weights(next, w);
  constexpr formula f = [](auto b, auto c, auto a, const auto& all) {
    const auto o = layer{all}(tanh(a), b, c | rename_axis<hidden, value_dim>, dropout(0.25, 3));
    return sum<query, batch, value_dim>(o * o);
  };
  check(f, y, z, x, w);
  check_alone(f, y, z, x, w);
}

BOOST_AUTO_TEST_CASE(by_a_bias) {
  using layer = attention<>;
  lcg next;
  queries x;
  keys y;
  layer::weights w;
  tensor<double, heads<2>, query<3>, key<4>> b;
  draw(next, x), draw(next, y), draw(next, b), draw_weights(next, w);
  constexpr formula f = [](auto c, const auto& all, auto a, auto d) {
    const auto o =
        layer{all}(a, d, d | rename_axis<hidden, value_dim> | slice<value_dim, from<0>, extent<4>>,
                   causal_top_left & score_bias(c));
    return sum<query, batch, value_dim>(o * o);
  };
  check(f, b, w, x, y);
}

}  // namespace
