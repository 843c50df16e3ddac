// SPDX-License-Identifier: BSL-1.0
// The ranges of keys in a score form (score_form.hpp) as policies (kernel/scores.hpp), for hidden
// scores and for weights that are zero.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/elementwise.hpp>
#include <umbel/formula/score_form.hpp>
#include <umbel/kernel/scores.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// Of: a class with `parts`, `form`, `length`, an operand, `loops`, the axes around the scores, and
// the numbers of `queries` and `keys`. index: of the loops.
template <class Run, class Of>
struct key_ranges {
  using of = Of;
  // For cached keys, the number in use follows from the queries' positions or is given.
  static constexpr bool of_cache = [] {
    if constexpr (has_position<Run>)
      return Run::template is_kept<of::parts.key, of::parts.scores>;
    else
      return false;
  }();
  static constexpr bool ends_at_query = [] {
    if constexpr (of_cache)
      return of::form.is_window() && of::form.high <= 0 &&
             Run::template is_new<of::parts.query, of::parts.scores>;
    else
      return false;
  }();
  static constexpr bool counts = of::form.has_length() || (of_cache && !ends_at_query);
  const Run& run;
  const std::size_t* index;

  // These policies and those that limit the keys to read.
  template <class... Policy>
  constexpr auto with(const Policy&... policy) const noexcept {
    if constexpr (of::form.is_clamped())
      return in_range(policy..., seen_between_positions());
    else
      return in_range(policy...);
  }

 private:
  template <class... Policy>
  constexpr auto in_range(const Policy&... policy) const noexcept {
    using kernel::scores::first_keys, kernel::scores::window;
    if constexpr (of::form.is_window() && counts)
      return all_of(policy..., seen_by_distance(), first_keys(keys()));
    else if constexpr (of::form.is_window())
      return all_of(policy..., seen_by_distance());
    else if constexpr (counts)
      return all_of(policy..., first_keys(keys()));
    else if constexpr (sizeof...(Policy) != 0)
      return all_of(policy...);
    else
      return all_of(kernel::scores::every_key{});
  }
  template <class Policy>
  static constexpr auto all_of(const Policy& policy) noexcept {
    return policy;
  }
  template <class First, class... Policy>
    requires(sizeof...(Policy) != 0)
  static constexpr auto all_of(const First& first, const Policy&... policy) noexcept {
    return kernel::scores::all_of<First, Policy...>(first, policy...);
  }
  constexpr std::size_t keys() const noexcept {
    std::size_t in_use = of::keys;
    if constexpr (of_cache) in_use = run.position + Run::positions;
    if constexpr (of::form.has_length()) {
      const std::size_t said = length();
      return said < in_use ? said : in_use;
    } else {
      return in_use;
    }
  }
  // The number of visible keys; for NaN all, since it hides none.
  constexpr std::size_t length() const noexcept {
    constexpr operand from = of::length;
    std::size_t at = from.offset;
    for (std::size_t i = 0; i < of::loops.rank; ++i)
      at += index[i] * from.axes.stride_of(of::loops.family[i]);
    const auto length = static_cast<double>(run.template memory<from.node>()[at]);
    if (!(length < static_cast<double>(of::keys))) return of::keys;
    if (length < 0) return 0;
    const auto whole = static_cast<std::size_t>(length);
    return whole + (of::form.length_is_last || static_cast<double>(whole) < length);
  }
  constexpr kernel::scores::clamped_window seen_between_positions() const noexcept {
    const auto begin = static_cast<std::ptrdiff_t>(
        run.template first_position<of::parts.query, of::parts.scores>());
    const auto at = [begin](const auto& bound) {
      return kernel::scores::clamped_window::bound{
          begin + static_cast<std::ptrdiff_t>(bound.offset),
          static_cast<std::ptrdiff_t>(bound.least), static_cast<std::ptrdiff_t>(bound.most)};
    };
    return {at(of::form.first), at(of::form.last)};
  }
  constexpr kernel::scores::window seen_by_distance() const noexcept {
    constexpr auto unlimited = npos / 2;
    constexpr double low = of::form.low, high = of::form.high;
    const auto begin = static_cast<std::ptrdiff_t>(
        run.template first_position<of::parts.query, of::parts.scores>());
    if constexpr (low <= -1e9)
      return {unlimited, 0, begin + static_cast<std::ptrdiff_t>(high)};
    else if constexpr (high >= 1e9)
      return {0, unlimited, begin + static_cast<std::ptrdiff_t>(low)};
    else if constexpr (high >= low)
      return {static_cast<std::size_t>(high - low), 0, begin + static_cast<std::ptrdiff_t>(high)};
    else  // no query sees a key
      return {0, 0, -static_cast<std::ptrdiff_t>(of::queries + of::keys) - 1};
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
