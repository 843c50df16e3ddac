// SPDX-License-Identifier: BSL-1.0
// What holds for decoder layers in integers, to the bit: a shorter memory or sequence is the same
// as a masked one, a batch is its sequences, a stack its layers; steps are the whole causal pass,
// whatever the masks. Not here: passes, workers and steps of every block (uses/integers.cpp).
#include <boost/test/unit_test.hpp>
#include <umbel/quantized.hpp>

#include <algorithm>

#include "../support/blocks.hpp"
#include "../support/compare.hpp"
#include "../support/quantized.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

using llama = llama_block<decoder_layer>;
// Of a layer in integers that was not named before.
static_assert(key_value_cache<quantized<llama>, key<3>, longest_memory<2>>::memory_capacity == 2);
using post_norm = vaswani_block<decoder_layer>;

template <class Layer, std::size_t Tokens, std::size_t Keys>
using fixture = quantized_fixture<
    Layer, tensor<typename Layer::value_type, token<Tokens>, typename Layer::hidden_axis>,
    tensor<typename Layer::value_type, key<Keys>, typename Layer::hidden_axis>>;
template <class Layer, std::size_t Tokens>
using sequence = tensor<std::int16_t, token<Tokens>, typename Layer::hidden_axis>;
template <class Layer, std::size_t Keys>
using memory_of = tensor<std::int8_t, key<Keys>, typename Layer::hidden_axis>;

}  // namespace

BOOST_AUTO_TEST_SUITE(quantized_decoders)

BOOST_AUTO_TEST_CASE(hidden_positions_are_none) {
  static const fixture<llama, 9, 13> f(self_mask(causal));
  lcg next{3};
  const auto x = drawn_integers<sequence<llama, 9>>(next, 16000);
  const auto memory = drawn_integers<memory_of<llama, 13>>(next, 127);
  const tensor<int> five{5}, six{6};
  const auto masked = f.layer(x, memory, five, self_mask(causal & six));
  const view<const std::int16_t, token<6>, hidden<16>> first(x.data());
  const view<const std::int8_t, key<5>, hidden<16>> of_memory(memory.data());
  const auto alone = f.layer(first, of_memory, self_mask(causal));
  BOOST_TEST(std::equal(alone.begin(), alone.end(), masked.begin()));
}

BOOST_AUTO_TEST_CASE(a_batch_is_its_sequences_and_a_stack_its_layers) {
  using model = layer_stack<post_norm, 2>;
  static const fixture<model, 5, 7> f(self_mask(causal));
  lcg next{4};
  const auto x = drawn_integers<tensor<std::int16_t, batch<2>, token<5>, hidden<12>>>(next, 16000);
  const auto memory = drawn_integers<tensor<std::int8_t, batch<2>, key<7>, hidden<12>>>(next, 127);
  const tensor<int, batch<2>> lens{0, 6};
  const auto whole = f.layer(x, memory, lens, self_mask(causal));
  using one_sequence = view<const std::int16_t, token<5>, hidden<12>>;
  using one_memory = view<const std::int8_t, key<7>, hidden<12>>;
  for (std::size_t b = 0; b < 2; ++b) {
    const auto alone = f.layer(one_sequence(x.data() + b * 60), one_memory(memory.data() + b * 84),
                               tensor<int>{lens(b)}, self_mask(causal));
    BOOST_TEST(std::equal(alone.begin(), alone.end(), whole.data() + b * 60));
  }
  auto seen = f.seen;  // of one unit
  for (auto& one : seen.layers)
    for (const auto& other : f.seen.layers) {
      one.residual() = std::max(one.residual(), other.residual());
      one.memory() = std::max(one.memory(), other.memory());
    }
  const quantized<post_norm> first{f.w[0], seen.layers[0]}, second{f.w[1], seen.layers[1]};
  auto y = first(x, memory, lens, self_mask(causal));
  second.into(y, y, memory, lens, self_mask(causal));
  BOOST_TEST(same_bits(y, whole));
}

