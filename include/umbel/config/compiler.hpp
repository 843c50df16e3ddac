// SPDX-License-Identifier: BSL-1.0
// Identifies the compiler.
#pragma once

#if defined(__clang__)
#define UMBEL_CLANG 1
#define UMBEL_GCC 0
#elif defined(__GNUC__)
#define UMBEL_CLANG 0
#define UMBEL_GCC 1
#else
#error \
    "umbel: needs g++ 12 or clang 14 (or newer): it is written in their vector extensions; on Windows use clang-cl"
#endif

// clang 14 rejects every use of a class with a failed assertion. (verdict.hpp)
#if UMBEL_CLANG && __clang_major__ < 15
#define UMBEL_CLANG_14 1
#else
#define UMBEL_CLANG_14 0
#endif
