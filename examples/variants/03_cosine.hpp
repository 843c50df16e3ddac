// SPDX-License-Identifier: BSL-1.0
// Scaled cosine attention: Liu et al., "Swin Transformer V2" (2022), equation 2. Their code learns
// 1 / tau as a logarithm t for each head, bounded by 100:
//
//   softmax(cos(q_i, k_j) / tau + B_ij) V,  1 / tau = min(exp(t), 100)
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim; t: heads; biases: heads,
// query, key.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula cosine = [](auto q, auto k, auto v, auto t, auto biases) {
  constexpr auto unit = [](auto x) { return x * rsqrt(sum<head_dim>(x * x)); };
  auto scale = where(exp(t) < 100, exp(t), 100);
  auto scores = contract<head_dim>(unit(q) * scale, unit(k)) + biases;
  return contract<key>(softmax<key>(scores), v);
};

}  // namespace variants
