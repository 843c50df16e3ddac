// SPDX-License-Identifier: BSL-1.0
// The layers of the integer classifier (integers.hpp), and the ranges of their tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/quantized.hpp>

#include "model.hpp"

namespace fashion::integer {

using embed_layer = quantized<trained::embed_type, output_as<std::int16_t>>;
using position_layer = quantized<position_table>;
using encoder_layer = quantized<encoder>;
using norm_layer = quantized<trained::norm_type>;
using mean_layer = quantized_mean<patch<model::tokens>>;
using head_layer = quantized<trained::head_type, output_as<std::int16_t>>;

// In the order of the forward pass.
struct ranges {
  static constexpr const char* part_names[] = {"embed", "positions", "encoder",
                                               "norm",  "mean",      "head"};
  embed_layer::ranges embed;
  position_layer::ranges positions;
  encoder_layer::ranges encoder[model::layers];
  norm_layer::ranges norm;
  mean_layer::ranges mean;
  head_layer::ranges head;

  constexpr void chain() noexcept { chain_ranges(embed, positions, encoder, norm, mean, head); }
  constexpr bool chained() const noexcept {
    return are_chained(embed, positions, encoder, norm, mean, head);
  }
};

// A pixel is the integer p - 128 in units of 1/255. So x is (p - 128) / 255 although the trained
// weights expect p / 255; the bias corrects it: W x + (b + 128/255 of the weights' sums).
inline constexpr float pixel_range = 127.0F / 255;
inline constexpr auto embed_bias = [] {
  tensor<float, hidden<32>> moved{};
  for (std::size_t o = 0; o < 32; ++o) {
    float sum = 0;
    for (std::size_t i = 0; i < 16; ++i) sum += trained::embed_weight[16 * o + i];
    moved(o) = trained::embed_bias[o] + sum * (128.0F / 255);
  }
  return moved;
}();
inline constexpr embed_layer::weights_to_pack embed_parameters{
    view_as<out_features, in_features>(trained::embed_weight), embed_bias};

}  // namespace fashion::integer
