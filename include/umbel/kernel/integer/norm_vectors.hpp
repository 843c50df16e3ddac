// SPDX-License-Identifier: BSL-1.0
// Norms of 16-bit integers with features in the lanes, one row per lane at a time: the rows share
// the search for their roots. The same bits as plain::integer_norm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/finish.hpp>
#include <umbel/kernel/plain/integers.hpp>
#include <umbel/simd/dot.hpp>
#include <umbel/simd/fold.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/narrow.hpp>

#if UMBEL_DOT_VECTORS
UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// plain::square_root in each lane.
UMBEL_INLINE simd::unsigned_of<simd::dot_words> square_roots(
    simd::unsigned_of<simd::dot_words> v) noexcept {
  using words = simd::dot_words;
  using unsigned_words = simd::unsigned_of<words>;
  using floats = simd::pack<float, simd::dot_lanes>;
  // From 31 bits, whose float is off by at most 2^-24 of it: below 2^16, the root is off by at most
  // one.
  const floats half = __builtin_convertvector(reinterpret_cast<words>(v >> 1), floats) * 2.0f +
                      __builtin_convertvector(reinterpret_cast<words>(v & 1), floats);
  const words most = words{} + 0xffff;
  const words nearest = __builtin_convertvector(simd::sqrt(half), words);
  unsigned_words root = reinterpret_cast<unsigned_words>(simd::smaller(nearest, most));
  root += reinterpret_cast<unsigned_words>(root * root > v);  // -1 where it is
  const unsigned_words next = root + 1;
  return root - reinterpret_cast<unsigned_words>((next * next <= v) &
                                                 (reinterpret_cast<words>(next) <= most));
}

template <bool Centred, class T, std::size_t H>
struct integer_norm_block {
  using words = simd::dot_words;
  static constexpr std::size_t lanes = simd::dot_lanes, whole = H / lanes * lanes;
  using numbers = integer_norm_numbers<H>;

  // Parameters for the digits of a row's differences. One of the shifts is 0, which avoids a
  // branch.
  struct row_numbers {
    std::int32_t sum = 0;
    int up = 0, down = 0;
  };
  // For one feature (V: int32) or a pack of them.
  template <class V>
  UMBEL_INLINE static V digits(V x, const row_numbers& row) noexcept {
    if constexpr (Centred)
      return (x * static_cast<std::int32_t>(H) - row.sum) << row.up >> row.down;
    else
      return x << (15 + row.up) >> row.down;
  }

