// SPDX-License-Identifier: BSL-1.0
// Writes heat maps and, beside each, the weights that it shows, for check.py: NAME.svg, NAME.html,
// and NAME.txt with "batch heads query key" sizes and the weights in that order.
//
//   forms FOLDER
#include <umbel/umbel.hpp>

#include <umbel/inspect/heat_map.hpp>

#include <cstdio>
#include <limits>
#include <string>

namespace {

using namespace umbel;
using namespace umbel::axes;

std::FILE* open(const std::string& folder, const char* name, const char* ending) {
  return std::fopen((folder + "/" + name + ending).c_str(), "wb");
}

template <class X, class... Labels>
bool write(const std::string& folder, const char* name, const X& x, heat_map_options options,
           const Labels&... labels) {
  bool written = true;
  for (const auto form : {heat_map_form::svg, heat_map_form::html}) {
    options.form = form;
    std::FILE* file = open(folder, name, form == heat_map_form::svg ? ".svg" : ".html");
    if (file == nullptr) return false;
    const auto to_file = [&](const char* text, std::size_t size) {
      written = std::fwrite(text, 1, size, file) == size && written;
    };
    attention_heat_map(x, to_file, options, labels...);
    written = std::fclose(file) == 0 && written;
  }
  using layout = typename X::layout;
  const auto size = []<class Family>(std::type_identity<Family>) {
    return layout::template size_of<Family>;
  };
  const std::size_t sizes[] = {size(std::type_identity<axis_family<batch>>{}),
                               size(std::type_identity<axis_family<heads>>{}),
                               size(std::type_identity<axis_family<query>>{}),
                               size(std::type_identity<axis_family<key>>{})};
  std::FILE* file = open(folder, name, ".txt");
  if (file == nullptr) return false;
  for (const std::size_t s : sizes) std::fprintf(file, "%zu ", s);
  const auto all = contiguous(x);
  for (const auto f : all) std::fprintf(file, "\n%.17g", double{f});
  return std::fclose(file) == 0 && written;
}

template <class X>
X drawn(unsigned state) {
  X x{};
  for (auto& f : x) {
    state = state * 1664525u + 1013904223u;
    f = static_cast<typename X::value_type>(state >> 8) * 0x1p-24f;
    f *= f;
  }
  return x;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const std::string folder = words[1];
  const auto whole = drawn<tensor<float, batch<2>, heads<3>, query<5>, key<7>>>(1);
  static const auto large = drawn<tensor<float, heads<16>, query<49>, key<49>>>(2);
  auto odd = drawn<tensor<double, query<1>, key<9>>>(3);
  odd(0, 2) = std::numeric_limits<double>::quiet_NaN();
  odd(0, 4) = std::numeric_limits<double>::infinity();
  odd(0, 5) = -3;
  const char* const hostile[5] = {"</svg>&\"'", "\x1b[2J\x01", "]]>", "\xff\xed\xa0\x80", "\u00e4"};
  const char* const keys[7] = {"<!--", "\xef\xbf\xbe", nullptr, "a", "", "&#0;", "long label"};
  const bool written =
      write(folder, "whole", whole, {}) && write(folder, "labelled", whole, {}, hostile, keys) &&
      write(folder, "turned", whole | permute<batch, heads, query, key>, {.top = 0.5}) &&
      write(folder, "large", large, {.root = 3, .tick = 7}) &&
      write(folder, "by_row", whole | select_at<batch, 1>, {.by_row = true}) &&
      write(folder, "odd", odd, {.title = "<&>", .value_name = "&", .legend = false});
  return written ? 0 : 1;
}
