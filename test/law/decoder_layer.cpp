// SPDX-License-Identifier: BSL-1.0
// What holds for the decoder layer, in floats and in integers, to the bit unless a tolerance is
// written: it is its parts, an encoder layer if it sees no memory, and what block.hpp says of a
// batch, lengths and scratch.
#include <boost/test/unit_test.hpp>
#include <umbel/quantized.hpp>
#include <umbel/umbel.hpp>

#include <cmath>
#include <cstring>

#include "../support/blocks.hpp"
#include "block.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

using tokens = tensor<float, batch<2>, token<5>, hidden<12>>;
using memories = tensor<float, batch<2>, key<7>, hidden<12>>;

template <class... Options>
using plain_decoder = decoder_layer<float, hidden<12>, heads<3>, intermediate<21>, Options...>;
template <class... Options>
using decoder = block_with<plain_decoder, Options...>;

template <class Decoder>
typename Decoder::weights decoder_weights(lcg& next) {
  typename Decoder::weights w{};
  draw_decoder(next, w, 0.5, 0.5, 0.25, 0.125, 1, 0.125);
  return w;
}

// The layer by hand: its own parts, one after the other, as tensors with names.
template <class Decoder, class X, class Memory, class Mask, class Own>
auto by_parts(const typename Decoder::weights& w, const X& x, const Memory& memory,
              const Mask& mask, const Own& own) {
  const typename Decoder::self_attention self{w.self_attention};
  const typename Decoder::cross_attention cross{w.cross_attention};
  const typename Decoder::feed_forward feed{w.feed_forward};
  const typename Decoder::norm norm1{w.norm1, Decoder::epsilon}, norm2{w.norm2, Decoder::epsilon},
      norm3{w.norm3, Decoder::epsilon};
  const auto look = [&](const auto& from) {
    return cross(from | rename_axis<token, query>, memory, memory, mask) |
           rename_axis<query, token>;
  };
  if constexpr (Decoder::norms_first) {
    const auto y = x + self(norm1(x), own);
    const auto z = y + look(norm2(y));
    return z + feed(norm3(z));
  } else {
    const auto y = norm1(x + self(x, own));
    const auto z = norm2(y + look(y));
    return norm3(z + feed(z));
  }
}

template <class... Options>
void check() {
  using layer = decoder<Options...>;
  static const in_floats<layer> f;
  law::check_block(f, causal);
  lcg next{52};
  const auto x = drawn<tokens>(next, 2);
  const auto m = drawn<memories>(next, 2);
  const tensor<int, batch<2>> lens{3, 6}, own{2, 4};
  const auto& decode = f.layer;
  const auto is_by_parts = [&](const auto& y, const auto& mask, const auto& self) {
    BOOST_TEST(same_bits(by_parts<layer>(f.w, x, m, mask, self), y));
  };
  const auto y = decode(x, m, self_mask(causal));
  is_by_parts(y, all_keys, causal);
  is_by_parts(f.packed(x, m, self_mask(causal)), all_keys, causal);
  const auto some = decode(x, m, lens, self_mask(causal & own));
  is_by_parts(some, lens, causal & own);
  is_by_parts(f.packed(x, m, lens, self_mask(causal & own)), lens, causal & own);
  const auto padded = decode(x, m, lens, self_mask(own));
  is_by_parts(padded, lens, own);
  BOOST_TEST(!same_bits(some, padded));
  is_by_parts(decode(x, m, lens, self_mask(sliding_window<1, 1>)), lens, sliding_window<1, 1>);

  // It is causal if it says so, and not otherwise.
  const auto open = decode(x, m, self_mask(all_keys));
  is_by_parts(open, all_keys, all_keys);
  is_by_parts(f.packed(x, m, self_mask(all_keys)), all_keys, all_keys);
  for (std::size_t i = 0; i + 1 < 5; ++i)
    BOOST_TEST(
        !same_bits(open | select_at<token>(i) | contiguous, y | select_at<token>(i) | contiguous));
}

