// SPDX-License-Identifier: BSL-1.0
// Parameter names in the PyTorch edition of Dive into Deep Learning (d2l.ai).
#pragma once

#include <umbel/config.hpp>
#include <umbel/weights/names.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::names {

// d2l.MultiHeadAttention
inline constexpr parameter_name d2l_attention[] = {
    {"q.weight", "W_q.weight", out_in}, {"q.bias", "W_q.bias"},
    {"k.weight", "W_k.weight", out_in}, {"k.bias", "W_k.bias"},
    {"v.weight", "W_v.weight", out_in}, {"v.bias", "W_v.bias"},
    {"o.weight", "W_o.weight", out_in}, {"o.bias", "W_o.bias"},
};

// d2l.AdditiveAttention: w_v weights the hidden units of a score
inline constexpr parameter_name d2l_additive_attention[] = {
    {"q.weight", "W_q.weight", out_in},
    {"k.weight", "W_k.weight", out_in},
    {"score", "w_v.weight"},
};

}  // namespace umbel::inline UMBEL_TARGET::names
UMBEL_WARNINGS_POP
