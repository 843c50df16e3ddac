// SPDX-License-Identifier: BSL-1.0
// Sums of products of 8-bit integers, four at a time: dot(sum, a, b) adds to each 32-bit lane the
// four products of its bytes in a and b. Exact on every target.
//
// Operand `a` is moved: if the instruction reads it unsigned (VNNI), its bytes have 128 added, and
// the caller corrects the sum. It is prepared in memory word by word and spread over the lanes, or
// moved in the lanes. weigh() is for bytes of 0 to 127, which need no move.
//
//   VNNI                    unsigned by signed bytes, four products in one instruction
//   other x86, wasm         the even and the odd bytes as 16 bits each, pairs of products
//   aarch64                 four products in one instruction, or 8 of 16 bits, added up by pairs
//   RISC-V                  the bytes as 32 bits each, a product and a sum in one instruction
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/utility.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

// 32-bit lanes of products; 1: one product after another.
inline constexpr std::size_t dot_lanes = UMBEL_AVX512_16_BIT      ? 16
                                         : UMBEL_AVX2             ? 8
                                         : UMBEL_SVE || UMBEL_RVV ? UMBEL_VECTOR_BYTES / 4
                                         : UMBEL_DOT_VECTORS      ? 4
                                                                  : 1;
// The alignment of weights in bytes.
inline constexpr std::size_t dot_alignment = dot_lanes == 1 ? 4 : dot_lanes * 4;
// The number added to the first operand if the instruction reads it unsigned.
inline constexpr std::int32_t dot_moved = UMBEL_AVX512_VNNI || UMBEL_AVX_VNNI ? 128 : 0;
// Are the operands pairs of 16 bits?
inline constexpr bool dot_by_pairs =
    dot_moved == 0 && (UMBEL_AVX2 || UMBEL_SSE2 || UMBEL_WASM_SIMD);
// Are the bytes of an operand in registers apart, one in each 32-bit lane?
inline constexpr bool dot_apart = UMBEL_RVV;
// Has weigh() a byte instruction?
inline constexpr bool weigh_by_bytes = !dot_by_pairs || UMBEL_SSSE3;

#if UMBEL_DOT_VECTORS

// Four bytes in each lane.
using dot_words = pack<std::int32_t, dot_lanes>;

UMBEL_INLINE dot_words load_words(const void* from) noexcept {
  dot_words v;
  __builtin_memcpy(&v, from, sizeof(v));
  return v;
}
UMBEL_INLINE void store_words(void* to, dot_words v) noexcept {
  __builtin_memcpy(to, &v, sizeof(v));
}
UMBEL_INLINE std::int32_t word_at(const void* from) noexcept {
  std::int32_t word;
  __builtin_memcpy(&word, from, 4);
  return word;
}

