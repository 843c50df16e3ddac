// SPDX-License-Identifier: BSL-1.0
// read_file: a whole file into memory of the caller, by <cstdio>, where there is no mmap
// (mapped_file.hpp).
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdio>
#include <umbel/file/result.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// The file at `path` into `capacity` bytes at `memory`; its size. file_error::cannot_open where it
// cannot be opened or read, file_error::too_large where it has more bytes. (After an error while it
// is read, what was there before is lost.)
inline file_result<std::size_t> read_file(const char* path, void* memory,
                                          std::size_t capacity) noexcept {
  const tensor_name name(path);
  std::FILE* const file = std::fopen(path, "rb");
  if (file == nullptr)
    return detail::failure(file_error::cannot_open, "read_file: ", name, " cannot be opened");
  const bool at_end = std::fseek(file, 0, SEEK_END) == 0;
  const long size = at_end ? std::ftell(file) : -1;
  const bool fits = size >= 0 && static_cast<unsigned long>(size) <= capacity;
  const std::size_t bytes = fits ? static_cast<std::size_t>(size) : 0;
  const bool done =
      fits && std::fseek(file, 0, SEEK_SET) == 0 && std::fread(memory, 1, bytes, file) == bytes;
  std::fclose(file);
  if (size >= 0 && !fits)
    return detail::failure(file_error::too_large, "read_file: ", name, " has ",
                           static_cast<std::uint64_t>(size), " bytes, more than the ",
                           std::uint64_t{capacity}, " of the memory");
  if (!done)
    return detail::failure(file_error::cannot_open, "read_file: ", name, " cannot be read");
  return bytes;
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
