// SPDX-License-Identifier: BSL-1.0
// The compiler's settings and the target's abilities: inlining, fma, user options.
#pragma once

#include <umbel/config/compiler.hpp>

// 1 in a sanitizer build. Nothing is unrolled or forced inline there, and tests plan smaller tiles:
// the bits are the same, and an instrumented register tile takes minutes to compile.
#if defined(__SANITIZE_ADDRESS__)
#define UMBEL_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UMBEL_SANITIZED 1
#endif
#endif
#ifndef UMBEL_SANITIZED
#define UMBEL_SANITIZED 0
#endif

#if defined(__OPTIMIZE__)
#define UMBEL_OPTIMIZED 1
#else
#define UMBEL_OPTIMIZED 0
#endif

// Hot leaf functions: if one isn't inlined, register tiles lose their registers. Unoptimized, each
// copy would only add its variables to the caller's stack frame, and a quarter to compile time.
#if UMBEL_OPTIMIZED && !UMBEL_SANITIZED
#define UMBEL_INLINE [[gnu::always_inline]] inline
#else
#define UMBEL_INLINE inline
#endif
// (Use __builtin_is_constant_evaluated(): the function in <type_traits> is a real call in
// unoptimized g++ builds, so both branches would be compiled.) Functions of types shared between
// targets (tensors, views, weights, masks): always inlined, so that no program has a copy compiled
// for a different instruction set.
#define UMBEL_SHARED [[gnu::always_inline]]
// An error with a message if the arguments of a call are constants that fulfil a condition, also
// outside constant expressions. clang only.
#if UMBEL_CLANG
#define UMBEL_REFUSED_IF(condition, sentence) \
  __attribute__((diagnose_if(condition, sentence, "error")))
#else
#define UMBEL_REFUSED_IF(condition, sentence)
#endif
// After a parameter that the result refers to. clang warns if it dies before the result.
#if UMBEL_CLANG
#define UMBEL_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define UMBEL_LIFETIMEBOUND
#endif

// UMBEL_UNROLL(n) before a loop: unroll it up to n times. A register tile is a local array indexed
// only by fully unrolled loops.
#define UMBEL_PRAGMA_(text) _Pragma(#text)
#if UMBEL_OPTIMIZED && !UMBEL_SANITIZED
#define UMBEL_UNROLL(n) UMBEL_PRAGMA_(GCC unroll n)
#else
#define UMBEL_UNROLL(n)
#endif

// 1 if a float fused multiply-add is one instruction of the target. It decides which of the two
// sets of bits a build has (docs/numerics.md): fused, or rounded twice. UMBEL_FMA_DOUBLE: the same
// for double, which single-precision units lack.
#if defined(__x86_64__) || defined(__i386__)
// Requires fma of 128 and 256 bits, which -mavx512f alone doesn't enable.
#if defined(__FMA__)
#define UMBEL_FMA 1
#define UMBEL_FMA_DOUBLE 1
#endif
#elif UMBEL_GCC
#if defined(__FP_FAST_FMAF)
#define UMBEL_FMA 1
#endif
#if defined(__FP_FAST_FMA)
#define UMBEL_FMA_DOUBLE 1
#endif
// clang defines this macro only for ARM. The other targets with this g++ macro always fuse.
#elif defined(__ARM_FEATURE_FMA)
#define UMBEL_FMA 1
#if __ARM_FP & 8
#define UMBEL_FMA_DOUBLE 1
#endif
#elif defined(__riscv_flen) || defined(__loongarch_frlen)
#define UMBEL_FMA 1
#if __riscv_flen >= 64 || __loongarch_frlen >= 64
#define UMBEL_FMA_DOUBLE 1
#endif
#elif defined(__powerpc64__) || defined(__s390x__)
#define UMBEL_FMA 1
#define UMBEL_FMA_DOUBLE 1
#endif
#ifndef UMBEL_FMA
#define UMBEL_FMA 0
#endif
#ifndef UMBEL_FMA_DOUBLE
#define UMBEL_FMA_DOUBLE 0
#endif

// 1 if the compiler has an fma builtin for scalars and vectors of any length (clang 17).
#if defined(__has_builtin)
#if __has_builtin(__builtin_elementwise_fma)
#define UMBEL_ELEMENTWISE_FMA 1
#endif
#endif
#ifndef UMBEL_ELEMENTWISE_FMA
#define UMBEL_ELEMENTWISE_FMA 0
#endif
// Without an operating system, clang assumes that fmaf sets errno and calls it, from a library that
// bare metal need not have.
#if UMBEL_CLANG && UMBEL_FMA && !UMBEL_ELEMENTWISE_FMA && !defined(__NO_MATH_ERRNO__) && \
    !defined(__unix__) && !defined(__APPLE__) && !defined(_WIN32)
