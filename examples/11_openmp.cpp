// SPDX-License-Identifier: BSL-1.0
// OpenMP's threads as an executor: this is all it takes.
#include <omp.h>
#include <umbel/umbel.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace umbel;
using namespace umbel::axes;

template <std::size_t Workers>
struct openmp {
  static constexpr std::size_t workers = Workers;
  template <class Piece>
  void operator()(std::size_t count, const Piece& piece) const noexcept {
#pragma omp parallel for schedule(dynamic) num_threads(static_cast<int>(Workers))
    for (std::size_t index = 0; index < count; ++index)
      piece(index, static_cast<std::size_t>(omp_get_thread_num()));
  }
};

using attention = multi_head_attention<float, hidden<64>, heads<4>>;
using tokens = tensor<float, batch<3>, token<100>, hidden<64>>;

static attention::weights w;
static tokens x, by_one, by_two;
static attention::workspace<token<100>> work[2];
static constexpr openmp<2> executor;

int main() {
  std::size_t i = 0;
  for (float& e : x) e = std::sin(static_cast<float>(i * i % 1009)), ++i;
  for (auto* map : {&w.q, &w.k, &w.v, &w.o})
    for (float& e : map->weight) e = 0.2f * std::sin(static_cast<float>(++i % 997));

  attention{w}.into(by_one, x, causal, work[0]);
  attention{w}.into(by_two, x, causal, parallel(executor, work));
  const bool same = std::memcmp(by_one.data(), by_two.data(), sizeof by_one) == 0;
  std::printf("one core and two: %s bits\n", same ? "the same" : "other");
  return same ? 0 : 1;
}
