// SPDX-License-Identifier: BSL-1.0
// The options of a heat map, and the weights as its drawings (heat_map_svg.hpp,
// heat_map_terminal.hpp) see them: numbers without axes.
#pragma once

#include <initializer_list>
#include <umbel/config.hpp>
#include <umbel/inspect/heat_map_scale.hpp>
#include <umbel/text/writer.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// The output of attention_heat_map.
enum class heat_map_form {
  svg,       // an SVG document, or part of a page; light and dark
  html,      // a page that holds it
  terminal,  // half blocks in 24-bit color: ANSI escape sequences, UTF-8
  ascii,     // the same in shades of ASCII
};

// The look of a heat map.
struct heat_map_options {
  heat_map_form form = heat_map_form::svg;
  const char* title = "Attention weights";  // of an SVG (read aloud, not drawn) or a page
  const char* query_name = "query";
  const char* key_name = "key";
  const char* value_name = "weight";
  double top = 1;        // value of the brightest color, also for larger values
  bool by_row = false;   // instead: the largest of each row
  unsigned root = 1;     // 2, 3: color by the square, cube root, which shows small weights
  std::size_t cell = 0;  // pixels of an SVG per weight; 0: automatic
  std::size_t tick = 0;  // positions between numbered ones; 0: automatic
  bool legend = true;
};

namespace detail {
struct map_axis {
  std::size_t size, stride;  // size 0: no such axis
  constexpr std::size_t count() const { return size ? size : 1; }
};

template <class T>
struct heat_maps {
  const T* data;
  map_axis batch, heads, query, key;
  const char* const* query_labels;  // or null
  const char* const* key_labels;
  const heat_map_options& options;
  heat_scale scale;

  constexpr const T* map(std::size_t b, std::size_t h) const {
    return data + b * batch.stride + h * heads.stride;
  }
  constexpr double at(const T* map, std::size_t q, std::size_t k) const {
    return static_cast<double>(map[q * query.stride + k * key.stride]);
  }
  // The value of the brightest color in a row; 1 if it would not be positive.
  constexpr double top_of(const T* map, std::size_t q) const {
    double top = options.by_row ? 0 : options.top;
    if (options.by_row)
      for (std::size_t k = 0; k < key.size; ++k) top = at(map, q, k) > top ? at(map, q, k) : top;
    return top > 0 ? top : 1;
  }
  constexpr std::size_t level(const T* map, std::size_t q, std::size_t k, double top) const {
    return scale.level(at(map, q, k) / top);
  }
  constexpr bool has_captions() const { return batch.size != 0 || heads.size != 0; }
};

// "batch 0, head 2"; positions count from 0, as in access by position.
template <class T, class Writer>
constexpr void put_caption(const heat_maps<T>& maps, std::size_t b, std::size_t h, Writer& out) {
  if (maps.batch.size != 0) out.put("batch ", b);
  if (maps.batch.size != 0 && maps.heads.size != 0) out.put(", ");
  if (maps.heads.size != 0) out.put("head ", h);
}

template <class Writer>
constexpr void put_label(const char* const* labels, std::size_t i, label_for where, Writer& out) {
  if (labels != nullptr && labels[i] != nullptr)
    out.label(labels[i], where);
  else
    out.put(i);
}

constexpr std::size_t digits_of(std::size_t value) {
  std::size_t digits = 1;
  while (value /= 10) ++digits;
  return digits;
}
// Characters of an axis's longest label, or number if there are no labels.
constexpr std::size_t widest(const map_axis& axis, const char* const* labels) {
  std::size_t width = labels == nullptr ? digits_of(axis.size - 1) : 1;
  for (std::size_t i = 0; labels != nullptr && i < axis.size; ++i) {
    const std::size_t one = labels[i] == nullptr ? digits_of(i) : label_width(labels[i]);
    width = one > width ? one : width;
  }
  return width;
}

// 1, 2, 5, 10, 20, 50 ... positions, so that ticks are at least `least` apart.
constexpr std::size_t tick_step(std::size_t wanted, std::size_t cell, std::size_t least) {
  if (wanted != 0) return wanted;
  for (std::size_t ten = 1;; ten *= 10)
    for (const std::size_t step : {ten, 2 * ten, 5 * ten})
      if (step * cell >= least) return step;
}

}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
