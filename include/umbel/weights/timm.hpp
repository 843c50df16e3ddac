// SPDX-License-Identifier: BSL-1.0
// Parameter names of one block of the vision transformers of timm (PyTorch Image Models), DINO and
// DINOv2, for encoder_layer.
#pragma once

#include <umbel/config.hpp>
#include <umbel/weights/names.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::names {

// Block of vision_transformer.py: norm_first<true>, activation<gelu_exact>, bias<true>, epsilon
// 1e-6. With qk_norm also query_key_norm<layer_norm>, with qkv_bias=False bias_on<'o'>,
// feed_forward_bias<true>. LayerScale (ls1.gamma) has no counterpart: loading reports it.
inline constexpr parameter_name timm_block[] = {
    {"norm1.gamma", "norm1.weight"},
    {"norm1.beta", "norm1.bias"},
    {"attention.q.weight", "attn.qkv.weight", out_in.part_of(0, 3)},
    {"attention.q.bias", "attn.qkv.bias", as_they_are.part_of(0, 3)},
    {"attention.k.weight", "attn.qkv.weight", out_in.part_of(1, 3)},
    {"attention.k.bias", "attn.qkv.bias", as_they_are.part_of(1, 3)},
    {"attention.v.weight", "attn.qkv.weight", out_in.part_of(2, 3)},
    {"attention.v.bias", "attn.qkv.bias", as_they_are.part_of(2, 3)},
    {"attention.o.weight", "attn.proj.weight", out_in},
    {"attention.o.bias", "attn.proj.bias"},
    {"attention.q_norm.gamma", "attn.q_norm.weight"},
    {"attention.q_norm.beta", "attn.q_norm.bias"},
    {"attention.k_norm.gamma", "attn.k_norm.weight"},
    {"attention.k_norm.beta", "attn.k_norm.bias"},
    {"norm2.gamma", "norm2.weight"},
    {"norm2.beta", "norm2.bias"},
    {"feed_forward.up.weight", "mlp.fc1.weight", out_in},
    {"feed_forward.up.bias", "mlp.fc1.bias"},
    {"feed_forward.down.weight", "mlp.fc2.weight", out_in},
    {"feed_forward.down.bias", "mlp.fc2.bias"},
};

}  // namespace umbel::inline UMBEL_TARGET::names
UMBEL_WARNINGS_POP
