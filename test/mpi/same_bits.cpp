// SPDX-License-Identifier: BSL-1.0
// Layers over ranks have the bits of the whole layer, on every rank: whatever the number of ranks,
// the masks, sizes and forms of weights. Run by 1, 2, 3, 4 and 8 ranks; those that are told apart
// by no number of ranks, by 2.
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

using attention =
    multi_head_attention<float, hidden<48>, heads<24>, bias<true>, rope<split_halves>>;
using tokens = tensor<float, batch<2>, token<19>, hidden<48>>;

// A layer, its weights and, of the rank, its share.
template <class Layer, std::size_t Ranks>
struct divided {
  using share = sharded<Layer, over<heads, ranks<Ranks>>>;
  const communicator<ranks<Ranks>>& world;
  typename Layer::weights w;
  typename share::weights own;

  divided(const communicator<ranks<Ranks>>& of, lcg& next)
      : world(of), w(drawn_weights<Layer>(next)) {
    cut_weights<share>(w, world.rank(), own);
  }
};

// What a rank has is its part of everything, and all that it has is less.
template <std::size_t Ranks>
void check_weights(const divided<attention, Ranks>& of) {
  using share = typename divided<attention, Ranks>::share;
  constexpr std::size_t width = 48 / Ranks;
  static_assert(sizeof(typename share::weights) * Ranks == sizeof(attention::weights));
  using own_heads = decltype(share::template workspace<token<19>>::own);
  static_assert(Ranks == 1 || sizeof(own_heads) < sizeof(attention::workspace<token<19>>));
  const std::size_t first = of.world.rank() * width;
  bool good = true;
  const auto compare = [&](const auto& whole, const auto& own) {
    for (std::size_t j = 0; j < width; ++j) {
      for (std::size_t i = 0; i < 48; ++i) good = good && own(i, j) == whole(i, first + j);
      good = good && own.bias[j] == whole.bias[first + j];
    }
  };
  compare(of.w.q, of.own.q), compare(of.w.k, of.own.k), compare(of.w.v, of.own.v);
  compare(of.w.o, of.own.o);
  // From matrices of another order.
  static typename share::weights again;
  static float turned[4][48 * 48];
  const portable::linear_weights<float, hidden<48>, hidden<48>, true>* const maps[] = {
      &of.w.q, &of.w.k, &of.w.v, &of.w.o};
  for (std::size_t m = 0; m < 4; ++m)
    for (std::size_t i = 0; i < 48; ++i)
      for (std::size_t j = 0; j < 48; ++j) turned[m][j * 48 + i] = (*maps[m])(i, j);
  const auto part = [&](std::size_t m) {
    using view = portable::linear_in_any_order<float, hidden<48>, hidden<48>, true>;
    return view{view_as<out_features, in_features>(turned[m]), maps[m]->bias};
  };
  cut_weights<share>({part(0), part(1), part(2), part(3)}, of.world.rank(), again);
  check("weights are cut by heads", good && same(again, of.own));
}

template <std::size_t Ranks>
void check_heads(const divided<attention, Ranks>& of, lcg& next) {
  using share = typename divided<attention, Ranks>::share;
  static const auto x = drawn<tokens>(next, 2);
  static attention::workspace<token<19>> whole;
  static typename share::template workspace<token<19>> work;
  const auto on = across(of.world, work);
  const auto check_mask = [&](const char* name, const auto& mask) {
    const attention one{of.w};
    const share all{of.own};
    check(name, same(all(x, mask, on), one(x, mask, whole)));
  };
  const gathered before = so_far;
  check_mask("heads, all keys", all_keys);
  check("what heads exchange is what the type says",
        as_said(before, exchange_of<share, batch<2>, token<19>>, Ranks));
  // These know heads by their numbers.
  static tensor<bool, heads<24>, query<19>, key<19>> flags{};
  for (bool& f : flags) f = next() > -0.5f;
  const tensor<int, batch<2>> lens{13, 0};
  check_mask("heads, masks by head", lens & keep_mask(flags) & alibi & causal & dropout(0.25, 9));
  static prepacked<share> packed;
  packed.pack(of.own);
  check("heads, packed", same(packed(x, causal, on), attention{of.w}(x, causal, whole)));
  check("heads, packed by some ranks",
        same(of.world.rank() % 2 == 0 ? packed(x, causal, on) : share{of.own}(x, causal, on),
             attention{of.w}(x, causal, whole)));
  static tensor<float, hidden<48>, batch<2>, token<19>> a, b;
  packed.into(a, x, causal, on);
  attention{of.w}.into(b, x, causal, whole);
  check("heads, into memory of another order", same(a, b));
}

