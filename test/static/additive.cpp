// SPDX-License-Identifier: BSL-1.0
// flags-gcc: -fconstexpr-ops-limit=1000000000 -fconstexpr-loop-limit=10000000
// flags-clang: -fconstexpr-steps=2000000000
// Additive attention evaluated by the compiler: the example of "Dive into Deep Learning",
// section 11.3.4, whose keys are all equal, so that the answer does not depend on the weights.
#include <umbel/umbel.hpp>

#include "../support/random.hpp"

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, query<1>, hidden<20>>;
using keys = tensor<float, batch<2>, key<10>, hidden<2>>;
using values = tensor<float, batch<2>, key<10>, value_dim<4>>;
using result = tensor<float, batch<2>, query<1>, value_dim<4>>;

constexpr tensor<int, batch<2>> valid_lens{2, 6};

template <class Attention>
constexpr result answer() {
  umbel_test::lcg next{2014};
  typename Attention::weights w{};
  umbel_test::draw(next, w.q.weight, 0.5);
  umbel_test::draw(next, w.k.weight, 0.5);
  umbel_test::draw(next, w.score);
  queries x{};
  umbel_test::draw(next, x);
  keys y{};
  for (float& e : y) e = 1;
  values z{};
  float counted = 0;
  for (float& e : z) e = counted < 40 ? counted++ : (counted = 1, 0.0f);
  return Attention{w}(x, y, z, valid_lens);
}

constexpr bool is_the_books(const result& out) {
  constexpr result book{2, 3, 4, 5, 10, 11, 12, 13};
  for (std::size_t i = 0; i < 8; ++i) {
    const float error = out.data()[i] - book.data()[i];
    if (!(error < 1e-6f && error > -1e-6f)) return false;
  }
  return true;
}

using attention = additive_attention<float, hidden<20>, score_hidden<8>, keys_from<hidden<2>>>;
static_assert(is_the_books(answer<attention>()));
// Of as many heads as there are features, and with some that are capped.
static_assert(is_the_books(answer<additive_attention<float, hidden<20>, score_hidden<3>, heads<4>,
                                                     keys_from<hidden<2>>, softcap<1, 2>>>()));

static_assert(attends_additively<attention, queries, keys, values>);
static_assert(attends_additively<attention, queries&, const keys&, keys>);
static_assert(!attends_additively<attention, keys, queries, values>);
static_assert(!attends_additively<attention, queries, queries, values>);
static_assert(
    !attends_additively<attention, queries, keys, tensor<double, batch<2>, key<10>, hidden<4>>>);
static_assert(
    !attends_additively<attention, queries, keys, tensor<float, batch<2>, key<9>, hidden<4>>>);
static_assert(
    !attends_additively<attention, queries, keys, tensor<float, batch<2>, key<10>, query<4>>>);
static_assert(!attends_additively<attention, queries, keys, tensor<float, batch<2>, key<10>>>);

// A mask of the wrong size does not fit; the weights' sizes.
static_assert(!fits_as_mask<tensor<int, batch<3>>, float, batch<2>, heads<1>, query<1>, key<10>>);
static_assert(sizeof(attention::weights::q.weight) == 20 * 8 * sizeof(float));
static_assert(sizeof(attention::weights::k.weight) == 2 * 8 * sizeof(float));
static_assert(std::same_as<decltype(attention::weights::score), tensor<float, score_hidden<8>>>);
