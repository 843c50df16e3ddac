// SPDX-License-Identifier: BSL-1.0
// The command line: the user's choices, or one message about what is wrong.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "../learning/options.hpp"

namespace learn_text {

struct options : learning::options {
  std::string text;
  std::uint64_t steps = 1500;
  std::size_t characters = 4096;  // per step
  std::size_t held_out = 200'000;

  options() { out = "text-learned"; }
};

constexpr const char* usage =
    "usage: learn_text --text FILE [options]\n"
    "\n"
    "Trains the language model of examples/tiny_language_model from scratch. Stopped, at any "
    "moment\n"
    "and however, it goes on with --resume to the same weights.\n"
    "\n"
    "  --text FILE           of letters, spaces, line ends and !'(),-.:;? only\n"
    "  --out DIR             where checkpoint.safetensors goes and, at the end, "
    "weights.safetensors and\n"
    "                        curves.svg: loss and perplexity by step (text-learned)\n"
    "  --resume              goes on from the checkpoint\n"
    "  --steps N             1 to 1000000 (1500)\n"
    "  --characters N        of a step, 1024 to 65536, a multiple of 1024 (4096)\n"
    "  --held-out N          at the end of the text, not learned from, 257 and more (200000)\n"
    "  --threads N           1, 2 or 4: the same weights (1)\n"
    "  --seed N              the same seed, the same weights (1)\n"
    "  --stop-after N        stops after step N, with a checkpoint\n"
    "  --checkpoint-every N  steps (a line)\n"
    "\n"
    "exit code: 0 trained, or stopped by --stop-after; 1 a step could not be made; 2 unusable "
    "input\n";

inline options parse(int count, const char* const* words) {
  const auto flag = [](options&, std::string_view) { return false; };
  const auto set = [](options& result, std::string_view option, const std::string& given) {
    if (option == "--text")
      result.text = learning::path(option, given);
    else if (option == "--steps")
      result.steps = learning::number(option, given, 1, 1'000'000);
    else if (option == "--characters")
      result.characters = learning::number(option, given, 1024, 65'536);
    else if (option == "--held-out")
      result.held_out = learning::number(option, given, 257, learning::largest);
    else
      return false;
    return true;
  };
  const auto result = learning::parse<options>(count, words, flag, set);
  if (result.characters % 1024 != 0)
    throw fashion::input_error{"option --characters needs a multiple of 1024, not " +
                               std::to_string(result.characters) + " (see --help)"};
  if (!result.help && result.text.empty())
    throw fashion::input_error{"needs --text FILE (see --help)"};
  return result;
}

}  // namespace learn_text
