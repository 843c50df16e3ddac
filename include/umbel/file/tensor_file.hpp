// SPDX-License-Identifier: BSL-1.0
// tensor_file: a file of tensors in any supported format, recognized by its first bytes.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <umbel/file/npy.hpp>
#include <umbel/file/npz.hpp>
#include <umbel/file/other_formats.hpp>
#include <umbel/file/safetensors.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// A .npy, .npz or safetensors file in memory. The memory must outlive it.
class tensor_file : public detail::tensor_listing<tensor_file> {
 public:
  tensor_file() = default;

  using detail::tensor_listing<tensor_file>::tensor_listing;
  using detail::tensor_listing<tensor_file>::in_memory;
  // Its errors are those of the format's class: npy_file, npz_file, safetensors_file.
  [[nodiscard]] static file_result<tensor_file> in_memory(const void* memory,
                                                          std::size_t bytes) noexcept {
    const auto* const from = static_cast<const unsigned char*>(memory);
    const auto begins = [&](const char* text, std::size_t size) {
      return bytes >= size && __builtin_memcmp(from, text, size) == 0;
    };
    if (const char* const other = detail::other_format(from, bytes); other != nullptr)
      return detail::failure(file_error::wrong_format, other);
    // As the length of a safetensors header, this would exceed the limit.
    if (begins("\x93NUMPY", 6)) return of<npy_file>(memory, bytes);
    // This could be such a length, but then { follows.
    const bool has_brace = bytes > 8 && from[8] == '{';
    if (begins("PK", 2) && !has_brace) return of<npz_file>(memory, bytes);
    if (bytes > 8 && !has_brace)
      return detail::failure(file_error::wrong_format,
                             "the file does not begin like a .npy, .npz or safetensors file");
    return of<safetensors_file>(memory, bytes);
  }
  // A text of safetensors' __metadata__; empty if absent or in other formats.
  [[nodiscard]] tensor_name metadata(const tensor_name& key) const noexcept {
    return safetensors_.metadata(key);
  }

 private:
  friend detail::tensor_iterator<tensor_file>;

  template <class File>
  static file_result<tensor_file> of(const void* memory, std::size_t bytes) noexcept {
    const auto file = File::in_memory(memory, bytes);
    if (!file) return file.failure();
    return tensor_file(*file);
  }
  explicit tensor_file(const npy_file& file) noexcept : format_(npy), npy_(file) {}
  explicit tensor_file(const npz_file& file) noexcept : format_(npz), npz_(file) {}
  explicit tensor_file(const safetensors_file& file) noexcept : safetensors_(file) {}

  std::size_t first() const noexcept {
    return format_ == npy ? npy_.first() : format_ == npz ? npz_.first() : safetensors_.first();
  }
  bool next(std::size_t& cursor, stored_tensor& x) const noexcept {
    return format_ == npy   ? npy_.next(cursor, x)
           : format_ == npz ? npz_.next(cursor, x)
                            : safetensors_.next(cursor, x);
  }

  enum { npy, npz, safetensors } format_ = safetensors;
  npy_file npy_;
  npz_file npz_;
  safetensors_file safetensors_;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