// Steps of 1 and 3, of a memory shorter than the longest, with both masks.
template <class Layer>
void check_steps() {
  using hidden_axis = typename Layer::hidden_axis;
  constexpr std::size_t tokens = 23, width = hidden_axis::size;
  static const fixture<Layer, tokens, 7> f(self_mask(causal));
  lcg next{5};
  const auto x = drawn_integers<sequence<Layer, tokens>>(next, 16000);
  const auto memory = drawn_integers<memory_of<Layer, 7>>(next, 127);
  static key_value_cache<quantized<Layer>, key<tokens>, longest_memory<9>> past;
  static key_value_cache<quantized<Layer>, key<6>, longest_memory<9>, longest_sequence<tokens, 3>>
      slides;
  sequence<Layer, tokens> out{};
  const auto step = [&](auto& cache, std::size_t at, auto size, const auto&... masks) {
    using now = view<const std::int16_t, token<decltype(size)::value>, hidden_axis>;
    using to = view<std::int16_t, token<decltype(size)::value>, hidden_axis>;
    return cache.step(to(out.data() + at * width), f.layer, now(x.data() + at * width), masks...);
  };
  constexpr std::integral_constant<std::size_t, 1> one{};
  constexpr std::integral_constant<std::size_t, 3> three{};
  const auto all = [&](auto& cache, const auto&... masks) {
    while (cache.size() + 3 <= tokens)
      BOOST_TEST((cache.size() % 2 ? step(cache, cache.size(), one, masks...)
                                   : step(cache, cache.size(), three, masks...)));
    while (cache.size() < tokens) BOOST_TEST(step(cache, cache.size(), one, masks...));
    BOOST_TEST(!step(cache, 0, one, masks...));
    BOOST_TEST(cache.size() == tokens);
  };
  BOOST_TEST(!step(past, 0, one));  // no memory yet
  BOOST_TEST(past.size() == 0u);
  past.attend_to(f.layer, memory);
  BOOST_TEST(past.memory_size() == 7u);
  all(past);
  BOOST_TEST(same_bits(out, f.layer(x, memory, self_mask(causal))));
  BOOST_TEST(past.rewind(0));
  BOOST_TEST(past.memory_size() == 7u);
  tensor<bool, key<9>> kept{};
  tensor<bool, key<7>> of_memory{};
  for (std::size_t j = 0; j < 7; ++j) of_memory(j) = kept(j) = j % 3 != 1;
  all(past, keep_mask(kept), self_mask(sliding_window<5>));
  const auto narrow = f.layer(x, memory, keep_mask(of_memory), self_mask(sliding_window<5>));
  BOOST_TEST(same_bits(out, narrow));
  slides.attend_to(f.layer, memory);
  all(slides, keep_mask(kept));
  BOOST_TEST(same_bits(out, narrow));
  past.reset();
  BOOST_TEST(past.memory_size() == 0u);
}
BOOST_AUTO_TEST_CASE(steps_are_the_whole_pass) { check_steps<layer_stack<llama, 2>>(); }

BOOST_AUTO_TEST_CASE(weights_of_attention_of_16_bits) {
  using finer = quantized<llama, softmax_as<std::int16_t>>;
  static const fixture<llama, 9, 7> f(self_mask(causal));
  static const finer layer{f.w, f.seen};
  lcg next{8};
  const auto x = drawn_integers<sequence<llama, 9>>(next, 16000);
  const auto memory = drawn_integers<memory_of<llama, 7>>(next, 127);
  const auto y = layer(x, memory, self_mask(causal)),
             coarser = f.layer(x, memory, self_mask(causal));
  BOOST_TEST(!same_bits(y, coarser));
  BOOST_TEST(relative_error(y, 1, coarser) < 0.02);
  static key_value_cache<finer, key<9>, longest_memory<7>> past;
  past.attend_to(layer, memory);
  auto steps = x;
  BOOST_TEST(past.step(steps, layer, steps));
  BOOST_TEST(same_bits(steps, y));
}

BOOST_AUTO_TEST_SUITE_END()
