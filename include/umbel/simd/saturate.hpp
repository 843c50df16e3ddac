// SPDX-License-Identifier: BSL-1.0
// Saturates 32-bit integers to fewer bits, symmetrically: 8 bits are -127 to 127.
#pragma once

#include <cstdint>
#include <type_traits>
#include <umbel/config.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

// ARM's instruction also allows one number below, and no compiler uses it for half of this.
template <int Bits>
UMBEL_INLINE constexpr std::int32_t saturated(std::int32_t v) noexcept {
  constexpr std::int32_t most = (std::int32_t{1} << (Bits - 1)) - 1;
#if UMBEL_THUMB_2
  if (!__builtin_is_constant_evaluated()) {
    __asm__("ssat %0, %2, %1" : "=r"(v) : "r"(v), "i"(Bits));
    return v < -most ? -most : v;
  }
#elif UMBEL_CLANG && UMBEL_X86
  // In loops clang turns conditional moves into branches.
  if (!__builtin_is_constant_evaluated()) {
    __asm__("cmpl %1, %0\n\tcmovl %1, %0\n\tcmpl %2, %0\n\tcmovg %2, %0"
            : "+&r"(v)
            : "r"(-most), "r"(most)
            : "cc");
    return v;
  }
#endif
  return v < -most ? -most : v > most ? most : v;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
