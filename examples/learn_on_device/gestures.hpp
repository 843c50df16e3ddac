// SPDX-License-Identifier: BSL-1.0
// Drawn gestures, as in tools/gestures.py: 64 readings (x y z) of an acceleration sensor. Gesture
// `number` has the class number % 10.
//
//   0, 1   a circle, either way            5      an eight
//   2, 3   a shake along x, along y        6, 7   a circle that becomes faster, slower
//   4, 8   a shake along x = y, x = -y     9      no gesture
//
// Compiled with -ffp-contract=off, readings have the same bits everywhere: no product and sum here
// are fused on targets that can (Umbel doesn't depend on it).
#pragma once

#include <cstddef>
#include <cstdint>

namespace gestures {

inline constexpr std::size_t class_count = 10, reading_count = 64;

// A sine of period 1, of two parabolas; p: at least 0.
template <class T>
constexpr T wave(T p) noexcept {
  const T half = T(0.5), f = p - static_cast<T>(static_cast<std::int32_t>(p));
  const T g = f < half ? f : f - half, y = 16 * g * (half - g);
  return f < half ? y : -y;
}

// Writes 64 times x y z, computed in T: double as in the Python script, float on a board.
template <class T>
constexpr void draw(std::uint32_t number, float* to) noexcept {
  std::uint32_t state = number * 2654435761u + 12345u;
  const auto next = [&state] {
    state = state * 1664525u + 1013904223u;
    return static_cast<T>(state >> 8) / T(16777216);
  };
  for (int i = 0; i < 4; ++i) next();
  const auto label = static_cast<int>(number % class_count);
  const T start = T(0.35) * next(), length = T(0.45) + T(0.2) * next();
  const T size = T(0.4) + T(0.6) * next(), speed = T(1.2) + T(1.3) * next(), phase = next();
  const T tilt_x = T(0.5) * next() - T(0.25), tilt_y = T(0.5) * next() - T(0.25);
  const T noise = T(0.1) + T(0.5) * next();
  for (int i = 0; i < static_cast<int>(reading_count); ++i) {
    const T t = (static_cast<T>(i) / T(reading_count) - start) / length;
    const bool is_inside = t >= 0 && t < 1 && label != 9;
    T x = 0, y = 0;
    if (is_inside) {
      T p = phase + speed * t;
      if (label == 6) p = phase + speed * (T(0.4) * t + T(0.6) * t * t);
      if (label == 7) p = phase + speed * (T(1.6) * t - T(0.6) * t * t);
      x = wave(p), y = wave(p + (label == 1 ? T(0.75) : T(0.25)));
      if (label == 4) y = x;
      if (label == 8) y = -x;
      if (label == 5) y = wave(p + p);
      if (label == 2) y = 0;
      if (label == 3) y = x, x = 0;
    }
    const T clean[] = {x + tilt_y * y, y + tilt_x * x, tilt_x * x + tilt_y * y};
    for (const T one : clean) {
      T hiss = next();
      for (int more = 0; more < 3; ++more) hiss += next();
      *to++ = static_cast<float>(size * one + noise * (hiss - 2));
    }
  }
}

}  // namespace gestures
