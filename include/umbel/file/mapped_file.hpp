// SPDX-License-Identifier: BSL-1.0
// mapped_file: a file as read-only memory, mapped with POSIX or Windows: nothing is copied, and
// only accessed pages are read. On other systems, use read_file.hpp.
//
//   const auto memory = mapped_file::open("model.safetensors");
//   if (!memory) return report(memory.error());
//   const auto file = tensor_file::in_memory(*memory);
#pragma once

// clang-format off: all that this needs, in order; bare.hpp explains (test/layering.py --lists).
#include <umbel/config.hpp>
#include <umbel/shape/axis.hpp>
#include <umbel/shape/invalid.hpp>
#include <umbel/shape/verdict.hpp>
#include <umbel/file/text.hpp>
#include <umbel/shape/words.hpp>
#include <umbel/tensor/check.hpp>
#include <umbel/file/result.hpp>
// clang-format on

#include <umbel/config.hpp>

#if defined(_WIN32)
// From windows.h, whose macros (IN, OUT, near, min) would harm programs.
struct _SECURITY_ATTRIBUTES;
union _LARGE_INTEGER;
extern "C" __declspec(dllimport) void* __stdcall CreateFileA(const char*, unsigned long,
                                                             unsigned long, _SECURITY_ATTRIBUTES*,
                                                             unsigned long, unsigned long, void*);
extern "C" __declspec(dllimport) int __stdcall GetFileSizeEx(void*, _LARGE_INTEGER*);
extern "C" __declspec(dllimport) unsigned long __stdcall GetFileType(void*);
extern "C" __declspec(dllimport) unsigned long __stdcall GetLastError();
extern "C" __declspec(dllimport) void* __stdcall CreateFileMappingA(void*, _SECURITY_ATTRIBUTES*,
                                                                    unsigned long, unsigned long,
                                                                    unsigned long, const char*);
#if defined(_WIN64)
extern "C" __declspec(dllimport) void* __stdcall MapViewOfFile(void*, unsigned long, unsigned long,
                                                               unsigned long, unsigned long long);
#else
extern "C" __declspec(dllimport) void* __stdcall MapViewOfFile(void*, unsigned long, unsigned long,
                                                               unsigned long, unsigned long);
#endif
extern "C" __declspec(dllimport) int __stdcall UnmapViewOfFile(const void*);
extern "C" __declspec(dllimport) int __stdcall CloseHandle(void*);
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#endif

#include <cstddef>
#include <umbel/file/result.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {

struct mapping {
  void* data = nullptr;
  std::size_t bytes = 0;
  const char* wrong = nullptr;
};

#if defined(_WIN32)
inline mapping map_file(const char* path) noexcept {
  constexpr unsigned long read = 0x80000000, share_to_read = 1, share_to_remove = 4, existing = 3,
                          normal = 0x80, on_disk = 1, read_only = 2, map_to_read = 4,
                          no_such_file = 2, no_such_folder = 3;
  void* const file =
      CreateFileA(path, read, share_to_read | share_to_remove, nullptr, existing, normal, nullptr);
  if (file == reinterpret_cast<void*>(std::ptrdiff_t{-1})) {
    const unsigned long error = GetLastError();
    return {
        nullptr, 0,
        error == no_such_file || error == no_such_folder ? "does not exist" : "cannot be opened"};
  }
  mapping made;
  long long size = 0;
  if (GetFileType(file) != on_disk ||
      GetFileSizeEx(file, reinterpret_cast<_LARGE_INTEGER*>(&size)) == 0) {
    made.wrong = "is not a regular file";
  } else if (size > 0) {  // an empty file is valid but cannot be mapped
    void* const whole = CreateFileMappingA(file, nullptr, read_only, 0, 0, nullptr);
    if (whole != nullptr) {
      made.data = MapViewOfFile(whole, map_to_read, 0, 0, 0);
      CloseHandle(whole);
    }
    if (made.data == nullptr)
      made.wrong = "cannot be mapped";
    else
      made.bytes = static_cast<std::size_t>(size);
  }
  CloseHandle(file);
  return made;
}
inline void unmap_file(void* data, std::size_t) noexcept { UnmapViewOfFile(data); }
#else
inline mapping map_file(const char* path) noexcept {
  // O_NONBLOCK: refuse a pipe without a writer instead of waiting for one.
  const int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return {nullptr, 0, errno == ENOENT ? "does not exist" : "cannot be opened"};
  mapping made;
  struct stat about{};
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
    made.wrong = "is not a regular file";
  } else if (about.st_size > 0) {  // an empty file is valid but cannot be mapped
    const auto bytes = static_cast<std::size_t>(about.st_size);
    void* const data = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED)
      made.wrong = "cannot be mapped";
    else
      made = {data, bytes, nullptr};
  }
  close(file);
  return made;
}
inline void unmap_file(void* data, std::size_t bytes) noexcept { munmap(data, bytes); }
#endif

}  // namespace detail

namespace detail {
UMBEL_SAYS(is_made_by_open_of_a_path, "is made by open; write mapped_file::open(path)");
}  // namespace detail

// A mapped file, unmapped by the destructor. Movable. If a program shortens the file, access
// raises SIGBUS: replace files by rename, not in place. (Windows keeps a mapped file as it is.)
class mapped_file {
 public:
  mapped_file() = default;
  // Of a path: refused.
  template <class Path>
    requires std::is_convertible_v<const Path&, const char*>
  explicit mapped_file(const Path&) noexcept {
    static_assert(detail::report<detail::verdict<detail::never<Path>, mapped_file,
                                                 detail::say::is_made_by_open_of_a_path>>::ok,
                  "umbel: shapes do not fit");
  }
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
    if (data_ != nullptr) detail::unmap_file(data_, bytes_);
  }

  // Maps the file at `path`; file_error::cannot_open if it doesn't exist, isn't a regular file or
  // isn't readable.
  [[nodiscard]] static file_result<mapped_file> open(const char* path) noexcept {
    const detail::mapping made = detail::map_file(path);
    if (made.wrong != nullptr)
      return detail::failure(file_error::cannot_open, "mapped_file: ", detail::file_path{path}, " ",
                             made.wrong);
    mapped_file mapped;
    mapped.data_ = made.data;
    mapped.bytes_ = made.bytes;
    return mapped;
  }

  // The first byte, page-aligned; null for an empty file.
  [[nodiscard]] const unsigned char* data() const noexcept UMBEL_LIFETIMEBOUND {
    return static_cast<const unsigned char*>(data_);
  }
  // In bytes.
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
