// SPDX-License-Identifier: BSL-1.0
// The kth largest element along an axis: the definition, which sorts a list of the largest elements
// by insertion, and the same in SIMD by sorting networks. Every row needs the same instructions.
// NaN if one element is NaN; a zero is +0.
#pragma once

#include <bit>
#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/float/positions.hpp>
#include <umbel/plan/target.hpp>
#include <umbel/simd/math_constants.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// The list has the largest elements, or the smallest if they are fewer.
template <std::size_t K, std::size_t Width>
struct shorter_end {
  static constexpr bool is_largest = K <= Width - K + 1;
  static constexpr std::size_t count = is_largest ? K : Width - K + 1;
  template <class T>
  static constexpr T start = is_largest ? simd::lowest_of<T> : simd::highest_of<T>;
  template <class V>
  UMBEL_INLINE static constexpr auto comes_first(V a, V b) noexcept {
    return is_largest ? simd::less(b, a) : simd::less(a, b);
  }
};

// step: between elements of a row.
template <std::size_t K, std::size_t Width, class T>
constexpr T plain_kth_largest(const T* x, std::size_t step) noexcept {
  using end = shorter_end<K, Width>;
  T list[end::count];
  for (T& value : list) value = end::template start<T>;
  T spoilt{};
  for (std::size_t i = 0; i < Width; ++i) {
    T value = x[i * step] + T{};
    if (value != value) spoilt = value;
    for (T& kept : list) {
      const T before = kept;
      const bool first = end::comes_first(value, before);
      kept = first ? value : before;
      value = first ? before : value;
    }
  }
  return spoilt == spoilt ? list[end::count - 1] : spoilt;
}

// Of all rows of a shape.
template <softmax_shape S, std::size_t K, class T>
constexpr void plain_kth_largest(const T* x, T* y) noexcept {
  for (std::size_t o = 0; o < S.outer; ++o)
    for (std::size_t i = 0; i < S.inner; ++i)
      *y++ = plain_kth_largest<K, S.width>(x + o * S.width * S.inner + i, S.inner);
}

// Batcher's bitonic networks (1968): a chunk of elements is sorted and merged into the list.
template <std::size_t K, std::size_t Width, class V>
struct sorted_list {
  using end = shorter_end<K, Width>;
  static constexpr std::size_t size = std::bit_ceil(end::count);
  static constexpr std::size_t block = size < 8 ? size : 8;  // in registers
  V list[size], chunk[size];
  std::size_t filled = 0;

  UMBEL_INLINE explicit sorted_list(V start) noexcept {
    for (V& value : list) value = start;
  }
  UMBEL_INLINE void add(V value) noexcept {
    chunk[filled++] = value;
    if (filled == size) merge();
  }
  UMBEL_INLINE V kth(V start) noexcept {
    if constexpr (size > 1)  // (g++ 12 warns of an unreachable index otherwise)
      while (filled != 0) add(start);
    return list[end::count - 1];
  }

