// SPDX-License-Identifier: BSL-1.0
// What holds for a layer_stack of encoder and of decoder layers, in floats and in integers, to the
// bit: it is its layers one after another, in any form of its weights, into the memory of its
// argument, by any number of workers. Not here: steps of a cache (cache_of_blocks.cpp), formulas
// and files (uses/floats.cpp).
#include <boost/test/unit_test.hpp>
#include <umbel/quantized.hpp>
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>

#include <cstring>
#include <utility>

#include "../../examples/thread_pool.hpp"
#include "../support/blocks.hpp"
#include "../support/compare.hpp"
#include "../support/executors.hpp"
#include "../support/floats_and_integers.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <std::size_t Count>
using llamas = layer_stack<llama_block<encoder_layer>, Count>;
template <std::size_t Count>
using post_norms = layer_stack<vaswani_block<encoder_layer>, Count>;
template <std::size_t Count>
using llama_decoders = layer_stack<llama_block<decoder_layer>, Count>;
template <std::size_t Count>
using post_norm_decoders = layer_stack<vaswani_block<decoder_layer>, Count>;

template <class F>
void check_layers() {
  using Stack = typename F::block;
  using layer = typename Stack::layer;
  using tokens = typename F::template sequences_of<batch<2>, token<7>>;
  static const F f;
  lcg next{5};
  const auto x = F::template sequences<batch<2>, token<7>>(next);
  const auto m = F::template memories<batch<2>, key<5>>(next);
  const tensor<int, batch<2>> lens{5, 0}, own_lens{7, 4};
  const auto own = own_lens & causal;
  tokens each = x;
  for (std::size_t i = 0; i < Stack::count; ++i) each = F::pass(f.layer_at(i), each, m, lens, own);
  f.each_form([&](const auto& model) {
    BOOST_TEST(same_bits(each, F::pass(model, x, m, lens, own)));
    using work_of = typename F::template workspace<typename F::called, token<7>, key<5>>;
    static work_of work;
    if constexpr (F::is_of_floats && F::has_memory)
      static_assert(std::is_same_v<work_of, workspace_for<Stack, tokens, decltype(m)>>);
    else if constexpr (F::is_of_floats)
      static_assert(std::is_same_v<work_of, workspace_for<Stack, tokens>>);
    std::memset(static_cast<void*>(&work), 0xff, sizeof work);  // NaN
    tokens in_place = x;
    F::pass_into(model, in_place, in_place, m, lens, own, work);
    BOOST_TEST(same_bits(each, in_place));
  });
  tokens layer_in_place = x;
  F::pass_into(f.layer_at(0), layer_in_place, layer_in_place, m, lens, own);
  BOOST_TEST(same_bits(F::pass(f.layer_at(0), x, m, lens, own), layer_in_place));
  for (std::size_t b = 0; b < 2; ++b) {
    const auto at_b = [&](const auto& t) { return t | select_at<batch>(b) | contiguous; };
    BOOST_TEST(same_bits(
        F::pass(f.layer, at_b(x), at_b(m), tensor<int>{lens(b)}, causal & tensor<int>{own_lens(b)}),
        at_b(each)));
  }
  if constexpr (F::is_of_floats) {
    // Of weights that lie elsewhere, as an array or one by one.
    const typename layer::weights apart[] = {f.w[0], f.w[1], f.w[2]};
    BOOST_TEST(same_bits(each, F::pass(Stack{apart}, x, m, lens, own)));
    const typename layer::weights_view views[] = {apart[0], f.w[1], apart[2]};
    BOOST_TEST(
        same_bits(each, F::pass(Stack{typename Stack::weights_view(views)}, x, m, lens, own)));
  }
}

