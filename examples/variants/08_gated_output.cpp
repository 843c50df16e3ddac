// SPDX-License-Identifier: BSL-1.0
// Gated output (the formula is in 08_gated_output.hpp), compared with PyTorch.
#include "08_gated_output.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::gated_output::seed);
  const auto q = from.q();
  const auto k = from.k(), v = from.k();
  const auto x = from.draw<tensor<float, batch<1>, query<12>, hidden<16>>>();
  const auto w_gate = from.draw<tensor<float, hidden<16>, heads<2>, head_dim<8>>>(0.5);
  const auto out = variants::gated_output(q, k, v, x, w_gate);
  return variants::compare(out, golden::gated_output::output);
}
