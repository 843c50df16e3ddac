// SPDX-License-Identifier: BSL-1.0
// Step by step in a real-time thread (layers.cpp says what that asks for): caches, and one more
// token of a language model, from its number to the next one.
#include <umbel/decode/cache_of_formula.hpp>
#include <umbel/decode/sample.hpp>
#include <umbel/quantized/cache_of_formula.hpp>
#include <umbel/umbel.hpp>

#include "../support/random.hpp"
#include "pass.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;
using namespace realtime;

// 500 steps of layers that work on themselves, in a cache that drops the oldest positions.
template <class Layers>
void check_steps(const char* name, const Layers& layers, lcg& next) {
  using past = key_value_cache<typename Layers::layer, key<64>, longest_sequence<2000>>;
  using token = tensor<float, axes::token<1>, hidden<32>>;
  static past memory;
  static typename past::template workspace<axes::token<1>> work;
  static token out;
  const auto x = drawn<token>(next);
  group(name);
  check("500 steps", 0, [&] {
    memory.reset();
    for (int i = 0; i < 500; ++i) (void)memory.step(out, layers, x, alibi, work);
  });
  check("500 steps, workspace on the stack", sizeof(work), [&] {
    memory.reset();
    for (int i = 0; i < 500; ++i) (void)memory.step(out, layers, x);
  });
}

void check_cache() {
  using attention =
      multi_head_attention<float, hidden<32>, heads<4>, kv_heads<2>, rope<split_halves>>;
  static lcg next{1};
  static const auto w = drawn_weights<attention>(next);
  static const prepacked<attention> packed{w};
  check_steps("key_value_cache of attention, sliding", packed, next);
}

void check_cache_of_blocks() {
  using encoder = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, kv_heads<2>,
                                bias<true>, norm_first<true>, activation<silu>, rope<split_halves>>;
  using model = layer_stack<encoder, 2>;
  static lcg next{1};
  static model::weights w{};
  for (auto& layer : w.layers) draw_encoder(next, layer, 0.25, 0.25, 0.125, 0.125, 1, 0.125);
  static const prepacked<model> packed{w};
  check_steps("key_value_cache of two encoder layers, sliding", packed, next);
}

// Also the projection of the memory.
void check_cache_of_decoders() {
  using decoder = decoder_layer<float, hidden<32>, heads<4>, intermediate<64>, kv_heads<2>,
                                bias<true>, norm_first<true>, activation<silu>, rope<split_halves>>;
  using model = layer_stack<decoder, 2>;
  static lcg next{1};
  static model::weights w{};
  for (auto& layer : w.layers) draw_decoder(next, layer, 0.25, 0.25, 0.125, 0.125, 1, 0.125);
  static const prepacked<model> packed{w};
  using past = key_value_cache<model, key<64>, longest_sequence<2000>, longest_memory<50>>;
  using token = tensor<float, axes::token<1>, hidden<32>>;
  using source = tensor<float, key<50>, hidden<32>>;
  static past memory;
  static past::workspace<axes::token<1>> work;
  static const token x = drawn<token>(next);
  static const source from = drawn<source>(next);
  static token out;
  // The memory is projected by a few rows at a time.
  using rows = key_value_cache<decoder::cross_attention, key<50>>::workspace<key<4>>;
  group("key_value_cache of two decoder layers, sliding");
  check("200 steps", 0, [] {
    memory.attend_to(packed, from, work);
    for (int i = 0; i < 200; ++i) (void)memory.step(out, packed, x, self_mask(alibi), work);
  });
  check("memory, workspace on the stack", sizeof(rows), [] { memory.attend_to(packed, from); });
  check("60 steps, workspace on the stack", sizeof(work), [] {
    (void)memory.rewind(0);
    for (int i = 0; i < 60; ++i) (void)memory.step(out, packed, x);
  });
}

// Scores of a softmax, and weights that are none.
constexpr formula attends_twice = [](auto x, const auto& w) {
  auto q = x * w.q | split<hidden, heads<4>, head_dim>;
  auto k = x * w.k | split<hidden, heads<4>, head_dim> | rename_axis<token, key>;
  auto v = x * w.v | split<hidden, heads<4>, head_dim> | rename_axis<token, key>;
  auto scores = contract<head_dim>(q, k) * 0.35f;
  auto seen = contract<key>(softmax<key>(hide(scores, position<key> > position<token>)), v);
  auto gated = where(position<key> > position<token>, 0, sigmoid(scores - 2));
  auto context = seen + contract<key>(gated, v);
  return (context | permute<token, heads, head_dim> | contiguous |
          merge<heads, head_dim, hidden>)*w.o;
};
void check_cache_of_formula() {
  using attention = multi_head_attention<float, hidden<32>, heads<4>>;
  using row = tensor<float, axes::token<1>, hidden<32>>;
  using past =
      key_value_cache<decltype(attends_twice), key<60>, called_with<row, attention::weights>>;
  static lcg next{1};
  static const auto w = drawn_weights<attention>(next);
  static past memory;
  static past::workspace<axes::token<1>> work;
  static row out;
  static const auto x = drawn<row>(next);
  group("key_value_cache of a formula");
  check("60 steps", vectors_of_a_mask, [] {
    memory.reset();
    for (int i = 0; i < 60; ++i) (void)memory.step(out, attends_twice, x, w, work);
  });
  check("60 steps, workspace on the stack", sizeof(work) + vectors_of_a_mask, [] {
    memory.reset();
    for (int i = 0; i < 60; ++i) (void)memory.step(out, attends_twice, x, w);
  });
}

