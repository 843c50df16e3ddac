// SPDX-License-Identifier: BSL-1.0
// Heat maps as SVG 1.1: maps side by side, one path per color. Lengths are pixels.
#pragma once

#include <initializer_list>
#include <umbel/config.hpp>
#include <umbel/inspect/heat_map_options.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

struct svg_panel {
  std::size_t cell, left, top, map_width, map_height, width, height, query_tick, key_tick;
};
inline constexpr std::size_t svg_text_height = 11, svg_character = 7, svg_gap = 12,
                             svg_legend_width = 240, svg_legend_height = 44,
                             svg_bar_width = 3 * heat_levels, svg_bar_left = 16;

template <class T>
constexpr svg_panel panel_of(const heat_maps<T>& maps) {
  const bool labelled = maps.query_labels != nullptr;
  const std::size_t most = maps.query.size > maps.key.size ? maps.query.size : maps.key.size;
  const std::size_t least = labelled ? 14 : 2, fitting = 200 / most;
  svg_panel p{};
  p.cell = maps.options.cell ? maps.options.cell
           : fitting < least ? least
           : fitting > 24    ? 24
                             : fitting;
  p.left = 20 + svg_character * widest(maps.query, maps.query_labels) + 6;
  p.top = maps.has_captions() ? svg_text_height + 8 : 6;
  p.map_width = p.cell * maps.key.size;
  p.map_height = p.cell * maps.query.size;
  const std::size_t under =
      labelled ? svg_character * widest(maps.key, maps.key_labels) + 8 : svg_text_height + 8;
  p.width = p.left + p.map_width + svg_gap;
  p.height = p.top + p.map_height + under + svg_text_height + svg_gap;
  const std::size_t digits = svg_character * (digits_of(maps.key.size - 1) + 1);
  p.query_tick = labelled ? 1 : tick_step(maps.options.tick, p.cell, 14);
  p.key_tick = labelled ? 1 : tick_step(maps.options.tick, p.cell, digits);
  return p;
}

template <class Writer>
constexpr void put_colour(heat_rgb c, Writer& out) {
  constexpr char digits[] = "0123456789abcdef";
  out.put('#');
  for (const unsigned char part : {c.red, c.green, c.blue})
    out.put(digits[part / 16], digits[part % 16]);
}

