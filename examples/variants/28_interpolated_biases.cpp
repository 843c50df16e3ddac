// SPDX-License-Identifier: BSL-1.0
// Biases of FIRE (the formula is in 28_interpolated_biases.hpp), compared with PyTorch.
#include "28_interpolated_biases.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::interpolated_biases::seed);
  const auto q = from.draw<variants::square_queries>(2);
  const auto k = from.k(), v = from.k();
  const auto w1 = from.draw<tensor<float, variants::unit<32>>>();
  const auto b1 = from.draw<tensor<float, variants::unit<32>>>();
  const auto w2 = from.draw<tensor<float, variants::unit<32>, heads<2>>>();
  const auto out = variants::interpolated_biases(q, k, v, 0.5f, 4.0f, w1, b1, w2);
  return variants::compare(out, golden::interpolated_biases::output);
}
