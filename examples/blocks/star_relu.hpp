// SPDX-License-Identifier: BSL-1.0
// CAFormer's block: its network has an activation of its own, with two weights.
#pragma once
#include <umbel/formula/row_formula.hpp>
#include <umbel/umbel.hpp>

namespace example {
using namespace umbel;
using namespace umbel::axes;
using namespace umbel::block_parts;
UMBEL_PART_NAME(shift);
inline constexpr formula star_relu_network = [](auto x, const auto& w) {
  const auto up = relu(x * w.up);
  return (w.scale * (up * up) + w.shift) * w.down;
};
template <class T>
using star_relu_block = residual_block<
    T, hidden<32>, norm_by<layer_norm>, norm_bias<false>,
    pre_norm<name::norm1, self_attention<name::attention, heads<4>, bias<false>>>,
    pre_norm<name::norm2,
             row_formula<name::feed_forward, decltype(star_relu_network),
                         linear_map<name::up, hidden<32>, intermediate<64>, bias<false>>,
                         weight<name::scale>, weight<shift>,
                         linear_map<name::down, intermediate<64>, hidden<32>, bias<false>>>>>;
}  // namespace example
