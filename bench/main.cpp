// SPDX-License-Identifier: BSL-1.0
// The main program of the benchmarks: one line a row, medians of the repetitions.
//   name   time   GFLOP/s   percent of the FMA peak measured beside it   that peak
// Google Benchmark's own options work (--benchmark_filter=mha, --benchmark_out=file).
#include <benchmark/benchmark.h>

#include <cstdio>

namespace {

class medians : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override {
    std::printf("%-36s %12s %10s %8s %10s\n", "", "us", "GFLOP/s", "% peak", "peak");
    return true;
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred) std::printf("%s: %s\n", name(run).c_str(), run.error_message.c_str());
      if (run.aggregate_name != "median") continue;
      std::printf("%-36s %12.3f %10.1f %8.1f %10.1f\n", name(run).c_str(), value(run, "us"),
                  value(run, "GFLOP/s"), value(run, "percent"), value(run, "peak"));
      std::fflush(stdout);
    }
  }

 private:
  static std::string name(const Run& run) { return run.run_name.function_name; }
  static double value(const Run& run, const char* counter) {
    return run.counters.at(counter).value;
  }
};

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  medians reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return 0;
}
