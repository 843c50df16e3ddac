// SPDX-License-Identifier: BSL-1.0
// The main program of the benchmarks: one line a row, medians of the repetitions.
//   name   us   GFLOP/s   percent of the FMA peak   that peak, measured beside it   goal: figure,
//   verdict
// Google Benchmark's own options work (--benchmark_filter=mha, --benchmark_out=file).
#include <benchmark/benchmark.h>

#include <cstdio>

#include "goals.hpp"

namespace {

class medians : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override {
    std::printf("%-36s %12s %10s %8s %10s   %-14s %10s\n", "", "us", "GFLOP/s", "% peak", "peak",
                "goal", "figure");
    return true;
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred) std::printf("%s: %s\n", name(run).c_str(), run.error_message.c_str());
      if (run.aggregate_name != "median") continue;
      std::printf("%-36s %12.3f %10.1f %8.1f %10.1f", name(run).c_str(), value(run, "us"),
                  value(run, "GFLOP/s"), value(run, "percent"), value(run, "peak"));
      if (const bench::goal* const wanted = bench::find_goal(name(run))) report(*wanted, run);
      std::printf("\n");
      std::fflush(stdout);
    }
  }
  void Finalize() override {
    if (goals_ > 0) std::printf("%d of %d goals kept\n", kept_, goals_);
  }

 private:
  void report(const bench::goal& wanted, const Run& run) {
    const bool percent = wanted.in == bench::unit::percent;
    const double figure =
        bench::figure(wanted, value(run, "percent"), value(run, "us"), value(run, "peak"));
    const bool kept = bench::kept(wanted, figure);
    std::printf("   %8g %-5s %10.*f %s", wanted.figure, percent ? "%" : "us", percent ? 1 : 3,
                figure, kept ? "kept" : "MISSED");
    goals_ += 1;
    kept_ += kept;
  }
  static std::string name(const Run& run) { return run.run_name.function_name; }
  static double value(const Run& run, const char* counter) {
    return run.counters.at(counter).value;
  }

  int goals_ = 0, kept_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  medians reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return 0;
}
