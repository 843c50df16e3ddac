// SPDX-License-Identifier: BSL-1.0
// The decoder layer against torch: norms first and last, with and without lengths, causal and as
// torch is when it is told nothing; natural and packed weights.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include "../support/compare.hpp"
#include "../support/random.hpp"
#include "data/torch_decoder_layer.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <bool NormFirst, auto& Activation, std::size_t Batch, std::size_t Tokens, std::size_t Keys,
          std::size_t Hidden, std::size_t Heads, std::size_t FeedForward, class Mask, class Own>
void check(std::uint32_t seed, const float (&scales)[3], const float* output, const Mask& mask,
           const Own& own) {
  using layer = decoder_layer<float, hidden<Hidden>, heads<Heads>, intermediate<FeedForward>,
                              bias<true>, norm_first<NormFirst>, activation<Activation>>;
  lcg next{seed};
  const auto x = drawn<tensor<float, batch<Batch>, token<Tokens>, hidden<Hidden>>>(next);
  const auto memory = drawn<tensor<float, batch<Batch>, key<Keys>, hidden<Hidden>>>(next);
  typename layer::weights w{};
  draw_decoder(next, w, scales[0], scales[0], scales[1], scales[2], 1, scales[2]);
  static typename layer::template workspace<token<Tokens>, key<Keys>> work;
  const auto natural = layer{w}(x, memory, mask, own, work);
  check_near("decoder", natural.data(), output, Batch * Tokens * Hidden);
  const prepacked<layer> packed{w};
  BOOST_TEST(same_bits(natural, packed(x, memory, mask, own, work)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_decoder)

BOOST_AUTO_TEST_CASE(pre_norm) {
  namespace g = golden::decoder_pre_norm;
  check<true, gelu_exact, g::batch, g::tokens, g::keys, g::hidden, g::heads, g::feed_forward>(
      g::seed, {g::weight_scale, g::down_scale, g::bias_scale}, g::output, all_keys,
      self_mask(causal));
}

BOOST_AUTO_TEST_CASE(post_norm) {
  namespace g = golden::decoder_post_norm;
  check<false, gelu_exact, g::batch, g::tokens, g::keys, g::hidden, g::heads, g::feed_forward>(
      g::seed, {g::weight_scale, g::down_scale, g::bias_scale}, g::output, all_keys,
      self_mask(causal));
}

BOOST_AUTO_TEST_CASE(pre_norm_lengths) {
  namespace g = golden::decoder_pre_norm_lengths;
  const tensor<int, batch<g::batch>> lens(g::lengths);
  check<true, gelu_exact, g::batch, g::tokens, g::keys, g::hidden, g::heads, g::feed_forward>(
      g::seed, {g::weight_scale, g::down_scale, g::bias_scale}, g::output, lens, self_mask(causal));
}

BOOST_AUTO_TEST_CASE(post_norm_lengths) {
  namespace g = golden::decoder_post_norm_lengths;
  const tensor<int, batch<g::batch>> lens(g::lengths);
  tensor<int, batch<g::batch>> own{};
  for (std::size_t b = 0; b < g::batch; ++b) own(b) = static_cast<int>(g::own_lengths[b]);
  check<false, gelu_exact, g::batch, g::tokens, g::keys, g::hidden, g::heads, g::feed_forward>(
      g::seed, {g::weight_scale, g::down_scale, g::bias_scale}, g::output, lens,
      self_mask(causal & own));
}

// What torch does when it is told nothing: norms last, relu, biases, and without a tgt_mask nothing
// is hidden.
BOOST_AUTO_TEST_CASE(defaults) {
  namespace g = golden::decoder_defaults;
  check<false, relu, g::batch, g::tokens, g::keys, g::hidden, g::heads, g::feed_forward>(
      g::seed, {g::weight_scale, g::down_scale, g::bias_scale}, g::output, all_keys,
      self_mask(all_keys));
}

BOOST_AUTO_TEST_CASE(defaults_lengths) {
  namespace g = golden::decoder_defaults_lengths;
  const tensor<int, batch<g::batch>> lens(g::lengths);
  tensor<int, batch<g::batch>> own{};
  for (std::size_t b = 0; b < g::batch; ++b) own(b) = static_cast<int>(g::own_lengths[b]);
  check<false, relu, g::batch, g::tokens, g::keys, g::hidden, g::heads, g::feed_forward>(
      g::seed, {g::weight_scale, g::down_scale, g::bias_scale}, g::output, lens, self_mask(own));
}

BOOST_AUTO_TEST_SUITE_END()
