// SPDX-License-Identifier: BSL-1.0
// Layers in integers against docs/integers.md: tools/golden_integers.py computes them as that page
// says, in numpy. Equal, not near.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <umbel/parameters/parameters.hpp>
#include <umbel/quantized.hpp>

#include "../support/random.hpp"
#include "data/integers.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <class Y, class T, std::size_t Count>
void check(const Y& y, const T (&expected)[Count]) {
  static_assert(std::is_same_v<typename Y::value_type, T> && Y::layout::count == Count);
  std::size_t different = 0, first = Count;
  for (std::size_t i = Count; i-- > 0;)
    if (y.data()[i] != expected[i]) ++different, first = i;
  BOOST_TEST(different == 0, different << " of " << Count << " differ, the first at " << first
                                       << ": " << int{y.data()[first]} << ", not "
                                       << int{expected[first]});
}
tensor<float> range(float largest) {
  tensor<float> r;
  r() = largest;
  return r;
}

// A case is a namespace: what they share is a macro each.
template <std::size_t Rows, std::size_t In, std::size_t Out, class Bytes, class Sums>
void check_linear(std::uint32_t seed, float input, float output, const Bytes& of_8_bits,
                  const Sums& of_16_bits) {
  using map = linear<float, hidden<In>, classes<Out>, bias<true>>;
  lcg next{seed};
  const auto x = drawn<tensor<float, token<Rows>, hidden<In>>>(next);
  static typename map::weights w;
  draw(next, w.weight);
  draw(next, w.bias, 0.125);
  for (std::size_t i = 0; i < In; ++i) {
    w.weight[i * Out + 1] *= 0x1p-30F;
    w.weight[i * Out + 2] = 0;
  }
  w.bias[2] = 0;
  const typename quantized<map>::ranges seen{range(input), range(output)};
  const auto given = quantize<std::int8_t>(x, seen.input);
  static quantized<map> layer;
  BOOST_REQUIRE(layer.pack(w, seen));
  check(layer(given), of_8_bits);
  static quantized<map, output_as<std::int16_t>> sums;
  BOOST_REQUIRE(sums.pack(w, seen));
  check(sums(given), of_16_bits);
}
#define CHECK_LINEAR(g)                                                                  \
  check_linear<g::rows, g::inputs, g::outputs>(g::seed, g::input_range, g::output_range, \
                                               g::of_8_bits, g::of_16_bits)

tensor<int> first_keys(int count) {
  tensor<int> lens;
  lens() = count;
  return lens;
}
template <class Layer>
typename quantized<Layer>::ranges attention_ranges_of(float input, float q, float k, float v,
                                                      float output) {
  return {range(input), range(input), range(input), range(q), range(k), range(v), range(output)};
}
template <class Layer, std::size_t Tokens, class... Options>
struct attending {
  tensor<std::int8_t, token<Tokens>, typename Layer::hidden_axis> x;
  quantized<Layer, Options...> layer;

  attending(std::uint32_t seed, const typename quantized<Layer>::ranges& seen) {
    lcg next{seed};
    const auto floats = drawn<tensor<float, token<Tokens>, typename Layer::hidden_axis>>(next);
    static typename Layer::weights w;
    draw_attention(next, w, 0.5, 0.125);
    x = quantize<std::int8_t>(floats, seen.queries);
    BOOST_REQUIRE(layer.pack(w, seen));
  }
};
#define CHECK_ATTENTION(g, softmax, ...)                                                        \
  do {                                                                                          \
    using layer =                                                                               \
        multi_head_attention<float, hidden<g::hidden>, heads<g::heads>, kv_heads<g::kv_heads>,  \
                             bias<true> __VA_OPT__(, ) __VA_ARGS__>;                            \
    static const attending<layer, g::tokens, softmax_as<softmax>> of{                           \
        g::seed, attention_ranges_of<layer>(g::input_range, g::q_range, g::k_range, g::v_range, \
                                            g::output_range)};                                  \
    check(of.layer(of.x), g::every_key);                                                        \
    check(of.layer(of.x, causal), g::causal);                                                   \
    check(of.layer(of.x, first_keys(0)), g::no_key);                                            \
    check(of.layer(of.x, first_keys(1)), g::one_key);                                           \
    check(of.layer(of.x, first_keys(int{g::tokens} - 3)), g::some_keys);                        \
  } while (false)

