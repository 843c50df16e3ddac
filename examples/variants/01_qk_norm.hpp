// SPDX-License-Identifier: BSL-1.0
// QK-norm: Dehghani et al., "Scaling Vision Transformers to 22 Billion Parameters" (2023), section
// 2, with the RMSNorm of Qwen3 (2025) instead of their LayerNorm:
//
//   softmax(1/sqrt(d) norm(Q) norm(K)^T) V,  norm(x) = gain * x / sqrt(mean(x^2) + 1e-6)
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim; gains: head_dim.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula qk_norm = [](auto q, auto k, auto v, auto gain_q, auto gain_k) {
  constexpr auto d = float(q.template extent<head_dim>);
  constexpr auto norm = [](auto x) { return x * rsqrt(sum<head_dim>(x * x) * (1 / d) + 1e-6f); };
  auto scores = contract<head_dim>(norm(q) * gain_q, norm(k) * gain_k) * rsqrt(d);
  return contract<key>(softmax<key>(scores), v);
};

}  // namespace variants
