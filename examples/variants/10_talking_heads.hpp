// SPDX-License-Identifier: BSL-1.0
// Talking heads: Shazeer et al., "Talking-Heads Attention" (2020). Logits and weights are mixed
// over the heads with matrices P_l and P_w:
//
//   J = Q K^T / sqrt(d),  U = softmax(J P_l) P_w,  O = U V
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim; p_l: talker, heads; p_w:
// heads, talker. The result: heads, batch, query, head_dim.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

template <std::size_t N>
struct talker : axis<talker, N> {};  // heads between the mixtures

inline constexpr formula talking_heads = [](auto q, auto k, auto v, auto p_l, auto p_w) {
  auto scores = contract<head_dim>(q * rsqrt(float(q.template extent<head_dim>)), k);
  auto weights = softmax<key>(contract<heads>(p_l, scores));  // talker, batch, query, key
  return contract<key>(contract<talker>(p_w, weights), v);
};

}  // namespace variants
