// SPDX-License-Identifier: BSL-1.0
// cosFormer (the formula is in 20_cos_former.hpp), compared with PyTorch.
#include "20_cos_former.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::cos_former::seed);
  const auto q = from.draw<variants::square_queries>(2);
  const auto k = from.k(), v = from.k();
  const auto out = variants::cos_former(q, k, v | rename_axis<head_dim, value_dim>);
  return variants::compare(out, golden::cos_former::output);
}
