// SPDX-License-Identifier: BSL-1.0
// The right results, in float64 and readable loops, and how far a float32 result may be from them.
#pragma once

#include <cmath>
#include <vector>

#include "workloads.hpp"

namespace race {

using numbers64 = std::vector<double>;

template <class T>
numbers64 reference(linear_shape s, const T* x, const float* w, const float* b) {
  numbers64 y;
  for (int m = 0; m < s.rows; ++m) {
    for (int n = 0; n < s.out; ++n) {
      double sum = b[n];
      for (int k = 0; k < s.in; ++k) sum += static_cast<double>(x[m * s.in + k]) * w[n * s.in + k];
      y.push_back(sum);
    }
  }
  return y;
}

inline void softmax_row(double* x, int count) {
  double most = x[0], sum = 0;
  for (int i = 0; i < count; ++i) most = std::max(most, x[i]);
  for (int i = 0; i < count; ++i) sum += x[i] = std::exp(x[i] - most);
  for (int i = 0; i < count; ++i) x[i] /= sum;
}

inline numbers64 reference(softmax_shape s, const float* x) {
  numbers64 y(x, x + s.rows * s.columns);
  for (int r = 0; r < s.rows; ++r) softmax_row(y.data() + r * s.columns, s.columns);
  return y;
}

inline numbers64 reference(const contract_shape& s, const float* x, const float* y) {
  numbers64 out(static_cast<std::size_t>(s.heads * s.queries * s.columns()));
  for (int h = 0; h < s.heads; ++h) {
    for (int m = 0; m < s.queries; ++m) {
      for (int n = 0; n < s.columns(); ++n) {
        double sum = 0;
        for (int k = 0; k < s.depth(); ++k) {
          const int row = s.values ? k : n, column = s.values ? n : k;
          sum += static_cast<double>(x[h * s.x_head() + m * s.x_row() + k]) *
                 y[row * s.hidden() + h * s.head_dim + column];
        }
        out[static_cast<std::size_t>(h * s.out_head() + m * s.out_row() + n)] = sum;
      }
    }
  }
  return out;
}

template <class T>
numbers64 reference(const attention_shape& s, const T* q, const T* k, const T* v) {
  numbers64 o(static_cast<std::size_t>(s.batch * s.o.batch)),
      weights(static_cast<std::size_t>(s.keys));
  for (int b = 0; b < s.batch; ++b) {
    for (int h = 0; h < s.heads; ++h) {
      for (int i = 0; i < s.queries; ++i) {
        const T* const query = q + b * s.q.batch + h * s.q.head + i * s.q.row;
        for (int j = 0; j < s.keys; ++j) {
          const T* const key = k + b * s.k.batch + h * s.k.head + j * s.k.row;
          double dot = 0;
          for (int d = 0; d < s.head_dim; ++d) dot += static_cast<double>(query[d]) * key[d];
          weights[static_cast<std::size_t>(j)] = dot / std::sqrt(s.head_dim);
        }
        softmax_row(weights.data(), s.keys);
        for (int d = 0; d < s.head_dim; ++d) {
          double sum = 0;
          for (int j = 0; j < s.keys; ++j) {
            sum += weights[static_cast<std::size_t>(j)] *
                   v[b * s.v.batch + h * s.v.head + j * s.v.row + d];
          }
          o[static_cast<std::size_t>(b * s.o.batch + h * s.o.head + i * s.o.row + d)] = sum;
        }
      }
    }
  }
  return o;
}

// Is every number there, and as near as docs/numerics.md wants it? False for NaN.
inline bool agrees(const numbers64& right, const float* got) {
  double largest = 0, error = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double off = std::fabs(right[i] - static_cast<double>(got[i]));
    if (!(off <= 1e9)) return false;
    error = std::max(error, off);
    largest = std::max(largest, std::fabs(right[i]));
  }
  return error <= 1e-5 + 1e-4 * largest;
}

}  // namespace race
