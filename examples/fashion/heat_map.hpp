// SPDX-License-Identifier: BSL-1.0
// The drawings of the page, each one an SVG: a head's attention matrix and the shared color scale,
// from the library (umbel/inspect/heat_map.hpp), and the picture overlaid with that head's
// attention.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <umbel/inspect/heat_map.hpp>
#include <vector>

#include "colour.hpp"
#include "look.hpp"
#include "png.hpp"
#include "report.hpp"

namespace fashion {

// One color scale for all matrices, up to the largest weight. The cube root spends more colors on
// small weights, which are most of a matrix's 2,401. A cell is 3 pixels wide, and every seventh
// patch, the first of a row of the picture, is numbered.
inline heat_map_options common_scale(const std::vector<look>& looks) {
  float largest = 0;
  for (const look& seen : looks) {
    largest = std::max(largest, *std::max_element(seen.attention.begin(), seen.attention.end()));
  }
  return {.query_name = "query patch",
          .key_name = "key patch",
          .top = double{largest},
          .root = 3,
          .cell = 3,
          .tick = patches_side,
          .legend = false};
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

inline std::string draw_matrix(const look& seen, std::size_t layer, std::size_t head,
                               heat_map_options scale) {
  constexpr std::size_t tokens = model::tokens;
  const float* weights = seen.matrix(layer, head);
  const auto peak =
      static_cast<std::size_t>(std::max_element(weights, weights + tokens * tokens) - weights);
  const std::string title = text(
      "Attention weights of layer %zu, head %zu: each row is a query patch, each column a key "
      "patch. The largest, %.2f, is from query patch %zu to key patch %zu.",
      layer + 1, head + 1, double{weights[peak]}, peak / tokens, peak % tokens);
  scale.title = title.c_str();
  std::string svg;
  attention_heat_map(
      view_as<query<tokens>, key<tokens>>(weights),
      [&](const char* piece, std::size_t size) { svg.append(piece, size); }, scale);
  return svg;
}

// Where the matrix is in its drawing; the picture below is aligned with it.
constexpr double left = 40;
constexpr double extent = 3 * model::tokens;

// The picture, overlaid with the share of attention that each patch gets, averaged over the
// queries.
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
             "<svg class=\"received\" viewBox=\"0 0 199 168\" role=\"img\"><title>What layer %zu, "
             "head %zu looks at: "
             "most of "
             "all at patch %zu, with %.1f %% of the attention.</title>",
             layer + 1, head + 1, number, percent) +
         image(dimmed, left, 1, extent, extent) + image(uri, left, 1, extent, extent) +
         text("<text x=\"114\" y=\"164\">most: patch %zu, %.1f %%</text></svg>", number, percent);
}

inline std::string draw_scale(const heat_map_options& scale) {
  std::string svg;
  heat_map_legend([&](const char* piece, std::size_t size) { svg.append(piece, size); }, scale);
  return svg;
}

}  // namespace fashion
