// SPDX-License-Identifier: BSL-1.0
// Multi-head self-attention, forward and backward, in the loops that train_gpt2.c of llm.c (Andrej
// Karpathy, MIT licence) has for a CPU, written anew (plain_attention.cpp): sizes of run time,
// weights (out, in), queries, keys and values of a token beside each other, and all weights of
// attention kept. Without its causal mask.
#pragma once

#include <vector>

namespace bench {

struct plain_attention {
  plain_attention(int batch, int tokens, int hidden, int heads);

  // w: of q, k and v one after another, and of the output.
  std::vector<float> w_qkv, b_qkv, w_out, b_out;
  // Of these the gradients, which backward adds to.
  std::vector<float> dw_qkv, db_qkv, dw_out, db_out;

  void forward(const float* x, float* y);
  // Of what forward has kept; adds to dx. The gradient of softmax by every pair of the weights of
  // a row, as llm.c has it, tokens * tokens a row, or by one sum.
  void backward(const float* x, const float* dy, float* dx, bool every_pair);

 private:
  int batch_, tokens_, hidden_, heads_;
  std::vector<float> qkv_, scores_, weights_, context_;
  std::vector<float> d_qkv_, d_scores_, d_weights_, d_context_;
};

}  // namespace bench
