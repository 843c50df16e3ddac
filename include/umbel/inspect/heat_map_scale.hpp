// SPDX-License-Identifier: BSL-1.0
// From a weight to its color, in even steps of lightness from dark violet to pale yellow: more is
// brighter, also on paper and for color-blind readers, and visible on dark and light pages.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/axis.hpp>
#include <umbel/shape/verdict.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct heat_colour;
}
UMBEL_SAYS(so_read_its_red_green_and_blue, "; read its red, green and blue");
struct heat_rgb {
  unsigned char red, green, blue;

  // As a number: refused.
  template <class X>
    requires std::is_arithmetic_v<X>
  constexpr operator X() const noexcept {
    return no_conversion<say::heat_colour, say::so_read_its_red_green_and_blue, X>();
  }
};
UMBEL_SAYS(expects_one_number_a_share_from_0_to_1, "expects one number, a share from 0 to 1");
}  // namespace detail

// heat_colour(share): the color of a share from 0 to 1, clamped; NaN counts as 0. Interpolates nine
// points of matplotlib's "inferno" (CC0).
constexpr detail::heat_rgb heat_colour(double share) noexcept {
  constexpr detail::heat_rgb points[] = {{0, 0, 4},      {31, 12, 72},   {85, 15, 109},
                                         {136, 34, 106}, {186, 54, 85},  {227, 89, 51},
                                         {249, 140, 10}, {249, 201, 50}, {252, 255, 164}};
  constexpr std::size_t last = sizeof(points) / sizeof(points[0]) - 1;
  const double place = (share > 0 ? share < 1 ? share : 1 : 0) * static_cast<double>(last);
  const auto floor = static_cast<std::size_t>(place);
  const std::size_t low = floor < last ? floor : last - 1;
  const double rest = place - static_cast<double>(low);
  const auto between = [rest](unsigned char from, unsigned char to) {
    return static_cast<unsigned char>(from + rest * (to - from) + 0.5);
  };
  const detail::heat_rgb a = points[low], b = points[low + 1];
  return {between(a.red, b.red), between(a.green, b.green), between(a.blue, b.blue)};
}
// Other arguments: refused.
template <class... Given>
  requires(sizeof...(Given) != 1 || (!std::is_convertible_v<const Given&, double> || ...))
constexpr detail::heat_rgb heat_colour(const Given&...) noexcept {
  using namespace detail;
  static_assert(report<verdict<one_is_invalid<Given...>, say::heat_colour,
                               say::expects_one_number_a_share_from_0_to_1>>::ok,
                "umbel: shapes do not fit");
  return {};
}

namespace detail {
inline constexpr std::size_t heat_levels = 64;           // finer than the eye can tell apart
inline constexpr std::size_t not_a_level = heat_levels;  // for NaN

constexpr heat_rgb level_colour(std::size_t level) {
  constexpr heat_rgb of_nan = {0, 190, 190};  // not on the scale
  return level == not_a_level
             ? of_nan
             : heat_colour(static_cast<double>(level) / static_cast<double>(heat_levels - 1));
}

// The level of a share is floor(levels * share^(1 / root)), found by comparing powers, without
// roots.
struct heat_scale {
  double from[heat_levels]{};

  static constexpr heat_scale of_root(unsigned root) {
    heat_scale scale;
    for (std::size_t i = 0; i < heat_levels; ++i)
      scale.from[i] = share_at(static_cast<double>(i) / static_cast<double>(heat_levels), root);
    return scale;
  }
  // The share whose color is at this place of the scale, 0 to 1.
  static constexpr double share_at(double place, unsigned root) {
    double share = place;
    for (unsigned i = 1; i < root; ++i) share *= place;
    return share;
  }
  constexpr std::size_t level(double share) const {
    if (share != share) return not_a_level;
    std::size_t low = 0;
    for (std::size_t step = heat_levels / 2; step != 0; step /= 2)
      if (share >= from[low + step]) low += step;
    return low;
  }
};

}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
