// SPDX-License-Identifier: BSL-1.0
// Stick-breaking attention (the formula is in 15_stick_breaking.hpp), compared with PyTorch.
#include "15_stick_breaking.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::stick_breaking::seed);
  const auto q = from.draw<variants::square_queries>(2);
  const auto k = from.k(), v = from.k();
  const auto out = variants::stick_breaking(q, k, v);
  return variants::compare(out, golden::stick_breaking::output);
}