using small = decoder<bias<true>, norm_first<false>>;
constexpr auto drawn_constants = [] {
  struct {
    small::weights w{};
    tokens x{};
    memories m{};
  } c;
  lcg next{53};
  draw_decoder(next, c.w, 0.5, 0.5, 0.25, 0.125, 1, 0.125);
  draw(next, c.x);
  draw(next, c.m);
  return c;
}();
constexpr tensor<int, batch<2>> constant_lens{4, 2};
constexpr tokens computed = small{drawn_constants.w}(drawn_constants.x, drawn_constants.m,
                                                     constant_lens, self_mask(causal));

}  // namespace

BOOST_AUTO_TEST_SUITE(decoder_layers)

BOOST_AUTO_TEST_CASE(it_is_its_parts) { check<>(); }
BOOST_AUTO_TEST_CASE(it_is_its_parts_with_biases) { check<bias<true>, activation<relu>>(); }
BOOST_AUTO_TEST_CASE(it_is_its_parts_norm_last) {
  check<norm_first<false>, bias<true>, norm_epsilon<1, 1'000'000'000'000>>();
}
BOOST_AUTO_TEST_CASE(it_is_its_parts_of_every_kind) {
  check<norm_by<rms_norm>, norm_epsilon<1, 1'000'000>, gated<true>, activation<silu>, kv_heads<1>,
        head_dim<6>, rope<split_halves>>();
}

BOOST_AUTO_TEST_CASE(it_is_its_parts_with_biases_of_some_projections) {
  check<bias_on<'q', 'v', 'o'>, feed_forward_bias<true>>();
}
BOOST_AUTO_TEST_CASE(it_is_its_parts_without_beta) {
  check<norm_bias<false>, norm_first<false>, activation<relu>>();
}

BOOST_AUTO_TEST_CASE(rope_is_of_the_self_attention) {
  using layer = decoder<rope<adjacent_pairs>>;
  static_assert(std::is_same_v<layer::cross_attention, decoder<>::cross_attention>);
  static_assert(!std::is_same_v<layer::self_attention, decoder<>::self_attention>);
}

// What may not be seen does not reach the result, not even NaN.
BOOST_AUTO_TEST_CASE(nan_stays_where_it_is) {
  lcg next{54};
  const auto w = decoder_weights<decoder<bias<true>>>(next);
  const decoder<bias<true>> decode{w};
  auto x = drawn<tokens>(next, 2);
  auto m = drawn<memories>(next, 2);
  const tensor<int, batch<2>> lens{3, 7};
  const auto y = decode(x, m, lens, self_mask(causal));
  m(0, 3, 1) = m(0, 6, 11) = std::nanf("");
  BOOST_TEST(same_bits(decode(x, m, lens, self_mask(causal)), y));
  x(1, 3, 4) = std::nanf("");  // spoils itself and what comes after it
  const auto z = decode(x, m, lens, self_mask(causal));
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t h = 0; h < 12; ++h) {
        if (b == 1 && i >= 3)
          BOOST_TEST(std::isnan(z(b, i, h)) == true);
        else
          BOOST_TEST(std::memcmp(&z(b, i, h), &y(b, i, h), sizeof(float)) == 0);
      }
}

