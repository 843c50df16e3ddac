// SPDX-License-Identifier: BSL-1.0
// What AVX-512 has an instruction for: rounding and scaling by 2^n, for exponentials. The same bits as the
// plain form in math.hpp, in fewer instructions. The compilers' builtins, no intrinsics header
// (they cost a quarter of a second a translation unit).
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math_constants.hpp>
#include <umbel/simd/pack.hpp>

#if UMBEL_AVX512
namespace umbel::simd::avx512 {

// mantissa 2^n, exactly but for the last rounding of a subnormal; 0 where y is below lowest, not where it is
// NaN.
template <class V>
UMBEL_INLINE V scale(V mantissa, V n, V y, element_of<V> lowest) noexcept {
  constexpr int current_rounding = 4, not_less_than = 0x15;
  if constexpr (sizeof(element_of<V>) == 4) {
    constexpr std::uint16_t all = 0xffff;
    const auto keep = __builtin_ia32_cmpps512_mask(y, broadcast<V>(lowest), not_less_than, all,
                                                   current_rounding);
    return __builtin_ia32_scalefps512_mask(mantissa, n, V{}, keep, current_rounding);
  } else {
    constexpr std::uint8_t all = 0xff;
    const auto keep = __builtin_ia32_cmppd512_mask(y, broadcast<V>(lowest), not_less_than, all,
                                                   current_rounding);
    return __builtin_ia32_scalefpd512_mask(mantissa, n, V{}, keep, current_rounding);
  }
}

// See simd::exp2_not_positive. vrndscale rounds to nearest even as the magic number does.
template <class V>
UMBEL_INLINE V exp2_not_positive(V y) noexcept {
  using T = element_of<V>;
  using constants = math_constants<T>;
  constexpr int nearest_even_quiet = 8, current_rounding = 4;
  V n{};
  if constexpr (sizeof(T) == 4)
    n = __builtin_ia32_rndscaleps_mask(y, nearest_even_quiet, y, std::uint16_t{0xffff}, current_rounding);
  else
    n = __builtin_ia32_rndscalepd_mask(y, nearest_even_quiet, y, std::uint8_t{0xff}, current_rounding);
  return scale(polynomial<V>(y - n, constants::exp2), n, y, constants::exp2_lowest);
}

// See simd::exp_not_positive. The rounding is that of its fma, so the magic number stays.
template <class V>
UMBEL_INLINE V exp_not_positive(V y) noexcept {
  using T = element_of<V>;
  using constants = math_constants<T>;
  const V magic = broadcast<V>(constants::rounding_magic);
  const V n = fma(y, broadcast<V>(constants::log2_e), magic) - magic;
  V r = fma(n, broadcast<V>(-constants::ln2_high), y);
  r = fma(n, broadcast<V>(-constants::ln2_low), r);
  const V mantissa = fma(r * r, polynomial<V>(r, constants::exp), r) + broadcast<V>(T{1});
  return scale(mantissa, n, y, constants::exp_lowest);
}

}  // namespace umbel::simd::avx512
#endif
