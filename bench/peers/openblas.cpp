// SPDX-License-Identifier: BSL-1.0
// OpenBLAS (libopenblas-dev): cblas_sgemm, cblas_sgemv where a matrix is one row. One thread. Let
// it choose its own kernels: OPENBLAS_CORETYPE unset (run.py does that).
#include <cblas.h>

#include "race.hpp"

namespace {

struct openblas {
  static constexpr bool reads_transposed = true;
  static constexpr bool few_ways = false;
  using query_blocks = std::integer_sequence<int, 16, 32, 48, 64, 128>;

  template <race::form F>
  struct product {
    void operator()(const float* a, const float* b, float* c) const {
      constexpr float add = F.add ? 1.0f : 0.0f;
      constexpr auto trans = [](bool is) { return is ? CblasTrans : CblasNoTrans; };
      if constexpr (F.rows == 1 && !F.a_transposed) {
        constexpr int rows = F.b_transposed ? F.columns : F.inner;
        constexpr int columns = F.b_transposed ? F.inner : F.columns;
        cblas_sgemv(CblasRowMajor, trans(!F.b_transposed), rows, columns, 1, b, F.b_row, a, 1, add,
                    c, 1);
      } else {
        cblas_sgemm(CblasRowMajor, trans(F.a_transposed), trans(F.b_transposed), F.rows, F.columns,
                    F.inner, 1, a, F.a_row, b, F.b_row, add, c, F.c_row);
      }
    }
  };
};

}  // namespace

int main(int argc, char** argv) {
  openblas_set_num_threads(1);
  return race::main<openblas>(argc, argv);
}
