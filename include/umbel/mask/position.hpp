// SPDX-License-Identifier: BSL-1.0
// Masks by position: causal, sliding_window, alibi (alibi.hpp). Key j is at position j, query i at
//
//   causal                      i; there are as many queries as keys
//   causal_top_left             i
//   causal_bottom_right         keys - queries + i: the last query at the last of all keys
//   causal_bottom_right(lens)   lens - queries + i: the last query at the last key of its sequence
//   causal_at(p)                p + i; p: a number, or a tensor of integers by batch, heads or
//                               both; by query (more than one): each query's position, without i
//
// sliding_window_...<4> and alibi_... work the same way (but without positions by query, and alibi
// without lengths). Positions may lie outside the keys: a query below 0 sees nothing, one past the
// last key sees every key. Lengths are clamped.
#pragma once

#include <umbel/config.hpp>
#include <umbel/mask/memory.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::portable {

// The places of the queries: as many as keys; query 0 at key 0; the last at the last key; at an
// offset.
enum class alignment { equal, top_left, bottom_right, given };

template <alignment Alignment>
struct positioned : mask_base {
  static constexpr bool by_position = true;
  std::ptrdiff_t offset = 0;
  UMBEL_SHARED constexpr explicit positioned(std::ptrdiff_t of_query_0 = 0) noexcept
      : offset(detail::kernel::scores::detail::as_position(of_query_0)) {}

  template <class Scores>
  constexpr std::ptrdiff_t first(detail::mask_place place) const noexcept {
    if constexpr (Alignment != alignment::bottom_right)
      return offset + place.first_position;
    else if constexpr (Scores::placed)
      return place.bottom_right;
    else
      return static_cast<std::ptrdiff_t>(Scores::keys) -
             static_cast<std::ptrdiff_t>(Scores::queries);
  }
  // causal(), sliding_window<4>(lens). (causal_bottom_right(lens) is a mask.)
  template <class... X>
    requires(Alignment != alignment::bottom_right || sizeof...(X) != 1)
  UMBEL_SHARED constexpr detail::no_mask_of<X...> operator()(const X&...) const noexcept {
    using verdict = detail::rules::no_function<(sizeof(positioned) == 0), X...>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    return {};
  }
  template <class Layer, class Name, class Scores>
  using rule_of =
      detail::rules::positions_known<Layer, Name, (Alignment != alignment::equal), Scores>;
};

// The same from memory: the positions of the first queries, or lengths, for the last ones.
enum class where { first, last };

template <where Where, class X>
struct positioned_by : mask_memory<X> {
  UMBEL_SHARED constexpr explicit positioned_by(const X& x) noexcept : mask_memory<X>(x) {}
  static constexpr bool by_position = Where == where::first;
  static constexpr bool by_query = positioned_by::template step<detail::rules::query_family> != 0;

