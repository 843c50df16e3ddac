// SPDX-License-Identifier: BSL-1.0
// Causal masks and lengths, to the bit: what each framework calls causal is the expression that
// docs/masks.md has for it, and positions by sequence are those of as many calls.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

constexpr std::size_t B = 3, H = 2, D = 8;

// Q queries and K keys of every head of three sequences.
template <std::size_t Q, std::size_t K>
struct fixture {
  static constexpr std::ptrdiff_t queries = Q, keys = K;
  lcg next{Q * 100 + K};
  tensor<float, batch<B>, query<Q>, heads<H>, head_dim<D>> q =
      drawn<tensor<float, batch<B>, query<Q>, heads<H>, head_dim<D>>>(next, 3);
  tensor<float, batch<B>, key<K>, heads<H>, head_dim<D>> k =
      drawn<tensor<float, batch<B>, key<K>, heads<H>, head_dim<D>>>(next, 3);
  tensor<float, batch<B>, key<K>, heads<H>, head_dim<D>> v =
      drawn<tensor<float, batch<B>, key<K>, heads<H>, head_dim<D>>>(next);

  auto attend(const auto& mask) const { return scaled_dot_product_attention(q, k, v, mask); }
  auto attend_one(std::size_t b, const auto& mask) const {
    return scaled_dot_product_attention(q | select_at<batch>(b) | contiguous,
                                        k | select_at<batch>(b) | contiguous,
                                        v | select_at<batch>(b) | contiguous, mask);
  }
  // A framework's own words: sees(b, h, i, j).
  auto attend_where(auto sees) const {
    tensor<bool, batch<B>, heads<H>, query<Q>, key<K>> kept{};
    for (std::size_t b = 0; b < B; ++b)
      for (std::size_t h = 0; h < H; ++h)
        for (std::size_t i = 0; i < Q; ++i)
          for (std::size_t j = 0; j < K; ++j)
            kept(b, h, i, j) =
                sees(b, h, static_cast<std::ptrdiff_t>(i), static_cast<std::ptrdiff_t>(j));
    return attend(keep_mask(kept));
  }
};