 private:
  // The one that comes first goes to a. x86 has instructions for the larger and the smaller, which
  // g++ 12 finds if the comparisons differ. (A NaN may get lost here.)
  UMBEL_INLINE static void order(V& a, V& b) noexcept {
    const V first = a, second = b;
    if constexpr (UMBEL_SSE2) {
      (end::is_largest ? a : b) = simd::larger(first, second);
      (end::is_largest ? b : a) = simd::smaller(first, second);
    } else {
      const auto is_in_order = end::comes_first(first, second);
      a = simd::select(is_in_order, first, second);
      b = simd::select(is_in_order, second, first);
    }
  }
  // Within a block, in registers: layers of this length from this distance on, then those of
  // longer ones. The longest are backwards if Backwards.
  template <std::size_t Length, std::size_t Distance, bool Backwards>
  UMBEL_INLINE static void sort(V (&values)[block]) noexcept {
    UMBEL_UNROLL(8)
    for (std::size_t i = 0; i < block; ++i) {
      if ((i & Distance) != 0) continue;
      if ((i & Length) != 0 || (Length == block && Backwards))
        order(values[i + Distance], values[i]);
      else
        order(values[i], values[i + Distance]);
    }
    if constexpr (Distance > 1)
      sort<Length, Distance / 2, Backwards>(values);
    else if constexpr (Length < block)
      sort<2 * Length, Length, Backwards>(values);
  }
  template <std::size_t Length, bool Backwards>
  UMBEL_INLINE static void sort_block(V* values) noexcept {
    V sorted[block];
    UMBEL_UNROLL(8)
    for (std::size_t i = 0; i < block; ++i) sorted[i] = values[i];
    sort<Length, Length / 2, Backwards>(sorted);
    UMBEL_UNROLL(8)
    for (std::size_t i = 0; i < block; ++i) values[i] = sorted[i];
  }
  // All blocks, backwards if the index has the bit.
  template <std::size_t Length>
  UMBEL_INLINE static void sort_blocks(V* values, std::size_t backwards) noexcept {
    for (std::size_t begin = 0; begin < size; begin += block)
      if ((begin & backwards) == 0)
        sort_block<Length, false>(values + begin);
      else
        sort_block<Length, true>(values + begin);
  }
  // Sorts bitonic sequences of 2 * Distance elements.
  template <std::size_t Distance>
  UMBEL_INLINE static void sort_bitonic(V* values, std::size_t backwards) noexcept {
    if constexpr (2 * Distance <= block) {
      sort_blocks<block>(values, backwards);
    } else {
      for (std::size_t begin = 0; begin < size; begin += 2 * Distance) {
        V *const low = values + begin, *const high = low + Distance;
        if ((begin & backwards) == 0) {
          UMBEL_UNROLL(8)
          for (std::size_t i = 0; i < Distance; ++i) order(low[i], high[i]);
        } else {
          UMBEL_UNROLL(8)
          for (std::size_t i = 0; i < Distance; ++i) order(high[i], low[i]);
        }
      }
      sort_bitonic<Distance / 2>(values, backwards);
    }
  }
  template <std::size_t Length>
  UMBEL_INLINE void sort_chunk() noexcept {
    if constexpr (Length == block) sort_blocks<2>(chunk, block);
    if constexpr (Length > block) sort_bitonic<Length / 2>(chunk, Length);
    if constexpr (Length < size) sort_chunk<2 * Length>();
  }
  UMBEL_INLINE void merge() noexcept {
    filled = 0;
    if constexpr (size > 1) sort_chunk<block>();
    UMBEL_UNROLL(8)
    for (std::size_t i = 0; i < size; ++i) {
      const V value = chunk[size - 1 - i];
      list[i] = simd::select(end::comes_first(value, list[i]), value, list[i]);
    }
    if constexpr (size > 1) sort_bitonic<size / 2>(list, 0);
  }
};

template <softmax_shape S, std::size_t K, class T, plan::target Target = plan::native_target,
          class Range = every_position<S.width>>
UMBEL_NOINLINE void kth_largest(const T* x, T* y, Range range = {}) noexcept {
  using end = shorter_end<K, S.width>;
  constexpr std::size_t most = plan::lanes<T>(Target);
  // The lists are on the stack.
  constexpr bool fits = std::bit_ceil(end::count) * most * sizeof(T) <= 16384;
  using walk = positions<S, T, fits ? most : 1>;
  using V = typename walk::V;
  walk::template in_blocks<1>(
      [&]<std::size_t>(std::size_t begin, std::size_t count, std::size_t row) UMBEL_LAMBDA_INLINE {
        const V start = simd::broadcast<V>(end::template start<T>);
        sorted_list<K, S.width, V> list(start);
        V spoilt{};
        walk::template each<1, false, false>(
            x + begin, static_cast<T*>(nullptr), count,
            [&](V value, std::size_t) UMBEL_LAMBDA_INLINE {
              list.add(value + V{});
              spoilt = simd::select(simd::equal(value, value), spoilt, value);
              return value;
            },
            range);
        const V found = list.kth(start);
        simd::store_up_to(y + row, simd::select(simd::equal(spoilt, spoilt), found, spoilt), count);
      });
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
