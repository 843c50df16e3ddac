// SPDX-License-Identifier: BSL-1.0
// Laws of conditions and of what is chosen by them, of concat, stack, lookup, gather and one_hot,
// against loops written by hand.
#include "../support/compare.hpp"
#include "../support/random.hpp"
#include "shapes.hpp"

#include <boost/test/unit_test.hpp>
#include <umbel/bare.hpp>

#include <cmath>
#include <limits>

using namespace law;
using umbel_test::same_bits;

namespace {

template <class X>
X random(std::uint32_t seed) {
  umbel_test::lcg next{seed};
  return umbel_test::drawn<X>(next, 3);
}
template <class X>
using flags_of = detail::tensor_of<bool, typename X::layout>;

}  // namespace

BOOST_AUTO_TEST_SUITE(selecting)

BOOST_AUTO_TEST_CASE(maximum_and_minimum_are_the_loop) {
  each_shape([]<class X>() {
    const X x = random<X>(3), y = random<X>(4);
    X most{}, least{}, positive{};
    for (std::size_t i = 0; i < X::layout::count; ++i) {
      most.data()[i] = std::max(x.data()[i], y.data()[i]);
      least.data()[i] = std::min(x.data()[i], y.data()[i]);
      positive.data()[i] = std::max(x.data()[i], 0.0f);
    }
    BOOST_TEST(same_bits(maximum(x, y), most));
    BOOST_TEST(same_bits(minimum(x, y), least));
    BOOST_TEST(same_bits(maximum(x, 0), positive));
    BOOST_TEST((minimum(0, -x) == -positive));
    const auto turned = orders<X>::reversed::permute;
    BOOST_TEST(same_bits(maximum(x | turned, y | turned), most | turned | contiguous));
  });
  const float nan = std::numeric_limits<float>::quiet_NaN();
  using row = tensor<float, key<4>>;
  const row a{nan, 1, -0.0f, 0}, b{1, nan, 0, -0.0f};
  for (const row& y : {row(maximum(a, b)), row(minimum(a, b))}) {
    BOOST_TEST(std::isnan(y(0)));
    BOOST_TEST(std::isnan(y(1)));
    BOOST_TEST(std::signbit(y(2)));
    BOOST_TEST(!std::signbit(y(3)));
  }
  static_assert(maximum(tensor<int, key<2>>{3, -4}, 0) == tensor<int, key<2>>{3, 0});
  static_assert(minimum(2, tensor<int, key<2>>{3, -4}) == tensor<int, key<2>>{2, -4});
  // Numbers that the elements' type can't hold.
  using low = tensor<std::int8_t, key<3>>;
  using high = tensor<std::uint8_t, key<3>>;
  static_assert(clamp(low{-100, 5, 100}, -200, 200) == low{-100, 5, 100});
  static_assert(clamp(high{0, 5, 255}, -1, 300) == high{0, 5, 255});
  static_assert(clamp(low{-100, 5, 100}, 200u, 300) == low{127, 127, 127});
  static_assert(maximum(high{0, 5, 255}, -1) == high{0, 5, 255});
  static_assert(minimum(std::int64_t{1} << 40, low{-100, 5, 100}) == low{-100, 5, 100});
  static_assert(maximum(tensor<unsigned, key<2>>{3, 4}, -1) == tensor<unsigned, key<2>>{3, 4});
}

