// SPDX-License-Identifier: BSL-1.0
// Steps of a cache, of floats or integers, over the sequences of a problem.
#pragma once

#include "uses.hpp"

namespace umbel_test {

// A cache of Called, which is Layer or a form of it, with Options and, if it attends to a memory,
// longest_memory<9>.
template <class Called, std::size_t Keys, bool HasMemory, class... Options>
struct with_longest_memory {
  using type =
      umbel::key_value_cache<Called, umbel::axes::key<Keys>, umbel::axes::batch<2>, Options...>;
};
template <class Called, std::size_t Keys, class... Options>
struct with_longest_memory<Called, Keys, true, Options...> {
  using type = umbel::key_value_cache<Called, umbel::axes::key<Keys>, umbel::axes::batch<2>,
                                      umbel::longest_memory<9>, Options...>;
};
template <class Called, std::size_t Keys, bool HasMemory, class... Options>
using cached = typename with_longest_memory<Called, Keys, HasMemory, Options...>::type;
template <class Layer, std::size_t Keys, class... Options>
using cache_of = cached<Layer, Keys, has_memory<Layer>, Options...>;

// The 12 positions in steps of 5, 1, 1, 4 and 1.
template <class Cache, class Layer, class P>
auto by_steps(Cache& past, const Layer& layer, const P& p) {
  using namespace umbel;
  using namespace umbel::axes;
  typename P::tokens y{};
  if constexpr (requires { past.attend_to(layer, p.memory); }) past.attend_to(layer, p.memory);
  bool all = true;
  const auto step = [&]<std::size_t First, std::size_t Count>() {
    auto rows = p.x | slice<token, from<First>, extent<Count>> | contiguous;
    all = all && past.step(rows, layer, rows);
    copy(rows, y | slice<token, from<First>, extent<Count>>);
  };
  step.template operator()<0, 5>(), step.template operator()<5, 1>();
  step.template operator()<6, 1>(), step.template operator()<7, 4>();
  step.template operator()<11, 1>();
  BOOST_TEST(all);
  auto one = p.x | slice<token, from<0>, extent<1>> | contiguous;
  BOOST_TEST((past.size() == 12 && (past.positions > 12 || !past.step(one, layer, one))));
  return y;
}

}  // namespace umbel_test