namespace detail {
// Bytes 0 and 2 of each word, and bytes 1 and 3.
template <class Word>
struct dot_pairs {
  Word even, odd;
};
template <class Word>
UMBEL_INLINE dot_pairs<Word> in_pairs(Word v) noexcept {
  if constexpr (lanes_of<Word> == 1) {
    const auto u = static_cast<std::uint32_t>(v);
    const auto two = [](std::uint32_t low, std::uint32_t high) {
      return static_cast<std::int32_t>(
          static_cast<std::uint16_t>(static_cast<std::int8_t>(low)) |
          static_cast<std::uint32_t>(static_cast<std::uint16_t>(static_cast<std::int8_t>(high)))
              << 16);
    };
    return {two(u & 255, u >> 16 & 255), two(u >> 8 & 255, u >> 24)};
  } else {
    using halves = pack<std::int16_t, 2 * lanes_of<Word>>;
    const auto both = reinterpret_cast<halves>(v);
    const auto left = reinterpret_cast<pack<std::uint16_t, 2 * lanes_of<Word>>>(v) << 8;
    return {reinterpret_cast<Word>(reinterpret_cast<halves>(left) >> 8),
            reinterpret_cast<Word>(both >> 8)};
  }
}

// The four bytes of each lane.
struct dot_bytes_apart {
  dot_words byte[4];
};
UMBEL_INLINE dot_bytes_apart bytes_apart(dot_words v) noexcept {
  return {{(v << 24) >> 24, (v << 16) >> 24, (v << 8) >> 24, v >> 24}};
}

// Lanes of a and b in turn, from lane First on.
template <std::size_t First, class V, std::size_t... I>
UMBEL_INLINE V in_turn(V a, V b, std::index_sequence<I...>) noexcept {
  return __builtin_shufflevector(a, b, (First + I / 2 + I % 2 * sizeof...(I))...);
}

#if UMBEL_SSE2 || UMBEL_WASM_SIMD
// The 16-bit products, added in pairs.
UMBEL_INLINE dot_words pairs_of_products(dot_words a, dot_words b) noexcept {
  using halves = pack<std::int16_t, 2 * dot_lanes>;
  const auto x = reinterpret_cast<halves>(a), y = reinterpret_cast<halves>(b);
#if UMBEL_AVX512_16_BIT
#if UMBEL_CLANG
  return __builtin_ia32_pmaddwd512(x, y);
#else
  return __builtin_ia32_pmaddwd512_mask(x, y, dot_words{}, std::uint16_t{0xffff});
#endif
#elif UMBEL_AVX2
  return __builtin_ia32_pmaddwd256(x, y);
#elif UMBEL_SSE2
  return __builtin_ia32_pmaddwd128(x, y);
#else
  return __builtin_wasm_dot_s_i32x4_i16x8(x, y);
#endif
}
#endif
}  // namespace detail

// An operand in registers; a word of one, or of weigh()'s, in memory.
using dot_vector =
    std::conditional_t<dot_apart, detail::dot_bytes_apart,
                       std::conditional_t<dot_by_pairs, detail::dot_pairs<dot_words>, dot_words>>;
using dot_word = std::conditional_t<dot_by_pairs, detail::dot_pairs<std::int32_t>, std::int32_t>;
using weigh_vector = std::conditional_t<weigh_by_bytes && !dot_apart, dot_words, dot_vector>;
using weigh_word = std::conditional_t<weigh_by_bytes, std::int32_t, dot_word>;

namespace detail {
template <bool ByPairs, class Word>
UMBEL_INLINE auto operand(Word v) noexcept {
  if constexpr (dot_apart && lanes_of<Word> != 1)
    return bytes_apart(v);
  else if constexpr (ByPairs)
    return in_pairs(v);
  else
    return v;
}
template <class Word>
UMBEL_INLINE Word moved(Word v) noexcept {
  return dot_moved == 0 ? v : v ^ static_cast<std::int32_t>(0x80808080);
}
}  // namespace detail

