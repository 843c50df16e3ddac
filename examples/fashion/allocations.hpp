// SPDX-License-Identifier: BSL-1.0
// Counts what reaches the heap between two points: the proof that inference allocates nothing.
// Counts the whole process; one thread runs here.
#pragma once

#include <cstddef>

namespace fashion::heap {

struct calls {
  std::size_t allocations = 0;  // malloc, calloc, realloc, aligned_alloc ..., and new
  std::size_t releases = 0;     // free and delete of something
};

// What is counted in this build: "malloc and new", or "new" where malloc cannot be taken over.
const char* counted() noexcept;

void begin() noexcept;  // starts, or goes on, counting
void end() noexcept;
calls so_far() noexcept;

// Counts while it lives.
struct watch {
  watch() noexcept { begin(); }
  ~watch() { end(); }
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;
};

// Allocates on purpose and looks whether the counter saw it: a blind counter also says 0. Leaves
// the counts at zero.
bool counter_works() noexcept;

}  // namespace fashion::heap
