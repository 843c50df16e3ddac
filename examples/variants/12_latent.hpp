// SPDX-License-Identifier: BSL-1.0
// Multi-head latent attention: DeepSeek-AI, "DeepSeek-V2" (2024), section 2.1. Keys and values of
// all heads come from one vector c of low rank for each position, and all heads share the rotary
// part of a key:
//
//   k_h = W_UK,h c,  v_h = W_UV,h c,  o_h = softmax((q_h k_h^T + qR_h kR^T) / sqrt(d + dR)) v_h
//
// q: batch, heads, query, head_dim; q_rope: batch, heads, query, rope_dim; c: batch, key, latent;
// k_rope: batch, key, rope_dim (both rotated); w_k: latent, heads, head_dim; w_v: latent, heads,
// value_dim.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

template <std::size_t N>
struct latent : axis<latent, N> {};  // features from which keys and values are made
template <std::size_t N>
struct rope_dim : axis<rope_dim, N> {};  // features with rotary positions

inline constexpr formula latent_attention = [](auto q, auto q_rope, auto c, auto k_rope, auto w_k,
                                               auto w_v) {
  auto k = contract<latent>(c, w_k);  // batch, key, heads, head_dim
  auto v = contract<latent>(c, w_v);
  auto scores = contract<head_dim>(q, k) + contract<rope_dim>(q_rope, k_rope);
  constexpr auto features = q.template extent<head_dim> + q_rope.template extent<rope_dim>;
  return contract<key>(softmax<key>(scores * rsqrt(float(features))), v);
};

}  // namespace variants
