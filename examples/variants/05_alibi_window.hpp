// SPDX-License-Identifier: BSL-1.0
// ALiBi: Press et al., "Train Short, Test Long: Attention with Linear Biases Enables Input Length
// Extrapolation" (2022), section 3; with the sliding window of Jiang et al., "Mistral 7B" (2023),
// here 8 keys:
//
//   softmax(q_i K^T / sqrt(d) + m_h (j - i)) V over i - 8 < j <= i
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim; slopes: heads.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula alibi_window = [](auto q, auto k, auto v, auto slopes) {
  auto scores = contract<head_dim>(q, k) * rsqrt(float(q.template extent<head_dim>));
  auto biased = scores + slopes * (position<key> - position<query>);
  auto out = position<key> > position<query> || position<query> - position<key> >= 8;
  return contract<key>(softmax<key>(hide(biased, out)), v);
};

}  // namespace variants
