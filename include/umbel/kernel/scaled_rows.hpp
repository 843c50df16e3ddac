// SPDX-License-Identifier: BSL-1.0
// Keys or values of heads in 8 bits, as the kernels of attention are given them in place of a
// pointer: steps in rows, a row for each position, and for each position and head a scale
// (plain/scaled.hpp). A score is multiplied by the scale of its key once its chain is complete, the
// weight of a value by the scale of the value before its products: no scale is inside of a loop
// over features. Not here: where a cache has them (decode/cache.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/int8.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// Head: scales from one head to the next. As a pointer to steps it moves by features; from_row and
// of_head, which pointers have too, move the scales with them.
template <class T, std::size_t Head>
struct scaled_rows {
  const std::int8_t* steps;
  const T* scales;
  static constexpr std::size_t head = Head;

  friend constexpr scaled_rows operator+(scaled_rows from, std::size_t features) noexcept {
    return {from.steps + features, from.scales};
  }
};

template <class K>
inline constexpr bool has_scales = false;
template <class T, std::size_t Head>
inline constexpr bool has_scales<scaled_rows<T, Head>> = true;

template <class W>
UMBEL_INLINE constexpr const W* elements(const W* from) noexcept {
  return from;
}
template <class T, std::size_t Head>
UMBEL_INLINE constexpr const std::int8_t* elements(scaled_rows<T, Head> from) noexcept {
  return from.steps;
}
// What keys or values are stored as.
template <class K>
using stored_in = std::remove_cvref_t<decltype(*elements(std::declval<K>()))>;
// Keys of dot products, not additive ones.
template <class K>
concept stored_rows = requires(K k) { elements(k); };

// From position j on; stride: elements from one position to the next.
template <class K>
UMBEL_INLINE constexpr K from_row(K from, std::size_t j, std::size_t stride) noexcept {
  if constexpr (has_scales<K>)
    return {from.steps + j * stride, from.scales + j};
  else
    return from + j * stride;
}
// Those of head h; stride: elements from one head to the next.
template <class K>
UMBEL_INLINE constexpr K of_head(K from, std::size_t h, std::size_t stride) noexcept {
  if constexpr (has_scales<K>)
    return {from.steps + h * stride, from.scales + h * K::head};
  else
    return from + h * stride;
}

// A number, such as a score, times the scale of position j. The fma with 0 is a product that no
// compiler fuses with what follows.
template <class V, class K>
UMBEL_INLINE constexpr V with_scale(V number, K k, std::size_t j) noexcept {
  if constexpr (has_scales<K>)
    return simd::fma(number, simd::broadcast<V>(k.scales[j]), V{});
  else
    return number;
}
// Scores with the positions from j on, one in each lane, of which `count` exist.
template <class V, class K>
UMBEL_INLINE V with_scales_of_keys(V scores, K k, std::size_t j, std::size_t count) noexcept {
  if constexpr (has_scales<K>) {
    const V scales = count < simd::lanes_of<V> ? simd::load_first<V>(k.scales + j, count)
                                               : simd::load<V>(k.scales + j);
    return simd::fma(scores, scales, V{});
  } else {
    return scores;
  }
}
// The weight of position j, as it multiplies the steps of its values.
template <class V, class W>
UMBEL_INLINE constexpr V with_scale_of_value(V weight, W v, std::size_t j) noexcept {
  if constexpr (has_scales<W>)
    return weight * simd::broadcast<V>(v.scales[j]);
  else
    return weight;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
