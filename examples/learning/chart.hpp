// SPDX-License-Identifier: BSL-1.0
// Line charts over whole numbers: an SVG without dependencies, in light and dark.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace learning {

struct line {
  std::string name;
  std::vector<double> y;
};
// y[i] of each line is at `first` + i. Panels are side by side.
struct panel {
  std::string title, x_title;
  int first;
  std::vector<line> lines;  // at least one point in each; at most four
};

namespace detail {

// The distance between at most `most` round marks on such a length: 1, 2 or 5 times a power of ten.
inline double mark_distance(double length, double most) {
  const double least = std::max(length, 1e-9) / most,
               power = std::pow(10, std::floor(std::log10(least)));
  for (const double times : {1.0, 2.0, 5.0})
    if (times * power >= least * (1 - 1e-9)) return times * power;
  return 10 * power;
}

class drawing {
 public:
  explicit drawing(std::size_t panels) {
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u 300\" width=\"%u\" "
        "height=\"300\" "
        "role=\"img\">\n<style>\n"
        "  text { font: 12px system-ui, sans-serif; fill: #222 } .title { font-weight: 600 }\n"
        "  .end { text-anchor: end } .middle { text-anchor: middle } path { fill: none }\n"
        "  .grid { stroke: #999; stroke-opacity: .4 } .line { stroke-width: 2 }\n"
        "  .c0 { stroke: #2463a8 } .c1 { stroke: #c8590a } .c2 { stroke: #1c8a63 } .c3 { stroke: "
        "#888 }\n"
        "  @media (prefers-color-scheme: dark) { text { fill: #ddd } }\n</style>\n",
        static_cast<unsigned>(panels * width), static_cast<unsigned>(panels * width));
  }

  void draw(const panel& what, std::size_t column) {
    const double left = static_cast<double>(column * width) + 50, right = left + width - 70;
    double low = what.lines[0].y[0], high = low;
    std::size_t count = 2;
    for (const line& one : what.lines) {
      for (const double y : one.y) low = std::min(low, y), high = std::max(high, y);
      count = std::max(count, one.y.size());
    }
    const double each = mark_distance(high - low, 6);
    low = std::floor(low / each) * each, high = std::max(std::ceil(high / each) * each, low + each);
    const auto x_at = [&](double i) {
      return left + i / static_cast<double>(count - 1) * (right - left);
    };
    const auto y_at = [&](double y) { return bottom - (y - low) / (high - low) * (bottom - top); };

    add("<text class=\"title\" x=\"%.1f\" y=\"20\">%s</text>\n", left, what.title.c_str());
    const int decimals = each < 1 ? static_cast<int>(std::ceil(-std::log10(each) - 1e-9)) : 0;
    for (double y = low; y < high + each / 2; y += each) {
      add("<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", left, y_at(y), right);
      add("<text class=\"end\" x=\"%.1f\" y=\"%.1f\">%.*f</text>\n", left - 6, y_at(y) + 4,
          decimals, y);
    }
    const double step = std::max(1.0, mark_distance(static_cast<double>(count - 1), 8));
    for (double at = std::ceil(what.first / step) * step - what.first;
         at < static_cast<double>(count); at += step)
      add("<text class=\"middle\" x=\"%.1f\" y=\"%.1f\">%.0f</text>\n", x_at(at), bottom + 18,
          at + what.first);
    add("<text class=\"end\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", right, bottom + 36,
        what.x_title.c_str());

    for (std::size_t i = 0; i < what.lines.size(); ++i) {
      add("<path class=\"line c%u\" d=\"", static_cast<unsigned>(i));
      for (std::size_t at = 0; at < what.lines[i].y.size(); ++at)
        add("%c%.1f %.1f", at == 0 ? 'M' : 'L', x_at(static_cast<double>(at)),
            y_at(what.lines[i].y[at]));
      add("\"/>\n");
      if (what.lines.size() == 1) continue;
      const double y = bottom - 14 - 18 * static_cast<double>(what.lines.size() - 1 - i);
      add("<path class=\"line c%u\" d=\"M%.1f %.1fh24\"/>", static_cast<unsigned>(i), right - 210,
          y - 4);
      add("<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", right - 180, y, what.lines[i].name.c_str());
    }
  }
  std::string finished() { return text_ + "</svg>\n"; }

 private:
  static constexpr std::size_t width = 430;
  static constexpr double top = 36, bottom = 250;

  // At most 1 kB.
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    char piece[1024];
    std::va_list values;
    va_start(values, format);
    std::vsnprintf(piece, sizeof piece, format, values);
    va_end(values);
    text_ += piece;
  }

  std::string text_;
};

}  // namespace detail

inline std::string chart(const std::vector<panel>& panels) {
  detail::drawing all{panels.size()};
  for (std::size_t i = 0; i < panels.size(); ++i) all.draw(panels[i], i);
  return all.finished();
}

}  // namespace learning
