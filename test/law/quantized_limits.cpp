// SPDX-License-Identifier: BSL-1.0
// Where integers fail, and what helps: a feature or a weight that is far larger than the others,
// and rows of attention of many keys beside one that is peaked. The errors are in docs/integers.md:
// BOOST_TEST_LOG_LEVEL=message shows them. And what holds for softmax_as<std::int16_t>, to the bit:
// workers do not matter, steps are the whole pass.
#define UMBEL_STACK_BUDGET 1048576  // rows of 4096 keys
#include <boost/test/unit_test.hpp>
#include <umbel/quantized.hpp>

#include <algorithm>
#include <cmath>

#include "../support/blocks.hpp"
#include "../support/compare.hpp"
#include "../support/executors.hpp"
#include "../support/quantized.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

// Of a map whose input has feature 0 `outlier` times as large as the others, while its weights are
// as much smaller. moved: that much of it is taken from the feature and given to its weights, as a
// gamma before the map can.
double error_with_a_large_feature(float outlier, float moved) {
  using map = linear<float, hidden<64>, out_features<64>>;
  lcg next{1};
  static map::weights w;
  draw(next, w.weight, 0.125);
  auto x = drawn<tensor<float, token<200>, hidden<64>>>(next);
  for (std::size_t o = 0; o < 64; ++o) w.weight[o] *= moved / outlier;
  for (std::size_t t = 0; t < 200; ++t) x(t, 0) *= outlier / moved;
  quantized<map>::ranges seen{};
  const auto wanted = quantized<map>::calibrate(seen, w, x);
  const quantized<map> layer{w, seen};
  return relative_error(layer(quantize<std::int8_t>(x, seen.input)),
                        static_cast<double>(seen.output()) / 127, wanted);
}
// Of the outputs of a map that have one weight `outlier` times as large as the others, of an input
// that is as much smaller.
double error_with_a_large_weight(float outlier) {
  using map = linear<float, hidden<64>, out_features<64>>;
  lcg next{2};
  static map::weights w;
  draw(next, w.weight, 0.125);
  auto x = drawn<tensor<float, token<200>, hidden<64>>>(next);
  for (std::size_t o = 0; o < 64; ++o) w.weight[o] *= outlier;
  for (std::size_t t = 0; t < 200; ++t) x(t, 0) /= outlier;
  quantized<map>::ranges seen{};
  const auto wanted = quantized<map>::calibrate(seen, w, x);
  const quantized<map> layer{w, seen};
  return relative_error(layer(quantize<std::int8_t>(x, seen.input)),
                        static_cast<double>(seen.output()) / 127, wanted);
}
// What an encoder layer adds to a residual sum that has feature 0 `outlier` times as large.
double error_with_a_large_residual(float outlier) {
  using layer = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, norm_first<true>,
                              norm_by<rms_norm>, norm_epsilon<1, 1'000'000>, activation<silu>,
                              gated<true>, bias<false>>;
  lcg next{3};
  static layer::weights w;
  draw_layer(next, w);
  auto x = drawn<tensor<float, token<50>, hidden<32>>>(next);
  for (std::size_t t = 0; t < 50; ++t) x(t, 0) = outlier;
  quantized<layer>::ranges seen{};
  auto wanted = quantized<layer>::calibrate(seen, w, x);
  static quantized<layer> packed;
  BOOST_REQUIRE(packed.pack(w, seen));
  const auto given = quantize<std::int16_t>(x, seen.residual);
  auto y = packed(given);
  for (std::size_t i = 0; i < y.size(); ++i) {
    y.data()[i] = static_cast<std::int16_t>(y.data()[i] - given.data()[i]);
    wanted.data()[i] -= x.data()[i];
  }
  return relative_error(y, static_cast<double>(seen.residual()) / 16384, wanted);
}

// Of attention to Keys keys that each weigh 1/peak of the first.
template <std::size_t Keys, class Weight>
double error_of_peaked_rows(double peak) {
  using layer = multi_head_attention<float, hidden<8>, heads<1>, bias<false>>;
  layer::weights w{};
  for (std::size_t f = 0; f < 8; ++f) {
    (f < 4 ? w.q : w.v).weight[f * 9] = 1;
    if (f < 4) w.k.weight[f * 9] = 1;
    w.o.weight[f * 9] = 1;
  }
  lcg next{4};
  tensor<float, query<16>, hidden<8>> x{};
  static tensor<float, key<Keys>, hidden<8>> y{};
  for (std::size_t i = 0; i < 16; ++i) x(i, 0) = 1 + next() / 16;
  for (std::size_t j = 0; j < Keys; ++j) {
    y(j, 0) = j == 0 ? static_cast<float>(std::sqrt(8.0) * std::log(peak)) : 0;
    for (std::size_t f = 4; f < 8; ++f) y(j, f) = j == 0 ? -1 : 0.5F + 0.4F * next();
  }
  using packed = quantized<layer, softmax_as<Weight>>;
  typename packed::ranges seen{};
  const auto wanted = packed::calibrate(seen, w, x, y, y);
  const packed attend{w, seen};
  return relative_error(
      attend(quantize<std::int8_t>(x, seen.queries), quantize<std::int8_t>(y, seen.keys),
             quantize<std::int8_t>(y, seen.values)),
      static_cast<double>(seen.output()) / 127, wanted);
}

