// SPDX-License-Identifier: BSL-1.0
// Blocks whose parts lie over ranks have the bits of the whole block, on every rank: ready-made
// ones, composed ones and stacks, by one law. Run by 1, 2, 3, 4 and 8 ranks.
#include <umbel/weights.hpp>

#include <cstdlib>
#include <cstring>

#include "../support/list_of_blocks.hpp"
#include "../support/random.hpp"
#include "counted.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel::block_parts;
using namespace umbel_test;

template <class T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// torch's form, for any number of ranks; and LLaMA's, with heads of keys shared, in double.
using plain_encoder = encoder_layer<float, hidden<48>, heads<24>, intermediate<72>,
                                    norm_first<false>, activation<gelu_exact>, bias<true>>;
using gated_encoder =
    encoder_layer<double, hidden<48>, heads<48>, intermediate<24>, norm_first<true>,
                  norm_by<rms_norm>, norm_epsilon<1, 1'000'000>, gated<true>, activation<silu>,
                  bias<false>, kv_heads<24>, head_dim<2>, rope<adjacent_pairs>, softcap<20>>;
// For 2 and 3 ranks.
using decoder_norm_last = decoder_layer<float, hidden<24>, heads<6>, intermediate<36>,
                                        norm_first<false>, activation<relu>, bias<true>>;
template <class Name>
using attend = self_attention<Name, heads<6>, kv_heads<6>, rope<split_halves>, bias<true>>;
template <class Name>
using network = feed_forward_network<Name, intermediate<36>, activation<silu>, bias<true>>;
using conformer = residual_block<
    float, hidden<24>, scaled<1, 2, pre_norm<name::norm1, network<name::feed_forward1>>>,
    pre_norm<name::norm2, attend<name::attention>>,
    pre_norm<name::norm3, linear_map<name::linear, bias<true>>>,
    scaled<1, 2, pre_norm<name::norm4, network<name::feed_forward2>>>, norm_only<name::final_norm>>;
// Parts without a sum write to the result; the linear map is the first that reads x.
using without_sums =
    residual_block<double, hidden<24>, no_residual<without_norm<linear_map<name::linear>>>,
                   post_norm<name::norm1, attend<name::attention>>,
                   no_residual<without_norm<network<name::feed_forward>>>>;

template <class Layer, bool Memory>
struct workspace_of_call_rule {
  using type = typename Layer::template workspace<token<11>>;
};
template <class Layer>
struct workspace_of_call_rule<Layer, true> {
  using type = typename Layer::template workspace<token<11>, key<7>>;
};
template <class Layer, bool Memory>
using workspace_of_call = typename workspace_of_call_rule<Layer, Memory>::type;
template <class Share, bool Memory, class Sequences>
constexpr exchange_cost exchanged() {
  if constexpr (Memory)
    return exchange_of<Share, Sequences, token<11>, key<7>>;
  else
    return exchange_of<Share, Sequences, token<11>>;
}

// A call; `mask` is of the sequence itself.
template <class Layer, class One, class X, class Memory, class Mask, class Where>
void call(const One& layer, X& out, const X& x, const Memory& memory, const Mask& mask,
          Where&& where) {
  tensor<int, batch<X::layout::template size_of<detail::rules::batch_family>>> lengths{};
  for (int& length : lengths) length = 3;
  if constexpr (has_memory<Layer>)
    layer.into(out, x, memory, lengths, self_mask(mask), where);
  else
    layer.into(out, x, mask, where);
}