#error "umbel: clang before 17 calls fmaf on this target, so compile with -fno-math-errno"
#endif

// clang 19 multiplies the strides of vectors that it loads or stores element by element by four,
// even in the simplest loops, from -O2 on (LLVM issue 120993; 14 doesn't, 20 is fixed). No macro
// tells whether it may; -fno-vectorize also helps, but only after the -O.
#if UMBEL_CLANG && __clang_major__ == 19 && defined(__ARM_FEATURE_MVE) && \
    !defined(UMBEL_NO_GATHER_SCATTER)
#error \
    "umbel: clang 19 gives strided loops wrong addresses for MVE: compile with \
-mllvm -enable-arm-maskedgatscat=false -DUMBEL_NO_GATHER_SCATTER"
#endif

// 1 for float vectors in Helium, the extension of Cortex-M (MVE). clang uses it once it has a
// vector multiply-add; for g++, simd/mve.hpp names the instructions.
#if defined(__ARM_FEATURE_MVE) && (UMBEL_GCC || UMBEL_ELEMENTWISE_FMA)
#if __ARM_FEATURE_MVE & 2
#define UMBEL_MVE 1
#endif
#endif
#ifndef UMBEL_MVE
#define UMBEL_MVE 0
#endif
#define UMBEL_MVE_ASSEMBLY (UMBEL_MVE && UMBEL_GCC)

// Do constructors of global objects run before main? A bare-metal startup need not run them, and
// with -ffreestanding the library assumes it doesn't. Define it as 1 if yours does, or as 0 if a
// hosted program doesn't.
#ifndef UMBEL_CONSTRUCTORS_RUN
#if defined(__STDC_HOSTED__) && __STDC_HOSTED__ == 0
#define UMBEL_CONSTRUCTORS_RUN 0
#else
#define UMBEL_CONSTRUCTORS_RUN 1
#endif
#endif

// 1 if the low half of a number comes first in memory.
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define UMBEL_LITTLE_ENDIAN 1
#else
#define UMBEL_LITTLE_ENDIAN 0
#endif

// Small code instead of fast code: register tiles of a few registers, so fewer and shorter loops.
// The bits stay the same. Define it as 1, with -Os; files with and without it belong to different
// targets (config/target_name.hpp).
#ifndef UMBEL_SMALL_CODE
#define UMBEL_SMALL_CODE 0
#elif UMBEL_SMALL_CODE  // also 2 and true: the target's name needs 1
#undef UMBEL_SMALL_CODE
#define UMBEL_SMALL_CODE 1
#endif

// Prefetch data that one row or query reads once from beyond the second-level cache (weights, keys,
// values)? Measured (docs/speed.md): a fifth faster on Zen 5, a fifth slower on Zen 4 with AVX-512,
// an AMD core with AVX-512 and nothing later. Speed only: define it as 0 or 1 to choose.
#ifndef UMBEL_FETCH_AHEAD
#if defined(__AVX512F__) && defined(__CLZERO__) && !defined(__AVXVNNI__) && \
    !defined(__MOVDIRI__) && !defined(__AVX512VP2INTERSECT__)
#define UMBEL_FETCH_AHEAD 0
#else
#define UMBEL_FETCH_AHEAD 1
#endif
#elif UMBEL_FETCH_AHEAD
#undef UMBEL_FETCH_AHEAD
#define UMBEL_FETCH_AHEAD 1
#endif

// Check positions known only at run time (tensor/check.hpp)? Define it as 1 to do so. A program may
// mix files with and without it.
#ifndef UMBEL_CHECK
#define UMBEL_CHECK 0
#endif
// 1 if the operating system provides standard error.
#if defined(__unix__) || defined(__APPLE__) || defined(_WIN32) || defined(__wasi__)
#define UMBEL_STDERR 1
#else
#define UMBEL_STDERR 0
#endif
// 1 if files are opened with POSIX and may be pipes.
#if defined(__unix__) || defined(__APPLE__)
#define UMBEL_POSIX 1
#else
#define UMBEL_POSIX 0
#endif

// After a lambda's parameters: always inline it.
#if UMBEL_OPTIMIZED && !UMBEL_SANITIZED
#define UMBEL_LAMBDA_INLINE __attribute__((always_inline))
#else
#define UMBEL_LAMBDA_INLINE
#endif

// [[no_unique_address]], which the ABI of MSVC knows by a different name.
#if defined(_MSC_VER)
#define UMBEL_NO_UNIQUE_ADDRESS [[msvc::no_unique_address]]
#else
#define UMBEL_NO_UNIQUE_ADDRESS [[no_unique_address]]
#endif
