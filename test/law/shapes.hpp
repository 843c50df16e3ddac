// SPDX-License-Identifier: BSL-1.0
// The shapes that the laws are tried on (primes, ones, sizes around a vector register, ranks 0 to
// 5), and independent index arithmetic to try them against. Not here: any law.
#pragma once

#include <boost/hana.hpp>
#include <umbel/shape/axes.hpp>
#include <umbel/shape/hana.hpp>
#include <umbel/tensor/arithmetic.hpp>
#include <umbel/tensor/contract.hpp>
#include <umbel/tensor/copy.hpp>
#include <umbel/tensor/interop.hpp>
#include <umbel/tensor/reshape.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

namespace law {

namespace hana = boost::hana;
using namespace umbel;
using namespace umbel::axes;

template <std::size_t N>
struct outer : axis<outer, N> {};
template <std::size_t N>
struct inner : axis<inner, N> {};
template <std::size_t N>
struct fresh : axis<fresh, N> {};

template <class T>
inline constexpr auto shapes_of = hana::tuple_t<
    tensor<T>, tensor<T, query<1>>, tensor<T, query<7>>, tensor<T, query<17>, batch<3>>,
    tensor<T, batch<1>, query<13>, hidden<16>>, tensor<T, batch<2>, query<4>, hidden<100>>,
    tensor<T, query<31>, hidden<1>, key<33>>, tensor<T, batch<2>, query<1>, heads<3>, head_dim<15>>,
    tensor<T, batch<2>, heads<3>, query<5>, key<7>, head_dim<4>>,
    tensor<T, batch<1>, heads<1>, query<1>, key<1>, head_dim<1>>>;

// f.operator()<Shape>() for each shape.
template <class F>
void each_shape(F f) {
  hana::for_each(shapes_of<float>,
                 [&](auto type) { f.template operator()<typename decltype(type)::type>(); });
}

// f.operator()<Axis>() for each axis of a shape: a class template over its size.
template <class F, template <std::size_t> class Axis>
void with_axis(F& f, axis_family<Axis>) {
  f.template operator()<Axis>();
}
template <class X, class F>
void each_axis(F f) {
  hana::for_each(dims(X{}), [&](auto axis) { with_axis(f, typename decltype(axis)::family{}); });
}

// 0, 1, 2...: each element is its own position in memory.
template <class X>
constexpr X counted() {
  X x{};
  for (std::size_t i = 0; i < X::layout::span; ++i)
    x.data()[i] = static_cast<typename X::value_type>(i);
  return x;
}

template <class X>
inline constexpr std::size_t rank = std::remove_cvref_t<X>::layout::rank;

template <class X, std::size_t Rank>
decltype(auto) entry(X&& x, const std::array<std::size_t, Rank>& index) {
  return std::apply([&](auto... i) -> decltype(auto) { return x(i...); }, index);
}

// Every position of x, as an array, the last axis fastest.
template <class X, class F>
void each_position(const X&, F f) {
  std::array<std::size_t, rank<X>> index{};
  for (;;) {
    f(index);
    std::size_t axis = rank<X>;
    while (axis > 0 && ++index[axis - 1] == X::layout::extents[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

// Do x and y have the same axes and the same elements?
template <class X, class Y>
bool equal(const X& x, const Y& y) {
  if constexpr (!same_shape<X, Y>) {
    return false;
  } else {
    bool all = true;
    each_position(x, [&](const auto& index) { all = all && entry(x, index) == entry(y, index); });
    return all;
  }
}

// The library's permute by a list of families.
template <class... Families>
struct order;
template <template <std::size_t> class... Axes>
struct order<axis_family<Axes>...> {
  static constexpr auto permute = umbel::permute<Axes...>;
};

template <class X, class Sequence>
struct orders_of;
template <class X, std::size_t... I>
struct orders_of<X, std::index_sequence<I...>> {
  template <std::size_t Position>
  using family = typename X::layout::template axis_at<Position>::family;
  using same = order<family<I>...>;
  template <std::size_t Turn>
  using turned = order<family<(I + Turn) % sizeof...(I)>...>;
  using reversed = order<family<sizeof...(I) - 1 - I>...>;
};
template <class X>
using orders = orders_of<X, std::make_index_sequence<rank<X>>>;

}  // namespace law
