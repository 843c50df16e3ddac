// SPDX-License-Identifier: BSL-1.0
// Which compiler it is.
#pragma once

#if defined(__clang__)
#define UMBEL_CLANG 1
#define UMBEL_GCC 0
#elif defined(__GNUC__)
#define UMBEL_CLANG 0
#define UMBEL_GCC 1
#else
#error "umbel: needs g++ 12 or clang 14 (or newer): it is written in their vector extensions"
#endif

// clang 14 rejects every use of a class in which an assertion failed. (verdict.hpp)
#if UMBEL_CLANG && __clang_major__ < 15
#define UMBEL_CLANG_14 1
#else
#define UMBEL_CLANG_14 0
#endif
