// SPDX-License-Identifier: BSL-1.0
// Multi-head attention written straight from the formula in long double: nothing shared with the
// library but the shapes. Not here: any test.
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace umbel_test {

struct attention_sizes {
  std::size_t batch, queries, keys, hidden, heads;
};

using reals = std::vector<long double>;

// x (rows, in) times w (in, out), plus a bias if there is one.
template <class T>
reals project(const reals& x, std::size_t rows, std::size_t in, std::size_t out, const T* w,
              const T* bias) {
  reals y(rows * out);
  for (std::size_t m = 0; m < rows; ++m)
    for (std::size_t n = 0; n < out; ++n) {
      long double sum = bias != nullptr ? static_cast<long double>(bias[n]) : 0;
      for (std::size_t k = 0; k < in; ++k)
        sum += x[m * in + k] * static_cast<long double>(w[k * out + n]);
      y[m * out + n] = sum;
    }
  return y;
}

// x (batch, queries, hidden), y and z (batch, keys, hidden), count[b] keys of sequence b. w: a
// multi_head_attention's weights.
template <class Weights>
reals reference_attention(attention_sizes n, const Weights& w, const reals& x, const reals& y,
                          const reals& z, const std::vector<std::size_t>& count) {
  const auto map = [&](const reals& from, std::size_t rows, const auto& p) {
    constexpr bool has_bias = std::remove_cvref_t<decltype(p)>::map::has_bias;
    const auto* bias = [&]() -> decltype(&p.weight[0]) {
      if constexpr (has_bias)
        return p.bias;
      else
        return nullptr;
    }();
    return project(from, rows, n.hidden, n.hidden, p.weight, bias);
  };
  const reals q = map(x, n.batch * n.queries, w.q), k = map(y, n.batch * n.keys, w.k),
              v = map(z, n.batch * n.keys, w.v);
  const std::size_t head_dim = n.hidden / n.heads;
  reals context(n.batch * n.queries * n.hidden);
  for (std::size_t b = 0; b < n.batch; ++b)
    for (std::size_t h = 0; h < n.heads; ++h)
      for (std::size_t i = 0; i < n.queries; ++i) {
        const std::size_t row = (b * n.queries + i) * n.hidden + h * head_dim;
        reals p(count[b]);
        long double most = -INFINITY, sum = 0;
        for (std::size_t j = 0; j < count[b]; ++j) {
          for (std::size_t d = 0; d < head_dim; ++d)
            p[j] += q[row + d] * k[(b * n.keys + j) * n.hidden + h * head_dim + d];
          p[j] /= std::sqrt(static_cast<long double>(head_dim));
          most = p[j] > most ? p[j] : most;
        }
        for (long double& e : p) sum += e = std::exp(e - most);
        for (std::size_t j = 0; j < count[b]; ++j)
          for (std::size_t d = 0; d < head_dim; ++d)
            context[row + d] += p[j] / sum * v[(b * n.keys + j) * n.hidden + h * head_dim + d];
      }
  return map(context, n.batch * n.queries, w.o);
}

// The elements of a tensor or array.
template <class X>
reals reals_of(const X& x) {
  reals out;
  for (const auto& e : x) out.push_back(static_cast<long double>(e));
  return out;
}

}  // namespace umbel_test
