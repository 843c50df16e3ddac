// SPDX-License-Identifier: BSL-1.0
// Eigen (libeigen3-dev): matrices of fixed sizes. Softmax by its array expressions. Fewer ways are
// tried than with the others: each product takes a second to compile.
#include <Eigen/Core>

#include "race.hpp"

namespace {

template <int Rows, int Columns>
using matrix = Eigen::Matrix<float, Rows, Columns,
                             Columns == 1 && Rows != 1 ? Eigen::ColMajor : Eigen::RowMajor>;
template <int Rows, int Columns, int Row>
using view = Eigen::Map<matrix<Rows, Columns>, Eigen::Unaligned, Eigen::OuterStride<Row>>;
template <int Rows, int Columns, int Row>
using const_view =
    Eigen::Map<const matrix<Rows, Columns>, Eigen::Unaligned, Eigen::OuterStride<Row>>;

struct eigen {
  static constexpr bool reads_transposed = true;
  static constexpr bool few_ways = true;
  using query_blocks = std::integer_sequence<int>;

  template <race::form F>
  struct product {
    void operator()(const float* a, const float* b, float* c) const {
      const const_view<F.a_transposed ? F.inner : F.rows, F.a_transposed ? F.rows : F.inner,
                       F.a_row>
          of_a(a);
      const const_view<F.b_transposed ? F.columns : F.inner, F.b_transposed ? F.inner : F.columns,
                       F.b_row>
          of_b(b);
      view<F.rows, F.columns, F.c_row> of_c(c);
      const auto put = [&](const auto& x, const auto& y) {
        if constexpr (F.add) of_c.noalias() += x * y;
        if constexpr (!F.add) of_c.noalias() = x * y;
      };
      if constexpr (F.a_transposed) put(of_a.transpose(), of_b);
      if constexpr (F.b_transposed) put(of_a, of_b.transpose());
      if constexpr (!F.a_transposed && !F.b_transposed) put(of_a, of_b);
    }
  };

  template <race::softmax_shape S>
  static race::ways<race::softmax_call> softmaxes() {
    return {{"array expressions", race::repeated([](const float* x, float* y) {
               for (int r = 0; r < S.rows; ++r) {
                 const const_view<1, S.columns, S.columns> from(x + r * S.columns);
                 view<1, S.columns, S.columns> to(y + r * S.columns);
                 to = (from.array() - from.maxCoeff()).exp().matrix();
                 to *= 1 / to.sum();
               }
             })}};
  }
};

}  // namespace

int main(int argc, char** argv) { return race::main<eigen>(argc, argv); }
