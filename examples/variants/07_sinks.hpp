// SPDX-License-Identifier: BSL-1.0
// Attention sinks: Xiao et al., "Efficient Streaming Language Models with Attention Sinks" (2024),
// in the form of gpt-oss (2025): each head learns the logit of an empty key, which receives weight
// and has the value 0:
//
//   o_i = sum_j exp(s_ij) v_j / (exp(sink_h) + sum_j exp(s_ij)),  s = Q K^T / sqrt(d)
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim; none: a key and value of
// zeros, batch, heads, key=1, head_dim; sinks: heads.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula sink_logits = [](auto q, auto k, auto v, auto none, auto sinks) {
  auto scores = contract<head_dim>(q, concat<key>(none, k));
  const float scale = rsqrt(float(q.template extent<head_dim>));
  auto logits = where(position<key> < 1, sinks, scores * scale);
  return contract<key>(softmax<key>(logits), concat<key>(none, v));
};

}  // namespace variants
