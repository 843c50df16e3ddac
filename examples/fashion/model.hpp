// SPDX-License-Identifier: BSL-1.0
// The clothing classifier: a small attention encoder over the 49 patches of a picture.
//
//   picture (row=28, column=28)
//     cut into patches              (patch=49, pixel=16)
//     linear + learned positions     (patch=49, hidden=32)
//     two encoder layers, norm, mean over the patches
//     linear                        (classes=10)
//
// tools/train_fashion.py trained it and wrote trained/weights.hpp. All weights are constants:
// packed by the compiler, they lie in the program's read-only memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/umbel.hpp>

#include "trained/weights.hpp"

namespace fashion {

using namespace umbel;
using namespace umbel::axes;

// Axes of our own: one line each.
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
struct pixel : axis<pixel, N> {};
template <std::size_t N>
struct layer : axis<layer, N> {};

using embed_layer = linear<float, pixel<16>, hidden<32>, bias<true>>;
using position_table = learned_positions<float, patch<49>, hidden<32>>;
using encoder = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, bias<true>,
                              norm_first<true>, activation<gelu_exact>>;
using final_norm = layer_norm<float, hidden<32>>;
using classifier = linear<float, hidden<32>, classes<10>, bias<true>>;

// ---- the parameters, as the layers want them ----------------------------------------------------
namespace parameters {

using namespace trained;

inline constexpr prepacked<embed_layer> embed{
    {umbel::view_as<in_features, out_features>(embed_weight), embed_bias}};
inline constexpr position_table positions{view_as<patch<49>, hidden<32>>(trained::positions)};

inline constexpr encoder::weights_view natural[2] = {
    {{layer0_norm1_gamma, layer0_norm1_beta},
     {{umbel::view_as<in_features, out_features>(layer0_query_weight), layer0_query_bias},
      {umbel::view_as<in_features, out_features>(layer0_key_weight), layer0_key_bias},
      {umbel::view_as<in_features, out_features>(layer0_value_weight), layer0_value_bias},
      {umbel::view_as<in_features, out_features>(layer0_output_weight), layer0_output_bias}},
     {layer0_norm2_gamma, layer0_norm2_beta},
     {{umbel::view_as<in_features, out_features>(layer0_up_weight), layer0_up_bias},
      {umbel::view_as<in_features, out_features>(layer0_down_weight), layer0_down_bias}}},
    {{layer1_norm1_gamma, layer1_norm1_beta},
     {{umbel::view_as<in_features, out_features>(layer1_query_weight), layer1_query_bias},
      {umbel::view_as<in_features, out_features>(layer1_key_weight), layer1_key_bias},
      {umbel::view_as<in_features, out_features>(layer1_value_weight), layer1_value_bias},
      {umbel::view_as<in_features, out_features>(layer1_output_weight), layer1_output_bias}},
     {layer1_norm2_gamma, layer1_norm2_beta},
     {{umbel::view_as<in_features, out_features>(layer1_up_weight), layer1_up_bias},
      {umbel::view_as<in_features, out_features>(layer1_down_weight), layer1_down_bias}}}};
inline constexpr prepacked<encoder> encode[2] = {prepacked<encoder>{natural[0]},
                                                 prepacked<encoder>{natural[1]}};

inline constexpr final_norm norm_last{{norm_gamma, norm_beta}};
inline constexpr prepacked<classifier> classify{
    {umbel::view_as<in_features, out_features>(head_weight), head_bias}};

}  // namespace parameters

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

  // What lies in read-only memory: packed maps, norms, positions.
  static constexpr std::size_t weights_bytes =
      sizeof(parameters::embed) + sizeof(parameters::encode) + sizeof(parameters::classify) +
      sizeof(trained::positions) + 10 * sizeof(trained::norm_gamma);
  static constexpr std::size_t workspace_bytes = sizeof(workspace);
  static constexpr std::size_t stack_bytes = 32 * 1024;  // measured and checked by the demo

  // Pixels to work.x. A picture is (row, column); a patch is 4 x 4 of it. Cutting it up moves
  // nothing: only the conversion to float copies.
  static void embed(const std::uint8_t* pixels, workspace& work) noexcept {
    const auto picture = view_as<row<28>, column<28>>(pixels);
    const auto cut = picture | split<row, patch_row<7>, row> |
                     split<column, patch_column<7>, column> |
                     permute<patch_row, patch_column, row, column>;
    for_each([](float& to, std::uint8_t from) { to = static_cast<float>(from) / 255; },
             work.patches, cut);
    work.x = work.patches | merge<patch_row, patch_column, patch> | merge<row, column, pixel> |
             parameters::embed | parameters::positions;
  }

  // work.x, as the layers leave it, to 10 logits.
  static void answer(const workspace& work, float* out) noexcept {
    const auto scores = work.x | parameters::norm_last | mean<patch> | parameters::classify;
    copy(scores, view_as<umbel::axes::classes<10>>(out));
  }

 private:
  // The attention weights of one layer, spelled out in checked steps.
  static auto look(std::size_t which, const tokens_tensor& x) noexcept {
    const auto& p = parameters::natural[which];
    const auto normed = x | encoder::norm(p.norm1);
    const auto q = normed * p.attention.q | split<hidden, umbel::axes::heads<4>, head_dim> |
                   rename_axis<patch, query> | permute<umbel::axes::heads, query, head_dim>;
    const auto k = normed * p.attention.k | split<hidden, umbel::axes::heads<4>, head_dim> |
                   rename_axis<patch, key> | permute<umbel::axes::heads, key, head_dim>;
    return contract<head_dim>(q, k) * detail::simd::rsqrt(8.0f) | softmax<key>;
  }

 public:
  // pixels: 28 x 28, row by row, 0 to 255. out: 10 logits.
  static void logits(const std::uint8_t* pixels, workspace& work, float* out) noexcept {
    embed(pixels, work);
    parameters::encode[0].into(work.y, work.x, all_keys, work.encoder_work);
    parameters::encode[1].into(work.x, work.y, all_keys, work.encoder_work);
    answer(work, out);
  }

  // What every head of every layer looks at: (layer=2, heads=4, query=49, key=49), rows sum to 1.
  static void attention(const std::uint8_t* pixels, workspace& work, float* weights) noexcept {
    auto maps = view_as<layer<2>, umbel::axes::heads<4>, query<49>, key<49>>(weights);
    embed(pixels, work);
    copy(look(0, work.x), maps | select_at<layer, 0>);
    parameters::encode[0].into(work.y, work.x, all_keys, work.encoder_work);
    copy(look(1, work.y), maps | select_at<layer, 1>);
  }
};

}  // namespace fashion
