// SPDX-License-Identifier: BSL-1.0
// A peer may compute the same thing in several ways; the fastest counts. A way is called with how
// many times to do it, so that the loop is inside and a call costs nothing; once, it is a part of
// something bigger.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "../core.hpp"

namespace race {

using softmax_call = std::function<void(long times, const float* x, float* y)>;
using linear_call = std::function<void(long times, const float* x, float* y)>;
using contract_call = std::function<void(long times, const float* x, const float* y, float* out)>;
using attention_call =
    std::function<void(long times, const float* q, const float* k, const float* v, float* o)>;
using layer_call = std::function<void(long times, const float* x, const float* z, float* y)>;

template <class Call>
struct way {
  std::string name;
  Call run;
};
template <class Call>
using ways = std::vector<way<Call>>;

// f, in a loop that the optimiser may not look through.
template <class F>
auto repeated(F f) {
  return [f = std::move(f)](long times, auto... pointers) {
    for (; times > 0; --times) {
      f(pointers...);
      __asm__ volatile("" : : : "memory");
    }
  };
}

// Aligned, zeros; shared by the copies of a way.
using memory = std::shared_ptr<float[]>;
inline memory allocate(std::size_t count) {
  const std::size_t bytes = (count * sizeof(float) + 127) / 64 * 64;
  auto* const floats = static_cast<float*>(std::aligned_alloc(64, bytes));
  if (floats == nullptr) throw std::bad_alloc();
  std::fill_n(floats, bytes / sizeof(float), 0.0f);
  return memory(floats, std::free);
}

// In [-scale, scale).
inline memory numbers(std::size_t count, float scale) {
  struct {
    float *first, *last;
    float* begin() const { return first; }
    float* end() const { return last; }
  } range;
  memory result = allocate(count);
  range.first = result.get(), range.last = result.get() + count;
  bench::fill(range, scale);
  return result;
}

// Seconds a call: the median of `batches` batches that last `least` seconds each; taken again, at
// most three times, when the median is far from the best, for then something disturbed it.
template <class Call, class... Pointers>
double seconds(const Call& call, int batches, double least, Pointers... pointers) {
  const auto time = [&](long times) {
    const double start = bench::thread_seconds();
    call(times, pointers...);
    return bench::thread_seconds() - start;
  };
  time(1);
  long times = 1;
  for (double once = time(times); once < least; once = time(times)) {
    const double factor = std::clamp(1.2 * least / std::max(once, 1e-9), 1.5, 10.0);
    times = static_cast<long>(static_cast<double>(times) * factor) + 1;
  }
  double median = 1e9;
  std::vector<double> taken(static_cast<std::size_t>(batches));
  for (int round = 0; round < 3; ++round) {
    for (double& one : taken) one = time(times) / static_cast<double>(times);
    std::sort(taken.begin(), taken.end());
    median = std::min(median, taken[taken.size() / 2]);
    if (median < 1.03 * taken[0]) break;
  }
  return median;
}

// Of ways to do the same thing, with these arguments, which are written to.
template <class Call, class... Pointers>
way<Call> fastest(const ways<Call>& all, Pointers... pointers) {
  if (all.size() == 1) return all[0];
  double best = 1e9;
  const way<Call>* found = nullptr;
  for (const way<Call>& one : all) {
    const double taken = seconds(one.run, 9, 1e-4, pointers...);
    if (std::getenv("RACE_VERBOSE") != nullptr) {
      std::fprintf(stderr, "    %10.3f us  %s\n", taken * 1e6, one.name.c_str());
    }
    if (taken < best) best = taken, found = &one;
  }
  return *found;
}

}  // namespace race
