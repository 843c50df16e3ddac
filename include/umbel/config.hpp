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

// clang 14 rejects every use of a class in which an assertion failed. (verdict.hpp)
#if UMBEL_CLANG && __clang_major__ < 15
#define UMBEL_CLANG_14 1
#else
#define UMBEL_CLANG_14 0
#endif

// The only error, whatever follows: clang can make a warning fatal, g++ only a missing file.
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
// g++ takes NEON for float only then, and NEON of ARMv7 flushes subnormal numbers.
#error "umbel: -funsafe-math-optimizations gives other bits by NEON: compile without it"
#elif defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#warning "umbel: -ffast-math loses NaN and equal bits; UMBEL_ALLOW_FAST_MATH silences this"
#endif
#endif

// AVR, and others whose compiler was told that double is float.
#if defined(__SIZEOF_DOUBLE__) && __SIZEOF_DOUBLE__ < 8
#if UMBEL_CLANG
#pragma clang diagnostic fatal "-W#warnings"
#warning "umbel: needs double of 8 bytes, which this target (AVR?) does not have"
#else
#include "umbel: needs double of 8 bytes, which this target (AVR?) does not have"
#endif
#endif

// The constants of double would be those of float. Their types are all that tells.
static_assert(
    sizeof(0.1) == sizeof(double),
    "umbel: -fsingle-precision-constant takes the last digits of double: compile without it");

// x87 computes float as long double, rounded when it is stored: a third set of bits, other ones for
// each compiler and level. 0: everything in its own type; 16: so is _Float16. -1 is unknown: clang
// says it of -ffast-math, g++ of -mfpmath=both.
#if defined(__FLT_EVAL_METHOD__)
#if (__FLT_EVAL_METHOD__ > 0 && __FLT_EVAL_METHOD__ != 16) || (__FLT_EVAL_METHOD__ < 0 && UMBEL_GCC)
#error "umbel: float is computed in wider registers (x87): compile with -msse2 -mfpmath=sse"
#endif
#endif

// 1 in a build with a sanitizer. Nothing is unrolled or forced inline there, and the tests plan
// smaller tiles: the bits are the same, and an instrumented register tile takes minutes to compile.
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
// The same where it optimises. Unoptimised, each copy of a large function would have variables of
// its own in the caller's stack frame.
#if defined(__OPTIMIZE__)
#define UMBEL_OPTIMIZED 1
#define UMBEL_INLINE_OPTIMIZED UMBEL_INLINE
#else
#define UMBEL_OPTIMIZED 0
#define UMBEL_INLINE_OPTIMIZED inline
#endif
// (Whether an expression is a constant is asked by __builtin_is_constant_evaluated(). The function
// of <type_traits> is a call of g++ where it does not optimise, so that it compiles both ways to go
// on.) Functions of types that files for several targets share (tensors, views, weights, masks):
// always inlined, so that no program has a copy of theirs that was compiled for another instruction
// set.
#define UMBEL_SHARED [[gnu::always_inline]]
// An error, with a sentence, where the arguments of a call fulfil a condition and are constants:
// the values of literals, too, outside of constant expressions. Clang's only.
#if UMBEL_CLANG
#define UMBEL_REFUSED_IF(condition, sentence) \
  __attribute__((diagnose_if(condition, sentence, "error")))
#else
#define UMBEL_REFUSED_IF(condition, sentence)
#endif
// After a parameter: what the function returns refers to it. clang warns where that is gone before
// the result.
#if UMBEL_CLANG
#define UMBEL_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define UMBEL_LIFETIMEBOUND
#endif
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

// UMBEL_UNROLL(n) before a loop: unroll it up to n times. A register tile is a local array indexed
// only by fully unrolled loops.
#define UMBEL_PRAGMA_(text) _Pragma(#text)
#if UMBEL_SANITIZED
#define UMBEL_UNROLL(n)
#else
#define UMBEL_UNROLL(n) UMBEL_PRAGMA_(GCC unroll n)
#endif

