// SPDX-License-Identifier: BSL-1.0
// The scores of a window of Swin: Liu et al., "Swin Transformer" (2021), equation 4. A window is a
// square of tokens, row by row, and each offset of two of them has a bias:
//
//   softmax(Q K^T / sqrt(d) + B) V,  B_hij = table[row j - row i][column j - column i][h]
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim; table: offset, heads, row by
// row from the most negative offsets.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

template <std::size_t N>
struct offset : umbel::axis<offset, N> {};

template <std::size_t Side>
inline constexpr formula shifted_windows = [](auto q, auto k, auto v, auto table) {
  auto scores = contract<head_dim>(q, k) * rsqrt(float(q.template extent<head_dim>));
  auto rows = floor(position<key> / Side) - floor(position<query> / Side) + (Side - 1);
  auto columns = position<key> % Side - position<query> % Side + (Side - 1);
  auto biased = scores + lookup(table, rows * (2 * Side - 1) + columns);
  return contract<key>(softmax<key>(biased), v);
};

}  // namespace variants
