// SPDX-License-Identifier: BSL-1.0
// plain::attend with masks and changes of scores against softmax in float64, and in the compiler.
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <umbel/kernel/plain/attend.hpp>
#include <vector>

namespace {

using namespace umbel::detail::kernel;
using umbel_test::buffer;
using umbel_test::seeded;

// Flags as a function of (query, key), row-major.
template <class F>
buffer<unsigned char> flags(std::size_t queries, std::size_t keys, F f) {
  buffer<unsigned char> mask{queries * keys};
  for (std::size_t e = 0; e < queries * keys; ++e) mask[e] = f(e / keys, e % keys) ? 1 : 0;
  return mask;
}

bool speckled(std::size_t i, std::size_t j) { return (i * 7 + j * 13 + i * j) % 5 != 0; }

template <attend_shape S, class Policy, class Sees, class Change>
void against_reference(const Policy& policy, Sees sees, Change change) {
  buffer<float> q{S.queries * S.head_dim}, k{S.keys * S.head_dim}, v{S.keys * S.value_dim};
  buffer<float> weights{S.queries * S.keys}, o{S.queries * S.value_dim, 8};
  seeded next{5};
  q.fill(next, 1.5);
  k.fill(next, 1.5);
  v.fill(next);
  plain::attend<S>(q.get(), k.get(), v.get(), 0.9f, policy, o.get(), weights.get());
  for (std::size_t i = 0; i < S.queries; ++i) {
    std::vector<double> context(S.value_dim), weight(S.keys);
    double sum = 0;
    for (std::size_t j = 0; j < S.keys; ++j) {
      double score = 0;
      for (std::size_t d = 0; d < S.head_dim; ++d) {
        score += static_cast<double>(q[i * S.head_dim + d]) * k[j * S.head_dim + d];
      }
      if (sees(i, j)) weight[j] = std::exp(change(score * 0.9f, i, j));
      sum += weight[j];
      for (std::size_t d = 0; d < S.value_dim; ++d) {
        context[d] += weight[j] * v[j * S.value_dim + d];
      }
    }
    for (std::size_t d = 0; d < S.value_dim; ++d) {
      const double right = sum > 0 ? context[d] / sum : 0;
      BOOST_TEST(std::fabs(right - o[i * S.value_dim + d]) < 2e-6, i << " " << d);
    }
    for (std::size_t j = 0; j < S.keys; ++j) {
      const double right = sum > 0 ? weight[j] / sum : 0;
      BOOST_TEST(std::fabs(right - weights[i * S.keys + j]) < 2e-6, i << " " << j);
      if (!sees(i, j)) BOOST_TEST(weights[i * S.keys + j] == 0.0f);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(plain_scores)

BOOST_AUTO_TEST_CASE(agrees_with_float64) {
  constexpr attend_shape shape = {9, 270, 6, 3, 6, 1, 6, 1, 3, 1, 3, 1, 9};
  const auto mask = flags(9, 270, speckled);
  buffer<float> bias{9 * 270};
  seeded next{11};
  bias.fill(next, 3.0);
  bias[2 * 270 + 17] = -INFINITY;
  const auto seen_speckled = [](std::size_t i, std::size_t j) { return speckled(i, j); };
  const auto same = [](double score, std::size_t, std::size_t) { return score; };
  const auto distance = [](std::size_t i, std::size_t j) {
    return static_cast<double>(j) - static_cast<double>(i) - 261;
  };
  against_reference<shape>(scores::kept(static_cast<const unsigned char*>(mask), 270, 1),
                           seen_speckled, same);
  against_reference<shape>(
      scores::window{9, 4, -3},
      [](std::size_t i, std::size_t j) { return j + 12 >= i && j + 3 <= i + 4; }, same);
  against_reference<shape>(
      scores::all_of(scores::alibi{0.0625f, 261}, scores::causal{261}),
      [&](std::size_t i, std::size_t j) { return distance(i, j) <= 0; },
      [&](double score, std::size_t i, std::size_t j) { return score + 0.0625 * distance(i, j); });
  against_reference<shape>(
      scores::all_of(scores::softcap{2.0f}, scores::added(bias.get(), 270, 1)),
      [&](std::size_t i, std::size_t j) { return i != 2 || j != 17; },
      [&](double score, std::size_t i, std::size_t j) {
        return 2 * std::tanh(score / 2) + static_cast<double>(bias[i * 270 + j]);
      });
}

BOOST_AUTO_TEST_CASE(plain_masks_in_constant_expressions) {
  constexpr float out = [] {
    const float q[2] = {1, 2}, k[3] = {0, 0, 0}, v[3] = {3, 5, 100};
    const bool mask[3] = {true, true, false};
    float o[2] = {};
    plain::attend<attend_shape{2, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}>(
        q, k, v, 1.0f,
        scores::all_of(scores::softcap{1.0f}, scores::kept(mask, 0, 1), scores::causal{}), o);
    return o[1] - o[0];
  }();
  static_assert(out == 1);
  BOOST_TEST(out == 1);
}

BOOST_AUTO_TEST_SUITE_END()