BOOST_AUTO_TEST_CASE(comparisons_are_the_loop) {
  each_shape([]<class X>() {
    const X x = random<X>(1);
    X y = random<X>(2);
    for (std::size_t i = 0; i < X::layout::count; i += 3) y.data()[i] = x.data()[i];
    flags_of<X> less{}, most{}, above{};
    for (std::size_t i = 0; i < X::layout::count; ++i) {
      less.data()[i] = x.data()[i] < y.data()[i];
      most.data()[i] = x.data()[i] <= y.data()[i];
      above.data()[i] = x.data()[i] > 0.5f;
    }
    BOOST_TEST((x < y) == less);
    BOOST_TEST((y > x) == less);
    BOOST_TEST((x <= y) == most);
    BOOST_TEST((y >= x) == most);
    BOOST_TEST((x > 0.5) == above);
    BOOST_TEST((0.5 < x) == above);
    BOOST_TEST((x <= 0.5) == !above);
    BOOST_TEST((0.5f >= x) == !above);
    // De Morgan; of views that lie in any way.
    BOOST_TEST((!(less && above)) == (!less || !above));
    const auto turned = orders<X>::reversed::permute;
    BOOST_TEST(((x | turned) < (y | turned)) == (less | turned));
    BOOST_TEST((!(less | turned)) == ((!less) | turned));
  });
  const float nan = std::numeric_limits<float>::quiet_NaN();
  BOOST_TEST((tensor<float, key<2>>{nan, 1} < 2) == (tensor<bool, key<2>>{false, true}));
  BOOST_TEST((tensor<float, key<2>>{nan, 1} >= 2) == (tensor<bool, key<2>>{false, false}));
  static_assert((tensor<int, key<2>>{3, 4} > 3) == tensor<bool, key<2>>{false, true});
  // Numbers that the elements' type can't hold.
  const auto all = []<class T, class S>(T, S above, S below) {
    const tensor<T, key<2>> y{std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
    const tensor<bool, key<2>> yes{true, true}, no{};
    return (y < above) == yes && (y <= above) == yes && (y > below) == yes && (y >= below) == yes &&
           (above > y) == yes && (above >= y) == yes && (below < y) == yes && (below <= y) == yes &&
           (y > above) == no && (y >= above) == no && (y < below) == no && (y <= below) == no;
  };
  static_assert(all(std::int8_t{}, 200, -200) && all(std::uint8_t{}, 300, -1));
  static_assert(all(unsigned{}, std::int64_t{1} << 40, std::int64_t{-1}));
  static_assert(all(bool{}, 2, -1) && all(char{}, 300, -300));
  static_assert((tensor<int, key<1>>{-1} < 4'294'967'295u)(0));
  static_assert((tensor<std::uint64_t, key<1>>{~std::uint64_t{}} > -1)(0));
}

BOOST_AUTO_TEST_CASE(where_chooses) {
  each_shape([]<class X>() {
    const X x = random<X>(3), y = random<X>(4);
    const auto condition = x < y;
    X smaller{}, cut{};
    for (std::size_t i = 0; i < X::layout::count; ++i) {
      smaller.data()[i] = std::min(x.data()[i], y.data()[i]);
      cut.data()[i] = std::max(x.data()[i], 0.0f);
    }
    BOOST_TEST(same_bits(where(condition, x, y), smaller));
    BOOST_TEST(same_bits(where(!condition, y, x), smaller));
    BOOST_TEST(same_bits(where(x > 0, x, 0), cut));
    BOOST_TEST(same_bits(where(x <= 0, 0.0, x), cut));
    const auto turned = orders<X>::reversed::permute;
    BOOST_TEST(same_bits(where(condition | turned, x | turned, y | turned),
                         smaller | turned | contiguous));
    BOOST_TEST(same_bits(where(condition, 1.0f, 0.0f) + where(condition, 0.0f, 1.0f), x * 0 + 1));
  });
  static_assert(where(tensor<bool, key<2>>{true, false}, tensor<int, key<2>>{3, 4}, 7) ==
                tensor<int, key<2>>{3, 7});
  const tensor<float, key<2>> nan{NAN, 1};
  BOOST_TEST((where(nan < 2, nan, 0) == tensor<float, key<2>>{0, 1}));
}

BOOST_AUTO_TEST_CASE(a_softmax_does_not_see_what_is_hidden) {
  using S = tensor<float, query<3>, key<5>>;
  S scores = random<S>(5);
  const tensor<bool, query<3>, key<5>> hidden = scores > 1 || scores < -2;
  const auto weights = softmax<key>(hide(scores, hidden));
  for (std::size_t q = 0; q < 3; ++q)
    for (std::size_t k = 0; k < 5; ++k) BOOST_TEST((weights(q, k) == 0) == hidden(q, k));
  scores(1, 1) = NAN;
  auto all = hidden;
  for (std::size_t k = 0; k < 5; ++k) all(1, k) = true;
  const auto empty = softmax<key>(hide(scores, all));
  for (std::size_t k = 0; k < 5; ++k) BOOST_TEST(empty(1, k) == 0);
}

BOOST_AUTO_TEST_CASE(a_condition_is_a_mask_of_attention) {
  const auto q = random<tensor<float, heads<2>, query<4>, head_dim<8>>>(6);
  const auto k = random<tensor<float, heads<2>, key<6>, head_dim<8>>>(7);
  const tensor<int, key<6>> positions{0, 1, 2, 3, 4, 5};
  const tensor<bool, key<6>> kept{false, false, true, true, false, false};
  const auto expected = scaled_dot_product_attention(q, k, k, keep_mask(kept));
  BOOST_TEST(same_bits(
      scaled_dot_product_attention(q, k, k, keep_mask(positions > 1 && !(positions >= 4))),
      expected));
  BOOST_TEST(same_bits(scaled_dot_product_attention(q, k, k, drop_mask(!kept)), expected));
  BOOST_TEST(
      same_bits(scaled_dot_product_attention(q, k, k, keep_mask(kept) & causal_bottom_right),
                scaled_dot_product_attention(q, k, k, causal_bottom_right & keep_mask(kept))));
}

BOOST_AUTO_TEST_CASE(slices_of_what_is_put_together_are_the_parts) {
  each_shape([]<class X>() {
    const X x = random<X>(8), y = random<X>(9);
    each_axis<X>([&]<template <std::size_t> class Axis>() {
      constexpr std::size_t size = X::template extent<Axis>;
      const auto both = concat<Axis>(x, y, x);
      static_assert(decltype(both)::template extent<Axis> == 3 * size);
      static_assert(decltype(both)::layout::contiguous);
      BOOST_TEST(same_bits(both | slice<Axis, from<0>, extent<size>>, x));
      BOOST_TEST(same_bits(both | slice<Axis, from<size>, extent<size>>, y));
      BOOST_TEST(same_bits(both | slice<Axis, from<2 * size>, extent<size>>, x));
      // Of parts of other sizes, which are views.
      const auto one = x | slice<Axis, from<size - 1>, extent<1>>;
      const auto after = concat<Axis>(one, y);
      BOOST_TEST(same_bits(after | slice<Axis, from<0>, extent<1>>, one));
      BOOST_TEST(same_bits(after | slice<Axis, from<1>, extent<size>>, y));
    });
    each_axis<X>([&]<template <std::size_t> class Axis>() {
      constexpr std::size_t size = X::template extent<Axis>;
      const auto rolled = x | roll<Axis, 1>;
      BOOST_TEST(same_bits(rolled | slice<Axis, from<0>, extent<1>>,
                           x | slice<Axis, from<size - 1>, extent<1>>));
      if constexpr (size > 1)
        BOOST_TEST(same_bits(rolled | slice<Axis, from<1>, extent<size - 1>>,
                             x | slice<Axis, from<0>, extent<size - 1>>));
      BOOST_TEST(same_bits(rolled | roll<Axis, -1>, x));
      BOOST_TEST(same_bits(roll<Axis, -2>(x), roll<Axis, 3 * long{size} - 2>(x)));
      constexpr formula f = [](auto a) { return a * 2 + (a | roll<Axis, -1>); };
      BOOST_TEST(same_bits(f(x), x * 2.0f + roll<Axis, -1>(x)));
    });
    const auto stacked = stack<fresh>(x, y);
    BOOST_TEST(same_bits(stacked | select_at<fresh, 0>, x));
    BOOST_TEST(same_bits(stacked | select_at<fresh, 1>, y));
    const auto turned = orders<X>::reversed::permute;
    BOOST_TEST(same_bits(stack<fresh>(x | turned, y | turned) | select_at<fresh, 1>, y | turned));
  });
  static_assert(roll<key, 1>(tensor<int, key<4>>{1, 2, 3, 4}) == tensor<int, key<4>>{4, 1, 2, 3});
  static_assert(concat<key>(tensor<int, key<1>>{1}, tensor<int, key<2>>{2, 3}) ==
                tensor<int, key<3>>{1, 2, 3});
  using X = tensor<float, query<2>, key<3>>;
  static_assert(concatenable<query, X, X> && !concatenable<batch, X, X>);
  static_assert(!concatenable<query, X, tensor<float, query<2>, key<4>>>);
  static_assert(!concatenable<query, X, tensor<int, query<2>, key<3>>>);
  static_assert(stackable<batch, X, X> && !stackable<query, X, X>);
  static_assert(!stackable<batch, X, tensor<float, query<2>, key<4>>>);
}

BOOST_AUTO_TEST_CASE(rows_of_a_table) {
  const auto table = random<tensor<float, inner<11>, hidden<3>, heads<2>>>(10);
  tensor<std::int64_t, batch<2>, token<4>> ids{3, 0, 10, 3, 7, 1, 2, 9};
  const auto check = [&](const auto& rows) {
    static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(rows)>::layout,
                                 detail::layout<batch<2>, token<4>, hidden<3>, heads<2>>>);
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t t = 0; t < 4; ++t)
        BOOST_TEST(same_bits(rows | select_at<batch>(b) | select_at<token>(t),
                             table | select_at<inner>(ids(b, t))));
  };
  check(lookup(table, ids));
  check(lookup(table | permute<heads, hidden, inner> | contiguous | permute<inner, hidden, heads>,
               ids | permute<token, batch> | contiguous | permute<batch, token>));
  // A row for each: the table by its own numbers, and a product with one_hot.
  tensor<int, token<11>> all{};
  for (int i = 0; i < 11; ++i) all(i) = i;
  BOOST_TEST(same_bits(lookup(table, all), table | rename_axis<inner, token> | contiguous));
  BOOST_TEST(same_bits(contract<inner>(one_hot<inner<11>>(ids), table), lookup(table, ids)));
  // Outside of the table: zeros, and nothing is read.
  ids(0, 1) = -1, ids(1, 0) = 11, ids(1, 3) = std::int64_t{1} << 40;
  const auto some = lookup(table, ids);
  const auto hot = one_hot<classes<11>, int>(ids);
  for (std::size_t t = 0; t < 4; ++t) {
    const bool outside = t == 0 || t == 3;
    BOOST_TEST((max<hidden, heads>(abs(some | select_at<batch, 1> | select_at<token>(t)))() == 0) ==
               outside);
    BOOST_TEST((sum<classes>(hot | select_at<batch, 1> | select_at<token>(t))() == 0) == outside);
  }
  static_assert((tensor<int, key<2>>{2, 0} | one_hot<classes<3>>) ==
                tensor<float, key<2>, classes<3>>{0, 0, 1, 1, 0, 0});
  static_assert(one_hot<classes<3>, bool>(tensor<unsigned char, key<2>>{2, 0}) ==
                tensor<bool, key<2>, classes<3>>{false, false, true, true, false, false});
}

BOOST_AUTO_TEST_CASE(elements_by_integers) {
  auto x = random<tensor<float, heads<2>, inner<11>, query<3>>>(60);
  tensor<long, query<3>, key<4>> at{};
  for (std::size_t i = 0; i < 12; ++i) at.data()[i] = static_cast<long>(i * 7 % 14) - 1;
  const auto check = [&](const tensor<float, heads<2>, key<4>, query<3>>& found) {
    bool same = true;
    for (std::size_t h = 0; h < 2; ++h)
      for (std::size_t q = 0; q < 3; ++q)
        for (std::size_t k = 0; k < 4; ++k) {
          const long i = at(q, k);
          same = same &&
                 found(h, k, q) == (i < 0 || i > 10 ? 0.0f : x(h, static_cast<std::size_t>(i), q));
        }
    BOOST_TEST(same);
  };
  check(gather<inner>(x, at));
  check(gather<inner>(x | permute<query, heads, inner> | contiguous | permute<heads, inner, query>,
                      at | permute<key, query>));
  // Along one axis of both; of integers; of a row for all.
  const auto turned = gather<inner>(x, tensor<int, inner<2>>{10, 0});
  static_assert(
      std::is_same_v<decltype(turned), const tensor<float, heads<2>, inner<2>, query<3>>>);
  BOOST_TEST((turned(1, 0, 2) == x(1, 10, 2) && turned(1, 1, 2) == x(1, 0, 2)));
  static_assert(gather<key>(tensor<int, key<3>>{7, 8, 9}, tensor<int, token<2>>{2, 0}) ==
                tensor<int, token<2>>{9, 7});
  BOOST_TEST(same_bits(gather<inner>(x, tensor<int>{4}), x | select_at<inner, 4> | contiguous));
}

BOOST_AUTO_TEST_SUITE_END()
