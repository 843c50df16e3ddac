// SPDX-License-Identifier: BSL-1.0
// Transposes a square of packs in registers: Lanes packs of Lanes elements, log2(Lanes) stages of
// two-operand shuffles. Not here: anything in memory (kernel/transpose.hpp).
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/simd/pack.hpp>
#include <utility>

namespace umbel::simd {

namespace detail {

// Of the blocks of `Step` lanes, the even ones of a, each followed by the even one of b.
template <std::size_t Step, class V, std::size_t... I>
UMBEL_INLINE V even_blocks(V a, V b, std::index_sequence<I...>) noexcept {
  constexpr std::size_t lanes = sizeof...(I);
  return __builtin_shufflevector(a, b, ((I & Step) == 0 ? I : I - Step + lanes)...);
}

template <std::size_t Step, class V, std::size_t... I>
UMBEL_INLINE V odd_blocks(V a, V b, std::index_sequence<I...>) noexcept {
  constexpr std::size_t lanes = sizeof...(I);
  return __builtin_shufflevector(a, b, ((I & Step) == 0 ? I + Step : I + lanes)...);
}

template <std::size_t Step, class V>
UMBEL_INLINE void transpose_stage(V (&rows)[lanes_of<V>]) noexcept {
  constexpr auto all = std::make_index_sequence<lanes_of<V>>{};
  UMBEL_UNROLL(16)
  for (std::size_t i = 0; i < lanes_of<V>; ++i) {
    if ((i & Step) != 0) continue;
    const V a = rows[i], b = rows[i + Step];
    rows[i] = even_blocks<Step>(a, b, all);
    rows[i + Step] = odd_blocks<Step>(a, b, all);
  }
}

}  // namespace detail

// rows[i][j] <-> rows[j][i].
template <class V>
UMBEL_INLINE void transpose(V (&rows)[lanes_of<V>]) noexcept {
  if constexpr (lanes_of<V> >= 2) detail::transpose_stage<1>(rows);
  if constexpr (lanes_of<V> >= 4) detail::transpose_stage<2>(rows);
  if constexpr (lanes_of<V> >= 8) detail::transpose_stage<4>(rows);
  if constexpr (lanes_of<V> >= 16) detail::transpose_stage<8>(rows);
}

}  // namespace umbel::simd
