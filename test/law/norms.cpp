// SPDX-License-Identifier: BSL-1.0
// What holds for layer_norm and rms_norm whatever the numbers are: the formula, that a row does not
// know of the others, and that those of queries and keys are these.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <cmath>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <std::size_t N>
struct rows : axis<rows, N> {};
template <std::size_t N>
struct width : axis<width, N> {};

template <std::size_t Width>
void check_norm() {
  using norm = layer_norm<float, width<Width>>;
  lcg next{Width};
  typename norm::weights w{};
  draw(next, w.gamma);
  draw(next, w.beta);
  auto x = drawn<tensor<float, rows<3>, width<Width>>>(next, 3);
  for (std::size_t e = 0; e < Width; ++e) x(1, e) = 100 + x(1, e) / 8;
  for (std::size_t e = 0; e < Width; ++e) x(2, e) = 7;
  const auto y = norm{w}(x);
  double wanted[3 * Width];
  for (std::size_t m = 0; m < 3; ++m) {
    double mean = 0, variance = 0;
    for (std::size_t e = 0; e < Width; ++e) mean += static_cast<double>(x(m, e)) / Width;
    for (std::size_t e = 0; e < Width; ++e)
      variance += std::pow(static_cast<double>(x(m, e)) - mean, 2) / Width;
    for (std::size_t e = 0; e < Width; ++e)
      wanted[m * Width + e] = (static_cast<double>(x(m, e)) - mean) / std::sqrt(variance + 1e-5) *
                                  static_cast<double>(w.gamma(e)) +
                              static_cast<double>(w.beta(e));
  }
  check_near("layer_norm", y.data(), wanted, 2 * Width);
  // A row that does not vary is beta, and a row does not know of the others.
  BOOST_TEST(same_bits(y | select_at<rows, 2>, w.beta));
  BOOST_TEST(
      same_bits(norm{w}(x | slice<rows, from<1>, extent<1>>), y | slice<rows, from<1>, extent<1>>));
  BOOST_TEST(same_bits(norm{w}(x | select_at<rows, 0>), y | select_at<rows, 0>));
}

// Without a beta: the bits of a beta of zeros, also where the products are -0.
template <class T, std::size_t Width>
void check_without_beta() {
  using norm = layer_norm<T, width<Width>, bias<false>>;
  using with_beta = layer_norm<T, width<Width>>;
  static_assert(sizeof(typename norm::weights) == Width * sizeof(T));
  lcg next{Width};
  const typename norm::weights w{drawn<tensor<T, width<Width>>>(next)};
  const typename with_beta::weights of_zeros{w.gamma, {}};
  auto x = drawn<tensor<T, rows<3>, width<Width>>>(next, 3);
  for (std::size_t e = 0; e < Width; ++e) x(2, e) = 7;
  const auto y = norm{w}(x);
  BOOST_TEST(same_bits(y, with_beta{of_zeros}(x)));
  BOOST_TEST(same_bits(norm(w.gamma, T(0.25))(x), with_beta(of_zeros, T(0.25))(x)));
  BOOST_TEST(same_bits(y | select_at<rows, 2>, of_zeros.beta));
}

