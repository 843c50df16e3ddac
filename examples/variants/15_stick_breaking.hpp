// SPDX-License-Identifier: BSL-1.0
// Stick-breaking attention: Tan et al., "Scaling Stick-Breaking Attention: An Efficient
// Implementation and In-depth Study" (2025), equation 4, in logarithms:
//
//   o_i = sum_(j < i) beta_ij product_(j < l < i) (1 - beta_il) v_j,  beta = sigmoid(Q K^T /
//   sqrt(d))
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula stick_breaking = [](auto q, auto k, auto v) {
  auto scores = contract<head_dim>(q, k) * rsqrt(float(q.template extent<head_dim>));
  auto passed = where(position<key> < position<query>, log_sigmoid(-scores), 0);
  auto left = cumulative_sum<key, exclusive, from_last>(passed);
  auto weights = where(position<key> < position<query>, exp(log_sigmoid(scores) + left), 0);
  return contract<key>(weights, v);
};

}  // namespace variants
