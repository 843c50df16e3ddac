// SPDX-License-Identifier: BSL-1.0
// What the compiler and the target can do, as UMBEL_* macros. The only file that tests vendor
// macros: everything else asks these. It includes nothing.
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

// 1 in a build with a sanitizer. Nothing is unrolled or forced inline there, and the tests plan smaller
// tiles: the bits are the same, and an instrumented register tile takes minutes to compile.
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

// Hot leaf functions: the register tiles stop being registers when one of these is not inlined.
#if UMBEL_SANITIZED
#define UMBEL_INLINE inline
#else
#define UMBEL_INLINE [[gnu::always_inline]] inline
#endif
// Function templates whose code is worth sharing between call sites.
#define UMBEL_NOINLINE [[gnu::noinline]]

// UMBEL_OPAQUE(x): the optimiser forgets what it knows of a vector of 16 bytes. For g++ 12 without
// SSE4.1, which has no comparison of 64-bit lanes: folding an and of their masks, it stops with an
// "internal compiler error: in gimple_expand_vec_cond_expr".
#if defined(__SSE2__) && !defined(__SSE4_1__) && defined(__GNUC__) && !defined(__clang__)
#define UMBEL_OPAQUE(x) __asm__("" : "+x"(x))
#else
#define UMBEL_OPAQUE(x) static_cast<void>(0)
#endif

// UMBEL_UNROLL(n) before a loop: unroll it up to n times. A register tile is a local array indexed
// only by fully unrolled loops.
#define UMBEL_PRAGMA_(text) _Pragma(#text)
#if UMBEL_SANITIZED
#define UMBEL_UNROLL(n)
#else
#define UMBEL_UNROLL(n) UMBEL_PRAGMA_(GCC unroll n)
#endif

// 1 when a fused multiply-add is one instruction of the target. It decides which of the two sets of
// bits a build belongs to (docs/numerics.md): fused, or rounded twice.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__FP_FAST_FMAF)
#define UMBEL_FMA 1
#else
#define UMBEL_FMA 0
#endif

// 1 when the compiler has a fused multiply-add for vectors of any length (newer clang).
#if defined(__has_builtin)
#if __has_builtin(__builtin_elementwise_fma)
#define UMBEL_ELEMENTWISE_FMA 1
#endif
#endif
#ifndef UMBEL_ELEMENTWISE_FMA
#define UMBEL_ELEMENTWISE_FMA 0
#endif

// Bytes of one vector register, and how many of them there are. 0 bytes: no vector unit.
#if defined(__AVX512F__)
#define UMBEL_VECTOR_BYTES 64
#define UMBEL_VECTOR_REGISTERS 32
#elif defined(__AVX__)
#define UMBEL_VECTOR_BYTES 32
#define UMBEL_VECTOR_REGISTERS 16
#elif defined(__SSE2__)
#define UMBEL_VECTOR_BYTES 16
#define UMBEL_VECTOR_REGISTERS 16
#elif defined(__aarch64__)
#define UMBEL_VECTOR_BYTES 16
#define UMBEL_VECTOR_REGISTERS 32
#else
#define UMBEL_VECTOR_BYTES 0
#define UMBEL_VECTOR_REGISTERS 16
#endif

// 1 where the low half of a number comes first in memory.
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define UMBEL_LITTLE_ENDIAN 1
#else
#define UMBEL_LITTLE_ENDIAN 0
#endif

// Small code instead of fast code: register tiles of a few registers, so fewer and shorter loops. The bits
// stay the same. Define it as 1 for all files of a program (what one packs the others read), with -Os.
#ifndef UMBEL_SMALL_CODE
#define UMBEL_SMALL_CODE 0
#endif

// Is what one row or query reads once from beyond the second-level cache (weights, keys, values) asked for ahead, by
// instructions? Measured (docs/speed.md): a fifth faster on Zen 5, a fifth slower on Zen 4 with AVX-512, which is a
// core of AMD's that has AVX-512 and none of what came after. Speed only: define it as 0 or 1 to choose.
#ifndef UMBEL_FETCH_AHEAD
#if defined(__AVX512F__) && defined(__CLZERO__) && !defined(__AVXVNNI__) && \
    !defined(__MOVDIRI__) && !defined(__AVX512VP2INTERSECT__)
#define UMBEL_FETCH_AHEAD 0
#else
#define UMBEL_FETCH_AHEAD 1
#endif
#endif

// Which compiler builtins for one instruction may be named (simd/ has a plain form beside each).
#if defined(__x86_64__) || defined(__i386__)
#define UMBEL_X86 1
#else
#define UMBEL_X86 0
#endif
#if defined(__AVX512F__) && defined(__FMA__)
#define UMBEL_AVX512 1
#else
#define UMBEL_AVX512 0
#endif
// Vectors of 16-bit elements that AVX-512 loads with a mask; float16 to float in one instruction.
#if UMBEL_AVX512 && defined(__AVX512BW__) && defined(__AVX512VL__)
#define UMBEL_AVX512_16_BIT 1
#else
#define UMBEL_AVX512_16_BIT 0
#endif
#if defined(__F16C__)
#define UMBEL_F16C 1
#else
#define UMBEL_F16C 0
#endif
#if defined(__aarch64__)
#define UMBEL_AARCH64 1
#else
#define UMBEL_AARCH64 0
#endif

// After a lambda's parameters: inline it always.
#if UMBEL_SANITIZED
#define UMBEL_LAMBDA_INLINE
#else
#define UMBEL_LAMBDA_INLINE __attribute__((always_inline))
#endif
