// SPDX-License-Identifier: BSL-1.0
// What holds for a layer_stack of decoder layers, and for decoder layers by several workers, to the
// bit. Not here: steps of a cache (cache_decoders.cpp); one decoder layer (decoder.cpp).
#include <boost/test/unit_test.hpp>
#include <umbel/files.hpp>
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>

#include <cstring>
#include <string>

#include "../../examples/thread_pool.hpp"
#include "../support/blocks.hpp"
#include "../support/compare.hpp"
#include "../support/executors.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

using pre_norm = llama_block<decoder_layer>;
using post_norm = vaswani_block<decoder_layer>;

template <class Decoder, std::size_t Count>
auto drawn_stack(lcg& next) {
  typename layer_stack<Decoder, Count>::weights w{};
  for (auto& layer : w.layers) draw_decoder(next, layer, 0.3, 0.3, 0.3, 0.1, 1, 0.2);
  return w;
}

template <class Decoder>
void check_layers(std::uint32_t seed) {
  using model = layer_stack<Decoder, 3>;
  using T = typename Decoder::value_type;
  using width = typename Decoder::hidden_axis;
  using tokens = tensor<T, batch<2>, token<7>, width>;
  using memories = tensor<T, batch<2>, key<5>, width>;
  lcg next{seed};
  const auto w = drawn_stack<Decoder, 3>(next);
  const auto x = drawn<tokens>(next);
  const auto m = drawn<memories>(next);
  const tensor<int, batch<2>> lens{5, 3}, own{7, 4};
  const auto self = self_mask(causal & own);
  const auto each =
      Decoder{w[2]}(Decoder{w[1]}(Decoder{w[0]}(x, m, lens, self), m, lens, self), m, lens, self);
  BOOST_TEST(same_bits(each, model{w}(x, m, lens, self)));
  const prepacked<model> packed{w};
  BOOST_TEST(same_bits(each, packed(x, m, lens, self)));
  workspace_for<model, tokens, memories> work;
  static_assert(
      std::is_same_v<decltype(work), typename model::template workspace<token<7>, key<5>>>);
  auto in_place = x;
  packed.into(in_place, in_place, m, lens, self, work);
  BOOST_TEST(same_bits(each, in_place));
  auto layer_in_place = x;
  Decoder{w[0]}.into(layer_in_place, layer_in_place, m, lens, self);
  BOOST_TEST(same_bits(Decoder{w[0]}(x, m, lens, self), layer_in_place));
  const typename Decoder::weights apart[] = {w[0], w[1], w[2]};
  BOOST_TEST(same_bits(each, model{apart}(x, m, lens, self)));
}

// Each executor: whole sequences by each worker, and those that are left in parts.
template <class Decoder, std::size_t Batch>
void check_workers(std::uint32_t seed) {
  using model = layer_stack<Decoder, 2>;
  using T = typename Decoder::value_type;
  using width = typename Decoder::hidden_axis;
  lcg next{seed};
  const auto w = drawn_stack<Decoder, 2>(next);
  const auto x = drawn<tensor<T, batch<Batch>, token<37>, width>>(next);
  const auto m = drawn<tensor<T, batch<Batch>, key<21>, width>>(next);
  tensor<int, batch<Batch>> lens{};
  for (std::size_t b = 0; b < Batch; ++b) lens(b) = static_cast<int>(21 - 4 * b);
  const model layers{w};
  const prepacked<Decoder> packed{w[0]};
  static typename model::template workspace<token<37>, key<21>> work[5];
  const auto self = self_mask(causal);
  const auto wanted = layers(x, m, lens, self, work[0]);
  const auto wanted_of_one = packed(x, m, self, work[0]);
  static thread_pool<2> pool_of_2;
  static thread_pool<5> pool_of_5;
  static shuffled<3> shuffled_3;
  const auto check = [&](auto& executor) {
    std::memset(static_cast<void*>(work), 0xff, sizeof work);  // NaN
    BOOST_TEST(same_bits(layers(x, m, lens, self, parallel(executor, work)), wanted));
    BOOST_TEST(same_bits(packed(x, m, self, parallel(executor, work)), wanted_of_one));
    auto in_place = x;
    layers.into(in_place, in_place, m, lens, self, parallel(executor, work));
    BOOST_TEST(same_bits(in_place, wanted));
  };
  check(pool_of_2);
  check(pool_of_5);
  check(shuffled_3);
}

BOOST_AUTO_TEST_SUITE(stacks_of_decoders)

BOOST_AUTO_TEST_CASE(are_the_layers_one_after_another) {
  check_layers<pre_norm>(5);
  check_layers<post_norm>(6);
}

BOOST_AUTO_TEST_CASE(in_formulas) {
  using model = layer_stack<post_norm, 2>;
  lcg next{8};
  const auto w = drawn_stack<post_norm, 2>(next);
  const auto x = drawn<tensor<double, token<5>, hidden<12>>>(next);
  const auto m = drawn<tensor<double, key<4>, hidden<12>>>(next);
  const formula residual = [](auto tokens, auto memory, const auto& decode) {
    return decode(tokens, memory, self_mask(causal)) + tokens;
  };
  BOOST_TEST(same_bits(residual(x, m, model{w}), model{w}(x, m, self_mask(causal)) + x));
}

BOOST_AUTO_TEST_CASE(in_16_bits) {
  using model = layer_stack<pre_norm, 2>;
  lcg next{9};
  const auto w = drawn_stack<pre_norm, 2>(next);
  const auto x = drawn<tensor<float, token<5>, hidden<16>>>(next);
  const auto m = drawn<tensor<float, token<3>, hidden<16>>>(next);
  const prepacked<model, stored_as<bfloat16>> packed{w};
  using layer = prepacked<pre_norm, stored_as<bfloat16>>;
  const auto self = self_mask(causal);
  BOOST_TEST(same_bits(packed(x, m, self), layer{w[1]}(layer{w[0]}(x, m, self), m, self)));
}

// By paths that begin with the number of the layer.
BOOST_AUTO_TEST_CASE(parameters_are_listed_and_loaded_by_number) {
  using model = layer_stack<post_norm, 2>;
  lcg next{10};
  static const auto w = drawn_stack<post_norm, 2>(next);
  static model::weights loaded;
  std::size_t found = 0;
  for_each_parameter(w, [&](const parameter_path& path, const auto& p) {
    if (path == "1.cross_attention.q.weight") found = p.size();
  });
  BOOST_TEST(found == 144u);
  BOOST_TEST(count_parameters(w) == 2 * count_parameters(w[0]));
  std::string bytes;
  save([&](const char* from, std::size_t count) { bytes.append(from, count); }, w);
  const auto file = tensor_file::in_memory(bytes);
  BOOST_TEST_REQUIRE(static_cast<bool>(file));
  BOOST_TEST(static_cast<bool>(load(loaded, *file, names::umbel)));
  BOOST_TEST(std::memcmp(&w, &loaded, sizeof(w)) == 0);
}

BOOST_AUTO_TEST_CASE(by_several_workers) {
  check_workers<pre_norm, 1>(21);
  check_workers<pre_norm, 3>(22);
  check_workers<post_norm, 5>(23);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