// 1 when a fused multiply-add of float is one instruction of the target. It decides which of the
// two sets of bits a build belongs to (docs/numerics.md): fused, or rounded twice.
// UMBEL_FMA_DOUBLE: the same of double, which floating-point units of single precision alone do not
// have.
#if defined(__x86_64__) || defined(__i386__)
// The one of 128 and 256 bits is asked for, which -mavx512f alone does not bring.
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
// clang has a macro of it for ARM alone. Of the others that g++ fuses for, all units do.
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

// 1 where g++ fuses a product and a sum by itself although UMBEL_FMA is 0 (-mavx512f or -mfma4
// without -mfma).
#if !UMBEL_FMA && UMBEL_GCC && defined(__FP_FAST_FMAF)
#define UMBEL_FUSES_UNASKED 1
#else
#define UMBEL_FUSES_UNASKED 0
#endif

// 1 when the compiler has a fused multiply-add for numbers and vectors of any length (clang 17).
#if defined(__has_builtin)
#if __has_builtin(__builtin_elementwise_fma)
#define UMBEL_ELEMENTWISE_FMA 1
#endif
#endif
#ifndef UMBEL_ELEMENTWISE_FMA
#define UMBEL_ELEMENTWISE_FMA 0
#endif
// clang takes fmaf for a function that sets errno where no operating system says otherwise, and
// calls it: a library that bare metal need not have.
#if UMBEL_CLANG && UMBEL_FMA && !UMBEL_ELEMENTWISE_FMA && !defined(__NO_MATH_ERRNO__) && \
    !defined(__unix__) && !defined(__APPLE__) && !defined(_WIN32)
#error "umbel: clang before 17 calls fmaf on this target, so compile with -fno-math-errno"
#endif

// clang 19 takes the strides of vectors that it loads or stores element by element four times, in
// the simplest of loops, from -O2 on (LLVM issue 120993; 14 does not, 20 has the repair). No macro
// says whether it may; -fno-vectorize cures it, too, but only after the -O.
#if UMBEL_CLANG && __clang_major__ == 19 && defined(__ARM_FEATURE_MVE) && \
    !defined(UMBEL_NO_GATHER_SCATTER)
#error \
    "umbel: clang 19 gives strided loops wrong addresses for MVE: compile with \
-mllvm -enable-arm-maskedgatscat=false -DUMBEL_NO_GATHER_SCATTER"
#endif

// 1 for vectors of floats in Helium, the extension of Cortex-M (MVE). clang uses it by itself once
// it has a multiply-add of vectors; for g++ simd/mve.hpp names the instructions.
#if defined(__ARM_FEATURE_MVE) && (UMBEL_GCC || UMBEL_ELEMENTWISE_FMA)
#if __ARM_FEATURE_MVE & 2
#define UMBEL_MVE 1
#endif
#endif
#ifndef UMBEL_MVE
#define UMBEL_MVE 0
#endif
#define UMBEL_MVE_ASSEMBLY (UMBEL_MVE && UMBEL_GCC)

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
#elif defined(__wasm_simd128__)
#define UMBEL_VECTOR_BYTES 16
#define UMBEL_VECTOR_REGISTERS 16  // of the processors that it is translated for
#elif UMBEL_MVE
#define UMBEL_VECTOR_BYTES 16
#define UMBEL_VECTOR_REGISTERS 8
#elif defined(__ARM_FP)
#define UMBEL_VECTOR_BYTES 0
#define UMBEL_VECTOR_REGISTERS 32
#elif defined(__riscv_flen) || defined(__loongarch_frlen) || defined(__powerpc64__)
#define UMBEL_VECTOR_BYTES 0
#define UMBEL_VECTOR_REGISTERS 28  // of 32: g++ loads ahead of a tile's products
#elif defined(__arm__) || defined(__riscv)
#define UMBEL_VECTOR_BYTES 0
#define UMBEL_VECTOR_REGISTERS 6  // no unit: products are calls, tiles are code without a gain
#else
#define UMBEL_VECTOR_BYTES 0
#define UMBEL_VECTOR_REGISTERS 16
#endif

