// SPDX-License-Identifier: BSL-1.0
// Granite's block: LLaMA's, but only 0.22 of each part is added.
#pragma once
#include <umbel/umbel.hpp>

namespace example {
using namespace umbel;
using namespace umbel::axes;
using namespace umbel::block_parts;
template <class T>
using scaled_block = residual_block<
    T, hidden<32>, norm_by<rms_norm>, norm_epsilon<1, 1'000'000>,
    scaled<22, 100,
           pre_norm<name::norm1, self_attention<name::attention, heads<4>, kv_heads<2>, bias<false>,
                                                rope<split_halves>>>>,
    scaled<
        22, 100,
        pre_norm<name::norm2, feed_forward_network<name::feed_forward, intermediate<64>,
                                                   activation<silu>, gated<true>, bias<false>>>>>;
}  // namespace example
