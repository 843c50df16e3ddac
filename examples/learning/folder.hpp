// SPDX-License-Identifier: BSL-1.0
// The folder of a training, locked against others while this one runs.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "whole_file.hpp"

namespace learning {

// A training's output folder. The system's lock ends with the process, however that ends; the lock
// file stays, since a removed one could be locked twice.
class training_folder {
 public:
  // Creates the folder if necessary. Throws fashion::input_error, also if a training already runs
  // there.
  explicit training_folder(const std::string& path)
      : checkpoint(made(path), "checkpoint.safetensors"),
        result(path, "weights.safetensors"),
        lock_(path + "/lock", fashion::system::descriptor::use::lock) {
    if (lock_.lock()) return;
    if (errno == EWOULDBLOCK)
      throw fashion::file_error(
          path,
          "another training runs in this folder: wait for its end, or begin elsewhere: --out "
          "DIR");
    throw fashion::file_error(path + "/lock",
                              std::string{"cannot be locked ("} + std::strerror(errno) + ")");
  }

  destination checkpoint, result;
  destination other(const char* name) const { return {checkpoint.folder, name}; }

 private:
  static const std::string& made(const std::string& path) {
    fashion::make_writable_folder(path);
    return path;
  }

  fashion::system::descriptor lock_;
};

}  // namespace learning
