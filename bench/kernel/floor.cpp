// SPDX-License-Identifier: BSL-1.0
// What the core gives for what kernels are made of, besides multiply-adds: exponentials of 2,048
// numbers in the first-level cache, and reading weights once, as one row by a matrix does
// (docs/speed.md). As many operations as numbers, or two for each that is read.
#include <umbel/config.hpp>
#include <umbel/plan/target.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/pack.hpp>

#include "../measure.hpp"

namespace {

namespace simd = umbel::detail::simd;
constexpr std::size_t lanes = umbel::detail::plan::lanes<float>(umbel::detail::plan::native_target);
using V = simd::pack<float, lanes>;

template <class F>
UMBEL_NOINLINE void for_each(const float* x, float* y, F f) {
  UMBEL_UNROLL(4)
  for (std::size_t i = 0; i < 2048; i += lanes) simd::store(y + i, f(simd::load<V>(x + i)));
}

// Eight sums, so that none is waited for.
UMBEL_NOINLINE void read(const float* x, std::size_t count, bool prefetched, float* y) {
  V sum[8]{};
  const V one = simd::broadcast<V>(y[0]);
  for (std::size_t i = 0; i < count; i += 8 * lanes) {
    UMBEL_UNROLL(8)
    for (std::size_t v = 0; v < 8; ++v) {
      if (prefetched && i + 1024 < count) __builtin_prefetch(x + i + v * lanes + 1024);
      sum[v] = simd::fma(one, simd::load<V>(x + i + v * lanes), sum[v]);
    }
  }
  UMBEL_UNROLL(8)
  for (std::size_t v = 1; v < 8; ++v) sum[0] = sum[0] + sum[v];
  simd::store(y, sum[0]);
}

template <std::size_t KiB, bool Prefetched>
void add_read() {
  static constexpr std::size_t count = KiB * 256;
  alignas(64) static float x[count], y[lanes];
  bench::fill(x, 1);
  bench::add_row("floor/read " + std::to_string(KiB) + " KiB" + (Prefetched ? ", prefetched" : ""),
                 2.0 * count, [] { read(x, count, Prefetched, y); });
}

const bool added = [] {
  alignas(64) static float x[2048], y[2048];
  for (std::size_t i = 0; i < 2048; ++i) x[i] = -static_cast<float>(i % 1000) / 100;
  bench::add_row("floor/exp2 of 2048", 2048,
                 [] { for_each(x, y, [](V v) { return simd::exp2_not_positive(v); }); });
  bench::add_row("floor/exp of 2048", 2048,
                 [] { for_each(x, y, [](V v) { return simd::exp_not_positive(v); }); });
  bench::add_row("floor/scale 2048", 2048, [] { for_each(x, y, [](V v) { return v * 3; }); });
  add_read<240, false>();  // weights, keys and values of a step of the LLaMA block
  add_read<256, false>();
  add_read<576, false>();
  add_read<2048, false>();
  add_read<2048, true>();
  return true;
}();

}  // namespace
