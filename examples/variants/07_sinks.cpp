// SPDX-License-Identifier: BSL-1.0
// Attention sinks (the formula is in 07_sinks.hpp), compared with PyTorch.
#include "07_sinks.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::sink_logits::seed);
  const auto q = from.q();
  const auto k = from.k(), v = from.k();
  const auto sinks = from.draw<tensor<float, heads<2>>>(4);
  const tensor<float, batch<1>, heads<2>, key<1>, head_dim<8>> none{};
  const auto out = variants::sink_logits(q, k, v, none, sinks);
  return variants::compare(out, golden::sink_logits::output);
}
