// SPDX-License-Identifier: BSL-1.0
// Encoder layers whose heads and networks lie over ranks have the bits of the whole layer, on every
// rank. Run by 1, 2, 3, 4 and 8 ranks.
#include <umbel/weights.hpp>

#include <cstring>

#include "../support/random.hpp"
#include "counted.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <class T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// torch's form; and LLaMA's, with heads of keys shared, in double.
using plain_layer = encoder_layer<float, hidden<48>, heads<24>, intermediate<72>, norm_first<false>,
                                  activation<gelu_exact>, bias<true>>;
using gated_layer =
    encoder_layer<double, hidden<48>, heads<48>, intermediate<24>, norm_first<true>,
                  norm_by<rms_norm>, norm_epsilon<1, 1'000'000>, gated<true>, activation<silu>,
                  bias<false>, kv_heads<24>, head_dim<2>, rope<adjacent_pairs>, softcap<20>>;

template <class Layer, std::size_t Ranks>
void check_layer(const communicator<ranks<Ranks>>& world, lcg& next) {
  using T = typename Layer::value_type;
  using share = sharded<Layer, over<heads, ranks<Ranks>>>;
  using tokens = tensor<T, batch<2>, token<11>, hidden<48>>;
  static typename Layer::weights w;
  for_each_parameter(w, [&](const parameter_path&, const auto& x) {
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<T>(next()) / 4;
  });
  static typename share::weights own;
  static_assert(Ranks == 1 || sizeof own < sizeof w);
  cut_weights<share>(w, world.rank(), own);
  static const auto x = drawn<tokens>(next, 2);
  static tokens a, b;
  static typename Layer::template workspace<token<11>> whole;
  static typename share::template workspace<token<11>> work;
  // Contexts and results of attention, or of the network, which come one after the other.
  check("the page has the bytes that messages lie in",
        std::strstr(describe<share, token<11>>(),
                    sizeof(T) == 4
                        ? "bytes of memory for it                      5,280\n"
                        : "bytes of memory for it                     12,672\n") != nullptr);
  const auto on = across(world, work);
  const Layer one{w};
  const share all{own};
  const auto is_same = [&](const auto& mask) {
    one.into(a, x, mask, whole);
    all.into(b, x, mask, on);
    return same(a, b);
  };
  const gathered before = so_far;
  check("an encoder layer, all keys", is_same(all_keys) && a(1, 5, 7) == a(1, 5, 7));
  check("what it exchanges is what the type says",
        as_said(before, exchange_of<share, batch<2>, token<11>>, Ranks));
  static tensor<bool, heads<Layer::attention::sizes.heads>, query<11>, key<11>> flags{};
  for (bool& f : flags) f = next() > -0.5f;
  const tensor<int, batch<2>> lens{7, 0};
  check("masks by head", is_same(lens & keep_mask(flags) & causal & dropout(0.25, 9)));
  static prepacked<share> packed;
  packed.pack(own);
  one.into(a, x, causal, whole);
  b = x;
  packed.into(b, b, causal, on);
  check("packed, in place", same(a, b));
  check("by value", same(all(x, causal, on), a));
  const bool counts = fashion::heap::counter_works();
  {
    const counting now;
    all.into(b, x, causal, on);
  }
  check("nothing is allocated", counts && fashion::heap::so_far().allocations == 0);
}

template <std::size_t Ranks>
void check_all() {
  const communicator<ranks<Ranks>> world{MPI_COMM_WORLD};
  check("as many ranks as the type says", world.has_value());
  if (!world) return;
  lcg next{7};
  check_layer<plain_layer>(world, next);
  if constexpr (Ranks == 3 || Ranks == 4) check_layer<gated_layer>(world, next);
}

}  // namespace

int main(int count, char** words) {
  by_ranks<1, 2, 3, 4, 8>(count, words, [](auto ranks) { check_all<ranks>(); });
}
