// SPDX-License-Identifier: BSL-1.0
// A LLaMA block of the sizes of a row of decode.cpp, as llama2.c lays it out (llama_by_rows.cpp).
#pragma once

namespace bench {

struct llama_by_rows {
  // Known at run time, as those of a file are.
  int hidden = 64, heads = 8, kv_heads = 4, wide = 172;

  // Matrices are (out, in), keys and values (position, feature).
  float norm1[64], norm2[64], wq[64 * 64], wk[32 * 64], wv[32 * 64], wo[64 * 64];
  float wgate[172 * 64], wup[172 * 64], wdown[64 * 172];
  float keys[256 * 32], values[256 * 32];
  float x[64], y[64], q[64], branch[64], gate[172], up[172], scores[256];

  // The block's result for position `at`, whose keys and values are stored.
  void step(const float* in, int at, float* out);
};

}  // namespace bench
