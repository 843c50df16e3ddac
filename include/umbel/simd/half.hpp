// SPDX-License-Identifier: BSL-1.0
// bfloat16 and float16 (IEEE 754 binary16) store float in 16 bits. No arithmetic: conversion from
// float rounds once to nearest, ties to even; conversion to float is exact. Also widening loads.
// The same bits by an instruction and by integers, which constant expressions use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
namespace simd::detail {

constexpr std::uint16_t bfloat16_bits(float value) noexcept {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  // A NaN stays one, and becomes quiet: not rounded, without a branch.
  const std::uint32_t is_nan = (bits & 0x7fffffff) > 0x7f800000;
  const std::uint32_t to_nearest = (0x7fff + (bits >> 16 & 1)) & (is_nan - 1);
  return static_cast<std::uint16_t>((bits + to_nearest) >> 16 | is_nan << 6);
}

// value / 2^bits, rounded to nearest, ties to even.
constexpr std::uint32_t shift_to_nearest(std::uint32_t value, std::uint32_t bits) noexcept {
  return (value + (1u << (bits - 1)) - 1 + (value >> bits & 1)) >> bits;
}

constexpr std::uint16_t float16_bits(float value) noexcept {
#if UMBEL_F16C
  if (!__builtin_is_constant_evaluated()) {
    typedef float in __attribute__((vector_size(16)));
    constexpr int nearest_even = 0;
    return static_cast<std::uint16_t>(__builtin_ia32_vcvtps2ph(in{value}, nearest_even)[0]);
  }
#endif
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
  const std::uint32_t exponent = size >> 23;
  const bool is_normal = exponent > 112;
  // Subnormals in units of 2^-24: half a unit is the largest that rounds to 0.
  const std::uint32_t below = select(exponent < 101, std::uint32_t{25}, 126 - exponent);
  const std::uint32_t number = select(is_normal, size - (112u << 23), (size & 0x7fffff) | 0x800000);
  // It may carry into the exponent. From 65520 on, half way past the largest, it is infinite; a NaN
  // stays one, and becomes quiet.
  const std::uint32_t finite =
      shift_to_nearest(number, select(is_normal, std::uint32_t{13}, below));
  const std::uint32_t not_nan = select(size >= 0x477ff000, std::uint32_t{0x7c00}, finite);
  const std::uint32_t half = select(size > 0x7f800000, 0x7e00 | (size >> 13 & 0x3ff), not_nan);
  return static_cast<std::uint16_t>(sign | half);
}

// The bits of float16 are in the low halves of integers as wide as float; V: float or a pack of it.
template <class V>
UMBEL_INLINE constexpr V widen_float16(unsigned_of<V> half) noexcept {
#if UMBEL_VCVTB
  if constexpr (lanes_of<V> == 1) {
    if (!__builtin_is_constant_evaluated()) {
      V value = __builtin_bit_cast(V, half);
      __asm__("vcvtb.f32.f16 %0, %0" : "+t"(value));
      return value;
    }
  }
#endif
  using U = unsigned_of<V>;
  const U sign = (half & 0x8000u) << 16, rest = (half & 0x7fffu) << 13;
  const U normal = rest + (112u << 23);
  // A NaN stays one, and becomes quiet, as with the instruction.
  const U special = rest + (224u << 23);
  const U quiet = select(less(broadcast<U>(0x7c00u << 13), rest), special | 0x400000u, special);
  // (1 + m / 1024) 2^-14 - 2^-14 for a subnormal's m: exact, without subnormal arithmetic.
  const V least = broadcast<V>(6.103515625e-05f);
  const U subnormal =
      __builtin_bit_cast(U, __builtin_bit_cast(V, static_cast<U>(rest + (113u << 23))) - least);
  const U finite = select(less(rest, broadcast<U>(0x400u << 13)), subnormal, normal);
  return __builtin_bit_cast(
      V,
      static_cast<U>(select(less_equal(broadcast<U>(0x7c00u << 13), rest), quiet, finite) | sign));
}

}  // namespace simd::detail
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET

namespace umbel {

// A float in 16 bits, with float's 8 bits of exponent and 7 of mantissa: relative error at most
// 2^-9.
struct bfloat16 {
  std::uint16_t bits;

  bfloat16() = default;
  UMBEL_SHARED constexpr explicit bfloat16(float value) noexcept
      : bits(detail::simd::detail::bfloat16_bits(value)) {}
  UMBEL_SHARED constexpr explicit operator float() const noexcept {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16);
  }
};

// A float in 16 bits, 5 of exponent and 10 of mantissa: relative error at most 2^-12 between 2^-14
// and 65504, absolute 2^-25 below; infinite from 65520 on.
struct float16 {
  std::uint16_t bits;

  float16() = default;
  UMBEL_SHARED constexpr explicit float16(float value) noexcept
      : bits(detail::simd::detail::float16_bits(value)) {}
  // A template, so that it is compiled only if used.
  template <class T>
    requires(std::is_same_v<T, float>)
  UMBEL_SHARED constexpr explicit operator T() const noexcept {
    return detail::simd::detail::widen_float16<T>(bits);
  }
};

}  // namespace umbel

