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
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::portable {

// The places of the queries: as many as keys; query 0 at key 0; the last at the last key; at an
// offset.
enum class alignment { equal, top_left, bottom_right, given };

enum class where { first, last };

template <class Family, where Where, class X>
struct position_mask_by;

// Family: how the keys are hidden or weighted by position (causal_family), and its names in
// messages.
template <class Family, alignment Alignment>
struct position_mask : mask_base {
  static constexpr bool by_position = true;
  static constexpr bool with_lengths = Family::with_lengths && Alignment == alignment::bottom_right;
  std::ptrdiff_t offset = 0;
  UMBEL_SHARED constexpr explicit position_mask(std::ptrdiff_t of_query_0 = 0) noexcept
      : offset(detail::kernel::scores::detail::as_position(of_query_0)) {}

  using to_last_key = std::conditional_t<with_lengths, typename Family::bottom_right_name, void>;
  template <class Layer, class Scores>
  using rule = detail::rules::positions_known<Layer, typename Family::name,
                                              (Alignment != alignment::equal), Scores>;
  template <class Scores>
  constexpr auto policy(detail::mask_place place) const noexcept {
    return Family::template policy<Scores>(place, first<Scores>(place));
  }
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
  // causal_bottom_right(lens), integers by batch, heads or both: the last query of a sequence is at
  // the last of its first lens keys. causal sees nothing past them; of a window that ends after the
  // query, only `lens & ...` hides the keys past lens.
  template <detail::shaped X>
    requires(with_lengths)
  UMBEL_SHARED constexpr auto operator()(X&& lens) const noexcept {
    return position_mask_by<Family, where::last, detail::memory_of<X>>(detail::as_memory<X>(lens));
  }
  template <class X>
    requires(with_lengths && !detail::shaped<X>)
  UMBEL_SHARED constexpr detail::no_mask_of<X> operator()(const X&) const noexcept {
    using verdict = detail::rules::lengths_of<typename Family::bottom_right_name, X>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    return {};
  }
  // causal(), sliding_window<4>(lens).
  template <class... X>
    requires(!with_lengths || sizeof...(X) != 1)
  UMBEL_SHARED constexpr detail::no_mask_of<X...> operator()(const X&...) const noexcept {
    using verdict = detail::rules::no_function<(sizeof(position_mask) == 0), X...>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    return {};
  }
};

// The same from memory: the positions of the first queries, or lengths, for the last ones.
template <class Family, where Where, class X>
struct position_mask_by : mask_memory<X> {
  UMBEL_SHARED constexpr explicit position_mask_by(const X& x) noexcept : mask_memory<X>(x) {}
  static constexpr bool by_position = Where == where::first;
  static constexpr bool by_query =
      position_mask_by::template step<detail::rules::query_family> != 0;

  template <class Y>
  using of_memory = position_mask_by<Family, Where, Y>;
  template <class Layer, class Scores>
  using rule = typename std::conditional_t<
      Where == where::first,
      std::type_identity<detail::rules::positions_in_memory<Layer, typename Family::at_name, X,
                                                            Family::by_query, Scores>>,
      std::type_identity<detail::rules::last_keys_in_memory<
          Layer, typename Family::bottom_right_name, X, Scores>>>::type;
  template <class Scores>
  constexpr auto policy(detail::mask_place place) const noexcept {
    if constexpr (Family::by_query && by_query)
      return detail::kernel::scores::positions<typename X::value_type>(
          this->at(place), position_mask_by::template step<detail::rules::query_family>,
          place.first_position);
    else
      return Family::template policy<Scores>(place, first<Scores>(place));
  }
  template <class Scores>
  constexpr std::ptrdiff_t first(detail::mask_place place) const noexcept {
    using integer = typename X::value_type;
    constexpr auto queries = static_cast<std::ptrdiff_t>(Scores::queries);
    const integer given = *this->at(place);
    if constexpr (Where == where::first)
      return detail::kernel::scores::detail::as_position(given) + place.first_position;
    std::size_t keys = Scores::keys;
    if constexpr (Scores::placed) keys = static_cast<std::size_t>(place.bottom_right + queries);
    return static_cast<std::ptrdiff_t>(
               detail::kernel::scores::lengths<integer>::clamp(given, keys)) -
           queries;
  }
};

// Keys up to the query's position. If the numbers of queries and keys differ, `causal` does not
// compile: specify which end they share, or the position of query 0. (PyTorch's is_causal is
// top_left, its causal_lower_right bottom_right. ONNX's is_causal is top_left without a cache,
// causal_at(past) with past keys and values, and causal_bottom_right(lens) with nonpad_kv_seqlen,
// like FlashAttention with lengths. docs/masks.md has a table.)
struct causal_family {
  using name = detail::say::causal;
  using at_name = detail::say::causal_at;
  using bottom_right_name = detail::say::causal_bottom_right;
  static constexpr bool by_query = true, with_lengths = true;
  template <class Scores>
  static constexpr auto policy(detail::mask_place, std::ptrdiff_t first) noexcept {
    return detail::kernel::scores::causal{first};
  }
};
// Keys from Left before the query's position to Right after it. npos: no limit.
template <std::size_t Left, std::size_t Right>
struct window_family {
  using name = detail::say::sliding_window;
  using at_name = detail::say::sliding_window_at;
  using bottom_right_name = detail::say::sliding_window_bottom_right;
  static constexpr bool by_query = false, with_lengths = true;
  template <class Scores>
  static constexpr auto policy(detail::mask_place, std::ptrdiff_t first) noexcept {
    return detail::kernel::scores::window{Left, Right, first};
  }
};

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET::detail {

using portable::alignment;
using portable::position_mask;
using portable::position_mask_by;
using portable::where;

template <alignment Alignment>
using causal_mask = position_mask<portable::causal_family, Alignment>;
template <where Where, class X>
using causal_by = position_mask_by<portable::causal_family, Where, X>;
template <std::size_t Left, std::size_t Right, alignment Alignment>
using window_mask = position_mask<portable::window_family<Left, Right>, Alignment>;
template <std::size_t Left, std::size_t Right, where Where, class X>
using window_by = position_mask_by<portable::window_family<Left, Right>, Where, X>;

// A number that is a position: also 2_c, but not true, 0.5 or a tensor. (Of a value of a formula
// the conversion is refused, so it comes last.)
template <class P>
concept position_number =
    !of_a_formula<P> && !one_is_invalid<P> && !shaped<P> && !std::is_same_v<P, bool> &&
    !std::is_floating_point_v<P> && std::is_convertible_v<P, std::ptrdiff_t>;
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
#define UMBEL_INSTEAD "expects a number of keys; write sliding_window_at<4>(keys - queries)"
UMBEL_REFUSES_CALL(sliding_window_at, (const Given&...), UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSES_CALL(sliding_window_at, (const Given&...), UMBEL_INSTEAD, UMBEL_NAMES)
#undef UMBEL_INSTEAD

}  // namespace umbel::inline UMBEL_TARGET

UMBEL_WARNINGS_POP
