// SPDX-License-Identifier: BSL-1.0
// How a row is measured: thread CPU time (a time slice given to others does not count), and beside it
// the FMA peak of the core, measured right before and right after in the same thread. Percent of
// that peak is the figure to compare: clocks wander, the ratio does not.
#pragma once

#include <benchmark/benchmark.h>
#include <time.h>
#include <umbel/plan/target.hpp>
#include <umbel/simd/fma.hpp>

#include <initializer_list>
#include <string>

namespace bench {

inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The most multiply-adds per second this build's vectors can do: independent chains in registers,
// more of them than an FMA takes cycles times the units there are. GFLOP/s.
inline double fma_peak() {
  constexpr std::size_t lanes = umbel::plan::lanes<float>(umbel::plan::native_target);
  constexpr std::size_t chains = umbel::plan::native_target.registers * 3 / 4;
  constexpr int rounds = 20000;
  using V = umbel::simd::pack<float, lanes>;
  V chain[chains];
  for (std::size_t i = 0; i < chains; ++i) chain[i] = umbel::simd::broadcast<V>(1.0f);
  V factor = umbel::simd::broadcast<V>(0.5f), term = umbel::simd::broadcast<V>(0.25f);
  benchmark::DoNotOptimize(factor);
  benchmark::DoNotOptimize(term);
  double best = 1e9;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const double start = thread_seconds();
    for (int round = 0; round < rounds; ++round) {
      UMBEL_UNROLL(32)
      for (std::size_t i = 0; i < chains; ++i) chain[i] = umbel::simd::fma(chain[i], factor, term);
    }
    const double seconds = thread_seconds() - start;
    best = seconds < best ? seconds : best;
    for (std::size_t i = 0; i < chains; ++i) benchmark::DoNotOptimize(chain[i]);
  }
  return 2e-9 * static_cast<double>(lanes * chains) * rounds / best;
}

// One row: f() does `flops` floating-point operations.
template <class F>
void measure(benchmark::State& state, double flops, F f) {
  f();
  const double peak_before = fma_peak();
  const double start = thread_seconds();
  for (auto _ : state) {
    f();
    benchmark::ClobberMemory();
  }
  const double seconds = (thread_seconds() - start) / static_cast<double>(state.iterations());
  const double peak = (peak_before + fma_peak()) / 2;
  state.counters["GFLOP/s"] = flops / seconds * 1e-9;
  state.counters["peak"] = peak;
  state.counters["percent"] = flops / seconds * 1e-7 / peak;
  state.counters["us"] = seconds * 1e6;
}

// Adds a row. Its figures are medians (main.cpp prints those only).
template <class F>
void add_row(const std::string& name, double flops, F f) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) { measure(state, flops, f); })
      ->Repetitions(9)
      ->MinTime(0.02)
      ->ReportAggregatesOnly(true);
}

// "linear/16x32x32"
inline std::string row_name(const char* family, std::initializer_list<std::size_t> sizes,
                            char separator) {
  std::string name = family;
  for (const std::size_t size : sizes) {
    if (name.back() != '/') name.push_back(separator);
    name.append(std::to_string(size));
  }
  return name;
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