  // One number for each of `count` rows, 0 for the others: `of` of packs and single features,
  // combined by `together`. The rows' packs are folded side by side.
  template <class Of, class Together>
  UMBEL_INLINE static words of_rows(const std::int16_t* x, std::size_t count,
                                    const row_numbers (&row)[lanes], const Of& of,
                                    const Together& together) noexcept {
    words packs[lanes][1];
    std::int32_t rest[lanes]{};
    for (std::size_t r = 0; r < lanes; ++r) packs[r][0] = words{};
    for (std::size_t r = 0; r < count; ++r) {
      const std::int16_t* const at = x + r * H;
      words all{};
      for (std::size_t i = 0; i < whole; i += lanes)
        all = together(all, of(simd::widened(at + i), row[r]));
      packs[r][0] = all;
      for (std::size_t i = whole; i < H; ++i)
        rest[r] = together(rest[r], of(std::int32_t{at[i]}, row[r]));
    }
    return together(simd::fold_rows(packs, together), simd::load_words(rest));
  }
  // The numbers of the rows, and the sums of their squared digits.
  UMBEL_INLINE static void begin(const numbers& n, const std::int16_t* x, std::size_t count,
                                 row_numbers (&row)[lanes],
                                 std::uint32_t (&squares)[lanes]) noexcept {
    const auto add = [](auto a, auto b) UMBEL_LAMBDA_INLINE { return wrapped_sum(a, b); };
    std::int32_t numbers_of[lanes];
    if constexpr (Centred) {
      simd::store_words(numbers_of,
                        of_rows(
                            x, count, row,
                            [](auto v, const row_numbers&) UMBEL_LAMBDA_INLINE { return v; }, add));
      for (std::size_t r = 0; r < count; ++r) row[r].sum = numbers_of[r];
    }
    simd::store_words(numbers_of, of_rows(
                                      x, count, row,
                                      [](auto v, const row_numbers& of)
                                          UMBEL_LAMBDA_INLINE { return size(digits(v, of)); },
                                      [](auto a, auto b) UMBEL_LAMBDA_INLINE { return a | b; }));
    std::int32_t epsilon[lanes];
    for (std::size_t r = 0; r < count; ++r) {
      const int shift =
          plain::bits_of(static_cast<std::uint32_t>(n.epsilon | numbers_of[r])) - numbers::digits;
      row[r].down = shift > 0 ? shift : 0;
      row[r].up = row[r].down - shift;
      epsilon[r] = n.epsilon << row[r].up >> row[r].down;
    }
    simd::store_words(squares, of_rows(
                                   x, count, row,
                                   [](auto v, const row_numbers& of) UMBEL_LAMBDA_INLINE {
                                     const auto d = digits(v, of);
                                     return d * d;
                                   },
                                   add));
    for (std::size_t r = 0; r < count; ++r)
      squares[r] += static_cast<std::uint32_t>(epsilon[r] * epsilon[r]);
  }
  // Sums of squares use all 32 bits, without a sign.
  UMBEL_INLINE static words wrapped_sum(words a, words b) noexcept {
    using unsigned_words = simd::unsigned_of<words>;
    return reinterpret_cast<words>(reinterpret_cast<unsigned_words>(a) +
                                   reinterpret_cast<unsigned_words>(b));
  }
  UMBEL_INLINE static std::int32_t wrapped_sum(std::int32_t a, std::int32_t b) noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  }
  UMBEL_INLINE static words size(words d) noexcept { return simd::larger_words(d, -d); }
  UMBEL_INLINE static std::int32_t size(std::int32_t d) noexcept { return d < 0 ? -d : d; }

  UMBEL_INLINE static void end(const numbers& n, const std::int16_t* x, const row_numbers& row,
                               std::uint32_t root, T* y) noexcept {
    // 0 for 0, without a branch.
    const auto inverse =
        static_cast<std::int32_t>((root != 0 ? std::uint32_t{1} << 30 : 0) / (root | (root == 0)));
    const std::int32_t half = n.shift == 0 ? 0 : std::int32_t{1} << (n.shift - 1);
    const int shift = n.shift;
    const auto normed = [&](std::size_t i) UMBEL_LAMBDA_INLINE {
      const words d = digits(simd::widened(x + i), row);
      return (((d * inverse) >> 15) * simd::widened(n.gamma + i) + simd::load_words(n.beta + i) +
              half) >>
             shift;
    };
    std::size_t at = 0;
    if constexpr (sizeof(T) == 1)
      for (; at + 2 * lanes <= whole; at += 2 * lanes)
        simd::store_int8<2>(y + at, {normed(at), normed(at + lanes)});
    for (; at < whole; at += lanes) {
      if constexpr (sizeof(T) == 1)
        simd::store_int8<1>(y + at, {normed(at)});
      else
        simd::store_int16<1>(y + at, {normed(at)});
    }
    for (std::size_t i = whole; i < H; ++i) {
      const std::int32_t d = digits(std::int32_t{x[i]}, row);
      const std::int32_t v =
          plain::round_shift(((d * inverse) >> 15) * n.gamma[i] + n.beta[i], shift);
      if constexpr (sizeof(T) == 1)
        y[i] = plain::to_int8(v);
      else
        y[i] = plain::to_int16(v);
    }
  }

  // `count` rows, at most `lanes`.
  UMBEL_INLINE static void rows(const numbers& n, const std::int16_t* x, std::size_t count,
                                T* y) noexcept {
    row_numbers of_row[lanes];
    std::uint32_t squares[lanes]{};
    begin(n, x, count, of_row, squares);
    simd::store_words(squares,
                      reinterpret_cast<words>(square_roots(
                          reinterpret_cast<simd::unsigned_of<words>>(simd::load_words(squares)))));
    for (std::size_t r = 0; r < count; ++r) end(n, x + r * H, of_row[r], squares[r], y + r * H);
  }
};

template <bool Centred, std::size_t Rows, std::size_t H, class T>
UMBEL_INLINE void integer_norm_vectors(const integer_norm_numbers<H>& n, const std::int16_t* x,
                                       T* y) noexcept {
  using block = integer_norm_block<Centred, T, H>;
  for (std::size_t r = 0; r < Rows; r += block::lanes)
    block::rows(n, x + r * H, Rows - r < block::lanes ? Rows - r : block::lanes, y + r * H);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
#endif
