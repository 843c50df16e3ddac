// SPDX-License-Identifier: BSL-1.0
// Neighborhood attention: Hassani et al., "Neighborhood Attention Transformer" (2023), equation 4,
// along one axis, here 5 neighbors. At the ends, the window stays inside the sequence:
//
//   softmax(q_i K^T / sqrt(d)) V over s <= j < s + 5,  s = min(max(i - 2, 0), n - 5)
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula neighborhood = [](auto q, auto k, auto v) {
  auto scores = contract<head_dim>(q, k) * rsqrt(float(q.template extent<head_dim>));
  constexpr auto last = float(k.template extent<key>) - 5;
  auto start = clamp(position<query> - 2, 0, last);
  auto out = position<key> < start || position<key> >= start + 5;
  return contract<key>(softmax<key>(hide(scores, out)), v);
};

}  // namespace variants
