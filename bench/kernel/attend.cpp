// SPDX-License-Identifier: BSL-1.0
// Attention alone, softmax(q k^T / sqrt(head_dim)) v, on heads that lie one after another:
// batch,heads,queries,keys,head_dim. 4 batch heads queries keys head_dim operations; the softmax is
// not counted.
#include <umbel/kernel/attend.hpp>

#include "../measure.hpp"

namespace {

template <std::size_t Batch, std::size_t Heads, std::size_t Queries, std::size_t Keys,
          std::size_t HeadDim>
void add() {
  constexpr std::size_t sequences = Batch * Heads;
  static constexpr umbel::kernel::attend_shape shape = {
      Queries, Keys, HeadDim, HeadDim, HeadDim, 1, HeadDim, 1, HeadDim, 1, HeadDim, 1, Queries};
  alignas(64) static float q[sequences * Queries * HeadDim], k[sequences * Keys * HeadDim];
  alignas(64) static float v[sequences * Keys * HeadDim], o[sequences * Queries * HeadDim];
  alignas(64) static float scratch[umbel::kernel::attend_scratch<shape, float>];
  bench::fill(q, 1.5f);
  bench::fill(k, 1.5f);
  bench::fill(v, 1);
  const float scale = umbel::simd::rsqrt(static_cast<float>(HeadDim));
  const std::string name =
      bench::row_name("attend/", {Batch, Heads, Queries, Keys, HeadDim}, ',');
  bench::add_row(name, 4.0 * sequences * Queries * Keys * HeadDim, [scale] {
    for (std::size_t s = 0; s < sequences; ++s)
      umbel::kernel::attend_all<shape>(q + s * Queries * HeadDim, k + s * Keys * HeadDim,
                                       v + s * Keys * HeadDim, scale, o + s * Queries * HeadDim,
                                       scratch);
  });
}

const bool added = [] {
  add<1, 4, 16, 16, 8>();
  add<2, 5, 4, 6, 20>();
  add<1, 8, 32, 32, 8>();
  add<1, 4, 64, 64, 16>();
  add<1, 8, 128, 128, 32>();
  add<1, 12, 128, 128, 32>();
  add<1, 3, 197, 197, 64>();
  add<1, 8, 512, 512, 64>();
  return true;
}();

}  // namespace
