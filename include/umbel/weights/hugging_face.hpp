// SPDX-License-Identifier: BSL-1.0
// Parameter names of one layer in Hugging Face's transformers, for encoder_layer, decoder_layer:
//   load(w, file, at("encoder.*", "bert.encoder.layer.*", names::bert_layer), ...)
#pragma once

#include <umbel/config.hpp>
#include <umbel/weights/names.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::names {

// BertLayer, RobertaLayer, ElectraLayer: norm_first<false>, activation<gelu_exact>, epsilon 1e-12
inline constexpr parameter_name bert_layer[] = {
    {"attention.q.weight", "attention.self.query.weight", out_in},
    {"attention.q.bias", "attention.self.query.bias"},
    {"attention.k.weight", "attention.self.key.weight", out_in},
    {"attention.k.bias", "attention.self.key.bias"},
    {"attention.v.weight", "attention.self.value.weight", out_in},
    {"attention.v.bias", "attention.self.value.bias"},
    {"attention.o.weight", "attention.output.dense.weight", out_in},
    {"attention.o.bias", "attention.output.dense.bias"},
    {"norm1.gamma", "attention.output.LayerNorm.weight"},
    {"norm1.beta", "attention.output.LayerNorm.bias"},
    {"feed_forward.up.weight", "intermediate.dense.weight", out_in},
    {"feed_forward.up.bias", "intermediate.dense.bias"},
    {"feed_forward.down.weight", "output.dense.weight", out_in},
    {"feed_forward.down.bias", "output.dense.bias"},
    {"norm2.gamma", "output.LayerNorm.weight"},
    {"norm2.beta", "output.LayerNorm.bias"},
};

// ViTLayer, DeiTLayer: norm_first<true>, activation<gelu_exact>, epsilon 1e-12
inline constexpr parameter_name vit_layer[] = {
    {"norm1.gamma", "layernorm_before.weight"},
    {"norm1.beta", "layernorm_before.bias"},
    {"attention.q.weight", "attention.attention.query.weight", out_in},
    {"attention.q.bias", "attention.attention.query.bias"},
    {"attention.k.weight", "attention.attention.key.weight", out_in},
    {"attention.k.bias", "attention.attention.key.bias"},
    {"attention.v.weight", "attention.attention.value.weight", out_in},
    {"attention.v.bias", "attention.attention.value.bias"},
    {"attention.o.weight", "attention.output.dense.weight", out_in},
    {"attention.o.bias", "attention.output.dense.bias"},
    {"norm2.gamma", "layernorm_after.weight"},
    {"norm2.beta", "layernorm_after.bias"},
    {"feed_forward.up.weight", "intermediate.dense.weight", out_in},
    {"feed_forward.up.bias", "intermediate.dense.bias"},
    {"feed_forward.down.weight", "output.dense.weight", out_in},
    {"feed_forward.down.bias", "output.dense.bias"},
};

// GPT2Block: norm_first<true>, activation<gelu_tanh>, causal. Its Conv1D stores matrices (in, out).
// attn.bias and attn.masked_bias are its causal mask.
inline constexpr parameter_name gpt2_block[] = {
    {"norm1.gamma", "ln_1.weight"},
    {"norm1.beta", "ln_1.bias"},
    {"attention.q.weight", "attn.c_attn.weight", in_out.part_of(0, 3)},
    {"attention.q.bias", "attn.c_attn.bias", as_they_are.part_of(0, 3)},
    {"attention.k.weight", "attn.c_attn.weight", in_out.part_of(1, 3)},
    {"attention.k.bias", "attn.c_attn.bias", as_they_are.part_of(1, 3)},
    {"attention.v.weight", "attn.c_attn.weight", in_out.part_of(2, 3)},
    {"attention.v.bias", "attn.c_attn.bias", as_they_are.part_of(2, 3)},
    {"attention.o.weight", "attn.c_proj.weight", in_out},
    {"attention.o.bias", "attn.c_proj.bias"},
    {"norm2.gamma", "ln_2.weight"},
    {"norm2.beta", "ln_2.bias"},
    {"feed_forward.up.weight", "mlp.c_fc.weight", in_out},
    {"feed_forward.up.bias", "mlp.c_fc.bias"},
    {"feed_forward.down.weight", "mlp.c_proj.weight", in_out},
    {"feed_forward.down.bias", "mlp.c_proj.bias"},
    {nullptr, "attn.bias"},
    {nullptr, "attn.masked_bias"},
};

