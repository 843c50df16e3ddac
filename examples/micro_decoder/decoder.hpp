// SPDX-License-Identifier: BSL-1.0
// A language model of 32 characters for a microcontroller with 16 kB of RAM: two LLaMA blocks with
// 4 heads of 8 that share 2 of keys and values. A step reads one character; a cache holds the keys
// and values of all before. Weights are constants, so they are in flash. test/embedded runs it on
// Cortex-M, linked with 16 kB.
#pragma once

#include <umbel/bare.hpp>
#include <umbel/inspect/footprint.hpp>

namespace micro {

using namespace umbel;
using namespace umbel::axes;

inline constexpr std::size_t context = 40;  // characters that the next one may depend on

using words = embedding<float, vocabulary<32>, hidden<32>>;
using block = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, kv_heads<2>,
                            norm_first<true>, norm_by<rms_norm>, norm_epsilon<1, 100'000>,
                            activation<silu>, gated<true>, bias<false>, rope<split_halves>>;
using block_stack = layer_stack<block, 2>;
using last_norm = rms_norm<float, hidden<32>>;

template <std::size_t Count>
using states = tensor<float, token<Count>, hidden<32>>;
template <std::size_t Count>
using logits = tensor<float, token<Count>, vocabulary<32>>;

// ---- flash: random here; for your model, tools/export writes it ---------------------------------
struct weights {
  words::weights embedding;
  block_stack::weights blocks;
  last_norm::weights norm;
};
inline constexpr weights trained = [] {
  weights w{};
  std::uint32_t state = 20;
  const auto draw = [&](auto& to, float scale) {
    for (float& number : to) {
      state = state * 1664525u + 1013904223u;
      number = (static_cast<float>(state >> 8) * 0x1p-23f - 1) * scale;
    }
  };
  const auto ones = [](auto& to) {
    for (float& number : to) number = 1;
  };
  draw(w.embedding, 0.25f);
  for (block::weights& layer : w.blocks.layers) {
    for (auto* map : {&layer.attention.q, &layer.attention.o}) draw(map->weight, 0.5f);
    for (auto* map : {&layer.attention.k, &layer.attention.v}) draw(map->weight, 0.5f);
    for (auto* map : {&layer.feed_forward.gate, &layer.feed_forward.up}) draw(map->weight, 0.25f);
    draw(layer.feed_forward.down.weight, 0.25f);
    ones(layer.norm1.gamma), ones(layer.norm2.gamma);
  }
  ones(w.norm.gamma);
  return w;
}();
inline constexpr prepacked<words> embed{trained.embedding};
inline constexpr prepacked<block_stack> blocks{trained.blocks};
inline constexpr prepacked<last_norm> norm{trained.norm, 1e-5F};

// The part after the blocks, for each character.
template <std::size_t Count>
logits<Count> logits_of(const states<Count>& x) noexcept {
  return embed.logits(norm(x));
}

// ---- RAM: all of it is here ---------------------------------------------------------------------
class decoder {
  using cache = key_value_cache<block_stack, key<context>>;

 public:
  // Reads a character. False, without changes, if the context is full.
  bool read(int character) noexcept {
    states<1> x = embed(view_as<token<1>>(&character));
    if (!past_.step(x, blocks, x, all_keys, work_)) return false;
    next_ = logits_of(x);
    return true;
  }
  // Logits of the character after the last one read.
  const logits<1>& next() const noexcept { return next_; }

  void forget() noexcept { past_.reset(); }

 private:
  cache past_{};
  cache::workspace<token<1>> work_{};
  logits<1> next_{};

  // Wider vectors need more scratch: 11.5 kB without vectors, 15.9 kB with AVX-512.
  static_assert(footprint<prepacked<block_stack>, cache, token<1>>.ram <= 16 * 1024);
};

}  // namespace micro
