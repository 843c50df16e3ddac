// SPDX-License-Identifier: BSL-1.0
// The clothing classifier for the page: what network.cpp exports as a WebAssembly module, and
// native.cpp measures on this machine. There is nothing to call before `look`.
#pragma once

#include <cstdint>

#include "exported.hpp"

namespace fashion::page {

// A picture of 28 x 28, row by row, 0 to 255, which the caller writes.
EXPORTED("pixels") std::uint8_t* pixels() noexcept;

// The pass. Bits 0 to 3 are the heads that are kept of the first and of the second layer. 0, and
// nothing is done, where a layer would have no head, or one that there is not.
EXPORTED("look") int look(unsigned first, unsigned second) noexcept;

// What it gave: 10 numbers.
EXPORTED("logits") const float* logits() noexcept;

// And what every head of every layer attends to: layer, head, query, key, of 2 x 4 x 49 x 49. The
// heads that are kept come first.
EXPORTED("maps") const float* maps() noexcept;

}  // namespace fashion::page
