// SPDX-License-Identifier: BSL-1.0
// Counts heap operations between two points: the proof that inference allocates nothing. Counts the
// whole process; only one thread runs here.
#pragma once

#include <cstddef>

namespace fashion::heap {

struct calls {
  std::size_t allocations = 0;  // malloc, calloc, realloc, aligned_alloc ..., and new
  std::size_t releases = 0;     // free and delete of non-null
};

// What this build counts: "malloc and new", or "new" if malloc can't be replaced.
const char* counted() noexcept;

void begin() noexcept;  // starts or resumes counting
void end() noexcept;
calls so_far() noexcept;

// Counts while it lives.
struct watch {
  watch() noexcept { begin(); }
  ~watch() { end(); }
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;
};

// Allocates on purpose and checks that the counter saw it: a blind counter also reports 0. Resets
// the counts to zero.
bool counter_works() noexcept;

}  // namespace fashion::heap
