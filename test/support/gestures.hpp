// SPDX-License-Identifier: BSL-1.0
// The gestures of tools/train_gestures.py, drawn by their numbers, and the model that it trained.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/quantized.hpp>
#include <umbel/umbel.hpp>

#include "../../examples/learn_on_device/gestures.hpp"

namespace gestures {

using namespace umbel;
using namespace umbel::axes;

template <std::size_t N>
struct reading : axis<reading, N> {};

using sample = tensor<float, token<16>, reading<12>>;
using embed_map = linear<float, reading<12>, hidden<24>, bias<true>>;
using block = encoder_layer<float, hidden<24>, heads<4>, intermediate<48>, kv_heads<2>,
                            norm_first<true>, norm_by<rms_norm>, norm_epsilon<1, 100'000>,
                            activation<silu>, gated<true>, bias<false>, rope<split_halves>>;
using block_stack = layer_stack<block, 2>;
using last_norm = rms_norm<float, hidden<24>>;
using head_map = linear<float, hidden<24>, classes<10>, bias<true>>;

struct weights {
  static constexpr const char* part_names[] = {"embed", "layers", "norm", "head"};
  embed_map::weights embed;
  block_stack::weights layers;
  last_norm::weights norm;
  head_map::weights head;
};

// Gesture `number`, whose class is number % 10.
inline sample drawn(std::uint64_t number) noexcept {
  sample s;
  draw<double>(static_cast<std::uint32_t>(number), s.data());
  return s;
}

using result = tensor<float, classes<10>>;
inline result in_floats(const weights& w, const sample& x) noexcept {
  const auto y = block_stack{w.layers}(embed_map{w.embed}(x), causal);
  return head_map{w.head}(mean<token>(last_norm{w.norm, 1e-5F}(y)));
}

using embed_in_integers = quantized<embed_map, output_as<std::int16_t>>;
using mean_in_integers = quantized_mean<token<16>>;

struct ranges {
  static constexpr const char* part_names[] = {"embed", "layers", "norm", "mean", "head"};
  embed_in_integers::ranges embed;
  quantized<block_stack>::ranges layers;
  quantized<last_norm>::ranges norm;
  mean_in_integers::ranges mean;
  quantized<head_map>::ranges head;
};
inline void calibrate(ranges& seen, const weights& w, const sample& x) noexcept {
  const auto y = embed_in_integers::calibrate(seen.embed, w.embed, x);
  const auto z = quantized<block_stack>::calibrate(seen.layers, w.layers, y, causal);
  const auto normed = quantized<last_norm>::calibrate(seen.norm, w.norm, z, 1e-5F);
  const auto pooled = mean_in_integers::calibrate(seen.mean, normed);
  static_cast<void>(quantized<head_map>::calibrate(seen.head, w.head, pooled));
  chain_ranges(seen.embed, seen.layers, seen.norm, seen.mean, seen.head);
}

struct in_integers {
  embed_in_integers embed;
  quantized<block_stack> layers;
  quantized<last_norm> norm;
  mean_in_integers mean;
  quantized<head_map> head;
  tensor<float> input;

  in_integers(const weights& w, const ranges& seen) noexcept
      : embed(w.embed, seen.embed),
        layers(w.layers, seen.layers),
        norm(w.norm, seen.norm, 1e-5F),
        mean(seen.mean),
        head(w.head, seen.head),
        input(seen.embed.input) {}
  auto operator()(const sample& x) const noexcept {
    return head(mean(norm(layers(embed(quantize<std::int8_t>(x, input)), causal))));
  }
};

}  // namespace gestures
