// SPDX-License-Identifier: BSL-1.0
// One call on several cores: pass an executor (thread_pool.hpp) and one workspace per worker
// instead of a single workspace. The bits are the same for any number of workers.
#include <umbel/umbel.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "thread_pool.hpp"

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<256>, heads<8>, rope<split_halves>>;
using tokens = tensor<float, token<256>, hidden<256>>;

static attention::weights w;
static tokens x, by_one, by_two;
static attention::workspace<token<256>> work[2];
static thread_pool<2> pool;  // threads start here, once

template <class X>
static void fill(X& values, float scale) {
  std::size_t i = 0;
  for (float& e : values) e = scale * std::sin(static_cast<float>(i * i % 1009)), ++i;
}

// The fastest of some calls, in microseconds.
template <class F>
static double time_of(F f) {
  using clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int i = 0; i < 20; ++i) {
    const auto start = clock::now();
    f();
    const double us = std::chrono::duration<double, std::micro>(clock::now() - start).count();
    best = us < best ? us : best;
  }
  return best;
}

int main() {
  fill(x, 1);
  for (auto* map : {&w.q, &w.k, &w.v, &w.o}) fill(map->weight, 0.1f);
  static const prepacked<attention> attend{w};

  const double one = time_of([] { attend.into(by_one, x, causal, work[0]); });
  const double two = time_of([] { attend.into(by_two, x, causal, parallel(pool, work)); });
  const bool same = std::memcmp(by_one.data(), by_two.data(), sizeof by_one) == 0;
  std::printf("one core: %.0f us, two: %.0f us; %s bits\n", one, two, same ? "the same" : "other");
  return same ? 0 : 1;
}
