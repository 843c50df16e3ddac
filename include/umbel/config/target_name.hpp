// SPDX-License-Identifier: BSL-1.0
// The target's namespace. config.hpp includes it.
//
// Code, and types whose layout depends on the target, are in `namespace umbel::inline
// UMBEL_TARGET`, so that files compiled for different instruction sets can be linked into one
// program without sharing code or layouts (docs/dispatch.md). Tensors, views, axes, weights and
// masks are the same for every target and are in umbel itself.
//
// The name contains the kernels' target, then one bit for each extension that a compiler may use:
// avx512_fma_40f7bdf001. Files with equal names may share code.
#pragma once

#include <umbel/config/instruction_sets.hpp>
#include <umbel/config/target.hpp>
#include <umbel/config/vectors.hpp>

// 1 if a macro is defined as 1, or as version 1.0 of RISC-V's extensions, 0 if it is undefined.
#define UMBEL_IS_1(macro) UMBEL_IS_1_(macro)
#define UMBEL_IS_1_(value) UMBEL_IS_1__(UMBEL_PROBE_##value)
#define UMBEL_IS_1__(probe) UMBEL_SECOND(probe 1, 0, 0)
#define UMBEL_SECOND(first, second, ...) second
#define UMBEL_PROBE_1 0,
#define UMBEL_PROBE_1000000 0,

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

// rvv256_fma
#define UMBEL_WITH_BITS(name, bits) UMBEL_WITH_BITS_(name, bits)
#define UMBEL_WITH_BITS_(name, bits) UMBEL_WITH_FMA(name##bits)

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
#if UMBEL_SVE_BITS
#define UMBEL_ISA UMBEL_JOIN_2(sve, UMBEL_SVE_BITS)
#else
#define UMBEL_ISA neon
#endif
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
#define UMBEL_EXTENSIONS_4                                                                        \
  UMBEL_DIGITS(__ARM_FEATURE_SHA3, __ARM_FEATURE_SHA512, __ARM_FEATURE_SM4, __ARM_FEATURE_SVE2p1, \
               __ARM_FEATURE_SVE_MATMUL_FP64, __ARM_FEATURE_SVE2_SHA3, __ARM_FEATURE_SVE2_SM4,    \
               __ARM_FEATURE_SVE2_AES)
#else
#if UMBEL_MVE
#define UMBEL_ISA UMBEL_WITH_FMA(mve)
#elif UMBEL_RVV
#define UMBEL_ISA UMBEL_WITH_BITS(rvv, UMBEL_RVV_BITS)
#elif UMBEL_RVV_BITS
#define UMBEL_ISA UMBEL_WITH_BITS(scalar, UMBEL_RVV_BITS)
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
#define UMBEL_EXTENSIONS_4                                                                    \
  UMBEL_JOIN_2(UMBEL_DIGITS(__riscv_zba, __riscv_zbb, __riscv_zbs, __riscv_zbc, __riscv_zbkb, \
                            __riscv_zicond, __riscv_zfa, __riscv_zfhmin),                     \
               UMBEL_DIGITS(__riscv_zfh, __riscv_zve64d, __riscv_zvfhmin, __riscv_zvfh,       \
                            __riscv_zvbb, __riscv_zvkb, __riscv_zcb, UMBEL_RVV_EXACT))
#endif

#define UMBEL_TARGET                                                                               \
  UMBEL_JOIN(UMBEL_ISA, UMBEL_OPTIONS, UMBEL_EXTENSIONS_1, UMBEL_EXTENSIONS_2, UMBEL_EXTENSIONS_3, \
             UMBEL_EXTENSIONS_4)
// Options that a user may set per file, and the newest extensions of x86.
#define UMBEL_OPTIONS                                                                      \
  UMBEL_DIGITS(UMBEL_SMALL_CODE, UMBEL_FETCH_AHEAD, __FINITE_MATH_ONLY__, UMBEL_SANITIZED, \
               __APX_F__, __AVX10_2__, __AVXVNNIINT8__, __AVXNECONVERT__)

// Like std::__cxx11's types, the target's types tag your variables and functions that use them:
// `extern workspace work;` has a different name in each target.
#define UMBEL_STRING(text) UMBEL_STRING_(text)
#define UMBEL_STRING_(text) #text
namespace umbel {
inline namespace UMBEL_TARGET __attribute__((__abi_tag__(UMBEL_STRING(UMBEL_TARGET)))) {}
}  // namespace umbel
