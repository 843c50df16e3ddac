// SPDX-License-Identifier: BSL-1.0
// A step of the same LLaMA block as llama2.c does it: weights (out, in), a dot product for each
// output, sizes that are known at run time, keys and values one position after another, the angles
// of rope computed at each step. Built with -ffast-math, as `make runfast` builds llama2.c. Not
// here: the rows that it stands beside (decode.cpp).
#include "llama_by_rows.hpp"

#include <cmath>

namespace bench {
namespace {

void times(float* y, const float* x, const float* w, int in, int out) {
  for (int o = 0; o < out; ++o) {
    float sum = 0;
    for (int i = 0; i < in; ++i) sum += w[o * in + i] * x[i];
    y[o] = sum;
  }
}

void normalise(float* y, const float* x, const float* gamma, int size) {
  float sum = 0;
  for (int i = 0; i < size; ++i) sum += x[i] * x[i];
  const float scale = 1 / std::sqrt(sum / static_cast<float>(size) + 1e-5f);
  for (int i = 0; i < size; ++i) y[i] = gamma[i] * (scale * x[i]);
}

void softmax(float* x, int size) {
  float largest = x[0], sum = 0;
  for (int i = 1; i < size; ++i)
    if (x[i] > largest) largest = x[i];
  for (int i = 0; i < size; ++i) {
    x[i] = std::exp(x[i] - largest);
    sum += x[i];
  }
  for (int i = 0; i < size; ++i) x[i] /= sum;
}

}  // namespace

void llama_by_rows::step(const float* in, int at, float* out) {
  const int head_dim = hidden / heads, width = kv_heads * head_dim, half = head_dim / 2;
  float* const k = keys + at * width;
  float* const v = values + at * width;
  normalise(x, in, norm1, hidden);
  times(q, x, wq, hidden, hidden);
  times(k, x, wk, hidden, width);
  times(v, x, wv, hidden, width);
  for (int h = 0; h < heads; ++h)
    for (int d = 0; d < half; ++d) {
      const float angle = static_cast<float>(at) *
                          std::pow(10000.0f, -static_cast<float>(d) / static_cast<float>(half));
      const float cosine = std::cos(angle), sine = std::sin(angle);
      for (int n = 0; n < (h < kv_heads ? 2 : 1); ++n) {  // the query, and the key if it has one
        float* const of = (n == 0 ? q : k) + h * head_dim;
        const float a = of[d], b = of[d + half];
        of[d] = a * cosine - b * sine;
        of[d + half] = a * sine + b * cosine;
      }
    }
  for (int h = 0; h < heads; ++h) {
    const int first = h / (heads / kv_heads) * head_dim;
    for (int j = 0; j <= at; ++j) {
      float score = 0;
      for (int d = 0; d < head_dim; ++d) score += q[h * head_dim + d] * keys[j * width + first + d];
      scores[j] = score / std::sqrt(static_cast<float>(head_dim));
    }
    softmax(scores, at + 1);
    float* const context = x + h * head_dim;
    for (int d = 0; d < head_dim; ++d) context[d] = 0;
    for (int j = 0; j <= at; ++j)
      for (int d = 0; d < head_dim; ++d) context[d] += scores[j] * values[j * width + first + d];
  }
  times(branch, x, wo, hidden, hidden);
  for (int i = 0; i < hidden; ++i) y[i] = in[i] + branch[i];
  normalise(x, y, norm2, hidden);
  times(gate, x, wgate, hidden, wide);
  times(up, x, wup, hidden, wide);
  for (int i = 0; i < wide; ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
  times(branch, gate, wdown, wide, hidden);
  for (int i = 0; i < hidden; ++i) out[i] = y[i] + branch[i];
}

}  // namespace bench
