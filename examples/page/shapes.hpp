// SPDX-License-Identifier: BSL-1.0
// Shapes whose names and sizes are known only at run time, for the page: what an operation makes of
// one, or the sentence in which the compiler refuses it.
//
// The library's rules (umbel/shape/rules.hpp) are types, and so are the sizes that they look at. So
// their conditions stand here once more, on numbers; the words of the sentences are the library's
// own. test/page/rules.cpp compares both, shape by shape and letter by letter.
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

// A shape, "[batch=2, key=6]", and whether it is one; else a sentence.
struct answer {
  bool fits;
  text says;
};

answer well_formed(const shape& x) noexcept;
// The axis into `outer`, with its size, and `inner`.
answer split(const shape& x, const char* axis, const named_size& outer, const char* inner) noexcept;
// `count` neighbours into one.
answer merge(const shape& x, const char (*axes)[longest_name + 1], std::size_t count,
             const char* result) noexcept;
answer permute(const shape& x, const char (*axes)[longest_name + 1], std::size_t count) noexcept;

}  // namespace shapes::page
