// SPDX-License-Identifier: BSL-1.0
// read_file: a whole file into the caller's memory with <cstdio>, if there is no mmap
// (mapped_file.hpp).
#pragma once

#include <umbel/config.hpp>

#if UMBEL_POSIX
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include <cstddef>
#include <cstdio>
#include <umbel/file/result.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
// Null if it can't be opened or is a pipe.
inline std::FILE* open_to_read(const char* path, bool& is_pipe) noexcept {
  is_pipe = false;
#if UMBEL_POSIX
  // O_NONBLOCK: refuse a pipe without a writer instead of waiting for one.
  const int number = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (number < 0) return nullptr;
  struct stat about{};
  is_pipe = fstat(number, &about) == 0 && S_ISFIFO(about.st_mode);
  std::FILE* const file = is_pipe ? nullptr : fdopen(number, "rb");
  if (file == nullptr) close(number);
  return file;
#else
  return std::fopen(path, "rb");
#endif
}
}  // namespace detail

// Reads the file at `path` into `capacity` bytes at `memory`; returns its size.
// file_error::cannot_open if it can't be opened or read, or is a folder or pipe;
// file_error::too_large if it has more bytes. (After a read error, or if its size was unknown, as
// for devices, the old contents are lost.)
inline file_result<std::size_t> read_file(const char* path, void* memory,
                                          std::size_t capacity) noexcept {
  const detail::file_path name{path};
  bool is_pipe = false;
  std::FILE* const file = detail::open_to_read(path, is_pipe);
  if (file == nullptr)
    return detail::failure(file_error::cannot_open, "read_file: ", name,
                           is_pipe ? " is a pipe, not a file" : " cannot be opened");
  const bool readable = std::fgetc(file) != EOF || std::feof(file) != 0;
  const long known = readable && std::fseek(file, 0, SEEK_END) == 0 ? std::ftell(file) : 0;
  const bool fits = known < 0 || static_cast<unsigned long>(known) <= capacity;
  std::size_t bytes = 0;
  bool more = !fits, done = readable;
  if (readable && fits) {
    done = std::fseek(file, 0, SEEK_SET) == 0;
    if (done) bytes = std::fread(memory, 1, capacity, file);
    more = done && std::fgetc(file) != EOF;
    done = done && std::ferror(file) == 0;
  }
  std::fclose(file);
  if (more && fits)
    return detail::failure(file_error::too_large, "read_file: ", name, " has more than the ",
                           std::uint64_t{capacity}, " bytes of the memory");
  if (more)
    return detail::failure(file_error::too_large, "read_file: ", name, " has ",
                           static_cast<std::uint64_t>(known), " bytes, more than the ",
                           std::uint64_t{capacity}, " of the memory");
  if (!done)
    return detail::failure(file_error::cannot_open, "read_file: ", name, " cannot be read");
  return bytes;
}

namespace detail {
UMBEL_SAYS(read_file, "read_file");
UMBEL_SAYS(expects_a_path_memory_and_its_bytes,
           "expects a path, a pointer to memory and its bytes; write read_file(path, memory, "
           "sizeof(memory))");
template <class... Given>
inline constexpr bool are_path_memory_and_bytes = false;
template <class Path, class Memory, class Bytes>
inline constexpr bool are_path_memory_and_bytes<Path, Memory, Bytes> =
    std::is_convertible_v<Path, const char*> && std::is_convertible_v<Memory, void*> &&
    std::is_convertible_v<Bytes, std::size_t>;
}  // namespace detail
// Other arguments: refused.
template <class... Given>
  requires(sizeof...(Given) != 0 && !detail::are_path_memory_and_bytes<Given...>)
file_result<std::size_t> read_file(Given&&...) noexcept {
  using verdict = detail::verdict<detail::never<Given...>, detail::say::read_file,
                                  detail::say::expects_a_path_memory_and_its_bytes>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return std::size_t{0};
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
