// SPDX-License-Identifier: BSL-1.0
// QK-norm (the formula is in 01_qk_norm.hpp), compared with PyTorch.
#include "01_qk_norm.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::qk_norm::seed);
  const auto q = from.q();
  const auto k = from.k(), v = from.k();
  const auto gain_q = from.draw<tensor<float, head_dim<8>>>();
  const auto gain_k = from.draw<tensor<float, head_dim<8>>>();
  const auto out = variants::qk_norm(q, k, v, gain_q, gain_k);
  return variants::compare(out, golden::qk_norm::output);
}
