// SPDX-License-Identifier: BSL-1.0
// How cost grows: attention and the whole layer along one size at a time, each point beside the
// model of what a core could do at best, and the bytes of scratch, which are constants. One line a
// point, fields between tabs (scaling/run.py draws them):
//
//   curve  size  us  us of the model at the same clock  bytes of scratch  bytes of all scores
#include <umbel/umbel.hpp>

#include <cstdio>

#include "../peers/ways.hpp"

namespace {

using namespace umbel::axes;

constexpr double lanes =
    static_cast<double>(umbel::detail::plan::lanes<float>(umbel::detail::plan::native_target));
constexpr double flops_a_cycle = 4 * lanes;  // two multiply-adds of whole vectors

constexpr double padded(double n) {
  const auto vectors = static_cast<long>((n + lanes - 1) / lanes);
  return static_cast<double>(vectors) * lanes;
}

// Cycles at best: multiply-adds on queries padded to whole vectors; a vector of exponentials
// takes 3.2 cycles that the multiply-adds cannot hide, loading, storing and the maximum 0.75;
// queries and context are transposed, 90 cycles for 32 x 32. (Measured one by one on a core with
// two 512-bit units.)
constexpr double attention_cycles(double heads, double queries, double keys, double head_dim) {
  const double rows = padded(queries), pairs = rows * keys;
  return heads * (4 * pairs * head_dim / flops_a_cycle + (3.2 + 0.75) * pairs / lanes +
                  2 * rows * head_dim * 90 / 1024);
}
constexpr double projection_cycles(double rows, double hidden) {
  return 8 * rows * hidden * padded(hidden) / flops_a_cycle;
}

template <class F>
void point(const char* curve, std::size_t size, double cycles, std::size_t scratch,
           std::size_t scores, F f) {
  const auto call = race::repeated(f);
  const double before = bench::fma_peak();
  const double taken = race::seconds(call, 15, 5e-4);
  const double peak = (before + bench::fma_peak()) / 2;
  const double at_best = cycles / (peak / flops_a_cycle) * 1e-3;
  std::printf("%s\t%zu\t%.5g\t%.5g\t%zu\t%zu\n", curve, size, taken * 1e6, at_best,
              scratch * sizeof(float), scores * sizeof(float));
  std::fflush(stdout);
}

template <std::size_t Batch, std::size_t Heads, std::size_t Tokens, std::size_t Width>
void attention(const char* curve, std::size_t size) {
  namespace kernel = umbel::detail::kernel;
  static constexpr kernel::attend_shape shape = {Tokens, Tokens, Width, Width, Width, 1,     Width,
                                                 1,      Width,  1,     Width, 1,     Tokens};
  constexpr std::size_t heads = Batch * Heads, each = Tokens * Width;
  constexpr std::size_t scratch_size = kernel::attend_scratch<shape, float>;
  static const race::memory q = race::numbers(heads * each, 1.5f),
                            k = race::numbers(heads * each, 1.5f);
  static const race::memory v = race::numbers(heads * each, 1), o = race::allocate(heads * each);
  static const race::memory scratch = race::allocate(scratch_size);
  point(curve, size, attention_cycles(heads, Tokens, Tokens, Width), scratch_size, Tokens * Tokens,
        [] {
          const float scale = umbel::detail::simd::rsqrt(static_cast<float>(Width));
          for (std::size_t h = 0; h < heads; ++h) {
            kernel::attend<shape>(q.get() + h * each, k.get() + h * each, v.get() + h * each, scale,
                                  kernel::scores::every_key{}, o.get() + h * each, scratch.get());
          }
        });
}

template <std::size_t Tokens, std::size_t Hidden, std::size_t Heads>
void layer(const char* curve) {
  using attention =
      umbel::multi_head_attention<float, hidden<Hidden>, heads<Heads>, umbel::bias<true>>;
  using sequence = query<Tokens>;
  static umbel::tensor<float, sequence, hidden<Hidden>> x, y;
  static typename attention::weights w;
  static typename attention::template workspace<sequence> work;
  bench::fill(x, 1);
  for (auto* map : {&w.q, &w.k, &w.v, &w.o}) bench::fill(map->weight, 0.1f);
  static const umbel::prepacked<attention> attend{w};
  point(curve, Tokens,
        attention_cycles(Heads, Tokens, Tokens, 1.0 * Hidden / Heads) +
            projection_cycles(Tokens, Hidden),
        sizeof(work) / sizeof(float), Heads * Tokens * Tokens,
        [] { attend.into(y, x, umbel::all_keys, work); });
}

template <std::size_t... N>
struct sizes {};

template <std::size_t... N>
void tokens(sizes<N...>) {
  (attention<1, 4, N, 32>("tokens", N), ...);
}
template <std::size_t... N>
void batches(sizes<N...>) {
  (attention<N, 4, 64, 32>("batch", N), ...);
}
template <std::size_t... N>
void heads_of(sizes<N...>) {
  (attention<1, N, 64, 32>("heads", N), ...);
}
template <std::size_t... N>
void widths(sizes<N...>) {
  (attention<1, 4, 128, N>("head_dim", N), ...);
}
template <std::size_t... N>
void layers(sizes<N...>) {
  (layer<N, 256, 8>("layer"), ...);
}

}  // namespace

int main() {
  tokens(sizes<16, 32, 64, 128, 256, 512, 1024, 2048, 4096>{});
  batches(sizes<1, 2, 4, 8, 16, 32>{});
  heads_of(sizes<1, 2, 4, 8, 16, 32>{});
  widths(sizes<8, 16, 32, 64, 128>{});
  layers(sizes<16, 32, 64, 128, 256, 512, 1024, 2048, 4096>{});
  return 0;
}
