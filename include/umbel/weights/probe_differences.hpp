// SPDX-License-Identifier: BSL-1.0
// How an output differs from that of a probe (probe.hpp): the largest difference, its place, and
// its usual cause.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <umbel/tensor/loop.hpp>
#include <umbel/tensor/print.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// The facts about the differences that the message reports.
struct probe_differences {
  double largest = 0;  // infinite if the output is NaN and should not be
  double given = 0, wanted = 0;
  std::size_t place = 0;
  double largest_of_first = 0;  // at the first position: all but the last axis
  double largest_wanted = 0;    // the largest finite one
};

constexpr double probe_distance(double given, double wanted) noexcept {
  if (given == wanted || (given != given && wanted != wanted)) return 0;
  const double apart = given > wanted ? given - wanted : wanted - given;
  return apart == apart ? apart : __builtin_inf();
}

template <class Y, class Wanted>
constexpr probe_differences differences_from_probe(const Y& y, const Wanted& wanted) noexcept {
  using layout = layout_of<Wanted>;
  constexpr std::size_t features = layout::rank == 0 ? 1 : layout::extents[layout::rank - 1];
  probe_differences found;
  std::size_t place = 0;
  for_each(
      [&](const auto& wanted_element, const auto& given_element) {
        const auto w = static_cast<double>(wanted_element);
        const auto g = static_cast<double>(given_element);
        const double size = w < 0 ? -w : w;
        if (size > found.largest_wanted && size < __builtin_inf()) found.largest_wanted = size;
        const double apart = probe_distance(g, w);
        if (place < features && apart > found.largest_of_first) found.largest_of_first = apart;
        if (apart > found.largest) {
          found.largest = apart;
          found.given = g;
          found.wanted = w;
          found.place = place;
        }
        ++place;
      },
      wanted, y);
  return found;
}

// [1, 5] of [token=4, hidden=8]
template <class Wanted, class Out>
constexpr void put_place(Out& out, std::size_t place) noexcept {
  using layout = layout_of<Wanted>;
  std::size_t index[layout::rank + 1]{};
  for (std::size_t i = layout::rank; i-- > 0; place /= layout::extents[i])
    index[i] = place % layout::extents[i];
  out.put('[');
  for (std::size_t i = 0; i < layout::rank; ++i) {
    if (i != 0) out.put(", ");
    out.put(index[i]);
  }
  sentence_buffer axes;
  speak<typename layout::axes>::to(axes);
  out.put("] of ", static_cast<const char*>(axes.chars));
}

// The usual cause of such differences. Options that change all numbers a little come first.
constexpr const char* probe_cause(const probe_differences& found, double rounding) noexcept {
  if (found.given != found.given)
    return "NaN: a weight in the file may be NaN, or nothing was loaded";
  const bool only_first_is_right = found.largest_of_first <= rounding;
  if (found.largest <= 0.02 * found.largest_wanted)
    return only_first_is_right
               ? "it is close, and the first position is right; check the base of rope, the "
                 "positions, the mask, the epsilon of the norms, and gelu_exact or gelu_tanh"
               : "it is close; check the epsilon of the norms, gelu_exact or gelu_tanh, and "
                 "whether weights were rounded to 16 bits, which needs a larger tolerance";
  if (only_first_is_right)
    return "only the first position is right; check the pairing of rope (split_halves or "
           "adjacent_pairs), its base, the positions and the mask";
  return "check for a transposed square matrix (in_out or out_in in its row of the names), "
         "norm_first, the activation, heads, the mask, the pairing of rope (split_halves or "
         "adjacent_pairs)";
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
