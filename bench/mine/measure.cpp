// SPDX-License-Identifier: BSL-1.0
// tools/bench mine: times a subject; prints what it finds, one line each, name and value with a tab
// between them. --once: one call of each kind, to see that it runs.
#include <chrono>
#include <cstdio>
#include <cstring>

#include <sys/resource.h>
#include <unistd.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "../peers/ways.hpp"
#include "subject.hpp"

namespace {

using ranges = std::vector<mine::range>;

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

// What reading the clock takes.
double clock_seconds() {
  std::vector<double> times(101);
  for (double& time : times) {
    const double start = wall_seconds();
    time = wall_seconds() - start;
  }
  return median(times);
}

// ---- caches -------------------------------------------------------------------------------------

// Everything out of all caches, by reading and writing twice as much as the last one holds.
void wipe_caches() {
  static std::vector<unsigned char> memory = [] {
    long size = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
    size = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    return std::vector<unsigned char>(size > 0 ? static_cast<std::size_t>(2 * size) : 64u << 20);
  }();
  for (std::size_t i = 0; i < memory.size(); i += 64) ++memory[i];
  __asm__ volatile("" : : "r"(memory.data()) : "memory");
}

#if defined(__SSE2__)
void evict(const ranges& all) {
  for (const mine::range& one : all)
    for (std::size_t i = 0; i < one.bytes; i += 64)
      _mm_clflush(static_cast<const char*>(one.first) + i);
  _mm_mfence();
}
constexpr bool evicts_ranges = true;
#else
void evict(const ranges&) { wipe_caches(); }
constexpr bool evicts_ranges = false;
#endif

// All of it once, as fast as a loop can: by vectors, four places at a time.
void read(const ranges& all) {
  typedef float vector __attribute__((vector_size(64), aligned(1), may_alias));
  vector sums[4] = {};
  for (const mine::range& one : all) {
    const char* const first = static_cast<const char*>(one.first);
    const std::size_t quarter = (one.bytes / 4 + 63) / 64 * 64;
    for (std::size_t i = 0; i < quarter; i += 64)
      for (std::size_t place = 0; place < 4; ++place)
        if (place * quarter + i + 64 <= one.bytes)
          sums[place] += *reinterpret_cast<const vector*>(first + place * quarter + i);
  }
  __asm__ volatile("" : : "m"(sums));
}

// The median of f, each time after the ranges, or everything where there are none, left the caches.
template <class F>
double cold(const ranges& all, std::size_t times, F f) {
  const bool everything = all.empty() || !evicts_ranges;
  const double clock = clock_seconds();
  std::vector<double> taken(everything ? (times + 4) / 5 : times);
  for (double& one : taken) {
    everything ? wipe_caches() : evict(all);
    const double start = wall_seconds();
    f();
    one = std::max(0.0, wall_seconds() - start - clock);
  }
  return median(taken);
}

// ---- calls --------------------------------------------------------------------------------------

// How often the system has taken the core away from this program to run another.
double preemptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_nivcsw);
}

// The time that all but one of a thousand calls keep, each call timed alone.
double slowest(void (*call)(), std::size_t times) {
  const double clock = clock_seconds();
  std::vector<double> taken(times);
  for (double& one : taken) {
    const double start = wall_seconds();
    call();
    one = wall_seconds() - start - clock;
  }
  std::sort(taken.begin(), taken.end());
  return std::max(0.0, taken[times - 1 - times / 1000]);
}

void print(const char* name, double value) { std::printf("%s\t%.10g\n", name, value); }

}  // namespace

int main(int argc, char** argv) {
  const bool once = argc > 1 && std::strcmp(argv[1], "--once") == 0;
  const mine::subject subject = mine::get();
  subject.call();
  double before = 0, warm = 0, after = 0;
  for (int attempt = 0; attempt < (once ? 1 : 5); ++attempt) {  // again when the clock changed
    before = bench::fma_peak();
    warm = race::seconds(race::repeated([&] { subject.call(); }), once ? 1 : 51, once ? 0 : 5e-4);
    after = bench::fma_peak();
    if (std::max(before, after) < 1.02 * std::min(before, after)) break;
  }
  const double peak = (before + after) / 2;
  const auto calls = static_cast<std::size_t>(std::clamp(2 / warm, 1000.0, 100'000.0));
  ranges all = subject.inputs;
  all.insert(all.end(), subject.others.begin(), subject.others.end());
  const std::size_t cold_calls = once ? 1 : 101;

  print("warm", warm * 1e6);
  print("peak", peak);
  if (subject.flops > 0) print("percent", subject.flops / warm * 1e-7 / peak);
  const double preempted = preemptions();
  print("slowest", slowest(subject.call, once ? 1 : calls) * 1e6);
  print("calls", static_cast<double>(once ? 1 : calls));
  print("preempted", preemptions() - preempted);
  print("cold", cold(all, cold_calls, subject.call) * 1e6);
  if (!all.empty()) {
    print("read", cold(all, cold_calls, [&] { read(subject.inputs); }) * 1e6);
    double bytes = 0;
    for (const mine::range& one : subject.inputs) bytes += static_cast<double>(one.bytes);
    print("inputs", bytes);
    print("workspace", static_cast<double>(subject.workspace));
  }
  if (!subject.layer.empty()) std::printf("layer\t%s\n", subject.layer.c_str());
  if (!subject.plan.empty()) std::printf("plan\t\n%s", subject.plan.c_str());
  return 0;
}
