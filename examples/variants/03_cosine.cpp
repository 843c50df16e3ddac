// SPDX-License-Identifier: BSL-1.0
// Scaled cosine attention (the formula is in 03_cosine.hpp), compared with PyTorch.
#include "03_cosine.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::cosine::seed);
  const auto q = from.q();
  const auto k = from.k(), v = from.k();
  const tensor<float, heads<2>> t{0, 6};  // the second is above log(100)
  const auto biases = from.draw<tensor<float, heads<2>, query<12>, key<10>>>();
  const auto out = variants::cosine(q, k, v, t, biases);
  return variants::compare(out, golden::cosine::output);
}
