// SPDX-License-Identifier: BSL-1.0
// Attention and the blocks by example: values worked out by hand, and that a constant expression
// and the running program (plain loops here, SIMD there) agree in every bit.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

constexpr float infinity = std::numeric_limits<float>::infinity();

using attention = multi_head_attention<float, hidden<6>, heads<2>, bias<true>>;
using queries = tensor<float, batch<2>, query<3>, hidden<6>>;
using context = tensor<float, batch<2>, key<5>, hidden<6>>;
using encoder = encoder_layer<float, hidden<6>, heads<2>, intermediate<7>, bias<true>,
                              norm_first<false>, activation<gelu_exact>>;

// Everything a test needs, drawn while compiling.
struct constants {
  attention::weights attention_weights{};
  encoder::weights encoder_weights{};
  queries x{};
  context y{}, z{};
};
constexpr constants drawn_constants = [] {
  constants c;
  lcg next{77};
  draw_attention(next, c.attention_weights, 1, 0.5);
  draw_encoder(next, c.encoder_weights, 1, 1, 1, 0.5, 1, 0.5);
  draw(next, c.x, 2);
  draw(next, c.y, 2);
  draw(next, c.z);
  return c;
}();
constexpr tensor<int, batch<2>> lens{4, 2};

constexpr queries attended = attention{drawn_constants.attention_weights}(
    drawn_constants.x, drawn_constants.y, drawn_constants.z, lens);
constexpr queries attended_self = attention{drawn_constants.attention_weights}(drawn_constants.x);
constexpr queries encoded = encoder{drawn_constants.encoder_weights}(drawn_constants.x, lens);
constexpr auto pooled = drawn_constants.x | gelu_tanh | gelu_exact | silu | relu | mean<query>;
constexpr auto normed = rms_norm<float, hidden<6>>{drawn_constants.encoder_weights.norm1.gamma,
                                                   1e-6f}(drawn_constants.x);
constexpr auto weighed = softmax<hidden>(drawn_constants.x * 3.0f);

// Packed while compiling: no work at start, and it lies in read-only memory.
constexpr prepacked<attention> packed{drawn_constants.attention_weights};
constexpr prepacked<encoder> packed_encoder{drawn_constants.encoder_weights};

}  // namespace

BOOST_AUTO_TEST_SUITE(attention_by_example)

// An integer is the length of all sequences, alone and with other masks.
BOOST_AUTO_TEST_CASE(an_integer_as_length) {
  const constants& c = drawn_constants;
  const attention attend{c.attention_weights};
  const encoder encode{c.encoder_weights};
  for (const int length : {-1, 0, 1, 2, 3, 5, 9}) {
    const tensor<int, batch<2>> both{length, length};
    BOOST_TEST(same_bits(attend(c.x, c.y, c.z, length), attend(c.x, c.y, c.z, both)));
    BOOST_TEST(same_bits(encode(c.x, length), encode(c.x, both)));
    BOOST_TEST(same_bits(attend(c.x, length & causal), attend(c.x, both & causal)));
    const auto kept = causal & length;
    BOOST_TEST(same_bits(attend(c.x, kept), attend(c.x, both & causal)));
    BOOST_TEST(same_bits(attend(c.x, causal & std::int64_t{length}), attend(c.x, kept)));
  }
  static_assert(attention{drawn_constants.attention_weights}(drawn_constants.x, drawn_constants.y,
                                                             drawn_constants.z,
                                                             4)(0, 0, 0) == attended(0, 0, 0));
}

BOOST_AUTO_TEST_CASE(constant_expressions_give_the_bits_of_the_run) {
  const constants c = drawn_constants;
  const attention attend{c.attention_weights};
  BOOST_TEST(same_bits(attend(c.x, c.y, c.z, lens), attended));
  BOOST_TEST(same_bits(attend(c.x), attended_self));
  BOOST_TEST(same_bits(encoder{c.encoder_weights}(c.x, lens), encoded));
  BOOST_TEST(same_bits(c.x | gelu_tanh | gelu_exact | silu | relu | mean<query>, pooled));
  BOOST_TEST(
      same_bits(rms_norm<float, hidden<6>>(c.encoder_weights.norm1.gamma, 1e-6f)(c.x), normed));
  BOOST_TEST(same_bits(softmax<hidden>(c.x * 3.0f), weighed));
}

BOOST_AUTO_TEST_CASE(packed_while_compiling) {
  const constants c = drawn_constants;
  static const prepacked<attention> now{c.attention_weights};  // static: padding is zeros, too
  BOOST_TEST(std::memcmp(&now, &packed, sizeof now) == 0);
  BOOST_TEST(same_bits(packed(c.x, c.y, c.z, lens), attended));
  BOOST_TEST(same_bits(packed(c.x), attended_self));
  BOOST_TEST(same_bits(packed_encoder(c.x, lens), encoded));
}

