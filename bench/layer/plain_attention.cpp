// SPDX-License-Identifier: BSL-1.0
// See plain_attention.hpp. Built with -ffast-math, as llm.c builds itself.
#include "plain_attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace bench {
namespace {

std::vector<float> zeros(int a, int b, int c = 1) {
  return std::vector<float>(static_cast<std::size_t>(a) * static_cast<std::size_t>(b) *
                            static_cast<std::size_t>(c));
}

// y(row, out) = b(out) + sum of x(row, in) w(out, in)
void project(const float* x, const float* w, const float* b, float* y, int rows, int in, int out) {
  for (int row = 0; row < rows; ++row)
    for (int o = 0; o < out; ++o) {
      float sum = b[o];
      for (int i = 0; i < in; ++i) sum += x[row * in + i] * w[o * in + i];
      y[row * out + o] = sum;
    }
}

void project_backward(const float* x, const float* w, const float* dy, float* dx, float* dw,
                      float* db, int rows, int in, int out) {
  for (int row = 0; row < rows; ++row)
    for (int o = 0; o < out; ++o) {
      const float d = dy[row * out + o];
      for (int i = 0; i < in; ++i) dx[row * in + i] += w[o * in + i] * d;
    }
  for (int o = 0; o < out; ++o)
    for (int row = 0; row < rows; ++row) {
      const float d = dy[row * out + o];
      db[o] += d;
      for (int i = 0; i < in; ++i) dw[o * in + i] += x[row * in + i] * d;
    }
}

float dot(const float* a, const float* b, int count) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

// to += factor * from
void add(float* to, float factor, const float* from, int count) {
  for (int i = 0; i < count; ++i) to[i] += factor * from[i];
}

}  // namespace

plain_attention::plain_attention(int batch, int tokens, int hidden, int heads)
    : w_qkv(zeros(3, hidden, hidden)),
      b_qkv(zeros(3, hidden)),
      w_out(zeros(hidden, hidden)),
      b_out(zeros(1, hidden)),
      dw_qkv(w_qkv),
      db_qkv(b_qkv),
      dw_out(w_out),
      db_out(b_out),
      batch_(batch),
      tokens_(tokens),
      hidden_(hidden),
      heads_(heads),
      qkv_(zeros(batch, tokens, 3 * hidden)),
      scores_(zeros(batch * heads, tokens, tokens)),
      weights_(scores_),
      context_(zeros(batch, tokens, hidden)),
      d_qkv_(qkv_),
      d_scores_(scores_),
      d_weights_(scores_),
      d_context_(context_) {}

void plain_attention::forward(const float* x, float* y) {
  const int rows = batch_ * tokens_, width = hidden_ / heads_, row = 3 * hidden_;
  const float scale = 1 / std::sqrt(static_cast<float>(width));
  project(x, w_qkv.data(), b_qkv.data(), qkv_.data(), rows, hidden_, row);
  for (int b = 0; b < batch_; ++b)
    for (int t = 0; t < tokens_; ++t)
      for (int h = 0; h < heads_; ++h) {
        const float* const first = qkv_.data() + b * tokens_ * row + h * width;
        const float *const q = first + t * row, *const k = first + hidden_, *const v = k + hidden_;
        const int at = ((b * heads_ + h) * tokens_ + t) * tokens_;
        float *const scores = scores_.data() + at, *const weights = weights_.data() + at;
        float most = -10000;
        for (int j = 0; j < tokens_; ++j) {
          scores[j] = dot(q, k + j * row, width) * scale;
          most = std::max(most, scores[j]);
        }
        float sum = 0;
        for (int j = 0; j < tokens_; ++j) {
          weights[j] = std::exp(scores[j] - most);
          sum += weights[j];
        }
        for (int j = 0; j < tokens_; ++j) weights[j] *= 1 / sum;
        float* const out = context_.data() + (b * tokens_ + t) * hidden_ + h * width;
        std::fill_n(out, width, 0.0f);
        for (int j = 0; j < tokens_; ++j) add(out, weights[j], v + j * row, width);
      }
  project(context_.data(), w_out.data(), b_out.data(), y, rows, hidden_, hidden_);
}

void plain_attention::backward(const float* x, const float* dy, float* dx, bool every_pair) {
  const int rows = batch_ * tokens_, width = hidden_ / heads_, row = 3 * hidden_;
  const float scale = 1 / std::sqrt(static_cast<float>(width));
  for (auto* const each : {&d_qkv_, &d_scores_, &d_weights_, &d_context_})
    std::fill(each->begin(), each->end(), 0.0f);
  project_backward(context_.data(), w_out.data(), dy, d_context_.data(), dw_out.data(),
                   db_out.data(), rows, hidden_, hidden_);
  for (int b = 0; b < batch_; ++b)
    for (int t = 0; t < tokens_; ++t)
      for (int h = 0; h < heads_; ++h) {
        const int first = b * tokens_ * row + h * width;
        const float* const q = qkv_.data() + first + t * row;
        const float *const k = qkv_.data() + first + hidden_, *const v = k + hidden_;
        float* const dq = d_qkv_.data() + first + t * row;
        float *const dk = d_qkv_.data() + first + hidden_, *const dv = dk + hidden_;
        const int at = ((b * heads_ + h) * tokens_ + t) * tokens_;
        const float* const weights = weights_.data() + at;
        float *const d_scores = d_scores_.data() + at, *const d_weights = d_weights_.data() + at;
        const float* const d_out = d_context_.data() + (b * tokens_ + t) * hidden_ + h * width;
        for (int j = 0; j < tokens_; ++j) {
          d_weights[j] += dot(v + j * row, d_out, width);
          add(dv + j * row, weights[j], d_out, width);
        }
        if (every_pair) {
          for (int i = 0; i < tokens_; ++i)
            for (int j = 0; j < tokens_; ++j)
              d_scores[j] += weights[i] * ((i == j ? 1.0f : 0.0f) - weights[j]) * d_weights[i];
        } else {
          const float sum = dot(weights, d_weights, tokens_);
          for (int j = 0; j < tokens_; ++j) d_scores[j] += weights[j] * (d_weights[j] - sum);
        }
        for (int j = 0; j < tokens_; ++j) {
          add(dq, d_scores[j] * scale, k + j * row, width);
          add(dk + j * row, d_scores[j] * scale, q, width);
        }
      }
  project_backward(x, w_qkv.data(), d_qkv_.data(), dx, dw_qkv.data(), db_qkv.data(), rows, hidden_,
                   row);
}

}  // namespace bench
