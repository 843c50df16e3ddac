// SPDX-License-Identifier: BSL-1.0
// The rules for special values that docs/numerics.md states: the lowest finite bias, sums that
// overflow, NaN in activations, other modes of rounding. Not here: infinities and NaN in what is
// hidden (hidden.cpp), exceptions and flushed subnormals (bits).
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <cfenv>
#include <cmath>
#include <limits>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

template <class T>
bool is_near(T a, T b) {
  return std::fabs(a - b) <= static_cast<T>(1e-6);
}

// Row 0: finfo.min throughout. Row 1: key 2 alone is spared. Row 2: finfo.min and -infinity.
template <class T, std::size_t Queries, class... Options>
void check_lowest(const char* what) {
  constexpr std::size_t keys = 5;
  lcg next{9};
  const auto q = drawn<tensor<T, query<Queries>, head_dim<8>>>(next, 3);
  const auto k = drawn<tensor<T, key<keys>, head_dim<8>>>(next, 3);
  const auto v = drawn<tensor<T, key<keys>, head_dim<8>>>(next);
  const auto row = [](std::size_t i, std::size_t j) {
    constexpr T lowest = std::numeric_limits<T>::lowest();
    return i % 3 == 1 && j == 2 ? T{0} : i % 3 == 2 && j < 2 ? -infinity<T> : lowest;
  };
  tensor<T, query<Queries>, key<keys>> biases{}, weights{};
  for (std::size_t i = 0; i < Queries; ++i)
    for (std::size_t j = 0; j < keys; ++j) biases(i, j) = row(i, j);
  const auto check = [&](const auto& out, const char* how) {
    for (std::size_t i = 0; i < Queries; ++i)
      for (std::size_t d = 0; d < 8; ++d) {
        T mean{};
        for (std::size_t j = 0; j < keys; ++j) {
          const T of_row[3] = {v(j, d) / 5, j == 2 ? v(j, d) : 0, j < 2 ? 0 : v(j, d) / 3};
          mean += of_row[i % 3];
        }
        BOOST_TEST(is_near(out(i, d), mean), what << ", " << how << ", query " << i);
      }
  };
  constexpr auto attend = scaled_dot_product_attention_with<Options...>;
  check(attend(q, k, v, score_bias(biases)), "bias");
  check(attend(q, k, v, score_bias(biases) & observe(weights)), "observed");
  for (std::size_t j = 0; j < keys; ++j) BOOST_TEST(is_near(weights(0, j), T{1} / T{keys}), what);
  check(attend(q, k, v, score_bias([&](std::size_t, std::size_t, std::size_t i, std::size_t j) {
                 return row(i, j);
               })),
        "function");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(special_values)

// PyTorch's result: a row of equal scores, however low they are.
BOOST_AUTO_TEST_CASE(lowest_bias_is_no_empty_row) {
  check_lowest<float, 19>("19 queries");
  check_lowest<float, 1>("one query");
  check_lowest<double, 3>("doubles");
  check_lowest<float, 3, empty_rows<uniform_weights>>("mean of empty rows");
  const auto lowest = std::numeric_limits<float>::lowest();
  const auto weights = softmax<key>(tensor<float, key<3>>{lowest, lowest, lowest});
  for (const float weight : weights) BOOST_TEST(is_near(weight, 1.0f / 3));
}

BOOST_AUTO_TEST_CASE(scores_of_infinity) {
  const tensor<float, key<2>> none{-infinity<float>, -infinity<float>};
  BOOST_TEST(same_bits(softmax<key>(none), tensor<float, key<2>>{}));
  const auto spoilt = softmax<key>(tensor<float, key<2>>{infinity<float>, 1.0f});
  for (const float weight : spoilt) BOOST_TEST(std::isnan(weight));
}

BOOST_AUTO_TEST_CASE(sums_overflow_before_the_division) {
  tensor<float, token<3>, hidden<1>> rows{};
  for (float& x : rows) x = 2e38f;
  BOOST_TEST(mean<token>(rows)(0) == infinity<float>);
  tensor<float, hidden<33>> row{};
  for (float& x : row) x = 2e38f;
  layer_norm<float, hidden<33>>::weights w{};
  rms_norm<float, hidden<33>>::weights r{};
  for (float& x : w.gamma) x = 1;
  for (float& x : r.gamma) x = 1;
  const layer_norm<float, hidden<33>> centered{w};
  for (const float y : centered(row)) BOOST_TEST(std::isnan(y));
  for (float& x : row) x = 1e20f;
  row(0) = -1e20f;  // their mean is fine, the squares of the differences are not
  for (const float y : centered(row)) BOOST_TEST(y == 0);
  for (const float y : rms_norm<float, hidden<33>>(r, 1e-6f)(row)) BOOST_TEST(y == 0);
}

BOOST_AUTO_TEST_CASE(activations) {
  const tensor<float, hidden<4>> x{std::nanf(""), infinity<float>, -infinity<float>, -0.0f};
  for (const auto& y : {gelu_exact(x), gelu_tanh(x), silu(x), relu(x)}) {
    BOOST_TEST(std::isnan(y(0)));
    BOOST_TEST(y(3) == 0);
  }
  BOOST_TEST(relu(x)(1) == infinity<float>);
  BOOST_TEST(relu(x)(2) == 0);
  BOOST_TEST(silu(x)(1) == infinity<float>);
  BOOST_TEST(silu(x)(2) == 0);
  BOOST_TEST(!std::signbit(relu(x)(3)));
}

// Not what the bits are promised for, but no disaster, and the mode is the caller's afterwards.
BOOST_AUTO_TEST_CASE(other_modes_of_rounding) {
  using layer = multi_head_attention<float, hidden<24>, heads<3>, bias<true>>;
  lcg next{5};
  const auto w = drawn_weights<layer>(next);
  const auto x = drawn<tensor<float, token<19>, hidden<24>>>(next, 2);
  const auto wanted = layer{w}(x, causal);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const auto out = layer{w}(x, causal);
    const int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    const distance far = distance_of(out.data(), wanted.data(), 19 * 24);
    BOOST_TEST(after == mode);
    BOOST_TEST(far.finite);
    BOOST_TEST(far.error <= 1e-3 * far.reference, far.error / far.reference);
    BOOST_TEST_MESSAGE("rounding mode " << mode << ": " << far.error / far.reference);
  }
}

BOOST_AUTO_TEST_SUITE_END()
