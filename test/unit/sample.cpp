// SPDX-License-Identifier: BSL-1.0
// The next token: who may be drawn is what sorting says, how often is what the softmax says, and
// the same seed draws the same.
#include <boost/test/unit_test.hpp>

#include <umbel/decode/sample.hpp>
#include <umbel/umbel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

template <class T>
constexpr T infinite = std::numeric_limits<T>::infinity();

// The probabilities by the definition: sorted, cut, normalised.
template <class T, std::size_t N>
std::vector<double> by_sorting(const tensor<T, classes<N>>& logits, const sampling& how) {
  std::vector<std::size_t> order(N);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return logits(a) > logits(b); });
  if (how.top_k != 0 && how.top_k < N) order.resize(how.top_k);
  std::vector<double> weights(N);
  double sum = 0;
  const double most = static_cast<double>(logits(order[0]));
  for (const std::size_t i : order)
    sum += weights[i] =
        std::exp((static_cast<double>(logits(i)) - most) / static_cast<double>(how.temperature));
  double together = 0;
  for (const std::size_t i : order) {
    if (together > 0 && together >= static_cast<double>(how.top_p) * sum) weights[i] = 0;
    together += weights[i];
  }
  const double kept = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= kept;
  return weights;
}

template <class T, std::size_t N>
void check_draws(std::uint32_t seed, const sampling& how) {
  umbel_test::lcg next{seed};
  tensor<T, classes<N>> logits;
  umbel_test::draw(next, logits, 6);
  for (std::size_t i = 3; i < N; i += 4) logits(i) = logits(i / 2);  // ties
  const std::vector<double> wanted = by_sorting(logits, how);
  sampler<T, classes<N>> sample{seed};
  constexpr int draws = 4000;
  std::vector<int> found(N);
  for (int i = 0; i < draws; ++i) ++found[sample(logits, how)];
  for (std::size_t i = 0; i < N; ++i) {
    const double share = found[i] / static_cast<double>(draws);
    const double deviation = std::sqrt(wanted[i] * (1 - wanted[i]) / draws);
    // A rare one may come up twice, where the normal distribution says nothing.
    BOOST_TEST(std::abs(share - wanted[i]) <= 5 * deviation + 2.0 / draws);
    if (wanted[i] == 0) BOOST_TEST(found[i] == 0);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unit_sample)

BOOST_AUTO_TEST_CASE(draws_are_those_of_the_definition) {
  for (std::uint32_t seed = 1; seed < 4; ++seed)
    for (const sampling& how :
         {sampling{}, sampling{.temperature = 0.5F}, sampling{.temperature = 3},
          sampling{.top_k = 1}, sampling{.top_k = 4}, sampling{.top_k = 1000},
          sampling{.top_p = 0.3F}, sampling{.top_p = 0.9F}, sampling{.top_p = 0.999F},
          sampling{.temperature = 1.5F, .top_k = 6, .top_p = 0.8F}}) {
      check_draws<float, 1>(seed, how);
      check_draws<float, 7>(seed, how);
      check_draws<double, 19>(seed, how);
      if (seed == 1) check_draws<float, 65>(seed, how);  // as long as all others together
    }
}

BOOST_AUTO_TEST_CASE(the_most_likely) {
  const tensor<float, classes<6>> logits{1, 3, 2, 3, -5, 0};
  sampler<float, classes<6>> sample{1};
  BOOST_TEST(argmax(logits) == 1u);  // the first of two
  for (const sampling& how : {sampling{.temperature = 0}, sampling{.temperature = -1},
                              sampling{.temperature = std::numeric_limits<float>::quiet_NaN()},
                              sampling{.top_k = 1}, sampling{.top_p = 0}, sampling{.top_p = -1}})
    for (int i = 0; i < 50; ++i) BOOST_TEST(sample(logits, how) == 1u);
}

BOOST_AUTO_TEST_CASE(the_most_likely_in_integers) {
  BOOST_TEST(argmax(tensor<std::int8_t, classes<5>>{-128, -3, 127, 127, 0}) == 2u);
  BOOST_TEST(argmax(tensor<std::int16_t, classes<3>>{-32768, -32767, -32768}) == 1u);
  BOOST_TEST(argmax(tensor<std::int8_t, classes<1>>{-128}) == 0u);
  BOOST_TEST(argmax(tensor<int, classes<4>>{-8, 3, 7, 7}) == 2u);
  BOOST_TEST(argmax(tensor<std::int64_t, classes<2>>{-(std::int64_t{1} << 40), 0}) == 1u);
  const tensor<std::int8_t, token<2>, classes<3>> all{{9, 8, 7}, {-9, -7, -8}};
  BOOST_TEST(argmax(all | select_at<token, 1>) == 1u);
  BOOST_TEST((argmax<classes>(all)(1) == 1));
  const tensor<std::int8_t, token<2>, classes<3>> scores{1, 7, 7, -3, -128, 5};
  BOOST_TEST((argmax<classes>(scores) == tensor<std::int32_t, token<2>>{1, 2}));
  BOOST_TEST(((scores | argmax<token>) == tensor<std::int32_t, classes<3>>{0, 0, 0}));
  BOOST_TEST((argmax<token>(scores | permute<classes, token>) ==
              tensor<std::int32_t, classes<3>>{0, 0, 0}));
  static_assert(argmax<classes>(tensor<float, classes<3>>{1, 3, 2})() == 1);
}

BOOST_AUTO_TEST_CASE(numbers_that_are_none) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = infinite<float>;
  sampler<float, classes<4>> sample{3};
  BOOST_TEST(sample(tensor<float, classes<4>>{nan, nan, nan, nan}) == npos);
  BOOST_TEST(sample(tensor<float, classes<4>>{-inf, nan, -inf, -inf}) == npos);
  BOOST_TEST(argmax(tensor<float, classes<4>>{nan, nan, nan, nan}) == npos);
  BOOST_TEST(argmax<classes>(tensor<float, classes<4>>{nan, nan, nan, nan})() == -1);
  for (const sampling& how : {sampling{}, sampling{.top_k = 2}, sampling{.top_p = 0.9F},
                              sampling{.temperature = 0}, sampling{.temperature = 1e-30F}}) {
    bool drawn[4] = {};
    for (int i = 0; i < 200; ++i)
      drawn[sample(tensor<float, classes<4>>{nan, -3, -inf, -3}, how)] = true;
    BOOST_TEST(!drawn[0]);
    BOOST_TEST(drawn[1]);
    BOOST_TEST(!drawn[2]);
    for (int i = 0; i < 200; ++i) {
      const std::size_t token = sample(tensor<float, classes<4>>{1, inf, inf, nan}, how);
      BOOST_TEST((token == 1 || token == 2));
    }
  }
}

