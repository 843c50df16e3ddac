// SPDX-License-Identifier: BSL-1.0
// Reduces all lanes of one or more packs to one value: halves are combined until one lane is left,
// so the order depends on the number of elements and not on the packing.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/transpose.hpp>
#include <umbel/utility.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

// together(a, b), element i with element i + half.
template <class V, class Together>
UMBEL_INLINE constexpr element_of<V> fold(V value, Together together) noexcept {
  if constexpr (lanes_of<V> == 1) {
    return value;
  } else if constexpr (lanes_of<V> == 2) {
    return together(value[0], value[1]);
  } else {
    constexpr auto low = std::make_index_sequence<lanes_of<V> / 2>{};
    constexpr auto high = detail::shifted<lanes_of<V> / 2>(low);
    return fold(together(detail::half_of(value, low), detail::half_of(value, high)), together);
  }
}

// The number of a row's packs that are unrolled. Without vectors there are 16 packs.
inline constexpr int unrolled_packs = UMBEL_SMALL_CODE && UMBEL_VECTOR_BYTES == 0 ? 1 : 16;

// Folds packs element by element; their number is a power of two. Overwrites them.
template <class V, std::size_t Packs, class Together>
UMBEL_INLINE constexpr V fold_packs(V (&values)[Packs], Together together) noexcept {
  UMBEL_UNROLL(unrolled_packs)
  for (std::size_t half = Packs / 2; half > 0; half /= 2) {
    UMBEL_UNROLL(unrolled_packs)
    for (std::size_t i = 0; i < half; ++i) values[i] = together(values[i], values[i + half]);
  }
  return values[0];
}

namespace detail {
template <std::size_t Step, class V, std::size_t Rows, class Together>
UMBEL_INLINE V fold_rows_by(V (&rows)[Rows], Together together) noexcept {
  constexpr auto all = std::make_index_sequence<lanes_of<V>>{};
  constexpr std::size_t half = Rows == 1 ? 1 : Rows / 2;
  V folded[half];
  UMBEL_UNROLL(8)
  for (std::size_t r = 0; r < half; ++r) {
    const V a = rows[r], b = rows[Rows == 1 ? 0 : r + half];
    folded[r] = together(even_blocks<Step>(a, b, all), odd_blocks<Step>(a, b, all));
  }
  if constexpr (Step == 1)
    return folded[0];
  else
    return fold_rows_by<Step / 2>(folded, together);
}
}  // namespace detail

// The folds of several rows of packs, side by side: row r's fills lanes / Rows lanes from r * lanes
// / Rows on. Rows is a power of two, at most the lanes; the packs are overwritten. Four rows cost
// the shuffles of two.
template <class V, std::size_t Rows, std::size_t Packs, class Together>
UMBEL_INLINE V fold_rows(V (&values)[Rows][Packs], Together together) noexcept {
  V rows[Rows];
  UMBEL_UNROLL(8)
  for (std::size_t r = 0; r < Rows; ++r) rows[r] = fold_packs(values[r], together);
  if constexpr (lanes_of<V> == 1)
    return rows[0];
  else
    return detail::fold_rows_by<lanes_of<V> / 2>(rows, together);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
