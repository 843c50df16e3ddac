// SPDX-License-Identifier: BSL-1.0
// Layers and functions of double (floats.cpp).
#include "blocks.hpp"

int main() {
  using layer = counts::projected<double>;
  static layer::weights w;
  static const layer natural{w};
  counts::group = "double";
  counts::self_attention<layer>("attention", natural, [](counts::values& of) { of.weights(w); });
  counts::blocks<double>();
  return 0;
}
