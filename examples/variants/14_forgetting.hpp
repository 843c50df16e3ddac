// SPDX-License-Identifier: BSL-1.0
// Forgetting attention: Lin et al., "Forgetting Transformer: Softmax Attention with a Forget Gate"
// (2025), equation 5:
//
//   o_i = softmax_(j <= i)(q_i . k_j / sqrt(d) + sum_(j < l <= i) log f_l) v_j,  f = sigmoid(gate)
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim; gate: batch, heads, key.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula forgetting = [](auto q, auto k, auto v, auto gate) {
  auto kept = cumulative_sum<key>(log_sigmoid(gate));
  auto scores = contract<head_dim>(q, k) * rsqrt(float(q.template extent<head_dim>));
  auto biased = scores + (kept | rename_axis<key, query>)-kept;
  return contract<key>(softmax<key>(hide(biased, position<key> > position<query>)), v);
};

}  // namespace variants
