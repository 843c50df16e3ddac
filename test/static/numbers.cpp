// SPDX-License-Identifier: BSL-1.0
// Functions of numbers without <cmath>. (With it: beside_std.cpp.)
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

// Of integers and floats, double, as the global ones of <cmath>.
#define UMBEL_OF_NUMBER(name)                                 \
  static_assert(std::is_same_v<decltype(name(3)), double> &&  \
                std::is_same_v<decltype(name(3ul)), double>); \
  static_assert(name(3) == name(3.0) && name(3ul) == name(3.0))
UMBEL_OF_NUMBER(exp);
UMBEL_OF_NUMBER(log);
UMBEL_OF_NUMBER(sqrt);
UMBEL_OF_NUMBER(rsqrt);
UMBEL_OF_NUMBER(tanh);
UMBEL_OF_NUMBER(sigmoid);
UMBEL_OF_NUMBER(sin);
UMBEL_OF_NUMBER(cos);
UMBEL_OF_NUMBER(erf);
UMBEL_OF_NUMBER(floor);
static_assert(std::is_same_v<decltype(abs(-3)), int> && abs(-3) == 3 && abs(-2.5f) == 2.5f);
static_assert(umbel::log(umbel::exp(1)) == 1 && umbel::floor(-2.5f) == -3 && umbel::abs(-1L) == 1);
// Those of numbers that are neither stay float or double.
static_assert(std::is_same_v<decltype(rsqrt(3.0f)), float> && sqrt(9) == 3.0f);

// In a formula a number has the bits of its float.
static_assert(static_cast<float>(rsqrt(32)) == rsqrt(32.0f));
constexpr formula scaled = [](auto q, auto k) {
  const auto features = q.template extent<head_dim>;
  return contract<head_dim>(q, k) * rsqrt(features) + exp(-2) - log(features);
};
constexpr formula by_floats = [](auto q, auto k) {
  return contract<head_dim>(q, k) * rsqrt(3.0f) + static_cast<float>(exp(-2.0)) -
         static_cast<float>(log(3.0));
};
constexpr tensor<float, query<1>, head_dim<3>> q{1, 2, 4};
constexpr tensor<float, key<1>, head_dim<3>> k{3, 1, 2};
static_assert(scaled(q, k) == by_floats(q, k));
