// SPDX-License-Identifier: BSL-1.0
// A LLaMA block of the sizes of a row of decode.cpp, with its weights, keys and values, in plain
// arrays (plain_llama.cpp).
#pragma once

namespace bench {

struct plain_llama {
  static constexpr int hidden = 64, heads = 8, head_dim = 8, kv_heads = 4, wide = 172,
                       positions = 256;
  static constexpr float scale = 0.35355339f;  // 1 / sqrt(head_dim)

  // Matrices are (in, out), keys and values (feature, position).
  alignas(64) float norm1[hidden], norm2[hidden];
  alignas(64) float wq[hidden * hidden], wk[hidden * kv_heads * head_dim],
      wv[hidden * kv_heads * head_dim], wo[hidden * hidden];
  alignas(64) float wgate[hidden * wide], wup[hidden * wide], wdown[wide * hidden];
  alignas(64) float cosines[positions][head_dim / 2], sines[positions][head_dim / 2];
  alignas(64) float keys[kv_heads * head_dim][positions], values[kv_heads * head_dim][positions];

  // The block's result for position `at`, whose keys and values are stored.
  void step(const float* in, int at, float* out);
};

}  // namespace bench