template <std::size_t Q, std::size_t K>
void frameworks() {
  const fixture<Q, K> f;
  using std::ptrdiff_t;
  constexpr ptrdiff_t offset = f.keys - f.queries;
  const tensor<int, batch<B>> lens{static_cast<int>(K), static_cast<int>(K / 2 + 1), 1};

  // torch scaled_dot_product_attention, is_causal: torch.ones(L, S).tril(diagonal=0). And ONNX
  // is_causal without a cache.
  BOOST_TEST(same_bits(f.attend(causal_top_left),
                       f.attend_where([](auto, auto, auto i, auto j) { return j <= i; })));
  // torch.nn.attention.bias.causal_lower_right: tril(diagonal=S - L).
  BOOST_TEST(same_bits(f.attend(causal_bottom_right),
                       f.attend_where([](auto, auto, auto i, auto j) { return j <= i + offset; })));
  // ONNX is_causal with past_key of P positions, which are the first of the keys: j <= i + P.
  for (const ptrdiff_t past : {ptrdiff_t{0}, ptrdiff_t{3}, offset})
    BOOST_TEST(same_bits(f.attend(causal_at(past)), f.attend_where([=](auto, auto, auto i, auto j) {
      return j <= i + past;
    })));
  // ONNX 24, is_causal with nonpad_kv_seqlen: j <= i + nonpad_kv_seqlen[b] - queries, and its
  // padding mask. FlashAttention with lengths of keys means the same.
  BOOST_TEST(same_bits(f.attend(causal_bottom_right(lens)),
                       f.attend_where([&](auto b, auto, auto i, auto j) {
                         return j < lens(b) && j <= i + lens(b) - f.queries;
                       })));
  // The same in two words, and with the lengths again.
  tensor<long, batch<B>> first{};
  for (std::size_t b = 0; b < B; ++b) first(b) = lens(b) - static_cast<long>(Q);
  BOOST_TEST(same_bits(f.attend(causal_bottom_right(lens)), f.attend(lens & causal_at(first))));
  BOOST_TEST(
      same_bits(f.attend(causal_bottom_right(lens)), f.attend(causal_bottom_right(lens) & lens)));
  // torch with a mask of padding and causal_lower_right of all keys.
  BOOST_TEST(same_bits(f.attend(lens & causal_at(offset)),
                       f.attend_where([&](auto b, auto, auto i, auto j) {
                         return j < lens(b) && j <= i + offset;
                       })));
  // FlashAttention's window_size of (2, 1).
  BOOST_TEST(same_bits(f.attend(sliding_window_bottom_right<2, 1>),
                       f.attend_where([](auto, auto, auto i, auto j) {
                         return j >= i + offset - 2 && j <= i + offset + 1;
                       })));
  // Two alignments of a window.
  BOOST_TEST(same_bits(f.attend(sliding_window_bottom_right<2>(lens)),
                       f.attend_where([&](auto b, auto, auto i, auto j) {
                         const ptrdiff_t at = i + lens(b) - f.queries;
                         return j <= at && j >= at - 2;
                       })));
  BOOST_TEST(same_bits(f.attend(lens & sliding_window_bottom_right<2, 3>(lens)),
                       f.attend_where([&](auto b, auto, auto i, auto j) {
                         const ptrdiff_t at = i + lens(b) - f.queries;
                         return j < lens(b) && j <= at + 3 && j >= at - 2;
                       })));
  if constexpr (Q == K) {
    // torch.nn.MultiheadAttention: attn_mask of generate_square_subsequent_mask (true or -infinity
    // above the diagonal) and key_padding_mask, true past the length.
    tensor<bool, batch<B>, key<K>> padding{};
    tensor<bool, query<Q>, key<K>> future{};
    for (std::size_t j = 0; j < K; ++j) {
      for (std::size_t b = 0; b < B; ++b) padding(b, j) = static_cast<ptrdiff_t>(j) >= lens(b);
      for (std::size_t i = 0; i < Q; ++i) future(i, j) = j > i;
    }
    const auto wanted =
        f.attend_where([&](auto b, auto, auto i, auto j) { return j < lens(b) && j <= i; });
    BOOST_TEST(same_bits(wanted, f.attend(lens & causal)));
    // Hugging Face's sliding_window of 5 keys, the query's own among them: j <= i and j > i - 5.
    BOOST_TEST(
        same_bits(f.attend(sliding_window<4>),
                  f.attend_where([](auto, auto, auto i, auto j) { return j <= i && j > i - 5; })));
    BOOST_TEST(same_bits(wanted, f.attend(drop_mask(padding) & causal)));
    BOOST_TEST(same_bits(wanted, f.attend(drop_mask(padding) & drop_mask(future))));
  }
}

// One position a sequence, bit for bit as many calls; Int: what it is counted in.
template <class Int, std::size_t Q, std::size_t K>
void by_sequence(Int a, Int b, Int c) {
  const fixture<Q, K> f;
  const tensor<Int, batch<B>> at{a, b, c};
  const auto check = [&](const auto& whole, auto mask_at) {
    for (std::size_t s = 0; s < B; ++s)
      BOOST_TEST(same_bits(whole | select_at<batch>(s), f.attend_one(s, mask_at(at(s)))));
  };
  check(f.attend(causal_at(at)), [](Int p) { return causal_at(p); });
  check(f.attend(sliding_window_at<3, 1>(at)), [](Int p) { return sliding_window_at<3, 1>(p); });
  check(f.attend(causal_at(at) & alibi_at(at)), [](Int p) { return alibi_at(p) & causal_at(p); });
}

BOOST_AUTO_TEST_SUITE(causal_and_lengths)

BOOST_AUTO_TEST_CASE(what_frameworks_call_causal) {
  frameworks<4, 9>();
  frameworks<1, 9>();
  frameworks<9, 9>();
  frameworks<23, 23>();
  frameworks<7, 3>();
  frameworks<33, 70>();
}

