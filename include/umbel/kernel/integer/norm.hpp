// SPDX-License-Identifier: BSL-1.0
// Norms of 16-bit integers, defined by plain/integers.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/mve.hpp>
#include <umbel/kernel/integer/norm_vectors.hpp>
#include <umbel/kernel/plain/integers.hpp>
#include <umbel/simd/saturate.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// Makes differences from numbers: (number * factor - base) >> down, in 32 bits that may wrap
// although their difference doesn't.
struct norm_digits {
  std::uint32_t factor, base;
  int down;

  UMBEL_INLINE std::int32_t operator()(std::int32_t v) const noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(v) * factor - base) >> down;
  }
};

#if UMBEL_MVE_INTEGERS
UMBEL_INLINE int32x4_t digits_of_four(const norm_digits& digits, const std::int16_t* x) noexcept {
  const int32x4_t v = vmulq_n_s32(vldrhq_s32(x), static_cast<std::int32_t>(digits.factor));
  return vshlq_r_s32(vsubq_s32(v, vdupq_n_s32(static_cast<std::int32_t>(digits.base))),
                     -digits.down);
}
#endif

// The numbers of H that are computed four at a time.
template <std::size_t H>
inline constexpr std::size_t in_vectors = UMBEL_MVE_INTEGERS ? H / 4 * 4 : 0;

template <std::size_t H>
UMBEL_INLINE std::uint32_t squares_of(const norm_digits& digits, const std::int16_t* x) noexcept {
  std::uint32_t squares = 0;
#if UMBEL_MVE_INTEGERS
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < in_vectors<H>; i += 4) {
    const int32x4_t d = digits_of_four(digits, x + i);
    sum = vmladavaq_s32(sum, d, d);
  }
  squares = static_cast<std::uint32_t>(sum);
#endif
  for (std::size_t i = in_vectors<H>; i < H; ++i) {
    const std::int32_t d = digits(x[i]);
    squares += static_cast<std::uint32_t>(d * d);
  }
  return squares;
}

// plain::square_root if the core can divide: two Newton steps from a line at most 9 % off give the
// root or one more.
UMBEL_INLINE constexpr std::uint32_t square_root(std::uint32_t v) noexcept {
  if (!UMBEL_DIVIDES) return plain::square_root(v);
  if (v == 0) return 0;
  const int zeros = __builtin_clz(v) & ~1;
  const std::uint32_t whole = v << zeros;
  std::uint32_t root = (whole >> 17) + 27307;
  root = (root + whole / root) >> 1;
  root = (root + whole / root) >> 1;
  if (root * root - 1 >= whole) --root;  // 65536 squared is 0
  return root >> (zeros / 2);
}

// The largest difference comes from the largest or smallest number, and shifting differences left
// is shifting their inputs: two passes over x less than the definition.
template <bool Centred, class T, std::size_t H>
void integer_norm(const integer_norm_numbers<H>& n, const std::int16_t* x, T* y) noexcept {
  std::int32_t sum = 0, largest = x[0], smallest = x[0];
  constexpr std::size_t by_eight = UMBEL_MVE_INTEGERS ? H / 8 * 8 : 0;
#if UMBEL_MVE_INTEGERS
  for (std::size_t i = 0; i < by_eight; i += 8) {
    const int16x8_t v = vldrhq_s16(x + i);
    if constexpr (Centred) sum = vaddvaq_s16(sum, v);
    largest = vmaxvq_s16(static_cast<std::int16_t>(largest), v);
    smallest = vminvq_s16(static_cast<std::int16_t>(smallest), v);
  }
#endif
  for (std::size_t i = by_eight; i < H; ++i) {
    const std::int32_t v = x[i];
    if constexpr (Centred) sum += v;
    largest = v > largest ? v : largest;
    smallest = v < smallest ? v : smallest;
  }
  norm_digits digits = {Centred ? H : 32768, static_cast<std::uint32_t>(sum), 0};
  const std::int32_t above = digits(largest), below = digits(smallest);
  const int shift = plain::bits_of(static_cast<std::uint32_t>(n.epsilon) |
                                   static_cast<std::uint32_t>(above < 0 ? -above : above) |
                                   static_cast<std::uint32_t>(below < 0 ? -below : below)) -
                    n.digits;
  std::int32_t epsilon = n.epsilon;
  if (shift >= 0) {
    digits.down = shift;
    epsilon >>= shift;
  } else {
    digits.factor <<= -shift;
    digits.base <<= -shift;
    epsilon <<= -shift;
  }
  const std::uint32_t root =
      square_root(static_cast<std::uint32_t>(epsilon * epsilon) + squares_of<H>(digits, x));
  const auto inverse = static_cast<std::int32_t>(root == 0 ? 0 : (std::uint32_t{1} << 30) / root);
#if UMBEL_MVE_INTEGERS
  const std::int32_t after = -n.shift;
  constexpr std::int32_t most = sizeof(T) == 1 ? 127 : 32767;
  for (std::size_t i = 0; i < in_vectors<H>; i += 4) {
    const int32x4_t d = digits_of_four(digits, x + i);
    int32x4_t v = vmulq_s32(vshrq_n_s32(vmulq_n_s32(d, inverse), 15), vldrhq_s32(n.gamma + i));
    v = vrshlq_n_s32(vaddq_s32(v, vldrwq_s32(n.beta + i)), after);
    v = vmaxq_s32(vminq_s32(v, vdupq_n_s32(most)), vdupq_n_s32(-most));
    if constexpr (sizeof(T) == 1)
      vstrbq_s32(y + i, v);
    else
      vstrhq_s32(y + i, v);
  }
#endif
  const plain::rounding rounded(n.shift);
  for (std::size_t i = in_vectors<H>; i < H; ++i) {
    const std::int32_t v = rounded(((digits(x[i]) * inverse) >> 15) * n.gamma[i] + n.beta[i]);
    y[i] = static_cast<T>(simd::saturated<8 * sizeof(T)>(v));
  }
}

// Rows in a row. y: int8 or int16; may be x.
template <bool Centred, std::size_t Rows, std::size_t H, class T>
constexpr void integer_norm_rows(const integer_norm_numbers<H>& n, const std::int16_t* x,
                                 T* y) noexcept {
#if UMBEL_DOT_VECTORS
  if (!__builtin_is_constant_evaluated()) return integer_norm_vectors<Centred, Rows>(n, x, y);
#endif
  for (std::size_t r = 0; r < Rows; ++r) {
    if (__builtin_is_constant_evaluated())
      plain::integer_norm<Centred>(n, x + r * H, y + r * H);
    else
      integer_norm<Centred>(n, x + r * H, y + r * H);
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
