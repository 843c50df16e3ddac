// SPDX-License-Identifier: BSL-1.0
// Attention by random features: Choromanski et al., "Rethinking Attention with Performers" (2021),
// lemma 1 and equation 5, which never has a matrix of scores:
//
//   phi(x) = exp(W x - |x|^2 / 2);  phi(Q) (phi(K)^T V) / (phi(Q) sum over j of phi(K_j))
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim; w: feature, head_dim. q and
// k are divided by the fourth root of head_dim first.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

template <std::size_t N>
struct feature : umbel::axis<feature, N> {};

inline constexpr formula random_features = [](auto q, auto k, auto v, auto w) {
  auto phi = [&](auto x) {
    auto scaled = x * sqrt(rsqrt(float(x.template extent<head_dim>)));
    return exp(contract<head_dim>(scaled, w) - 0.5f * sum<head_dim>(scaled * scaled));
  };
  auto of_q = phi(q);
  auto of_k = phi(k);
  auto context = contract<feature>(of_q, contract<key>(of_k, v));
  return context / contract<feature>(of_q, sum<key>(of_k));
};

}  // namespace variants
