// SPDX-License-Identifier: BSL-1.0
// Selection of blocks of keys: Yuan et al., "Native Sparse Attention" (2025), section 3.3.2, here
// the 2 blocks of each query whose mean keys have the largest scores:
//
//   softmax(Q K^T / sqrt(d)) V over the keys of the selected blocks
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

template <std::size_t N>
struct chunk : umbel::axis<chunk, N> {};
template <std::size_t N>
struct inside : umbel::axis<inside, N> {};

template <std::size_t Blocks>
inline constexpr formula selected_blocks = [](auto q, auto k, auto v) {
  constexpr std::size_t size = k.template extent<key> / Blocks;
  auto means = mean<inside>(k | split<key, chunk<Blocks>, inside>);
  auto of_blocks = contract<head_dim>(q, means);
  auto selected = of_blocks >= kth_largest<2, chunk>(of_blocks);
  auto scores = contract<head_dim>(q, k) * rsqrt(float(q.template extent<head_dim>));
  auto sees = gather<chunk>(selected, floor(position<key> / size));
  return contract<key>(softmax<key>(hide(scores, !sees)), v);
};

}  // namespace variants
