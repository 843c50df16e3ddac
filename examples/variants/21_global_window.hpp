// SPDX-License-Identifier: BSL-1.0
// A window and global tokens: Beltagy et al., "Longformer" (2020), section 3.1, here 2 positions on
// each side and 1 global token, which sees all and is seen by all:
//
//   softmax(Q K^T / sqrt(d)) V over |i - j| <= 2, i = 0 and j = 0
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula global_window = [](auto q, auto k, auto v) {
  auto scores = contract<head_dim>(q, k) * rsqrt(float(q.template extent<head_dim>));
  auto is_far = abs(position<query> - position<key>) > 2;
  auto is_global = position<query> < 1 || position<key> < 1;
  return contract<key>(softmax<key>(hide(scores, is_far && !is_global)), v);
};

}  // namespace variants