  template <class Scores>
  constexpr std::ptrdiff_t first(detail::mask_place place) const noexcept {
    using integer = typename X::value_type;
    constexpr auto queries = static_cast<std::ptrdiff_t>(Scores::queries);
    const integer said = *this->at(place);
    if constexpr (Where == where::first)
      return detail::kernel::scores::detail::as_position(said) + place.first_position;
    std::size_t keys = Scores::keys;
    if constexpr (Scores::placed) keys = static_cast<std::size_t>(place.bottom_right + queries);
    return static_cast<std::ptrdiff_t>(
               detail::kernel::scores::lengths<integer>::clamp(said, keys)) -
           queries;
  }
  // At, BottomRight: the words for it.
  template <class Layer, class At, class BottomRight, bool ByQuery, class Scores>
  using rule_of = typename std::conditional_t<
      Where == where::first,
      std::type_identity<detail::rules::positions_in_memory<Layer, At, X, ByQuery, Scores>>,
      std::type_identity<detail::rules::last_keys_in_memory<Layer, BottomRight, X, Scores>>>::type;
};

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET::detail {

using portable::alignment;
using portable::positioned;
using portable::positioned_by;
using portable::where;

// A number that is a position: also 2_c, but not true, 0.5 or a tensor.
template <class P>
concept position_number =
    std::is_convertible_v<P, std::ptrdiff_t> && !std::is_same_v<P, bool> &&
    !std::is_floating_point_v<P> && !one_is_invalid<P> && !shaped<P> && !of_a_formula<P>;
template <class P>
constexpr std::ptrdiff_t position_of(const P& position) noexcept {
  if constexpr (std::is_integral_v<P>)
    return kernel::scores::detail::as_position(position);
  else
    return position;
}
// The argument of causal_at(p); a refused one counts as every key.
template <class... P>
inline constexpr bool one_position = false;
template <class P>
inline constexpr bool one_position<P> = shaped<P> || position_number<P>;

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::portable {

template <where Where, class X>
struct causal_by : positioned_by<Where, X> {
  UMBEL_SHARED constexpr explicit causal_by(const X& x) noexcept : positioned_by<Where, X>(x) {}
  template <class Y>
  using of_memory = causal_by<Where, Y>;
  template <class Layer, class Scores>
  using rule = typename causal_by::template rule_of<Layer, detail::say::causal_at,
                                                    detail::say::causal_bottom_right, true, Scores>;
  template <class Scores>
  constexpr auto policy(detail::mask_place place) const noexcept {
    if constexpr (causal_by::by_query)
      return detail::kernel::scores::positions<typename X::value_type>(
          this->at(place), causal_by::template step<detail::rules::query_family>,
          place.first_position);
    else
      return detail::kernel::scores::causal{this->template first<Scores>(place)};
  }
};
// Keys up to the query's position. If the numbers of queries and keys differ, `causal` does not
// compile: specify which end they share, or the position of query 0. (PyTorch's is_causal is
// top_left, its causal_lower_right bottom_right. ONNX's is_causal is top_left without a cache,
// causal_at(past) with past keys and values, and causal_bottom_right(lens) with nonpad_kv_seqlen,
// like FlashAttention with lengths. docs/masks.md has a table.)
template <alignment Alignment>
struct causal_mask : positioned<Alignment> {
  UMBEL_SHARED constexpr explicit causal_mask(std::ptrdiff_t of_query_0 = 0) noexcept
      : positioned<Alignment>(of_query_0) {}
  using to_last_key = std::conditional_t<Alignment == alignment::bottom_right,
                                         detail::say::causal_bottom_right, void>;
  template <class Layer, class Scores>
  using rule = typename causal_mask::template rule_of<Layer, detail::say::causal, Scores>;
  template <class Scores>
  constexpr detail::kernel::scores::causal policy(detail::mask_place place) const noexcept {
    return {this->template first<Scores>(place)};
  }
  using positioned<Alignment>::operator();
  // causal_bottom_right(lens), integers by batch, heads or both: the last query of a sequence is at
  // the last of its first lens keys, and sees nothing past them.
  template <detail::shaped X>
    requires(Alignment == alignment::bottom_right)
  UMBEL_SHARED constexpr auto operator()(X&& lens) const noexcept {
    return causal_by<where::last, detail::memory_of<X>>(detail::as_memory<X>(lens));
  }
  template <class X>
    requires(Alignment == alignment::bottom_right && !detail::shaped<X>)
  UMBEL_SHARED constexpr detail::no_mask_of<X> operator()(const X&) const noexcept {
    using verdict = detail::rules::lengths_of<detail::say::causal_bottom_right, X>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    return {};
  }
};

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET::detail {

using portable::causal_by;
using portable::causal_mask;

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::inline UMBEL_TARGET {

// Keys up to the query's position, for as many queries as keys.
inline constexpr detail::causal_mask<detail::alignment::equal> causal{};
// causal whose first query is at the first key.
inline constexpr detail::causal_mask<detail::alignment::top_left> causal_top_left{};
// causal whose last query is at the last of all keys; causal_bottom_right(lens): at the last of the
// first lens keys, by sequence.
inline constexpr detail::causal_mask<detail::alignment::bottom_right> causal_bottom_right{};
// causal_at(p): causal whose first query is at position p of the keys, as after p keys of a cache.
// p: an integer, or a tensor of them by batch, heads or both; by query: each query's position.
template <detail::position_number P>
constexpr detail::causal_mask<detail::alignment::given> causal_at(const P& position) noexcept {
  return detail::causal_mask<detail::alignment::given>(detail::position_of(position));
}
template <detail::shaped X>
constexpr auto causal_at(X&& positions) noexcept {
  return detail::causal_by<detail::where::first, detail::memory_of<X>>(
      detail::as_memory<X>(positions));
}
template <class... P>
  requires(!detail::one_position<P...>)
constexpr detail::no_mask_of<P...> causal_at(const P&...) noexcept {
  using verdict = detail::rules::position_of<detail::say::causal_at, P...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET

namespace umbel::portable {

template <std::size_t Left, std::size_t Right, where Where, class X>
struct window_by : positioned_by<Where, X> {
  UMBEL_SHARED constexpr explicit window_by(const X& x) noexcept : positioned_by<Where, X>(x) {}
  template <class Y>
  using of_memory = window_by<Left, Right, Where, Y>;
  template <class Layer, class Scores>
  using rule =
      typename window_by::template rule_of<Layer, detail::say::sliding_window_at,
                                           detail::say::sliding_window_bottom_right, false, Scores>;
  template <class Scores>
  constexpr detail::kernel::scores::window policy(detail::mask_place place) const noexcept {
    return {Left, Right, this->template first<Scores>(place)};
  }
};
// Keys from Left before the query's position to Right after it. npos: no limit.
template <std::size_t Left, std::size_t Right, alignment Alignment>
struct window_mask : positioned<Alignment> {
  UMBEL_SHARED constexpr explicit window_mask(std::ptrdiff_t of_query_0 = 0) noexcept
      : positioned<Alignment>(of_query_0) {}
  using to_last_key = std::conditional_t<Alignment == alignment::bottom_right,
                                         detail::say::sliding_window_bottom_right, void>;
  template <class Layer, class Scores>
  using rule = typename window_mask::template rule_of<Layer, detail::say::sliding_window, Scores>;
  template <class Scores>
  constexpr detail::kernel::scores::window policy(detail::mask_place place) const noexcept {
    return {Left, Right, this->template first<Scores>(place)};
  }
  using positioned<Alignment>::operator();
  // As causal_bottom_right(lens). If Right is not 0, only `lens & ...` hides the keys past lens.
  template <detail::shaped X>
    requires(Alignment == alignment::bottom_right)
  UMBEL_SHARED constexpr auto operator()(X&& lens) const noexcept {
    return window_by<Left, Right, where::last, detail::memory_of<X>>(detail::as_memory<X>(lens));
  }
  template <class X>
    requires(Alignment == alignment::bottom_right && !detail::shaped<X>)
  UMBEL_SHARED constexpr detail::no_mask_of<X> operator()(const X&) const noexcept {
    using verdict = detail::rules::lengths_of<detail::say::sliding_window_bottom_right, X>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    return {};
  }
};

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET::detail {

using portable::window_by;
using portable::window_mask;

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::inline UMBEL_TARGET {

// sliding_window<Left, Right>: keys from Left before the query's position to Right after it, Left +
// 1 + Right with its own, for as many queries as keys. (Others count the query's own key: a
// sliding_window of 4096 in a Hugging Face configuration is sliding_window<4095>.)
template <std::size_t Left, std::size_t Right = 0>
inline constexpr detail::window_mask<Left, Right, detail::alignment::equal> sliding_window{};
// sliding_window whose first query is at the first key.
template <std::size_t Left, std::size_t Right = 0>
inline constexpr detail::window_mask<Left, Right, detail::alignment::top_left>
    sliding_window_top_left{};
// sliding_window whose last query is at the last of all keys; sliding_window_bottom_right<4>(lens):
// at the last of the first lens keys, by sequence.
template <std::size_t Left, std::size_t Right = 0>
inline constexpr detail::window_mask<Left, Right, detail::alignment::bottom_right>
    sliding_window_bottom_right{};
// sliding_window_at<Left, Right>(p): sliding_window whose first query is at position p of the keys,
// an integer or a tensor of integers by batch, heads or both.
template <std::size_t Left, std::size_t Right = 0, detail::position_number P>
constexpr detail::window_mask<Left, Right, detail::alignment::given> sliding_window_at(
    const P& position) noexcept {
  return detail::window_mask<Left, Right, detail::alignment::given>(detail::position_of(position));
}
template <std::size_t Left, std::size_t Right = 0, detail::shaped X>
constexpr auto sliding_window_at(X&& positions) noexcept {
  return detail::window_by<Left, Right, detail::where::first, detail::memory_of<X>>(
      detail::as_memory<X>(positions));
}
template <std::size_t Left, std::size_t Right = 0, class... P>
  requires(!detail::one_position<P...>)
constexpr detail::no_mask_of<P...> sliding_window_at(const P&...) noexcept {
  using verdict = detail::rules::position_of<detail::say::sliding_window_at, P...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET

UMBEL_WARNINGS_POP