// Are the constructors of global objects called before main? A start-up for bare metal need not do
// it, and does not where the compiler is told that there may be none (-ffreestanding). Where yours
// does, define it as 1; where a hosted program has none, as 0.
#ifndef UMBEL_CONSTRUCTORS_RUN
#if defined(__STDC_HOSTED__) && __STDC_HOSTED__ == 0
#define UMBEL_CONSTRUCTORS_RUN 0
#else
#define UMBEL_CONSTRUCTORS_RUN 1
#endif
#endif

// 1 where the low half of a number comes first in memory.
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define UMBEL_LITTLE_ENDIAN 1
#else
#define UMBEL_LITTLE_ENDIAN 0
#endif

// Small code instead of fast code: register tiles of a few registers, so fewer and shorter loops.
// The bits stay the same. Define it as 1, with -Os; files with and without it are of different
// targets (below).
#ifndef UMBEL_SMALL_CODE
#define UMBEL_SMALL_CODE 0
#elif UMBEL_SMALL_CODE  // also 2 and true: the name of the target below asks for 1
#undef UMBEL_SMALL_CODE
#define UMBEL_SMALL_CODE 1
#endif

// Is what one row or query reads once from beyond the second-level cache (weights, keys, values)
// asked for ahead, by instructions? Measured (docs/speed.md): a fifth faster on Zen 5, a fifth
// slower on Zen 4 with AVX-512, which is a core of AMD's that has AVX-512 and none of what came
// after. Speed only: define it as 0 or 1 to choose.
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

// Are positions known only at run time checked (tensor/check.hpp)? Define it as 1 for that. Files
// with and without it may be one program.
#ifndef UMBEL_CHECK
#define UMBEL_CHECK 0
#endif
// 1 where an operating system gives the program a standard error to write to.
#if defined(__unix__) || defined(__APPLE__) || defined(_WIN32) || defined(__wasi__)
#define UMBEL_STDERR 1
#else
#define UMBEL_STDERR 0
#endif
// 1 where files are opened by POSIX, and may be pipes.
#if defined(__unix__) || defined(__APPLE__)
#define UMBEL_POSIX 1
#else
#define UMBEL_POSIX 0
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
// Products of 8-bit integers (simd/dot.hpp).
#if UMBEL_AVX512_16_BIT && defined(__AVX512VNNI__)
#define UMBEL_AVX512_VNNI 1
#else
#define UMBEL_AVX512_VNNI 0
#endif
#if defined(__AVX2__) && defined(__AVXVNNI__) && !UMBEL_AVX512_16_BIT
#define UMBEL_AVX_VNNI 1
#else
#define UMBEL_AVX_VNNI 0
#endif
#if defined(__AVX512VBMI__)
#define UMBEL_AVX512_VBMI 1
#else
#define UMBEL_AVX512_VBMI 0
#endif
#if defined(__AVX2__)
#define UMBEL_AVX2 1
#else
#define UMBEL_AVX2 0
#endif
#if defined(__SSSE3__)
#define UMBEL_SSSE3 1
#else
#define UMBEL_SSSE3 0
#endif
#if defined(__SSE2__)
#define UMBEL_SSE2 1
#else
#define UMBEL_SSE2 0
#endif
#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD) && UMBEL_LITTLE_ENDIAN
#define UMBEL_SDOT 1
#else
#define UMBEL_SDOT 0
#endif
#if defined(__wasm_simd128__)
#define UMBEL_WASM_SIMD 1
#else
#define UMBEL_WASM_SIMD 0
#endif
#if UMBEL_SSE2 || (defined(__aarch64__) && UMBEL_LITTLE_ENDIAN) || UMBEL_WASM_SIMD
#define UMBEL_DOT_VECTORS 1
#else
#define UMBEL_DOT_VECTORS 0
#endif

