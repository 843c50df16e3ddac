// SPDX-License-Identifier: BSL-1.0
// Relative position buckets: Raffel et al., "Exploring the Limits of Transfer Learning with a
// Unified Text-to-Text Transformer" (T5, 2020), section 2.1; the scores are not scaled:
//
//   softmax(Q K^T + B) V,  B_hij = table[bucket(j - i)][h]
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim; biases: heads, query, key.
// lookup(table, buckets) computes the biases once for all layers.
#pragma once

#include <bit>
#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

// T5's 32 buckets for distances of key and query up to 128, in both directions: one bucket for each
// of 0 to 7, then two for each doubling: 8 + floor(8 log(n / 8) / log(128 / 8)) = 2 +
// floor(log2(n^2)).
constexpr int bucket(int distance) {
  const auto n = static_cast<unsigned>(distance < 0 ? -distance : distance);
  const int large = 1 + static_cast<int>(std::bit_width(n * n));
  return (distance > 0 ? 16 : 0) + (n < 8 ? static_cast<int>(n) : large < 15 ? large : 15);
}

inline constexpr formula relative_buckets = [](auto q, auto k, auto v, auto biases) {
  auto scores = contract<head_dim>(q, k) + biases;
  return contract<key>(softmax<key>(scores), v);
};

}  // namespace variants
