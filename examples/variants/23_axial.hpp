// SPDX-License-Identifier: BSL-1.0
// Axial attention: Ho et al., "Axial Attention in Multidimensional Transformers" (2019), section
// 3.2: positions of a grid attend to those of their row:
//
//   softmax(Q_r K_r^T / sqrt(d)) V_r for each row r
//
// q, k, v: batch, heads, row, column, head_dim.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

template <std::size_t N>
struct row : umbel::axis<row, N> {};
template <std::size_t N>
struct column : umbel::axis<column, N> {};

inline constexpr formula axial = [](auto q, auto k, auto v) {
  auto keys = k | rename_axis<column, key>, values = v | rename_axis<column, key>;
  auto scores = contract<head_dim>(q, keys) * rsqrt(float(q.template extent<head_dim>));
  return contract<key>(softmax<key>(scores), values);
};

}  // namespace variants
