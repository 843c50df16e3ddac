// SPDX-License-Identifier: BSL-1.0
// Norms of 16-bit integers, as plain_integers.hpp defines them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/kernel/integer_norm_vectors.hpp>
#include <umbel/kernel/plain_integers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// The largest difference is that of the largest or of the smallest number, and a left shift of the
// differences is one of what they are made of: two passes over x less than the definition.
template <bool Centred, class T, std::size_t H>
void integer_norm(const integer_norm_numbers<H>& n, const std::int16_t* x, T* y) noexcept {
  std::int32_t sum = 0, largest = x[0], smallest = x[0];
  for (std::size_t i = 0; i < H; ++i) {
    const std::int32_t v = x[i];
    if constexpr (Centred) sum += v;
    largest = v > largest ? v : largest;
    smallest = v < smallest ? v : smallest;
  }
  // Of 32 bits that may wrap: a difference does not, where its parts do.
  std::uint32_t factor = Centred ? H : 32768, base = static_cast<std::uint32_t>(sum);
  int down = 0;
  const auto digits = [&](std::int32_t v) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(v) * factor - base) >> down;
  };
  const std::int32_t above = digits(largest), below = digits(smallest);
  const int shift = plain::bits_of(static_cast<std::uint32_t>(n.epsilon) |
                                   static_cast<std::uint32_t>(above < 0 ? -above : above) |
                                   static_cast<std::uint32_t>(below < 0 ? -below : below)) -
                    n.digits;
  std::int32_t epsilon = n.epsilon;
  if (shift >= 0) {
    down = shift;
    epsilon >>= down;
  } else {
    factor <<= -shift;
    base <<= -shift;
    epsilon <<= -shift;
  }
  auto squares = static_cast<std::uint32_t>(epsilon * epsilon);
  for (std::size_t i = 0; i < H; ++i) {
    const std::int32_t d = digits(x[i]);
    squares += static_cast<std::uint32_t>(d * d);
  }
  const std::uint32_t root = plain::square_root(squares);
  const auto inverse = static_cast<std::int32_t>(root == 0 ? 0 : (std::uint32_t{1} << 30) / root);
  const plain::rounding rounded(n.shift);
  for (std::size_t i = 0; i < H; ++i) {
    const std::int32_t v = rounded(((digits(x[i]) * inverse) >> 15) * n.gamma[i] + n.beta[i]);
    if constexpr (sizeof(T) == 1)
      y[i] = plain::to_int8(v);
    else
      y[i] = plain::to_int16(v);
  }
}

// Rows one after another. y: int8 or int16; may be x.
template <bool Centred, std::size_t Rows, std::size_t H, class T>
constexpr void integer_norm_rows(const integer_norm_numbers<H>& n, const std::int16_t* x,
                                 T* y) noexcept {
#if UMBEL_DOT_VECTORS
  if (!std::is_constant_evaluated()) return integer_norm_vectors<Centred, Rows>(n, x, y);
#endif
  for (std::size_t r = 0; r < Rows; ++r) {
    if (std::is_constant_evaluated())
      plain::integer_norm<Centred>(n, x + r * H, y + r * H);
    else
      integer_norm<Centred>(n, x + r * H, y + r * H);
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