// The steps of a sequence, as many positions at once as the list says.
template <std::size_t Count, class Whole, class Past, class One, class All, class X, class Work,
          class Own>
bool same_step(Whole& whole, Past& past, const One& one, const All& all, const X& x,
               std::size_t first, Work& work, const Own& on) {
  tensor<float, token<Count>, hidden<48>> next, a, b;
  for (std::size_t i = 0; i < Count; ++i)
    for (std::size_t j = 0; j < 48; ++j) next(i, j) = x(first + i, j);
  return whole.step(a, one, next, alibi, work) && past.step(b, all, next, alibi, on) && same(a, b);
}
template <std::size_t Ranks>
void check_cache(const divided<attention, Ranks>& of, lcg& next) {
  using share = typename divided<attention, Ranks>::share;
  static key_value_cache<attention, key<20>> whole;
  static key_value_cache<share, key<20>> past;
  static_assert(Ranks == 1 || sizeof past < sizeof whole);
  static decltype(whole)::template workspace<token<11>> work_11;
  static typename decltype(past)::template workspace<token<11>> own_11;
  static decltype(whole)::template workspace<token<1>> work_1;
  static typename decltype(past)::template workspace<token<1>> own_1;
  static const auto x = drawn<tensor<float, token<20>, hidden<48>>>(next, 2);
  const attention one{of.w};
  static const prepacked<share> all{of.own};
  bool good = same_step<11>(whole, past, one, all, x, 0, work_11, across(of.world, own_11));
  for (std::size_t i = 11; i < 14; ++i)
    good = good && same_step<1>(whole, past, one, all, x, i, work_1, across(of.world, own_1));
  check("a step of a cache", good && past.size() == 14);
  good = whole.rewind(12) && past.rewind(12);
  good = good && same_step<1>(whole, past, one, all, x, 15, work_1, across(of.world, own_1));
  tensor<float, query<1>, hidden<48>> a, b;
  const auto question = drawn<tensor<float, query<1>, hidden<48>>>(next, 2);
  whole.attend(a, one, question, all_keys, work_1);
  past.attend(b, all, question, all_keys, across(of.world, own_1));
  check("rewind and attend of a cache", good && same(a, b));
}

template <std::size_t Ranks>
void check_batch(const communicator<ranks<Ranks>>& world, const attention::weights& w, lcg& next) {
  using share = sharded<attention, over<batch, ranks<Ranks>>>;
  static const auto x = drawn<tensor<float, batch<24>, token<5>, hidden<48>>>(next, 2);
  static tensor<float, batch<24>, token<5>, hidden<48>> a, b;
  static attention::workspace<token<5>> work;
  tensor<int, batch<24>> lens{};
  for (int i = 0; i < 24; ++i) lens(i) = i % 6;
  const gathered before = so_far;
  share{w}.into(a, x, lens & causal, across(world, work));
  check("what sequences exchange is what the type says",
        as_said(before, exchange_of<share, batch<24>, token<5>>, Ranks));
  attention{w}.into(b, x, lens & causal, work);
  check("sequences of attention", same(a, b));
}

template <std::size_t Ranks>
void check_all() {
  static const communicator<ranks<Ranks>> world{MPI_COMM_WORLD};
  check("as many ranks as the type says", world.has_value() && *world.error() == '\0');
  if (!world) return;
  lcg next{7};
  static const divided<attention, Ranks> of{world, next};
  check_weights(of);
  check_heads(of, next);
  check_cache(of, next);
  check_batch(world, of.w, next);
}

// ---- by two ranks
// --------------------------------------------------------------------------------

