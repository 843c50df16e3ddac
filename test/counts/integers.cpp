// SPDX-License-Identifier: BSL-1.0
// Every layer in integers, every use of it (counts.hpp): with weights of the softmax in 8 and 16
// bits, from a cache, by an executor; what makes integers of floats, and floats of integers.
#include <umbel/quantized.hpp>

#include "../support/executors.hpp"
#include "../support/quantized.hpp"
#include "counts.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace counts;
using umbel_test::expect_packed;
using umbel_test::shuffled;

template <class T, std::size_t Tokens = 9>
using rows = tensor<T, token<Tokens>, hidden<24>>;

// The layer with weights of a set of values, and ranges that do not depend on them.
template <class Quantized>
void pack(Quantized& layer, values& of) {
  static typename Quantized::layer::weights w;
  static typename Quantized::ranges seen;
  of.weights(w);
  for_each_parameter(seen, [](const parameter_path&, const auto& range) { *range.data() = 2; });
  if constexpr (requires { seen.epsilon; }) seen.epsilon() = 1e-5F;
  if constexpr (detail::takes_epsilon<typename Quantized::layer>)
    expect_packed(layer.pack(w, seen, 1e-5F));
  else
    expect_packed(layer.pack(w, seen));
}

// From int8 or int16 to int8 or int16, without a mask or workspace.
template <class Quantized, class X, class Y>
void rows_of(const char* name) {
  static Quantized layer;
  static X x;
  static Y y;
  count(name, [&](values& of) { pack(layer, of), of.inputs(x); }, [&] { y = layer(x); });
}
void maps() {
  group = "linear";
  using map = linear<float, hidden<24>, classes<13>, bias<true>>;
  using to = tensor<std::int8_t, token<9>, classes<13>>;
  rows_of<quantized<map>, rows<std::int8_t>, to>("to int8");
  rows_of<quantized<map, output_as<std::int16_t>>, rows<std::int8_t, 1>,
          tensor<std::int16_t, token<1>, classes<13>>>("to int16, one row");
  group = "block";
  rows_of<quantized<layer_norm<float, hidden<24>>>, rows<std::int16_t>, rows<std::int8_t>>(
      "layer_norm");
  rows_of<quantized<rms_norm<float, hidden<24>>>, rows<std::int16_t>, rows<std::int8_t>>(
      "rms_norm");
  using network =
      feed_forward<float, hidden<24>, intermediate<20>, gated<true>, activation<silu>, bias<true>>;
  rows_of<quantized<network>, rows<std::int8_t>, rows<std::int8_t>>("feed_forward");

  static quantized_mean<token<9>> pooling;
  static rows<std::int8_t> x;
  static tensor<std::int8_t, hidden<24>> pooled;
  static rows<float> from, back;
  count(
      "mean",
      [&](values& of) {
        decltype(pooling)::ranges seen;
        seen.input() = 2, seen.output() = 1;
        expect_packed(pooling.pack(seen)), of.inputs(x);
      },
      [&] { pooling.into(pooled, x); });
  count(
      "quantize, dequantize", [&](values& of) { of.inputs(from); },
      [&] { x = quantize<std::int8_t>(from, 2.0F), back = dequantize(x, 2.0F); });
}

void words() {
  group = "words";
  using words = embedding<float, vocabulary<9>, hidden<24>>;
  using learned = learned_positions<float, token<9>, hidden<24>>;
  static quantized<words> read;
  static quantized<learned> place;
  static words::weights table;
  static learned::weights positions;
  static const tensor<int, token<9>> ids{3, 1, 4, 1, 5, 9, 2, 6, 5};
  static rows<std::int16_t> x;
  count(
      "embedding, learned_positions",
      [&](values& of) {
        quantized<words>::ranges of_words;
        quantized<learned>::ranges of_places;
        of.tables(table, positions);
        for_each_parameter(of_words, [](const parameter_path&, const auto& r) { *r.data() = 2; });
        for_each_parameter(of_places, [](const parameter_path&, const auto& r) { *r.data() = 2; });
        expect_packed(read.pack(table, of_words)), expect_packed(place.pack(positions, of_places));
      },
      [&] { read.into(x, ids), place.into(x, x); });
}

