// SPDX-License-Identifier: BSL-1.0
// The definition of numbers in 8 bits: steps of a scale that several of them share, from -127 to
// 127, so that the one of the largest magnitude is 127 steps. How they are made of floats, and what
// a linear map of them is, as plain.hpp says it of floats; usable in constant expressions. Of
// attention to keys and values in 8 bits: plain_attend.hpp.
//
// Of numbers of which one is NaN or infinite the scale is NaN and all steps are 0: what is computed
// with them is NaN. Where the largest is below 127 times the smallest normal number (1.5e-36), the
// scale is 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// The scale of numbers that are to be stored, one after the other.
template <class T>
class scale_of_numbers {
 public:
  constexpr void add(T x) noexcept {
    const T size = simd::detail::magnitude(x);
    if (!(size <= largest_) && largest_ == largest_) largest_ = size;
  }
  [[nodiscard]] constexpr T value() const noexcept {
    if (!is_finite()) return simd::math_constants<T>::not_a_number;
    return has_steps() ? largest_ / 127 : T{};
  }
  // x in steps, to the nearest, a tie to the even one.
  [[nodiscard]] constexpr std::int8_t steps(T x) const noexcept {
    if (!has_steps()) return 0;
    const T size = simd::detail::magnitude(x) * (127 / largest_);
    const int below = static_cast<int>(size);
    const T middle = static_cast<T>(below) + static_cast<T>(0.5);
    const int nearest = below + (size > middle || (size == middle && below % 2 != 0) ? 1 : 0);
    return static_cast<std::int8_t>(x < 0 ? -nearest : nearest);
  }

 private:
  constexpr bool is_finite() const noexcept { return largest_ - largest_ == 0; }
  constexpr bool has_steps() const noexcept {
    return is_finite() && largest_ >= 127 * simd::math_constants<T>::lowest_normal;
  }
  // At first what has no steps, but can be divided by: clang divides before it asks.
  T largest_ = 126 * simd::math_constants<T>::lowest_normal;
};

namespace plain {

// Weights w(in, out) in 8 bits, and the scale of each output.
template <linear_shape S, class T>
constexpr void store_in_8_bits(const T* w, std::int8_t* steps, T* scales) noexcept {
  for (std::size_t n = 0; n < S.out; ++n) {
    scale_of_numbers<T> scale;
    for (std::size_t k = 0; k < S.in; ++k) scale.add(w[k * S.out + n]);
    for (std::size_t k = 0; k < S.in; ++k) steps[k * S.out + n] = scale.steps(w[k * S.out + n]);
    scales[n] = scale.value();
  }
}

// y = (x w) scales + bias: each element one chain of the steps that starts at 0, k increasing, and
// then one fma with the scale of the output and its bias (or 0).
template <linear_shape S, class T>
constexpr void linear(const T* x, const std::int8_t* w, const T* scales, const T* bias,
                      T* y) noexcept {
  for (std::size_t m = 0; m < S.rows; ++m) {
    for (std::size_t n = 0; n < S.out; ++n) {
      T sum{};
      for (std::size_t k = 0; k < S.in; ++k)
        sum = simd::fma(x[m * S.x_row + k * S.x_in], static_cast<T>(w[k * S.out + n]), sum);
      y[m * S.y_row + n * S.y_out] = simd::fma(sum, scales[n], S.bias ? bias[n] : T{});
    }
  }
}

}  // namespace plain
}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
