// SPDX-License-Identifier: BSL-1.0
// Attention in the windows of Swin (the formula is in 18_shifted_windows.hpp), compared with
// PyTorch.
#include "18_shifted_windows.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::shifted_windows::seed);
  const auto q = from.draw<tensor<float, batch<1>, heads<2>, query<9>, head_dim<8>>>(2);
  const auto k = from.draw<tensor<float, batch<1>, heads<2>, key<9>, head_dim<8>>>(2);
  const auto v = from.draw<tensor<float, batch<1>, heads<2>, key<9>, head_dim<8>>>(2);
  const auto table = from.draw<tensor<float, variants::offset<25>, heads<2>>>();
  const auto out = variants::shifted_windows<3>(q, k, v, table);
  return variants::compare(out, golden::shifted_windows::output);
}
