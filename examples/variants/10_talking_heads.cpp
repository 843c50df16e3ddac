// SPDX-License-Identifier: BSL-1.0
// Talking heads (the formula is in 10_talking_heads.hpp), compared with PyTorch.
#include "10_talking_heads.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::talking_heads::seed);
  const auto q = from.q();
  const auto k = from.k(), v = from.k();
  const auto p_l = from.draw<tensor<float, variants::talker<2>, heads<2>>>();
  const auto p_w = from.draw<tensor<float, heads<2>, variants::talker<2>>>();
  const auto out = variants::talking_heads(q, k, v, p_l, p_w);
  return variants::compare(out, golden::talking_heads::output);
}
