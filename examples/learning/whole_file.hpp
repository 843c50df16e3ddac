// SPDX-License-Identifier: BSL-1.0
// Files that exist completely or not at all, however the program ends: written to a temporary file,
// synced to disk, then renamed. Writing allocates nothing.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <umbel/weights.hpp>

#include "../fashion/files.hpp"

namespace learning {

// Call before writing anything. If one of the numbers 0, 1 and 2, used for messages, is closed, the
// next file would get it: replaces it by one that can't be written. And makes exceeding the file
// size limit (ulimit -f) an error instead of the end of the program.
inline void be_ready_to_write() noexcept {
  for (int number = 0; number <= 2; ++number)
    if (::fcntl(number, F_GETFD) < 0)
      static_cast<void>(::open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY));
  std::signal(SIGXFSZ, SIG_IGN);
}

// Where a file is written, and its final place; made once, before anything is counted.
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
      if (done == 0) errno = ENOSPC;  // no error set, and nothing written
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

// Is it something other than a file: a folder, a device, a pipe, a link?
inline bool is_no_file(const std::string& path) noexcept {
  struct stat about{};
  return ::lstat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode);
}

// 0, or the number of the error. write: returns a file_result, stored in `result`, or nothing.
// Afterwards the temporary file is gone or as it was.
template <class Write>
int write_beside(const destination& to, const Write& write, umbel::file_result<>& result) {
  // Left by a killed program. (O_EXCL: never a file from someone else.)
  if (::unlink(to.beside.c_str()) != 0 && errno != ENOENT) return errno;
  descriptor out{to.beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC};
  if (!out.is_open()) return errno;
  int wrong = 0;
  const auto sink = [&](const char* bytes, std::size_t count) {
    if (wrong == 0 && !out.write(bytes, count)) wrong = errno;
  };
  if constexpr (std::is_void_v<decltype(write(sink))>)
    write(sink);
  else
    result = write(sink);
  if (wrong == 0 && result && !out.reach_disk()) wrong = errno;
  if (wrong == 0 && result && std::rename(to.beside.c_str(), to.file.c_str()) != 0) wrong = errno;
  if (wrong != 0 || !result) ::unlink(to.beside.c_str());
  return wrong;
}

}  // namespace detail

// write(sink) passes the bytes to sink(bytes, count) and returns nothing or a file_result. Throws
// fashion::input_error with one message, and the old file stays.
template <class Write>
void write_whole_by(const destination& to, const Write& write) {
  for (const std::string* path : {&to.file, &to.beside})
    if (detail::is_no_file(*path))
      throw fashion::file_error(*path, "is no regular file, so it is not replaced: remove it");
  umbel::file_result<> result;
  if (const int why = detail::write_beside(to, write, result); why != 0)
    throw fashion::file_error(to.file,
                              std::string{"cannot be written ("} + std::strerror(why) + ")");
  if (!result) throw fashion::file_error(to.file, result.error());
  // The name as well; if a folder can't be synced, the system does it in time.
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
