// SPDX-License-Identifier: BSL-1.0
// A step of a LLaMA block as a careful programmer writes it without a library: loops of constant
// sizes whose innermost is over adjacent memory, so that the compiler vectorizes all of them, also
// the exponentials. Built with -ffast-math, which lets it reorder every sum. Not here: the rows
// that it stands beside (decode.cpp).
#include "plain_llama.hpp"

#include <cmath>

namespace bench {
namespace {

constexpr int hidden = plain_llama::hidden, head_dim = plain_llama::head_dim;

template <int In, int Out>
void times(const float* __restrict x, const float* __restrict w, float* __restrict y) {
  for (int o = 0; o < Out; ++o) y[o] = 0;
  for (int i = 0; i < In; ++i)
    for (int o = 0; o < Out; ++o) y[o] += x[i] * w[i * Out + o];
}

void normalise(const float* __restrict x, const float* __restrict gamma, float* __restrict y) {
  float sum = 0;
  for (int i = 0; i < hidden; ++i) sum += x[i] * x[i];
  const float scale = 1 / std::sqrt(sum / hidden + 1e-5f);
  for (int i = 0; i < hidden; ++i) y[i] = x[i] * scale * gamma[i];
}

void rotate(float* x, int count, const float* __restrict cosines, const float* __restrict sines) {
  constexpr int half = head_dim / 2;
  for (int h = 0; h < count; ++h)
    for (int d = 0; d < half; ++d) {
      float& a = x[h * head_dim + d];
      float& b = x[h * head_dim + d + half];
      const float turned = a * cosines[d] - b * sines[d];
      b = a * sines[d] + b * cosines[d];
      a = turned;
    }
}

}  // namespace

void plain_llama::step(const float* in, int at, float* out) {
  alignas(64) float x[hidden], q[hidden], k[kv_heads * head_dim], v[kv_heads * head_dim];
  alignas(64) float context[hidden]{}, scores[positions];
  normalise(in, norm1, x);
  times<hidden, hidden>(x, wq, q);
  times<hidden, kv_heads * head_dim>(x, wk, k);
  times<hidden, kv_heads * head_dim>(x, wv, v);
  rotate(q, heads, cosines[at], sines[at]);
  rotate(k, kv_heads, cosines[at], sines[at]);
  for (int d = 0; d < kv_heads * head_dim; ++d) keys[d][at] = k[d];
  for (int d = 0; d < kv_heads * head_dim; ++d) values[d][at] = v[d];
  const int seen = at + 1;
  for (int h = 0; h < heads; ++h) {
    const int first = h / (heads / kv_heads) * head_dim;
    for (int j = 0; j < seen; ++j) scores[j] = 0;
    for (int d = 0; d < head_dim; ++d) {
      const float scaled = q[h * head_dim + d] * scale;
      for (int j = 0; j < seen; ++j) scores[j] += scaled * keys[first + d][j];
    }
    float largest = scores[0], sum = 0;
    for (int j = 1; j < seen; ++j) largest = scores[j] > largest ? scores[j] : largest;
    for (int j = 0; j < seen; ++j) scores[j] = std::exp(scores[j] - largest);
    for (int j = 0; j < seen; ++j) sum += scores[j];
    for (int d = 0; d < head_dim; ++d) {
      float weighted = 0;
      for (int j = 0; j < seen; ++j) weighted += scores[j] * values[first + d][j];
      context[h * head_dim + d] = weighted / sum;
    }
  }
  alignas(64) float y[hidden], gate[wide], up[wide], branch[hidden];
  times<hidden, hidden>(context, wo, branch);
  for (int i = 0; i < hidden; ++i) y[i] = in[i] + branch[i];
  normalise(y, norm2, x);
  times<hidden, wide>(x, wgate, gate);
  times<hidden, wide>(x, wup, up);
  for (int i = 0; i < wide; ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
  times<wide, hidden>(gate, wdown, branch);
  for (int i = 0; i < hidden; ++i) out[i] = y[i] + branch[i];
}

}  // namespace bench