BOOST_AUTO_TEST_CASE(positions_by_sequence_are_those_of_one_call_each) {
  by_sequence<int, 5, 9>(4, -2, 11);
  by_sequence<int, 1, 40>(39, 0, 17);
  by_sequence<std::uint8_t, 4, 300>(255, 0, 130);
  by_sequence<std::int8_t, 40, 40>(-128, 127, 3);
  by_sequence<std::uint64_t, 4, 9>(std::numeric_limits<std::uint64_t>::max(), 5, 2);
  by_sequence<std::int64_t, 4, 9>(std::numeric_limits<std::int64_t>::max(),
                                  std::numeric_limits<std::int64_t>::min(), -1);
}

// By heads, in any order, with axes of size 1, borrowed and owned.
BOOST_AUTO_TEST_CASE(positions_are_read_by_name) {
  const fixture<5, 9> f;
  const tensor<int, heads<H>, batch<B>> at{{3, 0, 8}, {-1, 4, 2}};
  const auto wanted =
      f.attend_where([&](auto b, auto h, auto i, auto j) { return j <= i + at(h, b); });
  BOOST_TEST(same_bits(f.attend(causal_at(at)), wanted));
  BOOST_TEST(same_bits(f.attend(causal_at(at | permute<batch, heads>)), wanted));
  BOOST_TEST(same_bits(f.attend(causal_at(tensor<int, heads<H>, batch<B>>(at))), wanted));
  const tensor<int, query<1>, batch<B>> one{{3, 0, 8}};
  const tensor<int, batch<B>> same{3, 0, 8};
  BOOST_TEST(same_bits(f.attend(causal_at(one)), f.attend(causal_at(same))));
  BOOST_TEST(same_bits(f.attend(causal_at(tensor<int, batch<1>>(4))), f.attend(causal_at(4))));
  BOOST_TEST(same_bits(f.attend(causal_bottom_right(one)), f.attend(causal_bottom_right(same))));
}

// Along the axis query, each query's own position (position_ids): what is at or before it.
BOOST_AUTO_TEST_CASE(positions_by_query) {
  const fixture<5, 9> f;
  const tensor<int, batch<B>, query<5>> at{{3, 0, 8, 100, -1}, {0, 1, 2, 3, 4}, {8, 6, 4, 2, 0}};
  BOOST_TEST(same_bits(f.attend(causal_at(at)), f.attend_where([&](auto b, auto, auto i, auto j) {
    return j <= at(b, static_cast<std::size_t>(i));
  })));
  tensor<int, batch<B>, query<5>> lens{};
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t i = 0; i < 5; ++i) lens(b, i) = at(b, i) + 1;
  BOOST_TEST(same_bits(f.attend(causal_at(at)), f.attend(lens)));
  const tensor<std::uint8_t, query<5>> in_turn{2, 3, 4, 5, 6};
  BOOST_TEST(same_bits(f.attend(causal_at(in_turn)), f.attend(causal_at(2))));
}

// Lengths are clamped first; then it is the sequence, cut off.
BOOST_AUTO_TEST_CASE(the_last_query_stands_at_the_last_key_of_its_sequence) {
  const fixture<4, 9> f;
  const auto whole = f.attend(causal_bottom_right(tensor<int, batch<B>>{6, 99, 2}));
  const auto cut = [&]<std::size_t Count>(std::size_t b,
                                          std::integral_constant<std::size_t, Count>) {
    return scaled_dot_product_attention(
        f.q | select_at<batch>(b) | contiguous,
        f.k | select_at<batch>(b) | slice<key, from<0>, extent<Count>> | contiguous,
        f.v | select_at<batch>(b) | slice<key, from<0>, extent<Count>> | contiguous,
        causal_bottom_right);
  };
  BOOST_TEST(
      same_bits(whole | select_at<batch>(0), cut(0, std::integral_constant<std::size_t, 6>{})));
  BOOST_TEST(
      same_bits(whole | select_at<batch>(1), cut(1, std::integral_constant<std::size_t, 9>{})));
  BOOST_TEST(
      same_bits(whole | select_at<batch>(2), cut(2, std::integral_constant<std::size_t, 2>{})));
  const auto none = f.attend(causal_bottom_right(tensor<int, batch<B>>{0, -7, 1}));
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t d = 0; d < D; ++d) {
      BOOST_TEST(none(0, i, 0, d) == 0);
      BOOST_TEST(none(1, i, 1, d) == 0);
      BOOST_TEST((none(2, i, 0, d) == 0) == (i < 3));
    }
}