template <class Layer, std::size_t Tokens>
using floats = tensor<typename Layer::value_type, token<Tokens>, typename Layer::hidden_axis>;

template <class Layer>
struct in_16_bits {
  using type = quantized<Layer, softmax_as<std::int16_t>>;
  quantized_fixture<Layer, floats<Layer, 19>> floats_of;
  type layer;
  in_16_bits() { BOOST_TEST_REQUIRE(static_cast<bool>(layer.pack(floats_of.w, floats_of.seen))); }
};

// Workers and steps. T: of activations.
template <class T, class Layer>
void check_calls() {
  static const in_16_bits<Layer> f;
  using type = typename in_16_bits<Layer>::type;
  using sequence = tensor<T, token<19>, typename Layer::hidden_axis>;
  constexpr std::size_t width = Layer::hidden_axis::size;
  lcg next{5};
  const auto x = drawn_integers<sequence>(next, sizeof(T) == 1 ? 127 : 16000);
  const auto wanted = f.layer(x, causal);
  BOOST_TEST(!same_bits(wanted, f.floats_of.layer(x, causal)));

  static typename type::template workspace<token<19>> of_three[3];
  shuffled<3> three;
  BOOST_TEST(same_bits(f.layer(x, causal, parallel(three, of_three)), wanted));

  static key_value_cache<type, key<19>> past;
  sequence out{};
  const auto step = [&]<std::size_t Count>(std::integral_constant<std::size_t, Count>) {
    using part = tensor<T, token<Count>, typename Layer::hidden_axis>;
    part from, to;
    const std::size_t at = past.size() * width;
    std::copy_n(x.data() + at, part::layout::count, from.data());
    BOOST_TEST_REQUIRE(past.step(to, f.layer, from));
    std::copy_n(to.data(), part::layout::count, out.data() + at);
  };
  step(std::integral_constant<std::size_t, 8>{});
  for (int i = 0; i < 3; ++i) step(std::integral_constant<std::size_t, 1>{});
  step(std::integral_constant<std::size_t, 8>{});
  BOOST_TEST(same_bits(out, wanted));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quantized_limits)

// Bounds: measured.
BOOST_AUTO_TEST_CASE(a_large_feature) {
  const double most[] = {0.013, 0.05, 0.4, 1.01};
  for (int i = 0; i < 4; ++i) {
    const auto outlier = static_cast<float>(std::pow(10, i));
    const double error = error_with_a_large_feature(outlier, 1);
    const double moved = error_with_a_large_feature(outlier, outlier);
    const double residual = error_with_a_large_residual(outlier);
    BOOST_TEST_MESSAGE("feature " << outlier << ": " << error << ", moved " << moved
                                  << ", of a residual sum " << residual << ", weight "
                                  << error_with_a_large_weight(outlier));
    BOOST_TEST(error < most[i]);
    BOOST_TEST(moved < most[0]);
  }
}

BOOST_AUTO_TEST_CASE(many_keys_beside_a_peak) {
  const auto compare = []<std::size_t Keys>(std::integral_constant<std::size_t, Keys>) {
    for (const double peak : {100.0, 300.0, 1000.0, 5000.0}) {
      const double in_8 = error_of_peaked_rows<Keys, std::int8_t>(peak);
      const double in_16 = error_of_peaked_rows<Keys, std::int16_t>(peak);
      BOOST_TEST_MESSAGE(Keys << " keys, 1/" << peak << ": " << in_8 << ", in 16 bits " << in_16);
      BOOST_TEST(in_16 < 0.11);
      BOOST_TEST(in_16 < in_8 + 0.02);
    }
  };
  compare(std::integral_constant<std::size_t, 64>{});
  compare(std::integral_constant<std::size_t, 512>{});
  compare(std::integral_constant<std::size_t, 4096>{});
}

BOOST_AUTO_TEST_CASE(calls_in_16_bits) {
  check_calls<std::int8_t, multi_head_attention<float, hidden<18>, heads<3>,
                                                rope<split_halves, 10000, 4>, bias<true>>>();
  check_calls<std::int16_t, llama_block<encoder_layer>>();
  check_calls<std::int16_t, layer_stack<vaswani_block<encoder_layer>, 2>>();
}

BOOST_AUTO_TEST_CASE(a_decoder_layer_in_16_bits) {
  using llama = llama_block<decoder_layer>;
  using sequence = floats<llama, 9>;
  using memories = tensor<float, key<7>, hidden<16>>;
  using finer = quantized<llama, softmax_as<std::int16_t>>;
  static const quantized_fixture<llama, sequence, memories> f(self_mask(causal));
  static const finer layer{f.w, f.seen};
  lcg next{8};
  const auto x = drawn_integers<tensor<std::int16_t, token<9>, hidden<16>>>(next, 16000);
  const auto memory = drawn_integers<tensor<std::int8_t, key<7>, hidden<16>>>(next, 127);
  const auto y = layer(x, memory, self_mask(causal)),
             coarser = f.layer(x, memory, self_mask(causal));
  BOOST_TEST(!same_bits(y, coarser));
  BOOST_TEST(relative_error(y, 1, coarser) < 0.02);
  static key_value_cache<finer, key<9>, longest_memory<7>> past;
  past.attend_to(layer, memory);
  auto steps = x;
  BOOST_TEST(past.step(steps, layer, steps));
  BOOST_TEST(same_bits(steps, y));
}

BOOST_AUTO_TEST_SUITE_END()
