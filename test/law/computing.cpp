// SPDX-License-Identifier: BSL-1.0
// Laws of elementwise arithmetic and contraction, against loops written by hand: bit for bit.
#include "../support/random.hpp"
#include "shapes.hpp"

#include <boost/test/unit_test.hpp>

#include <bit>
#include <chrono>
#include <cstdint>

using namespace law;

namespace {

template <class X>
X random(std::uint32_t seed) {
  umbel_test::lcg next{seed};
  return umbel_test::drawn<X>(next, 3);
}

// The same axes and the same bits?
template <class X, class Y>
bool same_bits(const X& x, const Y& y) {
  bool same = same_shape<X, Y>;
  if constexpr (same_shape<X, Y>)
    each_position(x, [&](const auto& index) {
      using bits =
          std::conditional_t<sizeof(typename X::value_type) == 4, std::uint32_t, std::uint64_t>;
      same = same && std::bit_cast<bits>(entry(x, index)) == std::bit_cast<bits>(entry(y, index));
    });
  return same;
}

// One chain of fused multiply-adds from 0, along steps of two arrays.
template <class T>
T chain(const T* a, std::size_t a_step, const T* b, std::size_t b_step, std::size_t count) {
  T sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    sum = detail::simd::fma(a[i * a_step], b[i * b_step], sum);
  return sum;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(computing)

BOOST_AUTO_TEST_CASE(elementwise_is_the_loop) {
  each_shape([]<class X>() {
    const X x = random<X>(1), y = random<X>(2) + 8;
    X sum{}, difference{}, product{}, quotient{}, negative{}, scaled{};
    for (std::size_t i = 0; i < X::layout::count; ++i) {
      const float a = x.data()[i], b = y.data()[i];
      sum.data()[i] = a + b;
      difference.data()[i] = a - b;
      product.data()[i] = a * b;
      quotient.data()[i] = a / b;
      negative.data()[i] = -a;
      scaled.data()[i] = a * 0.1f;
    }
    BOOST_TEST(same_bits(x + y, sum));
    BOOST_TEST(same_bits(x - y, difference));
    BOOST_TEST(same_bits(x * y, product));
    BOOST_TEST(same_bits(x / y, quotient));
    BOOST_TEST(same_bits(-x, negative));
    BOOST_TEST(same_bits(x * 0.1, scaled));  // the scalar is rounded to float first
    BOOST_TEST(same_bits(0.1f * x, scaled));
    // Views are computed with as they are, by name; the result is row-major.
    const auto turned = (x | orders<X>::reversed::permute) + (y | orders<X>::reversed::permute);
    static_assert(decltype(turned)::layout::contiguous);
    BOOST_TEST(same_bits(turned, sum | orders<X>::reversed::permute));
  });
}

BOOST_AUTO_TEST_CASE(assignments_are_the_operations) {
  each_shape([]<class X>() {
    const X x = random<X>(1), y = random<X>(2) + 8;
    const auto after = [&](auto&& change) {
      X z = x;
      change(z);
      return z;
    };
    BOOST_TEST(same_bits(after([&](X& z) { z += y; }), x + y));
    BOOST_TEST(same_bits(after([&](X& z) { z -= y; }), x - y));
    BOOST_TEST(same_bits(after([&](X& z) { z *= y; }), x * y));
    BOOST_TEST(same_bits(after([&](X& z) { z /= y; }), x / y));
    BOOST_TEST(same_bits(after([&](X& z) { (z *= 3) += 0.5; }), x * 3 + 0.5));
    BOOST_TEST(same_bits(after([&](X& z) { (z -= 2) /= 0.25f; }), (x - 2) / 0.25f));
    // Of and to views that lie in any way.
    const auto turned = orders<X>::reversed::permute;
    BOOST_TEST(same_bits(after([&](X& z) { (z | turned) += y | turned; }), x + y));
    const auto moved = contiguous(y | turned);
    // A view that is no lvalue comes back by value.
    static_assert(std::is_same_v<decltype((std::declval<X&>() | turned) += 1),
                                 decltype(std::declval<X&>() | turned)>);
    static_assert(std::is_same_v<decltype(std::declval<X&>() += 1), X&>);
    BOOST_TEST(same_bits(after([&](X& z) { (z | turned) -= moved; }), x - y));
  });
}

BOOST_AUTO_TEST_CASE(scalars_on_the_right) {
  const tensor<float, query<3>> x{1.f, -2.f, 0.5f};
  BOOST_TEST((x + 2 == tensor<float, query<3>>{3.f, 0.f, 2.5f}));
  BOOST_TEST((x - 2 == tensor<float, query<3>>{-1.f, -4.f, -1.5f}));
  BOOST_TEST((x / 4 == tensor<float, query<3>>{0.25f, -0.5f, 0.125f}));
  BOOST_TEST((tensor<int, query<2>>{7, -7} / 2 == tensor<int, query<2>>{3, -3}));
}

BOOST_AUTO_TEST_CASE(scalars_on_the_left) {
  const tensor<float, query<3>> x{1.f, -2.f, 0.5f};
  BOOST_TEST((2 + x == x + 2));
  BOOST_TEST((2 - x == tensor<float, query<3>>{1.f, 4.f, 1.5f}));
  BOOST_TEST((3 * x == x * 3));
  BOOST_TEST((1 / x == tensor<float, query<3>>{1.f, -0.5f, 2.f}));
  BOOST_TEST((7 / tensor<int, query<2>>{2, -2} == tensor<int, query<2>>{3, -3}));
}

BOOST_AUTO_TEST_CASE(contract_is_the_chain_by_hand) {
  hana::for_each(hana::tuple_c<std::size_t, 1, 2, 7, 15, 16, 17, 31, 64>, [](auto length) {
    constexpr std::size_t n = decltype(length)::value;
    const auto x = random<tensor<float, batch<2>, query<3>, hidden<n>>>(n);
    const auto y = random<tensor<float, batch<2>, key<5>, hidden<n>>>(n + 100);
    const auto xy = contract<hidden>(x, y);
    tensor<float, batch<2>, query<3>, key<5>> by_hand{};
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t q = 0; q < 3; ++q)
        for (std::size_t k = 0; k < 5; ++k)
          by_hand(b, q, k) = chain(x.data() + (b * 3 + q) * n, 1, y.data() + (b * 5 + k) * n, 1, n);
    BOOST_TEST(same_bits(xy, by_hand));

    const auto w = random<tensor<double, hidden<n>, classes<7>>>(n);
    const auto v = random<tensor<double, query<3>, hidden<n>>>(n + 1);
    tensor<double, query<3>, classes<7>> product{};
    for (std::size_t q = 0; q < 3; ++q)
      for (std::size_t c = 0; c < 7; ++c)
        product(q, c) = chain(v.data() + q * n, 1, w.data() + c, 7, n);
    BOOST_TEST(same_bits(contract<hidden>(v, w), product));
  });
}

// Each axis of each shape with another tensor of that axis and one more: the other axes stay.
BOOST_AUTO_TEST_CASE(contract_over_any_axis) {
  each_shape([]<class X>() {
    const X x = random<X>(3);
    each_axis<X>([&]<template <std::size_t> class Axis>() {
      constexpr std::size_t at = X::layout::template position<axis_family<Axis>>;
      constexpr std::size_t size = X::layout::extents[at];
      const auto w = random<tensor<float, fresh<3>, Axis<size>>>(4);
      const auto r = contract<Axis>(x, w);
      static_assert(rank<decltype(r)> == rank<X>);
      bool right = true;
      each_position(r, [&](const auto& index) {
        std::array<std::size_t, rank<X>> start{};  // kept axes, then fresh
        for (std::size_t i = 0, from = 0; i < rank<X>; ++i) start[i] = i == at ? 0 : index[from++];
        const float sum = chain(&entry(x, start), X::layout::strides[at],
                                w.data() + index[rank<X> - 1] * size, 1, size);
        right = right &&
                std::bit_cast<std::uint32_t>(sum) == std::bit_cast<std::uint32_t>(entry(r, index));
      });
      BOOST_TEST(right);
    });
  });
}

BOOST_AUTO_TEST_CASE(contract_is_symmetric_up_to_the_order_of_axes) {
  const auto x = random<tensor<float, batch<2>, heads<3>, query<5>, head_dim<17>>>(5);
  const auto y = random<tensor<float, key<7>, batch<2>, head_dim<17>>>(6);
  const auto xy = contract<head_dim>(x, y);
  const auto yx = contract<head_dim>(y, x);
  static_assert(
      std::is_same_v<decltype(xy), const tensor<float, batch<2>, heads<3>, query<5>, key<7>>>);
  static_assert(
      std::is_same_v<decltype(yx), const tensor<float, key<7>, batch<2>, heads<3>, query<5>>>);
  BOOST_TEST(same_bits(xy, yx | permute<batch, heads, query, key>));
}

// Strides and owners do not matter: views, temporaries and copies give the same bits.
BOOST_AUTO_TEST_CASE(contract_of_views) {
  const auto x = random<tensor<float, batch<2>, query<4>, hidden<30>>>(7);
  const auto y = random<tensor<float, batch<2>, key<6>, hidden<30>>>(8);
  const auto q = x | split<hidden, heads<5>, head_dim> | permute<batch, heads, query, head_dim>;
  const auto k = y | split<hidden, heads<5>, head_dim> | permute<batch, heads, key, head_dim>;
  const auto scores = contract<head_dim>(q, k);
  BOOST_TEST(same_bits(scores, contract<head_dim>(contiguous(q), contiguous(k))));
  BOOST_TEST(same_bits(scores, contract<head_dim>(x * 1 | split<hidden, heads<5>, head_dim> |
                                                      permute<batch, heads, query, head_dim>,
                                                  k)));
  BOOST_TEST(scores(1, 4, 3, 5) == chain(x.data() + (1 * 4 + 3) * 30 + 4 * 6, 1,
                                         y.data() + (1 * 6 + 5) * 30 + 4 * 6, 1, 6));
}

BOOST_AUTO_TEST_CASE(contract_with_a_broadcast_is_a_scaled_sum) {
  const tensor<float, query<3>> x{1.f, 2.f, 4.f};
  const tensor<float> half{0.5f};
  BOOST_TEST(contract<query>(x, half | broadcast<query<3>>)() == 3.5f);
}

// In the order in which they are named, the last one fastest.
BOOST_AUTO_TEST_CASE(contract_over_several_axes) {
  const auto x = random<tensor<float, query<7>, heads<3>, head_dim<20>>>(9);
  const auto y = random<tensor<float, key<33>, heads<3>, head_dim<20>>>(10);
  const auto merged =
      contract<hidden>(x | merge<heads, head_dim, hidden>, y | merge<heads, head_dim, hidden>);
  BOOST_TEST(same_bits(contract<heads, head_dim>(x, y), merged));
  const auto turned = contiguous(y | permute<head_dim, key, heads>);
  BOOST_TEST(same_bits(contract<heads, head_dim>(x, turned), merged));
  tensor<float, query<7>, key<33>> other;
  for (std::size_t i = 0; i < 7; ++i) {
    for (std::size_t j = 0; j < 33; ++j) {
      float chain = 0;
      for (std::size_t d = 0; d < 20; ++d)
        for (std::size_t h = 0; h < 3; ++h)
          chain = detail::simd::fma(x(i, h, d), y(j, h, d), chain);
      other(i, j) = chain;
    }
  }
  BOOST_TEST(same_bits(contract<head_dim, heads>(x, y), other));
  BOOST_TEST(!same_bits(other, merged));
  BOOST_TEST((contract<query, heads, head_dim>(x, x)() ==
              contract<token>(x | reshape<token<420>>, x | reshape<token<420>>)()));
}

// Integers are exact: not rounded to float on the way.
BOOST_AUTO_TEST_CASE(contract_of_integers) {
  const tensor<int, query<2>> x{16777217, 3};
  const tensor<int, query<2>, key<2>> y{1, 2, 5, -1};
  BOOST_TEST((contract<query>(x, y) == tensor<int, key<2>>{16777232, 33554431}));
}

// x | f is f(x), also of a function of one's own.
BOOST_AUTO_TEST_CASE(functions_in_a_pipe) {
  auto x = random<tensor<float, query<3>, hidden<4>>>(5);
  const auto twice = [](const auto& z) { return z + z; };
  BOOST_TEST(same_bits(x | twice | contiguous, x + x));
  BOOST_TEST(same_bits(x | permute<hidden, query> | twice, twice(x | permute<hidden, query>)));
  const auto transpose = [](auto&& z) { return z | permute<hidden, query> | contiguous; };
  BOOST_TEST(same_bits((x + 1) | transpose, (x + 1) | permute<hidden, query> | contiguous));
}

// Operators of one's own, of what a tensor turns into, are left alone; and elements with a sum need
// no product.
struct total {
  int value = 0;
  total() = default;
  total(const tensor<int, query<2>>& x) : value(x(0) + x(1)) {}
  friend total operator+(const total& a, const total& b) {
    total sum;
    sum.value = a.value + b.value;
    return sum;
  }
};

BOOST_AUTO_TEST_CASE(arithmetic_of_others) {
  const tensor<int, query<2>> x{1, 2};
  BOOST_TEST((x + total{x}).value == 6);
  using std::chrono::seconds;
  const tensor<seconds, query<2>> times{seconds{1}, seconds{2}};
  BOOST_TEST(((times + times)(1) == seconds{4}));
}

BOOST_AUTO_TEST_SUITE_END()
