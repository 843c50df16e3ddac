// SPDX-License-Identifier: BSL-1.0
// vector_check() tells whether the vectors of this core have the length that the file was compiled
// for: those of SVE and RISC-V have as many bits as the core likes. See docs/targets.md.
#pragma once

// clang-format off: all that this needs, in order; bare.hpp explains (test/layering.py --lists).
#include <umbel/config.hpp>
// clang-format on

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/simd/vector_length.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// Bits of a vector register.
//
// compiled: those that the file was compiled for (-msve-vector-bits; zvl256b in -march)
// core: those that the core has, or that its operating system has set
// fit: does code of this file compute right? SVE: if both are equal. RISC-V: if the core has as
// many, or more (equal with -mrvv-vector-bits). Other targets: always.
struct vector_bits {
  std::size_t compiled, core;
  bool fit;
};

// Compares the core's vectors with the compiled ones. Call it on bare metal before the first layer,
// with vectors switched on: if the bits do not fit, layers compute wrong numbers. A core without
// such vectors stops here, at an illegal instruction.
//
// Under an operating system a program does it before main, and stops with "umbel: compiled for
// 256-bit vectors, but this core's have 128". Files of which a program chooses one are compiled
// with -DUMBEL_VECTOR_CHECK=0 (docs/dispatch.md).
inline vector_bits vector_check() noexcept {
  const detail::simd::vector_lengths here = detail::simd::vector_lengths_here();
  return {here.compiled, here.core, here.fit};
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
