// SPDX-License-Identifier: BSL-1.0
// A share of 0 to 1 as a colour: even steps of lightness from dark violet to pale yellow, so that
// more is brighter in print and to colour-blind eyes too.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace fashion {

struct colour {
  std::uint8_t red, green, blue, alpha = 255;
};

// Support points of matplotlib's "inferno" (CC0), a ninth of the way each.
constexpr std::array<colour, 9> heat_points{{{0, 0, 4},
                                             {31, 12, 72},
                                             {85, 15, 109},
                                             {136, 34, 106},
                                             {186, 54, 85},
                                             {227, 89, 51},
                                             {249, 140, 10},
                                             {249, 201, 50},
                                             {252, 255, 164}}};

constexpr colour heat(float share) {
  const float clamped = share > 0 ? std::min(share, 1.0F) : 0.0F;  // a NaN is 0
  const float place = clamped * static_cast<float>(heat_points.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(place), heat_points.size() - 2);
  const float rest = place - static_cast<float>(low);
  const auto between = [&](std::uint8_t from, std::uint8_t to) {
    const float value =
        static_cast<float>(from) + rest * (static_cast<float>(to) - static_cast<float>(from));
    return static_cast<std::uint8_t>(value + 0.5F);
  };
  const colour from = heat_points[low];
  const colour to = heat_points[low + 1];
  return {between(from.red, to.red), between(from.green, to.green), between(from.blue, to.blue)};
}

constexpr colour grey(float share) {
  const float clamped = share > 0 ? std::min(share, 1.0F) : 0.0F;
  const auto level = static_cast<std::uint8_t>(clamped * 255.0F + 0.5F);
  return {level, level, level};
}

}  // namespace fashion
