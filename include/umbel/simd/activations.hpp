// SPDX-License-Identifier: BSL-1.0
// softplus, log_sigmoid, elu and erf, as the functions of math.hpp: one template each for scalars,
// packs and constant expressions, with the same bits. Each function's bounds are tested against
// long double.
#pragma once

#include <umbel/config.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/math_constants.hpp>
#include <umbel/simd/pack.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

namespace detail {
// log(1 + t) for t in [0, 1]; NaN stays NaN. As simd::log, with 1 + t = 2^k (1 + f), k 0 or 1.
template <class V>
UMBEL_INLINE constexpr V log_of_one_and(V t) noexcept {
  using T = element_of<V>;
  using constants = math_constants<T>;
  const V half = broadcast<V>(T{0.5});
  const auto is_upper = less(broadcast<V>(static_cast<T>(0.41421356)), t);  // sqrt 2 - 1
  const V f = select(is_upper, fma(t, half, -half), t);                     // exact
  const V s = f / (broadcast<V>(T{2}) + f);
  const V z = s * s;
  const V half_f = f * half;
  const V rest = fma(z, polynomial<V>(z, constants::log), V{});
  const V low = select(is_upper, broadcast<V>(constants::ln2_low), V{});
  const V correction = fma(half_f, f, -fma(s, fma(half_f, f, rest), low));
  return select(is_upper, broadcast<V>(constants::ln2_high), V{}) + (f - correction);
}
}  // namespace detail

// log(1 + e^x): 0 below ln(2^-126) (double: ln(2^-1022)); x from 17 (double: 37) on; NaN stays NaN.
// Within 3 ulp (4 if the target doesn't fuse).
template <class V>
UMBEL_INLINE constexpr V softplus(V x) noexcept {
  return larger(x, V{}) + detail::log_of_one_and(exp(-detail::magnitude(x)));
}

// log(sigmoid(x)) = -softplus(-x): 0 above 87.3 (double: 708.3). Within 3 ulp (4).
template <class V>
UMBEL_INLINE constexpr V log_sigmoid(V x) noexcept {
  return smaller(x, V{}) - detail::log_of_one_and(exp(-detail::magnitude(x)));
}

// x if x > 0, else e^x - 1 (Clevert et al. 2016, with alpha 1); zeros keep their sign, NaN stays
// NaN. Within 2 ulp (3 if the target doesn't fuse).
template <class V>
UMBEL_INLINE constexpr V elu(V x) noexcept {
  using T = element_of<V>;
  using constants = math_constants<T>;
  const detail::exponential<V> e =
      detail::exponential_of(detail::clamp(x, broadcast<V>(constants::exp_lowest), V{}));
  const auto magic = detail::bits_of(broadcast<V>(constants::rounding_magic));
  const V power = detail::power_of_two<V>(detail::bits_of(e.shifted) - magic);
  const V below = fma(power, e.rest, power - broadcast<V>(T{1}));
  return select(less(x, V{}), below, x);
}

// The error function 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x: exactly odd, NaN
// stays NaN. Within 3 ulp. |x| < 0.82: x + x P(x^2); else 1 - 2 P(Z > sqrt(2) |x|) of the normal
// distribution, as in gelu.
template <class V>
UMBEL_INLINE constexpr V erf(V x) noexcept {
  using T = element_of<V>;
  using constants = math_constants<T>;
  const V a = detail::magnitude(x), bound = broadcast<V>(static_cast<T>(0.82));
  const V inside = smaller(a, bound);
  const V by_polynomial = fma(inside, polynomial<V>(inside * inside, constants::erf), inside);
  const V last = broadcast<V>(static_cast<T>(constants::normal_last * 0.70710678));
  const V z = smaller(last, a) * broadcast<V>(static_cast<T>(1.4142135623730950488));
  const V tail = exp2_not_positive<true>(polynomial_in_halves<V>(z, constants::normal_tail));
  const V by_tail = fma(tail, broadcast<V>(T{-2}), broadcast<V>(T{1}));
  return detail::with_sign(select(less(a, bound), by_polynomial, by_tail), x);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
