// SPDX-License-Identifier: BSL-1.0
// The definition of 8-bit numbers: steps of a shared scale, from -127 to 127; the largest magnitude
// is 127 steps. Conversion from floats, and linear maps, as floats.hpp defines them for floats;
// usable in constant expressions. Attention with 8-bit keys and values: attend.hpp.
//
// If a number is NaN or infinite, the scale is NaN and all steps are 0, so results are NaN. If the
// largest is below 127 times the smallest normal number (1.5e-36), the scale is 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// Finds the scale of numbers, given one after another. At run time without a branch, in more steps;
// clang allows constant expressions a million.
template <class T>
class scale_of_numbers {
  using bits = simd::signed_of<T>;
  using constants = simd::math_constants<T>;

 public:
  constexpr void add(T x) noexcept {
    const T size = simd::detail::magnitude(x);
    if (__builtin_is_constant_evaluated()) {
      if (!(size <= largest_) && largest_ == largest_) largest_ = size;
    } else {
      // As bits, magnitudes are ordered like numbers, with NaN above infinity.
      const bits a = bits_of(size), b = bits_of(largest_);
      largest_ = simd::detail::from_bits<T>(b ^ ((a ^ b) & all(a > b)));
    }
  }
  [[nodiscard]] constexpr T value() const noexcept {
    const T scale = simd::detail::from_bits<T>(bits_of(largest_) & all(has_steps())) / 127;
    return simd::detail::from_bits<T>(bits_of(scale) |
                                      (bits_of(constants::not_a_number) & all(!is_finite())));
  }
  // Converts numbers to steps: one object for all of them.
  class in_steps {
   public:
    constexpr explicit in_steps(const scale_of_numbers& scale) noexcept
        : largest_(scale.largest_), all_(all(scale.has_steps())) {}
    // x in steps, rounded to nearest, ties to even.
    [[nodiscard]] constexpr std::int8_t operator()(T x) const noexcept {
      UMBEL_AS_WRITTEN
      if (__builtin_is_constant_evaluated()) {
        if (all_ == 0) return 0;
        const T size = simd::detail::magnitude(x) * (127 / largest_);
        const int below = static_cast<int>(size);
        const T middle = static_cast<T>(below) + static_cast<T>(0.5);
        const int nearest = below + (size > middle || (size == middle && below % 2 != 0) ? 1 : 0);
        return static_cast<std::int8_t>(x < 0 ? -nearest : nearest);
      }
      // A number of the magnitude of rounding_magic rounds that way, and ends in the steps. By fma,
      // so that -ffp-contract can't fuse the product into the sum.
      constexpr T magic = constants::rounding_magic;
      const T size = simd::detail::from_bits<T>(bits_of(simd::detail::magnitude(x)) & all_);
      T shifted = simd::fma(size, 127 / largest_, T{}) + magic;
      UMBEL_KEEP(shifted);
      const bits nearest = bits_of(shifted) - bits_of(magic),
                 sign = bits_of(x) >> (8 * sizeof(T) - 1);
      return static_cast<std::int8_t>((nearest ^ sign) - sign);
    }

   private:
    T largest_;
    std::int32_t all_;
  };

 private:
  static constexpr bits bits_of(T x) noexcept { return simd::detail::bits_of(x); }
  // All bits of a number, or none. If clang knows that, it makes a branch, or two loops of one.
  static constexpr std::int32_t all(bool chosen) noexcept {
    std::int32_t mask = -static_cast<std::int32_t>(chosen);
    UMBEL_AS_MASK(mask);
    return mask;
  }
  constexpr bool is_finite() const noexcept { return largest_ < constants::infinity; }
  constexpr bool has_steps() const noexcept {
    return static_cast<int>(is_finite()) &
           static_cast<int>(largest_ >= 127 * constants::lowest_normal);
  }
  // The initial value has no steps but is a valid divisor: clang divides before it tests.
  T largest_ = 126 * constants::lowest_normal;
};

namespace plain {

// Weights w(in, out) in 8 bits, and each output's scale.
template <linear_shape S, class T>
constexpr void store_in_8_bits(const T* w, std::int8_t* steps, T* scales) noexcept {
  for (std::size_t n = 0; n < S.out; ++n) {
    scale_of_numbers<T> scale;
    for (std::size_t k = 0; k < S.in; ++k) scale.add(w[k * S.out + n]);
    const typename scale_of_numbers<T>::in_steps in_steps{scale};
    for (std::size_t k = 0; k < S.in; ++k) steps[k * S.out + n] = in_steps(w[k * S.out + n]);
    scales[n] = scale.value();
  }
}

// y = (x w) scales + bias: each element is one chain of steps that starts at 0, k increasing, then
// one fma with the output's scale and bias (or 0).
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
