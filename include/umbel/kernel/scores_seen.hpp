// SPDX-License-Identifier: BSL-1.0
// Scores policies that hide keys from queries: lengths, positions, windows, causal, kept. See
// scores_changed.hpp for changing a score, and scores.hpp for the concept of a policy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/scores_common.hpp>
#include <umbel/simd/pack.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::scores {

namespace detail {

// Query i sees the first counts.of(i, most) of `most` keys. Fewer than 2^30 keys.
template <class Counts>
struct counts_by_query {
  static constexpr bool changes = false, selects = true;

  constexpr const Counts& counts() const noexcept { return static_cast<const Counts&>(*this); }
  constexpr key_range range(std::size_t first_query, std::size_t queries,
                            std::size_t keys) const noexcept {
    std::size_t shortest = keys, longest = 0;
    for (std::size_t i = 0; i < queries; ++i) {
      const std::size_t length = counts().of(first_query + i, keys);
      shortest = length < shortest ? length : shortest;
      longest = length > longest ? length : longest;
    }
    return ordered({0, longest, 0, shortest});
  }
  template <class V>
  struct lanes : keeps_scores<V> {
    static constexpr bool by_four = false;
    using integer = simd::element_of<simd::signed_of<V>>;
    simd::signed_of<V> count;
    UMBEL_INLINE constexpr mask_of<V> sees(std::size_t key) const noexcept {
      return simd::less(simd::broadcast<simd::signed_of<V>>(static_cast<integer>(key)), count);
    }
  };
  template <class V>
  UMBEL_INLINE constexpr lanes<V> over(std::size_t first_query, std::size_t count) const noexcept {
    using integer = typename lanes<V>::integer;
    lanes<V> result{};
    if constexpr (simd::lanes_of<V> == 1) {
      if (count != 0) result.count = static_cast<integer>(counts().of(first_query, 1u << 30));
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        result.count[i] = static_cast<integer>(counts().of(first_query + i, 1u << 30));
      }
    }
    return result;
  }
};

}  // namespace detail

// j < length(i), length(i) = from[i * stride] clamped to 0..keys.
template <class Int>
struct lengths : detail::counts_by_query<lengths<Int>> {
  const Int* from;
  std::size_t stride;

  constexpr lengths(const Int* of_query, std::size_t query_stride) noexcept
      : from(of_query), stride(query_stride) {}

  static constexpr std::size_t clamp(Int length, std::size_t most) noexcept {
    if (length <= 0) return 0;
    if constexpr (std::is_floating_point_v<Int>)  // in formulas
      return length < static_cast<Int>(most) ? static_cast<std::size_t>(length) : most;
    else
      return static_cast<unsigned long long>(length) < most ? static_cast<std::size_t>(length)
                                                            : most;
  }
  constexpr std::size_t of(std::size_t query, std::size_t most) const noexcept {
    return clamp(from[query * stride], most);
  }
};

// j <= from[i * stride] + offset: a position per query. Below 0: no key; past the last: all.
template <class Int>
struct positions : detail::counts_by_query<positions<Int>> {
  const Int* from;
  std::size_t stride;
  std::ptrdiff_t offset;

  constexpr positions(const Int* of_query, std::size_t query_stride,
                      std::ptrdiff_t of_all = 0) noexcept
      : from(of_query), stride(query_stride), offset(of_all) {}

  constexpr std::size_t of(std::size_t query, std::size_t most) const noexcept {
    const std::ptrdiff_t at = detail::position(0, detail::as_position(from[query * stride])) +
                              detail::position(0, offset);
    return static_cast<std::size_t>(detail::within(at, -1, detail::as_signed(most) - 1) + 1);
  }
};

// i + offset - left <= j <= i + offset + right.
struct window {
  static constexpr bool changes = false, selects = true;
  std::size_t left, right;
  std::ptrdiff_t offset = 0;

