// SPDX-License-Identifier: BSL-1.0
// std::int8_t stores float in 8 bits, as steps of a separate scale: widening loads as in half.hpp,
// all exact. See kernel/plain/scaled.hpp for scales.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

template <class V, class W>
concept from_int8 = std::is_same_v<W, std::int8_t> && std::is_same_v<element_of<V>, float>;

namespace detail {

template <class V>
using bytes_of = pack<std::int8_t, lanes_of<V>>;

template <class V>
UMBEL_INLINE V widen_int8(bytes_of<V> bytes) noexcept {
  using I = signed_of<V>;
  // g++ would widen in two steps and join.
#if UMBEL_GCC && UMBEL_AVX512
  if constexpr (sizeof(V) == 64) {
    typedef char in __attribute__((vector_size(16)));
    typedef int out __attribute__((vector_size(64)));
    return __builtin_convertvector(
        __builtin_bit_cast(I, __builtin_ia32_pmovsxbd512_mask(__builtin_bit_cast(in, bytes), out{},
                                                              static_cast<std::uint16_t>(-1))),
        V);
  }
#endif
#if UMBEL_GCC && defined(__AVX2__)
  if constexpr (sizeof(V) == 32) {
    typedef char in __attribute__((vector_size(16)));
    typedef long long two __attribute__((vector_size(16)));
    const two low = {__builtin_bit_cast(long long, bytes), 0};
    return __builtin_convertvector(
        __builtin_bit_cast(I, __builtin_ia32_pmovsxbd256(__builtin_bit_cast(in, low))), V);
  }
#endif
#if UMBEL_GCC
  // g++ would make four numbers of four bytes. Here each becomes the four bytes of one.
  if constexpr (sizeof(V) == 16) {
    typedef std::int8_t all __attribute__((vector_size(16)));
    typedef std::int32_t words __attribute__((vector_size(16)));
    const words low = {__builtin_bit_cast(std::int32_t, bytes), 0, 0, 0};
    const all from = __builtin_bit_cast(all, low);
    const all four =
        __builtin_shufflevector(from, from, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    return __builtin_convertvector(static_cast<I>(__builtin_bit_cast(I, four) >> 24), V);
  }
#endif
  return __builtin_convertvector(__builtin_convertvector(bytes, I), V);
}

}  // namespace detail

// Load and load_first from 8-bit elements. V: of float.
template <class V, class W>
  requires from_int8<V, W>
UMBEL_INLINE constexpr V load(const W* from) noexcept {
  if constexpr (lanes_of<V> == 1) {
    return static_cast<V>(*from);
  } else {
#if UMBEL_MVE_ASSEMBLY
    if constexpr (detail::by_mve<V>) return mve::load_int8<V>(from);
#endif
    typedef typename pack_traits<std::int8_t, lanes_of<V>>::unaligned unaligned;
    return detail::widen_int8<V>(*reinterpret_cast<const unaligned*>(from));
  }
}

template <class V, class W>
  requires from_int8<V, W>
UMBEL_INLINE constexpr V load_first(const W* from, std::size_t count) noexcept {
  if constexpr (lanes_of<V> == 1) {
    return count != 0 ? static_cast<V>(*from) : V{};
  } else {
#if UMBEL_MVE_ASSEMBLY
    if constexpr (detail::by_mve<V>) return mve::load_first_int8<V>(from, count);
#endif
    detail::bytes_of<V> bytes{};
    for (std::size_t i = 0; i < lanes_of<V>; ++i) {
      if (i < count) bytes[i] = from[i];
    }
    return detail::widen_int8<V>(bytes);
  }
}

template <class V, class W>
  requires from_int8<V, W>
UMBEL_INLINE constexpr V broadcast(W value) noexcept {
  return broadcast<V>(static_cast<element_of<V>>(value));
}

template <class V, class W>
  requires from_int8<V, W>
UMBEL_INLINE constexpr auto spread(W value) noexcept {
  return spread<V>(static_cast<element_of<V>>(value));
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
