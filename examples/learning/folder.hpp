// SPDX-License-Identifier: BSL-1.0
// The folder of a training, in which no other one runs as long as this one does.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include <sys/file.h>

#include "whole_file.hpp"

namespace learning {

// Where a training writes. The lock is the system's, so it ends with the process, however that
// ends; its file stays, as one that is removed could be locked by two.
class training_folder {
 public:
  // Makes the folder where there is none. Throws fashion::input_error, also where another training
  // runs there.
  explicit training_folder(const std::string& path)
      : checkpoint(made(path), "checkpoint.safetensors"),
        result(path, "weights.safetensors"),
        lock_((path + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW) {
    if (lock_.is_open() && ::flock(lock_.number(), LOCK_EX | LOCK_NB) == 0) return;
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

  detail::descriptor lock_;
};

}  // namespace learning
