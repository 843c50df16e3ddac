// SPDX-License-Identifier: BSL-1.0
// alibi: a bias by the distance of the key, with a slope per head. For positions see position.hpp.
#pragma once

#include <umbel/config.hpp>
#include <umbel/mask/position.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// 2^(-8 (head + 1) / heads). If the number of heads is not a power of two: the slopes of the next
// power below, then every other one of the next above (the code of Press, Smith and Lewis 2022).
constexpr double alibi_slope(std::size_t head, std::size_t heads) noexcept {
  std::size_t power = 1;
  while (power * 2 <= heads) power *= 2;
  const bool is_extra = head >= power;
  const double steps = static_cast<double>(is_extra ? 2 * (head - power) + 1 : head + 1);
  return simd::exp(-8 * 0.693147180559945309417 * steps /
                   static_cast<double>(is_extra ? 2 * power : power));
}
template <class T, std::size_t Heads>
struct alibi_slopes {
  T of_head[Heads]{};
  constexpr alibi_slopes() noexcept {
    for (std::size_t h = 0; h < Heads; ++h) of_head[h] = static_cast<T>(alibi_slope(h, Heads));
  }
};
template <class T, std::size_t Heads>
inline constexpr alibi_slopes<T, Heads> slopes_of_heads{};

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::portable {

// slope (key - position of the query), with a slope per head: Press, Smith and Lewis 2022, "Train
// Short, Test Long", who use it with causal. Without causal, keys after the query are favored.
struct alibi_family {
  using name = detail::say::alibi;
  using at_name = detail::say::alibi_at;
  using bottom_right_name = void;
  static constexpr bool by_query = false, with_lengths = false;
  template <class Scores>
  static constexpr auto policy(detail::mask_place place, std::ptrdiff_t first) noexcept {
    using T = typename Scores::value_type;
    return detail::kernel::scores::alibi<T>{
        detail::slopes_of_heads<T, Scores::heads>.of_head[place.head], first};
  }
};

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET::detail {

template <alignment Alignment>
using alibi_bias = position_mask<portable::alibi_family, Alignment>;
template <class X>
using alibi_by = position_mask_by<portable::alibi_family, where::first, X>;

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::inline UMBEL_TARGET {

// A bias of slope (key - query), by head (Press et al. 2022), for as many queries as keys.
inline constexpr detail::alibi_bias<detail::alignment::equal> alibi{};
// alibi whose first query is at the first key.
inline constexpr detail::alibi_bias<detail::alignment::top_left> alibi_top_left{};
// alibi whose last query is at the last of all keys.
inline constexpr detail::alibi_bias<detail::alignment::bottom_right> alibi_bottom_right{};
// alibi_at(p): alibi whose first query is at position p of the keys, an integer or a tensor of
// integers by batch, heads or both.
template <detail::position_number P>
constexpr detail::alibi_bias<detail::alignment::given> alibi_at(const P& position) noexcept {
  return detail::alibi_bias<detail::alignment::given>(detail::position_of(position));
}
template <detail::shaped X>
constexpr auto alibi_at(X&& positions) noexcept {
  return detail::alibi_by<detail::memory_of<X>>(detail::as_memory<X>(positions));
}
template <class... P>
  requires(!detail::one_position<P...>)
constexpr detail::no_mask_of<P...> alibi_at(const P&...) noexcept {
  using verdict = detail::rules::position_of<detail::say::alibi_at, P...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
