// SPDX-License-Identifier: BSL-1.0
// Attention by random features (the formula is in 24_random_features.hpp), compared with PyTorch.
#include "24_random_features.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::random_features::seed);
  const auto q = from.draw<variants::queries>();
  const auto k = from.draw<variants::keys>(), v = from.draw<variants::keys>();
  const auto w = from.draw<tensor<float, variants::feature<16>, head_dim<8>>>();
  const auto out = variants::random_features(q, k, v | rename_axis<head_dim, value_dim>, w);
  return variants::compare(out, golden::random_features::output);
}