// The same in integers, its ranges from the rows of 60 positions.
void check_cache_of_formula_in_integers() {
  using attention = multi_head_attention<float, hidden<32>, heads<4>>;
  using rows = tensor<float, axes::token<60>, hidden<32>>;
  using layer = quantized<decltype(attends_twice), rows, attention::weights>;
  using past = key_value_cache<layer, key<60>>;
  static lcg next{1};
  static const auto w = drawn_weights<attention>(next);
  static layer::ranges seen;
  static layer::calibration_workspace to_calibrate;
  static const auto samples = drawn<rows>(next);
  (void)layer::calibrate(seen, samples, w, to_calibrate);
  static const layer packed(w, seen);
  static past memory;
  static past::workspace<axes::token<1>> work;
  static tensor<layer::output_type<0>, axes::token<1>, hidden<32>> out;
  static const tensor<layer::input_type<0>, axes::token<1>, hidden<32>> x{};
  group("key_value_cache of a formula in integers");
  check("60 steps", 0, [] {
    memory.reset();
    for (int i = 0; i < 60; ++i) (void)memory.step(out, packed, x, work);
  });
  check("60 steps, workspace on the stack", sizeof(work), [] {
    memory.reset();
    for (int i = 0; i < 60; ++i) (void)memory.step(out, packed, x);
  });
}

template <class Stored>
void check_language_model(const char* name) {
  using words = embedding<float, vocabulary<50>, hidden<32>>;
  using block =
      encoder_layer<float, hidden<32>, heads<4>, intermediate<40>, kv_heads<2>, norm_first<true>,
                    norm_by<rms_norm>, norm_epsilon<1, 100'000>, activation<silu>, gated<true>,
                    bias_on<'q', 'k', 'v'>, feed_forward_bias<false>, rope<adjacent_pairs>>;
  using past = key_value_cache<block, key<64>, stored_as<Stored>, longest_sequence<100'000>>;
  static lcg next{1};
  static const auto table = drawn<words::weights>(next);
  static const words read{table};
  static const prepacked<words, stored_as<Stored>> packed{table};
  static block::weights w{};
  draw_encoder(next, w, 0.25, 0.25, 0.125, 0.125, 1, 0.125);
  static const prepacked<block, stored_as<Stored>> layer{w};
  static const rms_norm<float, hidden<32>> norm{w.norm1.gamma, 1e-5f};
  static past memory;
  static typename past::template workspace<token<1>> work;
  static tensor<float, token<1>, hidden<32>> x;
  static tensor<float, token<1>, vocabulary<50>> logits;
  static sampler<float, vocabulary<50>> draw_token{7};
  static tensor<int, token<16>> said;
  static int last;
  group(name);
  check("100 tokens", 2 * sizeof x, [] {
    memory.reset(), last = 1;
    for (std::size_t i = 0; i < 100; ++i) {
      packed.into(x, view_as<token<1>>(&last));
      (void)memory.step(x, layer, x, all_keys, work);
      packed.logits_into(logits, x | norm);
      penalize_repetition(logits, said, 1.1f);
      const std::size_t token =
          draw_token(logits, sampling{.temperature = 0.9f, .top_k = 20, .top_p = 0.9f});
      said(i % 16) = last = static_cast<int>(token);
    }
  });
  check("a token, packed nowhere", packed_operand + 4 * sizeof x + 2 * sizeof logits, [] {
    logits = read.logits(read(view_as<token<1>>(&last)));
    last = static_cast<int>(argmax(logits));
  });
}

}  // namespace

void realtime::check_decoding() {
  check_cache();
  check_cache_of_blocks();
  check_cache_of_decoders();
  check_cache_of_formula();
  check_cache_of_formula_in_integers();
  check_language_model<float>("language model");
  check_language_model<bfloat16>("language model in bfloat16");
  check_language_model<float16>("language model in float16");
}
