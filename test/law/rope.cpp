// SPDX-License-Identifier: BSL-1.0
// Tables of rotary positions: their bits are the same whether the compiler computes them or the
// program does before main, they are right at every position, and a cache of LLaMA's size has one.
// Not here: which features make a pair (golden/attention).
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <class T, std::size_t Positions, std::size_t Pairs, std::size_t Base>
void check_bits() {
  using table = detail::rope_table<T, Positions, Pairs, Base>;
  static constexpr table by_the_compiler{};
  static const table before_main{detail::at_start{}};
  BOOST_TEST(std::memcmp(&by_the_compiler, &before_main, sizeof(table)) == 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rope_laws)

BOOST_AUTO_TEST_CASE(the_same_bits_at_start) {
  check_bits<float, 300, 64, 10000>();
  check_bits<double, 300, 20, 10000>();
  check_bits<float, 100, 5, 500000>();
  check_bits<std::int16_t, 300, 64, 10000>();  // of integers
}

// Of LLaMA: 4096 positions of 128 features.
BOOST_AUTO_TEST_CASE(right_at_every_position) {
  constexpr std::size_t positions = 4096, pairs = 64;
  const auto& table = detail::rope_turns<float, positions, pairs, 10000>();
  double worst = 0;
  for (std::size_t p = 0; p < positions; ++p)
    for (std::size_t i = 0; i < pairs; ++i) {
      const long double angle =
          static_cast<long double>(p) *
          std::pow(10000.0L, -2.0L * static_cast<long double>(i) / (2 * pairs));
      const auto error = [](float is, long double wanted) {
        return std::fabs(static_cast<double>(static_cast<long double>(is) - wanted));
      };
      worst = std::max(worst, error(table.cosine[p * pairs + i], std::cos(angle)));
      worst = std::max(worst, error(table.sine[p * pairs + i], std::sin(angle)));
    }
  BOOST_TEST(worst < 3.1e-8);  // half a unit in the last place of 1, and what double adds
}

BOOST_AUTO_TEST_CASE(cache_of_llamas_size) {
  using layer = multi_head_attention<float, hidden<8>, heads<1>, head_dim<128>, rope<split_halves>,
                                     bias<false>>;
  lcg next{3};
  static const auto w = drawn_weights<layer>(next);
  static key_value_cache<layer, key<4096>> past;
  const auto x = drawn<tensor<float, token<10>, hidden<8>>>(next, 2);
  const auto wanted = layer{w}(x, causal);
  tensor<float, token<10>, hidden<8>> out{};
  for (std::size_t t = 0; t < 10; ++t) {
    const view<const float, token<1>, hidden<8>> from(x.data() + t * 8);
    const view<float, token<1>, hidden<8>> to(out.data() + t * 8);
    BOOST_TEST_REQUIRE(past.step(to, layer{w}, from));
  }
  BOOST_TEST(same_bits(out, wanted));
}

namespace {

using heads_of_queries = tensor<float, batch<2>, query<7>, heads<3>, head_dim<10>>;

// By hand: features first(i) and second(i) of each row turn by position times base^(-2 i / width).
template <class First, class Second>
heads_of_queries turned(const heads_of_queries& x, std::size_t base, std::size_t width, First first,
                        Second second) {
  heads_of_queries y = x;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t q = 0; q < 7; ++q)
      for (std::size_t h = 0; h < 3; ++h)
        for (std::size_t i = 0; i < width / 2; ++i) {
          const double angle = static_cast<double>(q) *
                               std::pow(static_cast<double>(base),
                                        -2.0 * static_cast<double>(i) / static_cast<double>(width));
          const float c = static_cast<float>(std::cos(angle)),
                      s = static_cast<float>(std::sin(angle));
          const float u = x(b, q, h, first(i)), v = x(b, q, h, second(i));
          y(b, q, h, first(i)) = detail::simd::fma(u, c, -(v * s));
          y(b, q, h, second(i)) = detail::simd::fma(v, c, u * s);
        }
  return y;
}

template <class X>
X random(std::uint32_t seed) {
  lcg next{seed};
  return drawn<X>(next, 2);
}

}  // namespace

