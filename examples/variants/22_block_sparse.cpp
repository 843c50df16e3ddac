// SPDX-License-Identifier: BSL-1.0
// Attention in blocks (the formula is in 22_block_sparse.hpp), compared with PyTorch.
#include "22_block_sparse.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::block_sparse::seed);
  const auto q = from.draw<variants::square_queries>(2);
  const auto k = from.k(), v = from.k();
  tensor<bool, query<5>, key<5>> seen;  // the first block, the neighbors, and a few at random
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 5; ++j)
      seen(i, j) = i == 0 || j == 0 || i + 1 == j || i == j || i == j + 1 || (3 * i + j) % 4 == 0;
  const auto out = variants::block_sparse(q, k, v, seen);
  return variants::compare(out, golden::block_sparse::output);
}
