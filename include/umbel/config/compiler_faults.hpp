// SPDX-License-Identifier: BSL-1.0
// What compilers get wrong, and how code is written around it, as UMBEL_* macros. config.hpp
// includes it, and refuses what cannot be written around.
#pragma once

#include <umbel/config/target.hpp>

// g++ before 14 deletes calls that do something. Where two elements of one object are read or
// written with different strides it addresses one of them as a null pointer plus all the rest
// (ivopts), takes that for an access to null, after which nothing happens, and concludes for the
// callers that the function has no effects, or not all of them (GCC bug 110702;
// docs/decisions/014).
#if UMBEL_GCC && __GNUC__ < 14
#define UMBEL_DELETES_CALLS 1
#else
#define UMBEL_DELETES_CALLS 0
#endif
// Function templates whose code is worth sharing between call sites.
#if UMBEL_DELETES_CALLS
#define UMBEL_NOINLINE [[gnu::noipa]]  // nothing is concluded
#else
#define UMBEL_NOINLINE [[gnu::noinline]]
#endif
// UMBEL_HAS_EFFECTS() before loops over elements with strides that may be inlined anywhere.
#if UMBEL_DELETES_CALLS
#define UMBEL_HAS_EFFECTS() \
  if (!__builtin_is_constant_evaluated()) __asm__ volatile("" : : : "memory")
#else
#define UMBEL_HAS_EFFECTS() static_cast<void>(0)
#endif

// UMBEL_CHOSEN_BY_BITS: bytes of the largest scalar that simd::select chooses by its bits. These
// processors have no conditional move of the registers of their FPU, so that compilers would choose
// by a branch.
#if defined(__riscv_flen)
#define UMBEL_CHOSEN_BY_BITS (__riscv_flen / 8)
#elif defined(__SSE2__)
#define UMBEL_CHOSEN_BY_BITS 8
#else
#define UMBEL_CHOSEN_BY_BITS 0
#endif
// UMBEL_IN_FPU(x): x is kept in a register of the FPU. g++ for RISC-V keeps what was chosen by its
// bits in integer registers.
#if defined(__riscv_flen)
#define UMBEL_IN_FPU(x) \
  if (!__builtin_is_constant_evaluated()) __asm__("" : "+f"(x))
#else
#define UMBEL_IN_FPU(x) static_cast<void>(0)
#endif
// UMBEL_AS_MASK(x): the optimiser forgets what it knows of an integer, of at most a register. clang
// makes a branch of what is chosen by bits, too, if it knows that a mask is all bits or none. (On
// x86 it chooses vectors instead, which this would be in the way of, but not with -Os.)
#define UMBEL_AS_MASK(x) \
  if (!__builtin_is_constant_evaluated()) __asm__("" : "+r"(x))

// UMBEL_COMPUTED(x): a scalar that is worked out here. Before a choice between it and another value
// compilers would work it out behind a branch, and the cost of a call would depend on the numbers.
// For "X" clang looks for a register of an FPU, which WebAssembly does not have, nor RISC-V always.
#if UMBEL_CLANG && (defined(__wasm__) || defined(__riscv))
#define UMBEL_COMPUTED(x)                          \
  if constexpr (sizeof(x) <= UMBEL_CHOSEN_BY_BITS) \
    if (!__builtin_is_constant_evaluated()) __asm__("" : : "X"(x))
#else
#define UMBEL_COMPUTED(x) \
  if (!__builtin_is_constant_evaluated()) __asm__("" : : "X"(x))
#endif

// UMBEL_ALL_LANES(x), before some lanes of a vector are stored: the others hold what was computed
// in them. clang puts zeros in the place of constants in lanes that nobody reads, whose quotients
// then raise exceptions that no element raises. x: no wider than a register.
#if UMBEL_CLANG && defined(__SSE2__)
#define UMBEL_ALL_LANES(x) \
  if (!__builtin_is_constant_evaluated()) __asm__("" : "+x"(x))
#elif UMBEL_CLANG && defined(__aarch64__)
#define UMBEL_ALL_LANES(x) \
  if (!__builtin_is_constant_evaluated()) __asm__("" : "+w"(x))
#else
#define UMBEL_ALL_LANES(x) static_cast<void>(0)
#endif

// UMBEL_OPAQUE(x): the optimiser forgets what it knows of a vector of 16 bytes. For g++ 12 without
// SSE4.1, which has no comparison of 64-bit lanes: folding an and of their masks, it stops with an
// "internal compiler error: in gimple_expand_vec_cond_expr".
#if defined(__SSE2__) && !defined(__SSE4_1__) && defined(__GNUC__) && !defined(__clang__)
#define UMBEL_OPAQUE(x) __asm__("" : "+x"(x))
#else
#define UMBEL_OPAQUE(x) static_cast<void>(0)
#endif

// In a function that adds a number and takes it away again to round: -fassociative-math, a part of
// -ffast-math, would drop both. UMBEL_AS_WRITTEN first in its body, UMBEL_KEEP(sum) in between.
#if UMBEL_CLANG
#define UMBEL_AS_WRITTEN _Pragma("clang fp reassociate(off)")
#define UMBEL_KEEP(sum) static_cast<void>(0)
#elif defined(__ASSOCIATIVE_MATH__)
#define UMBEL_AS_WRITTEN
#if defined(__x86_64__) || defined(__i386__)
#define UMBEL_KEEP(sum) \
  if (!__builtin_is_constant_evaluated()) __asm__("" : "+v"(sum))
#elif defined(__aarch64__)
#define UMBEL_KEEP(sum) \
  if (!__builtin_is_constant_evaluated()) __asm__("" : "+w"(sum))
#else
#define UMBEL_KEEP(sum) \
  if (!__builtin_is_constant_evaluated()) __asm__("" : "+m"(sum))
#endif
#else
#define UMBEL_AS_WRITTEN
#define UMBEL_KEEP(sum) static_cast<void>(0)
#endif

// 1 where g++ fuses a product and a sum by itself although UMBEL_FMA is 0 (-mavx512f or -mfma4
// without -mfma).
#if !UMBEL_FMA && UMBEL_GCC && defined(__FP_FAST_FMAF)
#define UMBEL_FUSES_UNASKED 1
#else
#define UMBEL_FUSES_UNASKED 0
#endif

// Around what a header declares: its local names may be called as a global of the user's
// (-Wshadow). A variable template may be declared only, for its address in constant expressions.
// g++ 12 takes the members of a union, scratch of one part after the other, for each other
// (-Wstringop-overflow).
#if UMBEL_CLANG
#define UMBEL_WARNINGS_PUSH                                        \
  UMBEL_PRAGMA_(GCC diagnostic push)                               \
  UMBEL_PRAGMA_(GCC diagnostic ignored "-Wshadow")                 \
  UMBEL_PRAGMA_(GCC diagnostic ignored "-Wundefined-var-template") \
  UMBEL_PRAGMA_(GCC diagnostic ignored "-Wundefined-internal")
#else
#define UMBEL_WARNINGS_PUSH                        \
  UMBEL_PRAGMA_(GCC diagnostic push)               \
  UMBEL_PRAGMA_(GCC diagnostic ignored "-Wshadow") \
  UMBEL_PRAGMA_(GCC diagnostic ignored "-Wstringop-overflow")
#endif
#define UMBEL_WARNINGS_POP UMBEL_PRAGMA_(GCC diagnostic pop)
