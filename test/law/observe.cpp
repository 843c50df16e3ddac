// SPDX-License-Identifier: BSL-1.0
// observe and dropout at the layer: looking changes no bit, what is seen adds up, what is dropped
// is a matter of the seed and the place only.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <cmath>
#include <limits>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

constexpr std::size_t B = 2, H = 3, Q = 19, K = 37, D = 5;
using q_type = tensor<float, batch<B>, heads<H>, query<Q>, head_dim<D>>;
using k_type = tensor<float, batch<B>, heads<H>, key<K>, head_dim<D>>;
using pairs = tensor<float, batch<B>, heads<H>, query<Q>, key<K>>;

struct fixture {
  lcg next{7};
  q_type q = drawn<q_type>(next, 2);
  k_type k = drawn<k_type>(next, 2), v = drawn<k_type>(next);
  tensor<int, batch<B>> lens{0, 31};
};

BOOST_FIXTURE_TEST_SUITE(observe_and_dropout, fixture)

template <observed What, class Attend, class Mask>
void check_same_bits(const Attend& attend, const fixture& f, const Mask& mask) {
  pairs seen{};
  BOOST_TEST(
      same_bits(attend(f.q, f.k, f.v, mask), attend(f.q, f.k, f.v, mask & observe<What>(seen))));
}

BOOST_AUTO_TEST_CASE(looking_changes_nothing) {
  const auto capped = scaled_dot_product_attention_with<softcap<2>, empty_rows<uniform_weights>>;
  const auto mask = causal_bottom_right(lens) & alibi_bottom_right & dropout(0.2, 5);
  check_same_bits<observed::scores>(scaled_dot_product_attention, *this, all_keys);
  check_same_bits<observed::weights>(scaled_dot_product_attention, *this, lens);
  check_same_bits<observed::scores>(capped, *this, mask);
  check_same_bits<observed::capped_scores>(capped, *this, mask);
  check_same_bits<observed::masked_scores>(capped, *this, mask);
  check_same_bits<observed::weights>(capped, *this, mask);
  check_same_bits<observed::kept_weights>(capped, *this, mask);
}

BOOST_AUTO_TEST_CASE(stages_follow_one_another) {
  const auto attend = scaled_dot_product_attention_with<softcap<2>>;
  const auto mask = lens & alibi_bottom_right;
  pairs scores{}, capped{}, masked{}, weights{};
  (void)attend(q, k, v, mask & observe<observed::scores>(scores));
  (void)attend(q, k, v, mask & observe<observed::capped_scores>(capped));
  (void)attend(q, k, v, mask & observe<observed::masked_scores>(masked));
  const auto result = attend(q, k, v, mask & observe(weights));
  const auto products = contract<head_dim>(q, k);
  const double step = 1 / std::sqrt(double{D});
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t h = 0; h < H; ++h)
      for (std::size_t i = 0; i < Q; ++i) {
        double sum = 0, most = -1e30;
        for (std::size_t j = 0; j < K; ++j) {
          const bool hidden = j >= static_cast<std::size_t>(lens(b));
          const double bias = detail::alibi_slope(h, H) * (double(j) - double(i) - double(K - Q));
          const double score = static_cast<double>(products(b, h, i, j)) * step;
          BOOST_TEST(std::abs(scores(b, h, i, j) - score) < 2e-6);
          BOOST_TEST(std::abs(capped(b, h, i, j) - 2 * std::tanh(score / 2)) < 2e-6);
          if (hidden)
            BOOST_TEST(masked(b, h, i, j) == -std::numeric_limits<float>::infinity());
          else
            BOOST_TEST(std::abs(masked(b, h, i, j) - (2 * std::tanh(score / 2) + bias)) < 1e-5);
          if (hidden) BOOST_TEST(weights(b, h, i, j) == 0);
          sum += weights(b, h, i, j);
          most = std::max(most, static_cast<double>(masked(b, h, i, j)));
        }
        BOOST_TEST(std::abs(sum - (lens(b) == 0 ? 0 : 1)) < 1e-5);
        for (std::size_t d = 0; d < D; ++d) {
          double context = 0;
          for (std::size_t j = 0; j < K; ++j)
            context += static_cast<double>(weights(b, h, i, j)) * v(b, h, j, d);
          BOOST_TEST(std::abs(context - result(b, h, i, d)) < 1e-5);
        }
      }
}

BOOST_AUTO_TEST_CASE(memory_of_any_order) {
  pairs row_major{};
  tensor<float, key<K>, batch<B>, query<Q>, heads<H>> other{};
  (void)scaled_dot_product_attention(q, k, v, lens & observe(row_major));
  (void)scaled_dot_product_attention(q, k, v, observe(other) & lens);
  BOOST_TEST(same_bits(row_major, other | permute<batch, heads, query, key>));
  tensor<float, batch<B>, heads<H>, key<K>, query<Q>> turned{};
  auto as_pairs = turned | permute<batch, heads, query, key>;
  (void)scaled_dot_product_attention(q, k, v, lens & observe(as_pairs));
  BOOST_TEST(same_bits(row_major, as_pairs));
}

