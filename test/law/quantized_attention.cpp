// SPDX-License-Identifier: BSL-1.0
// What holds for attention in integers, to the bit: the number of workers does not matter; heads
// that share keys are heads whose keys are the same. And it is near attention of floats. Not here:
// steps (cache.cpp), encoder and decoder layers (encoder_layer.cpp, decoder_layer.cpp).
#include <boost/test/unit_test.hpp>
#include <umbel/quantized.hpp>

#include <algorithm>

#include "../support/compare.hpp"
#include "../support/executors.hpp"
#include "../support/quantized.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

using rotated =
    multi_head_attention<float, hidden<18>, heads<3>, rope<split_halves, 10000, 4>, bias<true>>;
using normed = multi_head_attention<float, hidden<18>, heads<3>, query_key_norm<layer_norm>,
                                    rope<split_halves, 10000, 4>, bias<true>>;

template <class Layer, std::size_t Tokens>
using floats = tensor<typename Layer::value_type, token<Tokens>, typename Layer::hidden_axis>;

template <class Layer, std::size_t Batch, std::size_t Tokens>
void check_workers() {
  static const quantized_fixture<Layer, floats<Layer, Tokens>> f;
  lcg next{Batch};
  const auto x =
      drawn_integers<tensor<std::int8_t, batch<Batch>, token<Tokens>, hidden<18>>>(next, 127);
  tensor<int, batch<Batch>> lens;
  for (std::size_t b = 0; b < Batch; ++b) lens(b) = static_cast<int>(b * 7 % (Tokens + 1));
  const auto wanted = f.layer(x, lens & causal);
  using work = typename quantized<Layer>::template workspace<token<Tokens>>;
  static work of_five[5];
  shuffled<5> five;
  auto out = x;
  f.layer.into(out, x, lens & causal, parallel(five, of_five));
  BOOST_TEST(same_bits(out, wanted));
  BOOST_TEST(five.pieces > 0u);
  BOOST_TEST(same_bits(f.layer(x, lens & causal, parallel(serial, of_five)), wanted));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quantized_attention_laws)

BOOST_AUTO_TEST_CASE(any_number_of_workers_gives_the_same) {
  check_workers<rotated, 1, 33>();
  check_workers<rotated, 7, 5>();
  check_workers<normed, 1, 33>();
}

// Of one scale, as the ranges say: a scale of its own for each output is repeated, too.
BOOST_AUTO_TEST_CASE(shared_keys_are_repeated_keys) {
  using grouped = multi_head_attention<float, hidden<20>, heads<4>, kv_heads<2>,
                                       rope<adjacent_pairs, 10000, 2>, bias<false>>;
  using repeated = multi_head_attention<float, hidden<20>, heads<4>, rope<adjacent_pairs, 10000, 2>,
                                        bias<false>>;
  static_assert(grouped::sizes.head_dim == 5);
  static const quantized_fixture<grouped, floats<grouped, 11>> f;
  repeated::weights w{};
  std::copy_n(f.w.q.weight, 400, w.q.weight);
  std::copy_n(f.w.o.weight, 400, w.o.weight);
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t o = 0; o < 20; ++o) {
      w.k.weight[i * 20 + o] = f.w.k.weight[i * 10 + o / 10 * 5 + o % 5];
      w.v.weight[i * 20 + o] = f.w.v.weight[i * 10 + o / 10 * 5 + o % 5];
    }
  const quantized<repeated> other{w, f.seen};
  lcg next{6};
  const auto x = drawn_integers<tensor<std::int8_t, token<11>, hidden<20>>>(next, 127);
  BOOST_TEST(same_bits(f.layer(x, causal), other(x, causal)));
}

// Queries, keys and values that come from, and a result that goes to, other widths.
BOOST_AUTO_TEST_CASE(other_widths_of_keys_values_and_result) {
  using layer = multi_head_attention<float, hidden<20>, heads<5>, keys_from<hidden<6>>,
                                     values_from<hidden<9>>, output_to<hidden<3>>, value_dim<7>,
                                     bias_on<'v'>>;
  lcg next{11};
  const auto w = drawn_weights<layer>(next);
  quantized<layer>::ranges seen{};
  const auto x = drawn<tensor<float, batch<2>, query<4>, hidden<20>>>(next, 2);
  const auto y = drawn<tensor<float, batch<2>, key<11>, hidden<6>>>(next, 2);
  const auto z = drawn<tensor<float, batch<2>, key<11>, hidden<9>>>(next, 2);
  const tensor<int, batch<2>> lens{7, 11};
  const auto wanted = quantized<layer>::calibrate(seen, w, x, y, z, lens);
  const quantized<layer> attend{w, seen};
  const auto out =
      attend(quantize<std::int8_t>(x, seen.queries), quantize<std::int8_t>(y, seen.keys),
             quantize<std::int8_t>(z, seen.values), lens);
  BOOST_TEST(relative_error(out, static_cast<double>(seen.output()) / 127, wanted) < 0.03);
}

BOOST_AUTO_TEST_SUITE_END()