BOOST_AUTO_TEST_CASE(rotate_is_the_loop) {
  const auto x = random<heads_of_queries>(5);
  const auto here = [](std::size_t i) { return i; };
  const auto halves = turned(x, 10000, 10, here, [](std::size_t i) { return i + 5; });
  const auto pairs = turned(
      x, 500, 6, [](std::size_t i) { return 2 * i; }, [](std::size_t i) { return 2 * i + 1; });
  BOOST_TEST(same_bits(rotate<split_halves, query, head_dim>(x), halves));
  BOOST_TEST(same_bits(x | rotate<rope<adjacent_pairs, 500, 6>, query, head_dim>, pairs));
  // In any order of the axes, and in place.
  const auto order = permute<head_dim, batch, heads, query>;
  BOOST_TEST(
      same_bits((x | order | rotate<split_halves, query, head_dim>), halves | order | contiguous));
  auto y = x;
  rotate<rope<adjacent_pairs, 500, 6>, query, head_dim>().into(y, y);
  BOOST_TEST(same_bits(y, pairs));
  // Lengths are kept, and distances are all that a product of two sees.
  const auto squares = [](const auto& of) { return sum<head_dim>(of * of); };
  BOOST_TEST((max<batch, query, heads>(abs(squares(x) - squares(halves)))() < 1e-5f));
}

BOOST_AUTO_TEST_CASE(rotate_by_given_angles) {
  const auto x = random<heads_of_queries>(6);
  const auto cosines = rope_cosines<split_halves, token<100>, head_dim<10>>();
  const auto sines = rope_sines<split_halves, token<100>, head_dim<10>>();
  static_assert(decltype(cosines)::extent<head_dim> == 5);
  const auto first = slice<token, from<0>, extent<7>>;
  const auto at_queries = rename_axis<token, query>;
  BOOST_TEST(same_bits(
      (rotate<split_halves, head_dim>(x, cosines | first | at_queries, sines | first | at_queries)),
      rotate<split_halves, query, head_dim>(x)));
  // Positions of run time, another for each sequence; in any order of the axes.
  const tensor<int, query<7>, batch<2>> positions{{0, 90}, {1, 91}, {2, 92}, {3, 93},
                                                  {4, 94}, {5, 95}, {6, 96}};
  const auto far =
      rotate<adjacent_pairs, head_dim>(x, lookup(cosines, positions), lookup(sines, positions));
  BOOST_TEST(same_bits((rotate<adjacent_pairs, token<100>, head_dim>(x, positions)), far));
  const auto near = rotate<adjacent_pairs, query, head_dim>(x);
  for (std::size_t q = 0; q < 7; ++q) BOOST_TEST(far(0u, q, 1u, 3u) == near(0u, q, 1u, 3u));
  const auto apart = [](const auto& y, std::size_t b) {  // of query 6 from query 2
    float product = 0;
    for (std::size_t d = 0; d < 10; ++d) product += y(b, 2u, 1u, d) * y(b, 6u, 1u, d);
    return product;
  };
  BOOST_TEST(std::fabs(apart(far, 1) - apart(near, 1)) < 1e-4f);
  // Fewer pairs leave the rest.
  const tensor<float, head_dim<2>> quarter{0, 0}, one{1, 1};
  const auto part = rotate<split_halves, head_dim>(x, quarter, one);
  for (std::size_t d = 4; d < 10; ++d) BOOST_TEST(part(1u, 2u, 1u, d) == x(1u, 2u, 1u, d));
  BOOST_TEST(part(1u, 2u, 1u, 0u) == -x(1u, 2u, 1u, 2u));
  BOOST_TEST(part(1u, 2u, 1u, 3u) == x(1u, 2u, 1u, 1u));
  constexpr auto constant =
      rotate<adjacent_pairs, key, head_dim>(tensor<float, key<2>, head_dim<2>>{1, 0, 1, 0});
  BOOST_TEST(constant(1, 1) == std::sin(1.0f));
}

