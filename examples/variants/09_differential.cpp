// SPDX-License-Identifier: BSL-1.0
// Differential attention (the formula is in 09_differential.hpp), compared with PyTorch.
#include "09_differential.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::differential::seed);
  const auto q1 = from.q();
  const auto k1 = from.k();
  const auto q2 = from.q();
  const auto k2 = from.k();
  const auto v = from.draw<tensor<float, batch<1>, heads<2>, key<10>, value_dim<16>>>(2);
  const auto gain = from.draw<tensor<float, value_dim<16>>>();
  const auto out = variants::differential(q1, k1, q2, k2, v, 0.5f, gain);
  return variants::compare(out, golden::differential::output);
}
