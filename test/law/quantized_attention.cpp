// SPDX-License-Identifier: BSL-1.0
// What holds for attention and encoder layers in integers, to the bit: the number of workers does
// not matter; hidden positions are none; a batch is its sequences; heads that share keys are heads
// whose keys are the same. And they are near the layers of floats. Not here: steps
// (quantized_cache.cpp), decoder layers (quantized_decoder.cpp).
#include <boost/test/unit_test.hpp>
#include <umbel/quantized.hpp>

#include <algorithm>

#include "../support/blocks.hpp"
#include "../support/compare.hpp"
#include "../support/executors.hpp"
#include "../support/quantized.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

using rotated =
    multi_head_attention<float, hidden<18>, heads<3>, rope<split_halves, 10000, 4>, bias<true>>;
using normed = multi_head_attention<float, hidden<18>, heads<3>, query_key_norm<layer_norm>,
                                    rope<split_halves, 10000, 4>, bias<true>>;
using llama = llama_block<encoder_layer>;
using post_norm = vaswani_block<encoder_layer>;
template <class... Options>
using small_encoder = encoder_layer<float, hidden<18>, heads<3>, intermediate<20>, Options...>;

template <class Layer, std::size_t Tokens>
using floats = tensor<typename Layer::value_type, token<Tokens>, typename Layer::hidden_axis>;
template <class T, class Layer, std::size_t Batch, std::size_t Tokens>
using integers = tensor<T, batch<Batch>, token<Tokens>, typename Layer::hidden_axis>;

// T: of activations, below `most`.
template <class T, class Layer, std::size_t Batch, std::size_t Tokens>
void check_workers(double most) {
  static const quantized_fixture<Layer, floats<Layer, Tokens>> f;
  lcg next{Batch};
  const auto x = drawn_integers<integers<T, Layer, Batch, Tokens>>(next, most);
  tensor<int, batch<Batch>> lens;
  for (std::size_t b = 0; b < Batch; ++b) lens(b) = static_cast<int>(b * 7 % (Tokens + 1));
  const auto wanted = f.layer(x, lens & causal);
  using work = typename quantized<Layer>::template workspace<token<Tokens>>;
  static work of_five[5];
  shuffled<5> five;
  auto out = x;
  f.layer.into(out, x, lens & causal, parallel(five, of_five));
  BOOST_TEST(same_bits(out, wanted));
  BOOST_TEST(five.pieces > 0u);
  BOOST_TEST(same_bits(f.layer(x, lens & causal, parallel(serial, of_five)), wanted));
}

// The largest relative error of layers that were observed on sequences like these. Bounds:
// measured.
template <class Layer>
double error_of(std::uint32_t seed) {
  using T = typename Layer::value_type;
  using hidden_axis = typename Layer::hidden_axis;
  const quantized_fixture<Layer, floats<Layer, 21>> f;
  lcg next{seed};
  const auto x = drawn<floats<Layer, 21>>(next, 2);
  const double unit = static_cast<double>(f.seen.residual()) / 16384;
  tensor<std::int16_t, token<21>, hidden_axis> xs;
  for (std::size_t i = 0; i < x.size(); ++i)
    xs.data()[i] = static_cast<std::int16_t>(std::lrint(static_cast<double>(x.data()[i]) / unit));
  static_assert(std::is_floating_point_v<T>);
  return relative_error(f.layer(xs, causal), unit, Layer{f.w}(x, causal));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quantized_attention_laws)

BOOST_AUTO_TEST_CASE(any_number_of_workers_gives_the_same) {
  check_workers<std::int8_t, rotated, 1, 33>(127);
  check_workers<std::int8_t, rotated, 7, 5>(127);
  check_workers<std::int8_t, normed, 1, 33>(127);
  check_workers<std::int16_t, llama, 1, 33>(16000);
  check_workers<std::int16_t, layer_stack<post_norm, 2>, 6, 19>(16000);
}

BOOST_AUTO_TEST_CASE(hidden_positions_are_none_and_a_batch_is_its_sequences) {
  static const quantized_fixture<llama, floats<llama, 9>> f;
  lcg next{3};
  const auto x = drawn_integers<tensor<std::int16_t, batch<2>, token<9>, hidden<16>>>(next, 16000);
  const auto whole = f.layer(x, tensor<int, batch<2>>{5, 9});
  const view<const std::int16_t, token<5>, hidden<16>> first(x.data());
  const auto alone = f.layer(first);
  BOOST_TEST(std::equal(alone.begin(), alone.end(), whole.data()));
  const view<const std::int16_t, token<9>, hidden<16>> second(x.data() + 9 * 16);
  const auto all = f.layer(second);
  BOOST_TEST(std::equal(all.begin(), all.end(), whole.data() + 9 * 16));
}