#if defined(__F16C__)
#define UMBEL_F16C 1
#else
#define UMBEL_F16C 0
#endif
// vcvtb of 32-bit ARM: float16 to float. All units that fuse have it, of which g++'s __ARM_FP does
// not tell where they are of single precision.
#if defined(__arm__) && defined(__ARM_FP) && (UMBEL_FMA || __ARM_FP & 2)
#define UMBEL_VCVTB 1
#else
#define UMBEL_VCVTB 0
#endif
#if defined(__aarch64__)
#define UMBEL_AARCH64 1
#else
#define UMBEL_AARCH64 0
#endif

// Kernels of 8-bit integers in Helium, and which room they are in, on a core without other vectors.
#if defined(__ARM_FEATURE_MVE) && UMBEL_LITTLE_ENDIAN
#define UMBEL_MVE_INTEGERS 1
#define UMBEL_INTEGER_KERNELS mve
#else
#define UMBEL_MVE_INTEGERS 0
#define UMBEL_INTEGER_KERNELS scalar
#endif
#if defined(__arm__) && defined(__thumb2__)
#define UMBEL_THUMB_2 1
#else
#define UMBEL_THUMB_2 0
#endif
// Products of integers on Cortex-M without vectors. Whether loops of them are written in
// instructions (simd/four_rows.hpp), for which unoptimised, instrumented and position-independent
// builds have no registers (__ARM_RWPI: that of data alone); smlad: two products of 16 bits.
#if UMBEL_OPTIMIZED && !UMBEL_SANITIZED && UMBEL_LITTLE_ENDIAN && defined(__ARM_ARCH_PROFILE) && \
    !defined(__PIC__) && !defined(__ARM_RWPI)
#define UMBEL_FOUR_ROWS_ASSEMBLY (__ARM_ARCH_PROFILE == 'M')
#else
#define UMBEL_FOUR_ROWS_ASSEMBLY 0
#endif
#if UMBEL_FOUR_ROWS_ASSEMBLY && defined(__ARM_FEATURE_DSP)
#define UMBEL_SMLAD 1
#else
#define UMBEL_SMLAD 0
#endif

// Does the core divide in one instruction?
#if !defined(__arm__) && !defined(__riscv) || defined(__ARM_FEATURE_IDIV) || defined(__riscv_div)
#define UMBEL_DIVIDES 1
#else
#define UMBEL_DIVIDES 0
#endif

// ARMv6-M for size: g++ then has no registers above r7.
#if defined(__OPTIMIZE_SIZE__)
#define UMBEL_FEW_REGISTERS 1
#else
#define UMBEL_FEW_REGISTERS 0
#endif

// After a lambda's parameters: inline it always.
#if UMBEL_SANITIZED
#define UMBEL_LAMBDA_INLINE
#else
#define UMBEL_LAMBDA_INLINE __attribute__((always_inline))
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

// ---- the target's namespace ---------------------------------------------------------------------
//
// Code, and types whose layout depends on the target, are in `namespace umbel::inline
// UMBEL_TARGET`, so that files compiled for several instruction sets can be linked into one
// program: none takes code or a layout of another (docs/dispatch.md). Tensors, views, axes, weights
// and masks are the same for every target and are in umbel itself.
//
// The name says what the kernels are planned for, then one bit for each extension that a compiler
// may use: avx512_fma_40f7bdf001. Two files whose names are equal may share code.

// 1 where a macro is defined as 1, 0 where it is not defined.
#define UMBEL_IS_1(macro) UMBEL_IS_1_(macro)
#define UMBEL_IS_1_(value) UMBEL_IS_1__(UMBEL_PROBE_##value)
#define UMBEL_IS_1__(probe) UMBEL_SECOND(probe 1, 0, 0)
#define UMBEL_SECOND(first, second, ...) second
#define UMBEL_PROBE_1 0,

