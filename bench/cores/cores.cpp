// SPDX-License-Identifier: BSL-1.0
// Whole layers on one core and on several: wall time (thread CPU time would count every core's),
// the least of many calls, which take turns so that both see the same machine. tools/bench cores
// runs it; the load average says whether the cores were free.
#include <umbel/umbel.hpp>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "../../examples/thread_pool.hpp"
#include "../core.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

double seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Seconds of one of `calls` calls.
template <class F>
double timed(int calls, F f) {
  const double start = seconds();
  for (int i = 0; i < calls; ++i) f();
  return (seconds() - start) / calls;
}

template <std::size_t Workers, std::size_t Batch, std::size_t Tokens, std::size_t Hidden,
          std::size_t Heads, class Mask = decltype(all_keys)>
void row(const char* name, const Mask& mask = {}) {
  if (std::thread::hardware_concurrency() < Workers) return;
  using attention = multi_head_attention<float, hidden<Hidden>, heads<Heads>, bias<true>>;
  using sequences = tensor<float, batch<Batch>, query<Tokens>, hidden<Hidden>>;
  static typename attention::weights weights;
  const float scale = 1.7f * umbel::detail::simd::rsqrt(static_cast<float>(Hidden));
  for (auto* map : {&weights.q, &weights.k, &weights.v, &weights.o}) {
    bench::fill(map->weight, scale);
    bench::fill(map->bias, 0.1f);
  }
  static const prepacked<attention> attend{weights};
  static sequences x, y;
  static typename attention::template workspace<query<Tokens>> work[Workers];
  static thread_pool<Workers> pool;
  bench::fill(x, 1);

  const auto one = [&] { attend.into(y, x, mask, work[0]); };
  const auto many = [&] { attend.into(y, x, mask, parallel(pool, work)); };
  one(), many();
  const int calls = static_cast<int>(2e-3 / timed(1, one)) + 1;
  double best_of_one = 1, best_of_many = 1;
  for (const double end = seconds() + 3; seconds() < end;) {
    const double a = timed(calls, one), b = timed(calls, many);
    best_of_one = a < best_of_one ? a : best_of_one;
    best_of_many = b < best_of_many ? b : best_of_many;
  }
  std::printf("%-20s %8zu %12.1f %12.1f %8.2f\n", name, Workers, best_of_one * 1e6,
              best_of_many * 1e6, best_of_one / best_of_many);
  std::fflush(stdout);
}

// batch, tokens, hidden, heads
template <std::size_t Workers>
void rows() {
  row<Workers, 1, 512, 512, 8>("1,512,512,8");
  row<Workers, 1, 128, 256, 8>("E 1,128,256,8");
  row<Workers, 1, 197, 192, 3>("G 1,197,192,3");
  row<Workers, 8, 128, 256, 8>("H 8,128,256,8");
  row<Workers, 1, 32, 64, 8>("C 1,32,64,8");
  // Short calls: of different lengths, and of one.
  const tensor<int, batch<8>> lens{16, 32, 48, 64, 80, 96, 112, 128};
  row<Workers, 8, 128, 256, 8>("H, 16 to 128 rows", valid_rows(lens));
  row<Workers, 1, 128, 256, 8>("E, 64 rows", valid_rows(64));
}

}  // namespace

int main() {
  double load = 0;
  (void)getloadavg(&load, 1);
  std::printf("%u cores, load average before %.2f\n", std::thread::hardware_concurrency(), load);
  std::printf("%-20s %8s %12s %12s %8s\n", "", "workers", "us, one", "us, workers", "ratio");
  rows<2>();
  rows<4>();
  return 0;
}
