// SPDX-License-Identifier: BSL-1.0
// The blocks are stepped one by one, each with a separate cache: a mask for a stack, and so what is
// observed, would be the same for all blocks. The bits are the stack's.
#include "language.hpp"

#include <optional>
#include <umbel/decode/sample.hpp>

#include "../tiny_language_model/named_weights.hpp"

namespace tiny::page {
namespace {

constexpr std::size_t block_count = 5;
static_assert(std::is_same_v<block_stack, layer_stack<block, block_count>>);
using cache = key_value_cache<block, key<context>>;

std::uint8_t memory[500'000];
weights trained;
std::optional<prepacked<block>> blocks[block_count];  // none before they are loaded

cache past[block_count];
cache::workspace<token<1>> work;
states<1> x;
tiny::logits<1> next;
float seen[block_count * 8 * context];
sampler<float, vocabulary<characters>> sample{1};

}  // namespace

std::uint8_t* file() noexcept { return memory; }
std::size_t file_room() noexcept { return sizeof memory; }
const float* logits() noexcept { return next.data(); }
const float* rows() noexcept { return seen; }

void forget() noexcept {
  for (cache& of_block : past) of_block.reset();
}

int load(std::size_t bytes) noexcept {
  for (auto& packed : blocks) packed.reset();
  forget();
  if (bytes > sizeof memory) return 0;
  const auto tensors = safetensors_file::in_memory(memory, bytes);
  if (!tensors || !verify_checksum(*tensors)) return 0;
  if (!load_named(trained, *tensors)) return 0;
  for (std::size_t i = 0; i < block_count; ++i) blocks[i].emplace(trained.blocks.layers[i]);
  return 1;
}

void seed(std::uint32_t number) noexcept {
  sample = sampler<float, vocabulary<characters>>{number};
}

int read(std::uint32_t letter) noexcept {
  if (!blocks[0] || letter >= characters || past[0].size() == context) return 0;
  const tokens<1> one{static_cast<int>(letter)};
  words{trained.embedding}.into(x, one);
  for (std::size_t i = 0; i < block_count; ++i) {
    auto row = view_as<heads<8>, query<1>, key<context>>(seen + i * 8 * context);
    (void)past[i].step(x, *blocks[i], x, observe(row), work);
  }
  words{trained.embedding}.logits_into(next, last_norm{trained.norm, 1e-5F}(x));
  return 1;
}

std::uint32_t draw(float temperature) noexcept {
  if (past[0].size() == 0) return 0;
  return static_cast<std::uint32_t>(sample(next, {.temperature = temperature}));
}

}  // namespace tiny::page
