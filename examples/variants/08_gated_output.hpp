// SPDX-License-Identifier: BSL-1.0
// Gated output: Qiu et al., "Gated Attention for Large Language Models" (2025), as in Qwen3-Next:
// the output of each head is multiplied by a gate computed from the input x of the layer:
//
//   softmax(Q K^T / sqrt(d)) V * sigmoid(x W_g)
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim; x: batch, query, hidden;
// w_gate: hidden, heads, head_dim.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula gated_output = [](auto q, auto k, auto v, auto x, auto w_gate) {
  auto scores = contract<head_dim>(q, k) * rsqrt(float(q.template extent<head_dim>));
  auto context = contract<key>(softmax<key>(scores), v);
  return context * sigmoid(contract<hidden>(x, w_gate));
};

}  // namespace variants
