// SPDX-License-Identifier: BSL-1.0
// What holds for masks at the layer, to the bit: different words for the same thing agree, the
// order of words does not matter, memory is read by name, the past does not know of the future.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <algorithm>
#include <limits>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

constexpr std::size_t B = 2, H = 3, N = 21, Q = 5, K = 9;
using attention = multi_head_attention<float, hidden<24>, heads<H>, bias<true>>;
using tokens = tensor<float, batch<B>, token<N>, hidden<24>>;
using queries = tensor<float, batch<B>, query<Q>, hidden<24>>;
using context = tensor<float, batch<B>, key<K>, hidden<24>>;
constexpr float infinity = std::numeric_limits<float>::infinity();

struct fixture {
  lcg next{77};
  attention::weights w = drawn_weights<attention>(next);
  attention attend{w};
  tokens t = drawn<tokens>(next, 3);
  queries x = drawn<queries>(next, 3);
  context y = drawn<context>(next, 3), z = drawn<context>(next);
};

// f(i, j) of every query and key.
template <class T, std::size_t Queries, std::size_t Keys, class F>
tensor<T, query<Queries>, key<Keys>> pairs(F f) {
  tensor<T, query<Queries>, key<Keys>> m{};
  for (std::size_t i = 0; i < Queries; ++i)
    for (std::size_t j = 0; j < Keys; ++j) m(i, j) = f(i, j);
  return m;
}

BOOST_FIXTURE_TEST_SUITE(masks, fixture)

// "Dive into Deep Learning" makes its decoder causal with lengths 1, 2 ... n.
BOOST_AUTO_TEST_CASE(causal_in_six_words) {
  const tokens wanted = attend(t, causal);
  tensor<int, query<N>> lens{};
  for (std::size_t i = 0; i < N; ++i) lens(i) = static_cast<int>(i) + 1;
  const auto kept = pairs<bool, N, N>([](auto i, auto j) { return j <= i; });
  const auto dropped = pairs<bool, N, N>([](auto i, auto j) { return j > i; });
  const auto bias = pairs<float, N, N>([](auto i, auto j) { return j <= i ? 0.0f : -infinity; });
  BOOST_TEST(same_bits(wanted, attend(t, lens)));
  BOOST_TEST(same_bits(wanted, attend(t, keep_mask(kept))));
  BOOST_TEST(same_bits(wanted, attend(t, drop_mask(dropped))));
  BOOST_TEST(same_bits(wanted, attend(t, score_bias(bias))));
  BOOST_TEST(same_bits(wanted, attend(t, score_bias([](auto, auto, auto i, auto j) {
                                        return j <= i ? 0.0f : -infinity;
                                      }))));
  BOOST_TEST(same_bits(wanted, attend(t, sliding_window<npos>)));
  BOOST_TEST(same_bits(wanted, attend(t, causal_top_left)));
  BOOST_TEST(same_bits(wanted, attend(t, causal_bottom_right)));
  BOOST_TEST(same_bits(wanted, attend(t, causal_at(0))));
}

BOOST_AUTO_TEST_CASE(ends_that_queries_and_keys_share) {
  const auto first = pairs<bool, Q, K>([](auto i, auto j) { return j <= i; });
  const auto last = pairs<bool, Q, K>([](auto i, auto j) { return j <= i + (K - Q); });
  BOOST_TEST(same_bits(attend(x, y, z, causal_top_left), attend(x, y, z, keep_mask(first))));
  BOOST_TEST(same_bits(attend(x, y, z, causal_bottom_right), attend(x, y, z, keep_mask(last))));
  BOOST_TEST(same_bits(attend(x, y, z, causal_at(K - Q)), attend(x, y, z, keep_mask(last))));
}

BOOST_AUTO_TEST_CASE(order_of_words_and_signs) {
  const tensor<int, batch<B>> lens{7, 4};
  const auto kept = pairs<bool, Q, K>([](auto i, auto j) { return (i + j) % 3 != 0; });
  const queries wanted = attend(x, y, z, lens & causal_at(K - Q) & keep_mask(kept));
  BOOST_TEST(same_bits(wanted, attend(x, y, z, keep_mask(kept) & causal_at(K - Q) & lens)));
  BOOST_TEST(same_bits(wanted, attend(x, y, z, keep_mask(kept) + (lens & causal_at(K - Q)))));
  BOOST_TEST(
      same_bits(wanted, attend(x, y, z, all_keys & lens & causal_at(K - Q) & keep_mask(kept))));
  BOOST_TEST(
      same_bits(wanted, attend(x, y, z, keep_mask(kept) & causal_at(K - Q) & lens & all_keys)));
  BOOST_TEST(same_bits(attend(x, y, z, lens), attend(x, y, z, all_keys & lens & lens)));
}

