// SPDX-License-Identifier: BSL-1.0
// If a file has none of the parameters, a prefix of its names may be missing, as in model.encoder,
// or be too much: one line about it, instead of two for each parameter.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <umbel/file/stored_tensor.hpp>
#include <umbel/weights/load_result.hpp>
#include <umbel/weights/names.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// If `name` ends with a dot or slash and `end`, the size of the rest; otherwise npos.
constexpr std::size_t prefix_before(const char* name, std::size_t size, const char* end,
                                    std::size_t end_size) noexcept {
  if (end_size == 0 || size < end_size + 2) return npos;
  const std::size_t at = size - end_size;
  if (name[at - 1] != '.' && name[at - 1] != '/') return npos;
  for (std::size_t i = 0; i < end_size; ++i)
    if (name[at + i] != end[i]) return npos;
  return at - 1;
}

// Do all names of the file begin so? (Those that are too long to be found don't count.)
template <class File>
bool all_begin_with(const File& file, const char* prefix, std::size_t size) noexcept {
  for (const stored_tensor& tensor : file) {
    if (tensor.name.is_longer(name_text::most)) continue;
    sentence_buffer name;
    put_part(name, tensor.name);
    for (std::size_t i = 0; i < size; ++i)
      if (name.chars[i] != prefix[i]) return false;
  }
  return true;
}

// wanted: the name in the file of a parameter that it lacks. True if a line was added.
template <class File>
bool complain_of_prefix(load_result& out, const File& file, const name_text& wanted) noexcept {
  const auto put_prefix = [&](const char* text, const char* name, std::size_t size) {
    out.begin();
    out.put("the file has none of the parameters; ");
    out.put(text);
    for (std::size_t i = 0; i < size; ++i) out.put(name[i]);
  };
  for (const stored_tensor& tensor : file) {
    if (tensor.name.is_longer(name_text::most)) continue;
    sentence_buffer name;
    put_part(name, tensor.name);  // without characters that control a terminal
    std::size_t prefix = prefix_before(name.chars, name.size, wanted.chars, wanted.size);
    if (prefix != npos && all_begin_with(file, name.chars, prefix + 1)) {
      put_prefix("its names begin with ", name.chars, prefix);
      out.put(", write at(\"\", \"");
      for (std::size_t i = 0; i < prefix; ++i) out.put(name.chars[i]);
      out.put("\", ...)\n");
      return true;
    }
    prefix = prefix_before(wanted.chars, wanted.size, name.chars, name.size);
    if (prefix != npos) {
      put_prefix("its names do not begin with ", wanted.chars, prefix);
      out.put(", which the names add\n");
      return true;
    }
  }
  return false;
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
