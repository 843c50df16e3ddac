// SPDX-License-Identifier: BSL-1.0
// The instructions that a target has and the library names one by one, as UMBEL_* macros.
// config.hpp includes it.
#pragma once

#include <umbel/config/target.hpp>
#include <umbel/config/vectors.hpp>

// The architecture whose compiler builtins may be used (simd/ has a plain form of each).
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
#if UMBEL_SSE2 || (defined(__aarch64__) && UMBEL_LITTLE_ENDIAN) || UMBEL_WASM_SIMD || UMBEL_RVV
#define UMBEL_DOT_VECTORS 1
#else
#define UMBEL_DOT_VECTORS 0
#endif

#if defined(__F16C__)
#define UMBEL_F16C 1
#else
#define UMBEL_F16C 0
#endif
// 32-bit ARM's vcvtb: float16 to float. All units that fuse have it, even single-precision ones,
// for which g++'s __ARM_FP doesn't show it.
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

// No FPU: floats are computed by calls. Does one instruction multiply to 64 bits?
#if (defined(__arm__) && !defined(__ARM_FP)) || (defined(__riscv) && !defined(__riscv_flen))
#define UMBEL_SOFT_FLOAT 1
#else
#define UMBEL_SOFT_FLOAT 0
#endif
#if defined(__thumb__) && !defined(__thumb2__)
#define UMBEL_LONG_PRODUCTS 0
#else
#define UMBEL_LONG_PRODUCTS 1
#endif

// Kernels of 8-bit integers in Helium, for cores without other vectors.
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
// Products of integers on Cortex-M without vectors. Are their loops written in assembly
// (simd/four_rows.hpp)? Unoptimized, instrumented and position-independent builds lack registers
// for it (__ARM_RWPI: position-independent data). smlad: two 16-bit products.
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
