// SPDX-License-Identifier: BSL-1.0
// Top-k attention: Gupta et al., "Memory-efficient Transformers via Top-k Attention" (2021),
// section 3, here the 4 largest scores of each query:
//
//   softmax(top_k(Q K^T / sqrt(d))) V
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula top_k = [](auto q, auto k, auto v) {
  auto scores = contract<head_dim>(q, k) * rsqrt(float(q.template extent<head_dim>));
  return contract<key>(softmax<key>(hide(scores, scores < kth_largest<4, key>(scores))), v);
};

}  // namespace variants