template <class Writer>
constexpr void open_svg(std::size_t width, std::size_t height, const char* title, Writer& out) {
  out.put("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"umbel-heat-map\" width=\"", width,
          "\" height=\"", height, "\" viewBox=\"0 0 ", width, " ", height,
          "\" role=\"img\" font-family=\"system-ui,sans-serif\" font-size=\"", svg_text_height,
          "\" fill=\"#44444c\">\n<title>");
  out.label(title, label_for::xml);
  out.put(
      "</title>\n<style>@media (prefers-color-scheme:dark){.umbel-heat-map{fill:#b8b8c2}"
      ".umbel-heat-map .back{fill:#1e1e23}}</style>\n"
      "<rect class=\"back\" width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
}

// The cells of one map: the lowest level is the background; each other level is a path of
// horizontal strokes, one per run of equal neighbors.
template <class T, class Writer>
constexpr void svg_cells(const heat_maps<T>& maps, const T* map, Writer& out) {
  bool is_there[heat_levels + 1]{};
  for (std::size_t q = 0; q < maps.query.size; ++q) {
    const double top = maps.top_of(map, q);
    for (std::size_t k = 0; k < maps.key.size; ++k) is_there[maps.level(map, q, k, top)] = true;
  }
  for (std::size_t level = 1; level <= heat_levels; ++level) {
    if (!is_there[level]) continue;
    out.put("<path stroke=\"");
    put_colour(level_colour(level), out);
    out.put("\" d=\"");
    for (std::size_t q = 0; q < maps.query.size; ++q) {
      const double top = maps.top_of(map, q);
      for (std::size_t k = 0; k < maps.key.size; ++k) {
        const std::size_t first = k;
        while (k < maps.key.size && maps.level(map, q, k, top) == level) ++k;
        if (k != first) out.put("M", first, " ", q, ".5h", k - first);
      }
    }
    out.put("\"/>\n");
  }
}

template <class T, class Writer>
constexpr void svg_axes(const heat_maps<T>& maps, const svg_panel& p, Writer& out) {
  const std::size_t bottom = p.top + p.map_height, half = p.cell / 2;
  out.put("<path stroke=\"#808088\" d=\"");
  for (std::size_t q = 0; q < maps.query.size; q += p.query_tick)
    out.put("M", p.left - 4, " ", p.top + q * p.cell + half, "h3");
  for (std::size_t k = 0; k < maps.key.size; k += p.key_tick)
    out.put("M", p.left + k * p.cell + half, " ", bottom + 1, "v3");
  out.put("\"/>\n<g text-anchor=\"end\">\n");
  for (std::size_t q = 0; q < maps.query.size; q += p.query_tick) {
    out.put("<text x=\"", p.left - 6, "\" y=\"", p.top + q * p.cell + half + 4, "\">");
    put_label(maps.query_labels, q, label_for::xml, out);
    out.put("</text>\n");
  }
  if (maps.key_labels == nullptr) out.put("</g>\n<g text-anchor=\"middle\">\n");
  for (std::size_t k = 0; k < maps.key.size; k += p.key_tick) {
    const std::size_t x = p.left + k * p.cell + half;
    if (maps.key_labels == nullptr)
      out.put("<text x=\"", x, "\" y=\"", bottom + 6 + svg_text_height, "\">");
    else
      out.put("<text transform=\"translate(", x + 4, " ", bottom + 6, ") rotate(-90)\">");
    put_label(maps.key_labels, k, label_for::xml, out);
    out.put("</text>\n");
  }
  out.put("</g>\n<g text-anchor=\"middle\">\n<text x=\"", p.left + p.map_width / 2, "\" y=\"",
          p.height - svg_gap, "\">");
  out.label(maps.options.key_name, label_for::xml);
  out.put("</text>\n<text transform=\"translate(", svg_text_height + 1, " ",
          p.top + p.map_height / 2, ") rotate(-90)\">");
  out.label(maps.options.query_name, label_for::xml);
  out.put("</text>\n</g>\n");
}

template <class T, class Writer>
constexpr void svg_map(const heat_maps<T>& maps, const svg_panel& p, std::size_t b, std::size_t h,
                       Writer& out) {
  if (maps.has_captions()) {
    out.put("<text x=\"", p.left, "\" y=\"", svg_text_height + 2, "\">");
    put_caption(maps, b, h, out);
    out.put("</text>\n");
  }
  out.put("<g transform=\"translate(", p.left, " ", p.top, ") scale(", p.cell,
          ")\" shape-rendering=\"crispEdges\">\n<rect width=\"", maps.key.size, "\" height=\"",
          maps.query.size, "\" fill=\"");
  put_colour(level_colour(0), out);
  out.put("\"/>\n");
  svg_cells(maps, maps.map(b, h), out);
  out.put("</g>\n");
  svg_axes(maps, p, out);
}

// The bar of all colors, with evenly spaced numbers.
template <class Writer>
constexpr void svg_legend(const heat_map_options& options, Writer& out) {
  // Each color reaches to the end, under the next ones: no seams.
  for (std::size_t level = 0; level < heat_levels; ++level) {
    out.put("<rect x=\"", svg_bar_left + 3 * level, "\" y=\"2\" width=\"",
            svg_bar_width - 3 * level, "\" height=\"10\" fill=\"");
    put_colour(level_colour(level), out);
    out.put("\"/>\n");
  }
  out.put("<g text-anchor=\"middle\">\n");
  const double top = options.by_row || !(options.top > 0) ? 1 : options.top;
  for (std::size_t i = 0; i <= 4; ++i) {
    const double place = static_cast<double>(i) / 4;
    out.put("<text x=\"", svg_bar_left + i * svg_bar_width / 4, "\" y=\"25\">",
            heat_scale::share_at(place, options.root) * top, "</text>\n");
  }
  out.put("<text x=\"", svg_bar_left + svg_bar_width / 2, "\" y=\"38\">");
  out.label(options.value_name, label_for::xml);
  out.put(options.by_row ? ", of the largest in its row" : "", "</text>\n</g>\n");
}

template <class T, class Writer>
constexpr void svg_heat_maps(const heat_maps<T>& maps, Writer& out) {
  const svg_panel p = panel_of(maps);
  // One row of maps per batch entry, or as many rows as keep the drawing on a screen.
  const std::size_t heads = maps.heads.count(), all = maps.batch.count() * heads;
  const std::size_t row = heads == 1 ? all : heads, fitting = 960 / p.width + (960 < p.width);
  const std::size_t across = row < fitting ? row : fitting, down = (row + across - 1) / across;
  const std::size_t height = all / row * down * p.height;
  std::size_t width = across * p.width;
  if (maps.options.legend && width < svg_legend_width) width = svg_legend_width;
  open_svg(width, height + (maps.options.legend ? svg_legend_height : 0), maps.options.title, out);
  for (std::size_t i = 0; i < all; ++i) {
    const std::size_t y = i / row * down + i % row / across;
    out.put("<g transform=\"translate(", i % row % across * p.width, " ", y * p.height, ")\">\n");
    svg_map(maps, p, i / heads, i % heads, out);
    out.put("</g>\n");
  }
  if (maps.options.legend) {
    out.put("<g transform=\"translate(0 ", height, ")\">\n");
    svg_legend(maps.options, out);
    out.put("</g>\n");
  }
  out.put("</svg>\n");
}

template <class Writer>
constexpr void svg_legend_alone(const heat_map_options& options, Writer& out) {
  open_svg(svg_legend_width, svg_legend_height, "Colour scale", out);
  svg_legend(options, out);
  out.put("</svg>\n");
}

template <class T, class Writer>
constexpr void html_heat_maps(const heat_maps<T>& maps, Writer& out) {
  out.put(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>");
  out.label(maps.options.title, label_for::xml);
  out.put(
      "</title>\n<style>\n:root{color-scheme:light dark}\nbody{margin:1rem;background:#fff}\n"
      "svg{max-width:100%;height:auto}\n"
      "@media (prefers-color-scheme:dark){body{background:#1e1e23}}\n</style>\n</head>\n<body>\n");
  svg_heat_maps(maps, out);
  out.put("</body>\n</html>\n");
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
