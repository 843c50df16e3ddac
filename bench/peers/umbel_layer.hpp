// SPDX-License-Identifier: BSL-1.0
// A layer of the race as Umbel's: its type, and weights (in, out) of the race's numbers.
#pragma once

#include <umbel/umbel.hpp>

#include <algorithm>
#include <cstddef>

#include "layers.hpp"

namespace race {

constexpr std::size_t count(int n) { return static_cast<std::size_t>(n); }

template <layer_shape S>
using attention =
    umbel::multi_head_attention<float, umbel::axes::hidden<count(S.hidden)>,
                                umbel::axes::heads<count(S.heads)>, umbel::bias<true>>;

// From (out, in) to (in, out).
inline void turn(const float* w, int out, int in, float* to) {
  transpose<false>(w, in, out, in, to, out);
}

template <layer_shape S>
const typename attention<S>::weights& weights_of(const layer_data& d) {
  static typename attention<S>::weights w;
  const auto fill = [](auto& map, const float* weight, const float* bias) {
    turn(weight, S.hidden, S.hidden, map.weight);
    std::copy_n(bias, S.hidden, map.bias);
  };
  constexpr int size = S.hidden * S.hidden;
  fill(w.q, d.w.get(), d.b.get());
  fill(w.k, d.w.get() + size, d.b.get() + S.hidden);
  fill(w.v, d.w.get() + 2 * size, d.b.get() + 2 * S.hidden);
  fill(w.o, d.w_o.get(), d.b_o.get());
  return w;
}

}  // namespace race
