// SPDX-License-Identifier: BSL-1.0
// The checksum of weights that were saved (save, write_safetensors) or exported (tools/export,
// docs/export.md): 64-bit FNV-1a (Fowler, Noll, Vo) of the bytes of all their elements,
// little-endian, tensor after tensor. It detects damage, and a header and a file from
// different exports; it is not a signature.
#pragma once

#include <umbel/config.hpp>
#include <umbel/file/stored_tensor.hpp>
#include <umbel/parameters/words.hpp>
#include <umbel/weights/array_checksum.hpp>
#include <umbel/weights/stored_options.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
UMBEL_SAYS(checksum_of, "checksum_of");
UMBEL_SAYS(verify_checksum, "verify_checksum");
UMBEL_SAYS(expects_an_array_the_arrays_of_an_exported_header_or_a_file_not,
           "expects an array, for_each_array of an exported header or a file, not");
UMBEL_SAYS(needs_a_safetensors_file_which_has_a_checksum_not,
           "needs a safetensors file, which has a checksum, not");
template <class File>
concept lists_tensors =
    !result_with_file<File> && requires(const File& file) { file.begin()->data; };
namespace rules {
template <class File>
using file_with_a_checksum = first_error<
    file<say::verify_checksum, File>,
    verdict<has_metadata<File>, say::verify_checksum,
            say::needs_a_safetensors_file_which_has_a_checksum_not, type_of_given<File>>>;
}  // namespace rules
}  // namespace detail

// For all tensors of a file, in its order.
template <detail::lists_tensors File>
[[nodiscard]] std::uint64_t checksum_of(const File& file) noexcept {
  weights_checksum sum;
  for (const stored_tensor& x : file) sum.add(x.data, x.bytes);
  return sum.value();
}
// Of something else: refused.
template <class X>
  requires(!std::is_array_v<X> && !detail::lists_tensors<X> && !detail::gives_arrays<X>)
constexpr std::uint64_t checksum_of(const X&) noexcept {
  using verdict = detail::first_error<
      detail::verdict<!detail::result_with_file<X>, detail::say::checksum_of,
                      detail::say::expects_a_file_of_tensors_so_write_an_asterisk_before_a_result>,
      detail::verdict<detail::never<X>, detail::say::checksum_of,
                      detail::say::expects_an_array_the_arrays_of_an_exported_header_or_a_file_not,
                      detail::type_of_given<X>>>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return 0;
}

// Are the bytes of a safetensors file those that save, write_safetensors or tools/export wrote?
// Returns file_error::checksum if not, file_error::not_found if the metadata have no 16-digit
// checksum. The sum doesn't cover names and extents: load compares those.
//   "umbel: verify_checksum: the bytes of the file do not match its checksum"
template <class File>
file_result<> verify_checksum(const File& file) noexcept {
  using verdict = detail::rules::file_with_a_checksum<File>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) {
    char written[17]{};
    if (file.metadata("checksum").copy_to(written, sizeof(written)) != 16)
      return detail::failure(
          file_error::not_found,
          "verify_checksum: the file has no 16-digit checksum; write it with save or tools/export");
    const std::uint64_t sum = checksum_of(file);
    bool same = true;
    for (unsigned i = 0; i < 16; ++i)
      same = same && written[i] == detail::hexadecimal_digit(sum, i);
    if (same) return {};
    return detail::failure(file_error::checksum,
                           "verify_checksum: the bytes of the file do not match its checksum");
  } else {
    return {};
  }
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
