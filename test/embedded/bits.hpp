// SPDX-License-Identifier: BSL-1.0
// The bits of every result here, one table for all targets and compilers: a hash (check.hpp) for
// those that fuse a product and a sum, and one for those that do not (docs/numerics.md).
#pragma once

#include <cstdint>

namespace embedded {

struct golden {
  const char* what;
  std::uint32_t fused, not_fused;
};
inline constexpr golden golden_bits[] = {
    {"d2l layer", 0x13af7147, 0xda619ffb},
    {"clothing: logits", 0xb19f0d5d, 0x4c5027ad},
};

}  // namespace embedded
