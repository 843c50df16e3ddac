// SPDX-License-Identifier: BSL-1.0
// The generator of the golden vectors (tools/golden.py) and whatever draws from it: numbers that
// are the same on every machine, also in constant expressions. Not here: any test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace umbel_test {

// In [-1, 1): 24 bits, exact in float.
struct lcg {
  std::uint32_t state = 1;
  constexpr float operator()() noexcept {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(state >> 8) * 0x1p-23f - 1;
  }
};

// Draws every element of a tensor, view or array, in row-major order, times a scale.
template <class Range>
constexpr Range& draw(lcg& next, Range& to, double scale = 1) noexcept {
  for (auto& element : to) {
    using T = std::remove_reference_t<decltype(element)>;
    element = static_cast<T>(static_cast<double>(next()) * scale);
  }
  return to;
}

template <class X>
constexpr X drawn(lcg& next, double scale = 1) noexcept {
  X x{};
  draw(next, x, scale);
  return x;
}

// The bias of a linear map, where it has one.
template <class Map, class... Scale>
constexpr void draw_bias(lcg& next, Map& w, Scale... scale) noexcept {
  if constexpr (Map::map::has_bias) draw(next, w.bias, scale...);
}

// Parameters of a multi_head_attention in the order of the golden vectors: weights, then biases.
template <class Weights>
constexpr void draw_attention(lcg& next, Weights& w, double weight_scale,
                              double bias_scale) noexcept {
  const auto weight = [&](auto& p) { draw(next, p.weight, weight_scale); };
  const auto bias = [&](auto& p) { draw_bias(next, p, bias_scale); };
  weight(w.q), weight(w.k), weight(w.v), weight(w.o);
  bias(w.q), bias(w.k), bias(w.v), bias(w.o);
  const auto norm = [&](auto& p) {
    draw(next, p.gamma);
    if constexpr (requires { p.beta; }) draw(next, p.beta, bias_scale);
  };
  if constexpr (requires { w.q_norm; }) norm(w.q_norm), norm(w.k_norm);
}

// A multi_head_attention's weights of a moderate size for its width. (At run time, from a generator
// that is not const: given constants, g++ would draw while compiling and store element by element.)
template <class Layer>
constexpr typename Layer::weights drawn_weights(lcg& next) noexcept {
  typename Layer::weights w{};
  double scale = 1;
  while (scale * scale * static_cast<double>(Layer::hidden_axis::size) > 3) scale /= 2;
  draw_attention(next, w, scale, 0.125);
  return w;
}

// A feed_forward's: gate if there is one, up, down, each weight and then its bias.
template <class Weights>
constexpr void draw_feed_forward(lcg& next, Weights& w, double up_scale, double down_scale,
                                 double bias_scale) noexcept {
  const auto map = [&](auto& p, double scale) {
    draw(next, p.weight, scale);
    draw_bias(next, p, bias_scale);
  };
  if constexpr (requires { w.gate; }) map(w.gate, up_scale);
  map(w.up, up_scale);
  map(w.down, down_scale);
}

// And an encoder_layer's.
template <class Weights>
constexpr void draw_encoder(lcg& next, Weights& w, double weight_scale, double up_scale,
                            double down_scale, double bias_scale, double gamma_scale,
                            double beta_scale) noexcept {
  draw_attention(next, w.attention, weight_scale, bias_scale);
  draw(next, w.norm1.gamma, gamma_scale);
  if constexpr (requires { w.norm1.beta; }) draw(next, w.norm1.beta, beta_scale);
  draw_feed_forward(next, w.feed_forward, up_scale, down_scale, bias_scale);
  draw(next, w.norm2.gamma, gamma_scale);
  if constexpr (requires { w.norm2.beta; }) draw(next, w.norm2.beta, beta_scale);
}

// And a decoder_layer's.
template <class Weights>
constexpr void draw_decoder(lcg& next, Weights& w, double weight_scale, double up_scale,
                            double down_scale, double bias_scale, double gamma_scale,
                            double beta_scale) noexcept {
  const auto norm = [&](auto& p) {
    draw(next, p.gamma, gamma_scale);
    if constexpr (requires { p.beta; }) draw(next, p.beta, beta_scale);
  };
  draw_attention(next, w.self_attention, weight_scale, bias_scale);
  norm(w.norm1);
  draw_attention(next, w.cross_attention, weight_scale, bias_scale);
  norm(w.norm2);
  draw_feed_forward(next, w.feed_forward, up_scale, down_scale, bias_scale);
  norm(w.norm3);
}

}  // namespace umbel_test
