// SPDX-License-Identifier: BSL-1.0
// The bits of a vector register as compiled for, and as the core has them. Code for one length of
// SVE or RISC-V computes other numbers on other cores, so a program under an operating system
// compares them before its global objects are constructed, and stops. With UMBEL_VECTOR_CHECK=0 it
// does not, because it chooses its code by inspect/vector_check.hpp.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>

#ifndef UMBEL_VECTOR_CHECK
#define UMBEL_VECTOR_CHECK (UMBEL_STDERR && UMBEL_CONSTRUCTORS_RUN)
#endif
#if UMBEL_VECTOR_CHECK && (UMBEL_SVE_BITS || UMBEL_RVV_BITS)
#include <cstdio>
#endif

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

struct vector_lengths {
  std::size_t compiled, core;
  bool fit;
};

UMBEL_INLINE vector_lengths vector_lengths_here() noexcept {
#if UMBEL_SVE_BITS
  std::size_t bytes;
  __asm__ volatile("cntb %0" : "=r"(bytes));
  return {UMBEL_SVE_BITS, 8 * bytes, 8 * bytes == UMBEL_SVE_BITS};
#elif UMBEL_RVV_BITS
  std::size_t bytes;
  __asm__ volatile("csrr %0, vlenb" : "=r"(bytes));
  const std::size_t bits = 8 * bytes;
  return {UMBEL_RVV_BITS, bits, UMBEL_RVV_EXACT ? bits == UMBEL_RVV_BITS : bits >= UMBEL_RVV_BITS};
#else
  return {8 * UMBEL_VECTOR_BYTES, 8 * UMBEL_VECTOR_BYTES, true};
#endif
}

#if UMBEL_VECTOR_CHECK && (UMBEL_SVE_BITS || UMBEL_RVV_BITS)
// 101: before all constructors of users.
[[gnu::constructor(101), gnu::used]] inline void check_vector_length() noexcept {
  const vector_lengths bits = vector_lengths_here();
  if (bits.fit) return;
  std::fprintf(stderr, "umbel: compiled for %u-bit vectors, but this core's have %u\n",
               static_cast<unsigned>(bits.compiled), static_cast<unsigned>(bits.core));
  __builtin_trap();
}
#endif

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