// A temperature of infinity is the largest there is: what may be drawn is drawn alike.
BOOST_AUTO_TEST_CASE(infinite_temperature) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = infinite<float>;
  constexpr float most = std::numeric_limits<float>::max();
  const auto drawn = [](const auto& logits, const sampling& how) {
    using T = typename std::remove_cvref_t<decltype(logits)>::value_type;
    sampler<T, classes<4>> sample{3};
    std::vector<int> found(4);
    for (int i = 0; i < 400; ++i) ++found[sample(logits, how)];
    return found;
  };
  for (const float temperature : {1e38F, most, inf})
    for (const sampling& how :
         {sampling{.temperature = temperature}, sampling{.temperature = temperature, .top_k = 3},
          sampling{.temperature = temperature, .top_p = 0.9F}}) {
      const auto two = drawn(tensor<float, classes<4>>{-inf, 1, 3, nan}, how);
      BOOST_TEST((two[0] == 0 && two[3] == 0));
      BOOST_TEST((two[1] > 150 && two[2] > 150));
      BOOST_TEST(drawn(tensor<double, classes<4>>{-infinite<double>, 1, 3, -infinite<double>},
                       how) == two);
      BOOST_TEST(drawn(tensor<float, classes<4>>{-inf, nan, 0, -inf}, how)[2] == 400);
      const auto infinities = drawn(tensor<float, classes<4>>{inf, most, inf, -most}, how);
      BOOST_TEST((infinities[1] == 0 && infinities[3] == 0));
      BOOST_TEST((infinities[0] > 150 && infinities[2] > 150));
    }
}

// A token is a function of seed, number and logits, so that a copy goes on as the original, and the
// compiler draws the same.
BOOST_AUTO_TEST_CASE(the_same_seed_draws_the_same) {
  static constexpr auto draw = [](std::uint64_t seed) {
    tensor<float, classes<9>> logits;
    for (std::size_t i = 0; i < 9; ++i) logits(i) = static_cast<float>(i % 4);
    sampler<float, classes<9>> sample{seed};
    tensor<int, token<20>> tokens;
    for (int& one : tokens)
      one = static_cast<int>(sample(logits, {.temperature = 0.9F, .top_k = 8, .top_p = 0.97F}));
    return tokens;
  };
  static constexpr auto in_the_compiler = draw(5);
  BOOST_TEST((draw(5) == in_the_compiler));
  BOOST_TEST(!(draw(6) == in_the_compiler));
}

// A row of a batch, with a stride.
BOOST_AUTO_TEST_CASE(rows_of_larger_tensors) {
  tensor<float, classes<5>, token<3>> logits{};
  logits(4, 1) = 9;
  BOOST_TEST(argmax(logits | select_at<token, 1>) == 4u);
  sampler<float, classes<5>> sample{1};
  BOOST_TEST(sample(logits | slice<token, from<1>, extent<1>>, {.top_k = 1}) == 4u);
}

BOOST_AUTO_TEST_CASE(repetition) {
  tensor<float, classes<4>> logits{2, -2, 1, 0};
  penalize_repetition(logits, tensor<int, token<6>>{0, 1, 0, -1, 4, 1}, 2);
  BOOST_TEST((logits == tensor<float, classes<4>>{1, -4, 1, 0}));
  penalize_repetition(logits, tensor<unsigned, token<1>>{2}, 4);
  BOOST_TEST(logits(2) == 0.25F);
}

BOOST_AUTO_TEST_SUITE_END()
