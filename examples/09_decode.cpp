// SPDX-License-Identifier: BSL-1.0
// Decoding step by step: first a prompt, then token by token, with the keys and values so far in a
// cache of constant size. Every step gives the bits of the whole causal pass, whose cost grows with
// every token. A whole model, a stack of layers, decodes with the same calls.
#include <umbel/umbel.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace umbel;
using namespace umbel::axes;

// Grouped heads and rotary positions, as in small language models.
using attention =
    multi_head_attention<float, hidden<64>, heads<8>, kv_heads<2>, rope<split_halves>>;
using prompt = tensor<float, token<12>, hidden<64>>;
using one = tensor<float, token<1>, hidden<64>>;
using all = tensor<float, token<40>, hidden<64>>;

static attention::weights w;
static all sequence;
static key_value_cache<attention, key<40>> past;
static key_value_cache<attention, key<16>, longest_sequence<1000>> window;  // sees the last 16

// Two LLaMA layers, each with its keys and values.
using block = encoder_layer<float, hidden<64>, heads<8>, intermediate<172>, kv_heads<2>,
                            norm_first<true>, norm_by<rms_norm>, norm_epsilon<1, 100'000>,
                            activation<silu>, gated<true>, bias<false>, rope<split_halves>>;
using model = layer_stack<block, 2>;

static model::weights model_weights;
static model::workspace<token<40>> model_work;
static key_value_cache<model, key<40>> model_past;

template <class X>
static void fill(X& x, std::size_t count, float scale) {
  for (std::size_t i = 0; i < count; ++i) x[i] = scale * std::sin(static_cast<float>(i * i % 1009));
}

// The prompt at once, then token by token, in place: returns how many features of the last token
// have the bits of the whole causal pass.
static std::size_t decode_model() {
  for (block::weights& layer : model_weights.layers) {
    for (auto* norm : {&layer.norm1, &layer.norm2})
      for (float& gamma : norm->gamma) gamma = 1;
    layer.attention = w;
    fill(layer.feed_forward.gate.weight, 64 * 172, 0.2f);
    fill(layer.feed_forward.up.weight, 64 * 172, 0.2f);
    fill(layer.feed_forward.down.weight, 172 * 64, 0.1f);
  }
  const prepacked<model> layers{model_weights};
  prompt first = view_as<prompt>(sequence.data());
  one x;
  if (!model_past.step(first, layers, first)) return 0;
  while (model_past.size() < 40) {
    x = view_as<one>(sequence.data() + 64 * model_past.size());
    if (!model_past.step(x, layers, x)) return 0;
  }
  layers.into(sequence, sequence, causal, model_work);
  std::size_t equal = 0;
  for (std::size_t d = 0; d < 64; ++d) equal += sequence(39, d) == x(0, d);
  return equal;
}

int main() {
  fill(w.q.weight, 64 * 64, 0.3f), fill(w.k.weight, 64 * 16, 0.2f);
  fill(w.v.weight, 64 * 16, 0.2f), fill(w.o.weight, 64 * 64, 0.1f);
  const prepacked<attention> attend{w};

  prompt first;
  float* const rows = first.data();
  fill(rows, 12 * 64, 1);
  prompt answers;
  if (!past.step(answers, attend, first)) return 1;
  std::memcpy(sequence.data(), first.data(), sizeof(first));

  // The next token is attention's squashed output for the last one.
  one now, out;
  for (std::size_t d = 0; d < 64; ++d) out(0, d) = answers(11, d);
  while (past.size() < 40) {
    for (std::size_t d = 0; d < 64; ++d)
      sequence(past.size(), d) = now(0, d) = std::tanh(3 * out(0, d));
    if (!past.step(out, attend, now)) return 1;
  }

  const all whole = attend(sequence, causal);
  std::size_t equal = 0;
  for (std::size_t d = 0; d < 64; ++d) equal += whole(39, d) == out(0, d);
  std::printf("token 40, step by step and in the whole pass: %zu of 64 features the same bits\n",
              equal);

  // When full, nothing changes, and going back is free.
  const bool fits = past.step(out, attend, now);
  std::printf("a step past the capacity: %s; the cache has %zu positions\n", fits ? "yes" : "no",
              past.size());
  if (!past.rewind(12)) return 1;
  std::printf("back to the prompt: %zu positions\n", past.size());

  // A window continues for as long as the rotary positions reach.
  std::size_t steps = 0;
  while (window.step(out, attend, now)) ++steps;
  std::printf("a window of 16 in %zu bytes: %zu steps\n", sizeof(window), steps);

  const std::size_t equal_of_model = decode_model();
  std::printf("two layers, token 40: %zu of 64 features the same bits\n", equal_of_model);
  return equal == 64 && equal_of_model == 64 && !fits && steps == 1000 ? 0 : 1;
}
