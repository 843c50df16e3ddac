// SPDX-License-Identifier: BSL-1.0
// What the core gives for what kernels are made of, besides multiply-adds: exponentials of 2,048
// numbers in the first-level cache, and reading weights once, as one row by a matrix does
// (docs/speed.md). As many operations as numbers, or two for each that is read.
//
// "chain/...": elementwise formulas, beside their floor, "floor/read 2, write 1 of ...": a loop
// that only reads their two tensors and writes the third, from the cache that these lie in, and
// where this is longer, their arithmetic: "floor/silu, multiply of 8 KiB".
#include <umbel/umbel.hpp>

#include "../measure.hpp"

namespace {

namespace kernel = umbel::detail::kernel;
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

UMBEL_NOINLINE void read_and_write(const float* x, const float* y, float* z, std::size_t count) {
  UMBEL_UNROLL(4)
  for (std::size_t i = 0; i < count; i += lanes)
    simd::store(z + i, simd::load<V>(x + i) + simd::load<V>(y + i));
}

template <std::size_t N>
struct row : umbel::axis<row, N> {};
template <std::size_t N>
struct column : umbel::axis<column, N> {};

// Tensors of so many KiB each.
template <std::size_t KiB>
void add_chains() {
  using namespace umbel;
  using numbers = tensor<float, row<KiB>, column<256>>;
  alignas(64) static numbers x, y, z;
  bench::fill(x, 1);
  bench::fill(y, 1);
  const std::string of = " of " + std::to_string(KiB) + " KiB";
  constexpr double count = KiB * 256.0;
  bench::add_row("floor/read 2, write 1" + of, count,
                 [] { read_and_write(x.data(), y.data(), z.data(), KiB * 256); });
  static constexpr formula residual = [](auto a, auto b) { return a * 0.5f + b; };
  bench::add_row("chain/scale, add" + of, count, [] { residual.into(z, x, y); });
  static constexpr formula clipped = [](auto a, auto b) {
    return where(a > 0.0f, minimum(a * b, 6.0f), a * 0.1f) + b * 0.5f - 1;
  };
  bench::add_row("chain/six operations" + of, count, [] { clipped.into(z, x, y); });
  static constexpr formula gated = [](auto a, auto b) { return silu(a) * b; };
  bench::add_row("chain/silu, multiply" + of, count, [] { gated.into(z, x, y); });
}

const bool added = [] {
  alignas(64) static float x[2048], y[2048];
  for (std::size_t i = 0; i < 2048; ++i) x[i] = -static_cast<float>(i % 1000) / 100;
  bench::add_row("floor/exp2 of 2048", 2048,
                 [] { for_each(x, y, [](V v) { return simd::exp2_not_positive(v); }); });
  bench::add_row("floor/exp of 2048", 2048,
                 [] { for_each(x, y, [](V v) { return simd::exp_not_positive(v); }); });
  bench::add_row("floor/silu, multiply of 8 KiB", 2048,
                 [] { for_each(x, y, [](V v) { return kernel::plain::silu_of(v) * v; }); });
  bench::add_row("floor/scale 2048", 2048, [] { for_each(x, y, [](V v) { return v * 3; }); });
  add_read<240, false>();  // weights, keys and values of a step of the LLaMA block
  add_read<256, false>();
  add_read<576, false>();
  add_read<2048, false>();
  add_read<2048, true>();
  add_chains<8>();  // three of them in the first-level cache, the second, the third
  add_chains<128>();
  add_chains<2048>();
  return true;
}();

}  // namespace
