// SPDX-License-Identifier: BSL-1.0
// Times on one thread: each call's duration, and statistics to report.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace fashion {

using clock = std::chrono::steady_clock;

inline double microseconds(clock::duration time) {
  return std::chrono::duration<double, std::micro>{time}.count();
}

struct latency_summary {
  double p50, p99, p999, max;  // microseconds
  std::size_t calls;
};

// The nearest-rank percentile: the smallest time that at least `share` of the calls did not exceed.
inline double percentile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

// Times `call(0)`, `call(1)`, ... separately, into the caller's `times`: nothing is allocated here.
template <class Call>
void time_each(std::vector<double>& times, Call&& call) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto begin = clock::now();
    call(i);
    times[i] = microseconds(clock::now() - begin);
  }
}

inline latency_summary summarise(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {percentile(times, 0.5), percentile(times, 0.99), percentile(times, 0.999), times.back(),
          times.size()};
}

// Keeps this thread on its core: a move costs cold caches. Returns the core, or -1 if the system
// doesn't allow it.
inline int pin_to_current_core() {
#if defined(__linux__)
  const int core = sched_getcpu();
  if (core < 0 || core >= CPU_SETSIZE) return -1;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<std::size_t>(core), &only);
  return sched_setaffinity(0, sizeof only, &only) == 0 ? core : -1;
#else
  return -1;
#endif
}

}  // namespace fashion
