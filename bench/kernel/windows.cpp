// SPDX-License-Identifier: BSL-1.0
// Convolutions, "windows/...", each beside the product of the same size, "product/...": positions x
// channels x kernel size x output channels. Of a time axis: Whisper's first layers, with stride 2
// the second one; a keyword spotter. Of images: 3 x 3 of 32 channels.
#include <umbel/umbel.hpp>

#include "../measure.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

template <std::size_t N>
struct row : axis<row, N> {};
template <std::size_t N>
struct column : axis<column, N> {};
template <std::size_t N>
struct kernel_row : axis<kernel_row, N> {};

template <class Formula, class X, class W, class Out>
void add(const std::string& name, double flops, const Formula& f, X& x, W& w, Out& out) {
  static workspace_for<Formula, X, W> work;
  bench::fill(x, 1);
  bench::fill(w, 1);
  bench::add_row(name, flops, [&] { f.into(out, x, w, work); });
}

template <std::size_t Positions, std::size_t In, std::size_t Size, std::size_t Outputs,
          std::size_t Stride = 1>
void add_time() {
  static tensor<float, token<(Positions - 1) * Stride + Size>, hidden<In>> x;
  static tensor<float, token<Positions>, kernel_size<Size>, hidden<In>> rows;
  static tensor<float, kernel_size<Size>, hidden<In>, out_features<Outputs>> w;
  static tensor<float, token<Positions>, out_features<Outputs>> out;
  static constexpr formula of_windows = [](auto a, auto b) {
    return contract<kernel_size, hidden>(a | windows<token, kernel_size<Size>, stride<Stride>>, b);
  };
  static constexpr formula product = [](auto a, auto b) {
    return contract<kernel_size, hidden>(a, b);
  };
  const double flops = 2.0 * Positions * In * Size * Outputs;
  const std::string sizes = bench::row_name("", {Positions, In, Size, Outputs}, 'x');
  add("windows/" + sizes, flops, of_windows, x, w, out);
  add("product/" + sizes, flops, product, rows, w, out);
}

template <std::size_t Side, std::size_t Channels>
void add_image() {
  using kernel =
      tensor<float, kernel_row<3>, kernel_size<3>, hidden<Channels>, out_features<Channels>>;
  static tensor<float, row<Side + 2>, column<Side + 2>, hidden<Channels>> x;
  static tensor<float, row<Side>, column<Side>, kernel_row<3>, kernel_size<3>, hidden<Channels>>
      rows;
  static kernel w;
  static tensor<float, row<Side>, column<Side>, out_features<Channels>> out;
  static constexpr formula of_windows = [](auto a, auto b) {
    return contract<kernel_row, kernel_size, hidden>(
        a | windows<row, kernel_row<3>> | windows<column, kernel_size<3>>, b);
  };
  static constexpr formula product = [](auto a, auto b) {
    return contract<kernel_row, kernel_size, hidden>(a, b);
  };
  const double flops = 2.0 * Side * Side * 9 * Channels * Channels;
  const std::string sizes = bench::row_name("", {Side, Side, Channels, 9, Channels}, 'x');
  add("windows/" + sizes, flops, of_windows, x, w, out);
  add("product/" + sizes, flops, product, rows, w, out);
}

const bool added = [] {
  add_time<3000, 80, 3, 384>();
  add_time<1500, 384, 3, 384, 2>();
  add_time<98, 40, 3, 64>();
  add_image<16, 32>();
  add_image<64, 32>();
  return true;
}();

}  // namespace
