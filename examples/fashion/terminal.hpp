// SPDX-License-Identifier: BSL-1.0
// Pictures in the terminal: two pixels per character (the upper half block), in 24-bit or 256
// colors; shades of plain ASCII if colors are unwanted or unavailable.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "colour.hpp"
#include "look.hpp"
#include "report.hpp"
#include "system.hpp"

namespace fashion::terminal {

enum class style { ascii, colours_256, colours_24_bit };

inline style style_of_stdout() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view{value == nullptr ? "" : value};
  };
  if (!variable("NO_COLOR").empty() || !system::is_terminal() || variable("TERM") == "dumb" ||
      variable("TERM").empty()) {
    return style::ascii;
  }
  const auto depth = variable("COLORTERM");
  return depth == "truecolor" || depth == "24bit" ? style::colours_24_bit : style::colours_256;
}

// An escape sequence's parameters for a color: 38 for the foreground, 48 for the background.
inline std::string escape(int ground, colour c, style how) {
  if (how == style::colours_24_bit) {
    return text("%d;2;%d;%d;%d", ground, int{c.red}, int{c.green}, int{c.blue});
  }
  int index = 0;
  if (c.red == c.green && c.green == c.blue) {
    const int step = (c.red - 3) / 10;  // the grey ramp: 8, 18, ... 238
    index = c.red < 4 ? 16 : c.red > 246 ? 231 : 232 + std::clamp(step, 0, 23);
  } else {
    const auto level = [](int value) {
      return value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40;
    };
    index = 16 + 36 * level(c.red) + 6 * level(c.green) + level(c.blue);
  }
  return text("%d;5;%d", ground, index);
}

// A grid of shares (row, column) as lines of `columns` characters, two rows per line.
template <class Share, class Colour>
std::vector<std::string> draw(std::size_t rows, std::size_t columns, Share share, Colour colour_of,
                              style how) {
  constexpr std::string_view shades = " .:-=+*#%@";
  std::vector<std::string> lines;
  for (std::size_t row = 0; row < rows; row += 2) {
    std::string line;
    for (std::size_t column = 0; column < columns; ++column) {
      const bool two = row + 1 < rows;
      const float top = share(row, column);
      const float bottom = two ? share(row + 1, column) : top;
      if (how == style::ascii) {
        const float mean = std::clamp((top + bottom) / 2, 0.0F, 1.0F);
        line +=
            shades[static_cast<std::size_t>(mean * static_cast<float>(shades.size() - 1) + 0.5F)];
      } else {
        line += "\x1b[";
        line += escape(38, colour_of(top), how);
        if (two) line.append(";").append(escape(48, colour_of(bottom), how));
        line += "m\u2580\x1b[0m";
      }
    }
    lines.push_back(line);
  }
  return lines;
}

// The attention of each head of the last layer: 2 x 2 small maps, 17 characters wide. The square
// root keeps weak patches visible.
inline std::vector<std::string> draw_heads(const look& seen, style how) {
  constexpr std::size_t last = model::layers - 1;
  std::vector<std::string> lines;
  for (std::size_t head = 0; head < model::heads; head += 2) {
    std::vector<std::vector<std::string>> pair;
    for (std::size_t one = head; one < head + 2; ++one) {
      const patch_map map = seen.received(last, one);
      const float most = *std::max_element(map.begin(), map.end());
      pair.push_back(draw(
          patches_side, patches_side,
          [&](std::size_t row, std::size_t column) {
            return std::sqrt(map[row * patches_side + column] / most);
          },
          heat, how));
    }
    if (head != 0) lines.emplace_back(17, ' ');
    lines.push_back(text("head %zu    head %zu ", head + 1, head + 2));
    for (std::size_t i = 0; i < pair[0].size(); ++i)
      lines.push_back(pair[0][i] + "   " + pair[1][i]);
  }
  lines.resize(side / 2, std::string(17, ' '));
  return lines;
}

// One picture: a caption and 14 lines, 47 characters wide.
inline std::vector<std::string> draw_look(const look& seen, style how) {
  std::string caption = text("%s: ", class_name(seen.label));
  caption += seen.right() ? text("right, %.1f %% sure", 100 * seen.probability[seen.predicted])
                          : text("taken for %s, %.1f %%", class_name(seen.predicted),
                                 100 * seen.probability[seen.predicted]);
  std::vector<std::string> lines{text("%-47s", caption.c_str())};
  const auto picture = draw(
      side, side,
      [&](std::size_t row, std::size_t column) {
        return static_cast<float>(seen.pixels[row * side + column]) / 255.0F;
      },
      grey, how);
  const auto heads = draw_heads(seen, how);
  for (std::size_t i = 0; i < picture.size(); ++i) lines.push_back(picture[i] + "  " + heads[i]);
  return lines;
}

// All of them, two side by side.
inline std::string draw_looks(const std::vector<look>& seen, style how) {
  std::string result = text(
      "  Beside each picture: how much each head of layer %zu looks at each of "
      "its 7 x 7 patches.\n\n",
      model::layers);
  for (std::size_t i = 0; i < seen.size(); i += 2) {
    const auto left = draw_look(seen[i], how);
    const auto right =
        i + 1 < seen.size() ? draw_look(seen[i + 1], how) : std::vector<std::string>(left.size());
    for (std::size_t line = 0; line < left.size(); ++line) {
      result += "  " + left[line] + "   " + right[line] + "\n";
    }
    result += "\n";
  }
  return result;
}

}  // namespace fashion::terminal
