// SPDX-License-Identifier: BSL-1.0
// The models of `tools/bench imported` as one writes them by hand: calls of layers, one after the
// other, with tensors between them, over the weights of the imported headers.
#pragma once

#include <umbel/umbel.hpp>

#include "Bert.hpp"
#include "Conformer.hpp"
#include "Encoder.hpp"
#include "KeywordTransformer.hpp"
#include "Llama.hpp"
#include "VisionTransformer.hpp"
#include "Whisper.hpp"

namespace by_hand {

using namespace umbel;
using namespace umbel::axes;

// Two blocks in turn, in place.
template <class X, class Block, class Mask>
void blocks(X& x, const Block (&all)[2], const Mask& mask) {
  static workspace_for<Block, X> work;
  static X between;
  all[0].into(between, x, mask, work);
  all[1].into(x, between, mask, work);
}

// The first row.
template <class X>
auto first(const X& x) {
  return select_at<token, 0>(x);
}

inline void run(Encoder::result_tensor& out, const Encoder::x_tensor& x, const Encoder::packed& w) {
  static Encoder::x_tensor y, normed;
  y = x;
  blocks(y, w.layers, all_keys);
  normed = Encoder::norm_type{w.norm}(y);
  w.head.into(out, normed);
}

inline void run(VisionTransformer::result_tensor& out, const VisionTransformer::x_tensor& x,
                const VisionTransformer::packed& w) {
  using VisionTransformer::channel, VisionTransformer::row, VisionTransformer::column;
  using VisionTransformer::part_of_row, VisionTransformer::part_of_column;
  static constexpr formula embed = [](auto x, const auto& w) {
    auto rows = x | patches<row, column, part_of_row<4>, part_of_column<4>> |
                permute<row, column, channel, part_of_row, part_of_column> | contiguous |
                merge<row, column, token> | merge<channel, part_of_row, part_of_column, hidden>;
    return concat<token>(w.cls_token, w.proj(rows)) + w.pos_embed;
  };
  static workspace_for<decltype(embed), VisionTransformer::x_tensor, VisionTransformer::packed>
      work;
  static decltype(embed(x, w, work)) y;
  embed.into(y, x, w, work);
  blocks(y, w.blocks_, all_keys);
  w.head.into(out, VisionTransformer::norm_type{w.norm, 1e-6F}(first(y)));
}

inline void run(KeywordTransformer::result_tensor& out, const KeywordTransformer::x_tensor& x,
                const KeywordTransformer::packed& w) {
  static constexpr formula embed = [](auto x, const auto& w) {
    return concat<token>(w.cls, w.proj(x | permute<token, hidden> | contiguous)) + w.pos;
  };
  static workspace_for<decltype(embed), KeywordTransformer::x_tensor, KeywordTransformer::packed>
      work;
  static decltype(embed(x, w, work)) y;
  embed.into(y, x, w, work);
  blocks(y, w.layers, all_keys);
  w.head_2.into(out, KeywordTransformer::head_type{w.head}(first(y)));
}

inline void run(Bert::result_tensor& out, const Bert::ids_tensor& ids,
                const Bert::attention_mask_tensor& kept, const Bert::packed& w) {
  static constexpr formula embed = [](auto ids, const auto& w) {
    return Bert::norm_type{w.norm,
                           1e-12F}(Bert::word_type{w.word}(ids) + w.word_table + w.place_weight);
  };
  static workspace_for<decltype(embed), Bert::ids_tensor, Bert::packed> work;
  static decltype(embed(ids, w, work)) y;
  embed.into(y, ids, w, work);
  blocks(y, w.layers, keep_mask(kept));
  w.classifier.into(out, tanh(w.pooler(first(y))));
}

inline void run(Whisper::result_tensor& out, const Whisper::x_tensor& x, const Whisper::packed& w) {
  static constexpr formula stem = [](auto x, const auto& w) {
    auto y = gelu_exact(w.conv_(
        x | permute<token, Whisper::channel> | padded<token, before<1>, after<1>> |
        windows<token, kernel_size<3>> | merge<kernel_size, Whisper::channel, in_features>));
    return gelu_exact(w.conv_2(y | padded<token, before<1>, after<1>> |
                               windows<token, kernel_size<3>, stride<2>> |
                               merge<kernel_size, hidden, in_features>)) +
           w.positions_weight;
  };
  static workspace_for<decltype(stem), Whisper::x_tensor, Whisper::packed> work;
  static Whisper::result_tensor y;
  stem.into(y, x, w, work);
  blocks(y, w.layers, all_keys);
  out = Whisper::norm_type{w.norm}(y);
}

inline void run(Llama::result_tensor& out, const Llama::ids_tensor& ids, const Llama::packed& w) {
  static auto y = Llama::embed_type{w.embed}(ids);
  y = Llama::embed_type{w.embed}(ids);
  blocks(y, w.layers, causal);
  w.head.into(out, Llama::norm_type{w.norm, 1e-5F}(y));
}

inline void run(Conformer::result_tensor& out, const Conformer::x_tensor& x,
                const Conformer::packed& w) {
  static constexpr formula convolved = [](auto x, const auto& w) {
    auto y = Conformer::ffn1_type{w.norm_of_conv}(x);
    auto gated = (w.conv_(y) * sigmoid(w.conv_2(y))) | padded<token, before<2>, after<2>> |
                 windows<token, kernel_size<5>>;
    return x + w.conv_3(silu(contract<kernel_size>(gated, w.conv_2_table) + w.conv_2_table_2));
  };
  using tokens = Conformer::x_tensor;
  static workspace_for<decltype(convolved), tokens, Conformer::packed> work;
  static workspace_for<prepacked<Conformer::output_type>, tokens> of_attention;
  static tokens y, normed, part;
  using norm = Conformer::ffn1_type;
  y = x + 0.5F * w.ffn1_2(norm{w.ffn1}(x));
  normed = norm{w.norm}(y);
  w.output.into(part, normed, all_keys, of_attention);
  y = y + part;
  convolved.into(part, y, w, work);
  y = part + 0.5F * w.ffn2_2(norm{w.ffn2}(part));
  out = norm{w.final}(y);
}

}  // namespace by_hand