UMBEL_INLINE dot_vector dot_operand(dot_words v) noexcept {
  return detail::operand<dot_by_pairs>(v);
}
UMBEL_INLINE dot_vector dot_moved_operand(dot_words v) noexcept {
  return detail::operand<dot_by_pairs>(detail::moved(v));
}
UMBEL_INLINE dot_word dot_moved_word(std::int32_t bytes) noexcept {
  return detail::operand<dot_by_pairs>(detail::moved(bytes));
}
UMBEL_INLINE weigh_vector weigh_operand(dot_words v) noexcept {
  return detail::operand<!weigh_by_bytes>(v);
}
namespace detail {
template <class Word, class V>
UMBEL_INLINE void store_operand(Word* to, V v) noexcept {
  if constexpr (sizeof(Word) == 4) {
    __builtin_memcpy(to, &v, sizeof(v));
  } else {
    constexpr std::size_t lanes = lanes_of<V>;
    constexpr auto all = std::make_index_sequence<lanes>{};
    const dot_pairs<V> pairs = in_pairs(v);
    const V low = in_turn<0>(pairs.even, pairs.odd, all);
    const V high = in_turn<lanes / 2>(pairs.even, pairs.odd, all);
    __builtin_memcpy(to, &low, sizeof(v));
    __builtin_memcpy(to + lanes / 2, &high, sizeof(v));
  }
}
// Prepares the whole packs of V in `count` bytes from byte i on; returns where the rest starts.
template <class V>
UMBEL_INLINE std::size_t prepare_packs(const std::int8_t* x, std::size_t i, std::size_t count,
                                       dot_word* to) noexcept {
  for (; i + sizeof(V) <= count; i += sizeof(V)) {
    V v;
    __builtin_memcpy(&v, x + i, sizeof(v));
    store_operand(to + i / 4, moved(v));
  }
  return i;
}
template <class Vector, class Word>
UMBEL_INLINE Vector spread_operand(const Word* at) noexcept {
  if constexpr (dot_apart) {
    std::int8_t bytes[4];
    __builtin_memcpy(bytes, at, 4);
    const auto all = [&](int i) UMBEL_LAMBDA_INLINE {
      return broadcast<dot_words>(std::int32_t{bytes[i]});
    };
    return {{all(0), all(1), all(2), all(3)}};
  } else if constexpr (sizeof(Word) == 4)
    return broadcast<dot_words>(*at);
  else
    return {broadcast<dot_words>(at->even), broadcast<dot_words>(at->odd)};
}
}  // namespace detail

// Operands of weigh() in memory: 4 * lanes bytes.
UMBEL_INLINE void weigh_store(weigh_word* to, dot_words v) noexcept {
  detail::store_operand(to, v);
}
// Operands of dot(), moved: `count` bytes become whole words, zero-padded.
UMBEL_INLINE void dot_prepare(const std::int8_t* x, std::size_t count, dot_word* to) noexcept {
  std::size_t i = detail::prepare_packs<dot_words>(x, 0, count, to);
  if constexpr (dot_lanes > 8) i = detail::prepare_packs<pack<std::int32_t, 8>>(x, i, count, to);
  if constexpr (dot_lanes > 4) i = detail::prepare_packs<pack<std::int32_t, 4>>(x, i, count, to);
  if constexpr (dot_by_pairs) {
    for (; i + 8 <= count; i += 8) {  // two words
      pack<std::int8_t, 8> bytes;
      __builtin_memcpy(&bytes, x + i, 8);
      const auto wide = __builtin_convertvector(bytes, pack<std::int16_t, 8>);
      const auto pairs = __builtin_shufflevector(wide, wide, 0, 2, 1, 3, 4, 6, 5, 7);
      __builtin_memcpy(to + i / 4, &pairs, 16);
    }
  }
  for (; i + 4 <= count; i += 4) to[i / 4] = dot_moved_word(word_at(x + i));
  if (i < count) {
    std::int32_t last = 0;
    __builtin_memcpy(&last, x + i, count - i);
    to[i / 4] = dot_moved_word(last);
  }
}
UMBEL_INLINE dot_vector dot_spread(const dot_word* at) noexcept {
  return detail::spread_operand<dot_vector>(at);
}
UMBEL_INLINE weigh_vector weigh_spread(const weigh_word* at) noexcept {
  return detail::spread_operand<weigh_vector>(at);
}