// Both attentions can be looked at, each through its own mask; looking changes no bit.
BOOST_AUTO_TEST_CASE(what_is_looked_at) {
  lcg next{57};
  const auto w = decoder_weights<decoder<>>(next);
  const auto x = drawn<tokens>(next, 2);
  const auto m = drawn<memories>(next, 2);
  const tensor<int, batch<2>> lens{3, 7};
  tensor<float, batch<2>, heads<3>, query<5>, key<7>> of_memory{};
  tensor<float, batch<2>, heads<3>, query<5>, key<5>> of_own{};
  const auto y = decoder<>{w}(x, m, lens & observe(of_memory), self_mask(causal & observe(of_own)));
  BOOST_TEST(same_bits(y, decoder<>{w}(x, m, lens, self_mask(causal))));
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t h = 0; h < 3; ++h)
      for (std::size_t i = 0; i < 5; ++i) {
        double memory_sum = 0, own_sum = 0;
        for (std::size_t j = 0; j < 7; ++j) {
          memory_sum += static_cast<double>(of_memory(b, h, i, j));
          if (j >= static_cast<std::size_t>(lens(b))) BOOST_TEST(of_memory(b, h, i, j) == 0);
        }
        for (std::size_t j = 0; j < 5; ++j) {
          own_sum += static_cast<double>(of_own(b, h, i, j));
          BOOST_TEST((of_own(b, h, i, j) > 0) == (j <= i));
        }
        BOOST_TEST(std::fabs(memory_sum - 1) < 1e-6);
        BOOST_TEST(std::fabs(own_sum - 1) < 1e-6);
      }
}

// A memory of length 0, or one whose attention ends in zeros, leaves the encoder layer with the
// same mask.
BOOST_AUTO_TEST_CASE(without_a_memory_it_is_an_encoder_layer) {
  using encoder = encoder_layer<float, hidden<12>, heads<3>, intermediate<21>, norm_first<true>,
                                activation<gelu_exact>, bias<false>>;
  lcg next{55};
  auto w = decoder_weights<decoder<>>(next);
  encoder::weights v{};
  v.norm1 = w.norm1, v.norm2 = w.norm3;
  v.attention = w.self_attention;
  v.feed_forward = w.feed_forward;
  const auto x = drawn<tokens>(next, 2);
  const auto m = drawn<memories>(next, 2);
  const auto wanted = encoder{v}(x, causal);
  const tensor<int, batch<2>> none{0, -3};
  BOOST_TEST(same_bits(decoder<>{w}(x, m, none, self_mask(causal)), wanted));
  BOOST_TEST(same_bits(decoder<>{w}(x, m, none, self_mask(all_keys)), encoder{v}(x)));
  BOOST_TEST(!same_bits(decoder<>{w}(x, m, self_mask(causal)), wanted));
  for (float& e : w.cross_attention.o.weight) e = 0;
  BOOST_TEST(same_bits(decoder<>{w}(x, m, self_mask(causal)), wanted));
}

BOOST_AUTO_TEST_CASE(in_double) {
  using layer = decoder_layer<double, hidden<12>, heads<3>, intermediate<21>, bias<true>,
                              norm_first<true>, activation<gelu_exact>>;
  const in_floats<layer> f;
  const in_floats<decoder<bias<true>>> g;
  lcg a{56}, b{56};
  const auto x = f.sequences<batch<2>, token<5>>(a);
  const auto m = f.memories<batch<2>, key<7>>(a);
  const auto y = f.layer(x, m, self_mask(causal));
  BOOST_TEST(same_bits(by_parts<layer>(f.w, x, m, all_keys, causal), y));
  BOOST_TEST(same_bits(f.packed(x, m, self_mask(causal)), y));
  const auto z = g.sequences<batch<2>, token<5>>(b);
  const auto n = g.memories<batch<2>, key<7>>(b);
  check_near("float against double", g.layer(z, n, self_mask(causal)).data(), y.data(), 2 * 5 * 12);
}

BOOST_AUTO_TEST_CASE(hidden_positions_are_none_in_integers) {
  static const in_integers<llama_block<decoder_layer>> f;
  law::check_block(f, causal);
}

BOOST_AUTO_TEST_CASE(constant_expressions_give_the_bits_of_the_run) {
  const auto c = drawn_constants;
  BOOST_TEST(same_bits(small{c.w}(c.x, c.m, constant_lens, self_mask(causal)), computed));
  BOOST_TEST(
      same_bits(prepacked<small>{c.w}(c.x, c.m, constant_lens, self_mask(causal)), computed));
}

BOOST_AUTO_TEST_SUITE_END()
