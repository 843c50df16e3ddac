// SPDX-License-Identifier: BSL-1.0
// The blocks that every use is tried on (test/uses): those of examples/blocks and the ready-made
// layers, of the width 32; and their weights, drawn by path as tools/golden_residual_blocks.py
// draws them.
#pragma once

#include <umbel/umbel.hpp>

#include "../../examples/blocks/conformer.hpp"
#include "../../examples/blocks/parallel.hpp"
#include "../../examples/blocks/sandwich.hpp"
#include "../../examples/blocks/scaled.hpp"
#include "../../examples/blocks/star_relu.hpp"
#include "parameters.hpp"

namespace umbel_test {

template <class T>
using pre_norm_encoder =
    umbel::encoder_layer<T, umbel::axes::hidden<32>, umbel::axes::heads<4>,
                         umbel::axes::intermediate<64>, umbel::norm_first<true>,
                         umbel::norm_by<umbel::rms_norm>, umbel::norm_epsilon<1, 1'000'000>,
                         umbel::activation<umbel::silu>, umbel::gated<true>, umbel::bias<false>,
                         umbel::axes::kv_heads<2>, umbel::rope<umbel::split_halves>>;
// As of Qwen3: the queries and keys of each head are normed.
template <class T>
using normed_heads_encoder =
    umbel::encoder_layer<T, umbel::axes::hidden<32>, umbel::axes::heads<4>,
                         umbel::axes::intermediate<64>, umbel::norm_first<true>,
                         umbel::norm_by<umbel::rms_norm>, umbel::norm_epsilon<1, 1'000'000>,
                         umbel::activation<umbel::silu>, umbel::gated<true>, umbel::bias<false>,
                         umbel::axes::kv_heads<2>, umbel::query_key_norm<umbel::rms_norm>,
                         umbel::rope<umbel::split_halves>>;
template <class T>
using post_norm_encoder =
    umbel::encoder_layer<T, umbel::axes::hidden<32>, umbel::axes::heads<4>,
                         umbel::axes::intermediate<64>, umbel::norm_first<false>,
                         umbel::activation<umbel::relu>, umbel::bias<true>>;
template <class T>
using decoder = umbel::decoder_layer<T, umbel::axes::hidden<32>, umbel::axes::heads<4>,
                                     umbel::axes::intermediate<64>, umbel::norm_first<true>,
                                     umbel::activation<umbel::relu>, umbel::bias<true>>;

// f.template operator()<Layer>(name): for each block of numbers T.
template <class T, class F>
void for_each_block(const F& f) {
  f.template operator()<example::parallel_block<T>>("parallel");
  f.template operator()<example::sandwich_block<T>>("sandwich norm");
  f.template operator()<example::scaled_block<T>>("scaled residuals");
  f.template operator()<example::conformer_block<T>>("Conformer");
  f.template operator()<example::star_relu_block<T>>("formula");
  f.template operator()<pre_norm_encoder<T>>("encoder, norm first");
  f.template operator()<post_norm_encoder<T>>("encoder, norm last");
  f.template operator()<normed_heads_encoder<T>>("encoder, queries and keys normed");
  f.template operator()<decoder<T>>("decoder");
  f.template operator()<umbel::layer_stack<pre_norm_encoder<T>, 2>>("stack of encoders");
  f.template operator()<umbel::layer_stack<decoder<T>, 2>>("stack of decoders");
  f.template operator()<umbel::layer_stack<example::parallel_block<T>, 2>>("stack of blocks");
}

// Does it attend to a memory?
template <class Layer>
inline constexpr bool has_memory = umbel::detail::decodes_with_memory<Layer>;

}  // namespace umbel_test