// LlamaDecoderLayer, MistralDecoderLayer: norm_first<true>, norm_by<rms_norm>, gated<true>,
// activation<silu>, causal, and rope<split_halves>: the pairing depends on the checkpoint, and
// Meta's files (meta.hpp) have the other one. bias<false>, or, if the configuration sets them,
// bias<true> for attention_bias and feed_forward_bias<true> for mlp_bias.
inline constexpr parameter_name llama_layer[] = {
    {"norm1.gamma", "input_layernorm.weight"},
    {"attention.q.weight", "self_attn.q_proj.weight", out_in},
    {"attention.q.bias", "self_attn.q_proj.bias"},
    {"attention.k.weight", "self_attn.k_proj.weight", out_in},
    {"attention.k.bias", "self_attn.k_proj.bias"},
    {"attention.v.weight", "self_attn.v_proj.weight", out_in},
    {"attention.v.bias", "self_attn.v_proj.bias"},
    {"attention.o.weight", "self_attn.o_proj.weight", out_in},
    {"attention.o.bias", "self_attn.o_proj.bias"},
    {"norm2.gamma", "post_attention_layernorm.weight"},
    {"feed_forward.gate.weight", "mlp.gate_proj.weight", out_in},
    {"feed_forward.gate.bias", "mlp.gate_proj.bias"},
    {"feed_forward.up.weight", "mlp.up_proj.weight", out_in},
    {"feed_forward.up.bias", "mlp.up_proj.bias"},
    {"feed_forward.down.weight", "mlp.down_proj.weight", out_in},
    {"feed_forward.down.bias", "mlp.down_proj.bias"},
    {nullptr, "self_attn.rotary_emb.inv_freq"},
};

// Starcoder2DecoderLayer: norm_first<true>, activation<gelu_tanh>, bias<true>, causal (with a
// window of W keys, sliding_window<W - 1>), rope<split_halves>, kv_heads, norms with a beta.
inline constexpr parameter_name starcoder2_layer[] = {
    {"norm1.gamma", "input_layernorm.weight"},
    {"norm1.beta", "input_layernorm.bias"},
    {"attention.q.weight", "self_attn.q_proj.weight", out_in},
    {"attention.q.bias", "self_attn.q_proj.bias"},
    {"attention.k.weight", "self_attn.k_proj.weight", out_in},
    {"attention.k.bias", "self_attn.k_proj.bias"},
    {"attention.v.weight", "self_attn.v_proj.weight", out_in},
    {"attention.v.bias", "self_attn.v_proj.bias"},
    {"attention.o.weight", "self_attn.o_proj.weight", out_in},
    {"attention.o.bias", "self_attn.o_proj.bias"},
    {"norm2.gamma", "post_attention_layernorm.weight"},
    {"norm2.beta", "post_attention_layernorm.bias"},
    {"feed_forward.up.weight", "mlp.c_fc.weight", out_in},
    {"feed_forward.up.bias", "mlp.c_fc.bias"},
    {"feed_forward.down.weight", "mlp.c_proj.weight", out_in},
    {"feed_forward.down.bias", "mlp.c_proj.bias"},
    {nullptr, "self_attn.rotary_emb.inv_freq"},
};

// WhisperEncoderLayer, for encoder_layer: norm_first<true>, activation<gelu_exact>, bias_on<'q',
// 'v', 'o'>, feed_forward_bias<true>.
inline constexpr parameter_name whisper_encoder_layer[] = {
    {"norm1.gamma", "self_attn_layer_norm.weight"},
    {"norm1.beta", "self_attn_layer_norm.bias"},
    {"attention.q.weight", "self_attn.q_proj.weight", out_in},
    {"attention.q.bias", "self_attn.q_proj.bias"},
    {"attention.k.weight", "self_attn.k_proj.weight", out_in},
    {"attention.v.weight", "self_attn.v_proj.weight", out_in},
    {"attention.v.bias", "self_attn.v_proj.bias"},
    {"attention.o.weight", "self_attn.out_proj.weight", out_in},
    {"attention.o.bias", "self_attn.out_proj.bias"},
    {"norm2.gamma", "final_layer_norm.weight"},
    {"norm2.beta", "final_layer_norm.bias"},
    {"feed_forward.up.weight", "fc1.weight", out_in},
    {"feed_forward.up.bias", "fc1.bias"},
    {"feed_forward.down.weight", "fc2.weight", out_in},
    {"feed_forward.down.bias", "fc2.bias"},
};