template <std::size_t Width>
void check_rms() {
  using norm = rms_norm<float, width<Width>>;
  lcg next{Width};
  const typename norm::weights w{drawn<tensor<float, width<Width>>>(next)};
  auto x = drawn<tensor<float, rows<3>, width<Width>>>(next, 3);
  for (std::size_t e = 0; e < Width; ++e) x(1, e) = 100 + x(1, e) / 8;
  for (std::size_t e = 0; e < Width; ++e) x(2, e) = 0;
  const float epsilon = 1e-6f;
  const auto y = norm{w, epsilon}(x);
  double wanted[3 * Width];
  for (std::size_t m = 0; m < 3; ++m) {
    double square = 0;
    for (std::size_t e = 0; e < Width; ++e)
      square += std::pow(static_cast<double>(x(m, e)), 2) / Width;
    for (std::size_t e = 0; e < Width; ++e)
      wanted[m * Width + e] = static_cast<double>(x(m, e)) /
                              std::sqrt(square + static_cast<double>(epsilon)) *
                              static_cast<double>(w.gamma(e));
  }
  check_near("rms_norm", y.data(), wanted, 3 * Width);
  // A row does not know of the others, and its size does not matter: powers of two are exact.
  BOOST_TEST(same_bits(norm{w, epsilon}(x | slice<rows, from<1>, extent<1>>),
                       y | slice<rows, from<1>, extent<1>>));
  BOOST_TEST(same_bits(norm{w, epsilon}(x | select_at<rows, 0>), y | select_at<rows, 0>));
  BOOST_TEST(same_bits(norm{w, epsilon * 64}(x * 8.0f), y));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(norm_laws)

BOOST_AUTO_TEST_CASE(norms) {
  check_norm<1>();
  check_norm<2>();
  check_norm<7>();
  check_norm<15>();
  check_norm<16>();
  check_norm<17>();
  check_norm<33>();
  check_norm<100>();
}

BOOST_AUTO_TEST_CASE(norms_without_beta) {
  check_without_beta<float, 1>();
  check_without_beta<float, 7>();
  check_without_beta<float, 16>();
  check_without_beta<float, 33>();
  check_without_beta<double, 9>();
  // In constant expressions.
  constexpr auto computed = [] {
    using norm = layer_norm<float, hidden<5>, bias<false>>;
    const norm::weights w{{1, -2, 0.5F, 0, 3}};
    return norm{w}(tensor<float, hidden<5>>{1, 2, 4, 8, 16});
  };
  constexpr auto of_the_compiler = computed();
  BOOST_TEST(same_bits(computed(), of_the_compiler));
}

BOOST_AUTO_TEST_CASE(rms_norms) {
  check_rms<1>();
  check_rms<2>();
  check_rms<7>();
  check_rms<16>();
  check_rms<17>();
  check_rms<33>();
  check_rms<100>();
}

namespace {

// A layer with query_key_norm and its words: each head's queries and keys are rows of Norm, then
// rotated.
template <class T, std::size_t HeadDim, class Norm, class... Options, class... Epsilon>
void check_heads(Epsilon... epsilon) {
  using layer = multi_head_attention<T, hidden<20>, heads<3>, head_dim<HeadDim>, bias<true>,
                                     rope<adjacent_pairs, 10000, 4>, Options...>;
  static_assert(std::is_same_v<decltype(layer::weights::q_norm), typename Norm::weights>);
  static constexpr formula words = [](auto x, auto y, const auto& w, const auto& q_norm,
                                      const auto& k_norm) {
    const auto heads_of = split<hidden, heads<3>, head_dim>;
    const auto q = rotate<rope<adjacent_pairs, 10000, 4>, query, head_dim>(
        q_norm(x * w.q | heads_of | permute<query, heads, head_dim>));
    const auto k = rotate<rope<adjacent_pairs, 10000, 4>, key, head_dim>(
        k_norm(y * w.k | heads_of | permute<key, heads, head_dim>));
    const auto v = y * w.v | heads_of;
    const auto weights = softmax<key>(
        contract<head_dim>(q | permute<heads, query, head_dim>, k | permute<heads, key, head_dim>) *
        static_cast<T>(1 / detail::simd::sqrt(double{HeadDim})));
    return (contract<key>(weights, v | permute<heads, key, head_dim>) |
            permute<query, heads, head_dim> | contiguous | merge<heads, head_dim, hidden>)*w.o;
  };
  lcg next{HeadDim};
  const auto w = drawn_weights<layer>(next);
  const auto x = drawn<tensor<T, query<5>, hidden<20>>>(next, 3);
  const auto y = drawn<tensor<T, key<9>, hidden<20>>>(next, 3);
  const auto result = layer{w}(x, y, y);
  BOOST_TEST(
      same_bits(result, words(x, y, w, Norm(w.q_norm, epsilon...), Norm(w.k_norm, epsilon...))));
}

}  // namespace

BOOST_AUTO_TEST_CASE(norms_of_queries_and_keys_are_words) {
  // Rows of heads that fill vectors, and rows with room behind them.
  check_heads<float, 16, rms_norm<float, head_dim<16>>, query_key_norm<rms_norm>,
              norm_epsilon<1, 1000>>(1e-3F);
  check_heads<float, 6, layer_norm<float, head_dim<6>>, query_key_norm<layer_norm>>();
  check_heads<double, 7, layer_norm<double, head_dim<7>, bias<false>>, query_key_norm<layer_norm>,
              norm_bias<false>, norm_epsilon<1, 100>>(1e-2);
}

BOOST_AUTO_TEST_CASE(norm_in_double) {
  using norm = layer_norm<double, hidden<9>>;
  lcg next{9};
  const norm::weights w{drawn<tensor<double, hidden<9>>>(next),
                        drawn<tensor<double, hidden<9>>>(next)};
  const auto x = drawn<tensor<double, hidden<9>>>(next);
  long double mean = 0, variance = 0, wanted[9];
  for (double e : x) mean += static_cast<long double>(e) / 9;
  for (double e : x)
    variance += (static_cast<long double>(e) - mean) * (static_cast<long double>(e) - mean) / 9;
  for (std::size_t i = 0; i < 9; ++i)
    wanted[i] = (static_cast<long double>(x(i)) - mean) / std::sqrt(variance + 1e-5L) *
                    static_cast<long double>(w.gamma(i)) +
                static_cast<long double>(w.beta(i));
  check_near("layer_norm", norm{w}(x).data(), wanted, 9);
}

BOOST_AUTO_TEST_SUITE_END()