// A batch axis that is not there, heads of size 1: what the scores do not have need not be named.
BOOST_AUTO_TEST_CASE(axes_of_size_one_may_be_missing) {
  const auto q0 = q | select_at<batch>(1) | select_at<heads>(2);
  const auto k0 = k | select_at<batch>(1) | select_at<heads>(2);
  const auto v0 = v | select_at<batch>(1) | select_at<heads>(2);
  tensor<float, query<Q>, key<K>> one{};
  pairs all{};
  (void)scaled_dot_product_attention(q0, k0, v0, observe(one));
  (void)scaled_dot_product_attention(q, k, v, observe(all));
  BOOST_TEST(same_bits(one, all | select_at<batch>(1) | select_at<heads>(2)));
}

BOOST_AUTO_TEST_CASE(rows_without_keys_of_uniform_weights) {
  pairs weights{};
  (void)scaled_dot_product_attention_with<empty_rows<uniform_weights>>(q, k, v,
                                                                       lens & observe(weights));
  for (std::size_t j = 0; j < K; ++j) BOOST_TEST(weights(0, 1, 3, j) == 1.0f / K);
}

BOOST_AUTO_TEST_CASE(dropped_by_seed_and_place) {
  const auto& attend = scaled_dot_product_attention;
  pairs weights{}, kept{};
  const auto result = attend(q, k, v, dropout(0.25, 99) & observe<observed::kept_weights>(kept));
  (void)attend(q, k, v, dropout(0.25, 99) & observe(weights));
  std::size_t dropped = 0;
  for_each(
      [&](float p, float w) {
        dropped += w == 0;
        if (w != 0) BOOST_TEST(std::abs(w - p / 0.75f) <= 1e-6f * p);
      },
      weights, kept);
  const double all = B * H * Q * K, expected = all / 4;
  BOOST_TEST(std::abs(static_cast<double>(dropped) - expected) < 5 * std::sqrt(expected));
  for (std::size_t d = 0; d < D; ++d) {
    double context = 0;
    for (std::size_t j = 0; j < K; ++j)
      context += static_cast<double>(kept(1, 2, 7, j)) * v(1, 2, j, d);
    BOOST_TEST(std::abs(context - result(1, 2, 7, d)) < 1e-5);
  }
  BOOST_TEST(same_bits(result, attend(q, k, v, dropout(0.25, 99))));
  BOOST_TEST(!same_bits(result, attend(q, k, v, dropout(0.25, 100))));
  BOOST_TEST(same_bits(attend(q, k, v), attend(q, k, v, dropout(0, 99))));
  // The heads and sequences do not drop alike.
  bool alike = true;
  for (std::size_t j = 0; j < K; ++j)
    alike = alike && (kept(0, 0, 0, j) == 0) == (kept(0, 1, 0, j) == 0) &&
            (kept(0, 0, 0, j) == 0) == (kept(1, 0, 0, j) == 0);
  BOOST_TEST(!alike);
}

BOOST_AUTO_TEST_CASE(at_the_layer) {
  using attention = multi_head_attention<float, hidden<12>, heads<H>>;
  using tokens = tensor<float, batch<B>, token<9>, hidden<12>>;
  const auto w = drawn_weights<attention>(next);
  const auto t = drawn<tokens>(next, 2);
  tensor<float, batch<B>, heads<H>, query<9>, key<9>> weights{};
  const prepacked<attention> packed{w};
  BOOST_TEST(same_bits(attention{w}(t, causal), packed(t, causal & observe(weights))));
  const auto averaged = weights | mean<heads>;
  for (std::size_t i = 0; i < 9; ++i) {
    float sum = 0;
    for (std::size_t j = 0; j < 9; ++j) {
      sum += averaged(1, i, j);
      if (j > i) BOOST_TEST(averaged(1, i, j) == 0);
    }
    BOOST_TEST(std::abs(sum - 1) < 1e-5f);
  }
}

BOOST_AUTO_TEST_CASE(of_additive_scores) {
  using attention = additive_attention<float, hidden<12>, hidden<6>, heads<2>, softcap<3>>;
  using queries = tensor<float, batch<B>, query<7>, hidden<12>>;
  using context = tensor<float, batch<B>, key<9>, hidden<12>>;
  attention::weights w{};
  draw(next, w.q.weight), draw(next, w.k.weight), draw(next, w.score);
  const auto x = drawn<queries>(next, 2);
  const auto y = drawn<context>(next, 2);
  tensor<float, batch<B>, heads<2>, query<7>, key<9>> weights{}, capped{}, masked{};
  const attention attend{w};
  const tensor<int, batch<B>> few{0, 5};
  BOOST_TEST(same_bits(attend(x, y, y, few), attend(x, y, y, few & observe(weights))));
  (void)attend(x, y, y, few & observe<observed::capped_scores>(capped));
  (void)attend(x, y, y, few & observe<observed::masked_scores>(masked));
  for (std::size_t j = 0; j < 9; ++j) {
    BOOST_TEST(std::abs(capped(1, 1, 2, j)) <= 3);
    BOOST_TEST((masked(1, 1, 2, j) == capped(1, 1, 2, j)) == (j < 5));
    BOOST_TEST((weights(1, 1, 2, j) == 0) == (j >= 5));
    BOOST_TEST(weights(0, 1, 2, j) == 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
