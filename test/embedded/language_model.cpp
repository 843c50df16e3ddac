// SPDX-License-Identifier: BSL-1.0
// A language model of two LLaMA blocks, at a size for the smallest core: a prompt, then token by
// token, each the most likely one. A step has the bits of the whole causal pass. The cost of a step
// is measured.
#include <umbel/decode/sample.hpp>

#include "check.hpp"
#include "draw.hpp"

using namespace umbel;
using namespace umbel::axes;
using embedded::check;
using embedded::check_bits;

constexpr std::size_t length = 12, prompt = 4, width = 16;

using words = embedding<float, vocabulary<32>, hidden<width>>;
using block = encoder_layer<float, hidden<width>, heads<4>, intermediate<24>, kv_heads<2>,
                            norm_first<true>, norm_by<rms_norm>, norm_epsilon<1, 100'000>,
                            activation<silu>, gated<true>, bias<false>, rope<split_halves>>;
using block_stack = layer_stack<block, 2>;
using last_norm = rms_norm<float, hidden<width>>;
using cache = key_value_cache<block_stack, key<length>>;

struct model_weights {
  words::weights embedding;
  block_stack::weights blocks;
  last_norm::weights norm;
};
constexpr model_weights trained = [] {
  model_weights w{};
  embedded::lcg next{16};
  const auto draw = [&](auto&... parameters) { (embedded::draw(next, parameters), ...); };
  draw(w.embedding, w.norm.gamma);
  for (auto& b : w.blocks.layers) {
    draw(b.norm1.gamma, b.attention.q.weight, b.attention.k.weight, b.attention.v.weight);
    draw(b.attention.o.weight, b.norm2.gamma, b.feed_forward.gate.weight);
    draw(b.feed_forward.up.weight, b.feed_forward.down.weight);
  }
  return w;
}();
constexpr prepacked<block_stack> layers{trained.blocks};

template <std::size_t Tokens>
using states = tensor<float, token<Tokens>, hidden<width>>;
template <std::size_t Tokens>
using all_logits = tensor<float, token<Tokens>, vocabulary<32>>;

static constinit tensor<int, token<length>> text{};
static constinit cache past{};
static constinit all_logits<1> next_logits{};

template <std::size_t Tokens>
static void logits_of(const states<Tokens>& x, all_logits<Tokens>& logits) noexcept {
  words{trained.embedding}.logits_into(logits, last_norm{trained.norm, 1e-5F}(x));
}

// The next token, after one more is read.
MEASURED std::size_t step(std::size_t at) noexcept {
  static constinit cache::workspace<token<1>> work{};
  static constinit states<1> x{};
  words{trained.embedding}.into(x, view_as<token<1>>(text.data() + at));
  if (!past.step(x, layers, x, all_keys, work)) return npos;
  logits_of(x, next_logits);
  return argmax(next_logits);
}

int main() {
  constexpr int said[length] = {7, 3, 29, 12, 11, 30, 15, 26, 17, 30, 11, 16};
  for (std::size_t at = 0; at < length; ++at) {
    if (at < prompt) text(at) = said[at];
    const std::size_t next = step(at);
    if (at + 1 >= prompt && at + 1 < length) text(at + 1) = static_cast<int>(next);
  }

  static constinit block_stack::workspace<token<length>> work{};
  static constinit states<length> x{};
  static constinit all_logits<length> logits{};
  words{trained.embedding}.into(x, text);
  layers.into(x, x, causal, work);
  logits_of(x, logits);
  bool same = true, likely = true;
  for (std::size_t i = 0; i < 32; ++i)
    same = same && __builtin_bit_cast(std::uint32_t, next_logits(0, i)) ==
                       __builtin_bit_cast(std::uint32_t, logits(length - 1, i));
  for (std::size_t at = prompt; at < length; ++at)
    for (std::size_t i = 0; i < 32; ++i)
      likely = likely && logits(at - 1, i) <= logits(at - 1, static_cast<std::size_t>(text(at)));
  check("language model: the last step, and the whole pass", same);
  check("language model: each token is the most likely one", likely);
  check_bits("language model: logits", logits);
  bool as_said = true;
  for (std::size_t at = 0; at < length; ++at) as_said = as_said && text(at) == said[at];
  check("language model: its text, fused or not", as_said);
  return embedded::finish();
}
