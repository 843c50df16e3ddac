// SPDX-License-Identifier: BSL-1.0
// How a row of the benchmark program is measured: thread CPU time, and the FMA peak of the core
// right before and right after (core.hpp).
#pragma once

#include <benchmark/benchmark.h>

#include <initializer_list>
#include <string>

#include "core.hpp"

namespace bench {

// One row: f() does `flops` operations; peak_of(): how many the core
// can do, in billions a second.
template <class F>
void measure(benchmark::State& state, double flops, F f, double (*peak_of)() = fma_peak) {
  f();
  const double peak_before = peak_of();
  const double start = thread_seconds();
  for (auto _ : state) {
    f();
    benchmark::ClobberMemory();
  }
  const double seconds = (thread_seconds() - start) / static_cast<double>(state.iterations());
  const double peak = (peak_before + peak_of()) / 2;
  state.counters["GFLOP/s"] = flops / seconds * 1e-9;
  state.counters["peak"] = peak;
  state.counters["percent"] = flops / seconds * 1e-7 / peak;
  state.counters["us"] = seconds * 1e6;
}

// Adds a row. Its figures are medians (main.cpp prints those only).
template <class F>
void add_row(const std::string& name, double flops, F f, double (*peak_of)() = fma_peak) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) { measure(state, flops, f, peak_of); })
      ->Repetitions(9)
      ->MinTime(0.02)
      ->ReportAggregatesOnly(true);
}

// "linear/16x32x32"
inline std::string row_name(const char* family, std::initializer_list<std::size_t> sizes,
                            char separator) {
  std::string name = family;
  for (const std::size_t size : sizes) {
    if (!name.empty() && name.back() != '/') name.push_back(separator);
    name.append(std::to_string(size));
  }
  return name;
}

}  // namespace bench
