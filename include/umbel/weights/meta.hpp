// SPDX-License-Identifier: BSL-1.0
// Parameter names of one block of LLaMA in the checkpoints of Meta and llama2.c (.pt of its
// training), for encoder_layer with norm_first<true>, norm_by<rms_norm>, norm_epsilon<1, 100'000>,
// gated<true>, activation<silu>, bias<false>, rope<adjacent_pairs>; causal.
#pragma once

#include <umbel/config.hpp>
#include <umbel/weights/names.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::names {

// TransformerBlock of llama/model.py
inline constexpr parameter_name meta_llama_block[] = {
    {"norm1.gamma", "attention_norm.weight"},
    {"attention.q.weight", "attention.wq.weight", out_in},
    {"attention.k.weight", "attention.wk.weight", out_in},
    {"attention.v.weight", "attention.wv.weight", out_in},
    {"attention.o.weight", "attention.wo.weight", out_in},
    {"norm2.gamma", "ffn_norm.weight"},
    {"feed_forward.gate.weight", "feed_forward.w1.weight", out_in},
    {"feed_forward.up.weight", "feed_forward.w3.weight", out_in},
    {"feed_forward.down.weight", "feed_forward.w2.weight", out_in},
};

}  // namespace umbel::inline UMBEL_TARGET::names
UMBEL_WARNINGS_POP
