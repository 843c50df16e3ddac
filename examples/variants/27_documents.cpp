// SPDX-License-Identifier: BSL-1.0
// Several documents in one sequence (the formula is in 27_documents.hpp), compared with PyTorch.
#include "27_documents.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::packed_documents::seed);
  const auto q = from.draw<variants::square_queries>(2);
  const auto k = from.k(), v = from.k();
  const tensor<int, batch<1>, token<10>> documents{0, 0, 0, 0, 1, 1, 2, 2, 2, 2};
  const auto out = variants::packed_documents(q, k, v, documents);
  return variants::compare(out, golden::packed_documents::output);
}
