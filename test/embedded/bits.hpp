// SPDX-License-Identifier: BSL-1.0
// The bits of every result here, one table for all targets and compilers: a hash (check.hpp) for
// those that fuse a product and a sum, and one for those that do not (docs/numerics.md).
#pragma once

#include <cstdint>

namespace embedded {

struct golden {
  const char* what;
  std::uint32_t fused, not_fused;
};
inline constexpr golden golden_bits[] = {
    {"d2l layer", 0x13af7147, 0xda619ffb},
    {"clothing: logits", 0xb19f0d5d, 0x4c5027ad},
    {"attention: causal, grouped heads, rope", 0x987d0cb4, 0x8f897d59},
    {"attention: cache in bfloat16", 0xfb4fde9f, 0x58a42d3f},
    {"attention: cache in float16", 0xe94bda5f, 0x701e91d0},
    {"attention: cache in 8 bits", 0x66383c29, 0x960f7f4b},
    {"attention: length", 0xf30cd3a7, 0x98b99b32},
    {"attention: pruned", 0xa0a94901, 0x4856e238},
    {"attention: weights in bfloat16", 0x40d62c67, 0x23ed2214},
    {"attention: weights in float16", 0x47d1f70f, 0xdcb4b08a},
    {"attention: weights in 8 bits", 0x3297b64a, 0x4143993d},
    {"scores: additive", 0x0a4a54d7, 0x9263c037},
    {"scores: a formula", 0x52085a61, 0x01570bb2},
    {"subnormal: attention", 0x41f0048a, 0x1412194e},
    {"language model: logits", 0x874fde36, 0x53104d26},
    {"decoder: logits of 40 steps", 0x83d616c8, 0xa7d5baf8},
    {"small clothing: logits", 0x7bbdafd9, 0x96a7f997},
    {"footprint: a step of a cache with rope", 0xbb83f473, 0xd5c5e64a},
    {"learn on device: the last layer after 2 steps", 0xb02b239d, 0xdf593d56},
    {"learn on device: the last layer after 200 steps", 0x54eb4757, 0xdd54b15a},
    {"learning: weights after 10 steps", 0xae841f23, 0xaa20abab},
    {"learning: their average", 0x7f1773f0, 0x90c4033d},
    {"decode step", 0xe3ecb301, 0x78786e99},
};

}  // namespace embedded
