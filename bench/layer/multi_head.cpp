// SPDX-License-Identifier: BSL-1.0
// The whole layer: three projections with bias, attention head by head, one more projection; packed
// weights, scratch in a workspace. 2 hidden^2 (2 queries + 2 keys) + 4 queries keys hidden
// operations a sequence; with some of the heads pruned, their share of it.
#include <umbel/umbel.hpp>

#include "../measure.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

template <std::size_t Hidden, std::size_t Heads>
struct layer {
  using attention = multi_head_attention<float, hidden<Hidden>, heads<Heads>, bias<true>>;
  static const typename attention::weights& natural() {
    static const typename attention::weights weights = [] {
      static typename attention::weights w;
      const float scale = 1.7f * umbel::detail::simd::rsqrt(static_cast<float>(Hidden));
      for (auto* map : {&w.q, &w.k, &w.v, &w.o}) {
        bench::fill(map->weight, scale);
        bench::fill(map->bias, 0.1f);
      }
      return w;
    }();
    return weights;
  }
  static const prepacked<attention>& packed() {
    static const prepacked<attention> layer{natural()};
    return layer;
  }
};

constexpr double flops(double batch, double queries, double keys, double hidden) {
  return batch * (2 * hidden * hidden * (2 * queries + 2 * keys) + 4 * queries * keys * hidden);
}

template <std::size_t Batch, std::size_t Tokens, std::size_t Hidden, std::size_t Heads>
void add_self(const char* name) {
  using attention = typename layer<Hidden, Heads>::attention;
  static tensor<float, batch<Batch>, query<Tokens>, hidden<Hidden>> x, y;
  static typename attention::template workspace<query<Tokens>> work;
  static const auto& attend = layer<Hidden, Heads>::packed();
  bench::fill(x, 1);
  bench::add_row(name, flops(Batch, Tokens, Tokens, Hidden),
                 [] { attend.into(y, x, all_keys, work); });
}

template <std::size_t Batch, std::size_t Queries, std::size_t Keys, std::size_t Hidden,
          std::size_t Heads>
void add_cross(const char* name) {
  using attention = typename layer<Hidden, Heads>::attention;
  static tensor<float, batch<Batch>, query<Queries>, hidden<Hidden>> x, y;
  static tensor<float, batch<Batch>, key<Keys>, hidden<Hidden>> z;
  static typename attention::template workspace<query<Queries>, key<Keys>> work;
  static const auto& attend = layer<Hidden, Heads>::packed();
  bench::fill(x, 1);
  bench::fill(z, 1);
  bench::add_row(name, flops(Batch, Queries, Keys, Hidden),
                 [] { attend.into(y, x, z, z, all_keys, work); });
}

// Some of the heads pruned: time goes with them, because they are not computed.
template <std::size_t Tokens, std::size_t Hidden, std::size_t Heads, std::size_t... Kept>
void add_pruned(const char* name) {
  using whole = layer<Hidden, Heads>;
  using selection = keep_heads<Kept...>;
  using attention = pruned<typename whole::attention, selection>;
  static const auto weights =
      pruned_weights<typename whole::attention, selection>(whole::natural());
  static const prepacked<attention> attend{weights};
  static tensor<float, query<Tokens>, hidden<Hidden>> x, y;
  static typename attention::template workspace<query<Tokens>> work;
  bench::fill(x, 1);
  bench::add_row(name, flops(1, Tokens, Tokens, Hidden) * sizeof...(Kept) / Heads,
                 [] { attend.into(y, x, all_keys, work); });
}

// batch, tokens, hidden, heads
const bool added = [] {
  add_self<1, 16, 32, 2>("mha/A 1,16,32,2");
  add_cross<2, 4, 6, 100, 5>("mha/B 2,4 to 6,100,5");
  add_self<1, 32, 64, 8>("mha/C 1,32,64,8");
  add_self<1, 64, 64, 4>("mha/D 1,64,64,4");
  add_self<1, 128, 256, 8>("mha/E 1,128,256,8");
  add_pruned<128, 256, 8, 1, 3, 4, 6>("mha/E 1,128,256,8, 4 heads kept");
  add_pruned<128, 256, 8, 2, 5>("mha/E 1,128,256,8, 2 heads kept");
  add_self<1, 128, 384, 12>("mha/F 1,128,384,12");
  add_self<1, 197, 192, 3>("mha/G 1,197,192,3");
  add_self<8, 128, 256, 8>("mha/H 8,128,256,8");
  return true;
}();

}  // namespace
