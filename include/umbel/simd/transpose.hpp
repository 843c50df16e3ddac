// SPDX-License-Identifier: BSL-1.0
// Transposes a square of packs in registers: Lanes packs of Lanes elements, log2(Lanes) stages of
// two-operand shuffles. See kernel/float/transpose.hpp for transposes in memory.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/sve.hpp>
#include <umbel/utility.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

namespace detail {

// The even blocks of `Step` lanes of a, each followed by the even one of b.
template <std::size_t Step, class V, std::size_t... I>
UMBEL_INLINE V even_blocks(V a, V b, std::index_sequence<I...>) noexcept {
  constexpr std::size_t lanes = sizeof...(I);
  return UMBEL_SHUFFLED(a, b, ((I & Step) == 0 ? I : I - Step + lanes)...);
}

template <std::size_t Step, class V, std::size_t... I>
UMBEL_INLINE V odd_blocks(V a, V b, std::index_sequence<I...>) noexcept {
  constexpr std::size_t lanes = sizeof...(I);
  return UMBEL_SHUFFLED(a, b, ((I & Step) == 0 ? I + Step : I + lanes)...);
}

template <std::size_t Step, class V, std::size_t Rows>
UMBEL_INLINE void transpose_stage(V (&rows)[Rows]) noexcept {
  constexpr auto all = std::make_index_sequence<lanes_of<V>>{};
  UMBEL_UNROLL(16)
  for (std::size_t i = 0; i < Rows; ++i) {
    if ((i & Step) != 0) continue;
    const V a = rows[i], b = rows[i + Step];
    rows[i] = even_blocks<Step>(a, b, all);
    rows[i + Step] = odd_blocks<Step>(a, b, all);
  }
}

// From every four lanes, the first two of a and b in turn, or the last two.
template <std::size_t First, class V, std::size_t... I>
UMBEL_INLINE V interleave(V a, V b, std::index_sequence<I...>) noexcept {
  return UMBEL_SHUFFLED(a, b, (I / 4 * 4 + First + I % 4 / 2 + (I % 2 == 0 ? 0 : sizeof...(I)))...);
}

// The even (First = 0) or odd fours of lanes of a, then those of b.
template <std::size_t First, class V, std::size_t... I>
UMBEL_INLINE V fours_of(V a, V b, std::index_sequence<I...>) noexcept {
  return UMBEL_SHUFFLED(a, b, ((I / 4 * 2 + First) * 4 + I % 4)...);
}

// Stages 1 and 2: squares of four, by the single instructions of machines with 4-byte lanes.
template <class V, std::size_t Rows>
UMBEL_INLINE void transpose_fours(V (&rows)[Rows]) noexcept {
  if constexpr (sizeof(element_of<V>) == 4) {
    constexpr auto all = std::make_index_sequence<lanes_of<V>>{};
    UMBEL_UNROLL(4)
    for (std::size_t i = 0; i < Rows; i += 4) {
      const V low[2] = {interleave<0>(rows[i], rows[i + 1], all),
                        interleave<0>(rows[i + 2], rows[i + 3], all)};
      const V high[2] = {interleave<2>(rows[i], rows[i + 1], all),
                         interleave<2>(rows[i + 2], rows[i + 3], all)};
      rows[i] = even_blocks<2>(low[0], low[1], all);
      rows[i + 1] = odd_blocks<2>(low[0], low[1], all);
      rows[i + 2] = even_blocks<2>(high[0], high[1], all);
      rows[i + 3] = odd_blocks<2>(high[0], high[1], all);
    }
  } else {
    transpose_stage<1>(rows);
    transpose_stage<2>(rows);
  }
}

template <std::size_t First, class V, std::size_t... I>
UMBEL_INLINE V zip_from(V a, V b, std::index_sequence<I...>) noexcept {
  return __builtin_shufflevector(a, b, (First + I / 2 + (I % 2 == 0 ? 0 : sizeof...(I)))...);
}
template <std::size_t First, class V, std::size_t... I>
UMBEL_INLINE V unzip_from(V a, V b, std::index_sequence<I...>) noexcept {
  return __builtin_shufflevector(a, b, (First + 2 * I)...);
}

}  // namespace detail