// Of one scale, as the ranges say: a scale of its own for each output is repeated, too.
BOOST_AUTO_TEST_CASE(shared_keys_are_repeated_keys) {
  using grouped = multi_head_attention<float, hidden<20>, heads<4>, kv_heads<2>,
                                       rope<adjacent_pairs, 10000, 2>, bias<false>>;
  using repeated = multi_head_attention<float, hidden<20>, heads<4>, rope<adjacent_pairs, 10000, 2>,
                                        bias<false>>;
  static_assert(grouped::sizes.head_dim == 5);
  static const quantized_fixture<grouped, floats<grouped, 11>> f;
  repeated::weights w{};
  std::copy_n(f.w.q.weight, 400, w.q.weight);
  std::copy_n(f.w.o.weight, 400, w.o.weight);
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t o = 0; o < 20; ++o) {
      w.k.weight[i * 20 + o] = f.w.k.weight[i * 10 + o / 10 * 5 + o % 5];
      w.v.weight[i * 20 + o] = f.w.v.weight[i * 10 + o / 10 * 5 + o % 5];
    }
  const quantized<repeated> other{w, f.seen};
  lcg next{6};
  const auto x = drawn_integers<tensor<std::int8_t, token<11>, hidden<20>>>(next, 127);
  BOOST_TEST(same_bits(f.layer(x, causal), other(x, causal)));
}

BOOST_AUTO_TEST_CASE(near_the_layers_of_floats) {
  for (std::uint32_t seed = 20; seed < 25; ++seed) {
    BOOST_TEST(error_of<llama>(seed) < 0.0065);
    BOOST_TEST(error_of<post_norm>(seed) < 0.009);
  }
}

// Biases of some maps, norms without one, values of another width than keys: each alone changes
// what is packed.
template <class... Options>
using with = block_with<small_encoder, Options...>;
BOOST_AUTO_TEST_CASE(options_of_maps_and_norms) {
  for (std::uint32_t seed = 30; seed < 33; ++seed) {
    BOOST_TEST((error_of<with<bias_on<'q', 'o'>, feed_forward_bias<true>>>(seed) < 0.009));
    BOOST_TEST((error_of<with<norm_bias<false>, bias_on<'k', 'v'>, feed_forward_bias<false>>>(
                    seed) < 0.009));
    BOOST_TEST(
        (error_of<with<head_dim<6>, value_dim<3>, gated<true>, activation<silu>>>(seed) < 0.009));
    BOOST_TEST((error_of<with<query_key_norm<layer_norm>, head_dim<6>>>(seed) < 0.009));
    BOOST_TEST((error_of<with<query_key_norm<rms_norm>, norm_epsilon<1, 1000>, kv_heads<1>>>(seed) <
                0.009));
  }
}

// Queries, keys and values that come from, and a result that goes to, other widths.
BOOST_AUTO_TEST_CASE(other_widths_of_keys_values_and_result) {
  using layer = multi_head_attention<float, hidden<20>, heads<5>, keys_from<hidden<6>>,
                                     values_from<hidden<9>>, output_to<hidden<3>>, value_dim<7>,
                                     bias_on<'v'>>;
  lcg next{11};
  const auto w = drawn_weights<layer>(next);
  quantized<layer>::ranges seen{};
  const auto x = drawn<tensor<float, batch<2>, query<4>, hidden<20>>>(next, 2);
  const auto y = drawn<tensor<float, batch<2>, key<11>, hidden<6>>>(next, 2);
  const auto z = drawn<tensor<float, batch<2>, key<11>, hidden<9>>>(next, 2);
  const tensor<int, batch<2>> lens{7, 11};
  const auto wanted = quantized<layer>::observe(seen, w, x, y, z, lens);
  const quantized<layer> attend{w, seen};
  const auto out =
      attend(quantize<std::int8_t>(x, seen.queries), quantize<std::int8_t>(y, seen.keys),
             quantize<std::int8_t>(z, seen.values), lens);
  BOOST_TEST(relative_error(out, static_cast<double>(seen.output()) / 127, wanted) < 0.03);
}

// An encoder layer, evaluated by the compiler.
BOOST_AUTO_TEST_CASE(the_compiler_computes_an_encoder_layer) {
  using layer = encoder_layer<float, hidden<4>, heads<2>, intermediate<4>, norm_first<true>,
                              activation<relu>, bias<true>>;
  static constexpr layer::weights w = [] {
    layer::weights made{};
    int i = 0;
    const auto draw = [&](auto& values) {
      for (float& v : values) v = static_cast<float>((i = (i * 37 + 11) % 64) - 32) / 64;
    };
    draw(made.attention.q.weight), draw(made.attention.k.weight), draw(made.attention.v.weight);
    draw(made.attention.o.weight), draw(made.feed_forward.up.weight);
    draw(made.feed_forward.down.weight), draw(made.feed_forward.up.bias);
    for (float& gamma : made.norm1.gamma) gamma = 1;
    for (float& gamma : made.norm2.gamma) gamma = 1;
    return made;
  }();
  static constexpr quantized<layer>::ranges seen = [] {
    quantized<layer>::ranges made{};
    made.residual() = made.attention.input() = made.feed_forward.input() = 4;
    made.attention.q() = made.attention.k() = made.attention.v() = 4;
    made.feed_forward.up() = made.feed_forward.activated() = 4;
    return made;
  }();
  static constexpr quantized<layer> packed{w, seen};
  static constexpr tensor<std::int16_t, token<3>, hidden<4>> x{
      12000, -4000, 300, -32767, 5, 8000, -9000, 32767, 0, 1, -1, 16384};
  static constexpr auto computed = packed(x, causal);
  const auto run = packed(x, causal);
  BOOST_TEST(same_bits(computed, run));
  BOOST_TEST(!same_bits(run, x));
}

BOOST_AUTO_TEST_SUITE_END()
