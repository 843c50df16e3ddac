// SPDX-License-Identifier: BSL-1.0
// A character language model, a small LLaMA: 64 characters, 5 blocks, 231,360 numbers.
//
//   tokens                          one per character
//     embedding                     (token, hidden=64)
//     5 blocks                      8 heads of 8, 4 of keys and values, feed-forward 172, causal
//     norm, the embedding again     (token, vocabulary=64): logits of the next character
//
// tools/train_text.py trained it and wrote trained/weights.safetensors, which load.hpp reads;
// examples/learn_text trains it in C++.
#pragma once

#include <algorithm>
#include <cstddef>
#include <umbel/bare.hpp>

#include "alphabet.hpp"

namespace tiny {

using namespace umbel;
using namespace umbel::axes;

constexpr std::size_t context = 256;  // the most characters that the next one depends on

using words = embedding<float, vocabulary<characters>, hidden<64>>;
using block = encoder_layer<float, hidden<64>, heads<8>, intermediate<172>, kv_heads<4>,
                            norm_first<true>, norm_by<rms_norm>, norm_epsilon<1, 100'000>,
                            activation<silu>, gated<true>, bias<false>, rope<split_halves>>;
using block_stack = layer_stack<block, 5>;
using last_norm = rms_norm<float, hidden<64>>;

template <std::size_t Count>
using tokens = tensor<int, token<Count>>;
template <std::size_t Count>
using states = tensor<float, token<Count>, hidden<64>>;
template <std::size_t Count>
using logits = tensor<float, token<Count>, vocabulary<characters>>;

struct weights {
  static constexpr const char* part_names[] = {"embedding", "blocks", "norm"};
  words::weights embedding;
  block_stack::weights blocks;
  last_norm::weights norm;
};

// The part after the blocks. x: states, or a node of a formula.
template <class X>
constexpr auto logits_of(const weights& w, const X& x) {
  return words{w.embedding}.logits(last_norm{w.norm, 1e-5F}(x));
}

// The model: from tokens to logits after each. examples/learn_text learns its weights.
inline constexpr formula causal_logits = [](auto text, const auto& w) {
  return logits_of(w, block_stack{w.blocks}(words{w.embedding}(text), causal));
};

// The same, in static memory. One call at a time.
template <std::size_t Count>
logits<Count> whole_pass(const weights& w, const tokens<Count>& text) {
  static workspace_for<decltype(causal_logits), tokens<Count>, weights> work;
  return causal_logits(text, w, work);
}

// Reads a text token by token. Stored: the stored type of matrices, keys and values, float or
// bfloat16. The weights must outlive it.
template <class Stored = float>
class reader {
  using cache = key_value_cache<block_stack, key<context>, stored_as<Stored>>;
  // Tokens of a prompt that are read at once, which is faster, with the same bits.
  static constexpr std::size_t together = 16;

 public:
  explicit reader(const weights& trained) noexcept : weights_(trained), blocks_(trained.blocks) {}

  // The number of tokens that it has read and remembers.
  [[nodiscard]] std::size_t size() const noexcept { return past_.size(); }
  void forget() noexcept { past_.reset(); }

  // Continues reading. False, without reading, if that would exceed the context.
  bool read(const int* text, std::size_t count) noexcept {
    if (count > context - past_.size()) return false;
    for (; count >= together; text += together, count -= together) step<together>(text);
    for (; count != 0; ++text, --count) step<1>(text);
    return true;
  }
  // Logits of the token after the last one; meaningless before the first.
  [[nodiscard]] logits<1> next() const noexcept { return logits_of(weights_, last_); }

  static constexpr std::size_t cache_bytes = sizeof(cache);
  static constexpr std::size_t weights_bytes = sizeof(prepacked<block_stack, stored_as<Stored>>) +
                                               sizeof(weights::embedding) + sizeof(weights::norm);
  static constexpr std::size_t workspace_bytes =
      sizeof(typename cache::template workspace<token<together>>) + sizeof(states<together>);

 private:
  template <std::size_t Count>
  void step(const int* text) noexcept {
    states<Count> x = words{weights_.embedding}(view_as<token<Count>>(text));
    (void)past_.step(x, blocks_, x);
    std::copy_n(x.data() + (Count - 1) * 64, 64, last_.data());
  }

  const weights& weights_;
  prepacked<block_stack, stored_as<Stored>> blocks_;
  cache past_;
  states<1> last_{};
};

}  // namespace tiny
