// SPDX-License-Identifier: BSL-1.0
// The parameters of weights as a table for people:
//
//   encoder.0.attention.q.weight     [in_features=256, out_features=256]                 65,536
//   ...
//   124 parameters                                                  1,577,216
#pragma once

#include <umbel/config.hpp>
#include <umbel/inspect/text_writer.hpp>
#include <umbel/weights/parameters.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// sink: a callable that takes (const char*, std::size_t). One line for each parameter: its path,
// its axes, how many numbers it is; then their count and sum.
template <class Sink, class Weights>
constexpr void write_parameter_table(Sink&& sink, const Weights& w) noexcept {
  detail::text_writer<std::remove_reference_t<Sink>> out(sink);
  std::size_t widest = 0, count = 0, numbers = 0;
  for_each_parameter(w, [&](const parameter_path& path, const auto& x) {
    widest = path.size() > widest ? path.size() : widest;
    ++count;
    numbers += x.size();
  });
  constexpr std::size_t axes_width = 44, numbers_width = 14;
  for_each_parameter(w, [&](const parameter_path& path, const auto& x) {
    detail::sentence_buffer axes;
    detail::speak<typename detail::layout_of<decltype(x)>::axes>::to(axes);
    out.put_aligned(path.c_str(), widest + 2);
    out.put_aligned(axes.chars, axes_width);
    out.put_aligned(x.size(), numbers_width);
    out.put('\n');
  });
  detail::sentence_buffer all;
  all.put(count);
  all.put(" parameters");
  out.put_aligned(all.chars, widest + 2 + axes_width);
  out.put_aligned(numbers, numbers_width);
  out.put('\n');
  out.flush();
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