namespace umbel::inline UMBEL_TARGET {

namespace detail {
template <class W>
concept half = std::is_same_v<W, bfloat16> || std::is_same_v<W, float16>;

// Exact. (Integers: at most 32 bits.)
template <class T>
constexpr double to_double(T value) {
  if constexpr (half<T>)
    return static_cast<double>(static_cast<float>(value));
  else
    return static_cast<double>(value);
}

namespace simd {

namespace detail {

template <class V>
using halves_of = pack<std::uint16_t, lanes_of<V>>;

template <class V>
UMBEL_INLINE unsigned_of<V> widen_bits(halves_of<V> bits) noexcept {
  // g++ would widen two halves and join them.
#if UMBEL_GCC && defined(__AVX2__)
  if constexpr (sizeof(V) == 32) {
    typedef short in __attribute__((vector_size(16)));
    return __builtin_bit_cast(unsigned_of<V>,
                              __builtin_ia32_pmovzxwd256(__builtin_bit_cast(in, bits)));
  }
#endif
#if UMBEL_GCC && UMBEL_AVX512
  if constexpr (sizeof(V) == 64) {
    typedef short in __attribute__((vector_size(32)));
    typedef int out __attribute__((vector_size(64)));
    return __builtin_bit_cast(unsigned_of<V>,
                              __builtin_ia32_pmovzxwd512_mask(__builtin_bit_cast(in, bits), out{},
                                                              static_cast<std::uint16_t>(-1)));
  }
#endif
  return __builtin_convertvector(bits, unsigned_of<V>);
}

template <class V>
UMBEL_INLINE V widen(halves_of<V> bits, bfloat16) noexcept {
  return __builtin_bit_cast(V, static_cast<unsigned_of<V>>(widen_bits<V>(bits) << 16));
}

template <class V>
UMBEL_INLINE V widen(halves_of<V> bits, float16) noexcept {
#if UMBEL_AVX512
  if constexpr (sizeof(V) == 64) {
    typedef short in __attribute__((vector_size(32)));
    constexpr int current_rounding = 4;
    return __builtin_ia32_vcvtph2ps512_mask(__builtin_bit_cast(in, bits), V{},
                                            static_cast<detail::mask_16>(-1), current_rounding);
  }
#endif
#if UMBEL_F16C
  if constexpr (sizeof(V) == 32) {
    typedef short in __attribute__((vector_size(16)));
    return __builtin_ia32_vcvtph2ps256(__builtin_bit_cast(in, bits));
  }
#endif
  return widen_float16<V>(widen_bits<V>(bits));
}

// Loads the bits of W for a V, from any address.
template <class V>
UMBEL_INLINE halves_of<V> load_bits(const std::uint16_t* from) noexcept {
  typedef typename pack_traits<std::uint16_t, lanes_of<V>>::unaligned unaligned;
  return *reinterpret_cast<const unaligned*>(from);
}

template <class V>
UMBEL_INLINE halves_of<V> load_first_bits(const std::uint16_t* from, std::size_t count) noexcept {
#if UMBEL_AVX512_16_BIT
  if constexpr (sizeof(V) == 64) {
    typedef short in __attribute__((vector_size(32)));
#if UMBEL_CLANG
    const auto* const at = reinterpret_cast<const in*>(from);
#else
    const auto* const at = reinterpret_cast<const short*>(from);
#endif
    return __builtin_bit_cast(
        halves_of<V>,
        __builtin_ia32_loaddquhi256_mask(at, in{}, static_cast<std::uint16_t>((1u << count) - 1u)));
  }
#endif
  halves_of<V> bits{};
  for (std::size_t i = 0; i < lanes_of<V>; ++i) {
    if (i < count) bits[i] = from[i];
  }
  return bits;
}

}  // namespace detail

// Load and load_first from narrower elements. V: of float.
template <class V, half W>
UMBEL_INLINE constexpr V load(const W* from) noexcept {
  if constexpr (lanes_of<V> == 1) {
    return static_cast<V>(*from);
  } else {
    return detail::widen<V>(detail::load_bits<V>(&from->bits), W{});
  }
}

template <class V, half W>
UMBEL_INLINE constexpr V load_first(const W* from, std::size_t count) noexcept {
  if constexpr (lanes_of<V> == 1) {
    return count != 0 ? static_cast<V>(*from) : V{};
  } else {
    return detail::widen<V>(detail::load_first_bits<V>(&from->bits, count), W{});
  }
}

template <class V, half W>
UMBEL_INLINE V broadcast(W value) noexcept {
  if constexpr (std::is_same_v<W, float16> && lanes_of<V> != 1) {
    return detail::widen<V>(value.bits - detail::halves_of<V>{},
                            W{});  // spread first: one step less
  } else {
    return broadcast<V>(static_cast<element_of<V>>(value));
  }
}

template <class V, half W>
UMBEL_INLINE auto spread(W value) noexcept {
  if constexpr (detail::by_mve<V>)
    return spread<V>(static_cast<element_of<V>>(value));
  else
    return broadcast<V>(value);
}

// Elements 0, 2, 4 ... (Odd: 1, 3, 5 ...) of twice V's lanes: one instruction each, not two.
template <class V, bool Odd>
UMBEL_INLINE V load_alternate(const bfloat16* from) noexcept {
  static_assert(UMBEL_LITTLE_ENDIAN || sizeof(V) == 0,
                "kernel/float/panel.hpp lays pairs there alone");
  typedef std::uint32_t unaligned
      __attribute__((vector_size(sizeof(V)), aligned(alignof(bfloat16)), may_alias));
  const unsigned_of<V> pairs = *reinterpret_cast<const unaligned*>(from);
  return __builtin_bit_cast(V,
                            static_cast<unsigned_of<V>>(Odd ? pairs & 0xffff0000u : pairs << 16));
}

}  // namespace simd
}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
