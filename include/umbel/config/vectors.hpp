// SPDX-License-Identifier: BSL-1.0
// The target's vector registers. config.hpp includes it.
#pragma once

#include <umbel/config/target.hpp>

// Bits of Arm's SVE, from -msve-vector-bits; 0 without it, for any length, and without +sve.
#if defined(__ARM_FEATURE_SVE) && defined(__ARM_FEATURE_SVE_BITS)
#define UMBEL_SVE_BITS __ARM_FEATURE_SVE_BITS
#else
#define UMBEL_SVE_BITS 0
#endif
// 1 if kernels use SVE. NEON serves for 128 bits, and for lengths that no core has.
#if (UMBEL_SVE_BITS == 256 || UMBEL_SVE_BITS == 512) && UMBEL_LITTLE_ENDIAN
#if UMBEL_GCC || !UMBEL_ELEMENTWISE_FMA
#error \
    "umbel: g++ and clang before 17 split SVE's vectors into single elements: compile with clang 17 or newer, or without -msve-vector-bits"
#endif
#define UMBEL_SVE 1
#else
#define UMBEL_SVE 0
#endif

// The least bits of a register of RISC-V's vectors (RVV 1.0), from -march: v 128, zvl256b 256. 0 if
// the compiler does not use them: g++ before 14.
#if defined(__riscv_v_min_vlen) && (UMBEL_CLANG || __GNUC__ >= 14)
#define UMBEL_RVV_BITS __riscv_v_min_vlen
#else
#define UMBEL_RVV_BITS 0
#endif
// 1 if kernels use them. g++ and clang before 17 would split them, and so does clang if there are
// none of double (Zve32f).
#if UMBEL_CLANG && UMBEL_ELEMENTWISE_FMA && UMBEL_RVV_BITS >= 128 && __riscv_v_elen_fp >= 64
#define UMBEL_RVV 1
#else
#define UMBEL_RVV 0
#endif
// 1 if the code is for exactly these bits (-mrvv-vector-bits), not for these or more.
#if UMBEL_RVV_BITS && defined(__riscv_v_fixed_vlen)
#define UMBEL_RVV_EXACT 1
#else
#define UMBEL_RVV_EXACT 0
#endif

// Bytes of a vector register, and the number of registers. 0 bytes: no vector unit.
#if defined(__AVX512F__)
#define UMBEL_VECTOR_BYTES 64
#define UMBEL_VECTOR_REGISTERS 32
#elif defined(__AVX__)
#define UMBEL_VECTOR_BYTES 32
#define UMBEL_VECTOR_REGISTERS 16
#elif defined(__SSE2__)
#define UMBEL_VECTOR_BYTES 16
#define UMBEL_VECTOR_REGISTERS 16
#elif UMBEL_SVE
#define UMBEL_VECTOR_BYTES (UMBEL_SVE_BITS / 8)
#define UMBEL_VECTOR_REGISTERS 32
#elif defined(__aarch64__)
#define UMBEL_VECTOR_BYTES 16
#define UMBEL_VECTOR_REGISTERS 32
#elif defined(__wasm_simd128__)
#define UMBEL_VECTOR_BYTES 16
#define UMBEL_VECTOR_REGISTERS 16  // of the processors that it is translated for
#elif UMBEL_MVE
#define UMBEL_VECTOR_BYTES 16
#define UMBEL_VECTOR_REGISTERS 8
#elif UMBEL_RVV && UMBEL_RVV_BITS < 512
#define UMBEL_VECTOR_BYTES (UMBEL_RVV_BITS / 8)
#define UMBEL_VECTOR_REGISTERS 32
#elif UMBEL_RVV
#define UMBEL_VECTOR_BYTES 64
#define UMBEL_VECTOR_REGISTERS 32
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
