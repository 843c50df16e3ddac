// SPDX-License-Identifier: BSL-1.0
// Retention (the formula is in 13_retention.hpp), compared with PyTorch.
#include "13_retention.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::retention::seed);
  const auto q = from.draw<variants::square_queries>(2);
  const auto k = from.k(), v = from.k();
  const auto gamma = from.draw<tensor<float, heads<2>>>(0.05) + 0.9f;
  const auto out = variants::retention(q, k, v, gamma);
  return variants::compare(out, golden::retention::output);
}
