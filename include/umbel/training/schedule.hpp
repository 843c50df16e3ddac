// SPDX-License-Identifier: BSL-1.0
// The learning rate as a function of the step, counted from 0; the same bits on every target:
//
//   constexpr warm_up_then_cosine rate{.rate = 6e-3, .warm_up = 1000, .steps = 15000};
//   update(w, g, state, adamw{.rate = rate(step)});
//
// All rise first, in warm_up equal steps: at step s to rate (s + 1) / warm_up. Then the rate is a
// function of the fraction (s - warm_up) / (steps - warm_up); from `steps` on it is `last`, so
// without either it is always 0. Numbers are not checked here: update refuses a rate that is
// negative or not finite.
#pragma once

#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/training/elementary.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// A constant rate after the warm-up.
struct constant_rate {
  double rate = 0;
  std::uint64_t warm_up = 0;  // steps

  [[nodiscard]] constexpr double operator()(std::uint64_t step) const noexcept {
    if (step >= warm_up) return rate;
    return rate * static_cast<double>(step + 1) / static_cast<double>(warm_up);
  }
};

namespace detail {
// fall(fraction): from 1 to 0.
template <class Schedule, class Fall>
constexpr double falling_rate(const Schedule& s, std::uint64_t step, Fall fall) noexcept {
  if (step >= s.steps) return s.last;
  if (step < s.warm_up) return constant_rate{s.rate, s.warm_up}(step);
  const double part =
      static_cast<double>(step - s.warm_up) / static_cast<double>(s.steps - s.warm_up);
  return s.last + elementary::product(s.rate - s.last, fall(part));
}
}  // namespace detail

// Half a cosine from `rate` to `last` (Loshchilov and Hutter 2017, "SGDR").
struct warm_up_then_cosine {
  double rate = 0;            // the highest, after the warm-up
  std::uint64_t warm_up = 0;  // steps
  std::uint64_t steps = 0;    // in total, including the warm-up
  double last = 0;            // the rate afterwards

  [[nodiscard]] constexpr double operator()(std::uint64_t step) const noexcept {
    return detail::falling_rate(*this, step, [](double part) {
      return (1 + detail::elementary::on_circle(part / 2).cosine) / 2;
    });
  }
};

// A line from `rate` to `last`.
struct warm_up_then_linear {
  double rate = 0;            // the highest, after the warm-up
  std::uint64_t warm_up = 0;  // steps
  std::uint64_t steps = 0;    // in total, including the warm-up
  double last = 0;            // the rate afterwards

  [[nodiscard]] constexpr double operator()(std::uint64_t step) const noexcept {
    return detail::falling_rate(*this, step, [](double part) { return 1 - part; });
  }
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
