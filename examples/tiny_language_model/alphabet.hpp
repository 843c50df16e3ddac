// SPDX-License-Identifier: BSL-1.0
// The tokenizer: one token per character, its place in the model's alphabet.
#pragma once

#include <cstddef>
#include <string_view>

namespace tiny {

constexpr std::string_view alphabet =
    "\n !'(),-.:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t characters = alphabet.size();

// npos for a character outside the alphabet.
constexpr std::size_t token_of(char letter) { return alphabet.find(letter); }
constexpr char letter_of(std::size_t token) { return alphabet[token]; }

}  // namespace tiny
