// SPDX-License-Identifier: BSL-1.0
// What holds for layers without some of their heads, to the bit: they are the whole layer whose
// output map takes nothing from those heads; to keep some is to prune the others; the rest is a
// layer like any other.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <initializer_list>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

using simple = multi_head_attention<float, hidden<30>, heads<5>, bias<true>>;
using groups = multi_head_attention<double, hidden<20>, heads<6>, head_dim<8>, value_dim<5>,
                                    kv_heads<3>, rope<split_halves>, output_to<hidden<9>>>;

static_assert(prunable<simple, prune_heads<0, 3>> && prunable<simple, keep_heads<4>>);
static_assert(!prunable<simple, prune_heads<5>> && !prunable<simple, prune_heads<1, 1>>);
static_assert(!prunable<simple, prune_heads<0, 1, 2, 3, 4>>);  // none would stay
static_assert(prunable<groups, prune_heads<2, 3>> && !prunable<groups, prune_heads<2>>);

// The output map without what the heads gave.
template <class Layer>
typename Layer::weights without(typename Layer::weights w,
                                std::initializer_list<std::size_t> gone) {
  constexpr std::size_t width = Layer::sizes.value_dim, out = Layer::sizes.output;
  for (const std::size_t h : gone)
    for (std::size_t i = h * width * out; i < (h + 1) * width * out; ++i) w.o.weight[i] = 0;
  return w;
}

BOOST_AUTO_TEST_SUITE(heads)

BOOST_AUTO_TEST_CASE(pruned_heads_give_nothing) {
  lcg next{11};
  const auto w = drawn_weights<simple>(next);
  const auto rest = pruned_weights<simple, prune_heads<1, 4>>(w);
  using fewer = pruned<simple, prune_heads<1, 4>>;
  static_assert(fewer::sizes.heads == 3 && fewer::sizes.head_dim == simple::sizes.head_dim);
  const auto x = drawn<tensor<float, batch<2>, token<19>, hidden<30>>>(next, 2);
  const tensor<int, batch<2>> lens{19, 4};
  const simple::weights zeroed = without<simple>(w, {1, 4});
  BOOST_TEST(same_bits(fewer{rest}(x, lens & causal), simple{zeroed}(x, lens & causal)));
  BOOST_TEST(!same_bits(fewer{rest}(x), simple{w}(x)));
}

BOOST_AUTO_TEST_CASE(groups_of_heads_go_with_their_keys_and_values) {
  lcg next{12};
  const auto w = drawn_weights<groups>(next);
  const auto rest = pruned_weights<groups, prune_heads<2, 3>>(w);
  using fewer = pruned<groups, prune_heads<2, 3>>;
  static_assert(fewer::sizes.heads == 4 && fewer::sizes.kv_heads == 2);
  const auto x = drawn<tensor<double, token<11>, hidden<20>>>(next, 2);
  const groups::weights zeroed = without<groups>(w, {2, 3});
  BOOST_TEST(
      same_bits(fewer{rest}(x, sliding_window<4, 2>), groups{zeroed}(x, sliding_window<4, 2>)));
}

// The matrix of a map from (in, out) to (out, in).
template <class W>
tensor<typename W::map::value_type, out_features<W::map::out::size>, in_features<W::map::in::size>>
turned(const W& w) {
  constexpr std::size_t in = W::map::in::size, out = W::map::out::size;
  tensor<typename W::map::value_type, out_features<out>, in_features<in>> t{};
  for (std::size_t i = 0; i < in; ++i)
    for (std::size_t o = 0; o < out; ++o) t(o, i) = w.weight[i * out + o];
  return t;
}

BOOST_AUTO_TEST_CASE(matrices_are_taken_in_any_order) {
  lcg next{14};
  const auto w = drawn_weights<groups>(next);
  const auto q = turned(w.q);
  const auto k = turned(w.k);
  const auto v = turned(w.v);
  const auto o = turned(w.o);
  const prepacked<groups>::weights_to_pack borrowed{q, k, v, o};
  using fewer = pruned<groups, prune_heads<2, 3>>;
  const auto rest = pruned_weights<groups, prune_heads<2, 3>>(w);
  const auto of_borrowed = pruned_weights<groups, prune_heads<2, 3>>(borrowed);
  const auto x = drawn<tensor<double, token<3>, hidden<20>>>(next, 2);
  BOOST_TEST(same_bits(fewer{of_borrowed}(x), fewer{rest}(x)));
}

BOOST_AUTO_TEST_CASE(keeping_is_pruning_the_others) {
  lcg next{13};
  const auto w = drawn_weights<simple>(next);
  using kept = pruned<simple, keep_heads<0, 2>>;
  static_assert(std::is_same_v<kept, pruned<simple, prune_heads<1, 3, 4>>>);
  const auto by_keeping = pruned_weights<simple, keep_heads<2, 0>>(w);
  const auto by_pruning = pruned_weights<simple, prune_heads<4, 3, 1>>(w);
  const auto x = drawn<tensor<float, token<5>, hidden<30>>>(next, 2);
  BOOST_TEST(same_bits(kept{by_keeping}(x), kept{by_pruning}(x)));
  // In steps of two, as at once.
  using one_head = pruned<kept, keep_heads<1>>;
  const auto of_two = pruned_weights<kept, keep_heads<1>>(by_keeping);
  const auto of_five = pruned_weights<simple, keep_heads<2>>(w);
  BOOST_TEST(same_bits(one_head{of_two}(x), one_head{of_five}(x)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
