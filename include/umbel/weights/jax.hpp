// SPDX-License-Identifier: BSL-1.0
// Parameter names of attention and convolutions in Keras, Haiku and Flax. Matrices are (in, out);
// Keras and Flax split the heads: (in, heads, head_dim) and (heads, head_dim, out). Names are
// paths:
//   load(w, file, at("attention", "block/multi_head_attention/", names::keras_attention<8>), ...)
#pragma once

#include <umbel/config.hpp>
#include <umbel/weights/names.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::names {

// keras.layers.MultiHeadAttention, by the paths of its variables.
template <std::size_t Heads>
inline constexpr parameter_name keras_attention[] = {
    {"q.weight", "query/kernel", in_out.out_of(Heads)},
    {"q.bias", "query/bias", as_they_are.out_of(Heads)},
    {"k.weight", "key/kernel", in_out.out_of(Heads)},
    {"k.bias", "key/bias", as_they_are.out_of(Heads)},
    {"v.weight", "value/kernel", in_out.out_of(Heads)},
    {"v.bias", "value/bias", as_they_are.out_of(Heads)},
    {"o.weight", "attention_output/kernel", in_out.in_of(Heads)},
    {"o.bias", "attention_output/bias"},
};

// flax.linen.MultiHeadDotProductAttention.
template <std::size_t Heads>
inline constexpr parameter_name flax_attention[] = {
    {"q.weight", "query/kernel", in_out.out_of(Heads)},
    {"q.bias", "query/bias", as_they_are.out_of(Heads)},
    {"k.weight", "key/kernel", in_out.out_of(Heads)},
    {"k.bias", "key/bias", as_they_are.out_of(Heads)},
    {"v.weight", "value/kernel", in_out.out_of(Heads)},
    {"v.bias", "value/bias", as_they_are.out_of(Heads)},
    {"o.weight", "out/kernel", in_out.in_of(Heads)},
    {"o.bias", "out/bias"},
};

// keras.layers.Conv1D, Conv2D; flax.linen.Conv: the kernel, the channels, then the outputs. Sizes
// as for torch_convolution.
template <std::size_t... Kernel>
inline constexpr parameter_name keras_convolution[] = {
    {"weight", "kernel", in_out.kernel_of(Kernel...)},
    {"bias", "bias"},
};

// hk.MultiHeadAttention
inline constexpr parameter_name haiku_attention[] = {
    {"q.weight", "query/w", in_out},  {"q.bias", "query/b"},
    {"k.weight", "key/w", in_out},    {"k.bias", "key/b"},
    {"v.weight", "value/w", in_out},  {"v.bias", "value/b"},
    {"o.weight", "linear/w", in_out}, {"o.bias", "linear/b"},
};

}  // namespace umbel::inline UMBEL_TARGET::names
UMBEL_WARNINGS_POP