// A mask may have fewer axes, axes of size 1, and any order and strides.
BOOST_AUTO_TEST_CASE(two_tensors_of_lengths) {
  const tensor<int, batch<B>> a{2, 7};
  const tensor<int, query<Q>> b{1, 3, 9, 0, 5};
  tensor<int, batch<B>, query<Q>> both{};
  for (std::size_t s = 0; s < B; ++s)
    for (std::size_t i = 0; i < Q; ++i) both(s, i) = std::min(a(s), b(i));
  BOOST_TEST(same_bits(attend(x, y, z, a & b), attend(x, y, z, both)));
  BOOST_TEST(same_bits(attend(x, y, z, tensor<int, batch<B>>{2, 7} & b & causal_top_left),
                       attend(x, y, z, both & causal_top_left)));
}

BOOST_AUTO_TEST_CASE(memory_is_read_by_name) {
  tensor<bool, batch<B>, heads<H>, query<Q>, key<K>> whole{};
  tensor<bool, key<K>, batch<B>> padding{};
  tensor<bool, batch<B>, heads<1>, query<1>, key<K>> haiku{};
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t j = 0; j < K; ++j) {
      haiku(b, 0, 0, j) = padding(j, b) = next() > -0.3f;
      for (std::size_t h = 0; h < H; ++h)
        for (std::size_t i = 0; i < Q; ++i) whole(b, h, i, j) = padding(j, b);
    }
  const queries wanted = attend(x, y, z, keep_mask(whole));
  BOOST_TEST(same_bits(wanted, attend(x, y, z, keep_mask(padding))));
  BOOST_TEST(same_bits(wanted, attend(x, y, z, keep_mask(haiku))));
  BOOST_TEST(same_bits(wanted, attend(x, y, z, keep_mask(padding | permute<batch, key>))));
  BOOST_TEST(
      same_bits(wanted, attend(x, y, z, keep_mask(whole | permute<key, query, heads, batch>))));

  auto bias = drawn<tensor<float, heads<H>, query<Q>, key<K>>>(next, 2);
  tensor<float, batch<B>, key<K>, query<Q>, heads<H>> spread{};
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t h = 0; h < H; ++h)
      for (std::size_t i = 0; i < Q; ++i)
        for (std::size_t j = 0; j < K; ++j) spread(b, j, i, h) = bias(h, i, j);
  BOOST_TEST(same_bits(attend(x, y, z, score_bias(bias)), attend(x, y, z, score_bias(spread))));
}

// A mask of a temporary owns it; a named one is read when the layer is called.
BOOST_AUTO_TEST_CASE(temporaries_are_owned) {
  const auto flags = [](bool all) {
    return pairs<bool, Q, K>([=](auto i, auto j) { return all || j <= i; });
  };
  const auto owned = keep_mask(flags(false)) & tensor<int, batch<B>>{3, 5};
  auto named = flags(true);
  const auto borrowed = keep_mask(named) & tensor<int, batch<B>>{3, 5};
  named = flags(false);
  BOOST_TEST(same_bits(attend(x, y, z, owned), attend(x, y, z, borrowed)));
}

BOOST_AUTO_TEST_CASE(the_past_does_not_know_of_the_future) {
  const tokens before = attend(t, causal & alibi);
  tokens changed = t;
  for (std::size_t j = 12; j < N; ++j)
    for (std::size_t d = 0; d < 24; ++d) changed(1, j, d) = std::numeric_limits<float>::quiet_NaN();
  const tokens after = attend(changed, causal & alibi);
  BOOST_TEST(same_bits(before | slice<token, from<0>, extent<12>>,
                       after | slice<token, from<0>, extent<12>>));
}

