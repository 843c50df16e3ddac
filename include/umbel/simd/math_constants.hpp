// SPDX-License-Identifier: BSL-1.0
// Coefficients and thresholds of math.hpp, for float and double. The polynomials are minimax fits
// made for this library (Remez, 40 digits; weights: the relative error of the function, for float
// exp2 the ulp, with each coefficient rounded before fitting the next). Each has the bound of its
// fit; tests cover rounding.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

// NaN by its bits: clang 19 warns about its builtin with -ffast-math.
template <class T>
struct math_constants;

template <>
struct math_constants<float> {
  static constexpr std::int32_t exponent_bias = 127;
  static constexpr int mantissa_bits = 23;
  static constexpr float rounding_magic = 12582912.0f;  // 1.5 * 2^23
  static constexpr float infinity = __builtin_huge_valf();
  static constexpr float not_a_number = __builtin_bit_cast(float, 0x7fc00000);
  static constexpr float lowest = -3.40282347e+38f;  // the lowest finite number
  static constexpr float log2_e = 1.44269504f;
  static constexpr float lowest_bias = -2.358e+38f;  // times log2_e, a little above `lowest`

  // 2^r, |r| <= 0.5, 1 exactly at 0: 1.06 ulp.
  static constexpr float exp2[] = {1.0f,        0.693146825f,   0.24022238f,
                                   0.05550896f, 0.00967172161f, 0.00132245664f};
  static constexpr float exp2_lowest = -126.0f;

  // (e^r - 1 - r) / r^2, |r| <= ln2 / 2: 3.1e-9 of e^r.
  static constexpr float exp[] = {0.49999994f, 0.166665196f, 0.041668389f, 0.00836878177f,
                                  0.00138147071f};
  static constexpr float sigmoid_lowest = -87.3f;
  static constexpr float exp_lowest = -87.3365402f;  // 2^-126 is reached just below it
  static constexpr float exp_highest = 88.7228317f;  // the last with a finite result
  static constexpr float ln2_high = 0.693359375f;    // 9 bits: n * ln2_high is exact
  static constexpr float ln2_low = -2.12194442e-4f;

  // (log((1 + s) / (1 - s)) / s - 2) / s^2 in s^2, s^2 <= 0.02944: 2.5e-11 of log.
  static constexpr float log[] = {0.6666666f, 0.40000972f, 0.28498793f, 0.24278857f};
  static constexpr std::uint32_t root_of_half = 0x3f3504f3;  // the bits of sqrt(1 / 2)

  static constexpr float tanh_last = 10;  // 1 from 9.02 on
  // (tanh(x) / x - 1) / x^2 in x^2, |x| <= 0.625: 4.2e-9 of tanh.
  static constexpr float tanh[] = {-0.333332837f, 0.133314908f, -0.0537435003f, 0.0206505992f,
                                   -0.00571706286f};

  // log2 P(Z > a) of the normal distribution in a, 0 <= a <= 6: 2.5e-8 of P(Z <= a), 8.1e-7 of P(Z
  // > a). It keeps falling: below -126 at 12.
  static constexpr float normal_tail[] = {-1.0f,
                                          -1.15110564f,
                                          -0.459203571f,
                                          -0.0525054187f,
                                          0.00705615431f,
                                          -9.87443636e-05f,
                                          -0.000228686185f,
                                          6.09548806e-05f,
                                          -8.22513175e-06f,
                                          5.98140389e-07f,
                                          -1.85449149e-08f};
  static constexpr float normal_last = 12.0f;

  static constexpr std::uint32_t rsqrt_magic = 0x5f3759df;
  static constexpr int newton_steps = 3;
  static constexpr float lowest_normal = 1.17549435e-38f;
  static constexpr float even_power = 16777216.0f;  // 2^24: makes any subnormal normal
  static constexpr std::int32_t even_exponent = 24;
  static constexpr float root_of_even_power = 4096.0f;
};

template <>
struct math_constants<double> {
  static constexpr std::int64_t exponent_bias = 1023;
  static constexpr int mantissa_bits = 52;
  static constexpr double rounding_magic = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double infinity = __builtin_huge_val();
  static constexpr double not_a_number = __builtin_bit_cast(double, 0x7ff8000000000000);
  static constexpr double lowest = -1.7976931348623157e+308;
  static constexpr double log2_e = 1.4426950408889634;
  static constexpr double lowest_bias = -1.246e+308;

