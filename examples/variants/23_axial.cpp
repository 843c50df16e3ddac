// SPDX-License-Identifier: BSL-1.0
// Axial attention (the formula is in 23_axial.hpp), compared with PyTorch.
#include "23_axial.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::axial::seed);
  using grid =
      tensor<float, batch<1>, heads<2>, variants::row<4>, variants::column<2>, head_dim<8>>;
  const auto q = from.draw<grid>(2), k = from.draw<grid>(2), v = from.draw<grid>(2);
  const auto out = variants::axial(q, k, v);
  return variants::compare(out, golden::axial::output);
}