void attention() {
  group = "multi_head_attention";
  using layer = multi_head_attention<float, hidden<24>, heads<4>, kv_heads<2>,
                                     rope<split_halves, 10000, 4>, bias<true>>;
  static quantized<layer> attend;
  static quantized<layer, output_as<std::int16_t>, softmax_as<std::int16_t>> wide;
  static rows<std::int8_t> x, out;
  static rows<std::int16_t> sums;
  static decltype(attend)::workspace<token<9>> work[2];
  static decltype(wide)::workspace<token<9>> work_of_wide;
  static shuffled<2> executor;
  tensor<bool, query<9>, key<9>> flags{};
  umbel_test::lcg next{3};
  for (bool& flag : flags) flag = next() > -0.5f;
  const auto fill = [&](values& of) { pack(attend, of), of.inputs(x); };
  count("causal", fill, [&] { attend.into(out, x, causal, work[0]); });
  count("flags, window", fill,
        [&] { attend.into(out, x, keep_mask(flags) & sliding_window<5>, work[0]); });
  count("causal, by an executor", fill, [&] {
    executor = {};
    attend.into(out, x, causal, parallel(executor, work));
  });
  count(
      "softmax in 16 bits, every key", [&](values& of) { pack(wide, of), of.inputs(x); },
      [&] { wide.into(sums, x, all_keys, work_of_wide); });

  using past = key_value_cache<quantized<layer>, key<8>, longest_sequence<99>>;
  static past memory;
  static past::workspace<token<1>> work_of_step;
  static rows<std::int8_t, 1> step, answer;
  count(
      "cache", [&](values& of) { pack(attend, of), of.inputs(step); },
      [&] {
        memory.reset();
        for (int i = 0; i < 10; ++i)
          (void)memory.step(answer, attend, step, all_keys, work_of_step);
      });
}

void blocks() {
  using encoder = encoder_layer<float, hidden<24>, heads<4>, intermediate<20>, norm_first<true>,
                                norm_by<rms_norm>, norm_epsilon<1, 100'000>, activation<silu>,
                                gated<true>, bias<false>, rope<adjacent_pairs>>;
  using decoder = decoder_layer<float, hidden<24>, heads<4>, intermediate<20>, norm_first<false>,
                                activation<gelu_exact>, bias<true>>;
  static rows<std::int16_t> x, out;
  static rows<std::int16_t, 1> step;
  group = "encoder_layer";
  static quantized<encoder> encode;
  static quantized<encoder>::workspace<token<9>> work;
  const tensor<int> lens{7};
  const auto fill = [&](values& of) { pack(encode, of), of.inputs(x, step); };
  count("lengths", fill, [&] { encode.into(out, x, lens, work); });
  static key_value_cache<quantized<encoder>, key<12>> past;
  static decltype(past)::workspace<token<1>> work_of_step;
  count("three steps", fill, [&] {
    past.reset();
    for (int i = 0; i < 3; ++i) (void)past.step(step, encode, step, all_keys, work_of_step);
  });

  group = "decoder_layer";
  static quantized<decoder> decode;
  static tensor<std::int8_t, key<6>, hidden<24>> memory;
  static quantized<decoder>::workspace<token<9>, key<6>> work_of_decoder;
  count(
      "causal", [&](values& of) { pack(decode, of), of.inputs(x, memory); },
      [&] { decode.into(out, x, memory, self_mask(causal), work_of_decoder); });
}

void blocks_of_parts() {
  using namespace block_parts;
  using block =
      residual_block<float, hidden<24>, norm_by<layer_norm>,
                     pre_norm<name::norm1, self_attention<name::attention, heads<4>, bias<true>>,
                              feed_forward_network<name::feed_forward, intermediate<20>,
                                                   activation<gelu_tanh>, bias<true>>>,
                     pre_norm<name::norm2, linear_map<name::linear, bias<true>>>>;
  group = "residual_block";
  static quantized<block> layer;
  static rows<std::int16_t> x, out;
  static quantized<block>::workspace<token<9>> work;
  count(
      "causal", [&](values& of) { pack(layer, of), of.inputs(x); },
      [&] { layer.into(out, x, causal, work); });
}

}  // namespace

int main() {
  maps();
  words();
  attention();
  blocks();
  blocks_of_parts();
  return 0;
}
