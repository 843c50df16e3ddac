// SPDX-License-Identifier: BSL-1.0
// 32-bit lanes to 16 and 8 bits: packing, 16-bit arithmetic, byte tables. Packing goes by 128-bit
// quarters, as on x86: a quarter's lanes of a, then its lanes of b. Only on targets whose products
// have vectors (dot.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/simd/dot.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/sve.hpp>
#include <umbel/utility.hpp>

#if UMBEL_DOT_VECTORS
UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

using dot_halves = pack<std::int16_t, 2 * dot_lanes>;
using dot_unsigned_halves = pack<std::uint16_t, 2 * dot_lanes>;
using dot_bytes = pack<std::int8_t, 4 * dot_lanes>;

namespace detail {
// For 128 bits of elements: the even ones (low halves of lanes) of a, then of b.
template <class V, std::size_t... I>
UMBEL_INLINE V low_halves(V a, V b, std::index_sequence<I...>) noexcept {
  constexpr std::size_t n = 16 / sizeof(element_of<V>);
  return UMBEL_SHUFFLED(a, b,
                        (I / n * n + I % n % (n / 2) * 2 + (I % n < n / 2 ? 0 : sizeof...(I)))...);
}
// The words i * quarters + q of the result are word i of quarter q.
template <class V, std::size_t... I>
UMBEL_INLINE V by_words(V v, std::index_sequence<I...>) noexcept {
  constexpr std::size_t quarters = sizeof...(I) / 4;
  return UMBEL_SHUFFLED(v, v, (I % quarters * 4 + I / quarters)...);
}
// A square of 4 x 4 bytes in each quarter, transposed.
template <class V, std::size_t... I>
UMBEL_INLINE V transposed_bytes(V v, std::index_sequence<I...>) noexcept {
  return UMBEL_SHUFFLED(v, v, (I / 16 * 16 + I % 4 * 4 + I % 16 / 4)...);
}
}  // namespace detail

// The larger of two lanes, in one instruction if possible: g++ 12 uses two for select().
UMBEL_INLINE dot_words larger_words(dot_words a, dot_words b) noexcept {
#if UMBEL_AVX512_16_BIT && UMBEL_GCC
  return __builtin_ia32_pmaxsd512_mask(a, b, dot_words{}, std::uint16_t{0xffff});
#elif UMBEL_AVX2 && UMBEL_GCC
  return __builtin_ia32_pmaxsd256(a, b);
#else
  return larger(a, b);
#endif
}

UMBEL_INLINE dot_words smaller_words(dot_words a, dot_words b) noexcept {
#if UMBEL_AVX512_16_BIT && UMBEL_GCC
  return __builtin_ia32_pminsd512_mask(a, b, dot_words{}, std::uint16_t{0xffff});
#elif UMBEL_AVX2 && UMBEL_GCC
  return __builtin_ia32_pminsd256(a, b);
#else
  return smaller(a, b);
#endif
}
// One element per lane, widened. g++ 12 would widen them in halves.
template <class T>
UMBEL_INLINE dot_words widened(const T* from) noexcept {
  pack<T, dot_lanes> narrow;
  __builtin_memcpy(&narrow, from, sizeof(narrow));
#if UMBEL_AVX512_16_BIT && UMBEL_GCC
  if constexpr (sizeof(T) == 2)
    return __builtin_ia32_pmovsxwd512_mask(narrow, dot_words{}, std::uint16_t{0xffff});
  else
    return __builtin_ia32_pmovsxbd512_mask(reinterpret_cast<pack<char, dot_lanes>>(narrow),
                                           dot_words{}, std::uint16_t{0xffff});
#elif UMBEL_AVX2 && UMBEL_GCC
  if constexpr (sizeof(T) == 2) {
    return __builtin_ia32_pmovsxwd256(narrow);
  } else {
    pack<std::int64_t, 2> all{};
    __builtin_memcpy(&all, &narrow, sizeof(narrow));
    return __builtin_ia32_pmovsxbd256(reinterpret_cast<pack<char, 16>>(all));
  }
#else
  return __builtin_convertvector(narrow, dot_words);
#endif
}

