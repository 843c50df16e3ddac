// SPDX-License-Identifier: BSL-1.0
// A dilated window (the formula is in 26_dilated.hpp), compared with PyTorch.
#include "26_dilated.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::dilated::seed);
  const auto q = from.draw<variants::square_queries>(2);
  const auto k = from.k(), v = from.k();
  const auto out = variants::dilated(q, k, v);
  return variants::compare(out, golden::dilated::output);
}
