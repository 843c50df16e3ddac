// SPDX-License-Identifier: BSL-1.0
// Shapes with run-time names and sizes, for the page: an operation's result, or the compiler's
// error message.
//
// The library's rules (umbel/shape/rules.hpp) are types, and so are the sizes they check. So their
// conditions are repeated here on numbers; the words of the messages are the library's.
// test/page/rules.cpp compares both, shape by shape and letter by letter.
#pragma once

#include <cstddef>
#include <umbel/shape/rules.hpp>

namespace shapes::page {

constexpr std::size_t longest_name = 23, most_axes = 8;

struct named_size {
  char name[longest_name + 1];
  std::size_t size;
};
struct shape {
  named_size axes[most_axes + 1];  // one more, which a split adds
  std::size_t rank = 0;
};

using text = umbel::detail::sentence_buffer;

// A shape, "[batch=2, key=6]", and whether it is one; otherwise an error message.
struct answer {
  bool fits;
  text says;
};

answer well_formed(const shape& x) noexcept;
// Splits the axis into `outer`, with its size, and `inner`.
answer split(const shape& x, const char* axis, const named_size& outer, const char* inner) noexcept;
// Merges `count` neighbors into one.
answer merge(const shape& x, const char (*axes)[longest_name + 1], std::size_t count,
             const char* result) noexcept;
answer permute(const shape& x, const char (*axes)[longest_name + 1], std::size_t count) noexcept;

}  // namespace shapes::page
