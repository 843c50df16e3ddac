// SPDX-License-Identifier: BSL-1.0
// Linear attention: Katharopoulos et al., "Transformers are RNNs: Fast Autoregressive Transformers
// with Linear Attention" (2020), equations 5 and 7:
//
//   o_i = phi(q_i)^T sum_j phi(k_j) v_j^T / (phi(q_i)^T sum_j phi(k_j)),  phi(x) = elu(x) + 1
//
// q: batch, heads, query, head_dim; k: batch, heads, key, head_dim; v: batch, heads, key,
// value_dim.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula linear_attention = [](auto q, auto k, auto v) {
  constexpr auto phi = [](auto x) { return where(x > 0, x + 1, exp(x)); };
  auto state = contract<key>(phi(k), v);  // batch, heads, head_dim, value_dim
  auto total = contract<head_dim>(phi(q), sum<key>(phi(k)));
  return contract<head_dim>(phi(q), state) / total;
};

}  // namespace variants
