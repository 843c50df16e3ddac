// SPDX-License-Identifier: BSL-1.0
// The checksum of weights that were saved (save, write_safetensors) or exported (tools/export,
// docs/export.md): 64-bit FNV-1a (Fowler, Noll, Vo) of the bytes of all their elements,
// little-endian, tensor after tensor. It detects damage, and a header and a file from
// different exports; it is not a signature.
#pragma once

#include <umbel/config.hpp>
#include <umbel/file/stored_tensor.hpp>
#include <umbel/weights/array_checksum.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// For all tensors of a file, in its order.
template <class File>
  requires requires(const File& file) { file.begin()->data; }
[[nodiscard]] std::uint64_t checksum_of(const File& file) noexcept {
  weights_checksum sum;
  for (const stored_tensor& x : file) sum.add(x.data, x.bytes);
  return sum.value();
}

// Are the bytes of a safetensors file those that save, write_safetensors or tools/export wrote?
// Returns file_error::checksum if not, file_error::not_found if the metadata have no 16-digit
// checksum. The sum doesn't cover names and extents: load compares those.
//   "umbel: verify_checksum: the bytes of the file do not match its checksum"
template <class File>
file_result<> verify_checksum(const File& file) noexcept {
  char written[17]{};
  if (file.metadata("checksum").copy_to(written, sizeof(written)) != 16)
    return detail::failure(
        file_error::not_found,
        "verify_checksum: the file has no 16-digit checksum; write it with save or tools/export");
  const std::uint64_t sum = checksum_of(file);
  bool same = true;
  for (unsigned i = 0; i < 16; ++i) same = same && written[i] == detail::hexadecimal_digit(sum, i);
  if (same) return {};
  return detail::failure(file_error::checksum,
                         "verify_checksum: the bytes of the file do not match its checksum");
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
