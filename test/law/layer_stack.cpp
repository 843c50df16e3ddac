// SPDX-License-Identifier: BSL-1.0
// What holds for a layer_stack, to the bit: it is its layers one after another, in any form of its
// weights, into the memory of its argument, and in a formula. Not here: steps of a cache
// (cache_blocks.cpp).
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>

#include <cstring>

#include "../../examples/thread_pool.hpp"
#include "../support/blocks.hpp"
#include "../support/compare.hpp"
#include "../support/executors.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

using pre_norm = llama_block<encoder_layer>;
using post_norm = vaswani_block<encoder_layer>;

template <class Encoder, std::size_t Count>
auto drawn_stack(lcg& next) {
  typename layer_stack<Encoder, Count>::weights w{};
  for (auto& layer : w.layers) draw_encoder(next, layer, 0.3, 0.3, 0.3, 0.1, 1, 0.2);
  return w;
}

template <class Encoder>
void check_layers(std::uint32_t seed) {
  using model = layer_stack<Encoder, 3>;
  using tokens =
      tensor<typename Encoder::value_type, batch<2>, token<7>, typename Encoder::hidden_axis>;
  lcg next{seed};
  const auto w = drawn_stack<Encoder, 3>(next);
  const auto x = drawn<tokens>(next);
  const tensor<int, batch<2>> lens{7, 4};
  const auto mask = lens & causal;
  const auto each = Encoder{w[2]}(Encoder{w[1]}(Encoder{w[0]}(x, mask), mask), mask);
  BOOST_TEST(same_bits(each, model{w}(x, mask)));
  const prepacked<model> packed{w};
  BOOST_TEST(same_bits(each, packed(x, mask)));
  workspace_for<model, tokens> work;
  auto in_place = x;
  packed.into(in_place, in_place, mask, work);
  BOOST_TEST(same_bits(each, in_place));
  // Of weights that lie elsewhere, as an array or one by one.
  const typename Encoder::weights apart[] = {w[0], w[1], w[2]};
  BOOST_TEST(same_bits(each, model{apart}(x, mask)));
  const typename Encoder::weights_view views[] = {apart[0], w[1], apart[2]};
  BOOST_TEST(same_bits(each, model{typename model::weights_view(views)}(x, mask)));
}

// Each executor: whole sequences by each worker, and those that are left in parts.
template <class Encoder, std::size_t Batch>
void check_workers(std::uint32_t seed) {
  using model = layer_stack<Encoder, 2>;
  using tokens =
      tensor<typename Encoder::value_type, batch<Batch>, token<37>, typename Encoder::hidden_axis>;
  lcg next{seed};
  const auto w = drawn_stack<Encoder, 2>(next);
  const auto x = drawn<tokens>(next);
  const model layers{w};
  const prepacked<Encoder> packed{w[0]};
  static typename model::template workspace<token<37>> work[5];
  const auto wanted = layers(x, causal, work[0]);
  const auto wanted_of_one = packed(x, causal, work[0]);
  static thread_pool<2> pool_of_2;
  static thread_pool<5> pool_of_5;
  static shuffled<3> shuffled_3;
  const auto check = [&](auto& executor) {
    std::memset(static_cast<void*>(work), 0xff, sizeof work);  // NaN
    BOOST_TEST(same_bits(layers(x, causal, parallel(executor, work)), wanted));
    BOOST_TEST(same_bits(packed(x, causal, parallel(executor, work)), wanted_of_one));
    auto in_place = x;
    layers.into(in_place, in_place, causal, parallel(executor, work));
    BOOST_TEST(same_bits(in_place, wanted));
  };
  check(pool_of_2);
  check(pool_of_5);
  check(shuffled_3);
}

BOOST_AUTO_TEST_SUITE(stacks_of_layers)

BOOST_AUTO_TEST_CASE(are_the_layers_one_after_another) {
  check_layers<pre_norm>(5);
  check_layers<post_norm>(6);
}

BOOST_AUTO_TEST_CASE(of_one_layer) {
  lcg next{7};
  const auto w = drawn_stack<post_norm, 1>(next);
  const auto x = drawn<tensor<double, token<5>, hidden<12>>>(next);
  const layer_stack<post_norm, 1> one{w};
  BOOST_TEST(same_bits(one(x), post_norm{w[0]}(x)));
  BOOST_TEST(same_bits(x | one, post_norm{w[0]}(x)));
}

BOOST_AUTO_TEST_CASE(in_formulas) {
  using model = layer_stack<post_norm, 2>;
  lcg next{8};
  const auto w = drawn_stack<post_norm, 2>(next);
  const auto x = drawn<tensor<double, token<5>, hidden<12>>>(next);
  const formula mean = [](auto tokens, const auto& encode) {
    return encode(tokens, causal) + tokens;
  };
  BOOST_TEST(same_bits(mean(x, model{w}), model{w}(x, causal) + x));
}

BOOST_AUTO_TEST_CASE(in_16_bits) {
  using model = layer_stack<pre_norm, 2>;
  lcg next{9};
  const auto w = drawn_stack<pre_norm, 2>(next);
  const auto x = drawn<tensor<float, token<5>, hidden<16>>>(next);
  const prepacked<model, stored_as<bfloat16>> packed{w};
  using layer = prepacked<pre_norm, stored_as<bfloat16>>;
  BOOST_TEST(same_bits(packed(x, causal), layer{w[1]}(layer{w[0]}(x, causal), causal)));
  using memory = prepacked<model, stored_as<bfloat16>>;
  BOOST_TEST(memory::in_memory(&packed, sizeof(packed)) == &packed);
  using longer = prepacked<layer_stack<pre_norm, 1>, stored_as<bfloat16>>;
  BOOST_TEST(longer::in_memory(&packed, sizeof(packed)) == nullptr);
}

BOOST_AUTO_TEST_CASE(parameters_have_the_number_of_their_layer) {
  static layer_stack<post_norm, 2>::weights w;
  std::size_t found = 0, count = 0;
  for_each_parameter(w, [&](const parameter_path& path, const auto& p) {
    ++count;
    if (path == "1.attention.q.weight") found = p.size();
  });
  BOOST_TEST(found == 144u);
  BOOST_TEST(count == 32u);
  BOOST_TEST(count_parameters(w) == 2 * count_parameters(w[0]));
}

BOOST_AUTO_TEST_CASE(by_several_workers) {
  check_workers<pre_norm, 1>(21);
  check_workers<pre_norm, 3>(22);
  check_workers<post_norm, 5>(23);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
