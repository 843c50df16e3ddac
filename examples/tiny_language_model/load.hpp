// SPDX-License-Identifier: BSL-1.0
// The model from a file written by tools/train_text.py or examples/learn_text.
#pragma once

#include <string>
#include <umbel/file/mapped_file.hpp>

#include "named_weights.hpp"

namespace tiny {

// Loads the weights of the file at `path` and checks the logits of the text in it. Returns an empty
// string, or what is wrong with the file; then don't use w.
inline std::string load_weights(weights& w, const char* path) {
  const auto memory = mapped_file::open(path);
  if (!memory) return memory.error();
  const auto file = tensor_file::in_memory(*memory);
  if (!file) return file.error();
  if (const auto same = verify_checksum(*file); !same) return same.error();

  // With this program's names, so from learn_text.
  const bool was_learned_here = bool(file->find("embedding"));
  const auto loaded = was_learned_here ? load(w, *file, names::umbel) : load_named(w, *file);
  if (!loaded) {
    std::string lines = loaded.error();
    lines.pop_back();  // the last line end
    return lines;
  }

  tokens<24> probe;
  logits<24> wanted;
  const auto replayed =
      replay(*file, [&](const auto& text) { return whole_pass(w, text); }, wanted, probe);
  return replayed.error();
}

}  // namespace tiny
