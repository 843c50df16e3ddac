// SPDX-License-Identifier: BSL-1.0
// The clothing classifier for the page: exported by network.cpp as a WebAssembly module, and
// measured by native.cpp on this machine. Call nothing before `look`.
#pragma once

#include <cstdint>

#include "exported.hpp"

namespace fashion::page {

// A picture of 28 x 28, row by row, 0 to 255, written by the caller.
EXPORTED("pixels") std::uint8_t* pixels() noexcept;

// Runs the pass. Bits 0 to 3 are the heads kept in the first and second layer. Returns 0, without
// running, if a layer would have no head, or one that doesn't exist.
EXPORTED("look") int look(unsigned first, unsigned second) noexcept;

// The result: 10 numbers.
EXPORTED("logits") const float* logits() noexcept;

// What every head of every layer attends to: layer, head, query, key, 2 x 4 x 49 x 49. Kept heads
// come first.
EXPORTED("maps") const float* maps() noexcept;

}  // namespace fashion::page
