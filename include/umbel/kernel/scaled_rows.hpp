// SPDX-License-Identifier: BSL-1.0
// 8-bit keys or values of heads, passed to attention's kernels instead of a pointer: rows of steps,
// one per position, and a scale per position and head (plain/scaled.hpp). A score is multiplied by
// its key's scale after its chain, a value's weight by the value's scale before its products: no
// loop over features contains a scale. See decode/cache.hpp for their place in a cache.
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

// Head: scales between heads. As a pointer to steps it moves by features; from_row and of_head,
// which pointers also have, move the scales as well.
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
// The stored type of keys or values.
template <class K>
using stored_in = std::remove_cvref_t<decltype(*elements(std::declval<K>()))>;
// Dot-product keys, not additive ones.
template <class K>
concept stored_rows = requires(K k) { elements(k); };

// From position j on; stride: elements between positions.
template <class K>
UMBEL_INLINE constexpr K from_row(K from, std::size_t j, std::size_t stride) noexcept {
  if constexpr (has_scales<K>)
    return {from.steps + j * stride, from.scales + j};
  else
    return from + j * stride;
}
// Those of head h; stride: elements between heads.
template <class K>
UMBEL_INLINE constexpr K of_head(K from, std::size_t h, std::size_t stride) noexcept {
  if constexpr (has_scales<K>)
    return {from.steps + h * stride, from.scales + h * K::head};
  else
    return from + h * stride;
}

// A number, such as a score, times position j's scale. The fma with 0 is a product that no compiler
// fuses with the next operation.
template <class V, class K>
UMBEL_INLINE constexpr V with_scale(V number, K k, std::size_t j) noexcept {
  if constexpr (has_scales<K>)
    return simd::fma(number, simd::broadcast<V>(k.scales[j]), V{});
  else
    return number;
}
// Scores with positions from j on, one per lane, of which `count` exist.
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
// The weight of position j, as the factor of its value's steps.
template <class V, class W>
UMBEL_INLINE constexpr V with_scale_of_value(V weight, W v, std::size_t j) noexcept {
  if constexpr (has_scales<W>)
    return weight * simd::broadcast<V>(v.scales[j]);
  else
    return weight;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
