// SPDX-License-Identifier: BSL-1.0
// GPT-J's block: attention and network read the same norm; both are added to x.
#pragma once
#include <umbel/umbel.hpp>

namespace example {
using namespace umbel;
using namespace umbel::axes;
using namespace umbel::block_parts;
template <class T>
using parallel_block = residual_block<
    T, hidden<32>, norm_by<layer_norm>,
    pre_norm<name::norm,
             self_attention<name::attention, heads<4>, bias<false>, rope<adjacent_pairs>>,
             feed_forward_network<name::feed_forward, intermediate<64>, activation<gelu_tanh>,
                                  bias<true>>>>;
}  // namespace example
