// SPDX-License-Identifier: BSL-1.0
// attention_by_score: with the dot product as a function it is scaled_dot_product_attention; with
// another function it is the formula.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <cmath>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

struct fixture {
  lcg next{17};
  tensor<float, batch<2>, heads<4>, query<5>, head_dim<3>> q = drawn<decltype(q)>(next, 2);
  tensor<float, head_dim<3>, batch<2>, kv_heads<2>, key<7>> k = drawn<decltype(k)>(next, 2);
  tensor<float, batch<2>, kv_heads<2>, key<7>, value_dim<6>> v = drawn<decltype(v)>(next);
  tensor<int, batch<2>> lens{7, 4};
};

BOOST_FIXTURE_TEST_SUITE(scored, fixture)

BOOST_AUTO_TEST_CASE(the_dot_product_as_a_function) {
  const auto by_hand = attention_by_score<softcap<4>>([](const auto& a, const auto& b) {
    float sum = 0;
    for (std::size_t d = 0; d < 3; ++d) sum += a(d) * b(d);
    return sum / std::sqrt(3.0f);
  });
  const auto mask = lens & causal_top_left & dropout(0.3, 2);
  const auto result = by_hand(q, k, v, mask);
  const auto wanted = scaled_dot_product_attention_with<softcap<4>>(q, k, v, mask);
  check_near("by hand", result.data(), wanted.data(), decltype(wanted)::layout::count);
}

BOOST_AUTO_TEST_CASE(distances) {
  const auto near = attention_by_score([](const auto& a, const auto& b) {
    float sum = 0;
    for (std::size_t d = 0; d < 3; ++d) sum -= (a(d) - b(d)) * (a(d) - b(d));
    return sum;
  });
  tensor<float, batch<2>, heads<4>, query<5>, key<7>> scores{};
  const auto result = near(q, k, v, lens & observe<observed::scores>(scores));
  for (std::size_t h = 0; h < 4; ++h)
    for (std::size_t i = 0; i < 5; ++i) {
      double weight[7], sum = 0, context = 0;
      for (std::size_t j = 0; j < 7; ++j) {
        double score = 0;
        for (std::size_t d = 0; d < 3; ++d)
          score -= std::pow(double{q(1, h, i, d)} - k(d, 1, h / 2, j), 2);
        BOOST_TEST(std::abs(scores(1, h, i, j) - score) < 1e-5);
        sum += weight[j] = j < 4 ? std::exp(score) : 0;
      }
      for (std::size_t j = 0; j < 7; ++j) context += weight[j] / sum * v(1, h / 2, j, 5);
      BOOST_TEST(std::abs(context - result(1, h, i, 5)) < 1e-5);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
