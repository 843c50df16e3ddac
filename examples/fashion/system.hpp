// SPDX-License-Identifier: BSL-1.0
// What the examples ask of the operating system, on POSIX and on Windows: rights, the terminal, and
// files written to disk before anything else happens.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#if defined(_WIN32)
#include <io.h>
#include <process.h>
#include <share.h>
#else
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace fashion::system {

// A file that is written or locked by number, since the standard library has neither locks nor a
// flush to disk.
class descriptor {
 public:
  enum class use {
    create,  // a new file to write: never one that is there
    lock,    // made if necessary, and locked until the descriptor ends, however the program ends
    folder   // to flush its names to disk
  };
  descriptor(const std::string& path, use how) noexcept : number_(open(path.c_str(), how)) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;

#if defined(_WIN32)
  ~descriptor() {
    if (number_ >= 0) ::_close(number_);
  }
  // False: errno says why, EWOULDBLOCK if another program holds the lock.
  bool lock() noexcept {
    if (number_ < 0 && errno == EACCES) errno = EWOULDBLOCK;
    return number_ >= 0;
  }
  bool flush_to_disk() noexcept { return ::_commit(number_) == 0; }
#else
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  bool lock() noexcept { return number_ >= 0 && ::flock(number_, LOCK_EX | LOCK_NB) == 0; }
  bool flush_to_disk() noexcept { return ::fsync(number_) == 0; }
#endif
  bool is_open() const noexcept { return number_ >= 0; }
  bool write(const char* bytes, std::size_t count) noexcept {
    while (count != 0) {
      const auto done = written(bytes, count);
      if (done < 0 && errno == EINTR) continue;
      if (done == 0) errno = ENOSPC;  // no error set, and nothing written
      if (done <= 0) return false;
      bytes += done;
      count -= static_cast<std::size_t>(done);
    }
    return true;
  }

 private:
#if defined(_WIN32)
  static int open(const char* path, use how) noexcept {
    if (how == use::folder) return -1;
    constexpr int flags = _O_RDWR | _O_CREAT | _O_BINARY | _O_NOINHERIT;
    // A lock is a file that nobody else can open.
    return how == use::lock ? ::_sopen(path, flags, _SH_DENYRW, _S_IREAD | _S_IWRITE)
                            : ::_sopen(path, flags | _O_EXCL, _SH_DENYNO, _S_IREAD | _S_IWRITE);
  }
  int written(const char* bytes, std::size_t count) noexcept {
    constexpr std::size_t most = std::size_t{1} << 30;
    return ::_write(number_, bytes, static_cast<unsigned>(count < most ? count : most));
  }
#else
  static int open(const char* path, use how) noexcept {
    if (how == use::folder) return ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (how == use::lock) return ::open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    return ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  }
  ssize_t written(const char* bytes, std::size_t count) noexcept {
    return ::write(number_, bytes, count);
  }
#endif
  int number_;
};

#if defined(_WIN32)
inline bool can_write_in(const std::filesystem::path& folder) {
  return ::_waccess(folder.c_str(), 2) == 0;
}
inline int process_number() { return ::_getpid(); }
inline bool is_terminal() { return ::_isatty(1) != 0; }
inline long preemptions() { return 0; }  // unknown
inline void be_ready_to_write() noexcept {}
inline bool is_other_than_file(const char* path) noexcept {
  struct _stat64 about{};
  return ::_stat64(path, &about) == 0 && (about.st_mode & _S_IFREG) == 0;
}
inline bool remove_file(const char* path) noexcept { return ::_unlink(path) == 0; }
// 0, or the number of the error.
inline int replace(const char* from, const char* to) {
  std::error_code failed;  // std::rename refuses a file that is there
  std::filesystem::rename(from, to, failed);
  return failed.default_error_condition().value();
}
#else
inline bool can_write_in(const std::filesystem::path& folder) {
  return ::access(folder.c_str(), W_OK | X_OK) == 0;
}
inline int process_number() { return ::getpid(); }
inline bool is_terminal() { return ::isatty(STDOUT_FILENO) != 0; }
// Is it something other than a file: a folder, a device, a pipe, a link?
inline bool is_other_than_file(const char* path) noexcept {
  struct stat about{};
  return ::lstat(path, &about) == 0 && !S_ISREG(about.st_mode);
}
// False: errno says why.
inline bool remove_file(const char* path) noexcept { return ::unlink(path) == 0; }
// 0, or the number of the error.
inline int replace(const char* from, const char* to) noexcept {
  return std::rename(from, to) == 0 ? 0 : errno;
}
// How often the system gave this program's core to a different one.
inline long preemptions() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}
// Call before writing anything. If one of the numbers 0, 1 and 2, used for messages, is closed, the
// next file would get it: replaces it by one that can't be written. And makes exceeding the file
// size limit (ulimit -f) an error instead of the end of the program.
inline void be_ready_to_write() noexcept {
  for (int number = 0; number <= 2; ++number)
    if (::fcntl(number, F_GETFD) < 0)
      static_cast<void>(::open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY));
  std::signal(SIGXFSZ, SIG_IGN);
}
#endif

}  // namespace fashion::system
