// SPDX-License-Identifier: BSL-1.0
// Attention in blocks that a table chooses: Zaheer et al., "Big Bird" (2020), section 2 and
// appendix D, of which a table has the random, neighboring and global blocks:
//
//   softmax(Q K^T / sqrt(d)) V over the blocks of i and j that the table has
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim; seen: query, key, a flag for
// each pair of blocks.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

template <std::size_t N>
struct pair_of_blocks : umbel::axis<pair_of_blocks, N> {};

inline constexpr formula block_sparse = [](auto q, auto k, auto v, auto seen) {
  constexpr auto blocks = seen.template extent<key>, size = k.template extent<key> / blocks;
  auto scores = contract<head_dim>(q, k) * rsqrt(float(q.template extent<head_dim>));
  auto pair = floor(position<query> / size) * blocks + floor(position<key> / size);
  auto sees = gather<pair_of_blocks>(seen | merge<query, key, pair_of_blocks>, pair);
  return contract<key>(softmax<key>(hide(scores, !sees)), v);
};

}  // namespace variants
