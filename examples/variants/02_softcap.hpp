// SPDX-License-Identifier: BSL-1.0
// Softcap: Gemma Team, "Gemma 2: Improving Open Language Models at a Practical Size" (2024),
// section 2:
//
//   softmax(c tanh(Q K^T / (sqrt(d) c))) V,  c = 50
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula softcapped = [](auto q, auto k, auto v) {
  auto scores = contract<head_dim>(q, k) * rsqrt(float(q.template extent<head_dim>));
  auto capped = tanh(scores * (1 / 50.0f)) * 50;
  return contract<key>(softmax<key>(capped), v);
};

}  // namespace variants
