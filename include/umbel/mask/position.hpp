// SPDX-License-Identifier: BSL-1.0
// Masks that know nothing but where queries and keys stand: causal, sliding_window, alibi.
#pragma once

#include <umbel/config.hpp>
#include <umbel/mask/base.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
// Where the queries of a mask by position stand: nowhere said, so as many as keys; query 0 at key 0;
// the last at the last key; at an offset given.
enum class alignment { equal, top_left, bottom_right, given };

template <alignment Alignment>
struct positioned : mask_base {
  static constexpr bool by_position = true;
  std::ptrdiff_t offset = 0;
  constexpr explicit positioned(std::ptrdiff_t of_query_0 = 0) noexcept : offset(of_query_0) {}

  template <class Scores>
  constexpr std::ptrdiff_t first(mask_place place) const noexcept {
    if constexpr (Alignment != alignment::bottom_right)
      return offset + place.first_position;
    else if constexpr (Scores::placed)
      return place.bottom_right;
    else
      return static_cast<std::ptrdiff_t>(Scores::keys) -
             static_cast<std::ptrdiff_t>(Scores::queries);
  }
  template <class Layer, class Name, class Scores>
  using rule_of = rules::positions_known<Layer, Name, (Alignment != alignment::equal), Scores>;
};

// Keys up to the query's own position. Where queries and keys differ in number, `causal` does not
// compile: say which end they share, or where query 0 stands. (PyTorch's is_causal is top_left, and so
// is ONNX's without a cache; FlashAttention's is bottom_right, and so is ONNX's with one.)
template <detail::alignment Alignment>
struct causal_mask : detail::positioned<Alignment> {
  using detail::positioned<Alignment>::positioned;
  template <class Layer, class Scores>
  using rule = typename causal_mask::template rule_of<Layer, say::causal, Scores>;
  template <class Scores>
  constexpr kernel::scores::causal policy(detail::mask_place place) const noexcept {
    return {this->template first<Scores>(place)};
  }
};
}  // namespace detail

inline constexpr detail::causal_mask<detail::alignment::equal> causal{};
inline constexpr detail::causal_mask<detail::alignment::top_left> causal_top_left{};
inline constexpr detail::causal_mask<detail::alignment::bottom_right> causal_bottom_right{};
constexpr detail::causal_mask<detail::alignment::given> causal_from(std::ptrdiff_t position_of_query_0) {
  return detail::causal_mask<detail::alignment::given>(position_of_query_0);
}
namespace detail {
// Keys from Left before the query's position to Right after it. npos: as far as there are keys.
template <std::size_t Left, std::size_t Right, detail::alignment Alignment>
struct window_mask : detail::positioned<Alignment> {
  using detail::positioned<Alignment>::positioned;
  template <class Layer, class Scores>
  using rule = typename window_mask::template rule_of<Layer, say::sliding_window, Scores>;
  template <class Scores>
  constexpr kernel::scores::window policy(detail::mask_place place) const noexcept {
    return {Left, Right, this->template first<Scores>(place)};
  }
};
}  // namespace detail

template <std::size_t Left, std::size_t Right = 0>
inline constexpr detail::window_mask<Left, Right, detail::alignment::equal> sliding_window{};
template <std::size_t Left, std::size_t Right = 0>
inline constexpr detail::window_mask<Left, Right, detail::alignment::top_left> sliding_window_top_left{};
template <std::size_t Left, std::size_t Right = 0>
inline constexpr detail::window_mask<Left, Right, detail::alignment::bottom_right>
    sliding_window_bottom_right{};
template <std::size_t Left, std::size_t Right = 0>
constexpr detail::window_mask<Left, Right, detail::alignment::given> sliding_window_from(
    std::ptrdiff_t position_of_query_0) {
  return detail::window_mask<Left, Right, detail::alignment::given>(position_of_query_0);
}
namespace detail {
// 2^(-8 (head + 1) / heads); for a number of heads that is no power of two, those of the next power
// below and then every other one of the next above (Press, Smith and Lewis 2022, their code).
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

// slope (key - position of the query), the slope by head: Press, Smith and Lewis 2022, "Train Short,
// Test Long", who use it with causal. Without causal, keys after the query are favoured.
template <detail::alignment Alignment>
struct alibi_bias : detail::positioned<Alignment> {
  using detail::positioned<Alignment>::positioned;
  template <class Layer, class Scores>
  using rule = typename alibi_bias::template rule_of<Layer, say::alibi, Scores>;
  template <class Scores>
  constexpr auto policy(detail::mask_place place) const noexcept {
    using T = typename Scores::value_type;
    return kernel::scores::alibi<T>{detail::slopes_of_heads<T, Scores::heads>.of_head[place.head],
                                    this->template first<Scores>(place)};
  }
};
}  // namespace detail

inline constexpr detail::alibi_bias<detail::alignment::equal> alibi{};
inline constexpr detail::alibi_bias<detail::alignment::top_left> alibi_top_left{};
inline constexpr detail::alibi_bias<detail::alignment::bottom_right> alibi_bottom_right{};
constexpr detail::alibi_bias<detail::alignment::given> alibi_from(std::ptrdiff_t position_of_query_0) {
  return detail::alibi_bias<detail::alignment::given>(position_of_query_0);
}

}  // namespace umbel
UMBEL_WARNINGS_POP
