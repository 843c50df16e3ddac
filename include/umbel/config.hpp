// SPDX-License-Identifier: BSL-1.0
// The abilities of compiler and target as UMBEL_* macros; refuses unsupported ones. Only this file
// and those of config/ test vendor macros; everything else uses these. They include nothing else.
#pragma once

#include <umbel/config/compiler.hpp>

// Makes this the only error: clang can make a warning fatal, g++ only a missing file.
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
// g++ uses NEON for float only with this option, and ARMv7's NEON flushes subnormal numbers.
#error "umbel: -funsafe-math-optimizations gives other bits by NEON: compile without it"
#elif defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#warning "umbel: -ffast-math loses NaN and equal bits; UMBEL_ALLOW_FAST_MATH silences this"
#endif
#endif

// AVR, and other targets with an option that makes double float.
#if defined(__SIZEOF_DOUBLE__) && __SIZEOF_DOUBLE__ < 8
#if UMBEL_CLANG
#pragma clang diagnostic fatal "-W#warnings"
#warning "umbel: needs double of 8 bytes, which this target (AVR?) does not have"
#else
#include "umbel: needs double of 8 bytes, which this target (AVR?) does not have"
#endif
#endif

// Constants of double would be float. Only their types reveal it.
static_assert(
    sizeof(0.1) == sizeof(double),
    "umbel: -fsingle-precision-constant takes the last digits of double: compile without it");

// x87 computes float as long double, rounded when stored: a third set of bits that depends on the
// compiler and its level. 0: everything in its type; 16: also _Float16. -1: unknown, from clang
// with -ffast-math and g++ with -mfpmath=both.
#if defined(__FLT_EVAL_METHOD__)
#if (__FLT_EVAL_METHOD__ > 0 && __FLT_EVAL_METHOD__ != 16) || (__FLT_EVAL_METHOD__ < 0 && UMBEL_GCC)
#error "umbel: float is computed in wider registers (x87): compile with -msse2 -mfpmath=sse"
#endif
#endif

#include <umbel/config/compiler_faults.hpp>
#include <umbel/config/instruction_sets.hpp>
#include <umbel/config/target.hpp>
#include <umbel/config/target_name.hpp>
#include <umbel/config/vectors.hpp>