// Lanes of a and b, all of which fit 16 bits.
UMBEL_INLINE dot_halves halves_of(dot_words a, dot_words b) noexcept {
#if UMBEL_AVX512_16_BIT && UMBEL_CLANG
  return __builtin_ia32_packssdw512(a, b);
#elif UMBEL_AVX512_16_BIT
  return __builtin_ia32_packssdw512_mask(a, b, dot_halves{}, ~0U);
#elif UMBEL_AVX2
  return __builtin_ia32_packssdw256(a, b);
#elif UMBEL_SSE2
  return __builtin_ia32_packssdw128(a, b);
#else
  return detail::low_halves(reinterpret_cast<dot_halves>(a), reinterpret_cast<dot_halves>(b),
                            std::make_index_sequence<2 * dot_lanes>{});
#endif
}
// Halves that fit 8 bits.
UMBEL_INLINE dot_bytes bytes_of(dot_halves a, dot_halves b) noexcept {
#if UMBEL_AVX512_16_BIT && UMBEL_CLANG
  return reinterpret_cast<dot_bytes>(__builtin_ia32_packsswb512(a, b));
#elif UMBEL_AVX512_16_BIT
  return reinterpret_cast<dot_bytes>(
      __builtin_ia32_packsswb512_mask(a, b, pack<char, 4 * dot_lanes>{}, ~0ULL));
#elif UMBEL_AVX2
  return reinterpret_cast<dot_bytes>(__builtin_ia32_packsswb256(a, b));
#elif UMBEL_SSE2
  return reinterpret_cast<dot_bytes>(__builtin_ia32_packsswb128(a, b));
#else
  return detail::low_halves(reinterpret_cast<dot_bytes>(a), reinterpret_cast<dot_bytes>(b),
                            std::make_index_sequence<4 * dot_lanes>{});
#endif
}

