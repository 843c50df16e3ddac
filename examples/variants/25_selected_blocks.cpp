// SPDX-License-Identifier: BSL-1.0
// Selected blocks of keys (the formula is in 25_selected_blocks.hpp), compared with PyTorch.
#include "25_selected_blocks.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::selected_blocks::seed);
  const auto q = from.q();
  const auto k = from.k(), v = from.k();
  const auto out = variants::selected_blocks<5>(q, k, v);
  return variants::compare(out, golden::selected_blocks::output);
}
