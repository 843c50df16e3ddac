// SPDX-License-Identifier: BSL-1.0
// The clothing classifier: a small attention encoder over the 49 patches of a picture.
//
//   picture (row=28, column=28)
//     cut into patches               (patch=49, hidden=16)
//     linear + learned positions     (patch=49, hidden=32)
//     two encoder layers, norm, mean over the patches
//     linear                        (classes=10)
//
// tools/train_fashion.py trained it; tools/export wrote trained/weights.hpp: the layers' types and
// their weights as constants. The compiler packs them into the program's read-only memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/bare.hpp>
#include <umbel/inspect/footprint.hpp>

#include "trained/weights.hpp"

namespace fashion {

using namespace umbel;
using namespace umbel::axes;

// Custom axes: one line each.
template <std::size_t N>
struct row : axis<row, N> {};
template <std::size_t N>
struct column : axis<column, N> {};
template <std::size_t N>
struct patch_row : axis<patch_row, N> {};
template <std::size_t N>
struct patch_column : axis<patch_column, N> {};
template <std::size_t N>
struct patch : axis<patch, N> {};
template <std::size_t N>
struct layer : axis<layer, N> {};

using encoder = trained::layers_type;
using position_table = learned_positions<float, patch<49>, hidden<32>>;
inline constexpr position_table positions{view_as<patch<49>, hidden<32>>(trained::positions)};

// ---- the network --------------------------------------------------------------------------------
struct model {
  static constexpr std::size_t tokens = 49, heads = 4, layers = 2, classes = 10;

  using tokens_tensor = tensor<float, patch<49>, hidden<32>>;

  // Scratch of one forward pass, owned by the caller.
  struct workspace {
    tensor<float, patch_row<7>, patch_column<7>, row<4>, column<4>> patches;
    tokens_tensor x, y;
    encoder::workspace<patch<49>> encoder_work;
  };

  // Read-only memory: packed maps, norms, positions.
  static constexpr std::size_t weights_bytes = sizeof(trained::embed) + sizeof(trained::layers) +
                                               sizeof(trained::head) + sizeof(trained::positions) +
                                               10 * sizeof(trained::norm_weight);
  static constexpr std::size_t workspace_bytes = sizeof(workspace);
  static constexpr std::size_t stack_bytes = 3 * 1024;  // measured and checked by the demo

  // The sum of the layers, plus the pixels, whose memory no result reuses.
  static constexpr call_footprint footprint = [] {
    using layers_type = prepacked<encoder>;
    auto all = umbel::footprint<prepacked<trained::embed_type>, patch<49>> +
               umbel::footprint<position_table, patch<49>> +
               umbel::footprint<layers_type, patch<49>> + umbel::footprint<layers_type, patch<49>> +
               umbel::footprint<trained::norm_type, patch<49>> +
               umbel::footprint<prepacked<trained::head_type>, tensor<float, hidden<32>>>;
    all.ram += sizeof(workspace::patches);
    all.ram_with_weights += sizeof(workspace::patches);
    return all;
  }();
  static_assert(footprint.ram == sizeof(workspace));

  // Pixels to work.x. A picture is (row, column); a patch is 4 x 4 of it. Cutting it up moves
  // nothing; only the conversion to float copies.
  static void embed(const std::uint8_t* pixels, workspace& work) noexcept {
    const auto picture = view_as<row<28>, column<28>>(pixels);
    const auto cut = picture | split<row, patch_row<7>, row> |
                     split<column, patch_column<7>, column> |
                     permute<patch_row, patch_column, row, column>;
    for_each([](float& to, std::uint8_t from) { to = static_cast<float>(from) / 255; },
             work.patches, cut);
    const auto tokens =
        work.patches | merge<patch_row, patch_column, patch> | merge<row, column, hidden>;
    trained::embed.into(work.x, tokens);  // by value each would be a tensor on the stack
    positions.into(work.x, work.x);
  }

  // From the layers' work.x to 10 logits.
  static void answer(workspace& work, float* out) noexcept {
    trained::norm_type{trained::norm}.into(work.y, work.x);
    const auto scores = work.y | mean<patch> | trained::head;
    copy(scores, view_as<umbel::axes::classes<10>>(out));
  }

  // pixels: 28 x 28, row by row, 0 to 255. out: 10 logits.
  static void logits(const std::uint8_t* pixels, workspace& work, float* out) noexcept {
    embed(pixels, work);
    trained::layers[0].into(work.y, work.x, all_keys, work.encoder_work);
    trained::layers[1].into(work.x, work.y, all_keys, work.encoder_work);
    answer(work, out);
  }

  // What every head of every layer looks at: (layer=2, heads=4, query=49, key=49), rows sum to 1.
  static void attention(const std::uint8_t* pixels, workspace& work, float* weights) noexcept {
    auto maps = view_as<layer<2>, umbel::axes::heads<4>, query<49>, key<49>>(weights);
    embed(pixels, work);
    trained::layers[0].into(work.y, work.x, observe(maps | select_at<layer, 0>), work.encoder_work);
    trained::layers[1].into(work.x, work.y, observe(maps | select_at<layer, 1>), work.encoder_work);
  }
};

}  // namespace fashion
