// SPDX-License-Identifier: BSL-1.0
// How well a model knows a text: the perplexity of its characters, for programs on a computer
// (calibrate.cpp and a test).
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <umbel/file/mapped_file.hpp>
#include <vector>

#include "model.hpp"

namespace tiny {

// The file as tokens. Throws if there is no file, or for a character outside the alphabet.
inline std::vector<int> read_text(const std::string& path) {
  const auto memory = umbel::mapped_file::open(path.c_str());
  if (!memory) throw std::runtime_error(path + ": " + memory.error());
  std::vector<int> text;
  for (std::size_t i = 0; i < memory->size(); ++i) {
    const std::size_t token = token_of(static_cast<char>(memory->data()[i]));
    if (token == alphabet.npos)
      throw std::runtime_error(path + ": byte " + std::to_string(i + 1) +
                               " is not in the alphabet");
    text.push_back(static_cast<int>(token));
  }
  return text;
}

// The loss in nats of a piece's logits for the character after each.
inline double loss_of(const logits<context>& scores, const int* behind) {
  double sum = 0;
  for (std::size_t i = 0; i < context; ++i) {
    double largest = -1e30, powers = 0;
    for (std::size_t v = 0; v < characters; ++v)
      largest = std::max(largest, static_cast<double>(scores(i, v)));
    for (std::size_t v = 0; v < characters; ++v) powers += std::exp(scores(i, v) - largest);
    sum += std::log(powers) + largest - scores(i, static_cast<std::size_t>(behind[i]));
  }
  return sum;
}

// e to the mean loss per character. whole_pass: from a piece as long as the context to its logits.
// The text is cut into such pieces; the rest at its end is ignored.
template <class WholePass>
double perplexity(std::span<const int> text, const WholePass& whole_pass) {
  double loss = 0;
  std::size_t count = 0;
  for (; count + context < text.size(); count += context)
    loss += loss_of(whole_pass(umbel::view_as<umbel::axes::token<context>>(text.data() + count)),
                    text.data() + count + 1);
  return std::exp(loss / static_cast<double>(count));
}

}  // namespace tiny
