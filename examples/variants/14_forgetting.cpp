// SPDX-License-Identifier: BSL-1.0
// Forgetting attention (the formula is in 14_forgetting.hpp), compared with PyTorch.
#include "14_forgetting.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::forgetting::seed);
  const auto q = from.draw<variants::square_queries>(2);
  const auto k = from.k(), v = from.k();
  const auto gate = from.draw<tensor<float, batch<1>, heads<2>, key<10>>>(2) + 2.0f;
  const auto out = variants::forgetting(q, k, v, gate);
  return variants::compare(out, golden::forgetting::output);
}