// a b / 2^16, rounded down.
UMBEL_INLINE dot_unsigned_halves high_product(dot_unsigned_halves a,
                                              dot_unsigned_halves b) noexcept {
  [[maybe_unused]] const auto x = reinterpret_cast<dot_halves>(a);
  [[maybe_unused]] const auto y = reinterpret_cast<dot_halves>(b);
#if UMBEL_AVX512_16_BIT && UMBEL_CLANG
  return reinterpret_cast<dot_unsigned_halves>(__builtin_ia32_pmulhuw512(x, y));
#elif UMBEL_AVX512_16_BIT
  return reinterpret_cast<dot_unsigned_halves>(
      __builtin_ia32_pmulhuw512_mask(x, y, dot_halves{}, ~0U));
#elif UMBEL_AVX2
  return reinterpret_cast<dot_unsigned_halves>(__builtin_ia32_pmulhuw256(x, y));
#elif UMBEL_SSE2
  return reinterpret_cast<dot_unsigned_halves>(__builtin_ia32_pmulhuw128(x, y));
#else
  using wide = pack<std::uint32_t, 2 * dot_lanes>;
  return __builtin_convertvector(
      (__builtin_convertvector(a, wide) * __builtin_convertvector(b, wide)) >> 16,
      dot_unsigned_halves);
#endif
}
// power / 2^whole, rounded down, for power < 2^15; results below 2^7 may become 0. whole: the high
// byte of each half of t; 30 at most.
UMBEL_INLINE dot_unsigned_halves lowered(dot_unsigned_halves power,
                                         dot_unsigned_halves t) noexcept {
#if UMBEL_AVX512_16_BIT
  const auto p = reinterpret_cast<dot_halves>(power);
  const auto whole = reinterpret_cast<dot_halves>(t >> 8);
#if UMBEL_CLANG
  return reinterpret_cast<dot_unsigned_halves>(__builtin_ia32_psrlv32hi(p, whole));
#else
  return reinterpret_cast<dot_unsigned_halves>(
      __builtin_ia32_psrlv32hi_mask(p, whole, dot_halves{}, ~0U));
#endif
#elif UMBEL_X86
  // 2 power times 2^(15 - whole); only powers of 2^8 and more count.
  const dot_unsigned_halves most = dot_unsigned_halves{} + std::uint16_t{0xfff};
  const dot_unsigned_halves at = t < most ? t : most;
#if UMBEL_SSSE3
  constexpr pack<char, 16> high = {-128, 64, 32, 16, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0};
  using bytes = pack<char, 4 * dot_lanes>;
  const auto index = reinterpret_cast<bytes>(at | std::uint16_t{0x80});
#if UMBEL_AVX2
  const auto scale = __builtin_ia32_pshufb256(
      __builtin_shufflevector(high, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0,
                              1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
      index);
#else
  const auto scale = __builtin_ia32_pshufb128(high, index);
#endif
  return high_product(power + power, reinterpret_cast<dot_unsigned_halves>(scale));
#else
  dot_unsigned_halves left = power;
  const auto step = [&](int bit) UMBEL_LAMBDA_INLINE {
    const auto by = static_cast<std::uint16_t>(1u << (8 + bit));
    const auto shift = static_cast<std::uint16_t>(1u << bit);
    left = (at & by) != 0 ? left >> shift : left;
  };
  step(0), step(1), step(2), step(3);
  return left;
#endif
#else
  const dot_unsigned_halves most = dot_unsigned_halves{} + std::uint16_t{0xfff};
  return power >> ((t < most ? t : most) >> 8);
#endif
}

// Words of four bytes: bytes i are the lanes of v[i], which fit 7 bits.
UMBEL_INLINE dot_words words_of(dot_halves of_0_1, dot_halves of_2_3) noexcept {
  const dot_bytes all = bytes_of(of_0_1, of_2_3);
#if UMBEL_SSE2 && !UMBEL_SSSE3
  // Interleaves its halves, twice: g++ shuffles arbitrary bytes one by one.
  const auto in_turn = [](dot_bytes v) UMBEL_LAMBDA_INLINE {
    using wide = pack<std::int64_t, 2>;
    const auto high =
        __builtin_shufflevector(reinterpret_cast<wide>(v), reinterpret_cast<wide>(v), 1, 1);
    return __builtin_shufflevector(v, reinterpret_cast<dot_bytes>(high), 0, 16, 1, 17, 2, 18, 3, 19,
                                   4, 20, 5, 21, 6, 22, 7, 23);
  };
  return reinterpret_cast<dot_words>(in_turn(in_turn(all)));
#else
  return reinterpret_cast<dot_words>(
      detail::transposed_bytes(all, std::make_index_sequence<4 * dot_lanes>{}));
#endif
}

// Stores Vectors packs, one after another, saturated to -127 to 127.
template <std::size_t Vectors>
UMBEL_INLINE void store_int8(std::int8_t* to, const dot_words (&v)[Vectors]) noexcept {
  static_assert(Vectors >= 1 && Vectors <= 4);
#if UMBEL_X86
  const auto clamped = [](dot_words w) UMBEL_LAMBDA_INLINE { return w; };  // by packing
#else
  const auto clamped = [](dot_words w) UMBEL_LAMBDA_INLINE {
    return smaller(larger(w, broadcast<dot_words>(-127)), broadcast<dot_words>(127));
  };
#endif
  const dot_words last = clamped(v[Vectors - 1]);
  // The first pack instead of absent ones: clang warns of an index past the end, used or not.
  constexpr std::size_t second = Vectors > 1 ? 1 : 0, third = Vectors > 2 ? 2 : 0;
  const dot_halves low =
      halves_of(Vectors == 1 ? last : clamped(v[0]), Vectors <= 2 ? last : clamped(v[second]));
  const dot_halves high =
      Vectors <= 2 ? low : halves_of(Vectors == 3 ? last : clamped(v[third]), last);
  dot_bytes bytes = bytes_of(low, high);
#if UMBEL_X86
  const dot_bytes least = dot_bytes{} + std::int8_t{-127};
  bytes = bytes > least ? bytes : least;
#endif
  const dot_words all =
      detail::by_words(reinterpret_cast<dot_words>(bytes), std::make_index_sequence<dot_lanes>{});
  __builtin_memcpy(to, &all, Vectors * dot_lanes);
}

// Stores Vectors packs, one after another, saturated to -32767 to 32767.
template <std::size_t Vectors>
UMBEL_INLINE void store_int16(std::int16_t* to, const dot_words (&v)[Vectors]) noexcept {
  const dot_words limit = dot_words{} + 32767;
  std::size_t i = 0;
#if UMBEL_AVX2 && !UMBEL_AVX512_16_BIT
  UMBEL_UNROLL(2)
  for (; i + 2 <= Vectors; i += 2) {
    using wide = pack<std::int64_t, 4>;
    const auto both = reinterpret_cast<wide>(halves_of(v[i], v[i + 1]));
    const auto all = reinterpret_cast<dot_halves>(__builtin_shufflevector(both, both, 0, 2, 1, 3));
    const dot_halves least = dot_halves{} + std::int16_t{-32767};
    const dot_halves kept = all > least ? all : least;
    __builtin_memcpy(to + i * dot_lanes, &kept, sizeof(kept));
  }
#endif
  UMBEL_UNROLL(4)
  for (; i < Vectors; ++i) {
    const auto narrow = __builtin_convertvector(smaller_words(larger_words(v[i], -limit), limit),
                                                pack<std::int16_t, dot_lanes>);
    __builtin_memcpy(to + i * dot_lanes, &narrow, sizeof(narrow));
  }
}

#if UMBEL_AVX2
namespace detail {
// Elements of a table of 16 * Parts bytes: `low` is the place in a part, bit 7 of bits[i] its bit
// i.
template <std::size_t Parts>
UMBEL_INLINE pack<char, 32> in_table(const std::int8_t* table, pack<char, 32> low,
                                     const pack<char, 32> (&bits)[4]) noexcept {
  if constexpr (Parts == 1) {
    pack<char, 16> part;
    __builtin_memcpy(&part, table, 16);
    return __builtin_ia32_pshufb256(
        __builtin_shufflevector(part, part, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0,
                                1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
        low);
  } else {
    constexpr std::size_t bit = Parts == 16 ? 3 : Parts / 4;
    return __builtin_ia32_pblendvb256(in_table<Parts / 2>(table, low, bits),
                                      in_table<Parts / 2>(table + 8 * Parts, low, bits), bits[bit]);
  }
}
}  // namespace detail
#endif

// y[i] = table[at[i] + 128].
template <std::size_t Count>
UMBEL_INLINE void look_up(const std::int8_t* table, const std::int8_t* at,
                          std::int8_t* y) noexcept {
  std::size_t i = 0;
#if UMBEL_AVX512_VBMI && UMBEL_AVX512_16_BIT
  if constexpr (Count >= 64) {
    using bytes = pack<char, 64>;
    bytes t[4], v;
    __builtin_memcpy(t, table, 256);
    for (; i + 64 <= Count; i += 64) {
      __builtin_memcpy(&v, at + i, 64);
#if UMBEL_CLANG
      const bytes below = __builtin_ia32_vpermi2varqi512(t[0], v, t[1]);
      const bytes above = __builtin_ia32_vpermi2varqi512(t[2], v, t[3]);
#else
      const bytes below = __builtin_ia32_vpermt2varqi512_mask(v, t[0], t[1], -1);
      const bytes above = __builtin_ia32_vpermt2varqi512_mask(v, t[2], t[3], -1);
#endif
      // The lowest 7 bits choose; negative values use the first half, from 0 on.
      const bytes found = reinterpret_cast<pack<signed char, 64>>(v) < 0 ? below : above;
      __builtin_memcpy(y + i, &found, 64);
    }
  }
#elif UMBEL_AVX2
  for (; i + 32 <= Count; i += 32) {
    pack<char, 32> v;
    __builtin_memcpy(&v, at + i, 32);
    v ^= static_cast<char>(-128);
    using wide = pack<std::int16_t, 16>;
    const auto left = [&](int by) UMBEL_LAMBDA_INLINE {
      return reinterpret_cast<pack<char, 32>>(reinterpret_cast<wide>(v) << by);
    };
    const pack<char, 32> found =
        detail::in_table<16>(table, v & char{15}, {left(3), left(2), left(1), v});
    __builtin_memcpy(y + i, &found, 32);
  }
#endif
  for (; i < Count; ++i) y[i] = table[at[i] + 128];
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
#endif
