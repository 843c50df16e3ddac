// SPDX-License-Identifier: BSL-1.0
// The definition of numbers in 8 bits: steps of a scale that several of them share, from -127 to
// 127, so that the one of the largest magnitude is 127 steps. How they are made of floats, and what
// a linear map of them is, as floats.hpp says it of floats; usable in constant expressions. Of
// attention to keys and values in 8 bits: attend.hpp.
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

// The scale of numbers that are to be stored, one after the other. At run time the same without a
// branch, in more steps, of which clang allows constant expressions a million.
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
      // In their bits magnitudes are ordered as numbers are, a NaN above infinity.
      const bits a = bits_of(size), b = bits_of(largest_);
      largest_ = simd::detail::from_bits<T>(b ^ ((a ^ b) & all(a > b)));
    }
  }
  [[nodiscard]] constexpr T value() const noexcept {
    const T scale = simd::detail::from_bits<T>(bits_of(largest_) & all(has_steps())) / 127;
    return simd::detail::from_bits<T>(bits_of(scale) |
                                      (bits_of(constants::not_a_number) & all(!is_finite())));
  }
  // What makes steps of numbers: once for all of them.
  class in_steps {
   public:
    constexpr explicit in_steps(const scale_of_numbers& scale) noexcept
        : largest_(scale.largest_), all_(all(scale.has_steps())) {}
    // x in steps, to the nearest, a tie to the even one.
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
      // A number of the magnitude of rounding_magic is rounded so by itself, and ends in the steps.
      // By fma, so that -ffp-contract cannot fuse the product into the sum.
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
  // All of the bits of a number, or none. clang, if it knows that it is one of the two, makes a
  // branch of it, or two loops of one.
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
  // At first what has no steps, but can be divided by: clang divides before it asks.
  T largest_ = 126 * constants::lowest_normal;
};

namespace plain {

// Weights w(in, out) in 8 bits, and the scale of each output.
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
