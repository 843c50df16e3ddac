// SPDX-License-Identifier: BSL-1.0
// Disentangled attention (the formula is in 19_disentangled.hpp), compared with PyTorch.
#include "19_disentangled.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::disentangled::seed);
  const auto q = from.q();
  const auto k = from.k(), v = from.k();
  using of_distance = tensor<float, heads<2>, variants::bucket_of_distance<8>, head_dim<8>>;
  const auto q_r = from.draw<of_distance>(), k_r = from.draw<of_distance>();
  const auto out = variants::disentangled(q, k, v, q_r, k_r);
  return variants::compare(out, golden::disentangled::output);
}
