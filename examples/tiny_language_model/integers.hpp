// SPDX-License-Identifier: BSL-1.0
// The language model of model.hpp in integers only: weights, keys and values in 8 bits, residual
// sums and logits in 16, the same text on every target. trained/ranges.hpp, which calibrate.cpp
// found on the training text, defines each tensor's unit.
#pragma once

#include <cstdint>
#include <umbel/quantized.hpp>

#include "model.hpp"
#include "trained/ranges.hpp"

namespace tiny::integer {

// The output map is the embedding's table again, quantized separately: 8 bits per character.
using output_map = linear<float, hidden<64>, vocabulary<characters>>;

using words_layer = quantized<words>;
using blocks_layer = quantized<block_stack>;
using norm_layer = quantized<last_norm>;
using output_layer = quantized<output_map, output_as<std::int16_t>>;

template <std::size_t Count>
using states = tensor<std::int16_t, token<Count>, hidden<64>>;

struct ranges {
  static constexpr const char* part_names[] = {"embedding", "blocks", "norm", "output"};
  words_layer::ranges embedding;
  blocks_layer::ranges blocks;
  norm_layer::ranges norm;
  output_layer::ranges output;

  void chain() { chain_ranges(embedding, blocks, norm, output); }
};

inline output_map::weights output_of(const weights& w) {
  output_map::weights tied;
  for (std::size_t i = 0; i < 64; ++i)
    for (std::size_t o = 0; o < characters; ++o)
      tied.weight[i * characters + o] = w.embedding(o, i);
  return tied;
}

// Runs the float model on a piece of text and widens the ranges by its tensors.
template <std::size_t Count>
void calibrate(ranges& seen, const weights& w, const tokens<Count>& text) {
  const auto x = words_layer::calibrate(seen.embedding, w.embedding, text);
  const auto y = blocks_layer::calibrate(seen.blocks, w.blocks, x, causal);
  const auto z = norm_layer::calibrate(seen.norm, w.norm, y, 1e-5F);
  const output_map::weights tied = output_of(w);
  static_cast<void>(output_layer::calibrate(seen.output, tied, z));
}

inline ranges trained_ranges() {
  ranges seen{};
  trained::set_ranges(seen);
  return seen;
}

// The packed model, in less than a third of the bytes.
struct model {
  words_layer embedding;
  blocks_layer blocks;
  norm_layer norm;
  output_layer output;
  tensor<float> of_logits;  // their range

  explicit model(const weights& w, const ranges& seen = trained_ranges()) noexcept
      : embedding(w.embedding, seen.embedding),
        blocks(w.blocks, seen.blocks),
        norm(w.norm, seen.norm, 1e-5F),
        of_logits(seen.output.output) {
    const output_map::weights tied = output_of(w);
    static_cast<void>(output.pack(tied, seen.output));
  }

  template <std::size_t Count>
  logits<Count> logits_of(const states<Count>& x) const noexcept {
    return dequantize(output(norm(x)), of_logits);
  }
  // The whole causal pass: logits after each of the tokens. One call at a time.
  template <std::size_t Count>
  logits<Count> whole_pass(const tokens<Count>& text) const noexcept {
    static blocks_layer::workspace<token<Count>> work;
    states<Count> x = embedding(text);
    blocks.into(x, x, causal, work);
    return logits_of(x);
  }
};

// Reads a text token by token, as the float reader does.
class reader {
  using cache = key_value_cache<blocks_layer, key<context>>;
  static constexpr std::size_t together = 16;

 public:
  explicit reader(const weights& trained) noexcept : model_(trained) {}

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
  [[nodiscard]] logits<1> next() const noexcept { return model_.logits_of(last_); }

  static constexpr std::size_t cache_bytes = sizeof(cache);
  static constexpr std::size_t weights_bytes = sizeof(model);
  static constexpr std::size_t workspace_bytes =
      sizeof(cache::workspace<token<together>>) + sizeof(states<together>);

 private:
  template <std::size_t Count>
  void step(const int* text) noexcept {
    states<Count> x = model_.embedding(view_as<token<Count>>(text));
    (void)past_.step(x, model_.blocks, x);
    std::copy_n(x.data() + (Count - 1) * 64, 64, last_.data());
  }

  model model_;
  cache past_;
  states<1> last_{};
};

}  // namespace tiny::integer
