// SPDX-License-Identifier: BSL-1.0
// mapped_file: a file as read-only memory, mapped with POSIX: nothing is copied, and only accessed
// pages are read. Without mmap, use read_file.hpp.
//
//   const auto memory = mapped_file::open("model.safetensors");
//   if (!memory) return report(memory.error());
//   const auto file = tensor_file::in_memory(*memory);
#pragma once

// clang-format off: all that this needs, in order; bare.hpp explains (test/layering.py --lists).
#include <umbel/config.hpp>
#include <umbel/file/text.hpp>
#include <umbel/shape/axis.hpp>
#include <umbel/shape/invalid.hpp>
#include <umbel/shape/verdict.hpp>
#include <umbel/shape/words.hpp>
#include <umbel/tensor/check.hpp>
#include <umbel/file/result.hpp>
// clang-format on

#include <umbel/config.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <umbel/file/result.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// A mapped file, unmapped by the destructor. Movable. If another program shortens the file, access
// raises SIGBUS: replace files by rename, not in place.
class mapped_file {
 public:
  mapped_file() = default;
  mapped_file(mapped_file&& other) noexcept : data_(other.data_), bytes_(other.bytes_) {
    other.data_ = nullptr;
    other.bytes_ = 0;
  }
  mapped_file& operator=(mapped_file&& other) noexcept {
    mapped_file before(static_cast<mapped_file&&>(*this));
    data_ = other.data_;
    bytes_ = other.bytes_;
    other.data_ = nullptr;
    other.bytes_ = 0;
    return *this;
  }
  ~mapped_file() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }

  // Maps the file at `path`; file_error::cannot_open if it doesn't exist, isn't a regular file or
  // isn't readable.
  [[nodiscard]] static file_result<mapped_file> open(const char* path) noexcept {
    // O_NONBLOCK: refuse a pipe without a writer instead of waiting for one.
    const int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return refused(path, errno == ENOENT ? "does not exist" : "cannot be opened");
    const char* wrong = nullptr;
    mapped_file mapped;
    struct stat about{};
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
      wrong = "is not a regular file";
    } else if (about.st_size > 0) {  // an empty file is valid but cannot be mapped
      mapped.bytes_ = static_cast<std::size_t>(about.st_size);
      void* const data = mmap(nullptr, mapped.bytes_, PROT_READ, MAP_PRIVATE, file, 0);
      if (data == MAP_FAILED)
        wrong = "cannot be mapped";
      else
        mapped.data_ = data;
    }
    close(file);
    if (wrong != nullptr) return refused(path, wrong);
    return mapped;
  }

  // The first byte, page-aligned; null for an empty file.
  [[nodiscard]] const unsigned char* data() const noexcept UMBEL_LIFETIMEBOUND {
    return static_cast<const unsigned char*>(data_);
  }
  // In bytes.
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

 private:
  static detail::file_failure refused(const char* path, const char* why) {
    return detail::failure(file_error::cannot_open, "mapped_file: ", detail::file_path{path}, " ",
                           why);
  }

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
