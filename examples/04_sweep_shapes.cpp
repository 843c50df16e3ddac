// SPDX-License-Identifier: BSL-1.0
// Many shapes in one program: Boost.Hana makes every combination of some sizes and drops those that
// don't split; for the others, the layer is compared with its handwritten form
// (02_spelled_out.cpp).
#include <boost/hana.hpp>
#include <cstdio>
#include <umbel/umbel.hpp>

namespace hana = boost::hana;
using namespace umbel;
using namespace umbel::axes;

// A sweep is a tuple of tuples of axes.
constexpr auto all = hana::cartesian_product(hana::make_tuple(
    hana::tuple_t<batch<1>, batch<3>>, hana::tuple_t<query<4>, query<17>>, hana::tuple_t<key<6>>,
    hana::tuple_t<hidden<24>>, hana::tuple_t<heads<2>, heads<4>, heads<5>>));

// 24 features in 5 heads: asks first, as in `if constexpr`.
constexpr auto splits = [](auto b, auto q, auto, auto h, auto n) {
  using queries = typename decltype(tensor_from<float>(hana::make_tuple(b, q, h)))::type;
  return hana::bool_c<splittable<queries, hidden, typename decltype(n)::type>>;
};
constexpr auto grid = hana::filter(all, hana::fuse(splits));
static_assert(hana::length(all) == hana::size_c<12> && hana::length(grid) == hana::size_c<8>);

static float random_number() {
  static unsigned state = 1;
  state = state * 1664525u + 1013904223u;
  return static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
}

template <class Heads, class Weights, class Queries, class Context>
static Queries attend_by_hand(const Weights& w, const Queries& x, const Context& y) {
  auto q = x * w.q | split<hidden, Heads, head_dim> | permute<batch, heads, query, head_dim>;
  auto k = y * w.k | split<hidden, Heads, head_dim> | permute<batch, heads, key, head_dim>;
  auto v = y * w.v | split<hidden, Heads, head_dim> | permute<batch, heads, key, head_dim>;
  auto width = extents(q)[family_c<head_dim>];  // a hana::size_c
  auto scores = contract<head_dim>(q, k) * detail::simd::rsqrt(static_cast<float>(width.value));
  return (contract<key>(softmax<key>(scores), v) | permute<batch, query, heads, head_dim> |
          contiguous | merge<heads, head_dim, hidden>)*w.o;
}

template <class Attention, class Heads, class Queries, class Context>
static float largest_difference() {
  static typename Attention::weights w;
  static Queries x;
  static Context y;
  for (auto* map : {&w.q, &w.k, &w.v, &w.o})
    for (float& f : map->weight) f = random_number() / 4;
  for (float& f : x) f = random_number();
  for (float& f : y) f = random_number();
  float worst = 0;
  for_each(
      [&](float a, float b) {
        worst = detail::simd::larger(detail::simd::larger(a - b, b - a), worst);
      },
      Attention{w}(x, y, y), attend_by_hand<Heads>(w, x, y));
  return worst;
}

int main() {
  float worst = 0;
  hana::for_each(
      grid, hana::fuse([&](auto b, auto q, auto k, auto h, auto n) {
        using queries = typename decltype(tensor_from<float>(hana::make_tuple(b, q, h)))::type;
        using context = typename decltype(tensor_from<float>(hana::make_tuple(b, k, h)))::type;
        using split_heads = typename decltype(n)::type;
        using attention = multi_head_attention<float, typename decltype(h)::type, split_heads>;
        const float difference = largest_difference<attention, split_heads, queries, context>();
        hana::for_each(dims(hana::type_c<queries>),
                       [](auto axis) { std::printf("%4zu", decltype(axis)::size); });
        std::printf("  %zu heads: %g\n", split_heads::size, static_cast<double>(difference));
        worst = detail::simd::larger(difference, worst);
      }));
  return worst < 1e-6f ? 0 : 1;
}
