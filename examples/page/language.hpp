// SPDX-License-Identifier: BSL-1.0
// The language model for the page, as a WebAssembly module exported by language.cpp. A text is read
// token by token, and each one shows what all heads of all blocks attend to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exported.hpp"

namespace tiny::page {

// Memory of `file_room` bytes for a file written by tools/train_text.py.
EXPORTED("file") std::uint8_t* file() noexcept;
EXPORTED("file_room") std::size_t file_room() noexcept;

// Loads the weights from the file. Returns 0 if it is damaged; then there is no model, and nothing
// can be read.
EXPORTED("load") int load(std::size_t bytes) noexcept;

// Starts a new text.
EXPORTED("forget") void forget() noexcept;

// The seed of random draws; 1 at the start.
EXPORTED("seed") void seed(std::uint32_t number) noexcept;

// Reads one more token. Returns 0, without reading, if there is no such token, or 256 are read.
EXPORTED("read") int read(std::uint32_t token) noexcept;

// For the last token read: the logits of the next one, 64 numbers; and its row of every map: block,
// head, key, 5 x 8 x 256, 0 for keys that are not read yet.
EXPORTED("logits") const float* logits() noexcept;
EXPORTED("rows") const float* rows() noexcept;

// The next token, drawn; temperature 0: the most likely one. 0 if nothing was read.
EXPORTED("draw") std::uint32_t draw(float temperature) noexcept;

}  // namespace tiny::page
