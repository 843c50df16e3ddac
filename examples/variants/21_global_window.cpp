// SPDX-License-Identifier: BSL-1.0
// A window and global tokens (the formula is in 21_global_window.hpp), compared with PyTorch.
#include "21_global_window.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::global_window::seed);
  const auto q = from.draw<variants::square_queries>(2);
  const auto k = from.k(), v = from.k();
  const auto out = variants::global_window(q, k, v);
  return variants::compare(out, golden::global_window::output);
}
