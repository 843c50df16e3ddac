// SPDX-License-Identifier: BSL-1.0
// What every measurement shares: thread CPU time (a time slice given to others does not count), and
// the FMA peak of the core, which is measured right before and right after a figure in the same
// thread. Percent of that peak is the figure to compare: clocks wander, the ratio does not.
#pragma once

#include <time.h>
#include <umbel/plan/target.hpp>
#include <umbel/simd/fma.hpp>

namespace bench {

inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The most multiply-adds per second this build's vectors can do: independent chains in registers,
// more of them than an FMA takes cycles times the units there are. GFLOP/s.
inline double fma_peak() {
  constexpr std::size_t lanes =
      umbel::detail::plan::lanes<float>(umbel::detail::plan::native_target);
  constexpr std::size_t chains = umbel::detail::plan::native_target.registers * 3 / 4;
  constexpr int rounds = 20000;
  using V = umbel::detail::simd::pack<float, lanes>;
  V chain[chains];
  for (std::size_t i = 0; i < chains; ++i) chain[i] = umbel::detail::simd::broadcast<V>(1.0f);
  V factor = umbel::detail::simd::broadcast<V>(0.5f),
    term = umbel::detail::simd::broadcast<V>(0.25f);
  __asm__ volatile("" : "+m"(factor), "+m"(term));
  double best = 1e9;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const double start = thread_seconds();
    for (int round = 0; round < rounds; ++round) {
      UMBEL_UNROLL(32)
      for (std::size_t i = 0; i < chains; ++i)
        chain[i] = umbel::detail::simd::fma(chain[i], factor, term);
    }
    const double seconds = thread_seconds() - start;
    best = seconds < best ? seconds : best;
    for (std::size_t i = 0; i < chains; ++i) __asm__ volatile("" : : "m"(chain[i]));
  }
  return 2e-9 * static_cast<double>(lanes * chains) * rounds / best;
}

// The numbers of the tests: s = s * 1664525 + 1013904223, in [-1, 1).
template <class Array>
void fill(Array& array, float scale) {
  static std::uint32_t state = 1;
  for (float& x : array) {
    state = state * 1664525u + 1013904223u;
    x = (static_cast<float>(state >> 8) * 0x1p-23f - 1.0f) * scale;
  }
}

}  // namespace bench
