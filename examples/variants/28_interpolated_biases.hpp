// SPDX-License-Identifier: BSL-1.0
// FIRE: Li et al., "Functional Interpolation for Relative Positions Improves Long Context
// Transformers" (2024), section 3. A small network computes the biases of all heads from the
// distance, as a share of the query's position:
//
//   softmax(Q K^T / sqrt(d) + B) V over j <= i,  B_ij = W_2 relu(w_1 x_ij + b_1),
//   x_ij = log(c (i - j) + 1) / log(c max(i, L) + 1)
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim; c, l: numbers; w1, b1: unit;
// w2: unit, heads.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

template <std::size_t N>
struct unit : axis<unit, N> {};  // of the network

inline constexpr formula interpolated_biases = [](auto q, auto k, auto v, auto c, auto l, auto w1,
                                                  auto b1, auto w2) {
  constexpr auto queries = q.template extent<query>, keys = k.template extent<key>;
  auto psi = [&](auto x) { return log(c * x + 1); };
  auto x = psi(maximum(position<query> - position<key>, 0)) / psi(maximum(position<query>, l));
  auto w = w1 | broadcast<query<queries>, key<keys>, unit<w1.template extent<unit>>>;
  auto biases = contract<unit>(relu(w * x + b1), w2);  // query, key, heads
  auto scores = contract<head_dim>(q, k) * rsqrt(float(q.template extent<head_dim>)) + biases;
  return contract<key>(softmax<key>(hide(scores, position<key> > position<query>)), v);
};

}  // namespace variants
