// SPDX-License-Identifier: BSL-1.0
// Gradients against those of torch's autograd (tools/golden_gradients.py). Not here: any case.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <tuple>
#include <umbel/training.hpp>
#include <umbel/umbel.hpp>

#include "../support/compare.hpp"
#include "../support/random.hpp"
#include "data/torch_gradients.hpp"

namespace umbel_test {

// f(x), for x a tensor or each parameter of weights.
template <class X, class F>
void each_array(X& x, const F& f) {
  if constexpr (umbel::tensor_like<X>)
    f(x);
  else
    umbel::for_each_parameter(x, [&](const umbel::parameter_path&, auto view) { f(view); });
}

// The gradients by X..., tensors and weights, of a formula of (dy, x..., fixed...). Each array must
// be as near as 2e-6 of its largest number in float, 1e-12 in double; where torch's is 0 but for
// rounding, of the largest of all arrays.
template <class Dy, class... X, class F, std::size_t N, class... Fixed>
void check_gradients(const char* what, std::uint32_t seed, const double (&answer)[N], const F& f,
                     const Fixed&... fixed) {
  using T = typename Dy::value_type;
  constexpr double bound = sizeof(T) == 4 ? 2e-6 : 1e-12;
  lcg next{seed};
  std::tuple<X...> all_x{}, all_dx{};
  std::apply([&](auto&... x) { (each_array(x, [&](auto& a) { draw(next, a); }), ...); }, all_x);
  const Dy dy = drawn<Dy>(next);
  const umbel::gradient learn{f};
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (void)learn(dy, umbel::with_gradient(std::get<I>(all_x), std::get<I>(all_dx))..., fixed...);
  }(std::index_sequence_for<X...>{});

  double largest = 0;
  for (const double a : answer) largest = std::fmax(largest, std::fabs(a));
  std::size_t first = 0;
  const auto compare = [&](auto& a) {
    const std::size_t count = a.size();
    if (first + count > N) {
      first += count;
      return;
    }
    const distance d = distance_of(a.data(), answer + first, count);
    const double scale = d.reference == 0 ? largest : d.reference;
    BOOST_TEST(d.finite, what << ": not finite, from number " << first);
    BOOST_TEST(d.error <= bound * scale,
               what << ": " << d.error / scale << " of the largest, from number " << first);
    first += count;
  };
  std::apply([&](auto&... dx) { (each_array(dx, compare), ...); }, all_dx);
  BOOST_TEST(first == N);
}

}  // namespace umbel_test