// a[0], b[0], a[1], b[1] ... : that in two packs of more than one lane; and back.
template <class V>
UMBEL_INLINE void zip(V a, V b, V& low, V& high) noexcept {
  constexpr auto all = std::make_index_sequence<lanes_of<V>>{};
  low = detail::zip_from<0>(a, b, all);
  high = detail::zip_from<lanes_of<V> / 2>(a, b, all);
}
template <class V>
UMBEL_INLINE void unzip(V low, V high, V& a, V& b) noexcept {
  constexpr auto all = std::make_index_sequence<lanes_of<V>>{};
  a = detail::unzip_from<0>(low, high, all);
  b = detail::unzip_from<1>(low, high, all);
}

// rows[i][j] <-> rows[j][i].
template <class V>
UMBEL_INLINE void transpose(V (&rows)[lanes_of<V>]) noexcept {
  if constexpr (lanes_of<V> == 2) detail::transpose_stage<1>(rows);
  if constexpr (lanes_of<V> >= 4) detail::transpose_fours(rows);
  if constexpr (lanes_of<V> >= 8) detail::transpose_stage<4>(rows);
  if constexpr (lanes_of<V> >= 16) detail::transpose_stage<8>(rows);
}

namespace detail {
// One instruction; g++ would use two for the shuffle.
template <class V, class H>
UMBEL_INLINE V join_halves(H low, H high) noexcept {
  if constexpr (lanes_of<V> == 2) {
    return V{low, high};
  } else {
#if UMBEL_GCC && defined(__AVX__)
    if constexpr (sizeof(V) == 32) {
      using floats = pack<float, 8>;
      using half_of_them = pack<float, 4>;
      const floats wide = __builtin_ia32_ps256_ps(__builtin_bit_cast(half_of_them, low));
      return __builtin_bit_cast(
          V, __builtin_ia32_vinsertf128_ps256(wide, __builtin_bit_cast(half_of_them, high), 1));
    } else
#endif
#if UMBEL_GCC && UMBEL_AVX512
        if constexpr (sizeof(V) == 64) {
      using doubles = pack<double, 8>;
      using half_of_them = pack<double, 4>;
      const doubles wide = __builtin_ia32_pd512_256pd(__builtin_bit_cast(half_of_them, low));
      return __builtin_bit_cast(
          V, __builtin_ia32_insertf64x4_mask(wide, __builtin_bit_cast(half_of_them, high), 1,
                                             doubles{}, 0xff));
    } else
#endif
      return join(low, high, std::make_index_sequence<lanes_of<V>>{});
  }
}
}  // namespace detail

// columns[c][r] = from[r * row + c] for the first lanes / 2 columns of `rows` rows, or as many as
// lanes; further lanes are 0. The loads do the first stage, half a pack each. With 16 lanes they
// join rows four apart, so that the last stage moves fours of lanes, which needs no register for
// its order.
template <class V>
UMBEL_INLINE void load_columns(const element_of<V>* from, std::size_t row, std::size_t rows,
                               V (&columns)[lanes_of<V> / 2]) noexcept {
  constexpr std::size_t half = lanes_of<V> / 2, apart = half < 4 ? half : 4;
  using H = pack<element_of<V>, half>;
  UMBEL_UNROLL(8)
  for (std::size_t c = 0; c < half; ++c) {
    const std::size_t r = c / apart * 2 * apart + c % apart;
    const H low = r < rows ? load<H>(from + r * row) : H{};
    const H high = r + apart < rows ? load<H>(from + (r + apart) * row) : H{};
    columns[c] = detail::join_halves<V>(low, high);
  }
  if constexpr (half == 2) detail::transpose_stage<1>(columns);
  if constexpr (half >= 4) detail::transpose_fours(columns);
  if constexpr (half == 8) {
    UMBEL_UNROLL(4)
    for (std::size_t c = 0; c < 4; ++c) {
      const V a = columns[c], b = columns[c + 4];
      columns[c] = detail::fours_of<0>(a, b, std::make_index_sequence<16>{});
      columns[c + 4] = detail::fours_of<1>(a, b, std::make_index_sequence<16>{});
    }
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
