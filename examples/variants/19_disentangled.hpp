// SPDX-License-Identifier: BSL-1.0
// Disentangled attention: He et al., "DeBERTa" (2021), equations 3 and 4, here of distances up to
// 4:
//
//   softmax((Q K^T + Q Kr[d(i, j)]^T + K Qr[d(j, i)]^T) / sqrt(3 d)) V,
//   d(i, j) = clamp(i - j + 4, 0, 7)
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim; q_r, k_r: heads, bucket,
// head_dim, of 8 distances.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

template <std::size_t N>
struct bucket_of_distance : umbel::axis<bucket_of_distance, N> {};

inline constexpr formula disentangled = [](auto q, auto k, auto v, auto q_r, auto k_r) {
  auto to_key = clamp(position<query> - position<key> + 4, 0, 7);
  auto to_query = clamp(position<key> - position<query> + 4, 0, 7);
  auto scores = contract<head_dim>(q, k) +
                gather<bucket_of_distance>(contract<head_dim>(q, k_r), to_key) +
                gather<bucket_of_distance>(contract<head_dim>(k, q_r), to_query);
  return contract<key>(softmax<key>(scores * rsqrt(3 * float(q.template extent<head_dim>))), v);
};

}  // namespace variants
