// SPDX-License-Identifier: BSL-1.0
// The options common to all training programs, and the parser for the rest.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "../fashion/files.hpp"

namespace learning {

struct options {
  std::string out;
  std::size_t threads = 1;
  std::uint64_t seed = 1;
  std::uint64_t stop_after = 0;        // steps; 0: all
  std::uint64_t checkpoint_every = 0;  // steps; 0: the program's default
  bool resume = false;
  bool help = false;
};
inline constexpr std::uint64_t largest = INT32_MAX;

inline std::uint64_t number(std::string_view option, const std::string& given, std::uint64_t least,
                            std::uint64_t most) {
  std::uint64_t value = 0;
  const char* const end = given.data() + given.size();
  const auto read = std::from_chars(given.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end || value < least || value > most)
    throw fashion::input_error{"option " + std::string{option} + " needs a number from " +
                               std::to_string(least) + " to " + std::to_string(most) + ", not '" +
                               given + "' (see --help)"};
  return value;
}
inline std::string path(std::string_view option, const std::string& given) {
  if (given.empty())
    throw fashion::input_error{"option " + std::string{option} + " needs a path (see --help)"};
  return given;
}

// Options: derived from options. For options not listed above: flag(result, word): is it one
// without a value? set(result, option, given): is it one with a value?
template <class Options, class Flag, class Set>
Options parse(int count, const char* const* words, const Flag& flag, const Set& set) {
  Options result;
  const auto take = [&](std::string_view option, const std::string& given) {
    if (option == "--out")
      result.out = path(option, given);
    else if (option == "--threads")
      result.threads = number(option, given, 1, 4);
    else if (option == "--seed")
      result.seed = number(option, given, 0, largest);
    else if (option == "--stop-after")
      result.stop_after = number(option, given, 1, largest);
    else if (option == "--checkpoint-every")
      result.checkpoint_every = number(option, given, 1, largest);
    else if (!set(result, option, given))
      throw fashion::input_error{"unknown option '" + std::string{option} + "' (see --help)"};
  };
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--help" || word == "-h")
      result.help = true;
    else if (word == "--resume")
      result.resume = true;
    else if (flag(result, word))
      continue;
    else if (const auto equals = word.find('='); equals != word.npos && word.starts_with("--"))
      take(word.substr(0, equals), std::string{word.substr(equals + 1)});
    else
      take(word, i + 1 < count ? words[++i] : "");
  }
  if (result.threads == 3)  // four chains need equal shares
    throw fashion::input_error{"option --threads needs 1, 2 or 4, not 3 (see --help)"};
  return result;
}

}  // namespace learning
