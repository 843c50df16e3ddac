// SPDX-License-Identifier: BSL-1.0
// cosFormer: Qin et al., "cosFormer: Rethinking Softmax in Attention" (2022), equation 8, which
// weighs pairs by the cosine of their distance instead of a softmax:
//
//   S_ij = relu(Q_i) relu(K_j)^T cos(pi / 2 * (i - j) / M);  S_ij / (sum over j of S_ij) V
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim; M: the number of keys.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula cos_former = [](auto q, auto k, auto v) {
  constexpr float angle = 1.57079633f / float(k.template extent<key>);
  auto scores = contract<head_dim>(relu(q), relu(k));
  auto weights = scores * cos(angle * (position<query> - position<key>));
  return contract<key>(weights, v) / (sum<key>(weights) + 1e-6f);
};

}  // namespace variants
