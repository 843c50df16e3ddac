// SPDX-License-Identifier: BSL-1.0
// Gated linear attention (the formula is in 29_gated_linear.hpp), compared with PyTorch.
#include "29_gated_linear.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::gated_linear::seed);
  const auto q = from.draw<variants::square_queries>(2);
  const auto k = from.k(), v = from.k(), gate = from.k();
  const auto out = variants::gated_linear(q, k, v, gate);
  return variants::compare(out, golden::gated_linear::output);
}
