// SPDX-License-Identifier: BSL-1.0
// exp(2), log(x.size()), rsqrt(64.0f): functions of a number, also in constant expressions.
#pragma once

#include <umbel/config.hpp>

#include <type_traits>
#include <umbel/operation/elementwise_function.hpp>
#include <umbel/simd/math.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
// A number as a double. Its conversion makes <cmath>'s functions preferred.
struct given_number {
  double value;
  template <class T>
    requires rules::is_number<T>
  constexpr given_number(T x) noexcept : value(static_cast<double>(x)) {}
};
}  // namespace detail

// sqrt(x), rsqrt(x), which is 1 / sqrt(x) and scales scores: rsqrt(64.0f) is 0.125f. Of a float or
// double in its type, computed as double.
template <class T>
  requires std::is_floating_point_v<T>
constexpr T sqrt(T x) noexcept {
  return static_cast<T>(detail::simd::sqrt(static_cast<double>(x)));
}
template <class T>
  requires std::is_floating_point_v<T>
constexpr T rsqrt(T x) noexcept {
  return static_cast<T>(1 / detail::simd::sqrt(static_cast<double>(x)));
}
template <class T = double>
constexpr T rsqrt(detail::given_number x) noexcept {
  return umbel::rsqrt(static_cast<T>(x.value));
}
// abs(x): |x| of a number, in its type.
template <class T>
  requires std::is_signed_v<T>
constexpr auto(abs)(T x) noexcept {
  return detail::kernel::plain::abs_of(x);
}

// Of a number, as double. Templates, so that only files with such a call instantiate them.
#define UMBEL_OF_NUMBER(name)                                    \
  template <class T = double>                                    \
  constexpr T name(detail::given_number x) noexcept {            \
    return detail::name##_function::of(static_cast<T>(x.value)); \
  }
UMBEL_OF_NUMBER(exp)
UMBEL_OF_NUMBER(log)
UMBEL_OF_NUMBER(sqrt)
UMBEL_OF_NUMBER(tanh)
UMBEL_OF_NUMBER(sigmoid)
UMBEL_OF_NUMBER(cos)
UMBEL_OF_NUMBER(erf)
UMBEL_OF_NUMBER(floor)
UMBEL_OF_NUMBER(sin)
#undef UMBEL_OF_NUMBER

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
