// SPDX-License-Identifier: BSL-1.0
// Arithmetic on gradients and weights: clip_by_norm, set_to_zero, scale, add, moving_average.
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/backward/optimiser.hpp>
#include <umbel/training/arrays.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct add;
struct clip_by_norm;
struct moving_average;
struct scale;
struct set_to_zero;
}  // namespace say
UMBEL_SAYS(expects_a_gradient_that_it_changes_and_a_factor_so_write_scale_of_g_and_half,
           "expects a gradient, which it changes, and a factor; write scale(g, 0.5)");
UMBEL_SAYS(expects_a_gradient_that_it_changes_and_the_largest_norm_so_write_clip_by_norm_of_g_and_1,
           "expects a gradient, which it changes, and the largest norm; write clip_by_norm(g, 1)");
UMBEL_SAYS(expects_one_variable_that_it_changes_so_write_set_to_zero_of_g,
           "expects one variable, which it changes; write set_to_zero(g)");
UMBEL_SAYS(expects_an_average_that_it_changes_the_weights_and_the_decay,
           "expects an average, which it changes, the weights and the decay; write "
           "moving_average(average, w, 0.998)");

// In [0, infinity), false for NaN.
template <class T>
constexpr bool is_size(T x) noexcept {
  return x >= 0 && x < static_cast<T>(__builtin_inf());
}

template <class W>
number_of<W> norm_of(const W& w) noexcept {
  using T = number_of<W>;
  T chain[kernel::plain::sum_chains]{};
  for_each_array([&](std::size_t n, const T* x) { kernel::add_squares(x, n, chain); }, w);
  return simd::sqrt(kernel::plain::fold_chains(chain));
}

template <class... Given>
inline constexpr bool are_gradient_and_norm = false;
template <class G, class Norm>
inline constexpr bool are_gradient_and_norm<G&, Norm> = std::is_convertible_v<Norm, double>;
template <class... Given>
inline constexpr bool are_one_variable = false;
template <class G>
inline constexpr bool are_one_variable<G&> = true;
template <class... Given>
inline constexpr bool are_average_weights_and_decay = false;
template <class A, class W, class Decay>
inline constexpr bool are_average_weights_and_decay<A&, W, Decay> =
    std::is_convertible_v<Decay, double>;
}  // namespace detail

// Returns the norm of g, the root of the sum of all squares; if it is larger than `most`, scales g
// by most / norm. The sum is 16 chains of fused multiply-adds: element e of each parameter, in
// their order, continues chain e % 16; the chains are folded in halves. If the norm is NaN or
// infinite, or `most` negative or NaN, g is unchanged.
template <class G>
UMBEL_INLINE double clip_by_norm(G& g, double most) noexcept {
  using verdict = detail::rules::changeable<detail::say::clip_by_norm, G>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) {
    using T = detail::number_of<G>;
    const T norm = detail::norm_of(g);
    const T least = static_cast<T>(most);
    if (detail::is_size(norm) && most >= 0 && norm > least) {
      const detail::kernel::scaling<T> by{least / norm};
      detail::for_each_array([&](std::size_t n, T* x) { detail::kernel::each_number<T>(by, n, x); },
                             g);
    }
    return static_cast<double>(norm);
  } else {
    return 0;
  }
}
template <class... Given>
  requires(detail::given_weights<Given...> && !detail::are_gradient_and_norm<Given...>)
constexpr detail::invalid clip_by_norm(Given&&...) noexcept {
  using namespace detail;
  using takes =
      say::expects_a_gradient_that_it_changes_and_the_largest_norm_so_write_clip_by_norm_of_g_and_1;
  static_assert(report<other_arguments<say::clip_by_norm, takes, Given...>>::ok,
                "umbel: shapes do not fit");
  return {};
}

// Sets all numbers of g to 0.
template <class G>
void set_to_zero(G& g) noexcept {
  using verdict = detail::rules::changeable<detail::say::set_to_zero, G>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) {
    using T = detail::number_of<G>;
    detail::for_each_array(
        [](std::size_t n, T* x) {
          detail::kernel::each_number<T>(detail::kernel::clearing{}, n, x);
        },
        g);
  }
}
template <class... Given>
  requires(detail::given_weights<Given...> && !detail::are_one_variable<Given...>)
constexpr void set_to_zero(Given&&...) noexcept {
  using namespace detail;
  using takes = say::expects_one_variable_that_it_changes_so_write_set_to_zero_of_g;
  static_assert(report<other_arguments<say::set_to_zero, takes, Given...>>::ok,
                "umbel: shapes do not fit");
}

// Multiplies g by a factor, rounded to its type: 1.0 / batch makes a mean of a sum.
template <class G>
UMBEL_INLINE void scale(G& g, double factor) noexcept {
  using verdict = detail::rules::changeable<detail::say::scale, G>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) {
    using T = detail::number_of<G>;
    const detail::kernel::scaling<T> by{static_cast<T>(factor)};
    detail::for_each_array([&](std::size_t n, T* x) { detail::kernel::each_number<T>(by, n, x); },
                           g);
  }
}

template <class... Given>
  requires(detail::given_weights<Given...> && !detail::are_gradient_and_norm<Given...>)
constexpr void scale(Given&&...) noexcept {
  using namespace detail;
  using takes = say::expects_a_gradient_that_it_changes_and_a_factor_so_write_scale_of_g_and_half;
  static_assert(report<other_arguments<say::scale, takes, Given...>>::ok,
                "umbel: shapes do not fit");
}

// Adds other to g, of the same type: the gradients of a second part of the batch.
template <class G, class Other>
void add(G& g, const Other& other) noexcept {
  using verdict = detail::rules::changeable_by<detail::say::add, G, Other>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) {
    using T = detail::number_of<G>;
    detail::for_each_array(
        [](std::size_t n, T* x, const T* y) {
          detail::kernel::each_number<T>(detail::kernel::adding{}, n, x, y);
        },
        g, other);
  }
}

// Moves the average of the weights over steps towards w: average + (w - average) (1 - decay). Start
// with average = w. decay: from 0, the newest weights, to 1, the oldest; 0.999, or less at first.
// It is not checked: NaN ends up in the average.
template <class A, class W>
UMBEL_INLINE void moving_average(A& average, const W& w, double decay) noexcept {
  using verdict = detail::rules::changeable_by<detail::say::moving_average, A, W>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) {
    using T = detail::number_of<A>;
    const detail::kernel::averaging<T> step{static_cast<T>(1 - decay)};
    detail::for_each_array(
        [&](std::size_t n, T* x, const T* y) { detail::kernel::each_number<T>(step, n, x, y); },
        average, w);
  }
}
template <class... Given>
  requires(detail::given_weights<Given...> && !detail::are_average_weights_and_decay<Given...>)
constexpr void moving_average(Given&&...) noexcept {
  using namespace detail;
  using takes = say::expects_an_average_that_it_changes_the_weights_and_the_decay;
  static_assert(report<other_arguments<say::moving_average, takes, Given...>>::ok,
                "umbel: shapes do not fit");
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
