// SPDX-License-Identifier: BSL-1.0
// Sigmoid attention (the formula is in 06_sigmoid.hpp), compared with PyTorch.
#include "06_sigmoid.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::sigmoid_attention::seed);
  const auto q = from.q();
  const auto k = from.k(), v = from.k();
  const auto out = variants::sigmoid_attention(q, k, v, -std::log(10.0f));
  return variants::compare(out, golden::sigmoid_attention::output);
}
