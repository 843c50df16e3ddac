// SPDX-License-Identifier: BSL-1.0
// What the programs of gradients.py share: a random formula, its gradient by everything that is
// given to it, and differences of the formula itself, in double.
#pragma once

#include <cmath>
#include <tuple>
#include <umbel/bare.hpp>
#include <umbel/training.hpp>

#include "formulas.hpp"

template <class X>
void fill_numbers(X& x) {
  for (std::size_t i = 0; i < sizeof x / sizeof(double); ++i) {
    state = state * 1664525u + 1013904223u;
    static_cast<double*>(static_cast<void*>(&x))[i] =
        static_cast<double>(state >> 8) * 0x1p-23 - 1.0;
  }
}

// In a formula: a number that depends on every element of y, each differently.
template <class Y, template <std::size_t> class... Axis, std::size_t... N>
constexpr auto summed(const Y& y, umbel::detail::shape<Axis<N>...>) {
  if constexpr (sizeof...(Axis) == 0)
    return y * y * 0.5f + y;
  else
    return umbel::sum<Axis...>(y * y * 0.5f + y);
}
template <class Y>
constexpr auto number_of(const Y& y) {
  return summed(y, typename Y::layout::axes{});
}

// Of the numbers of x, whose gradient is dx.
template <class X, class F>
void compare_differences(X& x, const X& dx, double value, const F& f) {
  auto* const numbers = static_cast<double*>(static_cast<void*>(&x));
  const auto* const gradient = static_cast<const double*>(static_cast<const void*>(&dx));
  double largest = std::fmax(1e-3, 1e-4 * std::fabs(value));
  for (std::size_t i = 0; i < sizeof x / sizeof(double); ++i)
    largest = std::fmax(largest, std::fabs(gradient[i]));
  for (std::size_t i = 0; i < sizeof x / sizeof(double); ++i) {
    double nearest = INFINITY;
    // The second: where a step of the first goes over a bend, of relu for one.
    for (const double step : {1e-5, 1e-6}) {
      const double before = numbers[i];
      numbers[i] = before + step;
      const double up = f();
      numbers[i] = before - step;
      const double down = f();
      numbers[i] = before;
      nearest = std::fmin(nearest, std::fabs((up - down) / (2 * step) - gradient[i]));
      if (nearest <= 1e-6 * largest) break;
    }
    furthest = std::fmax(furthest, nearest / (1e-6 * largest));
    near_enough = near_enough && nearest <= 1e-6 * largest;
  }
}

template <class F, class... X>
void check_gradient(const F& f, X&... x) {
  const umbel::gradient learn{f};
  std::tuple<X...> gradients{};
  static umbel::workspace_for<decltype(learn), umbel::differentiated<X>...> work;
  const auto value_of = [&] { return f(x...)(); };
  const double value = value_of();
  std::apply(
      [&](auto&... dx) {
        const double same = learn(umbel::with_gradient(x, dx)..., work)();
        // (Attention in words is one pass where nothing reads what lies between.)
        near_enough = near_enough && std::fabs(same - value) <= 1e-12 * (1 + std::fabs(value));
        (compare_differences(x, dx, value, value_of), ...);
      },
      gradients);
}

inline void run_gradient(unsigned seed, void (*formula)()) {
  state = seed;
  near_enough = true;
  furthest = 0;
  formula();
  std::printf("%s - gradient %u, %.2g of the tolerance\n", near_enough ? "ok" : "not ok", seed,
              furthest);
}
