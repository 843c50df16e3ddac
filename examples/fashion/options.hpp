// SPDX-License-Identifier: BSL-1.0
// The command line: the user's choices, or one message about what is wrong.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "files.hpp"

namespace fashion {

struct options {
  std::optional<std::string> data;  // none: the committed pictures
  std::string trained = "examples/fashion/trained";
  std::string out = "fashion-out";
  bool help = false;
};

constexpr const char* usage =
    "usage: fashion [--data DIR] [--trained DIR] [--out DIR] [--help]\n"
    "\n"
    "Runs the trained clothing classifier, shows how well and how fast, and what its heads look "
    "at.\n"
    "\n"
    "  --data DIR     t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte of Fashion-MNIST, "
    "unpacked:\n"
    "                 runs all 10,000 test pictures. Without it: the 20 committed ones\n"
    "  --trained DIR  logits.f32, PyTorch's answers to compare with (examples/fashion/trained)\n"
    "  --out DIR      where report.json and attention.html go (fashion-out)\n"
    "\n"
    "exit code: 0 all promises kept, 1 a promise is broken (stderr says which), 2 unusable input\n";

inline options parse(int count, const char* const* words) {
  options result;
  for (int i = 1; i < count; ++i) {
    std::string_view word = words[i];
    if (word == "--help" || word == "-h") {
      result.help = true;
      continue;
    }
    std::optional<std::string> value;
    if (const auto equals = word.find('='); equals != word.npos && word.starts_with("--")) {
      value = std::string{word.substr(equals + 1)};
      word = word.substr(0, equals);
    }
    if (word != "--data" && word != "--trained" && word != "--out") {
      throw input_error{"unknown option '" + std::string{words[i]} + "' (see --help)"};
    }
    if (!value && i + 1 < count) value = words[++i];
    if (!value || value->empty()) {
      throw input_error{"option " + std::string{word} + " needs a folder (see --help)"};
    }
    if (word == "--data") result.data = value;
    if (word == "--trained") result.trained = *value;
    if (word == "--out") result.out = *value;
  }
  return result;
}

}  // namespace fashion