// WhisperDecoderLayer, for decoder_layer: the same options, self_mask(causal).
inline constexpr parameter_name whisper_decoder_layer[] = {
    {"norm1.gamma", "self_attn_layer_norm.weight"},
    {"norm1.beta", "self_attn_layer_norm.bias"},
    {"self_attention.q.weight", "self_attn.q_proj.weight", out_in},
    {"self_attention.q.bias", "self_attn.q_proj.bias"},
    {"self_attention.k.weight", "self_attn.k_proj.weight", out_in},
    {"self_attention.v.weight", "self_attn.v_proj.weight", out_in},
    {"self_attention.v.bias", "self_attn.v_proj.bias"},
    {"self_attention.o.weight", "self_attn.out_proj.weight", out_in},
    {"self_attention.o.bias", "self_attn.out_proj.bias"},
    {"norm2.gamma", "encoder_attn_layer_norm.weight"},
    {"norm2.beta", "encoder_attn_layer_norm.bias"},
    {"cross_attention.q.weight", "encoder_attn.q_proj.weight", out_in},
    {"cross_attention.q.bias", "encoder_attn.q_proj.bias"},
    {"cross_attention.k.weight", "encoder_attn.k_proj.weight", out_in},
    {"cross_attention.v.weight", "encoder_attn.v_proj.weight", out_in},
    {"cross_attention.v.bias", "encoder_attn.v_proj.bias"},
    {"cross_attention.o.weight", "encoder_attn.out_proj.weight", out_in},
    {"cross_attention.o.bias", "encoder_attn.out_proj.bias"},
    {"norm3.gamma", "final_layer_norm.weight"},
    {"norm3.beta", "final_layer_norm.bias"},
    {"feed_forward.up.weight", "fc1.weight", out_in},
    {"feed_forward.up.bias", "fc1.bias"},
    {"feed_forward.down.weight", "fc2.weight", out_in},
    {"feed_forward.down.bias", "fc2.bias"},
};

// Qwen2DecoderLayer: as LlamaDecoderLayer, but bias_on<'q', 'k', 'v'>, feed_forward_bias<false>.
inline constexpr auto& qwen2_layer = llama_layer;

// Qwen3DecoderLayer: as LlamaDecoderLayer, query_key_norm<rms_norm>, head_dim<> if configured.
inline constexpr parameter_name qwen3_layer[] = {
    {"norm1.gamma", "input_layernorm.weight"},
    {"attention.q.weight", "self_attn.q_proj.weight", out_in},
    {"attention.q.bias", "self_attn.q_proj.bias"},
    {"attention.k.weight", "self_attn.k_proj.weight", out_in},
    {"attention.k.bias", "self_attn.k_proj.bias"},
    {"attention.v.weight", "self_attn.v_proj.weight", out_in},
    {"attention.v.bias", "self_attn.v_proj.bias"},
    {"attention.o.weight", "self_attn.o_proj.weight", out_in},
    {"attention.o.bias", "self_attn.o_proj.bias"},
    {"attention.q_norm.gamma", "self_attn.q_norm.weight"},
    {"attention.k_norm.gamma", "self_attn.k_norm.weight"},
    {"norm2.gamma", "post_attention_layernorm.weight"},
    {"feed_forward.gate.weight", "mlp.gate_proj.weight", out_in},
    {"feed_forward.up.weight", "mlp.up_proj.weight", out_in},
    {"feed_forward.down.weight", "mlp.down_proj.weight", out_in},
};

}  // namespace umbel::inline UMBEL_TARGET::names
UMBEL_WARNINGS_POP
