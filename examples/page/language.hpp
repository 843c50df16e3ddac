// SPDX-License-Identifier: BSL-1.0
// The language model for the page, as a WebAssembly module: what language.cpp exports. A text is
// read token by token, and each tells what all heads of all blocks attend to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exported.hpp"

namespace tiny::page {

// Memory for a file as tools/train_text.py writes it, `file_room` bytes.
EXPORTED("file") std::uint8_t* file() noexcept;
EXPORTED("file_room") std::size_t file_room() noexcept;

// Takes the weights from the file. 0 where it is damaged, and then there is no model: nothing is
// read.
EXPORTED("load") int load(std::size_t bytes) noexcept;

// A new text.
EXPORTED("forget") void forget() noexcept;

// Of the random numbers that draw; 1 at the start.
EXPORTED("seed") void seed(std::uint32_t number) noexcept;

// Reads one more token. 0, and nothing is read, where there is no such token, or 256 are read.
EXPORTED("read") int read(std::uint32_t token) noexcept;

// Of the token that was read last: the logits of the next one, 64 numbers; and its row of every
// map, which is block, head, key of 5 x 8 x 256, 0 for keys that are not read yet.
EXPORTED("logits") const float* logits() noexcept;
EXPORTED("rows") const float* rows() noexcept;

// The next token, drawn; temperature 0: the most likely one. 0 where nothing was read.
EXPORTED("draw") std::uint32_t draw(float temperature) noexcept;

}  // namespace tiny::page
