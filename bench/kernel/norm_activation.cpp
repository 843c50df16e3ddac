// SPDX-License-Identifier: BSL-1.0
// What lies between the products of a network: norms along rows, activations element by element;
// rows x columns. An operation is an element here.
#include <umbel/kernel/float/norm.hpp>
#include <umbel/operation/activation.hpp>

#include "../measure.hpp"

namespace {

namespace kernel = umbel::detail::kernel;

template <std::size_t Rows, std::size_t Columns>
void add() {
  constexpr std::size_t count = Rows * Columns;
  alignas(64) static float x[count], y[count], gamma[Columns], beta[Columns];
  bench::fill(x, 3);
  bench::fill(gamma, 1);
  bench::fill(beta, 1);
  static constexpr kernel::norm_shape shape{Rows, Columns, Columns, Columns};
  const auto row = [](const char* what, auto f) {
    bench::add_row(bench::row_name(what, {Rows, Columns}, 'x'), 1.0 * count, f);
  };
  row("layer_norm/", [] { kernel::layer_norm<shape>(x, gamma, beta, 1e-5f, y); });
  row("rms_norm/", [] { kernel::rms_norm<shape>(x, gamma, 1e-5f, y); });
  row("gelu_exact/", [] { umbel::gelu_exact.apply<count>(x, y); });
  row("gelu_tanh/", [] { umbel::gelu_tanh.apply<count>(x, y); });
  row("silu/", [] { umbel::silu.apply<count>(x, y); });
}

const bool added = [] {
  add<49, 32>();
  add<49, 64>();
  add<128, 256>();
  return true;
}();

}  // namespace
