// SPDX-License-Identifier: BSL-1.0
// Sigmoid attention: Ramapuram et al., "Theory, Analysis, and Best Practices for Sigmoid
// Self-Attention" (2024):
//
//   sigmoid(Q K^T / sqrt(d) + b) V,  b = -log(n) for n keys
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim; b: a number.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula sigmoid_attention = [](auto q, auto k, auto v, auto b) {
  auto scores = contract<head_dim>(q, k) * rsqrt(float(q.template extent<head_dim>));
  return contract<key>(sigmoid(scores + b), v);
};

}  // namespace variants
