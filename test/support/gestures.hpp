// SPDX-License-Identifier: BSL-1.0
// The gestures of tools/train_gestures.py, drawn by their numbers, and the model that it trained.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <umbel/quantized.hpp>
#include <umbel/umbel.hpp>

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

inline double wave(double p) noexcept {
  const double f = p - std::floor(p), g = f < 0.5 ? f : f - 0.5;
  return f < 0.5 ? 16 * g * (0.5 - g) : -16 * g * (0.5 - g);
}

// Gesture `number`, whose class is number % 10.
inline sample drawn(std::uint64_t number) noexcept {
  auto state = static_cast<std::uint32_t>(number * 2654435761u + 12345u);
  const auto draw = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<double>(state >> 8) / 16777216;
  };
  for (int i = 0; i < 4; ++i) draw();
  const auto label = number % 10;
  const double start = 0.35 * draw(), length = 0.45 + 0.2 * draw();
  const double size = 0.4 + 0.6 * draw(), speed = 1.2 + 1.3 * draw(), phase = draw();
  const double tilt_x = 0.5 * draw() - 0.25, tilt_y = 0.5 * draw() - 0.25;
  const double noise = 0.1 + 0.5 * draw();
  sample s;
  for (int i = 0; i < 64; ++i) {
    const double t = (i / 64.0 - start) / length;
    double p = phase + speed * t;
    if (label == 6) p = phase + speed * (0.4 * t + 0.6 * t * t);
    if (label == 7) p = phase + speed * (1.6 * t - 0.6 * t * t);
    double x = wave(p), y = wave(p + (label == 1 ? 0.75 : 0.25));
    if (label == 4) y = x;
    if (label == 8) y = -x;
    if (label == 5) y = wave(p + p);
    if (label == 2) y = 0;
    if (label == 3) y = x, x = 0;
    const bool inside = t >= 0 && t < 1 && label != 9;
    const double clean[] = {x + tilt_y * y, y + tilt_x * x, tilt_x * x + tilt_y * y};
    for (std::size_t a = 0; a < 3; ++a) {
      double hiss = draw();
      for (int more = 0; more < 3; ++more) hiss += draw();
      s.data()[3 * static_cast<std::size_t>(i) + a] =
          static_cast<float>((inside ? size * clean[a] : 0) + noise * (hiss - 2));
    }
  }
  return s;
}

using result = tensor<float, classes<10>>;
inline result in_floats(const weights& w, const sample& x) noexcept {
  const auto y = block_stack{w.layers}(embed_map{w.embed}(x), causal);
  return head_map{w.head}(mean<token>(last_norm{w.norm, 1e-5F}(y)));
}

using embed_in_integers = quantized<embed_map, gives<std::int16_t>>;
using mean_in_integers = quantized_mean<token<16>>;

struct ranges {
  static constexpr const char* part_names[] = {"embed", "layers", "norm", "mean", "head"};
  embed_in_integers::ranges embed;
  quantized<block_stack>::ranges layers;
  quantized<last_norm>::ranges norm;
  mean_in_integers::ranges mean;
  quantized<head_map>::ranges head;
};
inline void observe(ranges& seen, const weights& w, const sample& x) noexcept {
  const auto y = embed_in_integers::observe(seen.embed, w.embed, x);
  const auto z = quantized<block_stack>::observe(seen.layers, w.layers, y, causal);
  const auto normed = quantized<last_norm>::observe(seen.norm, w.norm, z, 1e-5F);
  const auto pooled = mean_in_integers::observe(seen.mean, normed);
  static_cast<void>(quantized<head_map>::observe(seen.head, w.head, pooled));
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
