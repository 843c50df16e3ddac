// SPDX-License-Identifier: BSL-1.0
// What holds for a linear map whatever the numbers are, to the bit: one chain an element, along any
// axis. Not here: weights in 16 and 8 bits (stored.cpp).
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

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

// x w + b, one chain for each element.
template <class Weights, class X>
float chain(const Weights& w, const X& row, std::size_t out) {
  float sum = 0;
  if constexpr (Weights::map::has_bias) sum = w.bias[out];
  for (std::size_t k = 0; k < Weights::map::in::size; ++k)
    sum = detail::simd::fma(row(k), w(k, out), sum);
  return sum;
}

template <std::size_t In, std::size_t Out, std::size_t Rows, bool Bias>
void check_linear() {
  using map = linear<float, width<In>, classes<Out>, bias<Bias>>;
  lcg next{In * 10 + Out};
  typename map::weights w{};
  draw(next, w.weight);
  draw_bias(next, w);
  const auto x = drawn<tensor<float, rows<Rows>, width<In>>>(next);
  const auto y = map{w}(x);
  static_assert(std::is_same_v<decltype(y), const tensor<float, rows<Rows>, classes<Out>>>);
  bool same = true;
  for (std::size_t m = 0; m < Rows; ++m)
    for (std::size_t n = 0; n < Out; ++n)
      same = same && y(m, n) == chain(w, x | select_at<rows>(m), n);
  BOOST_TEST(same, In << " to " << Out << ", " << Rows << " rows");
  BOOST_TEST(same_bits(prepacked<map>{w}(x), y));
  // Along the first axis, and from a permuted view.
  const auto turned = x | permute<width, rows> | contiguous;
  BOOST_TEST(same_bits(map{w}(turned) | permute<rows, classes>, y));
  BOOST_TEST(same_bits(prepacked<map>{w}(turned) | permute<rows, classes>, y));
  BOOST_TEST(same_bits(map{w}(turned | permute<rows, width>), y));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(linear_laws)

BOOST_AUTO_TEST_CASE(is_one_chain_an_element) {
  check_linear<1, 1, 1, false>();
  check_linear<1, 5, 3, true>();
  check_linear<13, 1, 7, true>();
  check_linear<7, 16, 17, false>();
  check_linear<20, 33, 2, true>();
  check_linear<3, 70, 5, false>();
}

BOOST_AUTO_TEST_CASE(along_any_axis) {
  using map = linear<float, hidden<6>, classes<5>, bias<true>>;
  lcg next{3};
  map::weights w{};
  draw(next, w.weight);
  draw_bias(next, w);
  const auto x = drawn<tensor<float, batch<2>, rows<3>, token<4>, hidden<6>>>(next);
  const auto y = map{w}(x);
  const auto back = [](const auto& out) { return out | permute<batch, rows, token, classes>; };
  const auto check = [&](const auto& moved) {
    BOOST_TEST(same_bits(back(map{w}(moved)), y));
    BOOST_TEST(same_bits(back(moved * w), y));
    BOOST_TEST(same_bits(back(prepacked<map>{w}(moved)), y));
    BOOST_TEST(same_bits(back(map{w}(moved | contiguous)), y));
  };
  check(x | permute<hidden, batch, rows, token>);
  check(x | permute<batch, hidden, rows, token>);
  check(x | permute<token, rows, hidden, batch>);
  check(x | permute<rows, batch, token, hidden>);
  BOOST_TEST(same_bits(map{w}(x | select_at<batch, 1> | select_at<rows, 2> | select_at<token, 0>),
                       y | select_at<batch, 1> | select_at<rows, 2> | select_at<token, 0>));
  BOOST_TEST(
      same_bits(map{w}(x | slice<token, from<1>, extent<2>> | slice<rows, from<0>, extent<2>>),
                y | slice<token, from<1>, extent<2>> | slice<rows, from<0>, extent<2>>));
  tensor<float, batch<2>, rows<3>, token<4>, hidden<11>> wider{};
  const auto part = wider | slice<hidden, from<4>, extent<6>>;
  copy(x, part);
  BOOST_TEST(same_bits(map{w}(part), y));
  const auto one = x | select_at<batch, 0> | select_at<rows, 0>;
  BOOST_TEST(same_bits(map{w}(one | broadcast<rows<3>, token<4>, hidden<6>>) | select_at<rows, 2>,
                       map{w}(one)));
}

BOOST_AUTO_TEST_SUITE_END()
