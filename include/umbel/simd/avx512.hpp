// SPDX-License-Identifier: BSL-1.0
// What AVX-512 has an instruction for: rounding and scaling by 2^n, for exponentials. The same bits
// as the plain form in math.hpp, in fewer instructions. The compilers' builtins, no intrinsics
// header (they cost a quarter of a second a translation unit).
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math_constants.hpp>
#include <umbel/simd/pack.hpp>

#if UMBEL_AVX512
UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd::avx512 {

// See simd::exp2_not_positive. vrndscale rounds to nearest even as the magic number does; vscalef
// is exact, and leaves 0 where y is below the lowest, not where it is NaN.
template <class V>
UMBEL_INLINE V exp2_not_positive(V y) noexcept {
  using T = element_of<V>;
  using constants = math_constants<T>;
  constexpr int nearest_even_quiet = 8, current_rounding = 4, not_less_than = 0x15;
  const V lowest = broadcast<V>(constants::exp2_lowest);
  if constexpr (sizeof(T) == 4) {
    constexpr std::uint16_t all = 0xffff;
    const V n = __builtin_ia32_rndscaleps_mask(y, nearest_even_quiet, y,
                                               static_cast<detail::mask_16>(all), current_rounding);
    const V mantissa = polynomial<V>(y - n, constants::exp2);
    const auto keep = __builtin_ia32_cmpps512_mask(y, lowest, not_less_than, all, current_rounding);
    return __builtin_ia32_scalefps512_mask(mantissa, n, V{}, static_cast<detail::mask_16>(keep),
                                           current_rounding);
  } else {
    constexpr std::uint8_t all = 0xff;
    const V n = __builtin_ia32_rndscalepd_mask(y, nearest_even_quiet, y, all, current_rounding);
    const V mantissa = polynomial<V>(y - n, constants::exp2);
    const auto keep = __builtin_ia32_cmppd512_mask(y, lowest, not_less_than, all, current_rounding);
    return __builtin_ia32_scalefpd512_mask(mantissa, n, V{}, keep, current_rounding);
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd::avx512
UMBEL_WARNINGS_POP
#endif
