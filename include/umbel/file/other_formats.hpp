// SPDX-License-Identifier: BSL-1.0
// The kind of a file that isn't a file of tensors, from its first bytes, and what to do with it.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// Null if unknown.
inline const char* other_format(const unsigned char* from, std::size_t bytes) noexcept {
  struct format {
    const char* begins;
    std::size_t size;
    const char* sentence;
  };
  constexpr format known[] = {
      {"\x1f\x8b", 2, "the file is compressed by gzip; decompress it"},
      {"BZh", 3, "the file is compressed by bzip2; decompress it"},
      {"\xfd"
       "7zXZ",
       5, "the file is compressed by xz; decompress it"},
      {"\x28\xb5\x2f\xfd", 4, "the file is compressed by zstd; decompress it"},
      {"\x89HDF\r\n\x1a\n", 8,
       "the file is HDF5, as Keras and h5py write it; save the tensors as .npz or safetensors"},
      {"version https://git-lfs", 23,
       "the file is a pointer of Git LFS, not the tensors; fetch them with git lfs pull"},
      {"GGUF", 4, "the file is GGUF; convert it to safetensors"},
      {"<!DOCTYPE", 9, "the file is a web page, perhaps of a download that failed"},
      {"<!doctype", 9, "the file is a web page, perhaps of a download that failed"},
      {"<html", 5, "the file is a web page, perhaps of a download that failed"}};
  // As the length of a safetensors header, 8 characters of text exceed the limit.
  if (bytes > 8 && (from[0] == '{' || from[0] == '[') && from[7] != 0)
    return "the file is JSON; if it is an index of several files, open those";
  if (bytes > 8 && from[8] == '{') return nullptr;  // these bytes may be such a length
  for (const format& one : known)
    if (bytes > one.size && __builtin_memcmp(from, one.begins, one.size) == 0) return one.sentence;
  if (bytes > 8 && from[0] == 0x80 && from[1] >= 2 && from[1] <= 5)
    return "the file is a Python pickle, as torch.save and joblib write it; save the tensors as "
           "safetensors";
  return nullptr;
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
