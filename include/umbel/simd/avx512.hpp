// SPDX-License-Identifier: BSL-1.0
// AVX-512's instructions for rounding and scaling by 2^n, for exponentials. The same bits as the
// plain form in math.hpp, in fewer instructions. Uses builtins: the intrinsics header costs a
// quarter of a second per translation unit.
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
// is exact, and leaves 0 if y is below the lowest, but not if it is NaN.
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

// Between two bounds, one instruction each; NaN stays NaN, as they return the second operand.
template <class V>
UMBEL_INLINE V clamp(V x, V lowest, V highest) noexcept {
  constexpr int current_rounding = 4;
#if UMBEL_CLANG
  if constexpr (sizeof(element_of<V>) == 4) {
    const V above = __builtin_ia32_maxps512(lowest, x, current_rounding);
    return __builtin_ia32_minps512(highest, above, current_rounding);
  } else {
    const V above = __builtin_ia32_maxpd512(lowest, x, current_rounding);
    return __builtin_ia32_minpd512(highest, above, current_rounding);
  }
#else
  if constexpr (sizeof(element_of<V>) == 4) {
    constexpr std::uint16_t all = 0xffff;
    const V above = __builtin_ia32_maxps512_mask(lowest, x, V{}, all, current_rounding);
    return __builtin_ia32_minps512_mask(highest, above, V{}, all, current_rounding);
  } else {
    constexpr std::uint8_t all = 0xff;
    const V above = __builtin_ia32_maxpd512_mask(lowest, x, V{}, all, current_rounding);
    return __builtin_ia32_minpd512_mask(highest, above, V{}, all, current_rounding);
  }
#endif
}

// mantissa 2^n in one instruction.
template <class V>
UMBEL_INLINE V scale(V mantissa, V n) noexcept {
  constexpr int current_rounding = 4;
  if constexpr (sizeof(element_of<V>) == 4)
    return __builtin_ia32_scalefps512_mask(mantissa, n, V{}, static_cast<detail::mask_16>(0xffff),
                                           current_rounding);
  else
    return __builtin_ia32_scalefpd512_mask(mantissa, n, V{}, 0xff, current_rounding);
}

// See simd::exp: mantissa 2^n, in one instruction for any n, for x from lowest on; 0 below.
template <class V>
UMBEL_INLINE V scale_from(V x, V lowest, V mantissa, V n) noexcept {
  constexpr int current_rounding = 4, not_less_than = 0x15;
  if constexpr (sizeof(element_of<V>) == 4) {
    constexpr std::uint16_t all = 0xffff;
    const auto keep = __builtin_ia32_cmpps512_mask(x, lowest, not_less_than, all, current_rounding);
    return __builtin_ia32_scalefps512_mask(mantissa, n, V{}, static_cast<detail::mask_16>(keep),
                                           current_rounding);
  } else {
    constexpr std::uint8_t all = 0xff;
    const auto keep = __builtin_ia32_cmppd512_mask(x, lowest, not_less_than, all, current_rounding);
    return __builtin_ia32_scalefpd512_mask(mantissa, n, V{}, keep, current_rounding);
  }
}

// a - b if the mask is set, else 0 without raising exceptions. clang has no builtin for it, but
// generates it from the selection.
template <class V, class Mask>
UMBEL_INLINE V difference_where(Mask mask, V a, V b) noexcept {
#if UMBEL_CLANG
  if constexpr (sizeof(element_of<V>) == 4)
    return __builtin_ia32_selectps_512(mask, a - b, V{});
  else
    return __builtin_ia32_selectpd_512(mask, a - b, V{});
#else
  constexpr int current_rounding = 4;
  if constexpr (sizeof(element_of<V>) == 4)
    return __builtin_ia32_subps512_mask(a, b, V{}, static_cast<detail::mask_16>(mask),
                                        current_rounding);
  else
    return __builtin_ia32_subpd512_mask(a, b, V{}, mask, current_rounding);
#endif
}

template <class V>
UMBEL_INLINE V exp2_or_hidden(V y, V& sum) noexcept {
  using T = element_of<V>;
  using constants = math_constants<T>;
  constexpr int nearest_even_quiet = 8, current_rounding = 4, not_less_than = 0x15,
                not_greater_than = 0x1a;
  const V lowest = broadcast<V>(constants::exp2_lowest);
  V power;
  if constexpr (sizeof(T) == 4) {
    constexpr std::uint16_t all = 0xffff;
    const V n = __builtin_ia32_rndscaleps_mask(y, nearest_even_quiet, y,
                                               static_cast<detail::mask_16>(all), current_rounding);
    const std::uint16_t seen =
        __builtin_ia32_cmpps512_mask(y, V{}, not_greater_than, all, current_rounding);
    const std::uint16_t keep =
        __builtin_ia32_cmpps512_mask(y, lowest, not_less_than, seen, current_rounding);
    power = __builtin_ia32_scalefps512_mask(
        polynomial<V>(difference_where(seen, y, n), constants::exp2), n, V{},
        static_cast<detail::mask_16>(keep), current_rounding);
  } else {
    constexpr std::uint8_t all = 0xff;
    const V n = __builtin_ia32_rndscalepd_mask(y, nearest_even_quiet, y, all, current_rounding);
    const std::uint8_t seen =
        __builtin_ia32_cmppd512_mask(y, V{}, not_greater_than, all, current_rounding);
    const std::uint8_t keep =
        __builtin_ia32_cmppd512_mask(y, lowest, not_less_than, seen, current_rounding);
    power = __builtin_ia32_scalefpd512_mask(
        polynomial<V>(difference_where(seen, y, n), constants::exp2), n, V{}, keep,
        current_rounding);
  }
  // 0 if hidden.
  sum = sum + power;
  return select(y > V{}, broadcast<V>(T{-1}), power);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd::avx512
UMBEL_WARNINGS_POP
#endif
