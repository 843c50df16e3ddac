// SPDX-License-Identifier: BSL-1.0
// cosFormer: Qin et al., "cosFormer: Rethinking Softmax in Attention" (2022), equations 8 to 10.
// The weights are products with the cosine of the distance, which is a sum of two products, so that
// no matrix of weights is needed:
//
//   phi(X)_i = (relu(X_i) cos(pi i / 2 M), relu(X_i) sin(pi i / 2 M))
//   phi(Q) (phi(K)^T V) / (phi(Q) sum over j of phi(K_j))
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim; M: the number of keys. v has
// value_dim instead of head_dim.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula cos_former = [](auto q, auto k, auto v) {
  auto phi = [&](auto x, auto position) {
    auto angle = position * (1.57079633f / float(k.template extent<key>));
    return concat<head_dim>(relu(x) * cos(angle), relu(x) * sin(angle));
  };
  auto of_q = phi(q, position<query>);
  auto of_k = phi(k, position<key>);
  auto context = contract<head_dim>(of_q, contract<key>(of_k, v));
  return context / (contract<head_dim>(of_q, sum<key>(of_k)) + 1e-6f);
};

}  // namespace variants
