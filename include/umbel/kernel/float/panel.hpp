// SPDX-License-Identifier: BSL-1.0
// How a row of weights lies in a panel (linear.hpp): its features in order, but bfloat16 in pairs
// of vectors with their elements in turns. Two vectors are then one load, a shift and an and;
// loaded each by itself they would widen at half the pace, which a vector times a matrix in the
// second-level cache feels. And what is done with a sum of products with weights in 8 bits, whose
// scales lie behind the biases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/half.hpp>
#include <umbel/simd/int8.hpp>
#include <umbel/simd/pack.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::detail {

// W: what weights are stored as.
template <class W, std::size_t Lanes>
inline constexpr bool in_pairs = std::is_same_v<W, bfloat16> && Lanes > 1 && UMBEL_LITTLE_ENDIAN;

// Is vector v of `vectors` one of a pair?
constexpr bool has_partner(std::size_t v, std::size_t vectors) noexcept {
  return (v | 1) < vectors;
}

// Where feature n of a panel lies in its row.
template <class W, std::size_t Lanes>
constexpr std::size_t place_in_panel(std::size_t n, std::size_t vectors) noexcept {
  if constexpr (in_pairs<W, Lanes>) {
    const std::size_t v = n / Lanes;
    if (has_partner(v, vectors)) return (v - v % 2) * Lanes + n % Lanes * 2 + v % 2;
  }
  return n;
}

// The first features of vector v of a row, as many as V holds; Lanes: those of a vector of the
// panel.
template <class V, std::size_t Lanes, class W>
UMBEL_INLINE V load_weights(const W* row, std::size_t v, std::size_t vectors) noexcept {
  if constexpr (in_pairs<W, Lanes>) {
    if (has_partner(v, vectors)) {
      const W* const pair = row + (v - v % 2) * Lanes;
      return v % 2 == 0 ? simd::load_alternate<V, false>(pair)
                        : simd::load_alternate<V, true>(pair);
    }
  }
  return simd::load<V>(row + v * Lanes);
}

// Are products with weights stored as W multiplied by a scale of their output?
template <class W>
inline constexpr bool is_scaled = std::is_same_v<W, std::int8_t>;

// What becomes of a sum of products. read(at): a vector of what lies behind the bias of the first
// output; Scales: how far its scale does, 0 where there is no bias.
template <class W, std::size_t Scales, class V, class Read>
UMBEL_INLINE constexpr V end_of_sum(V sum, Read read) noexcept {
  if constexpr (!is_scaled<W>)
    return sum;
  else
    return simd::fma(sum, read(Scales), Scales != 0 ? read(0) : V{});
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::detail
UMBEL_WARNINGS_POP