template <class Norm, std::size_t Rows>
auto normed(std::uint32_t seed, float input, float output) {
  using features = typename Norm::axis;
  lcg next{seed};
  auto x = drawn<tensor<float, token<Rows>, features>>(next, 8);
  for (std::size_t i = 0; i < features::size; ++i) {
    x(0, i) = 0;
    x(1, i) = 5;
    x(2, i) *= 0x1p-10F;
  }
  typename Norm::weights w{};
  draw(next, w.gamma);
  if constexpr (requires { w.beta; }) draw(next, w.beta, 0.125);
  const typename quantized<Norm>::ranges seen{range(input), range(output)};
  return quantized<Norm>{w, seen, 1e-5F}(quantize<std::int16_t>(x, seen.input));
}
#define CHECK_NORM(g, norm)                                                                        \
  check(normed<norm<float, hidden<g::hidden>>, g::rows>(g::seed, g::input_range, g::output_range), \
        g::output)

template <auto Function, class Expected>
void check_table(const Expected& expected) {
  namespace g = golden::activations;
  using layer = feed_forward<float, hidden<1>, intermediate<1>, bias<false>, activation<Function>>;
  const typename layer::weights w{};
  const typename quantized<layer>::ranges seen{range(1), range(g::up_range),
                                               range(g::activated_range), range(1)};
  const quantized<layer> packed{w, seen};
  BOOST_TEST(std::memcmp(packed.get_weights().table, expected, 256) == 0);
}

template <std::size_t Rows, class... Length>
auto mean_of(std::uint32_t seed, float input, float output, Length... length) {
  lcg next{seed};
  const auto x = drawn<tensor<float, token<Rows>, classes<3>>>(next);
  const typename quantized_mean<token<Rows>>::ranges seen{range(input), range(output)};
  auto given = quantize<std::int8_t>(x, seen.input);
  for (std::size_t i = 0; i < Rows; ++i) given(i, 2) = 127;
  return quantized_mean<token<Rows>>{seen}(given, length...);
}
#define CHECK_MEAN(g)                                                               \
  check(mean_of<g::rows>(g::seed, g::input_range, g::output_range), g::output);     \
  check(mean_of<g::rows>(g::seed, g::input_range, g::output_range, 0), g::first_0); \
  check(mean_of<g::rows>(g::seed, g::input_range, g::output_range, 1), g::first_1); \
  check(mean_of<g::rows>(g::seed, g::input_range, g::output_range, 5), g::first_5); \
  check(mean_of<g::rows>(g::seed, g::input_range, g::output_range, g::rows + 1), g::output)

// In the order of the ranges.
template <class Layer>
typename quantized<Layer>::ranges ranges_of(std::initializer_list<float> largest) {
  typename quantized<Layer>::ranges seen{};
  auto next = largest.begin();
  for_each_parameter(seen, [&](const parameter_path&, auto range) { range() = *next++; });
  BOOST_REQUIRE(next == largest.end());
  return seen;
}
template <std::size_t Tokens, class Layer, class Every, class Causal>
void check_encoder(std::uint32_t seed, std::initializer_list<float> largest, const Every& every_key,
                   const Causal& of_causal) {
  lcg next{seed};
  const auto x = drawn<tensor<float, token<Tokens>, typename Layer::hidden_axis>>(next);
  static typename Layer::weights w;
  draw_encoder(next, w, 0.25, 0.25, 0.25, 0.125, 1, 0.125);
  const auto seen = ranges_of<Layer>(largest);
  const auto given = quantize<std::int16_t>(x, seen.residual);
  static quantized<Layer> layer;
  BOOST_REQUIRE(layer.pack(w, seen));
  check(layer(given), every_key);
  check(layer(given, causal), of_causal);
}
#define ENCODER_RANGES(g)                                                          \
  g::residual_range, g::attention_input_range, g::q_range, g::k_range, g::v_range, \
      g::feed_forward_input_range

