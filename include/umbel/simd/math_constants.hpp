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

  // erf(x) / x - 1 in x^2, |x| <= 0.82: 4.4e-9 of erf.
  static constexpr float erf[] = {0.128379166f,   -0.376126021f,  0.112830617f,
                                  -0.0268170498f, 0.00507643027f, -0.000647069071f};

  // (sin(x) / x - 1) / x^2 and (cos(x) - 1 + x^2 / 2) / x^4 in x^2, |x| <= pi / 4: 4.2e-9 of sin,
  // 1.2e-10 of cos.
  static constexpr float sin[] = {-0.166666538f, 0.00833210628f, -0.000195079061f};
  static constexpr float cos[] = {0.0416666456f, -0.00138873083f, 2.44321018e-5f};

  // For pow. (3/2 log((1 + s) / (1 - s)) / s - 3 - s^2) / s^4 in s^2, |s| <= 0.1011: 4.7e-14 of
  // log. The numbers in two parts: the first has half the bits.
  static constexpr float pow[] = {0.600000083f, 0.428531021f, 0.33928743f};
  static constexpr std::uint32_t root_of_three_quarters = 0x3f5db3d7;  // its bits
  static constexpr float pow_scale = 0.961796701f;                     // 2 / (3 ln 2)
  static constexpr float pow_scale_high = 0.961669922f, pow_scale_low = 0.000126772051f;
  static constexpr float log2_of_three_halves_high = 0.584960938f;
  static constexpr float log2_of_three_halves_low = 1.56322119e-6f;
  static constexpr float ln2 = 0.693147182f;
  static constexpr float ln2_first_half = 0.693115234f, ln2_second_half = 3.19461833e-5f;
  static constexpr float pow_lowest = -152, pow_highest = 129;  // log2: beyond are 0 and infinity
  static constexpr float pow_exponent = 8589934592.0f;  // beyond, only 1 is finite and not 0

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

  // erf(x) / x - 1 in x^2, |x| <= 0.82: 1.4e-17 of erf.
  static constexpr double erf[] = {
      0.12837916709551256,    -0.37612638903183254,   0.11283791670928271,
      -0.026866170639468466,  0.0052239775640186802,  -0.00085483231245134705,
      0.00012055178124154538, -1.4921681093856076e-5, 1.6396272059446247e-6,
      -1.5678489334416126e-7, 1.0624220849911768e-8};

  // (sin(x) / x - 1) / x^2 and (cos(x) - 1 + x^2 / 2) / x^4 in x^2, |x| <= pi / 4: 3.9e-18 of sin,
  // 6.1e-20 of cos.
  static constexpr double sin[] = {-0.1666666666666663,     0.0083333333333218407,
                                   -0.00019841269829358403, 2.7557313538431919e-6,
                                   -2.5050734376925014e-8,  1.5895433437595417e-10};
  static constexpr double cos[] = {0.041666666666666588,  -0.0013888888888872186,
                                   2.4801587288295396e-5, -2.7557314015129706e-7,
                                   2.0875678087099932e-9, -1.1357336931963082e-11};

  // For pow, as above: 3.5e-22 of log.
  static constexpr double pow[] = {0.59999999999999465, 0.42857142857852282, 0.33333332982723024,
                                   0.27272812244825001, 0.23066084606887868, 0.20697215948629344};
  static constexpr std::uint64_t root_of_three_quarters = 0x3febb67ae8584caa;
  static constexpr double pow_scale = 0.96179669392597555;
  static constexpr double pow_scale_high = 0.96179628372192383;
  static constexpr double pow_scale_low = 4.1020405177678161e-7;
  static constexpr double log2_of_three_halves_high = 0.58496236801147461;
  static constexpr double log2_of_three_halves_low = 1.3270968157207873e-7;
  static constexpr double ln2 = 0.69314718055994529;
  static constexpr double ln2_first_half = 0.69314670562744141;
  static constexpr double ln2_second_half = 4.7493250390316726e-7;
  static constexpr double pow_lowest = -1080, pow_highest = 1025;
  static constexpr double pow_exponent = 18446744073709551616.0;

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
inline constexpr T lowest_of =
    static_cast<T>(std::is_signed_v<T> ? std::uint64_t{1} << (8 * sizeof(T) - 1) : 0);
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
