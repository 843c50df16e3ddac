// SPDX-License-Identifier: BSL-1.0
// Gated linear attention: Yang et al., "Gated Linear Attention Transformers with
// Hardware-Efficient Training" (2024), equation 4. Each feature of a key decays by its own gates:
//
//   o_i = sum_(j <= i) ((q_i b_i) . (k_j / b_j) / sqrt(d)) v_j,
//   b_i = product_(l <= i) sigmoid(gate_l)^(1/16)
//
// q: batch, heads, query, head_dim; k, v, gate: batch, heads, key, head_dim.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula gated_linear = [](auto q, auto k, auto v, auto gate) {
  auto kept = cumulative_sum<key>(log_sigmoid(gate) * (1 / 16.0f));  // log(b)
  auto decayed = q * exp(kept | rename_axis<key, query>);
  const float scale = rsqrt(float(q.template extent<head_dim>));
  auto scores = contract<head_dim>(decayed, k * exp(-kept)) * scale;
  return contract<key>(where(position<key> > position<query>, 0, scores), v);
};

}  // namespace variants
