// SPDX-License-Identifier: BSL-1.0
// Parameter names of PaddlePaddle's layers in a state_dict. A matrix of paddle.nn.Linear is
// (in, out).
#pragma once

#include <umbel/config.hpp>
#include <umbel/weights/names.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::names {

// paddle.nn.Linear
inline constexpr parameter_name paddle_linear[] = {
    {"weight", "weight", in_out},
    {"bias", "bias"},
};

// paddle.nn.MultiHeadAttention
inline constexpr parameter_name paddle_attention[] = {
    {"q.weight", "q_proj.weight", in_out},   {"q.bias", "q_proj.bias"},
    {"k.weight", "k_proj.weight", in_out},   {"k.bias", "k_proj.bias"},
    {"v.weight", "v_proj.weight", in_out},   {"v.bias", "v_proj.bias"},
    {"o.weight", "out_proj.weight", in_out}, {"o.bias", "out_proj.bias"},
};

// paddle.nn.TransformerEncoderLayer: norm_first<false>, activation<relu>, bias<true>; norm_first is
// its normalize_before.
inline constexpr parameter_name paddle_encoder_layer[] = {
    {"norm1.gamma", "norm1.weight"},
    {"norm1.beta", "norm1.bias"},
    {"attention.q.weight", "self_attn.q_proj.weight", in_out},
    {"attention.q.bias", "self_attn.q_proj.bias"},
    {"attention.k.weight", "self_attn.k_proj.weight", in_out},
    {"attention.k.bias", "self_attn.k_proj.bias"},
    {"attention.v.weight", "self_attn.v_proj.weight", in_out},
    {"attention.v.bias", "self_attn.v_proj.bias"},
    {"attention.o.weight", "self_attn.out_proj.weight", in_out},
    {"attention.o.bias", "self_attn.out_proj.bias"},
    {"norm2.gamma", "norm2.weight"},
    {"norm2.beta", "norm2.bias"},
    {"feed_forward.up.weight", "linear1.weight", in_out},
    {"feed_forward.up.bias", "linear1.bias"},
    {"feed_forward.down.weight", "linear2.weight", in_out},
    {"feed_forward.down.bias", "linear2.bias"},
};

}  // namespace umbel::inline UMBEL_TARGET::names
UMBEL_WARNINGS_POP