BOOST_AUTO_TEST_CASE(nan_past_the_position_is_not_read) {
  fixture<4, 9> f;
  const tensor<int, batch<B>> at{2, 0, 4};
  const tensor<int, batch<B>> lens{6, 4, 8};
  const auto by_position = f.attend(causal_at(at));
  const auto by_length = f.attend(causal_bottom_right(lens));
  for (std::size_t b = 0; b < B; ++b)
    for (auto j = static_cast<std::size_t>(lens(b)); j < 9; ++j)
      for (std::size_t d = 0; d < D; ++d)
        f.k(b, j, 0, d) = f.v(b, j, 1, d) = std::numeric_limits<float>::quiet_NaN();
  BOOST_TEST(same_bits(f.attend(causal_at(at)), by_position));
  BOOST_TEST(same_bits(f.attend(causal_bottom_right(lens)), by_length));
}

// A layer, packed or not; its cache, where positions count from where the step stands, and lengths
// from the start of what is stored.
BOOST_AUTO_TEST_CASE(layers_and_caches) {
  using attention = multi_head_attention<float, hidden<24>, heads<3>, rope<split_halves>>;
  using tokens = tensor<float, batch<B>, token<12>, hidden<24>>;
  lcg next{5};
  const auto w = drawn_weights<attention>(next);
  const attention attend{w};
  const prepacked<attention> packed{w};
  const auto x = drawn<tokens>(next, 2);
  const auto q = drawn<tensor<float, batch<B>, query<4>, hidden<24>>>(next, 2);
  const auto y = x | rename_axis<token, key>;
  const tensor<int, batch<B>> lens{12, 5, 7};
  tensor<bool, batch<B>, query<4>, key<12>> kept{};
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 12; ++j)
        kept(b, i, j) = static_cast<int>(j) <= static_cast<int>(i) + lens(b) - 4;
  const auto wanted = attend(q, y, y, keep_mask(kept));
  BOOST_TEST(same_bits(attend(q, y, y, causal_bottom_right(lens)), wanted));
  BOOST_TEST(same_bits(packed(q, y, y, causal_bottom_right(lens)), wanted));

  static key_value_cache<attention, key<16>, batch<B>> memory;
  BOOST_TEST_REQUIRE(memory.append(attend, y, y));
  tensor<float, batch<B>, query<4>, hidden<24>> out{};
  memory.attend(out, attend, q, causal_bottom_right(lens));
  BOOST_TEST(same_bits(out, wanted));
  // 99 is clamped to what is stored, not to what there is room for.
  memory.attend(out, attend, q, causal_bottom_right(tensor<int, batch<B>>{99, 99, 99}));
  BOOST_TEST(same_bits(out, attend(q, y, y, causal_bottom_right)));
  memory.attend(out, attend, q, causal_at(tensor<int, batch<B>>{8, 1, 3}));
  BOOST_TEST(same_bits(out, wanted));

  const auto whole = attend(x, causal);
  memory.reset();
  tokens steps{};
  static key_value_cache<attention, key<12>, batch<B>, longest_sequence<12, 3>> slid;
  tokens slid_steps{};
  for (std::size_t n = 0; n < 12; n += 3) {
    tensor<float, batch<B>, token<3>, hidden<24>> part{}, result{};
    for (std::size_t b = 0; b < B; ++b)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t d = 0; d < 24; ++d) part(b, i, d) = x(b, n + i, d);
    BOOST_TEST_REQUIRE(
        memory.step(result, attend, part, causal_at(tensor<int, batch<B>>{0, 0, 0})));
    for (std::size_t b = 0; b < B; ++b)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t d = 0; d < 24; ++d) steps(b, n + i, d) = result(b, i, d);
    BOOST_TEST_REQUIRE(slid.step(result, attend, part, causal_at(tensor<int, query<3>>{0, 1, 2})));
    for (std::size_t b = 0; b < B; ++b)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t d = 0; d < 24; ++d) slid_steps(b, n + i, d) = result(b, i, d);
  }
  BOOST_TEST(same_bits(steps, whole));
  BOOST_TEST(same_bits(slid_steps, whole));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