// Eight macros as two hexadecimal digits.
#define UMBEL_DIGITS(a, b, c, d, e, f, g, h)                                          \
  UMBEL_JOIN_2(UMBEL_HEX(UMBEL_IS_1(a), UMBEL_IS_1(b), UMBEL_IS_1(c), UMBEL_IS_1(d)), \
               UMBEL_HEX(UMBEL_IS_1(e), UMBEL_IS_1(f), UMBEL_IS_1(g), UMBEL_IS_1(h)))
#define UMBEL_JOIN_2(a, b) UMBEL_JOIN_2_(a, b)
#define UMBEL_JOIN_2_(a, b) a##b
#define UMBEL_HEX(a, b, c, d) UMBEL_HEX_(a, b, c, d)
#define UMBEL_HEX_(a, b, c, d) UMBEL_HEX_##a##b##c##d
#define UMBEL_HEX_0000 0
#define UMBEL_HEX_0001 1
#define UMBEL_HEX_0010 2
#define UMBEL_HEX_0011 3
#define UMBEL_HEX_0100 4
#define UMBEL_HEX_0101 5
#define UMBEL_HEX_0110 6
#define UMBEL_HEX_0111 7
#define UMBEL_HEX_1000 8
#define UMBEL_HEX_1001 9
#define UMBEL_HEX_1010 a
#define UMBEL_HEX_1011 b
#define UMBEL_HEX_1100 c
#define UMBEL_HEX_1101 d
#define UMBEL_HEX_1110 e
#define UMBEL_HEX_1111 f
#define UMBEL_JOIN(a, b, c, d, e, f) UMBEL_JOIN_(a, b, c, d, e, f)
#define UMBEL_JOIN_(a, b, c, d, e, f) a##_##b##c##d##e##f

#if UMBEL_FMA
#define UMBEL_WITH_FMA(name) name##_fma
#else
#define UMBEL_WITH_FMA(name) name
#endif

#if UMBEL_X86
#if UMBEL_VECTOR_BYTES == 64
#define UMBEL_ISA UMBEL_WITH_FMA(avx512)
#elif UMBEL_VECTOR_BYTES == 32
#define UMBEL_ISA UMBEL_WITH_FMA(avx)
#elif UMBEL_VECTOR_BYTES == 16
#define UMBEL_ISA UMBEL_WITH_FMA(sse2)
#else
#define UMBEL_ISA UMBEL_WITH_FMA(x86)
#endif
#define UMBEL_EXTENSIONS_1                                                                  \
  UMBEL_DIGITS(__SSE3__, __SSSE3__, __SSE4_1__, __SSE4_2__, __SSE4A__, __POPCNT__, __AVX__, \
               __AVX2__)
#define UMBEL_EXTENSIONS_2 \
  UMBEL_DIGITS(__F16C__, __FMA4__, __BMI__, __BMI2__, __LZCNT__, __MOVBE__, __XOP__, __AVX512F__)
#define UMBEL_EXTENSIONS_3                                                             \
  UMBEL_DIGITS(__AVX512BW__, __AVX512CD__, __AVX512DQ__, __AVX512VL__, __AVX512IFMA__, \
               __AVX512VBMI__, __AVX512VBMI2__, __AVX512VNNI__)
#define UMBEL_EXTENSIONS_4                                                            \
  UMBEL_DIGITS(__AVX512BITALG__, __AVX512VPOPCNTDQ__, __AVX512BF16__, __AVX512FP16__, \
               __AVX512VP2INTERSECT__, __AVXVNNI__, __GFNI__, __SSE2__)
