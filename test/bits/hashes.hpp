// SPDX-License-Identifier: BSL-1.0
// What the programs of this folder print of floats: a hash of each result, one line a case, or the
// floating-point exceptions of it. Not here: any case.
#pragma once

#include <umbel/bare.hpp>

#include <algorithm>
#include <cfenv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>

namespace hashes {

inline bool wants_exceptions = false;

// What was raised since the last call.
inline void print_exceptions(const char* what) {
  const int raised = std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
  std::feclearexcept(FE_ALL_EXCEPT);
  if (raised != 0) {
    std::printf("%s: raised%s%s%s\n", what, (raised & FE_INVALID) != 0 ? " invalid" : "",
                (raised & FE_DIVBYZERO) != 0 ? " division by zero" : "",
                (raised & FE_OVERFLOW) != 0 ? " overflow" : "");
  }
}

// FNV-1a over the bytes of each value, the lowest first on every target.
template <class X>
void print(const char* what, const char* numbers, const X& x) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (auto value : x) {
    if (value != value) value = std::numeric_limits<decltype(value)>::quiet_NaN();
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    if (!UMBEL_LITTLE_ENDIAN) std::reverse(bytes, bytes + sizeof value);
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  }
  if (wants_exceptions) return print_exceptions(what);
  std::printf("%s%s: %016llx\n", what, numbers, static_cast<unsigned long long>(hash));
}

// Subnormal results and arguments count as zero from here on, where the processor can do that.
inline void flush_subnormals() {
#if UMBEL_X86 && UMBEL_VECTOR_BYTES > 0
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u);
#endif
}
// By the first argument of the program (cases.cpp).
inline void begin(const char* mode) {
  wants_exceptions = std::strcmp(mode, "exceptions") == 0;
  if (std::strcmp(mode, "flushing") == 0) flush_subnormals();
  if (!wants_exceptions) std::printf("fused: %d\n", UMBEL_FMA);
  std::feclearexcept(FE_ALL_EXCEPT);
}

}  // namespace hashes
