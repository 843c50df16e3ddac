// SPDX-License-Identifier: BSL-1.0
// The clothing classifier in integers only: the layers of model.hpp in 8 bits, residual sums in 16,
// the same logits on every target. The compiler packs it from the weights of trained/weights.hpp
// and the ranges of trained/ranges.hpp, which calibrate.cpp found on training pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/inspect/footprint.hpp>
#include <umbel/quantized.hpp>

#include "integer_layers.hpp"
#include "model.hpp"
#include "trained/ranges.hpp"

namespace fashion {

namespace integer {

inline constexpr ranges seen = [] {
  ranges r{};
  trained::set_ranges(r);
  return r;
}();
static_assert(seen.chained(), "what a layer gives must be of the range that the next one takes");

inline constexpr embed_layer embed{embed_parameters, seen.embed};
inline constexpr position_layer positions{view_as<patch, hidden>(trained::positions),
                                          seen.positions};
// One by one: clang allows a million steps per constant.
template <std::size_t I>
inline constexpr encoder_layer layer{trained::layers_parameters[I], seen.encoder[I]};
inline constexpr norm_layer norm{trained::norm, seen.norm};
inline constexpr mean_layer mean{seen.mean};
inline constexpr head_layer head{trained::head_parameters, seen.head};

}  // namespace integer

struct integer_model {
  // Scratch of one forward pass, owned by the caller.
  struct workspace {
    tensor<std::int16_t, patch<49>, hidden<32>> x;
    union {  // used in turn
      tensor<std::int8_t, patch_row<7>, patch_column<7>, row<4>, column<4>> patches;
      integer::encoder_layer::workspace<patch<49>> encoder_work;
      tensor<std::int8_t, patch<49>, hidden<32>> normed;
    };
  };
  static constexpr std::size_t weights_bytes = sizeof(integer::embed) + sizeof(integer::positions) +
                                               sizeof(integer::layer<0>) +
                                               sizeof(integer::layer<1>) + sizeof(integer::norm) +
                                               sizeof(integer::mean) + sizeof(integer::head);
  static constexpr std::size_t workspace_bytes = sizeof(workspace);

  // The sum of the layers. Those that need the most overwrite their argument.
  static constexpr call_footprint footprint = [] {
    auto all = umbel::footprint<integer::embed_layer, patch<49>> +
               umbel::footprint<integer::position_layer, patch<49>> +
               umbel::footprint<integer::encoder_layer, patch<49>> +
               umbel::footprint<integer::encoder_layer, patch<49>> +
               umbel::footprint<integer::norm_layer, patch<49>> +
               umbel::footprint<integer::mean_layer, tensor<std::int8_t, patch<49>, hidden<32>>> +
               umbel::footprint<integer::head_layer, tensor<std::int8_t, hidden<32>>>;
    all.ram -= all.results;
    all.ram_with_weights -= all.results;
    return all;
  }();
  static_assert(footprint.ram == sizeof(workspace) && footprint.weights == weights_bytes);

  // pixels: 28 x 28, row by row, 0 to 255. out: 10 logits, in units of the range of the head.
  static void logits(const std::uint8_t* pixels, workspace& work, std::int16_t* out) noexcept {
    const auto picture = view_as<row<28>, column<28>>(pixels);
    const auto cut = picture | split<row, patch_row<7>, row> |
                     split<column, patch_column<7>, column> |
                     permute<patch_row, patch_column, row, column>;
    for_each([](std::int8_t& to, std::uint8_t from) { to = static_cast<std::int8_t>(from - 128); },
             work.patches, cut);
    const auto tokens =
        work.patches | merge<patch_row, patch_column, patch> | merge<row, column, hidden>;
    integer::embed.into(work.x, tokens);
    integer::positions.into(work.x, work.x);
    integer::layer<0>.into(work.x, work.x, all_keys, work.encoder_work);
    integer::layer<1>.into(work.x, work.x, all_keys, work.encoder_work);
    integer::norm.into(work.normed, work.x);
    integer::head.into(view_as<umbel::axes::classes<10>>(out), work.normed | integer::mean);
  }
};

}  // namespace fashion