// Each executor: whole sequences by each worker, and those that are left in parts.
template <class F, std::size_t Batch, class Own>
void check_workers(const Own& own) {
  static const F f;
  lcg next{21};
  const auto x = F::template sequences<batch<Batch>, token<37>>(next);
  const auto m = F::template memories<batch<Batch>, key<21>>(next);
  tensor<int, batch<Batch>> lens{};
  for (std::size_t b = 0; b < Batch; ++b) lens(b) = static_cast<int>(21 - 4 * b);
  static typename F::template workspace<typename F::called, token<37>, key<21>> work[5];
  const auto check = [&](const auto& layers, auto&... executor) {
    const auto wanted = F::pass(layers, x, m, lens, own, work[0]);
    const auto by = [&](auto& workers) {
      std::memset(static_cast<void*>(work), 0xff, sizeof work);  // NaN
      BOOST_TEST(same_bits(F::pass(layers, x, m, lens, own, parallel(workers, work)), wanted));
      auto in_place = x;
      F::pass_into(layers, in_place, in_place, m, lens, own, parallel(workers, work));
      BOOST_TEST(same_bits(in_place, wanted));
    };
    (by(executor), ...);
  };
  static shuffled<5> shuffled_5;
  if constexpr (F::is_of_floats) {
    static thread_pool<2> pool_of_2;
    static thread_pool<5> pool_of_5;
    static const prepacked<typename F::block::layer> one{f.w[0]};
    check(f.layer, pool_of_2, pool_of_5, shuffled_5);
    check(one, pool_of_2, pool_of_5, shuffled_5);
  } else {
    check(f.layer, shuffled_5, serial);
  }
  BOOST_TEST(shuffled_5.pieces > 0u);
}
// Lengths of sequences that are 20, 0, 34, 3, 10, 17 positions long.
template <std::size_t Batch>
auto padded() {
  tensor<int, batch<Batch>> lens{};
  for (std::size_t b = 0; b < Batch; ++b)
    lens(b) = b == 1 ? 0 : static_cast<int>((20 + 7 * b) % 38);
  return std::move(lens) & causal;  // owns them
}

template <class Stack>
void check_16_bits() {
  using F = in_floats<Stack>;
  static const F f;
  lcg next{9};
  const auto x = F::template sequences<token<5>>(next);
  const auto m = F::template memories<token<3>>(next);
  using model = prepacked<Stack, stored_as<bfloat16>>;
  using layer = prepacked<typename Stack::layer, stored_as<bfloat16>>;
  static const model packed{f.w};
  const auto first = F::pass(layer{f.w[0]}, x, m, all_keys, causal);
  BOOST_TEST(same_bits(F::pass(packed, x, m, all_keys, causal),
                       F::pass(layer{f.w[1]}, first, m, all_keys, causal)));
  BOOST_TEST(model::in_memory(&packed, sizeof(packed)) == &packed);
  using shorter = prepacked<layer_stack<typename Stack::layer, 1>, stored_as<bfloat16>>;
  BOOST_TEST(shorter::in_memory(&packed, sizeof(packed)) == nullptr);
}

// By paths that begin with the number of the layer.
template <class Stack>
void check_numbers(const char* second_query, std::size_t parameters) {
  static typename Stack::weights w;
  std::size_t found = 0, count = 0;
  for_each_parameter(w, [&](const parameter_path& path, const auto& p) {
    ++count;
    if (path == second_query) found = p.size();
  });
  BOOST_TEST(found == 144u);
  BOOST_TEST(count == parameters);
  BOOST_TEST(count_parameters(w) == 2 * count_parameters(w[0]));
}

BOOST_AUTO_TEST_SUITE(stacks_of_layers)

BOOST_AUTO_TEST_CASE(are_the_layers_one_after_another) {
  check_layers<in_floats<llamas<3>>>();
  check_layers<in_floats<post_norms<3>>>();
  check_layers<in_floats<llama_decoders<3>>>();
  check_layers<in_floats<post_norm_decoders<3>>>();
}

BOOST_AUTO_TEST_CASE(in_integers_too) {
  check_layers<in_integers<post_norms<2>>>();
  check_layers<in_integers<post_norm_decoders<2>>>();
}

BOOST_AUTO_TEST_CASE(of_one_layer) {
  static const in_floats<post_norms<1>> f;
  lcg next{7};
  const auto x = f.sequences<token<5>>(next);
  BOOST_TEST(same_bits(f.layer(x), f.layer_at(0)(x)));
  BOOST_TEST(same_bits(x | f.layer, f.layer_at(0)(x)));
}

BOOST_AUTO_TEST_CASE(in_16_bits) {
  check_16_bits<llamas<2>>();
  check_16_bits<llama_decoders<2>>();
}

BOOST_AUTO_TEST_CASE(parameters_have_the_number_of_their_layer) {
  check_numbers<post_norms<2>>("1.attention.q.weight", 32);
  check_numbers<post_norm_decoders<2>>("1.cross_attention.q.weight", 52);
}

BOOST_AUTO_TEST_CASE(by_several_workers) {
  check_workers<in_floats<llamas<2>>, 1>(causal);
  check_workers<in_floats<llamas<2>>, 3>(causal);
  check_workers<in_floats<post_norms<2>>, 5>(causal);
  check_workers<in_floats<llama_decoders<2>>, 1>(causal);
  check_workers<in_floats<llama_decoders<2>>, 3>(causal);
  check_workers<in_floats<post_norm_decoders<2>>, 5>(causal);
}

BOOST_AUTO_TEST_CASE(by_several_workers_in_integers) {
  check_workers<in_integers<llamas<2>>, 1>(padded<1>());
  check_workers<in_integers<post_norms<2>>, 6>(padded<6>());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