  constexpr key_range range(std::size_t first_query, std::size_t queries,
                            std::size_t keys) const noexcept {
    const std::ptrdiff_t first = detail::position(first_query, offset);
    const std::ptrdiff_t last = detail::position(first_query + queries, offset) - 1;
    const std::ptrdiff_t before = detail::as_signed(left), after = detail::as_signed(right) + 1;
    const auto key = [keys](std::ptrdiff_t j) {
      return static_cast<std::size_t>(detail::within(j, 0, detail::as_signed(keys)));
    };
    return detail::ordered(
        {key(first - before), key(last + after), key(last - before), key(first + after)});
  }
  template <class V>
  struct lanes : detail::keeps_scores<V> {
    static constexpr bool by_four = false;
    std::ptrdiff_t lowest, highest;  // keys that lane 0 sees; add l for lane l
    UMBEL_INLINE constexpr mask_of<V> sees(std::size_t key) const noexcept {
      const std::ptrdiff_t j = detail::as_signed(key);
      if constexpr (simd::lanes_of<V> == 1)
        return j >= lowest && j <= highest;
      else
        return detail::lanes_to<V>(j - lowest) & detail::lanes_from<V>(j - highest);
    }
  };
  template <class V>
  UMBEL_INLINE constexpr lanes<V> over(std::size_t first_query, std::size_t) const noexcept {
    const std::ptrdiff_t here = detail::position(first_query, offset);
    return {{}, here - detail::as_signed(left), here + detail::as_signed(right)};
  }
};

// first(i) <= j <= last(i), both i + offset between two numbers.
struct clamped_window {
  static constexpr bool changes = false, selects = true;
  struct bound {
    std::ptrdiff_t offset, least, most;
    constexpr std::ptrdiff_t at(std::size_t query) const noexcept {
      return detail::within(detail::position(query, offset), least, most);
    }
  };
  bound first, last;

  constexpr key_range range(std::size_t first_query, std::size_t queries,
                            std::size_t keys) const noexcept {
    const std::size_t last_query = first_query + queries - 1;
    const auto key = [keys](std::ptrdiff_t j) {
      return static_cast<std::size_t>(detail::within(j, 0, detail::as_signed(keys)));
    };
    return detail::ordered({key(first.at(first_query)), key(last.at(last_query) + 1),
                            key(first.at(last_query)), key(last.at(first_query) + 1)});
  }
  template <class V>
  struct lanes : detail::keeps_scores<V> {
    static constexpr bool by_four = false;
    using integer = simd::element_of<simd::signed_of<V>>;
    simd::signed_of<V> before, end;
    UMBEL_INLINE constexpr mask_of<V> sees(std::size_t key) const noexcept {
      const auto at = simd::broadcast<simd::signed_of<V>>(static_cast<integer>(key));
      return detail::and_masks(simd::less(before, at), simd::less(at, end));
    }
  };
  template <class V>
  UMBEL_INLINE constexpr lanes<V> over(std::size_t first_query, std::size_t count) const noexcept {
    using integer = typename lanes<V>::integer;
    constexpr std::ptrdiff_t most = 1 << 30;
    lanes<V> result{};
    for (std::size_t i = 0; i < count; ++i) {
      const auto before =
          static_cast<integer>(detail::within(first.at(first_query + i), -most, most) - 1);
      const auto end =
          static_cast<integer>(detail::within(last.at(first_query + i), -most, most) + 1);
      if constexpr (simd::lanes_of<V> == 1)
        result.before = before, result.end = end;
      else
        result.before[i] = before, result.end[i] = end;
    }
    return result;
  }
};

// j <= i + offset. offset: the position of query 0, which is 0 without a cache, or keys - queries
// to align the last query with the last key. If negative, the first -offset queries see nothing.
struct causal {
  static constexpr bool changes = false, selects = true;
  std::ptrdiff_t offset = 0;

