// SPDX-License-Identifier: BSL-1.0
// Packs of several groups of adjacent lanes, each group from separate memory: loads and stores by
// group, and shuffles within groups, which machines do in one cycle. See
// kernel/float/attend_heads.hpp for the use of the groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/transpose.hpp>
#include <umbel/utility.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

// A pack of Groups groups of Lanes / Groups elements, group g from from[offset(g)].
template <class V, std::size_t Groups, class Offset>
UMBEL_INLINE V load_groups(const element_of<V>* from, Offset offset,
                           std::size_t first = 0) noexcept {
  if constexpr (Groups == 1) {
    return load<V>(from + offset(first));
  } else {
    using H = pack<element_of<V>, lanes_of<V> / 2>;
    return detail::join_halves<V>(load_groups<H, Groups / 2>(from, offset, first),
                                  load_groups<H, Groups / 2>(from, offset, first + Groups / 2));
  }
}

template <class V, class H>
UMBEL_INLINE V repeat_group(H group) noexcept {
  if constexpr (std::is_same_v<V, H>) {
    return group;
  } else {
#if UMBEL_AVX512 && UMBEL_GCC
    if constexpr (std::is_same_v<V, pack<float, 16>> && lanes_of<H> == 4) {
      return __builtin_ia32_broadcastf32x4_512(group, V{}, static_cast<std::uint16_t>(-1));
    } else
#endif
    {
      const auto half = repeat_group<pack<element_of<V>, lanes_of<V> / 2>>(group);
      return detail::join_halves<V>(half, half);
    }
  }
}

template <std::size_t Groups, class V, class Offset>
UMBEL_INLINE void store_groups(element_of<V>* to, V value, Offset offset,
                               std::size_t first = 0) noexcept {
  if constexpr (Groups == 1) {
    store(to + offset(first), value);
  } else {
    constexpr auto low = std::make_index_sequence<lanes_of<V> / 2>{};
    constexpr auto high = detail::shifted<lanes_of<V> / 2>(low);
    store_groups<Groups / 2>(to, detail::half_of(value, low), offset, first);
    store_groups<Groups / 2>(to, detail::half_of(value, high), offset, first + Groups / 2);
  }
}

namespace detail {
template <std::size_t Size, std::size_t Index, class V, std::size_t... I>
UMBEL_INLINE V broadcast_in_groups(V value, std::index_sequence<I...>) noexcept {
  return __builtin_shufflevector(value, value, (I / Size * Size + Index)...);
}
}  // namespace detail

// Broadcasts lane Index of every group of Size lanes within its group.
template <std::size_t Size, std::size_t Index, class V>
UMBEL_INLINE V broadcast_in_groups(V value) noexcept {
  return detail::broadcast_in_groups<Size, Index>(value, std::make_index_sequence<lanes_of<V>>{});
}

namespace detail {
template <std::size_t Size, std::size_t First, class V, std::size_t... I>
UMBEL_INLINE V replace_from(V a, V b, std::index_sequence<I...>) noexcept {
  return __builtin_shufflevector(a, b, (I / Size < First ? I : I + sizeof...(I))...);
}
}  // namespace detail

// Groups of Size lanes: those before `first` (constant once unrolled) from a, the others from b.
template <std::size_t Size, class V>
UMBEL_INLINE V replace_groups(V a, V b, std::size_t first) noexcept {
  if (first == 0) return b;
#if UMBEL_AVX512 && UMBEL_GCC
  // g++ would use scalars: a load and two broadcasts per group.
  if constexpr (std::is_same_v<V, pack<float, 16>>) {
    return __builtin_ia32_blendmps_512_mask(a, b,
                                            static_cast<std::uint16_t>(0xffffu << first * Size));
  }
#endif
  constexpr auto all = std::make_index_sequence<lanes_of<V>>{};
  if (first == 1) return detail::replace_from<Size, 1>(a, b, all);
  if (first == 2) return detail::replace_from<Size, 2>(a, b, all);
  return detail::replace_from<Size, 3>(a, b, all);
}

// rows[i] lane j <-> rows[j] lane i, in every group of Size lanes; Size is 2, 4 or 8.
template <class V, std::size_t Size>
UMBEL_INLINE void transpose_groups(V (&rows)[Size]) noexcept {
  if constexpr (Size == 2) detail::transpose_stage<1>(rows);
  if constexpr (Size >= 4) detail::transpose_fours(rows);
  if constexpr (Size >= 8) detail::transpose_stage<4>(rows);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
