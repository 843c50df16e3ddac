// SPDX-License-Identifier: BSL-1.0
// Relative position buckets (the formula is in 04_relative_buckets.hpp), compared with PyTorch.
#include "04_relative_buckets.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::relative_buckets::seed);
  const auto q = from.q();
  const auto k = from.k(), v = from.k();
  const auto table = from.draw<tensor<float, token<32>, heads<2>>>();
  tensor<int, query<12>, key<10>> buckets;
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 10; ++j) buckets(i, j) = variants::bucket(j - i);
  const auto biases = lookup(table, buckets) | permute<heads, query, key> | contiguous;
  const auto out = variants::relative_buckets(q, k, v, biases);
  return variants::compare(out, golden::relative_buckets::output);
}
