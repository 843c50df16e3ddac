// SPDX-License-Identifier: BSL-1.0
// Attention by blocks of queries beside its weights, stored, and their product with the values.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <umbel/umbel.hpp>
#include <utility>

namespace umbel_test {

using namespace umbel;
using namespace umbel::axes;

template <class X, class Y>
bool same_bits(const X& x, const Y& y) {
  static_assert(std::is_same_v<X, Y>);
  return std::memcmp(x.data(), y.data(), sizeof x) == 0;
}

template <class X>
void fill(X& x, unsigned seed) {
  for (auto& f : x) {
    seed = seed * 1664525u + 1013904223u;
    f = static_cast<std::remove_cvref_t<decltype(f)>>(static_cast<float>(seed >> 8) * 0x1p-23f -
                                                      1.0f);
  }
}

inline constexpr formula of_context = [](auto w, auto v) { return contract<key>(w, v); };

// Is f(x..., v) the context of stored(x...), which gives the weights? Fast, plain, and the same in
// blocks as by several workers, one after another.
struct by_turns {
  static constexpr std::size_t workers = 2;
  template <class F>
  void operator()(std::size_t count, F f) const {
    for (std::size_t i = count; i-- > 0;) f(i, i % 2);
  }
};
template <class F, class G, class V, class... X>
bool is_context(const F& f, const G& stored, const V& v, const X&... x) {
  static workspace_for<F, X..., V> work;
  static workspace_for<F, X..., V> works[2];
  static workspace_for<G, X...> larger;
  const auto weights = stored(x..., larger);
  const auto expected = of_context(weights, v);
  auto in_parts = expected;
  for (auto& e : in_parts) e = 0;
  by_turns pool;
  f.into(in_parts, x..., v, parallel(pool, works));
  return same_bits(f(x..., v, work), expected) && same_bits(plain(f)(x..., v, work), expected) &&
         same_bits(in_parts, expected);
}

template <std::size_t Queries, std::size_t Keys>
struct inputs {
  tensor<float, batch<2>, heads<3>, query<Queries>, head_dim<8>> q;
  tensor<float, batch<2>, heads<3>, key<Keys>, head_dim<8>> k;
  tensor<float, batch<2>, heads<3>, key<Keys>, value_dim<5>> v;
  inputs() { fill(q, 1), fill(k, 2), fill(v, 3); }
};

// Formulas of weights, weights(q, k, x...), whose product with the values stores no pairs.
template <std::size_t Queries, std::size_t Keys, class Weights, class... More>
void check_weights(Weights, const More&... more) {
  static const inputs<Queries, Keys> in;
  static constexpr Weights weights{};
  constexpr formula stored = weights;
  constexpr formula f = [](auto q, auto k, auto... x) {
    const auto apart = std::tuple{x...};
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return contract<key>(weights(q, k, std::get<I>(apart)...), std::get<sizeof...(I)>(apart));
    }(std::make_index_sequence<sizeof...(x) - 1>{});
  };
  BOOST_TEST(is_context(f, stored, in.v, in.q, in.k, more...));
  using workspace =
      workspace_for<decltype(f), decltype(in.q), decltype(in.k), More..., decltype(in.v)>;
  BOOST_TEST(sizeof(workspace) <
             sizeof(tensor<float, batch<2>, heads<3>, query<Queries>, key<Keys>>));
}

}  // namespace umbel_test
