// SPDX-License-Identifier: BSL-1.0
// Norms of 16-bit integers, as plain_integers.hpp defines them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/plain_integers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// Rows one after another. y: int8 or int16.
template <bool Centred, std::size_t Rows, std::size_t H, class T>
constexpr void integer_norm_rows(const integer_norm_numbers<H>& n, const std::int16_t* x,
                                 T* y) noexcept {
  for (std::size_t r = 0; r < Rows; ++r) plain::integer_norm<Centred>(n, x + r * H, y + r * H);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
