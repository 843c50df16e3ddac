// SPDX-License-Identifier: BSL-1.0
// Ranges without the rarest, largest numbers: percentiles of histograms that calibrate fills.
//
//   static quantized<block>::histograms counted{};
//   for (auto& x : samples) std::ignore = quantized<block>::calibrate(counted, weights, x);
//   quantized<block>::ranges seen{};
//   take_percentile(seen, counted, 99.99);
//
// For desktop programs: each histogram has 8 kB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/quantized/ranges.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
namespace say {
struct magnitude_histogram;
}
UMBEL_SAYS(counts_one_number_at_a_time_not, "counts one number at a time, not");
namespace rules {
template <class X>
using number_to_count = verdict<one_is_invalid<X>, say::magnitude_histogram,
                                say::counts_one_number_at_a_time_not, type_of_given<X>>;
}  // namespace rules
}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel {

// Counts numbers by magnitude: 16 bins between two powers of two, from 2^-32 to 2^32. Smaller and
// larger numbers count in the first and last bin.
class magnitude_histogram {
 public:
  // NaN is not counted.
  UMBEL_SHARED constexpr void add(float number) noexcept {
    const float size = number < 0 ? -number : number;
    if (!(size >= 0)) return;
    if (size > largest_) largest_ = size;
    const std::uint32_t bin = __builtin_bit_cast(std::uint32_t, size) >> low_bits;
    ++counts_[bin < first ? 0 : bin < first + bins ? bin - first : bins - 1];
    ++total_;
  }
  // Tensors: refused.
  template <class X>
    requires(!std::is_convertible_v<const X&, float>)
  constexpr void add(const X&) noexcept {
    static_assert(detail::report<detail::rules::number_to_count<X>>::ok,
                  "umbel: shapes do not fit");
  }
  // Bounds `percent` percent of the numbers: within 1/16 above, at most the largest; 0 for none.
  [[nodiscard]] UMBEL_SHARED constexpr float percentile(double percent) const noexcept {
    const double wanted = static_cast<double>(total_) * (percent / 100);
    std::uint64_t below = 0;
    for (std::uint32_t bin = 0; bin + 1 < bins; ++bin) {
      below += counts_[bin];
      if (static_cast<double>(below) < wanted) continue;
      const float edge = __builtin_bit_cast(float, (first + bin + 1) << low_bits);
      return edge < largest_ ? edge : largest_;
    }
    return largest_;
  }
  [[nodiscard]] UMBEL_SHARED constexpr float largest() const noexcept { return largest_; }

 private:
  // Of the bits of a float: the exponent and four digits.
  static constexpr std::uint32_t low_bits = 19, first = (127 - 32) << 4, bins = 64 << 4;
  std::uint64_t counts_[bins]{};
  std::uint64_t total_ = 0;
  float largest_ = 0;
};

}  // namespace umbel

namespace umbel::inline UMBEL_TARGET {
namespace detail::integers {

template <class T>
constexpr void widen(magnitude_histogram& seen, const T* x, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) seen.add(static_cast<float>(x[i]));
}

constexpr void take(range& to, const magnitude_histogram& from, double percent) noexcept {
  to() = from.percentile(percent);
}
constexpr void take(range& to, const range& epsilon, double) noexcept { to() = epsilon(); }
template <class Ranges, class Histograms>
constexpr void take(Ranges& to, const Histograms& from, double percent) noexcept {
  if constexpr (std::is_array_v<Ranges>) {
    for (std::size_t i = 0; i < std::extent_v<Ranges>; ++i) take(to[i], from[i], percent);
  } else {
    with_members<parts_named<Ranges>>(to, [&](auto&... range) {
      with_members<parts_named<Ranges>>(
          from, [&](const auto&... counted) { (take(range, counted, percent), ...); });
    });
  }
}

// Does Histograms count what Ranges has? Both: structs of one shape.
template <class... Part>
struct parts_list {};
template <class Struct>
using parts_list_of = decltype(with_members<parts_named<Struct>>(
    std::declval<Struct&>(), []<class... Part>(Part&...) { return parts_list<Part...>{}; }));
template <class Ranges, class Histograms>
constexpr bool have_equal_names() noexcept {
  for (std::size_t i = 0; i < parts_named<Ranges>; ++i) {
    const char *a = Ranges::part_names[i], *b = Histograms::part_names[i];
    while (*a != '\0' && *a == *b) ++a, ++b;
    if (*a != *b) return false;
  }
  return true;
}
template <class Ranges, class Histograms>
constexpr bool are_counted_by() noexcept {
  if constexpr (std::is_array_v<Ranges> && std::is_array_v<Histograms>) {
    return std::extent_v<Ranges> == std::extent_v<Histograms> &&
           are_counted_by<std::remove_extent_t<Ranges>, std::remove_extent_t<Histograms>>();
  } else if constexpr (requires { Ranges::part_names, Histograms::part_names; }) {
    if constexpr (parts_named<Ranges> == parts_named<Histograms>)
      return
          []<class... Range, class... Histogram>(parts_list<Range...>, parts_list<Histogram...>) {
            return have_equal_names<Ranges, Histograms>() &&
                   (are_counted_by<Range, Histogram>() && ...);
          }(parts_list_of<Ranges>{}, parts_list_of<Histograms>{});
    else
      return false;
  } else {
    return std::is_same_v<Ranges, range> &&
           (std::is_same_v<Histograms, magnitude_histogram> || std::is_same_v<Histograms, range>);
  }
}
template <class...>
inline constexpr bool are_to_take_from = false;
template <class Ranges, class Histograms, class Percent>
  requires(!std::is_const_v<Ranges> && std::is_arithmetic_v<std::remove_const_t<Percent>>)
inline constexpr bool are_to_take_from<Ranges, Histograms, Percent> =
    are_counted_by<Ranges, std::remove_const_t<Histograms>>();

}  // namespace detail::integers
namespace detail::say {
struct take_percentile;
struct expects_ranges_then_histograms_of_the_same_layers_then_a_percentage;
}  // namespace detail::say
template <>
inline constexpr const char* detail::spoken<
    detail::say::expects_ranges_then_histograms_of_the_same_layers_then_a_percentage> =
    "expects ranges, then histograms of the same layers, then a percentage";

// Sets ranges that contain `percent` percent of each tensor's numbers; the others become the
// largest of the range. 100: the largest numbers, as if ranges had been observed. Ranges,
// Histograms: of one layer, or structs of a model with members of the same names. Call chain_ranges
// afterwards. Ranges of residual sums hold numbers up to twice as large.
template <class Ranges, class Histograms>
  requires detail::integers::are_to_take_from<Ranges, Histograms, double>
constexpr void take_percentile(Ranges& ranges, const Histograms& counted, double percent) noexcept {
  detail::integers::take(ranges, counted, percent);
}
template <class... Given>
  requires(!detail::integers::are_to_take_from<std::remove_reference_t<Given>...>)
constexpr detail::invalid take_percentile(Given&&...) noexcept {
  using namespace detail;
  using verdict = verdict<(one_is_invalid<Given> || ...), say::take_percentile,
                          say::expects_ranges_then_histograms_of_the_same_layers_then_a_percentage>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
