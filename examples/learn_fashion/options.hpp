// SPDX-License-Identifier: BSL-1.0
// The command line: what the user asked for, or one sentence on what is wrong with it.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "../fashion/files.hpp"

namespace learn_fashion {

struct options {
  std::string data;  // none: synthetic
  std::string out = "fashion-learned";
  std::string prune;       // the demo's weights; none: trains
  std::size_t epochs = 0;  // 0: 32, of fine-tuning 1
  std::size_t threads = 1;
  std::uint64_t seed = 1;
  std::uint64_t steps = 0;             // 0: all
  std::uint64_t checkpoint_every = 0;  // steps; 0: an epoch
  bool synthetic = false;
  bool resume = false;
  bool help = false;
};

constexpr const char* usage =
    "usage: learn_fashion (--data DIR | --synthetic) [options]\n"
    "\n"
    "Trains the clothing classifier of the demo from scratch. Stopped, at any moment and however,\n"
    "it goes on with --resume to the same weights.\n"
    "\n"
    "  --data DIR            the four files of Fashion-MNIST, unpacked\n"
    "  --synthetic           a few pictures that the program makes, for a test\n"
    "  --out DIR             where checkpoint.safetensors goes and, at the end, "
    "weights.safetensors and\n"
    "                        curves.svg: loss and accuracy by epoch (fashion-learned)\n"
    "  --resume              goes on from the checkpoint\n"
    "  --prune FILE          trains nothing from scratch: takes heads from the demo's model,\n"
    "                        weights.npz, by two measures, and fine-tunes what is left;\n"
    "                        pruned-heads.svg goes to --out\n"
    "  --epochs N            1 to 1000 (32, of fine-tuning 1)\n"
    "  --threads N           1, 2 or 4: the same weights (1)\n"
    "  --seed N              the same seed, the same weights (1)\n"
    "  --steps N             stops after N steps of all, with a checkpoint\n"
    "  --checkpoint-every N  steps (an epoch)\n"
    "\n"
    "exit code: 0 trained, or stopped by --steps; 1 a step could not be made; 2 unusable input\n";

namespace detail {

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

inline void set(options& wanted, std::string_view option, const std::string& given) {
  const auto folder = [&](std::string& to) {
    if (given.empty())
      throw fashion::input_error{"option " + std::string{option} + " needs a path (see --help)"};
    to = given;
  };
  constexpr std::uint64_t most = INT32_MAX;
  if (option == "--data")
    folder(wanted.data);
  else if (option == "--prune")
    folder(wanted.prune);
  else if (option == "--out")
    folder(wanted.out);
  else if (option == "--epochs")
    wanted.epochs = number(option, given, 1, 1000);
  else if (option == "--threads")
    wanted.threads = number(option, given, 1, 4);
  else if (option == "--seed")
    wanted.seed = number(option, given, 0, most);
  else if (option == "--steps")
    wanted.steps = number(option, given, 1, most);
  else if (option == "--checkpoint-every")
    wanted.checkpoint_every = number(option, given, 1, most);
  else
    throw fashion::input_error{"unknown option '" + std::string{option} + "' (see --help)"};
}

}  // namespace detail

inline options parse(int count, const char* const* words) {
  options result;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--help" || word == "-h")
      result.help = true;
    else if (word == "--resume")
      result.resume = true;
    else if (word == "--synthetic")
      result.synthetic = true;
    else if (const auto equals = word.find('='); equals != word.npos && word.starts_with("--"))
      detail::set(result, word.substr(0, equals), std::string{word.substr(equals + 1)});
    else
      detail::set(result, word, i + 1 < count ? words[++i] : "");
  }
  if (result.epochs == 0) result.epochs = result.prune.empty() ? 32 : 1;
  if (!result.prune.empty() && (result.resume || result.steps != 0 || result.checkpoint_every != 0))
    throw fashion::input_error{
        "option --prune makes no checkpoint: without --resume, --steps, --checkpoint-every "
        "(see --help)"};
  if (result.threads == 3)  // four chains are shared evenly
    throw fashion::input_error{"option --threads needs 1, 2 or 4, not 3 (see --help)"};
  if (!result.help && result.data.empty() != result.synthetic)
    throw fashion::input_error{"either --data DIR or --synthetic (see --help)"};
  return result;
}

}  // namespace learn_fashion
