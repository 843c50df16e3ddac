// SPDX-License-Identifier: BSL-1.0
// A pass always returns what every head of every layer attends to; there is no pass without. The
// weights for a choice of heads are packed on first use, from the module's only copy of all
// weights. No library except Umbel, no memory except what is declared here.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "../fashion/fewer_heads.hpp"
#include "network.hpp"

namespace fashion::page {
namespace {

constexpr std::size_t map_size = model::tokens * model::tokens;

std::uint8_t picture[28 * 28];
float answer[model::classes];
float seen[model::layers * all_heads * map_size];
model::workspace work;

// The layers with Count heads, as last requested.
template <std::size_t Count>
struct of_heads {
  static inline std::optional<prepacked<fewer<Count>>> layers[model::layers];
  static inline unsigned packed[model::layers];  // which heads
  static inline typename fewer<Count>::template workspace<patch<49>> layer_work;

  static void run(std::size_t layer, unsigned subset) noexcept {
    if (packed[layer] != subset) {
      layers[layer].emplace(encoder_with<Count>(layer, subset));
      packed[layer] = subset;
    }
    float* const map = seen + layer * all_heads * map_size;
    auto& to = layer == 0 ? work.y : work.x;
    const auto& from = layer == 0 ? work.x : work.y;
    layers[layer]->into(to, from, observe(view_as<heads<Count>, query<49>, key<49>>(map)),
                        layer_work);
  }
};

bool is_choice(unsigned subset) noexcept { return subset != 0 && subset <= every_head; }

}  // namespace

std::uint8_t* pixels() noexcept { return picture; }
const float* logits() noexcept { return answer; }
const float* maps() noexcept { return seen; }

int look(unsigned first, unsigned second) noexcept {
  if (!is_choice(first) || !is_choice(second)) return 0;
  model::embed(picture, work);
  for (std::size_t layer = 0; layer < model::layers; ++layer) {
    const unsigned subset = layer == 0 ? first : second;
    switch (std::popcount(subset)) {
      case 1:
        of_heads<1>::run(layer, subset);
        break;
      case 2:
        of_heads<2>::run(layer, subset);
        break;
      case 3:
        of_heads<3>::run(layer, subset);
        break;
      default:
        of_heads<4>::run(layer, subset);
    }
  }
  model::answer(work, answer);
  return 1;
}

}  // namespace fashion::page
