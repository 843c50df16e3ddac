// SPDX-License-Identifier: BSL-1.0
// Linear attention (the formula is in 11_linear.hpp), compared with PyTorch.
#include "11_linear.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::linear_attention::seed);
  const auto q = from.q();
  const auto k = from.k(), v = from.k();
  const auto out = variants::linear_attention(q, k, v | rename_axis<head_dim, value_dim>);
  return variants::compare(out, golden::linear_attention::output);
}
