// SPDX-License-Identifier: BSL-1.0
// libxsmm (libxsmm-dev): code made at run time for each exact shape. It is column-major, so that a
// row-major c = a b is its c' = b' a'. Weights are kept in panels of columns; rows go in blocks.
#include <libxsmm.h>

#include "race.hpp"

namespace {

using kernel = libxsmm_smmfunction;

// c(rows, columns) = a b, row-major; add: c +=. Null where there is no code for it.
kernel make(int rows, int columns, int inner, int a_row, int b_row, int c_row, bool add,
            bool a_transposed = false) {
  const float alpha = 1, beta = add ? 1 : 0;
  const int flags = a_transposed ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
  const int prefetch = LIBXSMM_PREFETCH_NONE;
  return libxsmm_smmdispatch(columns, rows, inner, &b_row, &a_row, &c_row, &alpha, &beta, &flags,
                             &prefetch);
}

template <race::linear_shape S>
void add_linear(race::ways<race::linear_call>& all, const float* w, const float* b, int panel,
                int block, bool bias_first) {
  const race::memory packed = race::allocate(S.in * S.out), bias = race::allocate(S.out);
  std::copy_n(b, S.out, bias.get());
  for (int n = 0; n < S.out; n += panel) {
    const int wide = std::min(panel, S.out - n);
    race::transpose<false>(w + n * S.in, S.in, wide, S.in, packed.get() + n * S.in, wide);
  }
  const int last_panel = (S.out - 1) % panel + 1, last_block = (S.rows - 1) % block + 1;
  kernel run[2][2];  // [last block of rows?][last panel?]
  for (const bool end : {false, true}) {
    const int rows = end ? last_block : block;
    run[end][0] = make(rows, panel, S.in, S.x_row, panel, S.y_row, bias_first);
    run[end][1] = make(rows, last_panel, S.in, S.x_row, last_panel, S.y_row, bias_first);
    if (run[end][0] == nullptr || run[end][1] == nullptr) return;
  }
  all.push_back({"panels of " + std::to_string(panel) + ", rows by " + std::to_string(block) +
                     (bias_first ? ", bias first" : ", bias after"),
                 race::repeated([=](const float* x, float* y) {
                   for (int m = 0; m < S.rows; m += block) {
                     const int rows = std::min(block, S.rows - m);
                     float* const to = y + m * S.y_row;
                     if (bias_first) race::set_rows(to, S.y_row, rows, S.out, bias.get());
                     for (int n = 0; n < S.out; n += panel) {
                       run[m + block >= S.rows][n + panel >= S.out](packed.get() + n * S.in,
                                                                    x + m * S.x_row, to + n);
                     }
                     if (!bias_first) race::add_to_rows(to, S.y_row, rows, S.out, bias.get());
                   }
                 })});
}

struct xsmm {
  static constexpr bool reads_transposed = false;
  static constexpr bool few_ways = false;
  using query_blocks = std::integer_sequence<int, 16, 32, 48, 64, 128>;

  template <race::form F>
  struct product {
    kernel run = make(F.rows, F.columns, F.inner, F.a_row, F.b_row, F.c_row, F.add, F.a_transposed);

    void operator()(const float* a, const float* b, float* c) const { run(b, a, c); }
  };

  template <race::linear_shape S>
  static race::ways<race::linear_call> linears(const float* w, const float* b) {
    race::ways<race::linear_call> all;
    for (const int panel : {16, 32, 48, 64, 128, S.out}) {
      if (panel > S.out) continue;
      for (const int block : {12, 24, 32, 64, S.rows}) {
        if (block > S.rows) continue;
        add_linear<S>(all, w, b, panel, block, true);
        add_linear<S>(all, w, b, panel, block, false);
      }
    }
    return all;
  }
};

}  // namespace

int main(int argc, char** argv) {
  libxsmm_init();
  return race::main<xsmm>(argc, argv);
}