template <std::size_t Tokens, std::size_t Keys, class Layer, class Causal, class SomeKeys>
void check_decoder(std::uint32_t seed, std::initializer_list<float> largest,
                   const Causal& of_causal, const SomeKeys& some_keys) {
  using hidden_axis = typename Layer::hidden_axis;
  lcg next{seed};
  const auto x = drawn<tensor<float, token<Tokens>, hidden_axis>>(next);
  const auto y = drawn<tensor<float, key<Keys>, hidden_axis>>(next);
  static typename Layer::weights w;
  draw_decoder(next, w, 0.25, 0.25, 0.25, 0.125, 1, 0.125);
  const auto seen = ranges_of<Layer>(largest);
  const auto given = quantize<std::int16_t>(x, seen.residual);
  const auto memory = quantize<std::int8_t>(y, seen.memory);
  static quantized<Layer> layer;
  BOOST_REQUIRE(layer.pack(w, seen));
  check(layer(given, memory, self_mask(causal)), of_causal);
  check(layer(given, memory, first_keys(int{Keys} - 3), self_mask(all_keys)), some_keys);
}
#define CHECK_DECODER(g, first)                                                               \
  check_decoder<                                                                              \
      g::tokens, g::keys,                                                                     \
      decoder_layer<float, hidden<g::hidden>, heads<g::heads>, intermediate<g::feed_forward>, \
                    bias<true>, norm_first<first>, activation<gelu_exact>>>(                  \
      g::seed,                                                                                \
      {g::residual_range, g::self_input_range, g::q_range, g::k_range, g::v_range,            \
       g::memory_range, g::cross_input_range, g::cross_q_range, g::cross_k_range,             \
       g::cross_v_range, g::feed_forward_input_range, g::up_range, g::activated_range},       \
      g::causal, g::some_keys)

