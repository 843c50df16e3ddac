// SPDX-License-Identifier: BSL-1.0
// floor and the remainder of a division: exact, with the same bits for scalars, packs and constant
// expressions on every target.
#pragma once

#include <umbel/config.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/math_constants.hpp>
#include <umbel/simd/pack.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

namespace detail {
template <class T>
inline constexpr T first_without_fractions =
    static_cast<T>(std::uint64_t{1} << math_constants<T>::mantissa_bits);
}  // namespace detail

// The largest integer that is not above x. Zeros keep their sign; infinities and NaN stay.
template <class V>
UMBEL_INLINE constexpr V floor(V x) noexcept {
  UMBEL_AS_WRITTEN
  using T = element_of<V>;
  const V whole = broadcast<V>(detail::first_without_fractions<T>);
  const V a = detail::magnitude(x);
  V shifted = smaller(a, whole) + whole;  // rounds to nearest
  UMBEL_KEEP(shifted);
  V size = shifted - whole;
  UMBEL_KEEP(size);
  const V nearest = detail::with_sign(size, x);
  const V below = nearest - select(less(x, nearest), broadcast<V>(T{1}), V{});
  return select(less(a, whole), below, x);
}

namespace detail {
// a - q b if that has no more bits than a number: for 0 <= a - q b < b and their rounding errors.
template <class V>
UMBEL_INLINE constexpr V exact_rest(V a, V q, V b) noexcept {
  UMBEL_AS_WRITTEN
  if constexpr (has_fma<element_of<V>>) {
    return fma(-q, b, a);
  } else {
    // Halves of q, rounded to nearest, and of b, cut: every product and difference is exact.
    using integer = element_of<signed_of<V>>;
    constexpr int lower = (math_constants<element_of<V>>::mantissa_bits + 2) / 2;
    constexpr integer upper = -(integer{1} << lower), half = integer{1} << (lower - 1);
    const V q_high = from_bits<V>((bits_of(q) + half) & upper);
    const V b_high = from_bits<V>(bits_of(b) & upper);
    V q_low = q - q_high, b_low = b - b_high;
    UMBEL_KEEP(q_low);
    UMBEL_KEEP(b_low);
    V rest = a - q_high * b_high;
    UMBEL_KEEP(rest);
    rest = rest - q_high * b_low;
    UMBEL_KEEP(rest);
    rest = rest - q_low * b_high;
    UMBEL_KEEP(rest);
    return rest - q_low * b_low;
  }
}
}  // namespace detail

// x - y floor(x / y), with the sign of y, as numpy's and torch's remainder: exact if x and y have
// the same sign, else rounded once. 0 if |x / y| has no fractional bits (2^24, in double 2^53,
// and more). x if y is infinite and has its sign, else y. NaN if x is infinite or y is 0.
template <class V>
UMBEL_INLINE constexpr V remainder(V x, V y) noexcept {
  using T = element_of<V>;
  const V a = detail::magnitude(x), b = detail::magnitude(y);
  const V infinity = broadcast<V>(math_constants<T>::infinity);
  const V quotient = a / b;
  // The quotient may have been rounded up to an integer.
  V rest = detail::exact_rest(a, floor(quotient), b);
  const V above = rest + b;
  if constexpr (lanes_of<V> == 1) UMBEL_COMPUTED(above);
  rest = select(less(rest, V{}), above, rest);
  rest = select(less(quotient, broadcast<V>(2 * detail::first_without_fractions<T>)), rest, V{});
  rest = select(less(a, b), a, rest);
  const V from_above = b - rest;
  if constexpr (lanes_of<V> == 1) UMBEL_COMPUTED(from_above);
  const V other = select(equal(rest, V{}), rest, from_above);
  rest = select(equal(detail::with_sign(b, x), y), rest, other);
  const V none = broadcast<V>(math_constants<T>::not_a_number);
  return select(less(a, infinity), select(less(V{}, b), detail::with_sign(rest, y), none), none);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
