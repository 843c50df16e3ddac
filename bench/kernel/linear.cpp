// SPDX-License-Identifier: BSL-1.0
// y = x W + b with packed weights, rows x in x out (rows = 1: a matrix times a vector, which is a
// matter of bandwidth). 2 rows in out operations.
#include <umbel/kernel/linear.hpp>

#include "../measure.hpp"

namespace {

// Stored: what weights are stored as. Note: it, for the name of the row.
template <std::size_t Rows, std::size_t In, std::size_t Out, class Stored = float>
void add(const char* note = "") {
  static constexpr umbel::kernel::linear_shape shape = {Rows, In, Out, In, 1, Out, 1, true};
  alignas(64) static float x[Rows * In], w[In * Out], b[Out], y[Rows * Out];
  alignas(64) static Stored panels[umbel::kernel::packed_size<shape, float>];
  alignas(64) static float biases[umbel::kernel::padded_features<Out, float>];
  bench::fill(x, 1);
  bench::fill(w, 0.1f);
  bench::fill(b, 1);
  umbel::kernel::pack_linear<In, Out, true>(w, b, panels, biases);
  bench::add_row(bench::row_name("linear/", {Rows, Out, In}, 'x') + note, 2.0 * Rows * In * Out,
                 [] { umbel::kernel::linear_packed<shape>(x, panels, biases, y); });
}

// rows, in, out
const bool added = [] {
  add<16, 32, 32>();
  add<4, 100, 100>();
  add<32, 64, 64>();
  add<64, 64, 64>();
  add<32, 128, 128>();
  add<128, 256, 256>();
  add<128, 384, 384>();
  add<197, 192, 192>();
  add<1, 64, 64>();
  add<1, 256, 256>();
  add<1, 256, 256, umbel::bfloat16>(" bfloat16");
  add<1, 256, 256, umbel::float16>(" float16");
  add<1, 384, 384>();
  add<1, 384, 384, umbel::bfloat16>(" bfloat16");
  add<1, 384, 384, umbel::float16>(" float16");
  add<1, 1024, 1024>();
  add<1, 1024, 1024, umbel::bfloat16>(" bfloat16");
  add<1, 1024, 1024, umbel::float16>(" float16");
  return true;
}();

}  // namespace
