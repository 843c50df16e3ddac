// SPDX-License-Identifier: BSL-1.0
// Loads, stores and selects the first lanes of a pack, for the end of a row that is not a whole
// number of packs. Memory after it is not touched.
#pragma once

#include <umbel/config.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/sve.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

namespace detail {

#if UMBEL_AVX512
template <class V>
inline constexpr bool has_masked_memory =
    sizeof(V) == 64 &&
    (std::is_same_v<element_of<V>, float> || std::is_same_v<element_of<V>, double>);

template <class V>
UMBEL_INLINE V masked_load(const element_of<V>* from, std::size_t count) noexcept {
  if constexpr (sizeof(element_of<V>) == 4) {
    return __builtin_ia32_loadups512_mask(from, V{},
                                          static_cast<std::uint16_t>((1u << count) - 1u));
  } else {
    return __builtin_ia32_loadupd512_mask(from, V{}, static_cast<std::uint8_t>((1u << count) - 1u));
  }
}

template <class V>
UMBEL_INLINE void masked_store(element_of<V>* to, V value, std::size_t count) noexcept {
  if constexpr (sizeof(element_of<V>) == 4) {
    __builtin_ia32_storeups512_mask(to, value, static_cast<std::uint16_t>((1u << count) - 1u));
  } else {
    __builtin_ia32_storeupd512_mask(to, value, static_cast<std::uint8_t>((1u << count) - 1u));
  }
}
#else
template <class V>
inline constexpr bool has_masked_memory = false;
template <class V>
V masked_load(const element_of<V>*, std::size_t) noexcept;
template <class V>
void masked_store(element_of<V>*, V, std::size_t) noexcept;
#endif

}  // namespace detail

// The first `count` elements (count <= lanes); the other lanes are 0. Memory past them is not read.
template <class V>
UMBEL_INLINE constexpr V load_first(const element_of<V>* from, std::size_t count) noexcept {
  if constexpr (lanes_of<V> == 1) {
    return count != 0 ? *from : V{};
#if UMBEL_MVE_ASSEMBLY
  } else if constexpr (detail::by_mve<V>) {
    return mve::load_first<V>(from, count);
#endif
#if UMBEL_SVE
  } else if constexpr (sve::of_floats<V>) {
    return sve::load_first<V>(from, count);
#endif
  } else if constexpr (detail::has_masked_memory<V>) {
    return detail::masked_load<V>(from, count);
  } else {
    V value{};
    for (std::size_t i = 0; i < lanes_of<V>; ++i) {
      if (i < count) value[i] = from[i];
    }
    return value;
  }
}

// Stores the first `count` lanes (count <= lanes). Memory past them is not written.
template <class V>
UMBEL_INLINE constexpr void store_first(element_of<V>* to, V value, std::size_t count) noexcept {
  if constexpr (lanes_of<V> == 1) {
    if (count != 0) *to = value;
#if UMBEL_MVE_ASSEMBLY
  } else if constexpr (detail::by_mve<V>) {
    mve::store_first(to, value, count);
#endif
#if UMBEL_SVE
  } else if constexpr (sve::of_floats<V>) {
    sve::store_first(to, value, count);
#endif
  } else if constexpr (detail::has_masked_memory<V>) {
    UMBEL_ALL_LANES(value);
    detail::masked_store<V>(to, value, count);
  } else {
    if constexpr (sizeof(V) >= 16 && sizeof(V) <= UMBEL_VECTOR_BYTES) UMBEL_ALL_LANES(value);
    for (std::size_t i = 0; i < lanes_of<V>; ++i) {
      if (i < count) to[i] = value[i];
    }
  }
}

// For one vector after another of a row: all lanes, except at the row's end.
template <class V>
UMBEL_INLINE constexpr V load_up_to(const element_of<V>* from, std::size_t count) noexcept {
  return count == lanes_of<V> ? simd::load<V>(from) : simd::load_first<V>(from, count);
}
template <class V>
UMBEL_INLINE constexpr void store_up_to(element_of<V>* to, V value, std::size_t count) noexcept {
  if (count == lanes_of<V>)
    simd::store(to, value);
  else
    simd::store_first(to, value, count);
}

// The first `count` lanes of value, the others of `other`: for a last, partial pack.
template <class V>
UMBEL_INLINE constexpr V keep_first(V value, std::size_t count, V other = V{}) noexcept {
  if constexpr (lanes_of<V> == 1) {
    return count != 0 ? value : other;
#if UMBEL_MVE_ASSEMBLY
  } else if constexpr (detail::by_mve<V>) {
    return mve::select_first(count, value, other);
#endif
#if UMBEL_SVE
  } else if constexpr (sve::of_floats<V>) {
    return sve::select_first(count, value, other);
#endif
  } else {
    for (std::size_t i = 0; i < lanes_of<V>; ++i) {
      if (i >= count) value[i] = other[i];
    }
    return value;
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
