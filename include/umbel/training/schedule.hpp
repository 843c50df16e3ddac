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
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/shape/verdict.hpp>
#include <umbel/training/elementary.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
UMBEL_SAYS(is_a_function_of_the_step_so_write_rate_of_step,
           "is a function of the step, counted from 0; write rate(step)");
template <class... Given>
inline constexpr bool is_step =
    sizeof...(Given) == 1 && (std::is_convertible_v<Given, std::uint64_t> && ...);
template <class Schedule, class... Given>
constexpr double rate_without_a_step() noexcept {
  static_assert(report<verdict<never<Given...>, Schedule,
                               say::is_a_function_of_the_step_so_write_rate_of_step>>::ok,
                "umbel: shapes do not fit");
  return 0;
}
}  // namespace detail

// A constant rate after the warm-up.
struct constant_rate {
  double rate = 0;
  std::uint64_t warm_up = 0;  // steps

  [[nodiscard]] constexpr double operator()(std::uint64_t step) const noexcept {
    if (step >= warm_up) return rate;
    return rate * static_cast<double>(step + 1) / static_cast<double>(warm_up);
  }
  // Without a step, as rate.step(), or in place of a number: refused.
  template <class... Given>
    requires(!detail::is_step<Given...>)
  constexpr double operator()(const Given&...) const noexcept {
    return detail::rate_without_a_step<constant_rate, Given...>();
  }
  template <class... Given>
  constexpr double step(const Given&...) const noexcept {
    return detail::rate_without_a_step<constant_rate, Given...>();
  }
  template <class Number>
    requires std::is_arithmetic_v<Number>
  constexpr operator Number() const noexcept {
    return static_cast<Number>(detail::rate_without_a_step<constant_rate, Number>());
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
  // Without a step, as rate.step(), or in place of a number: refused.
  template <class... Given>
    requires(!detail::is_step<Given...>)
  constexpr double operator()(const Given&...) const noexcept {
    return detail::rate_without_a_step<warm_up_then_cosine, Given...>();
  }
  template <class... Given>
  constexpr double step(const Given&...) const noexcept {
    return detail::rate_without_a_step<warm_up_then_cosine, Given...>();
  }
  template <class Number>
    requires std::is_arithmetic_v<Number>
  constexpr operator Number() const noexcept {
    return static_cast<Number>(detail::rate_without_a_step<warm_up_then_cosine, Number>());
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
  // Without a step, as rate.step(), or in place of a number: refused.
  template <class... Given>
    requires(!detail::is_step<Given...>)
  constexpr double operator()(const Given&...) const noexcept {
    return detail::rate_without_a_step<warm_up_then_linear, Given...>();
  }
  template <class... Given>
  constexpr double step(const Given&...) const noexcept {
    return detail::rate_without_a_step<warm_up_then_linear, Given...>();
  }
  template <class Number>
    requires std::is_arithmetic_v<Number>
  constexpr operator Number() const noexcept {
    return static_cast<Number>(detail::rate_without_a_step<warm_up_then_linear, Number>());
  }
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