  constexpr key_range range(std::size_t first_query, std::size_t queries,
                            std::size_t keys) const noexcept {
    return window{SIZE_MAX, 0, offset}.range(first_query, queries, keys);
  }
  template <class V>
  struct lanes : detail::keeps_scores<V> {
    static constexpr bool by_four = false;
    std::ptrdiff_t highest;
    UMBEL_INLINE constexpr mask_of<V> sees(std::size_t key) const noexcept {
      return detail::lanes_from<V>(detail::as_signed(key) - highest);
    }
  };
  template <class V>
  UMBEL_INLINE constexpr lanes<V> over(std::size_t first_query, std::size_t) const noexcept {
    return {{}, detail::position(first_query, offset)};
  }
};

// mask[i * query_stride + j * key_stride] is not 0, or with Keeps false, is 0. Flag: one byte.
template <class Flag, bool Keeps = true>
struct kept {
  static_assert(sizeof(Flag) == 1, "umbel: a flag of a mask is one byte");
  static constexpr bool changes = false, selects = true;
  const Flag* mask;
  std::size_t query_stride, key_stride;

  constexpr kept(const Flag* flags, std::size_t to_next_query, std::size_t to_next_key) noexcept
      : mask(flags), query_stride(to_next_query), key_stride(to_next_key) {}
  constexpr key_range range(std::size_t, std::size_t, std::size_t keys) const noexcept {
    return {0, keys, 0, 0};
  }
  template <class V>
  struct lanes : detail::keeps_scores<V> {
    static constexpr bool by_four = simd::lanes_of<V> > 1;
    using numbers = simd::signed_of<V>;
    const Flag* from;
    std::size_t query_stride, key_stride, count;

    UMBEL_INLINE constexpr mask_of<V> sees(std::size_t key) const noexcept {
      const Flag* const at = from + key * key_stride;
      if constexpr (simd::lanes_of<V> == 1) {
        return count != 0 && (*at != 0) == Keeps;
      } else {
        using bytes = simd::pack<unsigned char, simd::lanes_of<V>>;
        numbers flags{};
        if (query_stride == 0 && count != 0) return seen_where(flags + (*at != 0));
        if (query_stride == 1 && count == simd::lanes_of<V>) {
          bytes all;
          __builtin_memcpy(&all, at, sizeof(all));
          flags = __builtin_convertvector(all, numbers);
        } else {
          for (std::size_t i = 0; i < count; ++i) flags[i] = at[i * query_stride] != 0;
        }
        return seen_where(flags);
      }
    }
    UMBEL_INLINE static constexpr mask_of<V> seen_where(numbers flags) noexcept {
      if constexpr (Keeps)
        return simd::not_equal(flags, numbers{});
      else
        return simd::equal(flags, numbers{});
    }
    // A row-major mask: a query's four flags are one word, so a lane is filled a quarter as often.
    UMBEL_INLINE void see_four(std::size_t key, mask_of<V> (&seen)[4]) const noexcept {
      if (key_stride != 1 || query_stride < 2) {
        for (std::size_t r = 0; r < 4; ++r) seen[r] = sees(key + r);
        return;
      }
      numbers words{};
      UMBEL_UNROLL(16)
      for (std::size_t i = 0; i < simd::lanes_of<V>; ++i) {
        std::int32_t word = 0;
        if (i < count) __builtin_memcpy(&word, from + i * query_stride + key, 4);
        words[i] = word;
      }
      UMBEL_UNROLL(4)
      for (std::size_t r = 0; r < 4; ++r) {
        const std::size_t byte = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? r : 3 - r;
        seen[r] = seen_where(words & static_cast<std::int32_t>(0xffu << (8 * byte)));
      }
    }
  };
  template <class V>
  UMBEL_INLINE constexpr lanes<V> over(std::size_t first_query, std::size_t count) const noexcept {
    return {{}, mask + first_query * query_stride, query_stride, key_stride, count};
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::scores
UMBEL_WARNINGS_POP
