// SPDX-License-Identifier: BSL-1.0
// Features of the compiler and the target as UMBEL_* macros, and unsupported combinations. Only
// this file and config/ test vendor macros; all other files use these. They include nothing else.
#pragma once

#include <umbel/config/compiler.hpp>

// Must be the only error: clang can make a warning fatal, g++ only a missing file.
#if __cplusplus < 202002L
#if UMBEL_CLANG
#pragma clang diagnostic fatal "-W#warnings"
#warning "umbel: needs C++20, so compile with -std=c++20"
#else
#include "umbel: needs C++20, so compile with -std=c++20"
#endif
#error "umbel: needs C++20, so compile with -std=c++20"
#endif

#ifndef UMBEL_ALLOW_FAST_MATH
#if defined(__ASSOCIATIVE_MATH__) && defined(__arm__) && defined(__ARM_NEON)
// Only then does g++ use NEON for float, and NEON of ARMv7 flushes subnormal numbers.
#error "umbel: -funsafe-math-optimizations gives other bits by NEON: compile without it"
#elif defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#warning "umbel: -ffast-math loses NaN and equal bits; UMBEL_ALLOW_FAST_MATH silences this"
#endif
#endif

// AVR, and other targets whose compiler was told that double is float.
#if defined(__SIZEOF_DOUBLE__) && __SIZEOF_DOUBLE__ < 8
#if UMBEL_CLANG
#pragma clang diagnostic fatal "-W#warnings"
#warning "umbel: needs double of 8 bytes, which this target (AVR?) does not have"
#else
#include "umbel: needs double of 8 bytes, which this target (AVR?) does not have"
#endif
#endif

// Constants of type double would become float. Only their types show it.
static_assert(
    sizeof(0.1) == sizeof(double),
    "umbel: -fsingle-precision-constant takes the last digits of double: compile without it");

// x87 computes float as long double, rounded when stored: a third set of bits, different for each
// compiler and level. 0: everything in its own type; 16: the same with _Float16. -1, unknown: clang
// with -ffast-math, g++ with -mfpmath=both.
#if defined(__FLT_EVAL_METHOD__)
#if (__FLT_EVAL_METHOD__ > 0 && __FLT_EVAL_METHOD__ != 16) || (__FLT_EVAL_METHOD__ < 0 && UMBEL_GCC)
#error "umbel: float is computed in wider registers (x87): compile with -msse2 -mfpmath=sse"
#endif
#endif

#include <umbel/config/compiler_faults.hpp>
#include <umbel/config/instruction_sets.hpp>
#include <umbel/config/target.hpp>
#include <umbel/config/target_name.hpp>
