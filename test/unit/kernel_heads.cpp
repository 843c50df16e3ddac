// SPDX-License-Identifier: BSL-1.0
// Few queries of many heads, a group of lanes each, and heads of a vector of queries two at a time,
// against plain::attend for every head, bit for bit: numbers of heads and queries around the
// groups, shared heads, layouts, lengths.
#include <boost/test/unit_test.hpp>

#include "kernel_problem.hpp"

#include <umbel/kernel/float/attend_heads.hpp>
#include <umbel/kernel/float/attend_pairs.hpp>

namespace {

using namespace umbel_test::attending;

// Heads side by side in rows, as projections leave them; or one after another.
constexpr attend_shape beside(std::size_t queries, std::size_t keys, std::size_t head_dim,
                              std::size_t value_dim, std::size_t heads, std::size_t share) {
  return {queries,
          keys,
          head_dim,
          value_dim,
          heads * head_dim,
          1,
          heads / share * head_dim,
          1,
          heads / share * value_dim,
          1,
          heads * value_dim,
          1,
          queries};
}
constexpr attend_shape apart(std::size_t queries, std::size_t keys, std::size_t head_dim,
                             std::size_t value_dim) {
  return {queries, keys,      head_dim, value_dim, head_dim, 1,      head_dim,
          1,       value_dim, 1,        value_dim, 1,        queries};
}

template <attend_shape S, heads_shape H, class T = float>
struct many_heads {
  static constexpr std::size_t kv_heads = H.heads / H.share;
  static constexpr std::size_t size(std::size_t rows, std::size_t row, std::size_t width,
                                    std::size_t heads, std::size_t head) {
    return (rows - 1) * row + (heads - 1) * head + width;
  }
  static constexpr std::size_t o_size =
      size(S.queries, S.o_row, (S.value_dim - 1) * S.o_dim + 1, H.heads, H.o_head);
  buffer<T> q{size(S.queries, S.q_row, S.head_dim, H.heads, H.q_head)};
  buffer<T> k{size(S.keys, S.k_row, S.head_dim, kv_heads, H.k_head)};
  buffer<T> v{size(S.keys, S.v_row, S.value_dim, kv_heads, H.v_head)};
  T scale = static_cast<T>(0.9);

  explicit many_heads(double size = 1.5) {
    seeded next{static_cast<std::uint32_t>(S.keys * 31 + H.heads)};
    q.fill(next, size);
    k.fill(next, size);
    v.fill(next);
  }
  buffer<T> plain(std::size_t count) {
    buffer<T> o{o_size, 16};
    for (std::size_t h = 0; h < H.heads; ++h) {
      plain::attend<S>(q.get() + h * H.q_head, k.get() + h / H.share * H.k_head,
                       v.get() + h / H.share * H.v_head, scale, count, o.get() + h * H.o_head);
    }
    return o;
  }
  template <target Target>
  buffer<T> fast(std::size_t count) {
    static_assert(EMULATED || heads_fit_lanes<S, H, T, Target>);
    buffer<T> o{o_size, 16}, scratch{attend_scratch<S, T, Target>};
    if constexpr (heads_fit_lanes<S, H, T, Target>) {
      attend_heads<S, H, T, Target>(q.get(), k.get(), v.get(), scale, count, o.get(),
                                    scratch.get());
    } else {  // one after another, as the layer does there
      for (std::size_t h = 0; h < H.heads; ++h)
        attend<S, T, Target>(q.get() + h * H.q_head, k.get() + h / H.share * H.k_head,
                             v.get() + h / H.share * H.v_head, scale, scores::first_keys(count),
                             o.get() + h * H.o_head, scratch.get());
    }
    return o;
  }
  // Two at a time.
  template <target Target>
  void check_pairs() {
    static_assert(pairs_fit_heads<S, H, T, Target>);
    buffer<T> o{o_size, 16}, scratch{attend_scratch<S, T, Target>};
    attend_pairs<S, H, T, Target>(q.get(), k.get(), v.get(), scale, o.get(), scratch.get());
    buffer<T> right = plain(S.keys);
    BOOST_TEST(o.same_numbers(right), Target.vector_bytes << " bytes, " << H.heads << " heads");
  }
  void check(std::size_t count = S.keys) {
    buffer<T> right = plain(count);
    if constexpr (EMULATED && pairs_fit_heads<S, H, T, umbel_test::native_target>)
      check_pairs<umbel_test::native_target>();
    if constexpr (!UMBEL_SANITIZED && !EMULATED &&  // compile time
                  heads_fit_lanes<S, H, T, vector_32>) {
      BOOST_TEST(fast<vector_32>(count).same_numbers(right), "32 bytes, " << H.heads << " heads");
    }
    BOOST_TEST(fast<umbel_test::vector_64>(count).same_numbers(right),
               "64 bytes, " << H.heads << " heads, " << S.queries << " queries");
  }
};

template <std::size_t Queries, std::size_t Keys, std::size_t HeadDim, std::size_t ValueDim,
          std::size_t Heads, std::size_t Share = 1>
using side_by_side = many_heads<beside(Queries, Keys, HeadDim, ValueDim, Heads, Share),
                                heads_shape{Heads, Share, HeadDim, HeadDim, ValueDim, ValueDim}>;

template <attend_shape S, heads_shape H, target Target>
constexpr bool fits = heads_fit_lanes<S, H, float, Target>;

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_heads)