// Attention with scores that are capped and biased, gated, in a residual sum.
template <std::size_t Hidden, std::size_t Width>
struct formula_weights {
  static constexpr const char* part_names[] = {"norm", "q", "k", "v", "gate", "o"};
  template <template <std::size_t> class Out>
  using map = typename linear<float, hidden<Hidden>, Out<Width>, bias<true>>::weights;
  typename layer_norm<float, hidden<Hidden>>::weights norm;
  map<head_dim> q, k;
  map<value_dim> v, gate;
  typename linear<float, value_dim<Width>, hidden<Hidden>, bias<true>>::weights o;
};
constexpr formula gated_attention = [](auto x, auto bias, const auto& w) {
  auto normed = named<"normed">(layer_norm<float, hidden<10>>(w.norm)(x));
  auto q = named<"q">(normed * w.q);
  auto k = named<"k">(normed * w.k) | rename_axis<token, key>;
  auto v = named<"v">(normed * w.v) | rename_axis<token, key>;
  auto scores = named<"scores">(contract<head_dim>(q, k) * 0.5F);
  auto added = named<"added">(named<"capped">(tanh(scores)) * 2 + bias);
  auto context = contract<key>(softmax<key>(hide(added, position<key> > position<token>)), v);
  auto gate = named<"activated">(silu(named<"gate">(normed * w.gate)));
  return named<"sum">(x + named<"branch">(named<"gated">(context * gate) * w.o));
};
template <std::size_t Tokens, std::size_t Hidden, std::size_t Width>
auto of_formula(std::uint32_t seed, const float (&ranges)[14]) {
  using rows = tensor<float, token<Tokens>, hidden<Hidden>>;
  using of_scores = tensor<float, token<Tokens>, key<Tokens>>;
  using weights = formula_weights<Hidden, Width>;
  using layer = quantized<decltype(gated_attention), rows, of_scores, weights>;
  lcg next{seed};
  const auto x = drawn<rows>(next);
  const auto bias = drawn<of_scores>(next);
  static weights w;
  draw(next, w.norm.gamma);
  draw(next, w.norm.beta, 0.125);
  const auto map = [&](auto& m) {
    draw(next, m.weight, 0.25);
    draw(next, m.bias, 0.125);
  };
  map(w.q), map(w.k), map(w.v), map(w.gate), map(w.o);
  typename layer::ranges seen{};
  std::size_t i = 0;
  const auto set = [&](auto& one) { one() = ranges[i++]; };
  set(seen.template get<"argument_1">());
  set(seen.template get<"argument_2">());
  set(seen.template get<"normed">());
  set(seen.template get<"q">());
  set(seen.template get<"k">());
  set(seen.template get<"v">());
  set(seen.template get<"gate">());
  set(seen.template get<"scores">());
  set(seen.template get<"capped">());
  set(seen.template get<"added">());
  set(seen.template get<"activated">());
  set(seen.template get<"gated">());
  set(seen.template get<"branch">());
  set(seen.template get<"sum">());
  static layer packed;
  BOOST_REQUIRE(packed.pack(w, seen));
  return packed(quantize<std::int16_t>(x, seen.template get<"argument_1">()),
                quantize<std::int16_t>(bias, seen.template get<"argument_2">()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(integers_of_the_page)

BOOST_AUTO_TEST_CASE(linear_maps) {
  CHECK_LINEAR(golden::integer_linear_one);
  CHECK_LINEAR(golden::integer_linear);
  CHECK_LINEAR(golden::integer_linear_long);
  CHECK_LINEAR(golden::integer_linear_cut_off);
}

BOOST_AUTO_TEST_CASE(attention) {
  CHECK_ATTENTION(golden::integer_attention, std::int8_t);
  CHECK_ATTENTION(golden::integer_attention_groups, std::int8_t);
  CHECK_ATTENTION(golden::integer_attention_adjacent_pairs, std::int8_t, rope<adjacent_pairs>);
  CHECK_ATTENTION(golden::integer_attention_long, std::int8_t);
  CHECK_ATTENTION(golden::integer_attention_16_bits, std::int16_t);
  CHECK_ATTENTION(golden::integer_attention_16_bits_long, std::int16_t);
}

BOOST_AUTO_TEST_CASE(norms) {
  CHECK_NORM(golden::integer_layer_norm_one, layer_norm);
  CHECK_NORM(golden::integer_layer_norm, layer_norm);
  CHECK_NORM(golden::integer_layer_norm_long, layer_norm);
  CHECK_NORM(golden::integer_rms_norm, rms_norm);
}

BOOST_AUTO_TEST_CASE(activations) {
  check_table<gelu_exact>(golden::activations::gelu_exact);
  check_table<silu>(golden::activations::silu);
  check_table<relu>(golden::activations::relu);
}

BOOST_AUTO_TEST_CASE(means) {
  CHECK_MEAN(golden::integer_mean);
  CHECK_MEAN(golden::integer_mean_long);
}

BOOST_AUTO_TEST_CASE(encoder_pre_norm) {
  namespace g = golden::integer_encoder_pre_norm;
  using layer =
      encoder_layer<float, hidden<g::hidden>, heads<g::heads>, intermediate<g::feed_forward>,
                    bias<true>, norm_first<true>, activation<gelu_exact>>;
  check_encoder<g::tokens, layer>(g::seed, {ENCODER_RANGES(g), g::up_range, g::activated_range},
                                  g::every_key, g::causal);
}

BOOST_AUTO_TEST_CASE(encoder_post_norm) {
  namespace g = golden::integer_encoder_post_norm;
  using layer =
      encoder_layer<float, hidden<g::hidden>, heads<g::heads>, intermediate<g::feed_forward>,
                    bias<true>, norm_first<false>, activation<gelu_exact>>;
  check_encoder<g::tokens, layer>(g::seed, {ENCODER_RANGES(g), g::up_range, g::activated_range},
                                  g::every_key, g::causal);
}

BOOST_AUTO_TEST_CASE(encoder_of_llama) {
  namespace g = golden::integer_encoder_llama;
  using layer =
      encoder_layer<float, hidden<g::hidden>, heads<g::heads>, intermediate<g::feed_forward>,
                    kv_heads<g::kv_heads>, norm_by<rms_norm>, gated<true>, activation<silu>,
                    norm_first<true>, bias<false>, rope<split_halves>, norm_epsilon<1, 100000>>;
  check_encoder<g::tokens, layer>(
      g::seed,
      {ENCODER_RANGES(g), g::gate_range, g::up_range, g::activated_range, g::product_range},
      g::every_key, g::causal);
}

BOOST_AUTO_TEST_CASE(decoders) {
  CHECK_DECODER(golden::integer_decoder_pre_norm, true);
  CHECK_DECODER(golden::integer_decoder_post_norm, false);
}

BOOST_AUTO_TEST_CASE(formulas) {
  namespace g = golden::integer_formula;
  check(of_formula<g::tokens, g::hidden, g::width>(
            g::seed, {g::x_range, g::bias_range, g::normed_range, g::q_range, g::k_range,
                      g::v_range, g::gate_range, g::scores_range, g::capped_range, g::added_range,
                      g::activated_range, g::gated_range, g::branch_range, g::sum_range}),
        g::output);
}
BOOST_AUTO_TEST_SUITE_END()
