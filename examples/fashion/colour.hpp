// SPDX-License-Identifier: BSL-1.0
// A share from 0 to 1 as a color: from the library's heat maps, a grey, or a transparent overlay.
#pragma once

#include <algorithm>
#include <cstdint>
#include <umbel/inspect/heat_map.hpp>

namespace fashion {

struct colour {
  std::uint8_t red, green, blue, alpha = 255;
};

constexpr colour heat(float share) {
  const umbel::detail::heat_rgb c = umbel::heat_colour(share);
  return {c.red, c.green, c.blue};
}

constexpr colour grey(float share) {
  const float clamped = share > 0 ? std::min(share, 1.0F) : 0.0F;
  const auto level = static_cast<std::uint8_t>(clamped * 255.0F + 0.5F);
  return {level, level, level};
}

}  // namespace fashion
