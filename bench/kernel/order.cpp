// SPDX-License-Identifier: BSL-1.0
// What the fixed order of sums costs where it costs most (docs/numerics.md): few outputs, each a
// chain of its own that waits for itself. The same work with each output as more chains, which the
// library does not do.
#include <umbel/config.hpp>
#include <umbel/plan/target.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/pack.hpp>

#include "../measure.hpp"

namespace {

namespace simd = umbel::detail::simd;
constexpr std::size_t lanes = umbel::detail::plan::lanes<float>(umbel::detail::plan::native_target);
using V = simd::pack<float, lanes>;

// y = x W, 64 inputs and four vectors of outputs.
template <std::size_t Chains>
UMBEL_NOINLINE void row_by_matrix(const float* x, const float* w, float* y) {
  V sum[Chains][4]{};
  for (std::size_t k = 0; k < 64; k += Chains) {
    UMBEL_UNROLL(8)
    for (std::size_t c = 0; c < Chains; ++c) {
      const V value = simd::broadcast<V>(x[k + c]);
      UMBEL_UNROLL(4)
      for (std::size_t v = 0; v < 4; ++v)
        sum[c][v] = simd::fma(value, simd::load<V>(w + ((k + c) * 4 + v) * lanes), sum[c][v]);
    }
  }
  UMBEL_UNROLL(4)
  for (std::size_t v = 0; v < 4; ++v) {
    UMBEL_UNROLL(8)
    for (std::size_t c = 1; c < Chains; ++c) sum[0][v] = sum[0][v] + sum[c][v];
    simd::store(y + v * lanes, sum[0][v]);
  }
}

// The weights of one query.
template <std::size_t Chains>
UMBEL_NOINLINE float sum_of(const float* x, std::size_t count) {
  float sum[Chains]{};
  for (std::size_t j = 0; j < count; j += Chains) {
    UMBEL_UNROLL(8)
    for (std::size_t c = 0; c < Chains; ++c) sum[c] += x[j + c];
  }
  for (std::size_t c = 1; c < Chains; ++c) sum[0] += sum[c];
  return sum[0];
}

template <std::size_t Chains>
void add(const char* chains) {
  alignas(64) static float x[512], w[64 * 4 * lanes], y[4 * lanes];
  bench::fill(x, 1);
  bench::fill(w, 0.1f);
  bench::add_row(std::string("order/1x64x") + std::to_string(4 * lanes) + chains,
                 2.0 * 64 * 4 * lanes, [] { row_by_matrix<Chains>(x, w, y); });
  bench::add_row(std::string("order/sum of 512") + chains, 512,
                 [] { y[0] = sum_of<Chains>(x, 512); });
}

const bool added = [] {
  add<1>(", one chain");
  add<2>(", two chains");
  add<4>(", four chains");
  return true;
}();

}  // namespace