void check_widths_of_its_own(const communicator<ranks<2>>& world, lcg& next) {
  using layer = multi_head_attention<double, hidden<20>, heads<4>, kv_heads<2>, head_dim<6>,
                                     value_dim<10>, keys_from<hidden<12>>, values_from<hidden<28>>,
                                     output_to<hidden<14>>, softcap<5>, bias_on<'k', 'o'>>;
  static const divided<layer, 2> of{world, next};
  using share = divided<layer, 2>::share;
  const auto x = drawn<tensor<double, batch<2>, query<3>, hidden<20>>>(next, 2);
  const auto y = drawn<tensor<double, batch<2>, key<9>, hidden<12>>>(next, 2);
  const auto z = drawn<tensor<double, batch<2>, key<9>, hidden<28>>>(next, 2);
  static layer::workspace<query<3>, key<9>> whole;
  static share::workspace<query<3>, key<9>> work;
  const tensor<int, batch<2>> lens{4, 9};
  check("grouped heads, widths of their own, double, other queries than keys",
        same(share{of.own}(x, y, z, lens, across(world, work)), layer{of.w}(x, y, z, lens, whole)));
}

void check_cache_of_8_bits(const communicator<ranks<2>>& world, lcg& next) {
  static const divided<attention, 2> of{world, next};
  using share = divided<attention, 2>::share;
  static key_value_cache<attention, key<8>, batch<2>, longest_sequence<90, 10>,
                         stored_as<std::int8_t>>
      whole;
  static key_value_cache<share, key<8>, batch<2>, longest_sequence<90, 10>, stored_as<std::int8_t>>
      past;
  static decltype(whole)::workspace<token<10>> work;
  static decltype(past)::workspace<token<10>> own;
  bool good = true;
  for (int i = 0; i < 9; ++i) {  // more than there is memory for
    const auto x = drawn<tensor<float, batch<2>, token<10>, hidden<48>>>(next, 2);
    tensor<float, batch<2>, token<10>, hidden<48>> a, b;
    good = good && whole.step(a, attention{of.w}, x, all_keys, work) &&
           past.step(b, share{of.own}, x, all_keys, across(world, own)) && same(a, b);
  }
  check("a sliding cache of 8 bits", good);
}

void check_pages() {
  using share = divided<attention, 2>::share;
  const char* const of_heads = describe<share, token<19>>();
  const char* const of_layer = describe<attention, token<19>>();
  const auto has = [](const char* page, const char* text) {
    return std::strstr(page, text) != nullptr;
  };
  check("the page of heads over ranks",
        has(of_heads, "of 2 ranks, each: attention, 19 queries to 19 keys, 12 heads of 2") &&
            has(of_heads, "output        19 x    48 to    24") &&
            has(of_layer, "output        19 x    48 to    48") &&
            has(of_heads,
                "calls of MPI                                    2\n"
                "messages                                        2\n"
                "bytes sent                                  3,648\n"
                "bytes of memory for it                      7,296\n"
                "microseconds                                    4\n"
                "by a network of 2000 ns a message and 12500 MB/s\n"));
  using by_sequences = sharded<attention, over<batch, ranks<2>>>;
  check("the page of sequences over ranks",
        std::strcmp(describe<interconnect{.nanoseconds = 500'000, .megabytes_per_second = 1},
                             by_sequences, batch<24>, token<5>>(),
                    "of 2 ranks, each\n"
                    "calls of MPI                                    1\n"
                    "messages                                        1\n"
                    "bytes sent                                 11,520\n"
                    "bytes of memory for it                          0\n"
                    "microseconds                               12,020\n"
                    "by a network of 500000 ns a message and 1 MB/s\n") == 0);
}

// What calls themselves allocate, without MPI, whose own memory is not ours to count.
void check_allocations(const communicator<ranks<2>>& world, lcg& next) {
  static const divided<attention, 2> of{world, next};
  using share = divided<attention, 2>::share;
  static const auto x = drawn<tokens>(next, 2);
  static tokens y;
  static share::workspace<token<19>> work;
  const share all{of.own};
  const bool counted = fashion::heap::counter_works();
  {
    const counting now;
    all.into(y, x, causal, across(world, work));
    all.into(y, x, causal, across(world, work));
  }
  check("nothing is allocated", counted && fashion::heap::so_far().allocations == 0);
}

void check_by_two() {
  const communicator<ranks<2>> world{MPI_COMM_WORLD};
  lcg next{11};
  check_widths_of_its_own(world, next);
  check_cache_of_8_bits(world, next);
  check_allocations(world, next);
  check_pages();
}

}  // namespace

int main(int count, char** words) {
  by_ranks<1, 2, 3, 4, 8>(count, words, [](auto ranks) {
    check_all<ranks>();
    if constexpr (ranks == 2) check_by_two();
  });
}
