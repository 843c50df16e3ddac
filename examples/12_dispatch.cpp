// SPDX-License-Identifier: BSL-1.0
// One program for every x86-64: the same attention compiled for SSE2, AVX2 and AVX-512
// (12_dispatch_attend.cpp); the program picks the best one for the processor when it starts. See
// docs/dispatch.md for what such files may pass to each other.
#include "12_dispatch.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace encoder;

struct choice {
  const char* name;
  bool here;   // does the processor have the file's instruction set?
  bool fused;  // which of the two sets of bits (docs/numerics.md)
  decltype(&sse2::attend) attend;
};

template <class X>
static void fill(X& values, float scale) {
  std::size_t i = 0;
  for (float& e : values) e = scale * std::sin(static_cast<float>(i * i % 1009)), ++i;
}

int main() {
  __builtin_cpu_init();
  const auto has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const auto has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512cd") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  const choice choices[] = {{"AVX-512", has_avx512, true, avx512::attend},
                            {"AVX2", has_avx2, true, avx2::attend},
                            {"SSE2", true, false, sse2::attend}};

  // Made here, used by all.
  static attention::weights w;
  static tokens x, out, fastest;
  for (auto* map : {&w.q, &w.k, &w.v, &w.o}) fill(map->weight, 0.2f), fill(map->bias, 0.1f);
  fill(x, 1);
  const lengths lens{32, 20};
  const mask seen = lens & causal;

  const choice* best = nullptr;
  bool agree = true;
  for (const choice& c : choices) {
    if (!c.here) {
      std::printf("%-8s not on this processor\n", c.name);
      continue;
    }
    c.attend(w, x, seen, best == nullptr ? fastest : out);
    if (best == nullptr) {
      best = &c;
      std::printf("%-8s chosen\n", c.name);
      continue;
    }
    float largest = 0;
    for (std::size_t i = 0; i < 2 * 32 * 64; ++i)
      largest = std::fmax(largest, std::fabs(out.data()[i] - fastest.data()[i]));
    const bool same = std::memcmp(out.data(), fastest.data(), sizeof out) == 0;
    // With fused multiply-adds: the same bits. Without: every sum is rounded a little more often.
    agree = agree && (c.fused == best->fused ? same : largest < 1e-5f);
    std::printf("%-8s %s, largest difference %g\n", c.name, same ? "the same bits" : "other bits",
                static_cast<double>(largest));
  }
  return agree ? 0 : 1;
}
