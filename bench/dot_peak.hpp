// SPDX-License-Identifier: BSL-1.0
// The most products of bytes that simd::dot can add on this core, measured as bench::fma_peak is.
#pragma once

#include <umbel/quantized.hpp>

#include "core.hpp"

#if UMBEL_DOT_VECTORS
namespace bench {

// Something else, as far as the compiler can see: it would compute products that are always the
// same once, before the loop.
template <class V>
inline void opaque(V& v) {
#if UMBEL_X86
  if constexpr (requires { v.even; })
    __asm__("" : "+v"(v.even), "+v"(v.odd));
  else
    __asm__("" : "+v"(v));
#elif UMBEL_AARCH64
  __asm__("" : "+w"(v));
#else
  __asm__("" : "+m"(v));
#endif
}

// Independent chains in registers, as fma_peak has them. Billions of operations a second, an
// addition and a product one each.
inline double dot_peak() {
  namespace simd = umbel::detail::simd;
  constexpr std::size_t chains = UMBEL_VECTOR_REGISTERS / (simd::dot_by_pairs ? 4 : 2);
  constexpr int rounds = 20000;
  simd::dot_words chain[chains]{}, a{}, b{};
  __asm__ volatile("" : "+m"(a), "+m"(b));
  simd::dot_vector left = simd::dot_operand(a);
  const simd::dot_vector right = simd::dot_operand(b);
  double best = 1e9;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const double start = thread_seconds();
    for (int round = 0; round < rounds; ++round) {
      UMBEL_UNROLL(16)
      for (std::size_t i = 0; i < chains; ++i) {
        opaque(left);
        chain[i] = simd::dot(chain[i], left, right);
      }
    }
    const double seconds = thread_seconds() - start;
    best = seconds < best ? seconds : best;
    for (std::size_t i = 0; i < chains; ++i) __asm__ volatile("" : : "m"(chain[i]));
  }
  return 8e-9 * static_cast<double>(simd::dot_lanes * chains) * rounds / best;
}

}  // namespace bench
#endif
