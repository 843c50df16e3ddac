// SPDX-License-Identifier: BSL-1.0
// The layout of a row of weights in a panel (linear.hpp): its features in order, except that
// bfloat16 interleaves pairs of vectors. Two vectors are then one load, a shift and an and;
// separately they would widen at half the pace, which slows a vector times a matrix in the
// second-level cache. Also the end of a sum with 8-bit weights, whose scales follow the biases.
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

// W: the stored type of weights.
template <class W, std::size_t Lanes>
inline constexpr bool in_pairs = std::is_same_v<W, bfloat16> && Lanes > 1 && UMBEL_LITTLE_ENDIAN;

// Does vector v of `vectors` belong to a pair?
constexpr bool has_partner(std::size_t v, std::size_t vectors) noexcept {
  return (v | 1) < vectors;
}

// The place of a panel's feature n in its row.
template <class W, std::size_t Lanes>
constexpr std::size_t place_in_panel(std::size_t n, std::size_t vectors) noexcept {
  if constexpr (in_pairs<W, Lanes>) {
    const std::size_t v = n / Lanes;
    if (has_partner(v, vectors)) return (v - v % 2) * Lanes + n % Lanes * 2 + v % 2;
  }
  return n;
}

// The first features of vector v of a row, as many as V holds. Lanes: of a panel's vector.
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

// Are products with weights stored as W multiplied by their output's scale?
template <class W>
inline constexpr bool is_scaled = std::is_same_v<W, std::int8_t>;

// Completes a sum of products. read(at): a vector at an offset from the first output's bias;
// Scales: the offset of its scale, 0 without a bias.
template <class W, std::size_t Scales, class V, class Read>
UMBEL_INLINE constexpr V end_of_sum(V sum, Read read) noexcept {
  if constexpr (!is_scaled<W>)
    return sum;
  else
    return simd::fma(sum, read(Scales), Scales != 0 ? read(0) : V{});
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::detail
UMBEL_WARNINGS_POP
