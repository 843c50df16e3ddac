// SPDX-License-Identifier: BSL-1.0
// The drawings of the page, each one SVG: a head's attention matrix with its axes, the picture with
// what that head looks at laid over it, and the colour scale that all matrices share.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "colour.hpp"
#include "look.hpp"
#include "png.hpp"
#include "report.hpp"

namespace fashion {

constexpr std::uint32_t tokens = model::tokens;

// One weight as a place on the colour scale. The cube root spends more of the colours on small
// weights, where most of the 2,401 of a matrix are.
struct heat_scale {
  float largest;
  float place(float weight) const { return std::cbrt(weight / largest); }
};

inline heat_scale common_scale(const std::vector<look>& looks) {
  float largest = 0;
  for (const look& seen : looks) {
    largest = std::max(largest, *std::max_element(seen.attention.begin(), seen.attention.end()));
  }
  return {largest > 0 ? largest : 1.0F};
}

inline std::string image(const std::string& uri, double x, double y, double width, double height) {
  return text(
             "<image x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" preserveAspectRatio=\"none\" "
             "href=\"",
             x, y, width, height) +
         uri + "\"/>";
}

// The picture; `light` below 1 dims it.
inline std::string picture_uri(const look& seen, float light) {
  return png::data_uri(side, side, [&](std::uint32_t row, std::uint32_t column) {
    return grey(light * static_cast<float>(seen.pixels[row * side + column]) / 255.0F);
  });
}

// The frame of both drawings of a head: what it shows begins 12 units from the left and is 49 wide.
constexpr double left = 12;
constexpr double extent = tokens;

inline std::string draw_matrix(const look& seen, std::size_t layer, std::size_t head,
                               heat_scale scale) {
  const float* weights = seen.matrix(layer, head);
  const auto peak =
      static_cast<std::size_t>(std::max_element(weights, weights + tokens * tokens) - weights);
  const std::string uri =
      png::data_uri(tokens, tokens, [&](std::uint32_t query, std::uint32_t key) {
        return heat(scale.place(weights[query * tokens + key]));
      });

  std::string svg = "<svg viewBox=\"0 0 63 60\" role=\"img\"><title>";
  svg += text(
      "Attention weights of layer %zu, head %zu: each row is a query patch, each column a key "
      "patch. The largest, %.2f, is from query patch %zu to key patch %zu.",
      layer + 1, head + 1, double{weights[peak]}, peak / tokens, peak % tokens);
  svg += "</title>" + image(uri, left, 1, extent, extent);
  for (std::size_t patch = 0; patch < tokens; patch += patches_side) {
    const double at = static_cast<double>(patch);
    svg += text("<path d=\"M%g 50v1M12 %gh-1\"/>", left + at + 0.5, at + 1.5);
    svg += text("<text x=\"%g\" y=\"54.5\" class=\"m\">%zu</text>", left + at + 0.5, patch);
    svg += text("<text x=\"10.5\" y=\"%g\" class=\"e\">%zu</text>", at + 2.7, patch);
  }
  svg +=
      "<text x=\"36.5\" y=\"59\" class=\"m\">key patch</text>"
      "<text transform=\"translate(4 25.5) rotate(-90)\" class=\"m\">query patch</text></svg>";
  return svg;
}

// The picture, and over it the share of attention that each patch gets, averaged over the queries.
inline std::string draw_received(const look& seen, const std::string& dimmed, std::size_t layer,
                                 std::size_t head) {
  const patch_map map = seen.received(layer, head);
  const auto peak = std::max_element(map.begin(), map.end());
  const std::string uri =
      png::data_uri(patches_side, patches_side, [&](std::uint32_t row, std::uint32_t column) {
        const float share = map[row * patches_side + column] / *peak;
        return colour{255, 128, 0, static_cast<std::uint8_t>(share * 215.0F + 0.5F)};
      });
  const auto number = static_cast<std::size_t>(peak - map.begin());
  const double percent = 100 * double{*peak};
  return text(
             "<svg viewBox=\"0 0 63 56\" role=\"img\"><title>What layer %zu, head %zu looks at: "
             "most of "
             "all at patch %zu, with %.1f %% of the attention.</title>",
             layer + 1, head + 1, number, percent) +
         image(dimmed, left, 1, extent, extent) + image(uri, left, 1, extent, extent) +
         text("<text x=\"36.5\" y=\"55\" class=\"m\">most: patch %zu, %.1f %%</text></svg>", number,
              percent);
}

inline std::string draw_scale(heat_scale scale) {
  constexpr double width = 300;
  const std::string uri = png::data_uri(1, 256, [](std::uint32_t, std::uint32_t column) {
    return heat(static_cast<float>(column) / 255.0F);
  });
  std::string svg = text(
      "<svg class=\"scale\" viewBox=\"0 0 330 34\" role=\"img\"><title>Colour scale of "
      "the attention weights, from 0 (dark) to %.2f (bright)</title>",
      double{scale.largest});
  svg += image(uri, 10, 1, width, 12);
  for (const float weight : {0.0F, 1.0F / static_cast<float>(tokens), 0.1F, 0.25F, 0.5F, 1.0F}) {
    if (weight > scale.largest * 0.9F) break;
    const double at = 10 + width * double{scale.place(weight)};
    svg += text("<path d=\"M%g 13v4\"/><text x=\"%g\" y=\"29\" class=\"m\">%.2g</text>", at, at,
                double{weight});
  }
  svg += text("<path d=\"M310 13v4\"/><text x=\"310\" y=\"29\" class=\"m\">%.2g</text></svg>",
              double{scale.largest});
  return svg;
}

}  // namespace fashion
