// SPDX-License-Identifier: BSL-1.0
// ALiBi with a sliding window (the formula is in 05_alibi_window.hpp), compared with PyTorch.
#include "05_alibi_window.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::alibi_window::seed);
  const auto q = from.q();
  const auto k = from.k(), v = from.k();
  const auto slopes = from.draw<tensor<float, heads<2>>>();
  const auto out = variants::alibi_window(q, k, v, slopes);
  return variants::compare(out, golden::alibi_window::output);
}
