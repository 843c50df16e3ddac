// SPDX-License-Identifier: BSL-1.0
// Retention: Sun et al., "Retentive Network: A Successor to Transformer for Large Language Models"
// (2023), equation 5 (without the rotation, and without norms of the result):
//
//   o_i = sum_(j <= i) gamma_h^(i - j) (q_i . k_j / sqrt(d)) v_j
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim; gamma: heads.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula retention = [](auto q, auto k, auto v, auto gamma) {
  auto scores = contract<head_dim>(q, k) * rsqrt(float(q.template extent<head_dim>));
  auto decayed = scores * exp(log(gamma) * (position<query> - position<key>));
  return contract<key>(where(position<key> > position<query>, 0, decayed), v);
};

}  // namespace variants
