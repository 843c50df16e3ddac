// SPDX-License-Identifier: BSL-1.0
// Files that are there whole or not at all, however the program ends: written beside, brought to
// the disk, then renamed. Nothing is allocated to write one.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include <umbel/weights.hpp>

#include "../fashion/files.hpp"

namespace learning {

// Where a file is written, and where it goes; made once, before anything is counted.
struct destination {
  std::string file, beside, folder;

  destination(const std::string& in, const std::string& name)
      : file(in + "/" + name), beside(file + ".part"), folder(in) {}
  bool is_there() const { return ::access(file.c_str(), F_OK) == 0; }
};

namespace detail {

class descriptor {
 public:
  descriptor(const char* path, int flags) noexcept : number_(::open(path, flags, 0644)) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  bool is_open() const noexcept { return number_ >= 0; }
  int number() const noexcept { return number_; }
  bool write(const char* bytes, std::size_t count) noexcept {
    while (count != 0) {
      const ssize_t done = ::write(number_, bytes, count);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      bytes += done;
      count -= static_cast<std::size_t>(done);
    }
    return true;
  }
  bool reach_disk() noexcept { return ::fsync(number_) == 0; }

 private:
  int number_;
};

template <class Write>
bool write_beside(const destination& to, const Write& write) noexcept {
  descriptor out{to.beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC};
  bool good = out.is_open();
  write([&](const char* bytes, std::size_t count) { good = good && out.write(bytes, count); });
  return good && out.reach_disk();
}

}  // namespace detail

// write(sink) gives the bytes to sink(bytes, count). Throws fashion::input_error, and what was
// there stays.
template <class Write>
void write_whole_by(const destination& to, const Write& write) {
  if (!detail::write_beside(to, write) || std::rename(to.beside.c_str(), to.file.c_str()) != 0) {
    const int why = errno;
    ::unlink(to.beside.c_str());
    throw fashion::file_error(to.file,
                              std::string{"cannot be written ("} + std::strerror(why) + ")");
  }
  // The name, too; where a folder cannot be synchronised, the system does it in its time.
  detail::descriptor folder{to.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC};
  if (folder.is_open()) (void)folder.reach_disk();
}

// Weights, or a struct of them, or a text.
template <class W>
void write_whole(const destination& to, const W& w) {
  write_whole_by(to, [&](const auto& sink) { umbel::save(sink, w); });
}
inline void write_whole(const destination& to, const std::string& text) {
  write_whole_by(to, [&](const auto& sink) { sink(text.data(), text.size()); });
}

}  // namespace learning