// NaN in a key that one query may not see is no business of that query.
BOOST_AUTO_TEST_CASE(nan_spoils_only_who_looks) {
  const auto kept = pairs<bool, Q, K>([](auto i, auto j) { return i % 2 == 0 || j != 4; });
  const queries clean = attend(x, y, z, keep_mask(kept));
  context spoilt = y;
  for (std::size_t d = 0; d < 24; ++d) spoilt(0, 4, d) = std::numeric_limits<float>::quiet_NaN();
  const queries result = attend(x, spoilt, z, keep_mask(kept));
  for (std::size_t i = 0; i < Q; ++i)
    for (std::size_t d = 0; d < 24; ++d)
      if (i % 2 == 1)
        BOOST_TEST(result(0, i, d) == clean(0, i, d));
      else
        BOOST_TEST(result(0, i, d) != result(0, i, d));
}

BOOST_AUTO_TEST_CASE(empty_rows_by_option) {
  using of_means =
      multi_head_attention<float, hidden<24>, heads<H>, bias<true>, empty_rows<uniform_weights>>;
  const tensor<int, batch<B>> lens{0, 4};
  const auto zero = attend(x, y, z, lens);
  for (std::size_t d = 0; d < 24; ++d) BOOST_TEST(zero(0, 0, d) == w.o.bias[d]);
  lcg again{77};
  const auto same = drawn_weights<of_means>(again);
  const of_means attend_means{same};
  const auto mean = attend_means(x, y, z, lens);
  // All scores equal: what a query of zeros gives with every key.
  of_means::weights flat = same;
  for (float& e : flat.q.weight) e = 0;
  for (float& e : flat.q.bias) e = 0;
  const auto uniform_weights = of_means{flat}(x, y, z);
  for (std::size_t i = 0; i < Q; ++i)
    for (std::size_t d = 0; d < 24; ++d)
      BOOST_TEST(std::abs(mean(0, i, d) - uniform_weights(0, i, d)) < 1e-5f);
  BOOST_TEST(same_bits(mean | select_at<batch>(1), zero | select_at<batch>(1)));
}

// The layer is its projections around attention without projections.
BOOST_AUTO_TEST_CASE(layer_of_parts) {
  const tensor<int, batch<B>> lens{9, 4};
  const auto q = x * w.q | split<hidden, heads<H>, head_dim>;
  const auto k = y * w.k | split<hidden, heads<H>, head_dim>;
  const auto v = z * w.v | split<hidden, heads<H>, head_dim>;
  const auto o = scaled_dot_product_attention(q, k, v, lens & alibi_bottom_right);
  static workspace_for<decltype(scaled_dot_product_attention), decltype(q), decltype(k),
                       decltype(v)>
      scratch;
  BOOST_TEST(
      same_bits(o, scaled_dot_product_attention(q, k, v, lens & alibi_bottom_right, scratch)));
  tensor<float, query<Q>, heads<H>, head_dim<24 / H>, batch<B>> turned{};
  scaled_dot_product_attention.into(turned, q, k, v, lens & alibi_bottom_right);
  BOOST_TEST(same_bits(o, turned | permute<batch, query, heads, head_dim>));
  scaled_dot_product_attention.into(turned | permute<head_dim, batch, heads, query>, q, k, v,
                                    all_keys, scratch);
  BOOST_TEST(same_bits(scaled_dot_product_attention(q, k, v),
                       turned | permute<batch, query, heads, head_dim>));
  const auto by_parts = (o | merge<heads, head_dim, hidden>)*w.o;
  BOOST_TEST(same_bits(by_parts, attend(x, y, z, lens & alibi_bottom_right)));
}

BOOST_AUTO_TEST_CASE(packed_and_into_and_encoders) {
  const prepacked<attention> packed{w};
  const tensor<int, batch<B>> lens{7, 4};
  static attention::workspace<query<Q>, key<K>> work;
  const auto mask = lens & causal_at(K - Q) & sliding_window_at<3>(K - Q);
  const queries wanted = attend(x, y, z, mask);
  BOOST_TEST(same_bits(wanted, packed(x, y, z, mask, work)));
  tensor<float, query<Q>, hidden<24>, batch<B>> out{};
  packed.into(out, x, y, z, mask);
  BOOST_TEST(same_bits(wanted, out | permute<batch, query, hidden>));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
