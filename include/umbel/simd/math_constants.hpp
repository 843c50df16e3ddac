// SPDX-License-Identifier: BSL-1.0
// Coefficients and thresholds of math.hpp, for float and double. The polynomials are minimax fits
// made for this library (Remez, 40 digits; weights: the relative error of the function, for
// float exp2 the ulp, with each coefficient rounded before the next were fitted). Beside each
// stands the bound of the fit; what rounding adds is in the tests.
#pragma once

#include <cstddef>
#include <cstdint>

namespace umbel::simd {

template <class T>
struct math_constants;

template <>
struct math_constants<float> {
  static constexpr std::int32_t exponent_bias = 127;
  static constexpr int mantissa_bits = 23;
  static constexpr float rounding_magic = 12582912.0f;  // 1.5 * 2^23
  static constexpr float infinity = __builtin_huge_valf();
  static constexpr float not_a_number = __builtin_nanf("");
  static constexpr float lowest = -3.40282347e+38f;  // the lowest finite one
  static constexpr float log2_e = 1.44269504f;

  // 2^r, |r| <= 0.5, 1 exactly at 0: 1.06 ulp.
  static constexpr float exp2[] = {1.0f,         0.693146825f,   0.24022238f,
                                   0.05550896f, 0.00967172161f, 0.00132245664f};
  static constexpr float exp2_lowest = -126.0f;

  // (e^r - 1 - r) / r^2, |r| <= ln2 / 2: 3.1e-9 of e^r.
  static constexpr float exp[] = {0.49999994f, 0.166665196f, 0.041668389f, 0.00836878177f,
                                  0.00138147071f};
  static constexpr float exp_lowest = -87.3365402f;   // 2^-126 is reached just below it
  static constexpr float exp_highest = 88.7228317f;   // the last with a finite result
  static constexpr float ln2_high = 0.693359375f;     // 9 bits: n * ln2_high is exact
  static constexpr float ln2_low = -2.12194442e-4f;

  // (tanh(x) / x - 1) / x^2 in x^2, |x| <= 0.625: 4.2e-9 of tanh.
  static constexpr float tanh[] = {-0.333332837f, 0.133314908f, -0.0537435003f, 0.0206505992f,
                                   -0.00571706286f};

  // erf(x) / x - 1 in x^2, |x| <= 1: 1.2e-9.
  static constexpr float erf_near[] = {0.128379166f,   -0.37612626f,    0.112836003f,
                                       -0.0268544443f, 0.00518953521f, -0.000802083872f,
                                       7.88911057e-05f};
  // -ln(erfc(t + 2.5)), 1 <= t + 2.5 <= 4: 2.1e-11 of erf.
  static constexpr float erf_far[] = {7.80681515f,      5.35268068f,     0.943891823f,
                                      0.0108534982f,    -0.00216652616f, 0.000430911517f,
                                      -6.18183476e-05f, 2.1686501e-05f};
  static constexpr float erf_center = 2.5f;
  static constexpr float erf_last = 4.0f;

  static constexpr std::uint32_t rsqrt_magic = 0x5f3759df;
  static constexpr int newton_steps = 3;
  static constexpr float lowest_normal = 1.17549435e-38f;
  static constexpr float even_power = 16777216.0f;  // 2^24: makes any subnormal normal
  static constexpr float root_of_even_power = 4096.0f;
  static constexpr float inverse_root_of_even_power = 1.0f / 4096.0f;
};

template <>
struct math_constants<double> {
  static constexpr std::int64_t exponent_bias = 1023;
  static constexpr int mantissa_bits = 52;
  static constexpr double rounding_magic = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double infinity = __builtin_huge_val();
  static constexpr double not_a_number = __builtin_nan("");
  static constexpr double lowest = -1.7976931348623157e+308;
  static constexpr double log2_e = 1.4426950408889634;

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
  static constexpr double exp[] = {0.50000000000000111,    0.1666666666666641,
                                   0.04166666666652917,    0.008333333333495202,
                                   0.0013888888943928044,  0.00019841269505693098,
                                   2.480149275707853e-05,  2.7557586520737184e-06,
                                   2.7630380717523825e-07, 2.5000220505591071e-08};
  static constexpr double exp_lowest = -708.39641853226408;
  static constexpr double exp_highest = 709.78271289338397;
  static constexpr double ln2_high = 0.69314718055989033;  // 42 bits: n * ln2_high is exact
  static constexpr double ln2_low = 5.4979230187083712e-14;

  // (tanh(x) / x - 1) / x^2 in x^2, |x| <= 0.625: 9.6e-18 of tanh.
  static constexpr double tanh[] = {-0.33333333333332876,  0.13333333333264913,
                                    -0.053968253932481641, 0.021869487601960346,
                                    -0.0088632213193308509, 0.0035919915721483345,
                                    -0.0014549704873325282, 0.0005863525311214637,
                                    -0.00022863335157136016, 7.7219317176520461e-05,
                                    -1.6107617489970116e-05};

  // erf(x) / x - 1 in x^2, |x| <= 1: 7.1e-18.
  static constexpr double erf_near[] = {0.12837916709551256,    -0.37612638903183548,
                                        0.11283791670945253,    -0.026866170643276219,
                                        0.0052239776074234677,  -0.00085483259896967576,
                                        0.00012055295320494294, -1.4924744663335489e-05,
                                        1.6447517677871873e-06, -1.6209175911748696e-07,
                                        1.3722976265924504e-08, -7.8011888740977512e-10};
  // -ln(erfc(t + 3.5)), 1 <= t + 3.5 <= 6: 2.4e-18 of erf.
  static constexpr double erf_far[] = {14.112437402147176,      7.2660995883638844,
                                       0.96675305478987417,     0.0052256584126453504,
                                       -0.00087368723250613343, 0.00014729701810026546,
                                       -2.4387959361160153e-05, 3.8888950470596731e-06,
                                       -5.8399885989164133e-07, 8.3212611698167949e-08,
                                       -8.457646986447268e-09,  7.7763538054827908e-11,
                                       -1.0547913145655966e-09, -5.3040982330177698e-10,
                                       3.456009790495054e-12,   1.0647157941965703e-10,
                                       6.0065144038976783e-11,  1.630721312701927e-11,
                                       2.443709807070982e-12,   1.5845276769697619e-13};
  static constexpr double erf_center = 3.5;
  static constexpr double erf_last = 6.0;

  static constexpr std::uint64_t rsqrt_magic = 0x5fe6eb50c7b537a9;
  static constexpr int newton_steps = 4;
  static constexpr double lowest_normal = 2.2250738585072014e-308;
  static constexpr double even_power = 18014398509481984.0;  // 2^54
  static constexpr double root_of_even_power = 134217728.0;
  static constexpr double inverse_root_of_even_power = 1.0 / 134217728.0;
};

}  // namespace umbel::simd
