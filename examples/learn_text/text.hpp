// SPDX-License-Identifier: BSL-1.0
// The text: its end is held out; pieces are drawn from anywhere before it (learning/chance.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../fashion/files.hpp"
#include "../learning/chance.hpp"
#include "../tiny_language_model/perplexity.hpp"

namespace learn_text {

using namespace umbel;
using namespace umbel::axes;
using tiny::context;

struct text {
  std::vector<int> tokens;
  std::size_t held_out = 0;

  std::size_t size() const { return tokens.size(); }
  std::size_t learned_from() const { return size() - held_out; }
  // Pieces of context length in the held-out text, each with the token after its last.
  std::size_t held_out_pieces() const { return (held_out - 1) / context; }
  const int* held_out_piece(std::size_t i) const {
    return tokens.data() + learned_from() + i * context;
  }
  // Piece `counter` of all that are drawn: its start, for `length` tokens and the next one.
  const int* drawn_piece(std::uint64_t seed, std::size_t length, std::uint64_t counter) const {
    constexpr std::uint64_t purpose = 0;
    const auto places = static_cast<std::uint32_t>(learned_from() - length);
    return tokens.data() + learning::draws{seed, purpose}.below(places, counter);
  }
};

// Throws fashion::input_error if it can't be learned from.
inline text read_text(const std::string& path, std::size_t held_out) {
  constexpr std::size_t least = context + 1;
  text all{tiny::read_text(path), held_out};
  if (all.size() < held_out + least)
    throw fashion::file_error(path, "has " + std::to_string(all.size()) + " characters: " +
                                        std::to_string(held_out) + " to hold out and at least " +
                                        std::to_string(least) + " to learn from are needed");
  return all;
}

}  // namespace learn_text
