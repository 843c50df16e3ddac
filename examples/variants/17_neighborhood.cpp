// SPDX-License-Identifier: BSL-1.0
// Neighborhood attention (the formula is in 17_neighborhood.hpp), compared with PyTorch.
#include "17_neighborhood.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::neighborhood::seed);
  const auto q = from.draw<variants::square_queries>(2);
  const auto k = from.k(), v = from.k();
  const auto out = variants::neighborhood(q, k, v);
  return variants::compare(out, golden::neighborhood::output);
}