#if UMBEL_AVX512_VNNI || UMBEL_AVX_VNNI
namespace detail {
// a: unsigned bytes, b: signed ones.
UMBEL_INLINE dot_words four_products(dot_words sum, dot_words a, dot_words b) noexcept {
#if UMBEL_AVX512_VNNI && UMBEL_CLANG
  return __builtin_ia32_vpdpbusd512(sum, a, b);
#elif UMBEL_AVX512_VNNI
  return __builtin_ia32_vpdpbusd_v16si(sum, a, b);
#elif UMBEL_CLANG
  return __builtin_ia32_vpdpbusd256(sum, a, b);
#else
  return __builtin_ia32_vpdpbusd_v8si(sum, a, b);
#endif
}
}  // namespace detail
UMBEL_INLINE dot_words dot(dot_words sum, dot_words moved, dot_words b) noexcept {
  return detail::four_products(sum, moved, b);
}
UMBEL_INLINE dot_words weigh(dot_words sum, dot_words weights, dot_words values) noexcept {
  return detail::four_products(sum, weights, values);
}
#elif UMBEL_SSE2 || UMBEL_WASM_SIMD
UMBEL_INLINE dot_words dot(dot_words sum, const dot_vector& a, const dot_vector& b) noexcept {
  return sum + detail::pairs_of_products(a.even, b.even) + detail::pairs_of_products(a.odd, b.odd);
}
#if UMBEL_SSSE3
// Two products of a weight (0 to 127) by a value (-127 to 127) fit 16 bits.
UMBEL_INLINE dot_words weigh(dot_words sum, dot_words weights, dot_words values) noexcept {
  using bytes = pack<char, 4 * dot_lanes>;
  using halves = pack<std::int16_t, 2 * dot_lanes>;
  const auto w = reinterpret_cast<bytes>(weights), v = reinterpret_cast<bytes>(values);
#if UMBEL_AVX512_16_BIT && UMBEL_CLANG
  const auto twos = __builtin_ia32_pmaddubsw512(w, v);
#elif UMBEL_AVX512_16_BIT
  const auto twos = __builtin_ia32_pmaddubsw512_mask(w, v, halves{}, ~0U);
#elif UMBEL_AVX2
  const auto twos = __builtin_ia32_pmaddubsw256(w, v);
#else
  const auto twos = __builtin_ia32_pmaddubsw128(w, v);
#endif
  return sum + detail::pairs_of_products(reinterpret_cast<dot_words>(twos),
                                         reinterpret_cast<dot_words>(halves{} + std::int16_t{1}));
}
#else
UMBEL_INLINE dot_words weigh(dot_words sum, const dot_vector& a, const dot_vector& b) noexcept {
  return dot(sum, a, b);
}
#endif
#elif UMBEL_RVV
UMBEL_INLINE dot_words dot(dot_words sum, const dot_vector& a, const dot_vector& b) noexcept {
  UMBEL_UNROLL(4)
  for (int i = 0; i < 4; ++i) sum += a.byte[i] * b.byte[i];
  return sum;
}
UMBEL_INLINE dot_words weigh(dot_words sum, const dot_vector& weights,
                             const dot_vector& values) noexcept {
  return dot(sum, weights, values);
}
#elif UMBEL_AARCH64
UMBEL_INLINE dot_words dot(dot_words sum, dot_words a, dot_words b) noexcept {
#if UMBEL_SVE
  using bytes = pack<signed char, 4 * dot_lanes>;
  sum = __builtin_sve_svdot_s32(sum, reinterpret_cast<bytes>(a), reinterpret_cast<bytes>(b));
#elif UMBEL_SDOT
  __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(a), "w"(b));
#else
  // Two products of -128 to 127 by -127 to 127 fit 16 bits.
  dot_words low, high;
  __asm__("smull %0.8h, %1.8b, %2.8b" : "=w"(low) : "w"(a), "w"(b));
  __asm__("smull2 %0.8h, %1.16b, %2.16b" : "=w"(high) : "w"(a), "w"(b));
  __asm__("addp %0.8h, %0.8h, %1.8h" : "+w"(low) : "w"(high));
  __asm__("sadalp %0.4s, %1.8h" : "+w"(sum) : "w"(low));
#endif
  return sum;
}
UMBEL_INLINE dot_words weigh(dot_words sum, dot_words weights, dot_words values) noexcept {
  return dot(sum, weights, values);
}
#endif

#endif

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
