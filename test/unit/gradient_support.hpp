// SPDX-License-Identifier: BSL-1.0
// Gradients of formulas by differences of the formula itself, in double, and by readable loops, bit
// for bit. Not here: any formula.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <support/random.hpp>
#include <umbel/training.hpp>
#include <umbel/umbel.hpp>

namespace umbel_test {

template <class X>
bool same_bits(const X& x, const X& y) {
  return std::memcmp(&x, &y, sizeof x) == 0;
}
template <class W>
double* numbers_of(W& w) {
  return static_cast<double*>(static_cast<void*>(&w));
}
template <class W>
constexpr std::size_t count_of = sizeof(W) / sizeof(double);

// The furthest that the gradient of f by x is from differences, in units of the largest. call(): f.
template <class X, class Call>
double furthest(X& x, const X& gradient, const Call& call) {
  X copy = gradient;
  double apart = 0, largest = 1e-3;
  for (std::size_t i = 0; i < count_of<X>; ++i) {
    double& number = numbers_of(x)[i];
    const double before = number, step = 1e-5;
    number = before + step;
    const double up = call();
    number = before - step;
    const double down = call();
    number = before;
    const double difference = (up - down) / (2 * step);
    apart = std::fmax(apart, std::fabs(difference - numbers_of(copy)[i]));
    largest = std::fmax(largest, std::fabs(difference));
  }
  return apart / largest;
}
template <class W>
void draw_weights(lcg& next, W& w, double scale = 0.5) {
  for (std::size_t i = 0; i < count_of<W>; ++i)
    numbers_of(w)[i] = static_cast<double>(next()) * scale;
}

// Gradients of a formula by its first two arguments, tensors or weights; more are fixed. Fused: the
// formula has attention in words, which is one pass by itself and not where a gradient reads what
// lies between.
template <bool Fused = false, class F, class X, class W, class... More>
void check(const F& f, X& x, W& w, const More&... more) {
  const umbel::gradient learn{f};
  X dx{}, plain_dx{};
  W dw{}, plain_dw{};
  const auto value = learn(umbel::with_gradient(x, dx), umbel::with_gradient(w, dw), more...);
  const double apart = value.data()[0] - f(x, w, more...).data()[0];
  BOOST_TEST(std::fabs(apart) <= (Fused ? 1e-13 : 0));
  BOOST_TEST(furthest(x, dx, [&] { return f(x, w, more...).data()[0]; }) < 2e-8);
  BOOST_TEST(furthest(w, dw, [&] { return f(x, w, more...).data()[0]; }) < 2e-8);

  const auto by_loops =
      plain(learn)(umbel::with_gradient(x, plain_dx), umbel::with_gradient(w, plain_dw), more...);
  BOOST_TEST(same_bits(value, by_loops));
  BOOST_TEST(same_bits(dx, plain_dx));
  BOOST_TEST(same_bits(dw, plain_dw));
}
// Of one argument alone, the other being fixed: the same gradient. And it is added.
template <class F, class X, class W, class... More>
void check_alone(const F& f, const X& x, const W& w, const More&... more) {
  const umbel::gradient learn{f};
  X dx{}, dx_alone{};
  W dw{}, dw_alone{};
  (void)learn(umbel::with_gradient(x, dx), umbel::with_gradient(w, dw), more...);
  (void)learn(umbel::with_gradient(x, dx_alone), w, more...);
  (void)learn(x, umbel::with_gradient(w, dw_alone), more...);
  BOOST_TEST(same_bits(dx, dx_alone));
  BOOST_TEST(same_bits(dw, dw_alone));
  // Added: twice the gradient, exactly.
  (void)learn(umbel::with_gradient(x, dx_alone), w, more...);
  bool doubled = true;
  for (std::size_t i = 0; i < count_of<X>; ++i)
    doubled = doubled && numbers_of(dx_alone)[i] == 2 * numbers_of(dx)[i];
  BOOST_TEST(doubled);
}

}  // namespace umbel_test
