// SPDX-License-Identifier: BSL-1.0
// Layers in integers for tests: drawn weights, ranges observed on drawn sequences, and sequences of
// integers. Not here: any test.
#pragma once

#include <umbel/parameters/parameters.hpp>
#include <umbel/quantized.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "random.hpp"

namespace umbel_test {

// Drawn integers, the extremes among them.
template <class X>
X drawn_integers(lcg& next, double largest) {
  X x{};
  std::size_t i = 0;
  for (auto& v : x) {
    using T = std::remove_reference_t<decltype(v)>;
    v = static_cast<T>(static_cast<double>(next()) * largest);
    if (++i % 29 == 0) v = static_cast<T>(next() < 0 ? -largest : largest);
  }
  return x;
}

template <class Layer, std::size_t Count>
void draw_layer(lcg& next, umbel::portable::stacked_weights<Layer, Count>& w) {
  for (auto& one : w.layers) draw_layer(next, one);
}
template <class Weights>
void draw_layer(lcg& next, Weights& w) {
  if constexpr (requires { w.cross_attention; })
    draw_decoder(next, w, 0.3, 0.3, 0.3, 0.1, 1, 0.2);
  else if constexpr (requires { w.norm1; })
    draw_encoder(next, w, 0.3, 0.3, 0.3, 0.1, 1, 0.2);
  else if constexpr (requires { w.q; })
    draw_attention(next, w, 0.3, 0.1);
  else
    draw(next, w.weight, 0.3), draw_bias(next, w, 0.1);
}

inline void expect_packed(const umbel::pack_result& packed) {
  if (packed) return;
  std::fprintf(stderr, "no range: %s\n", packed.missing_range());
  std::abort();
}

// A layer in integers of drawn weights, whose ranges are all one number: for tests that ask nothing
// of its numbers. (No layer of floats is compiled.)
template <class Quantized>
Quantized drawn_quantized(lcg& next, float largest = 2) {
  typename Quantized::layer::weights w{};
  draw_layer(next, w);
  typename Quantized::ranges seen{};
  umbel::for_each_parameter(
      seen, [&](const umbel::parameter_path&, const auto& range) { *range.data() = largest; });
  Quantized layer{};
  expect_packed(layer.pack(w, seen));
  return layer;
}

// A layer in integers, whose ranges were observed on drawn floats of the type X, and of Memory.
template <class Layer, class X, class... Memory>
struct quantized_fixture {
  using quantized = umbel::quantized<Layer>;
  lcg next{7};
  typename Layer::weights w{};
  typename quantized::ranges seen{};
  quantized layer{};

  template <class... Masks>
  explicit quantized_fixture(const Masks&... masks) {
    draw_layer(next, w);
    for (int i = 0; i < 3; ++i)
      static_cast<void>(
          quantized::calibrate(seen, w, drawn<X>(next, 2), drawn<Memory>(next, 2)..., masks...));
    expect_packed(layer.pack(w, seen));
  }
};

// y times unit beside the floats: the root of the mean square of the differences, over that of the
// floats.
template <class Integers, class Floats>
double relative_error(const Integers& y, double unit, const Floats& wanted) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto f = static_cast<double>(wanted.data()[i]);
    const double d = y.data()[i] * unit - f;
    error += d * d;
    size += f * f;
  }
  return std::sqrt(error / size);
}

}  // namespace umbel_test
