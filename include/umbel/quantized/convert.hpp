// SPDX-License-Identifier: BSL-1.0
// Between floats and the integers of a range, at the edges of a model: quantize, dequantize.
#pragma once

#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/quantized/linear.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct dequantize;
struct quantize;
struct takes_integers_of_8_or_16_bits_not;
}  // namespace say
template <>
inline constexpr const char* spoken<say::takes_integers_of_8_or_16_bits_not> =
    "takes integers of 8 or 16 bits, not";

namespace rules {
template <class T, class X>
using quantize =
    first_error<integer_result<T, say::quantize>, floating<say::quantize, typename X::value_type>>;
template <class T, class Y>
using dequantize =
    first_error<verdict<is_integer_result<typename Y::value_type>, say::dequantize,
                        say::takes_integers_of_8_or_16_bits_not, element<typename Y::value_type>>,
                floating<say::dequantize, T>>;
}  // namespace rules
}  // namespace detail

// quantize<std::int8_t>(x, range): the elements of a tensor or view of floats in integers, rounded
// to the nearest, halves to even; beyond the range the largest, of NaN 0. A row-major tensor of the
// same axes. T: std::int8_t, or std::int16_t for a residual sum, which has as much room again above
// the range. range: that of the part of the model that takes it, seen.residual, or a float.
template <class T, detail::tensor_like X>
constexpr auto quantize(const X& x, const tensor<float>& range) noexcept {
  using verdict = detail::rules::quantize<T, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) {
    using namespace detail::integers;
    const double unit = unit_of<T>(static_cast<double>(range()));
    detail::tensor_of<T, detail::row_major<detail::layout_of<X>>> y{};
    for_each(
        [&](T& to, const auto& from) {
          to = static_cast<T>(rounded(static_cast<double>(from) / unit, most_of<T>));
        },
        y, x);
    return y;
  } else {
    return detail::invalid{};
  }
}

// dequantize(y, range): the numbers that integers of a range stand for, a row-major tensor of
// float or T, dequantize<double>(y, range). y: int8, or int16 of a residual sum.
template <class T = float, detail::tensor_like Y>
constexpr auto dequantize(const Y& y, const tensor<float>& range) noexcept {
  using verdict = detail::rules::dequantize<T, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) {
    const double unit =
        detail::integers::unit_of<typename Y::value_type>(static_cast<double>(range()));
    detail::tensor_of<T, detail::row_major<detail::layout_of<Y>>> x{};
    for_each([&](T& to, const auto& from) { to = static_cast<T>(from * unit); }, x, y);
    return x;
  } else {
    return detail::invalid{};
  }
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
