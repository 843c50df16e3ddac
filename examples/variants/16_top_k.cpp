// SPDX-License-Identifier: BSL-1.0
// Top-k attention (the formula is in 16_top_k.hpp), compared with PyTorch.
#include "16_top_k.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::top_k::seed);
  const auto q = from.q();
  const auto k = from.k(), v = from.k();
  const auto out = variants::top_k(q, k, v);
  return variants::compare(out, golden::top_k::output);
}
