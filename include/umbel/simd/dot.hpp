// SPDX-License-Identifier: BSL-1.0
// Sums of products of 8-bit integers, four at a time: dot(sum, a, b) adds to each 32-bit lane the
// four products of the bytes of a and b in it. Exact on every target, whatever it has for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/simd/pack.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

// Lanes of 32 bits that products are computed in; 1: one product after another.
inline constexpr std::size_t dot_lanes = 1;
// Bytes that weights are aligned to.
inline constexpr std::size_t dot_alignment = dot_lanes == 1 ? 4 : dot_lanes * 4;
// What is added to the first operand, since an instruction takes it without a sign.
inline constexpr std::int32_t dot_moved = 0;

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
