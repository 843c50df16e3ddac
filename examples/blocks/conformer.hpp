// SPDX-License-Identifier: BSL-1.0
// Conformer's block, with a linear map instead of its convolution.
#pragma once
#include <umbel/umbel.hpp>

namespace example {
using namespace umbel;
using namespace umbel::axes;
using namespace umbel::block_parts;
template <class Name>
using half_network = feed_forward_network<Name, intermediate<64>, activation<silu>, bias<true>>;
template <class T>
using conformer_block =
    residual_block<T, hidden<32>, norm_by<layer_norm>,
                   scaled<1, 2, pre_norm<name::norm1, half_network<name::feed_forward1>>>,
                   pre_norm<name::norm2, self_attention<name::attention, heads<4>, bias<true>>>,
                   pre_norm<name::norm3, linear_map<name::linear, bias<true>>>,
                   scaled<1, 2, pre_norm<name::norm4, half_network<name::feed_forward2>>>,
                   norm_only<name::final_norm>>;
}  // namespace example
