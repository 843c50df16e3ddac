// SPDX-License-Identifier: BSL-1.0
// Parameter names of PyTorch's modules in a state_dict (torch.nn, 1.13 to 2.x). A matrix of
// nn.Linear is (out, in). With bias=False a module has no biases, and its norms no beta:
// bias<false>, norm_bias<false> for a block, bias<false> for a layer_norm.
#pragma once

#include <umbel/config.hpp>
#include <umbel/weights/names.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::names {

// nn.Linear
inline constexpr parameter_name torch_linear[] = {
    {"weight", "weight", out_in},
    {"bias", "bias"},
};

// nn.Conv1d, nn.Conv2d and Conv of ONNX. Of tensors: torch_convolution<>, for a weight of
// kernel_size<3>, hidden<64>, channel<32>, with kernels of two axes first. Of a linear map of
// merged windows: with the sizes of its kernel, torch_convolution<3>, torch_convolution<3, 3>.
template <std::size_t... Kernel>
inline constexpr parameter_name torch_convolution[] = {
    {"weight", "weight", out_in.kernel_of(Kernel...)},
    {"bias", "bias"},
};

// The same with groups=channels, for a weight of the axes of the kernel, then channel<32>.
inline constexpr parameter_name torch_depthwise_convolution[] = {
    {"weight", "weight", {stored_axes::last_first}},
    {"bias", "bias"},
};

// nn.Embedding, whose table is a tensor: at("words", "embed_tokens", names::torch_embedding)
inline constexpr parameter_name torch_embedding[] = {
    {"", "weight"},
};

// nn.LayerNorm; nn.RMSNorm, whose gamma is also weight
inline constexpr parameter_name torch_layer_norm[] = {
    {"gamma", "weight"},
    {"beta", "bias"},
};

// nn.MultiheadAttention: in_proj_weight holds q, k and v, or, with kdim and vdim, each has a
// tensor. add_bias_kv's bias_k and bias_v have no counterpart: loading reports them.
inline constexpr parameter_name torch_attention[] = {
    {"q.weight", "in_proj_weight", out_in.part_of(0, 3)},
    {"q.weight", "q_proj_weight", out_in},
    {"q.bias", "in_proj_bias", as_they_are.part_of(0, 3)},
    {"k.weight", "in_proj_weight", out_in.part_of(1, 3)},
    {"k.weight", "k_proj_weight", out_in},
    {"k.bias", "in_proj_bias", as_they_are.part_of(1, 3)},
    {"v.weight", "in_proj_weight", out_in.part_of(2, 3)},
    {"v.weight", "v_proj_weight", out_in},
    {"v.bias", "in_proj_bias", as_they_are.part_of(2, 3)},
    {"o.weight", "out_proj.weight", out_in},
    {"o.bias", "out_proj.bias"},
};

// nn.TransformerEncoderLayer
inline constexpr parameter_name torch_encoder_layer[] = {
    {"norm1.gamma", "norm1.weight"},
    {"norm1.beta", "norm1.bias"},
    {"attention.q.weight", "self_attn.in_proj_weight", out_in.part_of(0, 3)},
    {"attention.q.weight", "self_attn.q_proj_weight", out_in},
    {"attention.q.bias", "self_attn.in_proj_bias", as_they_are.part_of(0, 3)},
    {"attention.k.weight", "self_attn.in_proj_weight", out_in.part_of(1, 3)},
    {"attention.k.weight", "self_attn.k_proj_weight", out_in},
    {"attention.k.bias", "self_attn.in_proj_bias", as_they_are.part_of(1, 3)},
    {"attention.v.weight", "self_attn.in_proj_weight", out_in.part_of(2, 3)},
    {"attention.v.weight", "self_attn.v_proj_weight", out_in},
    {"attention.v.bias", "self_attn.in_proj_bias", as_they_are.part_of(2, 3)},
    {"attention.o.weight", "self_attn.out_proj.weight", out_in},
    {"attention.o.bias", "self_attn.out_proj.bias"},
    {"norm2.gamma", "norm2.weight"},
    {"norm2.beta", "norm2.bias"},
    {"feed_forward.up.weight", "linear1.weight", out_in},
    {"feed_forward.up.bias", "linear1.bias"},
    {"feed_forward.down.weight", "linear2.weight", out_in},
    {"feed_forward.down.bias", "linear2.bias"},
};

// nn.TransformerDecoderLayer
inline constexpr parameter_name torch_decoder_layer[] = {
    {"norm1.gamma", "norm1.weight"},
    {"norm1.beta", "norm1.bias"},
    {"self_attention.q.weight", "self_attn.in_proj_weight", out_in.part_of(0, 3)},
    {"self_attention.q.weight", "self_attn.q_proj_weight", out_in},
    {"self_attention.q.bias", "self_attn.in_proj_bias", as_they_are.part_of(0, 3)},
    {"self_attention.k.weight", "self_attn.in_proj_weight", out_in.part_of(1, 3)},
    {"self_attention.k.weight", "self_attn.k_proj_weight", out_in},
    {"self_attention.k.bias", "self_attn.in_proj_bias", as_they_are.part_of(1, 3)},
    {"self_attention.v.weight", "self_attn.in_proj_weight", out_in.part_of(2, 3)},
    {"self_attention.v.weight", "self_attn.v_proj_weight", out_in},
    {"self_attention.v.bias", "self_attn.in_proj_bias", as_they_are.part_of(2, 3)},
    {"self_attention.o.weight", "self_attn.out_proj.weight", out_in},
    {"self_attention.o.bias", "self_attn.out_proj.bias"},
    {"norm2.gamma", "norm2.weight"},
    {"norm2.beta", "norm2.bias"},
    {"cross_attention.q.weight", "multihead_attn.in_proj_weight", out_in.part_of(0, 3)},
    {"cross_attention.q.weight", "multihead_attn.q_proj_weight", out_in},
    {"cross_attention.q.bias", "multihead_attn.in_proj_bias", as_they_are.part_of(0, 3)},
    {"cross_attention.k.weight", "multihead_attn.in_proj_weight", out_in.part_of(1, 3)},
    {"cross_attention.k.weight", "multihead_attn.k_proj_weight", out_in},
    {"cross_attention.k.bias", "multihead_attn.in_proj_bias", as_they_are.part_of(1, 3)},
    {"cross_attention.v.weight", "multihead_attn.in_proj_weight", out_in.part_of(2, 3)},
    {"cross_attention.v.weight", "multihead_attn.v_proj_weight", out_in},
    {"cross_attention.v.bias", "multihead_attn.in_proj_bias", as_they_are.part_of(2, 3)},
    {"cross_attention.o.weight", "multihead_attn.out_proj.weight", out_in},
    {"cross_attention.o.bias", "multihead_attn.out_proj.bias"},
    {"norm3.gamma", "norm3.weight"},
    {"norm3.beta", "norm3.bias"},
    {"feed_forward.up.weight", "linear1.weight", out_in},
    {"feed_forward.up.bias", "linear1.bias"},
    {"feed_forward.down.weight", "linear2.weight", out_in},
    {"feed_forward.down.bias", "linear2.bias"},
};

}  // namespace umbel::inline UMBEL_TARGET::names
UMBEL_WARNINGS_POP