// Two equal keys weigh 1/2 each, so the result is the mean of the values.
BOOST_AUTO_TEST_CASE(equal_keys_give_the_mean) {
  using one_head = multi_head_attention<float, hidden<2>, heads<1>>;
  one_head::weights w{};
  for (auto* m : {&w.q, &w.k, &w.v, &w.o}) (*m)(0, 0) = (*m)(1, 1) = 1;
  const tensor<float, query<1>, hidden<2>> x{3.0f, -4.0f};
  const tensor<float, key<2>, hidden<2>> y{0.5f, 0.25f, 0.5f, 0.25f}, z{1.0f, 10.0f, 2.0f, 30.0f};
  const auto out = one_head{w}(x, y, z);
  BOOST_TEST(out(0, 0) == 1.5f);
  BOOST_TEST(out(0, 1) == 20.0f);
}

// The d2l book's masked softmax: 2 and 3 of 4 scores count.
BOOST_AUTO_TEST_CASE(masks_after_a_length) {
  const tensor<float, batch<2>, query<2>, key<4>> scores{};
  const auto masked = mask_after<key>(scores, tensor<int, batch<2>>{2, 3});
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      BOOST_TEST(masked(0, i, j) == (j < 2 ? 0 : -infinity));
      BOOST_TEST(masked(1, i, j) == (j < 3 ? 0 : -infinity));
    }
  const auto weights = softmax<key>(masked);
  BOOST_TEST(weights(0, 1, 1) == 0.5f);
  BOOST_TEST(weights(0, 1, 2) == 0.0f);
  BOOST_TEST(weights(1, 0, 0) == 1.0f / 3);
  BOOST_TEST(weights(1, 0, 3) == 0.0f);
}

// And with a length for each query, in any order of axes, clamped, the same for all of an axis of
// size 1.
BOOST_AUTO_TEST_CASE(masks_after_a_length_by_query) {
  const tensor<float, batch<2>, query<2>, key<4>> scores{};
  const tensor<int, batch<2>, query<2>> lens{1, 3, 2, 4};
  const auto masked = mask_after<key>(scores, lens);
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 4; ++j)
        BOOST_TEST(masked(b, i, j) == (static_cast<int>(j) < lens(b, i) ? 0 : -infinity));
  BOOST_TEST((mask_after<key>(scores, lens | permute<query, batch>) == masked));
  const auto clamped = mask_after<key>(scores, tensor<int, batch<1>, query<2>>{-7, 9});
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t j = 0; j < 4; ++j) {
      BOOST_TEST(clamped(b, 0, j) == -infinity);
      BOOST_TEST(clamped(b, 1, j) == 0);
    }
}

BOOST_AUTO_TEST_CASE(softmax_of_extremes) {
  const auto row = [](float a, float b, float c) {
    return softmax<key>(tensor<float, key<3>>{a, b, c});
  };
  BOOST_TEST(row(5, 5, -infinity)(0) == 0.5f);
  BOOST_TEST(row(5, 5, -infinity)(2) == 0.0f);
  BOOST_TEST(row(-infinity, -infinity, -infinity)(1) == 0.0f);
  BOOST_TEST(row(1e38f, -1e38f, 0)(0) == 1.0f);
  BOOST_TEST(row(-1e38f, -3e38f, -2e38f)(0) == 1.0f);
}

BOOST_AUTO_TEST_CASE(activations_at_one) {
  const tensor<float, hidden<1>> one{1.0f};
  BOOST_TEST(std::fabs(gelu_exact(one)(0) - 0.841344746f) < 2e-7f);
  BOOST_TEST(std::fabs(gelu_tanh(one)(0) - 0.841191990f) < 2e-7f);
  BOOST_TEST(std::fabs(silu(one)(0) - 0.731058579f) < 2e-7f);
  BOOST_TEST(relu(one * -1.0f)(0) == 0.0f);
}

// docs/how-to/mask-at-run-time.md.
BOOST_AUTO_TEST_CASE(a_mask_chosen_at_run_time) {
  const attention attend(drawn_constants.attention_weights);
  const auto x = drawn_constants.x;
  using tokens = tensor<float, batch<2>, token<3>, hidden<6>>;
  const tokens t = x | rename_axis<query, token>;
  for (const bool flag : {true, false}) {
    tokens out;
    const auto attend_with = [&](const auto& mask) { attend.into(out, t, mask); };
    flag ? attend_with(causal) : attend_with(all_keys);
    const tokens alone = flag ? attend(t, causal) : attend(t, all_keys);
    BOOST_TEST(same_bits(out, alone));
    BOOST_TEST(same_bits(attend(t, causal_at(flag ? 0 : 3)), alone));
  }
}

BOOST_AUTO_TEST_SUITE_END()
