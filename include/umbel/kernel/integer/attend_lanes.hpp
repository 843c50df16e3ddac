// SPDX-License-Identifier: BSL-1.0
// Lane by lane parts of integer attention, with queries or keys in the lanes: weights of scores and
// averages by them, both defined by plain/integers.hpp; and rows of bytes to lanes of words and
// back. See attend_vectors.hpp and attend_few.hpp for the use of keys and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/integer_shapes.hpp>
#include <umbel/simd/dot.hpp>
#include <umbel/simd/narrow.hpp>
#include <umbel/simd/transpose.hpp>

#if UMBEL_DOT_VECTORS
UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

namespace integer_attention {

using words = simd::dot_words;
using unsigned_words = simd::unsigned_of<words>;
inline constexpr std::size_t lanes = simd::dot_lanes;

// Below any visible score, and as far above a hidden one as the largest distance.
inline constexpr std::int32_t no_score = -(1 << 30);
inline constexpr std::int32_t hidden_score = INT32_MIN;
// The longest query whose moved scores exceed no_score.
inline constexpr std::size_t longest_query = (1 << 30) / (255 * 128);

// The scores of four keys with queries in the lanes, or of four vectors of keys: their weights as
// the bytes of each lane. 16-bit power_of_half of plain/integers.hpp.
struct weights_of_scores {
  unsigned_words largest, multiplier;
  words least;
  int shift;

