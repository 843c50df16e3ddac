// SPDX-License-Identifier: BSL-1.0
// The command line: the user's choices, or one message about what is wrong.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "../learning/options.hpp"

namespace learn_fashion {

struct options : learning::options {
  std::string data;        // none: synthetic
  std::string prune;       // the demo's weights; none: trains
  std::size_t epochs = 0;  // 0: 32, or 1 for fine-tuning
  bool synthetic = false;

  options() { out = "fashion-learned"; }
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
    "  --stop-after N        stops after step N, with a checkpoint\n"
    "  --checkpoint-every N  steps (an epoch)\n"
    "\n"
    "exit code: 0 trained, or stopped by --stop-after; 1 a step could not be made; 2 unusable "
    "input\n";

inline options parse(int count, const char* const* words) {
  const auto flag = [](options& result, std::string_view word) {
    return word == "--synthetic" && (result.synthetic = true);
  };
  const auto set = [](options& result, std::string_view option, const std::string& given) {
    if (option == "--data")
      result.data = learning::path(option, given);
    else if (option == "--prune")
      result.prune = learning::path(option, given);
    else if (option == "--epochs")
      result.epochs = learning::number(option, given, 1, 1000);
    else
      return false;
    return true;
  };
  auto result = learning::parse<options>(count, words, flag, set);
  if (result.epochs == 0) result.epochs = result.prune.empty() ? 32 : 1;
  if (!result.prune.empty() &&
      (result.resume || result.stop_after != 0 || result.checkpoint_every != 0))
    throw fashion::input_error{
        "option --prune makes no checkpoint: without --resume, --stop-after, --checkpoint-every "
        "(see --help)"};
  if (!result.help && result.data.empty() != result.synthetic)
    throw fashion::input_error{"either --data DIR or --synthetic (see --help)"};
  return result;
}

}  // namespace learn_fashion