  // 2^r, |r| <= 0.5: 3.4e-18.
  static constexpr double exp2[] = {1.0,
                                    0.69314718055994529,
                                    0.2402265069591013,
                                    0.055504108664820077,
                                    0.0096181291075941172,
                                    0.0013333558146775089,
                                    0.00015403530457116585,
                                    1.5252733492793412e-05,
                                    1.3215435279764865e-06,
                                    1.0178199670339044e-07,
                                    7.0737837166791713e-09,
                                    4.4347614153505906e-10};
  static constexpr double exp2_lowest = -1022.0;

  // (e^r - 1 - r) / r^2, |r| <= ln2 / 2: 3.7e-18 of e^r.
  static constexpr double exp[] = {
      0.50000000000000111,    0.1666666666666641,     0.04166666666652917,   0.008333333333495202,
      0.0013888888943928044,  0.00019841269505693098, 2.480149275707853e-05, 2.7557586520737184e-06,
      2.7630380717523825e-07, 2.5000220505591071e-08};
  static constexpr double sigmoid_lowest = -708.3;
  static constexpr double exp_lowest = -708.39641853226408;
  static constexpr double exp_highest = 709.78271289338397;
  static constexpr double ln2_high = 0.69314718055989033;  // 42 bits: n * ln2_high is exact
  static constexpr double ln2_low = 5.4979230187083712e-14;

  // (log((1 + s) / (1 - s)) / s - 2) / s^2 in s^2, s^2 <= 0.02944: 1.3e-18 of log.
  static constexpr double log[] = {0.6666666666666735, 0.3999999999940935,  0.28571428743686716,
                                   0.2222219842893543, 0.18183572357910596, 0.15313832072452024,
                                   0.14798259850160128};
  static constexpr std::uint64_t root_of_half = 0x3fe6a09e667f3bcd;  // the bits of sqrt(1 / 2)

  static constexpr double tanh_last = 20;  // 1 from 19.07 on
  // (tanh(x) / x - 1) / x^2 in x^2, |x| <= 0.625: 9.6e-18 of tanh.
  static constexpr double tanh[] = {
      -0.33333333333332876,   0.13333333333264913,    -0.053968253932481641,
      0.021869487601960346,   -0.0088632213193308509, 0.0035919915721483345,
      -0.0014549704873325282, 0.0005863525311214637,  -0.00022863335157136016,
      7.7219317176520461e-05, -1.6107617489970116e-05};

  // log2 P(Z > a) of the normal distribution in a, 0 <= a <= 8.6: 3.1e-17 of P(Z <= a), 6.1e-15 of
  // P(Z > a). It keeps falling: below -1022 at 14.
  static constexpr double normal_tail[] = {-1.0,
                                           -1.1511040990721542,
                                           -0.45922409426376004,
                                           -0.052421193319341593,
                                           0.0068991288134756358,
                                           5.3352508127137399e-05,
                                           -0.00030589079013707476,
                                           7.5257351888887347e-05,
                                           -2.3454386847331013e-06,
                                           -4.0940793549181894e-06,
                                           1.319769228276003e-06,
                                           -9.0611473376295841e-08,
                                           -7.6459862565603987e-08,
                                           3.466259005050459e-08,
                                           -6.7801491818318387e-09,
                                           -8.8088215438665421e-11,
                                           5.4560966452509048e-10,
                                           -2.1891896364675141e-10,
                                           5.6361382889702248e-11,
                                           -1.0964813985519515e-11,
                                           1.694279065828595e-12,
                                           -2.1169292716137291e-13,
                                           2.1466681888979055e-14,
                                           -1.7573355476683138e-15,
                                           1.1460940965375118e-16,
                                           -5.8215258452502376e-18,
                                           2.220673090675071e-19,
                                           -5.9856100874935843e-21,
                                           1.0164665133735093e-22,
                                           -8.1783170613960646e-25};
  static constexpr double normal_last = 14.0;

  static constexpr std::uint64_t rsqrt_magic = 0x5fe6eb50c7b537a9;
  static constexpr int newton_steps = 4;
  static constexpr double lowest_normal = 2.2250738585072014e-308;
  static constexpr double even_power = 18014398509481984.0;  // 2^54
  static constexpr std::int64_t even_exponent = 54;
  static constexpr double root_of_even_power = 134217728.0;
};

// The start of a maximum or minimum.
template <class T>
inline constexpr T highest_of =
    static_cast<T>(~(std::is_signed_v<T> ? std::uint64_t{1} << (8 * sizeof(T) - 1) : 0));
template <class T>
inline constexpr T lowest_of = static_cast<T>(~highest_of<T>);
template <>
inline constexpr float highest_of<float> = math_constants<float>::infinity;
template <>
inline constexpr float lowest_of<float> = -math_constants<float>::infinity;
template <>
inline constexpr double highest_of<double> = math_constants<double>::infinity;
template <>
inline constexpr double lowest_of<double> = -math_constants<double>::infinity;

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
