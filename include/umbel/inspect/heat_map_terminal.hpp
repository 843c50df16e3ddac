// SPDX-License-Identifier: BSL-1.0
// Heat maps for a terminal, one below the other. Color: two queries per line as half blocks, or one
// with labels. ASCII: one query per line. With one query per line, a weight is two characters wide,
// about square.
#pragma once

#include <umbel/config.hpp>
#include <umbel/inspect/heat_map_options.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

inline constexpr const char* ascii_shades = " .:-=+*#%@";

constexpr char shade_of(std::size_t level) {
  return level == not_a_level ? '?' : ascii_shades[level * 10 / heat_levels];
}

// Writes escape sequences only if the colors change.
template <class Writer>
class terminal_colours {
 public:
  constexpr explicit terminal_colours(Writer& out) : out_(out) {}
  constexpr void foreground(std::size_t level) { change(foreground_, level, "38"); }
  constexpr void background(std::size_t level) { change(background_, level, "48"); }
  constexpr void reset() {
    out_.put("\x1b[0m");
    foreground_ = background_ = npos;
  }

 private:
  constexpr void change(std::size_t& current, std::size_t level, const char* ground) {
    if (current == level) return;
    current = level;
    const heat_rgb c = level_colour(level);
    out_.put("\x1b[", ground, ";2;", unsigned{c.red}, ";", unsigned{c.green}, ";", unsigned{c.blue},
             "m");
  }

  Writer& out_;
  std::size_t foreground_ = npos, background_ = npos;
};

// Row q and, for half blocks, q + 1.
template <class T, class Writer>
constexpr void terminal_row(const heat_maps<T>& maps, const T* map, std::size_t q, bool halves,
                            Writer& out) {
  const bool ascii = maps.options.form == heat_map_form::ascii;
  const bool two = halves && q + 1 < maps.query.size;
  const double top = maps.top_of(map, q), next = two ? maps.top_of(map, q + 1) : top;
  terminal_colours<Writer> colours(out);
  for (std::size_t k = 0; k < maps.key.size; ++k) {
    const std::size_t level = maps.level(map, q, k, top);
    if (ascii) {
      out.put(shade_of(level), shade_of(level));
    } else if (halves) {
      colours.foreground(level);
      if (two) colours.background(maps.level(map, q + 1, k, next));
      out.put("\u2580");
    } else {
      colours.background(level);
      out.put("  ");
    }
  }
  if (!ascii) colours.reset();
}

// Below the map: numbers of the keys or their labels, written downwards.
template <class T, class Writer>
constexpr void terminal_keys(const heat_maps<T>& maps, std::size_t margin, std::size_t cell,
                             label_for where, Writer& out) {
  if (maps.key_labels == nullptr) {
    const std::size_t step = tick_step(maps.options.tick, cell, digits_of(maps.key.size - 1) + 1);
    out.repeat(margin, " ");
    for (std::size_t k = 0; k < maps.key.size; k += step) {
      out.put(k);
      const std::size_t width = step * cell, used = digits_of(k);
      if (k + step < maps.key.size) out.repeat(width > used ? width - used : 1, " ");
    }
    out.put('\n');
    return;
  }
  const std::size_t lines = widest(maps.key, maps.key_labels);
  for (std::size_t line = 0; line < lines; ++line) {
    out.repeat(margin, " ");
    for (std::size_t k = 0; k < maps.key.size; ++k) {
      const char* label = maps.key_labels[k];
      if (label == nullptr) {  // its number, also written downwards
        const std::size_t digits = digits_of(k);
        std::size_t rest = k;
        for (std::size_t i = line + 1; i < digits; ++i) rest /= 10;
        if (line < digits)
          out.put(rest % 10);
        else
          out.put(' ');
        out.put(' ');
        continue;
      }
      for (std::size_t i = 0; i < line && *label; ++i) label += first_code_point(label).bytes;
      if (*label)
        out.one_of_label(label, where);
      else
        out.put(' ');
      out.put(' ');
    }
    out.put('\n');
  }
}

template <class T, class Writer>
constexpr void terminal_map(const heat_maps<T>& maps, std::size_t b, std::size_t h, Writer& out) {
  const bool ascii = maps.options.form == heat_map_form::ascii;
  const bool halves = !ascii && maps.query_labels == nullptr;
  const label_for where = ascii ? label_for::ascii : label_for::terminal;
  const std::size_t width = widest(maps.query, maps.query_labels);
  put_caption(maps, b, h, out);
  if (maps.has_captions()) out.put(": ");
  out.label(maps.options.query_name, where);
  out.put(" down, ");
  out.label(maps.options.key_name, where);
  out.put(" across\n");
  for (std::size_t q = 0; q < maps.query.size; q += halves ? 2 : 1) {
    const char* label = maps.query_labels ? maps.query_labels[q] : nullptr;
    out.repeat(width - (label ? label_width(label) : digits_of(q)), " ");
    put_label(maps.query_labels, q, where, out);
    out.put("  ");
    terminal_row(maps, maps.map(b, h), q, halves, out);
    out.put('\n');
  }
  terminal_keys(maps, width + 2, halves ? 1 : 2, where, out);
}

template <class Writer>
constexpr void terminal_legend(const heat_map_options& options, Writer& out) {
  const bool ascii = options.form == heat_map_form::ascii;
  out.label(options.value_name, ascii ? label_for::ascii : label_for::terminal);
  if (options.by_row) out.put(", of the largest in its row");
  out.put(": 0 ");
  if (ascii) {
    out.put('[', ascii_shades, ']');
  } else {
    terminal_colours<Writer> colours(out);
    for (std::size_t level = 0; level < heat_levels; level += 4) {
      colours.foreground(level);
      colours.background(level + 2);
      out.put("\u258c");
    }
    colours.reset();
  }
  out.put(' ', options.by_row || !(options.top > 0) ? 1 : options.top, '\n');
}

template <class T, class Writer>
constexpr void terminal_heat_maps(const heat_maps<T>& maps, Writer& out) {
  for (std::size_t b = 0; b < maps.batch.count(); ++b)
    for (std::size_t h = 0; h < maps.heads.count(); ++h) {
      terminal_map(maps, b, h, out);
      out.put('\n');
    }
  if (maps.options.legend) terminal_legend(maps.options, out);
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
