// SPDX-License-Identifier: BSL-1.0
// The names of tensors to write (write.hpp): names that no reader would accept are not written.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>
#include <umbel/file/clash.hpp>
#include <umbel/file/name_hash.hpp>
#include <umbel/file/result.hpp>
#include <umbel/file/write_rules.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// Names that a tensor can't have, since the file would not be readable.
struct rules_for_names {
  const char* writer;              // "write_npz"
  const char* reserved = nullptr;  // has a different meaning in the format
  std::size_t longest = ~std::size_t{0};
};
// The message for the first wrong name. Each is compared with all before it by hash, 256 at once.
template <class Each>
file_failure wrong_names(const rules_for_names& rules, const Each& each) {
  file_failure wrong;
  const auto is = [&](file_error code, const auto&... words) {
    if (wrong.code == file_error::none) wrong = failure(code, rules.writer, ": ", words...);
  };
  std::uint64_t count = 0;
  for_each_put(each, [&](const char* text, const auto&) {
    const tensor_name name(text);
    const auto* const first = reinterpret_cast<const unsigned char*>(text);
    const std::size_t size = name.size();
    ++count;
    if (rules.reserved != nullptr && name == rules.reserved)
      is(file_error::malformed, "a tensor cannot have the name ", name,
         ", which the format keeps for itself");
    if (end_of_utf8(first, first + size) != first + size)
      is(file_error::malformed, "the name of tensor ", count, " is not UTF-8");
    if (size > rules.longest)
      is(file_error::too_large, "the name of tensor ", count, " has more than ",
         std::uint64_t{rules.longest}, " bytes");
  });
  if (count > most_tensors)
    is(file_error::too_large, count, " tensors are more than the ", std::uint64_t{most_tensors},
       " that are read");
  constexpr std::size_t size = 256;
  name_hash block[size];
  for (std::uint64_t from = 0; from < count && wrong.code == file_error::none; from += size) {
    std::uint64_t at = 0;
    std::size_t held = 0;
    for_each_put(each, [&](const char* text, const auto&) {
      const std::uint64_t number = at++;
      if (number < from) return;
      const name_hash hash = hash_of(text);
      const std::size_t place =
          count_first(block, held, [&](const name_hash& other) { return other < hash; });
      if (place < held && !(hash < block[place]))
        is(file_error::duplicate, "two tensors have the name ", tensor_name(text));
      if (number - from >= size) return;
      for (std::size_t i = held++; i > place; --i) block[i] = block[i - 1];
      block[place] = hash;
    });
  }
  return wrong;
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
