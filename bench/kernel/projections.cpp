// SPDX-License-Identifier: BSL-1.0
// Query, key and value from the same rows: three maps, as a layer has them, or one of three times the width
// (docs/decisions/007). Rows x in x out of one of them.
#include <umbel/kernel/linear.hpp>

#include "../measure.hpp"

namespace {

template <std::size_t Rows, std::size_t In, std::size_t Out, std::size_t Maps>
void add(const char* name) {
  static constexpr umbel::kernel::linear_shape shape = {Rows, In, Out, In, 1, Out, 1, true};
  static constexpr std::size_t size = umbel::kernel::packed_size<shape, float>;
  static constexpr std::size_t biases_size = umbel::kernel::padded_features<Out, float>;
  alignas(64) static float x[Rows * In], w[In * Out], b[Out], y[Maps][Rows * Out];
  alignas(64) static float panels[Maps][size], biases[Maps][biases_size];
  bench::fill(x, 1);
  bench::fill(w, 0.1f);
  bench::fill(b, 1);
  for (std::size_t i = 0; i < Maps; ++i)
    umbel::kernel::pack_linear<In, Out, true>(w, b, panels[i], biases[i]);
  bench::add_row(name, 2.0 * Rows * In * Out * Maps, [] {
    for (std::size_t i = 0; i < Maps; ++i)
      umbel::kernel::linear_packed<shape>(x, panels[i], biases[i], y[i]);
  });
}

template <std::size_t Rows, std::size_t In, std::size_t Out>
void add_both() {
  const std::string name = bench::row_name("projections/", {Rows, Out, In}, 'x');
  add<Rows, In, Out, 3>((name + " three").c_str());
  add<Rows, In, 3 * Out, 1>((name + " in one").c_str());
}

const bool added = [] {
  add_both<16, 32, 32>();
  add_both<4, 100, 100>();
  add_both<32, 64, 64>();
  add_both<49, 32, 32>();
  add_both<64, 64, 64>();
  add_both<128, 256, 256>();
  add_both<128, 384, 384>();
  add_both<197, 192, 192>();
  add_both<1, 64, 64>();
  add_both<1, 256, 256>();
  return true;
}();

}  // namespace
