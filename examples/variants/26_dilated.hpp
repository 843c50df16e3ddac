// SPDX-License-Identifier: BSL-1.0
// A dilated window: Hassani and Shi, "Dilated Neighborhood Attention Transformer" (2022), section
// 3.1, and Longformer's, here each third of 2 positions on each side:
//
//   softmax(Q K^T / sqrt(d)) V over j = i + 3 n, -2 <= n <= 2
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula dilated = [](auto q, auto k, auto v) {
  auto scores = contract<head_dim>(q, k) * rsqrt(float(q.template extent<head_dim>));
  auto distance = position<key> - position<query>;
  auto is_out = distance < -6 || distance > 6 || distance % 3 != 0;
  return contract<key>(softmax<key>(hide(scores, is_out)), v);
};

}  // namespace variants
