// SPDX-License-Identifier: BSL-1.0
// Workarounds for compiler bugs, as UMBEL_* macros. config.hpp refuses compilers without one.
#pragma once

#include <umbel/config/target.hpp>
#include <umbel/config/vectors.hpp>

// g++ before 14 deletes calls with effects. If two elements of one object are accessed with
// different strides, it addresses one as a null pointer plus an offset (ivopts), assumes an access
// to null, after which nothing happens, and concludes in callers that the function has no effects,
// or not all of them (GCC bug 110702; docs/decisions/014).
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
// Use UMBEL_HAS_EFFECTS() before loops over strided elements that may be inlined anywhere.
#if UMBEL_DELETES_CALLS
#define UMBEL_HAS_EFFECTS() \
  if (!__builtin_is_constant_evaluated()) __asm__ volatile("" : : : "memory")
#else
#define UMBEL_HAS_EFFECTS() static_cast<void>(0)
#endif

// UMBEL_CHOSEN_BY_BITS: bytes of the largest scalar that simd::select chooses by its bits. These
// processors have no conditional move between FPU registers, so compilers would branch.
#if defined(__riscv_flen)
#define UMBEL_CHOSEN_BY_BITS (__riscv_flen / 8)
#elif defined(__SSE2__)
#define UMBEL_CHOSEN_BY_BITS 8
#else
#define UMBEL_CHOSEN_BY_BITS 0
#endif
// UMBEL_IN_FPU(x): keeps x in an FPU register. g++ for RISC-V uses integer ones for bit choices.
#if defined(__riscv_flen)
#define UMBEL_IN_FPU(x) \
  if (!__builtin_is_constant_evaluated()) __asm__("" : "+f"(x))
#else
#define UMBEL_IN_FPU(x) static_cast<void>(0)
#endif
// UMBEL_AS_MASK(x): hides the value of an integer, at most a register wide, from the optimizer. If
// clang knows that a mask is all bits or none, it branches instead of choosing by bits. (On x86 it
// chooses vectors instead, which this would prevent, but not with -Os.)
#define UMBEL_AS_MASK(x) \
  if (!__builtin_is_constant_evaluated()) __asm__("" : "+r"(x))

// UMBEL_COMPUTED(x): a scalar that must be computed here. Otherwise compilers compute it behind a
// branch when it is chosen later, and the time of a call would depend on the numbers. For "X" clang
// wants an FPU register, which WebAssembly never has and RISC-V not always.
#if UMBEL_CLANG && (defined(__wasm__) || defined(__riscv))
#define UMBEL_COMPUTED(x)                          \
  if constexpr (sizeof(x) <= UMBEL_CHOSEN_BY_BITS) \
    if (!__builtin_is_constant_evaluated()) __asm__("" : : "X"(x))
#else
#define UMBEL_COMPUTED(x) \
  if (!__builtin_is_constant_evaluated()) __asm__("" : : "X"(x))
#endif

// UMBEL_ALL_LANES(x): use before storing some lanes of a vector, to keep the others as computed.
// clang replaces constants in unread lanes by zeros; their quotients then raise exceptions that no
// element raises. x: at most a register wide. (Assembly has no constraint for vectors of RVV, nor
// for those of SVE wider than 16 bytes, so these go through memory.)
#if UMBEL_CLANG && defined(__SSE2__)
#define UMBEL_ALL_LANES(x) \
  if (!__builtin_is_constant_evaluated()) __asm__("" : "+x"(x))
#elif UMBEL_SVE || UMBEL_RVV
#define UMBEL_ALL_LANES(x) \
  if (!__builtin_is_constant_evaluated()) __asm__("" : "+m"(x))
#elif UMBEL_CLANG && defined(__aarch64__)
#define UMBEL_ALL_LANES(x) \
  if (!__builtin_is_constant_evaluated()) __asm__("" : "+w"(x))
#else
#define UMBEL_ALL_LANES(x) static_cast<void>(0)
#endif

// UMBEL_LOADED(x): a loaded vector, at most a register wide, of which some lanes are chosen later.
// Otherwise compilers for AVX-512 load these only. If none is chosen and the memory is not in the
// first-level cache, that takes 10 ns (Zen 5), twenty times as long.
#if defined(__AVX512F__)
#define UMBEL_LOADED(x) \
  if (!__builtin_is_constant_evaluated()) __asm__("" : "+v"(x))
#else
#define UMBEL_LOADED(x) static_cast<void>(0)
#endif

// UMBEL_ONE_BY_ONE before a loop that must not become one over vectors. clang 19 ends with an
// internal error for SVE of 64 bytes, if the loop is over some lanes of packs. For RVV it stores in
// the inverse order, if the loop stores as many elements as a vector has, in a fixed other order.
#if UMBEL_SVE || UMBEL_RVV
#define UMBEL_ONE_BY_ONE UMBEL_PRAGMA_(clang loop vectorize(disable))
#else
#define UMBEL_ONE_BY_ONE
#endif

// UMBEL_OPAQUE(x): hides a 16-byte vector from the optimizer. For g++ 12 without SSE4.1, which
// lacks comparisons of 64-bit lanes: folding an and of their masks, it stops with "internal
// compiler error: in gimple_expand_vec_cond_expr".
#if defined(__SSE2__) && !defined(__SSE4_1__) && defined(__GNUC__) && !defined(__clang__)
#define UMBEL_OPAQUE(x) __asm__("" : "+x"(x))
#else
#define UMBEL_OPAQUE(x) static_cast<void>(0)
#endif

// For functions that round by adding and subtracting a number: -fassociative-math, part of
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

// 1 if g++ fuses on its own although UMBEL_FMA is 0 (-mavx512f or -mfma4 without -mfma).
#if !UMBEL_FMA && UMBEL_GCC && defined(__FP_FAST_FMAF)
#define UMBEL_FUSES_UNASKED 1
#else
#define UMBEL_FUSES_UNASKED 0
#endif

// Around a header's declarations: local names may equal a global of the user's (-Wshadow). A
// variable template may be only declared, for its address in constant expressions. g++ 12 confuses
// members of a union, scratch of one part after the other (-Wstringop-overflow), and takes a
// pointer to the caller's result for one that outlives it (-Wdangling-pointer).
#if UMBEL_CLANG
#define UMBEL_WARNINGS_PUSH                                        \
  UMBEL_PRAGMA_(GCC diagnostic push)                               \
  UMBEL_PRAGMA_(GCC diagnostic ignored "-Wshadow")                 \
  UMBEL_PRAGMA_(GCC diagnostic ignored "-Wundefined-var-template") \
  UMBEL_PRAGMA_(GCC diagnostic ignored "-Wundefined-internal")
#else
#define UMBEL_WARNINGS_PUSH                                  \
  UMBEL_PRAGMA_(GCC diagnostic push)                         \
  UMBEL_PRAGMA_(GCC diagnostic ignored "-Wshadow")           \
  UMBEL_PRAGMA_(GCC diagnostic ignored "-Wdangling-pointer") \
  UMBEL_PRAGMA_(GCC diagnostic ignored "-Wstringop-overflow")
#endif
#define UMBEL_WARNINGS_POP UMBEL_PRAGMA_(GCC diagnostic pop)