// Heads: of the layer's attentions.
template <class Layer, std::size_t Heads, std::size_t Ranks>
void check_layer(const char* name, const communicator<ranks<Ranks>>& world, lcg& next) {
  using T = typename Layer::value_type;
  using share = sharded<Layer, over<heads, ranks<Ranks>>>;
  using features = typename Layer::hidden_axis;
  using sequences = batch<2 * Ranks>;
  using tokens = tensor<T, sequences, token<11>, features>;
  static typename Layer::weights w;
  for_each_parameter(w, [&](const parameter_path&, const auto& x) {
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<T>(next()) / 4;
  });
  static typename share::weights own;
  static_assert(Ranks == 1 || sizeof own < sizeof w);
  cut_weights<share>(w, world.rank(), own);
  static const auto x = drawn<tokens>(next, 2);
  static const auto memory = drawn<tensor<T, sequences, key<7>, features>>(next, 2);
  static tokens a, b;
  static workspace_of_call<Layer, has_memory<Layer>> whole;
  static workspace_of_call<share, has_memory<Layer>> work;
  const auto on = across(world, work);
  const Layer one{w};
  const share all{own};
  const auto check_of = [&](const char* what, bool holds) {
    char line[100];
    std::snprintf(line, sizeof line, "%s: %s", name, what);
    check(line, holds);
  };
  const auto is_same = [&](const auto& divided, const auto& mask) {
    call<Layer>(one, a, x, memory, mask, whole);
    call<Layer>(divided, b, x, memory, mask, on);
    return same(a, b) && a(1, 5, 7) == a(1, 5, 7);
  };
  const gathered before = so_far;
  check_of("all keys", is_same(all, all_keys));
  check_of("what it exchanges is what the type says",
           as_said(before, exchanged<share, has_memory<Layer>, sequences>(), Ranks));
  static tensor<bool, heads<Heads>, query<11>, key<11>> flags{};
  for (bool& f : flags) f = next() > -0.5f;
  tensor<int, sequences> lens{};
  for (int i = 0; i < static_cast<int>(lens.size()); ++i) lens(std::size_t(i)) = 7 - 7 * (i % 2);
  check_of("masks by head", is_same(all, lens & keep_mask(flags) & causal & dropout(0.25, 9)));
  static prepacked<share> packed;
  packed.pack(own);
  call<Layer>(one, a, x, memory, causal, whole);
  b = x;
  call<Layer>(packed, b, b, memory, causal, on);
  check_of("packed, in place", same(a, b));
  const bool counts = fashion::heap::counter_works();
  {
    const counting now;
    call<Layer>(all, b, x, memory, causal, on);
  }
  check_of("nothing is allocated", counts && fashion::heap::so_far().allocations == 0);
  if constexpr (Ranks == 2) {
    using by_sequences = sharded<Layer, over<batch, ranks<Ranks>>>;
    b = {};
    call<Layer>(by_sequences{w}, b, x, memory, causal, across(world, whole));
    check_of("sequences", same(a, b));
    static prepacked<by_sequences> packed_whole;
    packed_whole.pack(w);
    b = {};
    call<Layer>(packed_whole, b, x, memory, causal, across(world, whole));
    check_of("sequences, packed", same(a, b));
  }
}

void check_pages() {
  const auto has = [](const char* page, const char* text) {
    return std::strstr(page, text) != nullptr;
  };
  const char* const page = describe<sharded<plain_encoder, over<heads, ranks<2>>>, token<11>>();
  // Contexts and results of attention, or of the network, which come one after the other.
  check("the page of a block has the bytes that messages lie in",
        has(page, "bytes of memory for it                      5,280\n"));
  check("and the parts of a rank",
        has(page, "of 2 ranks, each: encoder_layer, 11 positions of 48, float, ") &&
            has(page, "\nattention: 11 queries to 11 keys, 12 heads of 2\n") &&
            has(page, "\n output       11 x    48 to    24 ") &&
            has(page, "\n up           11 x    48 to    36 ") &&
            has(page, "\n down         11 x    72 to    24 "));
  const char* const of_stack =
      describe<sharded<layer_stack<conformer, 3>, over<heads, ranks<2>>>, token<11>>();
  check("the page of a stack",
        has(of_stack, "of 2 ranks, each: layer_stack, 3 layers, each: ") &&
            has(of_stack, "\n map          11 x    24 to    12 ") &&
            has(of_stack, "calls of MPI                                   21"));
}

template <std::size_t Ranks>
void check_all() {
  const communicator<ranks<Ranks>> world{MPI_COMM_WORLD};
  check("as many ranks as the type says", world.has_value());
  if (!world) return;
  lcg next{7};
  check_layer<plain_encoder, 24>("an encoder layer, norm last", world, next);
  if constexpr (Ranks == 3 || Ranks == 4)
    check_layer<gated_encoder, 48>("an encoder layer, norm first", world, next);
  if constexpr (Ranks <= 3)
    check_layer<conformer, 6>("a Conformer block with a linear map", world, next);
  if constexpr (Ranks == 2 || Ranks == 3) {
    check_layer<decoder_norm_last, 6>("a decoder layer, norm last", world, next);
    check_layer<without_sums, 6>("a block without sums", world, next);
  }
  if constexpr (Ranks == 2) {
    for_each_block<float>([&]<class Layer>(const char* name) {
      const bool before = all_hold;
      check_layer<Layer, 4>(name, world, next);
      // For docs/uses.md (test/uses/table.py).
      if (std::getenv("UMBEL_USES") != nullptr && world.rank() == 0)
        for (const char* use : {"over ranks by heads", "over ranks by sequences"})
          std::printf("# use|%s|%s|%s\n", use, name, before == all_hold ? "works" : "fails");
    });
    check_pages();
  }
}

}  // namespace

int main(int count, char** words) {
  by_ranks<1, 2, 3, 4, 8>(count, words, [](auto ranks) { check_all<ranks>(); });
}
