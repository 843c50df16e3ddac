// SPDX-License-Identifier: BSL-1.0
// Softcap (the formula is in 02_softcap.hpp), compared with PyTorch.
#include "02_softcap.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::softcapped::seed);
  const auto q = from.q();
  const auto k = from.k(), v = from.k();
  const auto out = variants::softcapped(q, k, v);
  return variants::compare(out, golden::softcapped::output);
}