#elif UMBEL_AARCH64
#define UMBEL_ISA neon
#define UMBEL_EXTENSIONS_1                                                            \
  UMBEL_DIGITS(__ARM_FEATURE_DOTPROD, __ARM_FEATURE_FP16_VECTOR_ARITHMETIC,           \
               __ARM_FEATURE_FP16_FML, __ARM_FEATURE_BF16, __ARM_FEATURE_MATMUL_INT8, \
               __ARM_FEATURE_COMPLEX, __ARM_FEATURE_QRDMX, __ARM_FEATURE_ATOMICS)
#define UMBEL_EXTENSIONS_2                                                                     \
  UMBEL_DIGITS(__ARM_FEATURE_SVE, __ARM_FEATURE_SVE2, __ARM_FEATURE_CRC32, __ARM_FEATURE_JCVT, \
               __ARM_FEATURE_FRINT, __ARM_FEATURE_AES, __ARM_FEATURE_SHA2, __ARM_FEATURE_SME)
#define UMBEL_EXTENSIONS_3                                                                         \
  UMBEL_DIGITS(__ARM_FEATURE_MOPS, __ARM_FEATURE_CSSC, __ARM_FEATURE_LS64, __ARM_FEATURE_SVE_BF16, \
               __ARM_FEATURE_SVE_MATMUL_FP32, __ARM_FEATURE_SVE_MATMUL_INT8,                       \
               __ARM_FEATURE_SVE2_BITPERM, __ARM_FEATURE_SME2)
#define UMBEL_EXTENSIONS_4 00
#else
#if UMBEL_MVE
#define UMBEL_ISA UMBEL_WITH_FMA(mve)
#else
#define UMBEL_ISA UMBEL_WITH_FMA(scalar)
#endif
#define UMBEL_EXTENSIONS_1                                                             \
  UMBEL_DIGITS(__ARM_FEATURE_DSP, __ARM_FEATURE_SIMD32, __ARM_FEATURE_FMA, __ARM_NEON, \
               __ARM_FEATURE_IDIV, __thumb2__, __ARM_FEATURE_CLZ, __ARM_VFPV2__)
#define UMBEL_EXTENSIONS_2                                                                     \
  UMBEL_DIGITS(__ARM_VFPV3__, __ARM_VFPV4__, __ARM_VFPV5__, __ARM_FP16_ARGS, __wasm_simd128__, \
               __wasm_relaxed_simd__, __riscv_compressed, __riscv_muldiv)
#define UMBEL_EXTENSIONS_3                                                         \
  UMBEL_DIGITS(__riscv_vector, __riscv_fdiv, __riscv_atomic, __wasm_bulk_memory__, \
               __wasm_sign_ext__, __wasm_nontrapping_fptoint__, __ARM_FEATURE_SAT, __ALTIVEC__)
#define UMBEL_EXTENSIONS_4 00
#endif

#define UMBEL_TARGET                                                                               \
  UMBEL_JOIN(UMBEL_ISA, UMBEL_OPTIONS, UMBEL_EXTENSIONS_1, UMBEL_EXTENSIONS_2, UMBEL_EXTENSIONS_3, \
             UMBEL_EXTENSIONS_4)
// What a user may choose, file by file, and the newest extensions of x86.
#define UMBEL_OPTIONS                                                                      \
  UMBEL_DIGITS(UMBEL_SMALL_CODE, UMBEL_FETCH_AHEAD, __FINITE_MATH_ONLY__, UMBEL_SANITIZED, \
               __APX_F__, __AVX10_2__, __AVXVNNIINT8__, __AVXNECONVERT__)

// As the types of std::__cxx11 do, those of the target mark the variables and functions of yours
// that have them: `extern workspace work;` of one target and of another are two names, too.
#define UMBEL_STRING(text) UMBEL_STRING_(text)
#define UMBEL_STRING_(text) #text
namespace umbel {
inline namespace UMBEL_TARGET __attribute__((__abi_tag__(UMBEL_STRING(UMBEL_TARGET)))) {}
}  // namespace umbel
