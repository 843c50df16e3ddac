// SPDX-License-Identifier: BSL-1.0
// Shared by the programs of this folder: arguments as PyTorch had them (tools/golden_variants.py),
// and the comparison with PyTorch's result, within the bound of docs/numerics.md.
#pragma once

#include <cmath>
#include <cstdio>
#include <umbel/umbel.hpp>

#include "../../test/golden/data/variants.hpp"
#include "../../test/support/random.hpp"

namespace variants {

using queries = umbel::tensor<float, umbel::axes::batch<1>, umbel::axes::heads<2>,
                              umbel::axes::query<12>, umbel::axes::head_dim<8>>;
// As many as there are keys, for self-attention.
using square_queries = umbel::tensor<float, umbel::axes::batch<1>, umbel::axes::heads<2>,
                                     umbel::axes::query<10>, umbel::axes::head_dim<8>>;
using keys = umbel::tensor<float, umbel::axes::batch<1>, umbel::axes::heads<2>,
                           umbel::axes::key<10>, umbel::axes::head_dim<8>>;

// Tensors of numbers drawn in turn, in [-scale, scale).
class drawing {
 public:
  explicit drawing(std::uint32_t seed) : next_{seed} {}
  template <class X>
  X draw(double scale = 1) {
    return umbel_test::drawn<X>(next_, scale);
  }
  queries q() { return draw<queries>(2); }
  keys k() { return draw<keys>(2); }

 private:
  umbel_test::lcg next_;
};

// The exit code of a program: 0 if result, in row-major order, is `expected`.
template <class Result, std::size_t Count>
int compare(const Result& result, const float (&expected)[Count]) {
  static_assert(Result::size() == Count);
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < Count; ++i) {
    const auto want = static_cast<double>(expected[i]);
    worst = std::fmax(worst, std::fabs(static_cast<double>(result.data()[i]) - want));
    largest = std::fmax(largest, std::fabs(want));
    if (std::isnan(result.data()[i])) worst = INFINITY;
  }
  const double allowed = 1e-5 + 1e-4 * largest;
  std::printf("worst error beside PyTorch in float64: %.2g of at most %.2g\n", worst, allowed);
  return worst <= allowed ? 0 : 1;
}

}  // namespace variants
