// SPDX-License-Identifier: BSL-1.0
// The parameters of weights as a readable table:
//
//   encoder.0.attention.q.weight     [in_features=256, out_features=256]                 65,536
//   ...
//   124 parameters                                                  1,577,216
#pragma once

#include <umbel/config.hpp>
#include <umbel/file/write_rules.hpp>
#include <umbel/parameters/parameters.hpp>
#include <umbel/text/writer.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
template <class Sink, class Weights>
constexpr void put_parameter_table(Sink& sink, const Weights& w) noexcept {
  text_writer<Sink> out(sink);
  std::size_t widest = 0, count = 0, numbers = 0;
  const auto measure = [&](const parameter_path& path, const auto& x) {
    widest = path.size() > widest ? path.size() : widest;
    ++count;
    numbers += x.size();
  };
  visit_parameters(parameter_path{}, w, measure);
  constexpr std::size_t axes_width = 44, numbers_width = 14;
  const auto put_line = [&](const parameter_path& path, const auto& x) {
    sentence_buffer axes;
    speak<typename layout_of<decltype(x)>::axes>::to(axes);
    out.put_aligned(path.c_str(), widest + 2);
    out.put_aligned(axes.chars, axes_width);
    out.put_aligned(x.size(), numbers_width);
    out.put('\n');
  };
  visit_parameters(parameter_path{}, w, put_line);
  sentence_buffer all;
  all.put(count);
  all.put(" parameters");
  out.put_aligned(all.chars, widest + 2 + axes_width);
  out.put_aligned(numbers, numbers_width);
  out.put('\n');
  out.flush();
}
template <class Sink, class Weights>
constexpr auto can_be_listed() {
  using to = rules::sink_of_bytes<say::write_parameter_table, Sink>;
  if constexpr (to::ok)
    return rules::parameters<any_parameter<say::write_parameter_table>, const Weights>{};
  else
    return to{};
}
}  // namespace detail

// sink: called with (const char*, std::size_t). One line per parameter: its path, its axes, how
// many numbers it has; then their count and sum.
//   "umbel: write_parameter_table: expects first a sink, called with (const char*,
//    std::size_t), not a pointer to FILE"
// and, for structs, the messages of for_each_parameter.
template <class Sink, class Weights>
constexpr void write_parameter_table(Sink&& sink, const Weights& w) noexcept {
  using verdict = decltype(detail::can_be_listed<std::remove_reference_t<Sink>, Weights>());
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) detail::put_parameter_table(sink, w);
}
// Without a sink: refused.
template <class Weights>
constexpr void write_parameter_table(const Weights&) noexcept {
  using verdict =
      detail::rules::sink_of_bytes<detail::say::write_parameter_table, std::remove_cv_t<Weights>>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
