// SPDX-License-Identifier: BSL-1.0
// The smaller sibling of ../model.hpp, for boards with 16 kB of RAM: 16 patches of 7 x 7 pixels
// instead of 49, hidden 24 instead of 32, and no separate memory for the pixels.
#pragma once

#include <umbel/bare.hpp>
#include <umbel/inspect/footprint.hpp>

#include "../model.hpp"
#include "weights.hpp"

namespace fashion::small {

using positions_type = learned_positions<float, patch<16>, hidden<24>>;
inline constexpr positions_type position_table{view_as<patch<16>, hidden<24>>(positions)};

struct model {
  using tokens_tensor = tensor<float, patch<16>, hidden<24>>;

  // Scratch of one forward pass, owned by the caller.
  struct workspace {
    tokens_tensor x, y;
    layers_type::workspace<patch<16>> encoder_work;
  };

  // The sum of the layers.
  static constexpr call_footprint footprint =
      umbel::footprint<prepacked<embed_type>, tensor<float, hidden<49>>> +
      umbel::footprint<positions_type, patch<16>> +
      umbel::footprint<prepacked<layers_type>, patch<16>> +
      umbel::footprint<prepacked<layers_type>, patch<16>> + umbel::footprint<norm_type, patch<16>> +
      umbel::footprint<prepacked<head_type>, tensor<float, hidden<24>>>;
  static_assert(footprint.ram == sizeof(workspace));

  // Pixels to work.x, patch by patch, each through work.y, which is free until later.
  static void embed_pixels(const std::uint8_t* pixels, workspace& work) noexcept {
    const auto cut = view_as<row<28>, column<28>>(pixels) | split<row, patch_row<4>, row> |
                     split<column, patch_column<4>, column>;
    const auto one = view_as<row<7>, column<7>>(work.y.data());
    const auto tokens = work.x | split<patch, patch_row<4>, patch_column>;
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t c = 0; c < 4; ++c) {
        for_each([](float& to, std::uint8_t from) { to = static_cast<float>(from) / 255; }, one,
                 cut | select_at<patch_row>(r) | select_at<patch_column>(c));
        embed.into(tokens | select_at<patch_row>(r) | select_at<patch_column>(c),
                   one | merge<row, column, hidden>);
      }
    position_table.into(work.x, work.x);
  }

  // pixels: 28 x 28, row by row, 0 to 255. out: 10 logits.
  static void logits(const std::uint8_t* pixels, workspace& work, float* out) noexcept {
    embed_pixels(pixels, work);
    layers[0].into(work.y, work.x, all_keys, work.encoder_work);
    layers[1].into(work.x, work.y, all_keys, work.encoder_work);
    norm_type{norm}.into(work.y, work.x);
    head.into(view_as<classes<10>>(out), work.y | mean<patch>);
  }
};

}  // namespace fashion::small
