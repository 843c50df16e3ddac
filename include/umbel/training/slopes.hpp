// SPDX-License-Identifier: BSL-1.0
// Derivatives that aren't other operations of a formula. (That of tanh is 1 - y y.)
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/functions.hpp>
#include <umbel/simd/math.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// d/dx x P(Z <= x) = P(Z <= x) + x p(x), p the normal density. P as in simd::gelu.
template <class V>
UMBEL_INLINE constexpr V gelu_exact_slope(V x) noexcept {
  using T = simd::element_of<V>;
  using constants = simd::math_constants<T>;
  const auto number = [](double of) { return simd::broadcast<V>(static_cast<T>(of)); };
  const V a = simd::detail::magnitude(x), last = simd::broadcast<V>(constants::normal_last);
  const V inside = simd::smaller(last, a);
  const V tail =
      simd::exp2_not_positive(simd::polynomial_in_halves<V>(inside, constants::normal_tail));
  const V below = simd::select(simd::less(V{}, x), number(1) - tail, tail);
  // exp(-x^2 / 2) as a power of 2.
  const V power = simd::fma(inside * inside, number(-0.72134752044448170), V{});
  const V density = simd::fma(simd::exp2_not_positive(power), number(0.39894228040143268), V{});
  return simd::fma(x, density, below);
}

// d/dx x s(2u) = s + x s (1 - s) 2u', with s the logistic function, 2u = 2 sqrt(2 / pi) (x +
// 0.044715 x^3). If s is 0 or 1, it is s.
template <class V>
UMBEL_INLINE constexpr V gelu_tanh_slope(V x) noexcept {
  using T = simd::element_of<V>;
  const auto number = [](double of) { return simd::broadcast<V>(static_cast<T>(of)); };
  const V bound = number(sizeof(T) == 4 ? 10 : 21);
  const V inside =
      simd::select(simd::less(bound, x), bound, simd::select(simd::less(x, -bound), -bound, x));
  const V square = inside * inside;
  const V twice = simd::fma(
      inside, simd::fma(square, number(0.07135481627159856), number(1.5957691216057308)), V{});
  const V slope = simd::fma(square, number(0.21406444881479568), number(1.5957691216057308));
  const V s = simd::sigmoid(twice);
  const V rest = simd::fma(-s, s, s);
  return simd::fma(simd::fma(inside, rest, V{}), slope, s);
}

template <word W>
template <class V>
UMBEL_INLINE constexpr V slope_function<W>::of(V x) noexcept {
  if constexpr (W == word::gelu_exact_slope)
    return gelu_exact_slope(x);
  else
    return gelu_tanh_slope(x);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