BOOST_AUTO_TEST_CASE(rotate_by_positions) {
  const auto x = random<heads_of_queries>(8);
  const tensor<int, query<7>> counted{0, 1, 2, 3, 4, 5, 6};
  BOOST_TEST(same_bits((rotate<split_halves, token<7>, head_dim>(x, counted)),
                       rotate<split_halves, query, head_dim>(x)));
  // Another base, fewer features, another order of the axes, one position for all.
  using some = rope<adjacent_pairs, 500, 6>;
  BOOST_TEST(
      same_bits((rotate<some, token<50>, head_dim>(x, counted)), rotate<some, query, head_dim>(x)));
  const auto order = permute<head_dim, batch, heads, query>;
  BOOST_TEST(same_bits((rotate<some, token<50>, head_dim>(x | order, counted)),
                       rotate<some, query, head_dim>(x) | order | contiguous));
  const auto at_5 = rotate<split_halves, token<9>, head_dim>(x, tensor<long>{5});
  const auto all = rotate<split_halves, query, head_dim>(x);
  for (std::size_t d = 0; d < 10; ++d) BOOST_TEST(at_5(1u, 5u, 2u, d) == all(1u, 5u, 2u, d));
  // Outside of the table what is turned is zeros, the rest is as it was.
  const auto outside = rotate<some, token<7>, head_dim>(x, tensor<int, heads<3>>{7, -1, 0});
  for (std::size_t d = 0; d < 10; ++d) {
    BOOST_TEST(outside(0u, 3u, 0u, d) == (d < 6 ? 0 : x(0u, 3u, 0u, d)));
    BOOST_TEST(outside(0u, 3u, 1u, d) == (d < 6 ? 0 : x(0u, 3u, 1u, d)));
    BOOST_TEST(outside(0u, 3u, 2u, d) == x(0u, 3u, 2u, d));
  }
  constexpr auto constant = rotate<adjacent_pairs, token<3>, head_dim>(
      tensor<float, key<2>, head_dim<2>>{1, 0, 1, 0}, tensor<int, key<2>>{1, 0});
  BOOST_TEST(constant(0, 1) == std::sin(1.0f));
  BOOST_TEST(constant(1, 0) == 1);
}

// The whole layer spelled out.
BOOST_AUTO_TEST_CASE(a_layer_with_rope_as_a_formula) {
  const auto check = [](auto pairing) {
    using kind = decltype(pairing);
    using layer =
        multi_head_attention<float, hidden<24>, heads<3>, rope<kind, 500, 6>, bias<false>>;
    lcg next{7};
    static const auto w = drawn_weights<layer>(next);
    const auto x = random<tensor<float, batch<2>, token<9>, hidden<24>>>(8);
    constexpr formula attend = [](auto x, const auto& w) {
      constexpr auto heads_of = [](auto projected) {
        return projected | split<hidden, heads<3>, head_dim>;
      };
      constexpr auto order = permute<batch, heads, token, head_dim>;
      constexpr auto turn = rotate<rope<kind, 500, 6>, token, head_dim>();
      auto q = turn(heads_of(x * w.q)) | order | rename_axis<token, query>;
      auto k = turn(heads_of(x * w.k)) | order | rename_axis<token, key>;
      auto v = heads_of(x * w.v) | order | rename_axis<token, key>;
      auto context = contract<key>(softmax<key>(contract<head_dim>(q, k) * rsqrt(8.0f)), v);
      return (context | rename_axis<query, token> | permute<batch, token, heads, head_dim> |
              contiguous | merge<heads, head_dim, hidden>)*w.o;
    };
    const auto wanted = layer{w}(x);
    BOOST_TEST(same_bits(attend(x, w), wanted));
    BOOST_TEST(same_bits(plain(attend)(x, w), wanted));
  };
  check(split_halves{});
  check(adjacent_pairs{});
}

BOOST_AUTO_TEST_SUITE_END()
