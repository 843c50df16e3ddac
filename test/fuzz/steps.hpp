// SPDX-License-Identifier: BSL-1.0
// What a file costs, in steps: blocks of code entered, and 16 bytes compared by memcmp. The same on
// every machine, whatever else it does, which seconds are not. check.py compiles with STEPS.
#pragma once

#include <cstddef>
#include <cstdint>

#define UMBEL_NOT_COUNTED __attribute__((no_sanitize_coverage))
#if defined(__clang__)
#undef UMBEL_NOT_COUNTED
#define UMBEL_NOT_COUNTED __attribute__((no_sanitize("coverage")))
#endif

inline std::uint64_t steps = 0;

extern "C" {
int __real_memcmp(const void*, const void*, std::size_t);

// The linker calls these for __sanitizer_cov_trace_pc and memcmp.
UMBEL_NOT_COUNTED inline __attribute__((used)) void __wrap___sanitizer_cov_trace_pc() { ++steps; }
UMBEL_NOT_COUNTED inline __attribute__((used)) int __wrap_memcmp(const void* a, const void* b,
                                                                 std::size_t size) {
  steps += size / 16;
  return __real_memcmp(a, b, size);
}
}

template <class Work>
std::uint64_t steps_of(const Work& work) {
  const std::uint64_t before = steps;
  work();
  return steps - before;
}