#if !EMULATED
BOOST_AUTO_TEST_CASE(what_fits) {
  constexpr heads_shape five{5, 1, 8, 8, 8, 8}, three_share{6, 3, 8, 8, 8, 8},
      one{1, 1, 8, 8, 8, 8};
  static_assert(fits<apart(4, 6, 8, 8), five, vector_64>);
  static_assert(fits<apart(4, 6, 8, 8), five, vector_32>);
  static_assert(!fits<apart(4, 6, 8, 8), five, vector_16>);  // one head fills the pack
  static_assert(!fits<apart(2, 6, 8, 8), five, vector_16>);
  static_assert(heads_fit_lanes<apart(2, 6, 8, 6), five, double, vector_32>);
  static_assert(!fits<apart(1, 6, 8, 8), five, vector_64>);  // attend_few
  static_assert(!fits<apart(9, 6, 8, 8), five, vector_64>);
  static_assert(!fits<apart(4, 6, 6, 8), five, vector_64>);
  static_assert(!fits<apart(4, 300, 8, 8), five, vector_64>);
  static_assert(!fits<apart(4, 6, 8, 8), three_share, vector_64>);
  static_assert(!fits<apart(4, 6, 8, 8), one, vector_64>);
  static_assert(!fits<columns_out<4, 6, 8, 8>, five, vector_64>);
}
#endif

BOOST_AUTO_TEST_CASE(any_number_of_heads) {
  side_by_side<4, 6, 20, 20, 2>{}.check();
  side_by_side<4, 6, 20, 20, 5>{}.check();
  side_by_side<4, 7, 8, 12, 7>{}.check();
  side_by_side<3, 6, 4, 4, 12>{}.check();
}

BOOST_AUTO_TEST_CASE(any_number_of_queries) {
  side_by_side<2, 9, 12, 4, 9>{}.check();
  side_by_side<3, 9, 8, 4, 6>{}.check();
  side_by_side<5, 9, 8, 16, 3>{}.check();
  side_by_side<8, 9, 24, 8, 4>{}.check();
}

BOOST_AUTO_TEST_CASE(shared_heads_of_keys) {
  side_by_side<4, 6, 8, 8, 6, 2>{}.check();
  side_by_side<4, 6, 8, 8, 12, 4>{}.check();
  side_by_side<2, 6, 8, 8, 16, 16>{}.check();
}

BOOST_AUTO_TEST_CASE(heads_apart_and_doubles) {
  many_heads<apart(4, 6, 20, 12), heads_shape{10, 1, 80, 120, 72, 48}>{}.check();
  many_heads<apart(2, 5, 4, 6), heads_shape{5, 1, 8, 20, 30, 12}, double>{}.check();
}

BOOST_AUTO_TEST_CASE(lengths) {
  side_by_side<4, 256, 4, 8, 5> p{4.0};
  for (std::size_t count : {0u, 1u, 2u, 5u, 6u, 7u, 11u, 250u, 255u, 256u, 300u}) p.check(count);
}

BOOST_AUTO_TEST_CASE(what_is_hidden_is_not_read) {
  side_by_side<4, 9, 8, 8, 5> p;
  const buffer<float> clean = p.fast<umbel_test::vector_64>(6);
  for (std::size_t e = 6 * 40; e < 9 * 40; ++e) p.k[e] = p.v[e] = not_a_number;
  BOOST_TEST(clean.same_bits(p.fast<umbel_test::vector_64>(6)));
  // A NaN in sight spoils its own head only.
  p.k[2 * 40 + 8] = infinity;
  p.v[3 * 40 + 16] = not_a_number;
  p.check(6);
}

#if !EMULATED
constexpr target wide{64, 32}, half_as_wide{32, 16};

BOOST_AUTO_TEST_CASE(two_at_a_time) {
  constexpr heads_shape five{5, 1, 8, 8, 8, 8};
  static_assert(pairs_fit_heads<apart(16, 16, 8, 8), five, float, wide>);
  static_assert(!pairs_fit_heads<apart(17, 16, 8, 8), five, float, wide>);
  static_assert(!pairs_fit_heads<apart(16, 25, 8, 8), five, float, wide>);
  static_assert(!pairs_fit_heads<apart(16, 16, 8, 8), five, float, scalar_target>);
  side_by_side<16, 16, 8, 8, 4>{}.check_pairs<wide>();
  side_by_side<13, 24, 9, 20, 5>{}.check_pairs<wide>();  // one is left
  side_by_side<16, 1, 3, 5, 6, 3>{5.0}.check_pairs<wide>();
  side_by_side<8, 8, 16, 4, 3>{}.check_pairs<half_as_wide>();
  side_by_side<8, 7, 5, 6, 2, 2>{}.check_pairs<half_as_wide>();
  many_heads<columns_out<16, 11, 7, 5>, heads_shape{3, 1, 16 * 7, 11 * 7, 11 * 5, 16 * 5}>{}
      .check_pairs<wide>();
}
#endif

BOOST_AUTO_TEST_SUITE_END()
