// SPDX-License-Identifier: BSL-1.0
// What vector_check says of a core's vectors: here, and with those of other lengths
// (vector_lengths.py). Without the check before main, which would stop it.
#include "check.hpp"

#include <umbel/inspect/vector_check.hpp>

int main() {
  const umbel::vector_bits bits = umbel::vector_check();
  embedded::check("the vectors of this core fit", bits.fit);
  embedded::print("# compiled for ");
  embedded::print(static_cast<std::uint32_t>(bits.compiled));
  embedded::print(", the core has ");
  embedded::print(static_cast<std::uint32_t>(bits.core));
  embedded::print("\n");
  return embedded::finish();
}
