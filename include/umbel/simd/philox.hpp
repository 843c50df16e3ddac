// SPDX-License-Identifier: BSL-1.0
// Philox 4x32-10: four random words from a counter of four words and a key of two (Salmon, Moraes,
// Dror and Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3"). Stateless: a counter's words
// don't depend on earlier draws, on the machine or on the order. For scalars, packs (a counter per
// lane) and constant expressions. Not for secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/simd/pack.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

namespace detail {

template <class W>
struct wide_product {
  W low, high;
};

template <class W>
UMBEL_INLINE constexpr wide_product<W> multiply_wide(W a, std::uint32_t m) noexcept {
  if constexpr (lanes_of<W> == 1) {
    const std::uint64_t product = std::uint64_t{a} * m;
    return {static_cast<W>(product), static_cast<W>(product >> 32)};
  } else {
    // Two neighbors share a 64-bit word; which one is the low half doesn't matter.
    using pairs = pack<std::uint64_t, lanes_of<W> / 2>;
    constexpr std::uint64_t low_half = 0xffffffff;
    const pairs both = __builtin_bit_cast(pairs, a);
    const pairs one = (both & low_half) * m, other = (both >> 32) * m;
    return {__builtin_bit_cast(W, (one & low_half) | (other << 32)),
            __builtin_bit_cast(W, (one >> 32) | (other & ~low_half))};
  }
}

}  // namespace detail

// Replaces counter by the four random words. W: std::uint32_t, or a pack of it.
template <class W>
UMBEL_INLINE constexpr void philox(W (&counter)[4], std::uint64_t key) noexcept {
  std::uint32_t low = static_cast<std::uint32_t>(key), high = static_cast<std::uint32_t>(key >> 32);
  UMBEL_UNROLL(10)
  for (int round = 0; round < 10; ++round) {
    const auto first = detail::multiply_wide(counter[0], 0xd2511f53u);
    const auto second = detail::multiply_wide(counter[2], 0xcd9e8d57u);
    counter[0] = second.high ^ counter[1] ^ low;
    counter[1] = second.low;
    counter[2] = first.high ^ counter[3] ^ high;
    counter[3] = first.low;
    low += 0x9e3779b9u;
    high += 0xbb67ae85u;
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
