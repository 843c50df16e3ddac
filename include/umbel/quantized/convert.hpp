// SPDX-License-Identifier: BSL-1.0
// quantize, dequantize: floats to the integers of a range and back, at the edges of a model.
#pragma once

#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/quantized/linear.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/tensor/compare.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct dequantize;
struct quantize;
}  // namespace say
UMBEL_SAYS(
    needs_an_integer_type_so_write_quantize_int8_of_x_and_a_range_or_int16_for_a_residual_sum,
    "needs an integer type; write quantize<std::int8_t>(x, range), or <std::int16_t> for a "
    "residual sum");
UMBEL_SAYS(expects_a_tensor_then_one_range_a_number_or_such_as_seen_input,
           "expects a tensor, then one range, such as seen.input, or a number");
UMBEL_SAYS(needs_8_bit_or_16_bit_integers_not, "needs 8-bit or 16-bit integers, not");

namespace rules {
template <class T, class X>
using quantize =
    first_error<integer_result<T, say::quantize>, floating<say::quantize, typename X::value_type>>;
template <class T, class Y>
using dequantize =
    first_error<verdict<is_integer_result<typename Y::value_type>, say::dequantize,
                        say::needs_8_bit_or_16_bit_integers_not, element<typename Y::value_type>>,
                floating<say::dequantize, T>>;
}  // namespace rules

namespace integers {
constexpr float range_as_float(const range& r) noexcept { return r(); }
template <class Number>
  requires std::is_arithmetic_v<Number>
constexpr float range_as_float(const Number& r) noexcept {
  return static_cast<float>(r);
}
template <class Range>
concept one_range = requires(const Range& r) { range_as_float(r); } &&
                    !requires { requires layout_of<Range>::rank != 0; };
// `rounded` without a branch, in more steps, of which clang allows constant expressions a million.
constexpr std::int32_t rounded_at_run_time(double v, std::int32_t most) noexcept {
  UMBEL_AS_WRITTEN
  using simd::detail::bits_of;
  constexpr double magic = simd::math_constants<double>::rounding_magic;
  const double limit = most, number = simd::select(v == v, v, 0.0);
  const double within = simd::detail::clamp(number, -limit, limit);
  UMBEL_COMPUTED(within);
  double shifted = within + magic;
  UMBEL_KEEP(shifted);
  return static_cast<std::int32_t>(bits_of(shifted) - bits_of(magic));
}
// Arguments other than a tensor and a range.
template <class Operation, class Takes, class... Given>
using refused_arguments =
    std::conditional_t<(traced<Given> || ...) && !(one_is_invalid<Given> || ...),
                       rules::no_word_of_formulas<Operation>,
                       verdict<(one_is_invalid<Given> || ...), Operation, Takes>>;
template <class... Given>
inline constexpr bool are_tensor_and_range = false;
template <tensor_like X, one_range Range>
inline constexpr bool are_tensor_and_range<X, Range> = true;
}  // namespace integers
}  // namespace detail

// quantize<std::int8_t>(x, range): the elements of a tensor or view of floats as integers, rounded
// to the nearest, halves to even; values beyond the range become its largest, NaN 0. Returns a
// row-major tensor with the same axes. T: std::int8_t, or std::int16_t for a residual sum, which
// can hold numbers twice as large. range: of the part that reads it, seen.residual, or a number.
template <class T, detail::tensor_like X, detail::integers::one_range Range>
constexpr auto quantize(const X& x, const Range& range) noexcept {
  using verdict = detail::rules::quantize<T, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  using namespace detail::integers;
  const double unit = unit_of<T>(static_cast<double>(range_as_float(range)));
  return detail::each_position<verdict, T>(
      [unit](const auto& from) {
        const double in_units = static_cast<double>(from) / unit;
        return static_cast<T>(__builtin_is_constant_evaluated()
                                  ? rounded(in_units, most_of<T>)
                                  : rounded_at_run_time(in_units, most_of<T>));
      },
      x);
}

template <class T = void, class... Given>
  requires(std::is_void_v<T> || !detail::integers::are_tensor_and_range<Given...>)
constexpr detail::invalid quantize(const Given&...) noexcept {
  using namespace detail;
  using takes = std::conditional_t<
      std::is_void_v<T>,
      say::
          needs_an_integer_type_so_write_quantize_int8_of_x_and_a_range_or_int16_for_a_residual_sum,
      say::expects_a_tensor_then_one_range_a_number_or_such_as_seen_input>;
  static_assert(report<integers::refused_arguments<say::quantize, takes, Given...>>::ok,
                "umbel: shapes do not fit");
  return {};
}

// dequantize(y, range): the numbers that the integers of a range stand for, a row-major tensor of
// float, or of T with dequantize<double>(y, range). y: int8, or int16 for a residual sum.
template <class T = float, detail::tensor_like Y, detail::integers::one_range Range>
constexpr auto dequantize(const Y& y, const Range& range) noexcept {
  using verdict = detail::rules::dequantize<T, Y>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  const double unit = detail::integers::unit_of<typename Y::value_type>(
      static_cast<double>(detail::integers::range_as_float(range)));
  return detail::each_position<verdict, T>(
      [unit](const auto& from) { return static_cast<T>(from * unit); }, y);
}
template <class T = float, class... Given>
  requires(!detail::integers::are_tensor_and_range<Given...>)
constexpr detail::invalid dequantize(const Given&...) noexcept {
  using namespace detail;
  using takes = say::expects_a_tensor_then_one_range_a_number_or_such_as_seen_input;
  static_assert(report<integers::refused_arguments<say::dequantize, takes, Given...>>::ok,
                "umbel: shapes do not fit");
  return {};
}
#define UMBEL_INSTEAD "expects an element type; write quantize<std::int8_t>(x, range)"
UMBEL_REFUSES_MIXED(quantize, UMBEL_TENSOR_FIRST, UMBEL_INSTEAD)
UMBEL_REFUSES_CALL(quantize, UMBEL_TENSOR_FIRST, UMBEL_INSTEAD, UMBEL_NUMBERS)
UMBEL_REFUSES_CALL(quantize, UMBEL_TENSOR_FIRST, UMBEL_INSTEAD, UMBEL_NAMES)
#undef UMBEL_INSTEAD
#define UMBEL_INSTEAD "expects an element type, or none for float; write dequantize(y, range)"
UMBEL_REFUSES_MIXED(dequantize, UMBEL_TENSOR_FIRST, UMBEL_INSTEAD)
UMBEL_REFUSES_CALL(dequantize, UMBEL_TENSOR_FIRST, UMBEL_INSTEAD, UMBEL_NUMBERS)
UMBEL_REFUSES_CALL(dequantize, UMBEL_TENSOR_FIRST, UMBEL_INSTEAD, UMBEL_NAMES)
#undef UMBEL_INSTEAD

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
