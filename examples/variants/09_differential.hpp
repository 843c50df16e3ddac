// SPDX-License-Identifier: BSL-1.0
// Differential attention: Ye et al., "Differential Transformer" (2024), equations 1 and 3. lambda
// is a number computed from weights, and lambda_init is 0.2, as in the first layer:
//
//   (1 - lambda_init) norm((softmax(Q1 K1^T / sqrt(d)) - lambda softmax(Q2 K2^T / sqrt(d))) V)
//   norm(x) = gain * x / sqrt(mean(x^2) + 1e-5), for each head
//
// q1, q2: batch, heads, query, head_dim; k1, k2: batch, heads, key, head_dim; v: batch, heads, key,
// value_dim; gain: value_dim.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula differential = [](auto q1, auto k1, auto q2, auto k2, auto v, auto lambda,
                                           auto gain) {
  const float scale = rsqrt(float(q1.template extent<head_dim>));
  auto signal = softmax<key>(contract<head_dim>(q1 * scale, k1));
  auto noise = softmax<key>(contract<head_dim>(q2 * scale, k2));
  auto x = contract<key>(signal - lambda * noise, v);
  auto squares = sum<value_dim>(x * x) * (1 / float(v.template extent<value_dim>));
  return x * rsqrt(squares + 1e-5f) * gain * 0.8f;
};

}  // namespace variants
