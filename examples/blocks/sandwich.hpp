// SPDX-License-Identifier: BSL-1.0
// Gemma 2's block: a norm before and after each part. (Gemma 2 also caps scores: softcap<50>, which
// int8 doesn't support.)
#pragma once
#include <umbel/umbel.hpp>

namespace example {
using namespace umbel;
using namespace umbel::axes;
using namespace umbel::block_parts;
template <class T>
using sandwich_block = residual_block<
    T, hidden<32>, norm_by<rms_norm>, norm_epsilon<1, 1'000'000>,
    sandwich_norm<
        name::norm1,
        self_attention<name::attention, heads<4>, kv_heads<2>, bias<false>, rope<split_halves>>,
        name::norm2>,
    sandwich_norm<name::norm3,
                  feed_forward_network<name::feed_forward, intermediate<64>, activation<gelu_tanh>,
                                       gated<true>, bias<false>>,
                  name::norm4>>;
}  // namespace example