  UMBEL_INLINE weights_of_scores(words top, const integer_softmax& s) noexcept
      : multiplier(unsigned_words{} + s.multiplier), least(top - s.cut), shift(s.shift) {
    // (top - score) * multiplier + half; overflow wraps back.
    const std::uint32_t half = shift == 0 ? 0u : 1u << (shift - 1);
    largest = reinterpret_cast<unsigned_words>(top) * multiplier + half;
  }
  UMBEL_INLINE words scaled(words score) const noexcept {
    const words kept = simd::larger_words(score, least);
    return reinterpret_cast<words>(
        (largest - reinterpret_cast<unsigned_words>(kept) * multiplier) >> shift);
  }
  UMBEL_INLINE static simd::dot_halves power(simd::dot_halves t) noexcept {
    using halves = simd::dot_unsigned_halves;
    const auto splat = [](unsigned v)
                           UMBEL_LAMBDA_INLINE { return halves{} + static_cast<std::uint16_t>(v); };
    const auto u = reinterpret_cast<halves>(t);
    const halves fraction = u << 8;
    const halves slope = splat(21835) - simd::high_product(fraction, splat(5579));
    const halves one = splat(32512) - simd::high_product(fraction, slope);
    return reinterpret_cast<simd::dot_halves>((simd::lowered(one, u) + std::uint16_t{128}) >> 8);
  }
  UMBEL_INLINE words operator()(words a, words b, words c, words d) const noexcept {
    return simd::words_of(power(simd::halves_of(scaled(a), scaled(b))),
                          power(simd::halves_of(scaled(c), scaled(d))));
  }
};

// 255 << 8 i if score i belongs to a visible key.
UMBEL_INLINE words seen_bytes(words a, words b, words c, words d) noexcept {
  const auto seen = [](words s, unsigned byte) UMBEL_LAMBDA_INLINE {
    return reinterpret_cast<words>(s != hidden_score) & static_cast<std::int32_t>(byte);
  };
  return seen(a, 0xffu) | seen(b, 0xff00u) | seen(c, 0xff0000u) | seen(d, 0xff000000u);
}

// plain::average_over in each lane. Most: the number of keys.
struct averages {
  words inverse, drop;
};
template <std::size_t Most>
UMBEL_INLINE averages averages_over(words sum) noexcept {
  words drop{};
  UMBEL_UNROLL(8)
  for (int digits = 14; digits < 21; ++digits)
    if (std::size_t{127} * Most >= (std::size_t{1} << digits))
      drop -= reinterpret_cast<words>(sum >= (std::int32_t{1} << digits));
  // 2^(24 + drop) / sum; the float result is off by at most one.
  const auto dividend = reinterpret_cast<unsigned_words>(words{} + (1 << 24))
                        << reinterpret_cast<unsigned_words>(drop);
  using floats = simd::pack<float, lanes>;
  const floats quotient =
      __builtin_convertvector(dividend >> 1, floats) * 2.0f / __builtin_convertvector(sum, floats);
  words inverse = __builtin_convertvector(quotient, words);
  const auto rest = reinterpret_cast<words>(dividend - reinterpret_cast<unsigned_words>(inverse) *
                                                           reinterpret_cast<unsigned_words>(sum));
  inverse += reinterpret_cast<words>(rest < 0);
  inverse -= reinterpret_cast<words>(rest >= sum);
  return {inverse, drop};
}
template <std::size_t Most>
UMBEL_INLINE words averaged(words context, const averages& a) noexcept {
  if constexpr (std::size_t{127} * Most >= (std::size_t{1} << 14)) context >>= a.drop;
  return (context * a.inverse + (1 << 23)) >> 24;
}

// Four lanes of each of lanes / 4 rows, and back.
using four_words = simd::pack<std::int32_t, 4>;
#if UMBEL_AVX512_16_BIT && UMBEL_GCC
// g++ 12 would load and shuffle two halves: this loads the second in place.
UMBEL_INLINE words inserted(simd::pack<std::int32_t, 8> low,
                            simd::pack<std::int32_t, 8> high) noexcept {
  using wide = simd::pack<long long, 8>;
  const auto all = reinterpret_cast<wide>(__builtin_ia32_si512_256si(low));
  return reinterpret_cast<words>(__builtin_ia32_inserti64x4_mask(
      all, reinterpret_cast<simd::pack<long long, 4>>(high), 1, all, std::uint8_t{0xff}));
}
#endif
template <class V, std::size_t Count>
UMBEL_INLINE auto joined(const V (&f)[Count]) noexcept {
  if constexpr (Count == 1) {
    return f[0];
#if UMBEL_AVX512_16_BIT && UMBEL_GCC
  } else if constexpr (Count == 2 && std::is_same_v<V, simd::pack<std::int32_t, 8>>) {
    return inserted(f[0], f[1]);
#endif
  } else {
    const auto both = []<std::size_t... I>(const V& a, const V& b, std::index_sequence<I...>)
                          UMBEL_LAMBDA_INLINE { return __builtin_shufflevector(a, b, I...); };
    simd::pack<simd::element_of<V>, 2 * simd::lanes_of<V>> twos[Count / 2];
    UMBEL_UNROLL(2)
    for (std::size_t i = 0; i < Count / 2; ++i)
      twos[i] = both(f[2 * i], f[2 * i + 1], std::make_index_sequence<2 * simd::lanes_of<V>>{});
    return joined(twos);
  }
}
// to[i]: words i of `lanes` rows; the last replaces missing ones.
template <std::size_t Count>
UMBEL_INLINE void four_words_of_rows(const std::int8_t* from, std::size_t row,
                                     words (&to)[4]) noexcept {
  UMBEL_UNROLL(4)
  for (std::size_t i = 0; i < 4; ++i) {
    four_words fours[lanes / 4];
    UMBEL_UNROLL(4)
    for (std::size_t b = 0; b < lanes / 4; ++b) {
      const std::size_t r = 4 * b + i < Count ? 4 * b + i : Count - 1;
      __builtin_memcpy(&fours[b], from + r * row, 16);
    }
    to[i] = joined(fours);
  }
  simd::detail::transpose_fours(to);
}
template <std::size_t Count>
UMBEL_INLINE words word_of_rows(const std::int8_t* from, std::size_t row) noexcept {
  alignas(sizeof(words)) std::int32_t to[lanes];
  for (std::size_t i = 0; i < lanes; ++i)
    to[i] = simd::word_at(from + (i < Count ? i : Count - 1) * row);
  return simd::load_words(to);
}
// Words of each of `lanes` rows, as operands of dot().
template <std::size_t Count, std::size_t Words>
UMBEL_INLINE void words_of_rows(const std::int8_t* from, std::size_t row,
                                words (&to)[Words]) noexcept {
  UMBEL_UNROLL(8)
  for (std::size_t w = 0; w + 4 <= Words; w += 4) {
    words four[4];
    four_words_of_rows<Count>(from + 4 * w, row, four);
    UMBEL_UNROLL(4)
    for (std::size_t i = 0; i < 4; ++i) to[w + i] = four[i];
  }
  for (std::size_t w = Words / 4 * 4; w < Words; ++w)
    to[w] = word_of_rows<Count>(from + 4 * w, row);
}
template <std::size_t Count>
UMBEL_INLINE void store_words_of_rows(words (&from)[4], std::int8_t* to, std::size_t row) noexcept {
  simd::detail::transpose_fours(from);
  UMBEL_UNROLL(4)
  for (std::size_t b = 0; b < lanes / 4; ++b) {
    UMBEL_UNROLL(4)
    for (std::size_t i = 0; i < 4; ++i)
      if (4 * b + i < Count)
        __builtin_memcpy(to + (4 * b + i) * row, reinterpret_cast<const char*>(&from[i]) + 16 * b,
                         16);
  }
}

// The first Features bytes of 16, the others 0. Loaded as one number: g++ assembles partial vectors
// byte by byte.
template <std::size_t Features>
UMBEL_INLINE simd::pack<std::int8_t, 16> bytes_at(const std::int8_t* from) noexcept {
  simd::pack<std::int8_t, 16> all{};
  if constexpr (Features == 8) {
    simd::pack<std::int64_t, 2> wide{};
    std::int64_t number;
    __builtin_memcpy(&number, from, 8);
    wide[0] = number;
    all = reinterpret_cast<simd::pack<std::int8_t, 16>>(wide);
  } else if constexpr (Features == 4) {
    four_words words_of_all{};
    words_of_all[0] = simd::word_at(from);
    all = reinterpret_cast<simd::pack<std::int8_t, 16>>(words_of_all);
  } else {
    __builtin_memcpy(&all, from, Features);
  }
  return all;
}
// Byte f of each of four rows, for 8 features: the words of one half of 16-byte rows.
struct interleaved_words {
  four_words of[2];
};
template <bool High>
UMBEL_INLINE interleaved_words interleaved(const simd::pack<std::int8_t, 16> (&r)[4]) noexcept {
  using bytes = simd::pack<std::int8_t, 16>;
  using twos = simd::pack<std::int16_t, 8>;
  const auto two = [](bytes a, bytes b) UMBEL_LAMBDA_INLINE {
    if constexpr (High)
      return reinterpret_cast<twos>(__builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                                            28, 13, 29, 14, 30, 15, 31));
    else
      return reinterpret_cast<twos>(
          __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
  };
  interleaved_words all;
  const twos a = two(r[0], r[1]), b = two(r[2], r[3]);
  all.of[0] = reinterpret_cast<four_words>(__builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11));
  all.of[1] =
      reinterpret_cast<four_words>(__builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15));
  return all;
}
// Words with byte f of each of four rows, for Features features from `from` on.
template <std::size_t Features>
UMBEL_INLINE void interleave_rows(const std::int8_t* const (&rows)[4], std::size_t from,
                                  std::int32_t* to) noexcept {
  simd::pack<std::int8_t, 16> r[4];
  UMBEL_UNROLL(4)
  for (std::size_t i = 0; i < 4; ++i) r[i] = bytes_at<Features>(rows[i] + from);
  const interleaved_words low = interleaved<false>(r);
  __builtin_memcpy(to, low.of, Features < 8 ? 4 * Features : 32);
  if constexpr (Features > 8) {
    const interleaved_words high = interleaved<true>(r);
    __builtin_memcpy(to + 8, high.of, 4 * Features - 32);
  }
}
template <std::size_t Features>
UMBEL_INLINE void interleave_all(const std::int8_t* const (&rows)[4], std::int32_t* to) noexcept {
  for (std::size_t f = 0; f + 16 <= Features; f += 16) interleave_rows<16>(rows, f, to + f);
  if constexpr (Features % 16 != 0)
    interleave_rows<Features % 16>(rows, Features / 16 * 16, to + Features / 16 * 16);
}

}  // namespace integer_attention

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
#endif
