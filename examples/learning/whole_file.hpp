// SPDX-License-Identifier: BSL-1.0
// Files that are there whole or not at all, however the program ends: written beside, brought to
// the disk, then renamed. Nothing is allocated to write one.
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

// Before a program writes anything. Of the numbers 0, 1 and 2, which messages go to, one that is
// closed would be given to the next file: it becomes one that cannot be written. And a file that is
// longer than the system allows (ulimit -f) is an error, not the end of the program.
inline void be_ready_to_write() noexcept {
  for (int number = 0; number <= 2; ++number)
    if (::fcntl(number, F_GETFD) < 0)
      static_cast<void>(::open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY));
  std::signal(SIGXFSZ, SIG_IGN);
}

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
      if (done == 0) errno = ENOSPC;  // nothing is said, and nothing written
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

// Is there something that is no file: a folder, a device, a pipe, a link?
inline bool is_no_file(const std::string& path) noexcept {
  struct stat about{};
  return ::lstat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode);
}

// 0, or the number of the error. write: gives a file_result, or nothing; what it returns, into
// `result`. What was there is gone from beside the place, or stays as it was.
template <class Write>
int write_beside(const destination& to, const Write& write, umbel::file_result<>& result) {
  // What is left of a program that was killed. (O_EXCL: never what somebody else puts there.)
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

// write(sink) gives the bytes to sink(bytes, count), and returns nothing or a file_result. Throws
// fashion::input_error, one sentence, and what was there stays.
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
