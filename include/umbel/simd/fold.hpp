// SPDX-License-Identifier: BSL-1.0
// All lanes of a pack, and several packs, become one value: halves are put together until one lane is
// left, so the order is fixed by the number of elements and not by how they are packed.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/utility.hpp>

namespace umbel::simd {

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

// Packs one after the other; how many is a power of two. They are overwritten.
template <class V, std::size_t Packs, class Together>
UMBEL_INLINE constexpr element_of<V> fold(V (&values)[Packs], Together together) noexcept {
  UMBEL_UNROLL(4)
  for (std::size_t half = Packs / 2; half > 0; half /= 2) {
    UMBEL_UNROLL(8)
    for (std::size_t i = 0; i < half; ++i) values[i] = together(values[i], values[i + half]);
  }
  return fold(values[0], together);
}

}  // namespace umbel::simd
