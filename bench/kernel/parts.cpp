// SPDX-License-Identifier: BSL-1.0
// Parts of attention by themselves, for every block of queries of every head: heads, tokens,
// head_dim. An operation of scores and context is a multiplication or an addition, else an element.
#include <umbel/kernel/float/attend.hpp>

#include "../measure.hpp"

namespace {

namespace kernel = umbel::detail::kernel;

template <std::size_t Heads, std::size_t Tokens, std::size_t Dims>
struct attention {
  static constexpr kernel::attend_shape shape = {Tokens, Tokens, Dims, Dims, Dims, 1,     Dims,
                                                 1,      Dims,   1,    Dims, 1,    Tokens};
  static constexpr auto target = umbel::detail::plan::native_target;
  static constexpr std::size_t vectors =
      umbel::detail::plan::plan_attend<float>(Tokens, Tokens, target).queries.large;
  using block = kernel::detail::attend_block<shape, float, target, vectors, true>;
  using V = typename block::V;
  static constexpr std::size_t in_block = vectors * block::lanes;
  static_assert(Tokens % in_block == 0 && Tokens <= umbel::detail::plan::key_block);

  static constexpr typename block::room all{in_block, in_block};

  alignas(64) static inline float q[Heads * Tokens * Dims], k[Heads * Tokens * Dims];
  alignas(64) static inline float v[Heads * Tokens * Dims], o[Heads * Tokens * Dims];
  alignas(64) static inline float scratch[kernel::attend_scratch<shape, float>];

  // part(head's first element, first query's element, state, maximum) for every block of every
  // head.
  template <class Part>
  static void each(Part part) {
    typename block::softmax_state state{};
    V maximum[vectors];
    for (V& of : maximum) of = umbel::detail::simd::broadcast<V>(8.0f);
    for (std::size_t h = 0; h < Heads * Tokens * Dims; h += Tokens * Dims)
      for (std::size_t i = 0; i < Tokens * Dims; i += in_block * Dims)
        part(h, h + i, state, maximum);
    for (const V& kept : maximum) benchmark::DoNotOptimize(kept);
    benchmark::DoNotOptimize(o);
  }

  static void add() {
    bench::fill(q, 1.5f);
    bench::fill(k, 1.5f);
    bench::fill(v, 1);
    constexpr double products = 2.0 * Heads * Tokens * Tokens * Dims;
    const auto name = [](const char* part) {
      return bench::row_name("parts/", {Heads, Tokens, Dims}, ',') + ' ' + part;
    };
    bench::add_row(name("queries"), Heads * Tokens * Dims, [] {
      each([](std::size_t, std::size_t i, auto& state, auto&) {
        block::start(q + i, 0.2f, scratch, all, state);
        benchmark::ClobberMemory();
      });
    });
    bench::add_row(name("scores"), products, [] {
      each([](std::size_t h, std::size_t, auto&, auto& maximum) {
        block::template score_block<true, Tokens>(k + h, Tokens, scratch, maximum);
        benchmark::ClobberMemory();
      });
    });
    // Weights become scores again, 8 below the maximum: what they are does not change the time.
    bench::add_row(name("weights and context"), products, [] {
      each([](std::size_t h, std::size_t i, auto& state, auto& maximum) {
        block::finish_block(v + h, Tokens, maximum, true, true, state, o + i, scratch, all);
        benchmark::ClobberMemory();
      });
    });
    bench::add_row(name("context out"), Heads * Tokens * Dims, [] {
      each([](std::size_t, std::size_t i, auto&, auto&) {
        block::write(o + i, scratch, all);
        benchmark::ClobberMemory();
      });
    });
  }
};

const bool added = [] {
  attention<12, 128, 32>::add();
  return true;
}();

}  // namespace
