// SPDX-License-Identifier: BSL-1.0
// The command line: the user's choices, or one message about what is wrong.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace tiny {

// Unusable input: the message has what was expected and found.
struct input_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct options {
  std::string prompt = "In the beginning ";
  std::string weights = "examples/tiny_language_model/trained/weights.safetensors";
  std::size_t tokens = 600;
  float temperature = 0.7F;
  std::size_t top_k = 0;
  float top_p = 1;
  float penalty = 1;
  std::uint64_t seed = 1;
  bool in_integers = false;
  bool help = false;
};

constexpr const char* usage =
    "usage: tiny_language_model [PROMPT] [options]\n"
    "\n"
    "Continues the prompt (\"In the beginning \"), character by character.\n"
    "\n"
    "  --tokens N       how many characters to write, 1 to 1000000 (600)\n"
    "  --temperature T  0 to 100; 0: the most likely character each time (0.7)\n"
    "  --top-k K        0 to 64: draws among the K most likely characters; 0: among all (0)\n"
    "  --top-p P        draws among the fewest that are likely with P together, 0 to 1 (1)\n"
    "  --penalty X      divides the logits of the last 32 characters by X, 0.1 to 10 (1)\n"
    "  --seed N         the same seed, the same text (1)\n"
    "  --integers       computes in 8-bit integers: the same text on every target\n"
    "  --weights FILE   as tools/train_text.py writes it\n"
    "\n"
    "exit code: 0 written, 1 unusable input (stderr says why)\n";

namespace detail {

template <class T>
T number(std::string_view option, const std::string& given, T least, T most, const char* range) {
  T value{};
  const char* const end = given.data() + given.size();
  const auto read = std::from_chars(given.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end || !(value >= least && value <= most))  // also NaN
    throw input_error{"option " + std::string{option} + " needs a number " + range + ", not '" +
                      given + "' (see --help)"};
  return value;
}

inline void set(options& wanted, std::string_view option, const std::string& given) {
  if (option == "--weights")
    wanted.weights = given;
  else if (option == "--tokens")
    wanted.tokens = number<std::size_t>(option, given, 1, 1'000'000, "from 1 to 1000000");
  else if (option == "--temperature")
    wanted.temperature = number<float>(option, given, 0, 100, "from 0 to 100");
  else if (option == "--top-k")
    wanted.top_k = number<std::size_t>(option, given, 0, 64, "from 0 to 64");
  else if (option == "--top-p")
    wanted.top_p = number<float>(option, given, 0, 1, "from 0 to 1");
  else if (option == "--penalty")
    wanted.penalty = number<float>(option, given, 0.1F, 10, "from 0.1 to 10");
  else if (option == "--seed")
    wanted.seed = number<std::uint64_t>(option, given, 0, UINT64_MAX, "from 0 to 2^64 - 1");
  else
    throw input_error{"unknown option '" + std::string{option} + "' (see --help)"};
}

}  // namespace detail

inline options parse(int count, const char* const* words) {
  options result;
  bool has_prompt = false;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--help" || word == "-h") {
      result.help = true;
    } else if (word == "--integers") {
      result.in_integers = true;
    } else if (!word.starts_with("--")) {
      if (has_prompt) throw input_error{"one prompt only: put it in quotes (see --help)"};
      result.prompt = word;
      has_prompt = true;
    } else if (const auto equals = word.find('='); equals != word.npos) {
      detail::set(result, word.substr(0, equals), std::string{word.substr(equals + 1)});
    } else {
      const bool has_value = i + 1 < count;
      detail::set(result, word, has_value ? words[++i] : "");
    }
  }
  return result;
}

}  // namespace tiny
