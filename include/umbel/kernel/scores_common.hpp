// SPDX-License-Identifier: BSL-1.0
// Common to all scores policies: their concept, ranges of keys, lane numbers; and the two policies
// that treat all queries alike. The concept of a policy: scores.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::scores {

template <class P>
concept policy = requires { P::changes, P::selects; };

// Does it drop weights after the softmax (scores_dropped.hpp)?
template <class P>
inline constexpr bool drops = requires { requires P::drops; };

// The keys that some query of a block may see, and among them those that every query sees.
struct key_range {
  std::size_t begin, end, full_begin, full_end;

  friend constexpr bool operator==(const key_range&, const key_range&) = default;
};

// The end of the softmax block with `first`, or of the range: blocks begin at multiples of
// plan::key_block, wherever the range begins.
constexpr std::size_t block_end(std::size_t first, std::size_t range_end) noexcept {
  const std::size_t end = first - first % plan::key_block + plan::key_block;
  return end < range_end ? end : range_end;
}

// The result of comparing packs; bool for scalars.
template <class V>
using mask_of = simd::mask_of<V>;

namespace detail {

// Far from overflow in sums of a few: unlimited windows and arbitrary offsets are legal.
inline constexpr std::ptrdiff_t unlimited = PTRDIFF_MAX / 8;

constexpr std::ptrdiff_t within(std::ptrdiff_t value, std::ptrdiff_t low,
                                std::ptrdiff_t high) noexcept {
  return value < low ? low : (value > high ? high : value);
}

constexpr std::ptrdiff_t as_signed(std::size_t value) noexcept {
  return value < static_cast<std::size_t>(unlimited) ? static_cast<std::ptrdiff_t>(value)
                                                     : unlimited;
}

// Any integer, clamped to within `unlimited` of 0; in formulas a float or double.
template <class Int>
constexpr std::ptrdiff_t as_position(Int value) noexcept {
  if constexpr (std::is_floating_point_v<Int>) {
    constexpr auto most = static_cast<Int>(unlimited);
    return value < most ? value > -most ? static_cast<std::ptrdiff_t>(value) : -unlimited
                        : unlimited;
  } else if constexpr (std::is_signed_v<Int>) {
    const auto wide = static_cast<long long>(value);
    return wide < -unlimited  ? -unlimited
           : wide > unlimited ? unlimited
                              : static_cast<std::ptrdiff_t>(wide);
  } else {
    const auto wide = static_cast<unsigned long long>(value);
    return wide > static_cast<unsigned long long>(unlimited) ? unlimited
                                                             : static_cast<std::ptrdiff_t>(wide);
  }
}

// The position of a query among the keys. Offsets are clamped to unlimited / 2.
constexpr std::ptrdiff_t position(std::size_t query, std::ptrdiff_t offset) noexcept {
  return within(offset, -unlimited / 2, unlimited / 2) + as_signed(query);
}

constexpr key_range ordered(key_range r) noexcept {
  if (r.begin >= r.end) return {0, 0, 0, 0};
  if (r.full_begin >= r.full_end) return {r.begin, r.end, r.begin, r.begin};
  return r;
}

constexpr key_range both(key_range a, key_range b) noexcept {
  return ordered({a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end,
                  a.full_begin > b.full_begin ? a.full_begin : b.full_begin,
                  a.full_end < b.full_end ? a.full_end : b.full_end});
}

// 0, 1, 2 ... as integers of the lanes' size.
template <class V>
UMBEL_INLINE constexpr simd::signed_of<V> lane_numbers() noexcept {
  constexpr std::size_t lanes = simd::lanes_of<V>;
  simd::signed_of<V> numbers{};
  if constexpr (lanes > 1) {
    UMBEL_UNROLL(16)
    for (std::size_t i = 0; i < lanes; ++i) {
      numbers[i] = static_cast<simd::element_of<simd::signed_of<V>>>(i);
    }
  }
  return numbers;
}

// The lanes from `least` up, and up to `most`; both may be outside the pack.
template <class V>
UMBEL_INLINE constexpr mask_of<V> lanes_from(std::ptrdiff_t least) noexcept {
  constexpr std::ptrdiff_t lanes = static_cast<std::ptrdiff_t>(simd::lanes_of<V>);
  using numbers = simd::signed_of<V>;
  const auto first = static_cast<simd::element_of<numbers>>(within(least, 0, lanes));
  return simd::less_equal(simd::broadcast<numbers>(first), lane_numbers<V>());
}

template <class V>
UMBEL_INLINE constexpr mask_of<V> lanes_to(std::ptrdiff_t most) noexcept {
  constexpr std::ptrdiff_t lanes = static_cast<std::ptrdiff_t>(simd::lanes_of<V>);
  using numbers = simd::signed_of<V>;
  const auto last = static_cast<simd::element_of<numbers>>(within(most, -1, lanes));
  return simd::less_equal(lane_numbers<V>(), simd::broadcast<numbers>(last));
}

// One element per query in the lanes, `stride` apart; lanes past `count` are 0 and not read.
template <class V>
UMBEL_INLINE constexpr V load_strided(const simd::element_of<V>* from, std::size_t stride,
                                      std::size_t count) noexcept {
  if constexpr (simd::lanes_of<V> == 1) {
    return count != 0 ? *from : V{};
  } else {
    if (count == 0) return V{};
    if (stride == 0) return simd::broadcast<V>(*from);
    if (stride == 1) {
      return count == simd::lanes_of<V> ? simd::load<V>(from) : simd::load_first<V>(from, count);
    }
    V value{};
    UMBEL_UNROLL(16)
    for (std::size_t i = 0; i < simd::lanes_of<V>; ++i) {
      if (i < count) value[i] = from[i * stride];
    }
    return value;
  }
}

template <class M>
UMBEL_INLINE constexpr M and_masks(M a, M b) noexcept {
  if constexpr (sizeof(M) == 16) {
    if constexpr (sizeof(simd::element_of<M>) == 8) {
      if (!__builtin_is_constant_evaluated()) UMBEL_OPAQUE(b);
    }
  }
  return a & b;
}

// The `over` of a policy that leaves scores alone, or hides no pair.
template <class V>
struct keeps_scores {
  UMBEL_INLINE constexpr V change(V score, std::size_t) const noexcept { return score; }
};
template <class V>
struct sees_all {
  static constexpr bool by_four = false;
  UMBEL_INLINE constexpr mask_of<V> sees(std::size_t) const noexcept {
    return simd::every_lane<V>();
  }
};

// Is a square of as many keys as queries (the lanes) cheaper than its keys one by one?
template <class Over>
inline constexpr bool in_squares = requires { requires Over::in_squares; };

// Changes the scores of a square, the keys from `key` on. False if a pair is hidden or the policy
// doesn't support the square; the scores are then unspecified.
template <class V, class Over>
UMBEL_INLINE bool change_square(const Over& over, V (&square)[simd::lanes_of<V>],
                                std::size_t key) noexcept {
  if constexpr (in_squares<Over>) {
    return over.change_square(square, key);
  } else {
    mask_of<V> seen = simd::every_lane<V>();
    UMBEL_UNROLL(16)
    for (std::size_t j = 0; j < simd::lanes_of<V>; ++j) {
      seen = and_masks(seen, over.sees(key + j));
      square[j] = over.change(square[j], key + j);
    }
    return simd::all_lanes(seen);
  }
}

template <class Over>
UMBEL_INLINE void prepare_square([[maybe_unused]] Over& over,
                                 [[maybe_unused]] std::size_t key) noexcept {
  if constexpr (in_squares<Over>) over.prepare_square(key);
}

// Is the derivative of the new score by the old one other than 1?
template <class Over>
inline constexpr bool bends = requires { requires Over::bends; };
// Does it add a bias that may have a gradient?
template <class Over>
inline constexpr bool adds_bias = requires { requires Over::adds_bias; };

// The derivative of the new score by the old one.
template <class V, class Over>
UMBEL_INLINE constexpr V derivative([[maybe_unused]] const Over& over, [[maybe_unused]] V score,
                                    [[maybe_unused]] std::size_t key) noexcept {
  if constexpr (bends<Over>)
    return over.derivative(score, key);
  else
    return simd::broadcast<V>(simd::element_of<V>{1});
}
// The derivative by the first bias added on the way; without one, by the new score.
template <class V, class Over>
UMBEL_INLINE constexpr V bias_derivative([[maybe_unused]] const Over& over,
                                         [[maybe_unused]] V score,
                                         [[maybe_unused]] std::size_t key) noexcept {
  if constexpr (bends<Over> && adds_bias<Over>)
    return over.bias_derivative(score, key);
  else
    return simd::broadcast<V>(simd::element_of<V>{1});
}

// sees() for four keys in a row. `by_four`: the policy does it at less than four times the cost.
template <class V, class Over>
UMBEL_INLINE constexpr void see_four(const Over& over, std::size_t key,
                                     mask_of<V> (&seen)[4]) noexcept {
  if constexpr (Over::by_four) {
    over.see_four(key, seen);
  } else {
    UMBEL_UNROLL(4)
    for (std::size_t r = 0; r < 4; ++r) seen[r] = over.sees(key + r);
  }
}

}  // namespace detail

// Every query sees every key, unchanged.
struct every_key {
  static constexpr bool changes = false, selects = false;

  constexpr key_range range(std::size_t, std::size_t, std::size_t keys) const noexcept {
    return {0, keys, 0, keys};
  }
  template <class V>
  struct lanes : detail::keeps_scores<V>, detail::sees_all<V> {};
  template <class V>
  UMBEL_INLINE constexpr lanes<V> over(std::size_t, std::size_t) const noexcept {
    return {};
  }
};

// j < count: the same keys for every query.
struct first_keys : every_key {
  std::size_t count;

  constexpr explicit first_keys(std::size_t how_many) noexcept : count(how_many) {}
  constexpr key_range range(std::size_t, std::size_t, std::size_t keys) const noexcept {
    const std::size_t end = count < keys ? count : keys;
    return {0, end, 0, end};
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::scores
UMBEL_WARNINGS_POP
