// SPDX-License-Identifier: BSL-1.0
// Comparing numbers: of the same bits, or near enough to a reference. Not here: any test.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <umbel/tensor/loop.hpp>

namespace umbel_test {

// The same axes in the same order and, read in that order, the same bits. (NaN is not like NaN: its
// payload is nobody's business; the tests that plant NaN compare the other elements.)
template <class X, class Y>
[[nodiscard]] bool same_bits(const X& x, const Y& y) {
  static_assert(std::is_same_v<typename X::layout::axes, typename Y::layout::axes>);
  static_assert(std::is_same_v<typename X::value_type, typename Y::value_type>);
  bool same = true;
  umbel::for_each(
      [&](const auto& a, const auto& b) {
        same = same && std::memcmp(&a, &b, sizeof(a)) == 0 && !std::isnan(static_cast<double>(a));
      },
      x, y);
  return same;
}

// How far a result lies from its reference.
struct distance {
  double error = 0;      // largest |result - reference|
  double reference = 0;  // largest |reference|
  double ulp = 0;        // largest error in units of the reference's last place, where that is no
                         // less than a thousandth of the largest
  bool finite = true;
};

template <class T, class Reference>
distance distance_of(const T* result, const Reference* reference, std::size_t count) {
  distance worst;
  for (std::size_t i = 0; i < count; ++i)
    worst.reference = std::max(worst.reference, std::fabs(static_cast<double>(reference[i])));
  for (std::size_t i = 0; i < count; ++i) {
    const double want = static_cast<double>(reference[i]), got = static_cast<double>(result[i]);
    const double error = std::fabs(got - want);
    const T near = static_cast<T>(std::fabs(want));
    const double last_place =
        static_cast<double>(std::nextafter(near, std::numeric_limits<T>::infinity()) - near);
    worst.finite = worst.finite && std::isfinite(got);
    worst.error = std::max(worst.error, error);
    if (std::fabs(want) >= worst.reference / 1000)
      worst.ulp = std::max(worst.ulp, error / last_place);
  }
  return worst;
}

// The tolerance of the library against other people's numbers (float) and against a double
// reference.
template <class T>
double allowed(const distance& d) {
  return sizeof(T) == 4 ? 1e-5 + 1e-4 * d.reference : 1e-12 + 1e-12 * d.reference;
}

// Checks it and says how near it was.
template <class T, class Reference>
distance check_near(const char* what, const T* result, const Reference* reference,
                    std::size_t count) {
  const distance d = distance_of(result, reference, count);
  BOOST_TEST_MESSAGE(what << ": worst error " << d.error << " of at most " << allowed<T>(d) << ", "
                          << d.ulp << " ulp");
  BOOST_TEST(d.finite, what << ": not finite");
  BOOST_TEST(d.error <= allowed<T>(d), what << ": error " << d.error << ", allowed "
                                            << allowed<T>(d) << ", " << d.ulp << " ulp");
  return d;
}

}  // namespace umbel_test
