// SPDX-License-Identifier: BSL-1.0
// Softmax along rows, rows x columns, by the public operation. An operation is an element here.
#include <umbel/attention/softmax.hpp>
#include <umbel/shape/axes.hpp>

#include "../measure.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

template <std::size_t Rows, std::size_t Columns>
void add() {
  static tensor<float, query<Rows>, key<Columns>> x, y;
  bench::fill(x, 4);
  bench::add_row(bench::row_name("softmax/", {Rows, Columns}, 'x'), 1.0 * Rows * Columns, [] {
    y = softmax<key>(x);
    benchmark::DoNotOptimize(y);  // nobody else reads it
  });
}

const bool added = [] {
  add<64, 64>();
  add<128, 128>();
  add<512, 512>();
  return true;
}();

}  // namespace
