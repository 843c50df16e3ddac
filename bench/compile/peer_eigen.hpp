// SPDX-License-Identifier: BSL-1.0
// What layer.hpp computes, in Eigen's fixed-size matrices. Compiled by run.py only.
#pragma once

#define EIGEN_STACK_ALLOCATION_LIMIT 0
#include <Eigen/Core>
#include <cmath>
#include <limits>

namespace compile_cost {

template <int Batch, int Queries, int Keys, int Hidden, int Heads>
struct eigen_layer {
  static constexpr int dim = Hidden / Heads;
  template <int Rows, int Columns>
  using matrix = Eigen::Matrix<float, Rows, Columns, Eigen::RowMajor>;
  struct weights {
    matrix<Hidden, Hidden> q, k, v, o;
  };
  struct workspace {
    matrix<Queries, Hidden> q, context;
    matrix<Keys, Hidden> k, v;
    matrix<Queries, Keys> scores;
  };
  static void run(const weights& w, const float* x, const float* y, const int* valid_lens,
                  workspace& work, float* out) {
    const float scale = 1 / std::sqrt(float(dim));
    for (int b = 0; b < Batch; ++b) {
      Eigen::Map<const matrix<Queries, Hidden>> xb(x + b * Queries * Hidden);
      Eigen::Map<const matrix<Keys, Hidden>> yb(y + b * Keys * Hidden);
      work.q.noalias() = xb * w.q;
      work.k.noalias() = yb * w.k;
      work.v.noalias() = yb * w.v;
      for (int h = 0; h < Heads; ++h) {
        const auto q = work.q.template middleCols<dim>(h * dim);
        const auto k = work.k.template middleCols<dim>(h * dim);
        const auto v = work.v.template middleCols<dim>(h * dim);
        auto& scores = work.scores;
        scores.noalias() = q * k.transpose();
        scores *= scale;
        for (int j = valid_lens[b]; j < Keys; ++j)
          scores.col(j).setConstant(-std::numeric_limits<float>::infinity());
        scores.colwise() -= scores.rowwise().maxCoeff().eval();
        scores = scores.array().exp().matrix().eval();
        scores.array().colwise() /= scores.rowwise().sum().array().eval();
        work.context.template middleCols<dim>(h * dim).noalias() = scores * v;
      }
      Eigen::Map<matrix<Queries, Hidden>>(out + b * Queries * Hidden).noalias() =
          work.context * w.o;
    }
  }
};

}  // namespace compile_cost
