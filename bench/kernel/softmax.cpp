// SPDX-License-Identifier: BSL-1.0
// Softmax along rows, rows x columns. An operation is an element here.
#include <umbel/kernel/softmax.hpp>

#include "../measure.hpp"

namespace {

template <std::size_t Rows, std::size_t Columns>
void add() {
  alignas(64) static float x[Rows * Columns], y[Rows * Columns];
  bench::fill(x, 4);
  bench::add_row(bench::row_name("softmax/", {Rows, Columns}, 'x'), 1.0 * Rows * Columns, [] {
    umbel::detail::kernel::softmax<umbel::detail::kernel::softmax_shape{Rows, Columns, 1}>(x, y);
  });
}

const bool added = [] {
  add<64, 64>();
  add<128, 128>();
  add<512, 512>();
  return true;
}();

}  // namespace
