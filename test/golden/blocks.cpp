// SPDX-License-Identifier: BSL-1.0
// The blocks against torch: the encoder layer and the layers of LLaMA and Qwen3 (natural and packed
// weights), layer_norm, rms_norm, both GELUs, silu, softmax and linear; and tables of sinusoids.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include "../support/compare.hpp"
#include "../support/parameters.hpp"
#include "../support/random.hpp"
#include "data/llama_layer.hpp"
#include "data/sinusoids.hpp"
#include "data/torch_encoder_layer.hpp"
#include "data/torch_functional.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <std::size_t N>
struct rows : axis<rows, N> {};

template <class Encoder, class X>
void check_encoder(lcg next, const float* scales, const float* output) {
  const X x = drawn<X>(next);
  typename Encoder::weights w{};
  draw_encoder(next, w, scales[0], scales[1], scales[2], scales[3], scales[4], scales[5]);
  const auto natural = Encoder{w}(x);
  check_near("encoder", natural.data(), output, X::layout::count);
  const prepacked<Encoder> packed{w};
  BOOST_TEST(same_bits(natural, packed(x)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_blocks)

BOOST_AUTO_TEST_CASE(encoder_pre_norm) {
  namespace g = golden::encoder_pre_norm;
  using encoder =
      encoder_layer<float, hidden<g::hidden>, heads<g::heads>, intermediate<g::feed_forward>,
                    bias<true>, norm_first<true>, activation<gelu_exact>>;
  const float scales[] = {g::weight_scale, g::up_scale,    g::down_scale,
                          g::bias_scale,   g::gamma_scale, g::beta_scale};
  check_encoder<encoder, tensor<float, batch<g::batch>, token<g::tokens>, hidden<g::hidden>>>(
      {g::seed}, scales, g::output);
}

BOOST_AUTO_TEST_CASE(encoder_post_norm) {
  namespace g = golden::encoder_post_norm;
  using encoder =
      encoder_layer<float, hidden<g::hidden>, heads<g::heads>, intermediate<g::feed_forward>,
                    activation<gelu_exact>, norm_first<false>, bias<true>>;
  const float scales[] = {g::weight_scale, g::up_scale,    g::down_scale,
                          g::bias_scale,   g::gamma_scale, g::beta_scale};
  check_encoder<encoder, tensor<float, batch<g::batch>, token<g::tokens>, hidden<g::hidden>>>(
      {g::seed}, scales, g::output);
}

// What torch does when it is told nothing: norms last, relu, biases.
BOOST_AUTO_TEST_CASE(encoder_defaults) {
  namespace g = golden::encoder_defaults;
  using encoder =
      encoder_layer<float, hidden<g::hidden>, heads<g::heads>, intermediate<g::feed_forward>,
                    activation<relu>, norm_first<false>, bias<true>>;
  const float scales[] = {g::weight_scale, g::up_scale,    g::down_scale,
                          g::bias_scale,   g::gamma_scale, g::beta_scale};
  check_encoder<encoder, tensor<float, batch<g::batch>, token<g::tokens>, hidden<g::hidden>>>(
      {g::seed}, scales, g::output);
}

BOOST_AUTO_TEST_CASE(layer_of_llama) {
  namespace g = golden::llama;
  using layer =
      encoder_layer<float, hidden<g::hidden>, heads<g::heads>, intermediate<g::feed_forward>,
                    norm_by<rms_norm>, norm_epsilon<1, 1'000'000>, gated<true>, activation<silu>,
                    norm_first<true>, bias<false>, kv_heads<g::kv_heads>, rope<split_halves>>;
  lcg next{g::seed};
  const auto x = drawn<tensor<float, batch<g::batch>, token<g::tokens>, hidden<g::hidden>>>(next);
  layer::weights w{};
  draw_encoder(next, w, g::weight_scale, g::weight_scale, g::down_scale, 0, 1, 0);
  const auto natural = layer{w}(x, causal);
  check_near("llama", natural.data(), g::output, std::size(g::output));
  BOOST_TEST(same_bits(natural, prepacked<layer>{w}(x, causal)));
}

BOOST_AUTO_TEST_CASE(layer_of_qwen3) {
  namespace g = golden::qwen3;
  using layer =
      encoder_layer<float, hidden<g::hidden>, heads<g::heads>, intermediate<g::feed_forward>,
                    norm_by<rms_norm>, norm_epsilon<1, 1'000'000>, gated<true>, activation<silu>,
                    norm_first<true>, bias<false>, kv_heads<g::kv_heads>, head_dim<g::head_dim>,
                    query_key_norm<rms_norm>, rope<split_halves>>;
  lcg next{g::seed};
  const auto x = drawn<tensor<float, batch<g::batch>, token<g::tokens>, hidden<g::hidden>>>(next);
  const auto w = drawn_parameters<layer>(next);
  const auto natural = layer{w}(x, causal);
  check_near("qwen3", natural.data(), g::output, std::size(g::output));
  BOOST_TEST(same_bits(natural, prepacked<layer>{w}(x, causal)));
}

BOOST_AUTO_TEST_CASE(layer_norms) {
  namespace g = golden::torch_layer_norm;
  using norm = layer_norm<float, hidden<g::hidden>>;
  lcg next{g::seed};
  const auto x = drawn<tensor<float, rows<g::rows>, hidden<g::hidden>>>(next);
  norm::weights w{};
  draw(next, w.gamma, g::gamma_scale);
  draw(next, w.beta, g::beta_scale);
  check_near("layer_norm", norm(w, g::epsilon)(x).data(), g::output, std::size(g::output));
  BOOST_TEST(same_bits(norm{w}(x), x | norm(w, g::epsilon)));
}

BOOST_AUTO_TEST_CASE(rms_norms) {
  namespace g = golden::torch_rms_norm;
  using norm = rms_norm<float, hidden<g::hidden>>;
  lcg next{g::seed};
  const auto x = drawn<tensor<float, rows<g::rows>, hidden<g::hidden>>>(next);
  norm::weights w{};
  draw(next, w.gamma, g::gamma_scale);
  check_near("rms_norm", norm(w, g::epsilon)(x).data(), g::output, std::size(g::output));
}

BOOST_AUTO_TEST_CASE(gelus) {
  namespace g = golden::torch_gelu;
  tensor<float, rows<g::points>> x{};
  for (std::size_t i = 0; i < g::points; ++i) x(i) = static_cast<float>(i) / 32 - 8;
  check_near("gelu_exact", gelu_exact(x).data(), g::exact, g::points);
  check_near("gelu_tanh", gelu_tanh(x).data(), g::tanh_form, g::points);
}

BOOST_AUTO_TEST_CASE(silus) {
  namespace g = golden::torch_silu;
  tensor<float, rows<g::points>> x{};
  for (std::size_t i = 0; i < g::points; ++i) x(i) = static_cast<float>(i) / 16 - 16;
  check_near("silu", silu(x).data(), g::output, g::points);
}

template <class Pairs, std::size_t Tokens, std::size_t Hidden, std::size_t Count>
void check_sinusoids(const char* name, const float (&output)[Count]) {
  static_assert(Count == Tokens * Hidden);
  check_near(name, sinusoidal_positions<float, token<Tokens>, hidden<Hidden>, Pairs>::table.data(),
             output, Count);
}

BOOST_AUTO_TEST_CASE(sinusoids) {
  namespace g = golden;
  check_sinusoids<adjacent_pairs, g::sinusoids_d2l::tokens, g::sinusoids_d2l::hidden>(
      "d2l", g::sinusoids_d2l::output);
  check_sinusoids<split_halves, g::sinusoids_marian::tokens, g::sinusoids_marian::hidden>(
      "Marian", g::sinusoids_marian::output);
  check_sinusoids<split_halves, g::sinusoids_marian_odd::tokens, g::sinusoids_marian_odd::hidden>(
      "Marian, odd", g::sinusoids_marian_odd::output);
  check_sinusoids<split_halves_to_base, g::sinusoids_fairseq::tokens, g::sinusoids_fairseq::hidden>(
      "fairseq", g::sinusoids_fairseq::output);
  check_sinusoids<split_halves_to_base, g::sinusoids_fairseq_odd::tokens,
                  g::sinusoids_fairseq_odd::hidden>("fairseq, odd",
                                                    g::sinusoids_fairseq_odd::output);
}

BOOST_AUTO_TEST_CASE(softmaxes) {
  namespace g = golden::torch_softmax;
  const tensor<float, rows<g::rows>, key<g::columns>> scores(g::scores);
  check_near("softmax", softmax<key>(scores).data(), g::output, std::size(g::output));
  const auto down = softmax<key>(scores | permute<key, rows> | contiguous);
  BOOST_TEST(same_bits(down | permute<rows, key> | contiguous, softmax<key>(scores)));
}

BOOST_AUTO_TEST_CASE(linears) {
  namespace g = golden::torch_linear;
  using map = linear<float, hidden<g::inputs>, classes<g::outputs>, bias<true>>;
  lcg next{g::seed};
  const auto x = drawn<tensor<float, rows<g::rows>, hidden<g::inputs>>>(next);
  map::weights w{};
  draw(next, w.weight, g::weight_scale);
  draw(next, w.bias, g::bias_scale);
  check_near("linear", map{w}(x).data(), g::output, std::size(g::output));
  BOOST_TEST(same_bits(map{w}(x), prepacked<map>{w}(x)));
  BOOST_TEST(same_bits(map{w}(x), x * w));
}

BOOST_AUTO_TEST_SUITE_END()
