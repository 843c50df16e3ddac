// SPDX-License-Identifier: BSL-1.0
// footprint: its bytes are those of the objects, its operations those that are counted by hand.
#include <boost/test/unit_test.hpp>

#include <umbel/inspect/describe.hpp>
#include <umbel/inspect/fits.hpp>
#include <umbel/inspect/footprint.hpp>
#include <umbel/quantized.hpp>
#include <umbel/umbel.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace {

using namespace umbel;
using namespace umbel::axes;

template <std::size_t... N>
constexpr std::uint64_t product = (std::uint64_t{1} * ... * N);
// Of bench/peers/workloads.hpp.
constexpr std::uint64_t flops(std::uint64_t batches, std::uint64_t queries, std::uint64_t keys,
                              std::uint64_t width) {
  return batches * (2 * width * width * (2 * queries + 2 * keys) + 4 * queries * keys * width);
}

// ---- attention ----------------------------------------------------------------------------------
using attention = multi_head_attention<float, hidden<100>, heads<5>, bias<true>>;
using tokens = tensor<float, batch<2>, token<7>, hidden<100>>;
using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using context = tensor<float, batch<2>, key<6>, hidden<100>>;

constexpr auto self = footprint<attention, batch<2>, token<7>>;
static_assert(self.weights == sizeof(attention::weights) && self.cache == 0);
static_assert(self.workspace == sizeof(attention::workspace<token<7>>));
static_assert(self.arguments == sizeof(tokens) && self.results == sizeof(tokens));
static_assert(self.flops == flops(2, 7, 7, 100));
static_assert(self.bytes_moved == sizeof(attention::weights) + 2 * sizeof(tokens));
static_assert(self.ram == self.workspace + 2 * sizeof(tokens));
static_assert(self.ram_with_weights == self.ram + sizeof(attention::weights));
// Axes are short for tensors; a view is as large as what it sees.
template <class... X>
constexpr bool same_as_self =
    footprint<attention, X...>.ram == self.ram && footprint<attention, X...>.flops == self.flops;
static_assert(same_as_self<tokens> && same_as_self<const tokens&>);
static_assert(same_as_self<view<const float, batch<2>, token<7>, hidden<100>>>);

constexpr auto cross = footprint<attention, batch<2>, query<4>, key<6>>;
static_assert(cross.workspace == sizeof(workspace_for<attention, queries, context, context>));
static_assert(cross.arguments == sizeof(queries) + 2 * sizeof(context));
static_assert(cross.results == sizeof(queries) && cross.flops == flops(2, 4, 6, 100));
static_assert(footprint<attention, queries, context, context>.ram == cross.ram);

// Packed weights, of 16 bits too, take what they take; the rest is that of the layer.
using packed = prepacked<attention, stored_as<bfloat16>>;
static_assert(footprint<packed, batch<2>, token<7>>.weights == sizeof(packed));
static_assert(footprint<packed, batch<2>, token<7>>.ram == self.ram);
static_assert(footprint<packed, batch<2>, token<7>>.flops == self.flops);
static_assert(footprint<const prepacked<attention>, token<1>>.weights ==
              sizeof(prepacked<attention>));

// Widths of their own, grouped heads, double; one position of one feature.
using grouped =
    multi_head_attention<double, hidden<12>, heads<4>, kv_heads<2>, head_dim<8>, value_dim<5>,
                         keys_from<hidden<6>>, values_from<hidden<7>>, output_to<hidden<9>>>;
constexpr auto of_grouped = footprint<grouped, query<3>, key<11>>;
static_assert(of_grouped.flops ==
              2 * (3 * 12 * 32 + 11 * 6 * 16 + 11 * 7 * 10 + 3 * 11 * 4 * (8 + 5) + 3 * 20 * 9));
static_assert(of_grouped.arguments == (3 * 12 + 11 * 6 + 11 * 7) * sizeof(double));
static_assert(of_grouped.results == 3 * 9 * sizeof(double));
static_assert(footprint<multi_head_attention<float, hidden<1>, heads<1>>, token<1>>.flops == 12);

// describe counts the same.
static_assert(plan_of<attention, token<7>>::flops * 2 == static_cast<double>(self.flops));
static_assert(plan_of<grouped, query<3>, key<11>>::flops == static_cast<double>(of_grouped.flops));

// More than a number of 32 bits holds.
static_assert(footprint<multi_head_attention<float, hidden<4096>, heads<32>>, token<4096>>.flops ==
              flops(1, 4096, 4096, 4096));

using additive =
    additive_attention<float, hidden<20>, score_hidden<8>, keys_from<hidden<2>>, heads<2>>;
using of_two = tensor<float, key<10>, hidden<2>>;
using of_four = tensor<float, key<10>, head_dim<4>>;
constexpr auto by_tanh = footprint<additive, tensor<float, query<3>, hidden<20>>, of_two, of_four>;
static_assert(by_tanh.flops == 2 * (3 * 20 * 16 + 10 * 2 * 16 + 3 * 10 * 2 * 8 + 3 * 10 * 4));
static_assert(by_tanh.results == 3 * 4 * sizeof(float));
static_assert(by_tanh.weights == sizeof(additive::weights));

using one_head = tensor<float, heads<4>, query<8>, head_dim<16>>;
using its_keys = tensor<float, heads<4>, key<12>, head_dim<16>>;
using dot_product = decltype(scaled_dot_product_attention);
constexpr auto of_product = footprint<dot_product, one_head, its_keys, its_keys>;
static_assert(of_product.flops == 4 * product<4, 8, 12, 16> && of_product.weights == 0);
static_assert(of_product.workspace ==
              sizeof(workspace_for<dot_product, one_head, its_keys, its_keys>));

// ---- blocks -------------------------------------------------------------------------------------
using encoder = encoder_layer<float, hidden<64>, heads<8>, intermediate<172>, kv_heads<4>,
                              norm_first<true>, norm_by<rms_norm>, norm_epsilon<1, 100'000>,
                              activation<silu>, gated<true>, bias<false>, rope<split_halves>>;
constexpr auto encoded = footprint<encoder, batch<3>, token<5>>;
static_assert(encoded.flops ==
              3 * (2 * product<5, 64> * (64 + 32 + 32 + 64 + 3 * 172) + 4 * product<5, 5, 64>));
static_assert(encoded.workspace == sizeof(encoder::workspace<token<5>>));
static_assert(encoded.weights == sizeof(encoder::weights));

// Layers after one another: their weights and work, the memory of one.
using model = layer_stack<encoder, 4>;
constexpr auto stacked = footprint<model, batch<3>, token<5>>;
static_assert(stacked.weights == 4 * encoded.weights && stacked.flops == 4 * encoded.flops);
static_assert(stacked.ram == encoded.ram);
static_assert(footprint<prepacked<model>, token<5>>.weights == sizeof(prepacked<model>));
static_assert(footprint<prepacked<model>, token<5>>.flops * 3 == stacked.flops);

using decoder = decoder_layer<float, hidden<32>, heads<4>, intermediate<64>, norm_first<false>,
                              activation<relu>, bias<true>>;
constexpr auto decoded = footprint<decoder, batch<2>, token<4>, key<9>>;
static_assert(decoded.flops ==
              flops(2, 4, 4, 32) + flops(2, 4, 9, 32) + 2 * 4 * product<4, 32, 64>);
static_assert(decoded.workspace == sizeof(decoder::workspace<token<4>, key<9>>));
static_assert(decoded.arguments == 2 * (4 + 9) * 32 * sizeof(float));
// Several of them, by axes and by the types of the arguments.
using decoders = layer_stack<decoder, 3>;
constexpr auto all_decoded = footprint<decoders, batch<2>, token<4>, key<9>>;
static_assert(all_decoded.flops == 3 * decoded.flops && all_decoded.ram == decoded.ram);
static_assert(all_decoded.weights == sizeof(decoders::weights));
constexpr auto of_arguments = footprint<prepacked<decoders>, tensor<float, token<4>, hidden<32>>,
                                        view<const float, key<9>, hidden<32>>>;
static_assert(of_arguments.flops * 2 == all_decoded.flops);
static_assert(of_arguments.weights == sizeof(prepacked<decoders>));
static_assert(footprint<decoders, token<1>, key<1>>.flops ==
              3 * (2 * flops(1, 1, 1, 32) + 4 * 32 * 64));

using network = feed_forward<float, hidden<8>, intermediate<16>, activation<relu>, bias<true>>;
static_assert(footprint<network, batch<2>, token<5>>.flops == 4 * product<2, 5, 8, 16>);
static_assert(footprint<network, batch<2>, token<5>>.workspace ==
              sizeof(network::workspace<token<5>>));
using classify = linear<float, hidden<32>, classes<10>, bias<true>>;
static_assert(footprint<classify, token<5>>.flops == 2 * product<5, 32, 10>);
static_assert(footprint<classify, token<5>>.workspace == 0);
static_assert(footprint<prepacked<classify>, token<5>>.weights == sizeof(prepacked<classify>));

// Of an embedding only the rows of the integers are read, and no more than there are.
using embed = embedding<float, vocabulary<50>, hidden<32>>;
using ids = tensor<std::int16_t, batch<2>, token<9>>;
constexpr auto looked_up = footprint<embed, ids>;
static_assert(looked_up.weights == sizeof(embed::weights) && looked_up.flops == 0);
static_assert(looked_up.arguments == sizeof(ids));
static_assert(looked_up.results == 2 * 9 * 32 * sizeof(float));
static_assert(looked_up.bytes_moved == sizeof(ids) + 2 * looked_up.results);
static_assert(footprint<embed, token<51>>.bytes_moved ==
              sizeof(embed::weights) + 51 * (sizeof(int) + 32 * sizeof(float)));
static_assert(footprint<embed, batch<2>, token<1>>.bytes_moved ==
              2 * (sizeof(int) + 2 * 32 * sizeof(float)));
using packed_embed = prepacked<embed, stored_as<bfloat16>>;
static_assert(footprint<packed_embed, ids>.weights == sizeof(packed_embed));
static_assert(looked_up.bytes_moved - footprint<packed_embed, ids>.bytes_moved == 2 * 9 * 32 * 2);
using embed_in_8_bits = prepacked<embed, stored_as<std::int8_t>>;
static_assert(footprint<embed_in_8_bits, ids>.weights == sizeof(embed_in_8_bits));
static_assert(looked_up.bytes_moved - footprint<embed_in_8_bits, ids>.bytes_moved ==
              2 * 9 * (32 * 3 - sizeof(float)));
static_assert(footprint<prepacked<embed>, ids>.bytes_moved == looked_up.bytes_moved);
static_assert(footprint<classify, token<5>>.results == 5 * 10 * sizeof(float));
using norm = layer_norm<double, hidden<3>>;
static_assert(footprint<norm, token<5>>.weights == 2 * 3 * sizeof(double));
static_assert(footprint<norm, token<5>>.flops == 0);
using positions = learned_positions<float, token<5>, hidden<8>>;
static_assert(footprint<positions, token<5>>.weights == 5 * 8 * sizeof(float));
static_assert(footprint<decltype(softmax<key>), its_keys>.ram == 2 * sizeof(its_keys));

// ---- steps of a cache ---------------------------------------------------------------------------
using past = key_value_cache<model, key<256>>;
using one_token = tensor<float, token<1>, hidden<64>>;
constexpr auto step = footprint<past, token<1>>;
static_assert(step.cache == sizeof(past) && step.weights == sizeof(model::weights));
static_assert(step.workspace == sizeof(workspace_for<past, one_token>));
// Of bench/layer/decode.cpp.
static_assert(step.flops == 4 * (2 * 64 * (64 + 32 + 32 + 64 + 3 * 172) + 4 * product<64, 256>));
static_assert(step.ram == sizeof(past) + step.workspace + 2 * sizeof(one_token));
static_assert(step.bytes_moved ==
              step.weights + 2 * sizeof(one_token) + 4 * (256 + 1) * 2 * 32 * sizeof(float));
static_assert(footprint<past, token<1>, key<256>>.flops == step.flops);
// Packed: the weights of what the step calls.
using packed_model = prepacked<model, stored_as<bfloat16>>;
constexpr auto packed_step = footprint<packed_model, past, token<1>, key<100>>;
static_assert(packed_step.weights == sizeof(packed_model) && packed_step.ram == step.ram);
static_assert(step.flops - packed_step.flops == 4 * 4 * 64 * (256 - 100));

// Several positions at once do what they do one after another.
template <class Cache, std::size_t... N>
constexpr std::uint64_t one_by_one(std::index_sequence<N...>) {
  return (... + footprint<Cache, token<1>, key<N + 1>>.flops);
}
using own_past = key_value_cache<attention, key<9>, batch<2>>;
static_assert(footprint<own_past, token<9>>.flops ==
              one_by_one<own_past>(std::make_index_sequence<9>{}));
static_assert(footprint<own_past, token<1>>.results == 2 * 100 * sizeof(float));
// A sliding cache: no query sees more than its window.
using sliding = key_value_cache<attention, key<5>, longest_sequence<4096, 3>, batch<2>>;
static_assert(footprint<sliding, token<1>, key<4096>>.flops ==
              footprint<sliding, token<1>, key<5>>.flops);
static_assert(footprint<sliding, token<3>>.flops == 3 * footprint<sliding, token<1>>.flops);
static_assert(footprint<sliding, token<3>, key<7>>.flops == footprint<sliding, token<3>>.flops);
static_assert(footprint<sliding, token<3>, key<6>>.flops < footprint<sliding, token<3>>.flops);
static_assert(footprint<sliding, token<3>>.bytes_moved - footprint<sliding, token<3>>.weights ==
              2 * (2 * 3 * 100 + (7 + 3) * 2 * 100) * sizeof(float));
using halved = key_value_cache<attention, key<9>, stored_as<float16>>;
static_assert(footprint<halved, token<1>>.cache == sizeof(halved));
static_assert(footprint<halved, token<1>>.bytes_moved ==
              sizeof(attention::weights) + 2 * 100 * sizeof(float) + (9 + 1) * 200 * 2);

using quartered = key_value_cache<attention, key<9>, stored_as<std::int8_t>>;
static_assert(footprint<quartered, token<1>>.cache == sizeof(quartered));
static_assert(sizeof(quartered) < sizeof(halved));
static_assert(footprint<quartered, token<1>>.bytes_moved ==
              sizeof(attention::weights) + 2 * 100 * sizeof(float) +
                  (9 + 1) * (200 + 2 * attention::sizes.kv_heads * sizeof(float)));

// Of decoder layers: their sequence, and the memory, whose keys and values are there.
using beside_memory = key_value_cache<decoders, key<32>, longest_memory<9>>;
constexpr auto beside = footprint<beside_memory, token<1>>;
static_assert(beside.flops == 3 * (2 * 4 * 32 * 32 + 4 * 32 * 32 +  // its own sequence
                                   2 * 2 * 32 * 32 + 4 * 9 * 32 +   // the memory
                                   4 * 32 * 64));                   // feed-forward
static_assert(beside.weights == sizeof(decoders::weights));
static_assert(beside.cache == sizeof(beside_memory));
static_assert(beside.workspace == sizeof(beside_memory::workspace<token<1>>));
static_assert(beside.arguments == 32 * sizeof(float) && beside.results == beside.arguments);
// The weights of the memory's keys and values are read by attend_to.
static_assert(beside.bytes_moved ==
              sizeof(decoders::weights) + 2 * 32 * sizeof(float) +
                  3 * ((32 + 1 + 9) * 2 * 32 - 2 * (32 * 32 + 32)) * sizeof(float));
static_assert(beside.flops - footprint<beside_memory, token<1>, key<32>, key<1>>.flops ==
              3 * 4 * 8 * 32);
static_assert(footprint<beside_memory, token<1>, key<32>, key<9>>.bytes_moved ==
              beside.bytes_moved);
static_assert(beside.bytes_moved -
                  footprint<beside_memory, token<1>, key<32>, key<1>>.bytes_moved ==
              3 * 8 * 2 * 32 * sizeof(float));
// attend_to and all steps do what the whole pass does, but for what causal hides.
static_assert(footprint<beside_memory, token<32>>.flops + 3 * 2 * 2 * 9 * 32 * 32 ==
              footprint<decoders, token<32>, key<9>>.flops - 3 * 4 * 32 * (32 * 31 / 2));
static_assert(footprint<beside_memory, token<9>, key<9>>.flops ==
              one_by_one<beside_memory>(std::make_index_sequence<9>{}));
using packed_decoders = prepacked<decoders, stored_as<bfloat16>>;
constexpr auto packed_beside = footprint<packed_decoders, beside_memory, token<1>>;
static_assert(packed_beside.weights == sizeof(packed_decoders));
static_assert(packed_beside.flops == beside.flops && packed_beside.ram == beside.ram);
static_assert(
    packed_beside.weights - packed_beside.bytes_moved + beside.bytes_moved - beside.weights ==
    3 * 2 *
        (sizeof(std::declval<const packed_decoders&>().get_weights().layers[0].cross_attention.k) -
         (32 * 32 + 32) * sizeof(float)));
// Of one layer, of two sequences, stored in 16 bits.
using beside_two =
    key_value_cache<decoder, key<5>, longest_memory<9>, batch<2>, stored_as<float16>>;
constexpr auto two = footprint<beside_two, token<2>, key<2>, key<4>>;
static_assert(two.cache == sizeof(beside_two) && two.arguments == 2 * 2 * 32 * sizeof(float));
static_assert(two.flops == 2 * (2 * 2 * 4 * 32 * 32 + 4 * 3 * 32 + 2 * 2 * 2 * 32 * 32 +
                                4 * 2 * 4 * 32 + 2 * 4 * 32 * 64));
static_assert(two.bytes_moved == sizeof(decoder::weights) - 2 * (32 * 32 + 32) * sizeof(float) +
                                     2 * two.arguments + 2 * (2 + 2 + 4) * 2 * 32 * 2);

// ---- composed blocks ----------------------------------------------------------------------------
// The list of an encoder layer needs what the layer needs; so does a step of its cache.
template <bool First, class Norm, class Part>
struct joined {
  using type = block_parts::pre_norm<Norm, Part>;
};
template <class Norm, class Part>
struct joined<false, Norm, Part> {
  using type = block_parts::post_norm<Norm, Part>;
};
template <bool First>
using layer_of_two = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, norm_first<First>,
                                   activation<silu>, bias<true>, kv_heads<2>, rope<split_halves>>;
using own_attention = block_parts::self_attention<block_parts::name::attention, heads<4>,
                                                  kv_heads<2>, rope<split_halves>, bias<true>>;
using own_network =
    block_parts::feed_forward_network<block_parts::name::feed_forward, intermediate<64>,
                                      activation<silu>, bias<true>>;
template <bool First>
using list_of_two =
    residual_block<float, hidden<32>,
                   typename joined<First, block_parts::name::norm1, own_attention>::type,
                   typename joined<First, block_parts::name::norm2, own_network>::type>;
constexpr bool same_numbers(const call_footprint& a, const call_footprint& b) {
  return a.weights == b.weights && a.tables == b.tables && a.cache == b.cache &&
         a.workspace == b.workspace && a.arguments == b.arguments && a.results == b.results &&
         a.flops == b.flops && a.bytes_moved == b.bytes_moved && a.ram == b.ram;
}
template <class A, class B, class... X>
constexpr bool same_needs = same_numbers(footprint<A, X...>, footprint<B, X...>);
static_assert(same_needs<layer_of_two<true>, list_of_two<true>, batch<2>, token<9>>);
static_assert(same_needs<layer_of_two<false>, list_of_two<false>, token<9>>);
static_assert(same_needs<layer_stack<layer_of_two<true>, 3>, layer_stack<list_of_two<true>, 3>,
                         tensor<float, token<9>, hidden<32>>>);
template <class Layer>
using past_of = key_value_cache<Layer, key<20>, batch<2>, stored_as<float16>>;
static_assert(same_needs<past_of<layer_of_two<true>>, past_of<list_of_two<true>>, token<3>>);
static_assert(
    same_needs<past_of<layer_of_two<false>>, past_of<list_of_two<false>>, token<1>, key<7>>);
// A parallel block: the same parts, one norm.
using in_parallel =
    residual_block<float, hidden<32>,
                   block_parts::pre_norm<block_parts::name::norm, own_attention, own_network>>;
constexpr auto parallel_parts = footprint<in_parallel, token<9>>;
static_assert(parallel_parts.flops == footprint<layer_of_two<true>, token<9>>.flops);
static_assert(parallel_parts.weights ==
              sizeof(layer_of_two<true>::weights) - 2 * 32 * sizeof(float));
static_assert(parallel_parts.workspace == sizeof(in_parallel::workspace<token<9>>));
static_assert(footprint<past_of<in_parallel>, token<3>>.cache == sizeof(past_of<in_parallel>));
// Two attentions to the sequence and one to a memory: all are counted, of a step, too.
using of_three = residual_block<
    float, hidden<32>, block_parts::pre_norm<block_parts::name::norm1, own_attention>,
    block_parts::pre_norm<block_parts::name::norm2,
                          block_parts::cross_attention<block_parts::name::cross_attention, heads<4>,
                                                       query_key_norm<layer_norm>>>,
    block_parts::without_norm<block_parts::linear_map<block_parts::name::linear>>,
    block_parts::without_norm<
        block_parts::self_attention<block_parts::name::self_attention, heads<4>>>>;
constexpr auto three = footprint<of_three, token<9>, key<5>>;
static_assert(three.weights == sizeof(of_three::weights));
static_assert(three.flops == 2 * 9 * 32 * (32 + 16 + 16 + 32) +
                                 4 * 9 * 9 * 32 +  // keys of two heads
                                 2 * 32 * 32 * (9 + 5 + 5 + 9) + 4 * 9 * 5 * 32 +  // the memory
                                 2 * 9 * 32 * 32 + 2 * 9 * 32 * 4 * 32 + 4 * 9 * 9 * 32);
using past_of_three = key_value_cache<of_three, key<9>, longest_memory<5>>;
constexpr auto third = footprint<past_of_three, token<1>>;
static_assert(third.cache == sizeof(past_of_three) && third.weights == three.weights);
static_assert(third.flops == 2 * 32 * (32 + 16 + 16 + 32) + 4 * 9 * 32 + 2 * 32 * 32 * 2 +
                                 4 * 5 * 32 + 2 * 32 * 32 + 2 * 32 * 4 * 32 + 4 * 9 * 32);
static_assert(third.bytes_moved == third.weights + 2 * 32 * sizeof(float) +
                                       ((9 + 1) * (2 * 16 + 2 * 32) + 5 * 2 * 32) * sizeof(float) -
                                       (2 * 32 * 32 + 2 * 8) * sizeof(float));  // k, v, k_norm

// ---- tables of positions ------------------------------------------------------------------------
// Cosine and sine of 4 pairs a position; those of the queries and of the keys, where they differ.
static_assert(encoded.tables == 5 * 4 * 2 * sizeof(float) && stacked.tables == encoded.tables);
static_assert(encoded.ram_with_weights == encoded.ram + encoded.weights + encoded.tables);
static_assert(step.tables == 256 * 4 * 2 * sizeof(float));
static_assert(footprint<past, token<9>>.tables == step.tables);
using rotated = multi_head_attention<double, hidden<12>, heads<2>, rope<adjacent_pairs>>;
static_assert(footprint<rotated, query<3>, key<7>>.tables == (3 + 7) * 3 * 2 * sizeof(double));
static_assert(footprint<rotated, query<7>, key<7>>.tables == 7 * 3 * 2 * sizeof(double));
static_assert(self.tables == 0 && decoded.tables == 0);
using sinusoids = sinusoidal_positions<float, token<20>, hidden<8>, adjacent_pairs>;
static_assert(footprint<sinusoids, token<5>>.tables == 20 * 8 * sizeof(float));

// ---- layers in integers -------------------------------------------------------------------------
// Their own weights, tables, cache and scratch; the operations of the layer of floats.
template <class Layer, class... X>
constexpr auto floats_do = footprint<Layer, X...>.flops;

using narrow = quantized<attention>;
using bytes = tensor<std::int8_t, batch<2>, token<7>, hidden<100>>;
constexpr auto in_bytes = footprint<narrow, batch<2>, token<7>>;
static_assert(in_bytes.weights == sizeof(narrow) && in_bytes.tables == 0);
static_assert(in_bytes.weights < self.weights * 3 / 10);
static_assert(in_bytes.workspace == sizeof(narrow::workspace<token<7>>));
static_assert(in_bytes.workspace == sizeof(workspace_for<narrow, bytes>));
static_assert(in_bytes.arguments == sizeof(bytes) && in_bytes.results == sizeof(bytes));
static_assert(in_bytes.flops == self.flops);
static_assert(in_bytes.bytes_moved == sizeof(narrow) + 2 * sizeof(bytes));
static_assert(in_bytes.ram == in_bytes.workspace + 2 * sizeof(bytes));
static_assert(footprint<narrow, bytes>.ram == in_bytes.ram);
// The weights of attention in 16 bits, and a residual sum: other scratch, other results.
using to_sums = quantized<attention, output_as<std::int16_t>, softmax_as<std::int16_t>>;
constexpr auto summed = footprint<to_sums, batch<2>, query<4>, key<6>>;
static_assert(summed.workspace == sizeof(to_sums::workspace<query<4>, key<6>>));
static_assert(summed.arguments == 2 * (4 + 6 + 6) * 100 && summed.results == 2 * 4 * 100 * 2);
static_assert(summed.flops == cross.flops);
using of_other_widths = quantized<grouped>;
constexpr auto of_widths = footprint<of_other_widths, query<3>, key<11>>;
static_assert(of_widths.arguments == 3 * 12 + 11 * 6 + 11 * 7 && of_widths.results == 3 * 9);
static_assert(of_widths.flops == of_grouped.flops);

using narrow_encoder = quantized<encoder>;
using narrow_model = quantized<model>;
using sums = tensor<std::int16_t, batch<3>, token<5>, hidden<64>>;
constexpr auto in_sums = footprint<narrow_encoder, batch<3>, token<5>>;
static_assert(in_sums.weights == sizeof(narrow_encoder) && in_sums.flops == encoded.flops);
static_assert(in_sums.workspace == sizeof(workspace_for<narrow_encoder, sums>));
static_assert(in_sums.arguments == sizeof(sums) && in_sums.results == sizeof(sums));
static_assert(in_sums.tables == 5 * 4 * 2 * sizeof(std::int16_t));
constexpr auto all_in_sums = footprint<narrow_model, sums>;
static_assert(all_in_sums.weights == sizeof(narrow_model) && all_in_sums.ram == in_sums.ram);
static_assert(all_in_sums.flops == stacked.flops && all_in_sums.tables == in_sums.tables);

using narrow_decoders = quantized<decoders>;
constexpr auto with_memory = footprint<narrow_decoders, batch<2>, token<4>, key<9>>;
static_assert(with_memory.weights == sizeof(narrow_decoders));
static_assert(with_memory.workspace == sizeof(narrow_decoders::workspace<token<4>, key<9>>));
static_assert(with_memory.workspace ==
              sizeof(workspace_for<narrow_decoders, tensor<std::int16_t, token<4>, hidden<32>>,
                                   tensor<std::int8_t, key<9>, hidden<32>>>));
static_assert(with_memory.arguments == 2 * (4 * 32 * 2 + 9 * 32));
static_assert(with_memory.results == 2 * 4 * 32 * 2 && with_memory.flops == all_decoded.flops);
static_assert(with_memory.tables == 0);

constexpr auto narrow_network = footprint<quantized<network>, batch<2>, token<5>>;
static_assert(narrow_network.weights == sizeof(quantized<network>));
static_assert(narrow_network.workspace ==
              sizeof(workspace_for<quantized<network>, tensor<std::int8_t, token<5>, hidden<8>>>));
static_assert(narrow_network.flops == floats_do<network, batch<2>, token<5>>);
static_assert(narrow_network.results == 2 * 5 * 8 && narrow_network.arguments == 2 * 5 * 8);
using answer = quantized<classify, output_as<std::int16_t>>;
static_assert(footprint<answer, token<5>>.flops == floats_do<classify, token<5>>);
static_assert(footprint<answer, token<5>>.weights == sizeof(answer));
static_assert(footprint<answer, token<5>>.arguments == 5 * 32);
static_assert(footprint<answer, token<5>>.results == 5 * 10 * 2);
static_assert(footprint<quantized<norm>, token<5>>.weights == sizeof(quantized<norm>));
static_assert(footprint<quantized<norm>, token<5>>.arguments ==
              2 * footprint<quantized<norm>, token<5>>.results);
static_assert(footprint<quantized<positions>, token<5>>.weights == 5 * 8 * 2);
static_assert(footprint<quantized<positions>, token<5>>.results == 5 * 8 * 2);
using narrow_sinusoids =
    quantized<sinusoidal_positions<float, token<20>, hidden<8>, adjacent_pairs>>;
static_assert(footprint<narrow_sinusoids, token<5>>.weights == 20 * 8 * 2);
static_assert(footprint<narrow_sinusoids, token<5>>.tables == 0);
constexpr auto narrow_words = footprint<quantized<embed>, ids>;
static_assert(narrow_words.weights == sizeof(quantized<embed>));
static_assert(narrow_words.arguments == sizeof(ids) && narrow_words.results == 2 * 9 * 32 * 2);
static_assert(narrow_words.bytes_moved == sizeof(ids) + 2 * narrow_words.results);
constexpr auto pooled = footprint<quantized_mean<token<7>>, bytes>;
static_assert(pooled.weights == sizeof(quantized_mean<token<7>>) && pooled.results == 2 * 100);

// Steps.
using narrow_past = key_value_cache<narrow_model, key<256>>;
constexpr auto narrow_step = footprint<narrow_past, token<1>>;
static_assert(narrow_step.cache == sizeof(narrow_past));
static_assert(narrow_step.weights == sizeof(narrow_model) && narrow_step.flops == step.flops);
static_assert(narrow_step.workspace == sizeof(narrow_past::workspace<token<1>>));
static_assert(narrow_step.arguments == 64 * 2 && narrow_step.results == 64 * 2);
static_assert(narrow_step.tables == 256 * 4 * 2 * sizeof(std::int16_t));
static_assert(narrow_step.bytes_moved == narrow_step.weights + 2 * 64 * 2 + 4 * (256 + 1) * 2 * 32);
static_assert(narrow_step.ram < step.ram * 3 / 10);
using past_of_bytes = key_value_cache<to_sums, key<5>, longest_sequence<4096, 3>, batch<2>>;
constexpr auto step_of_bytes = footprint<past_of_bytes, token<3>>;
static_assert(step_of_bytes.cache == sizeof(past_of_bytes));
static_assert(step_of_bytes.flops == footprint<sliding, token<3>>.flops);
static_assert(step_of_bytes.arguments == 2 * 3 * 100 && step_of_bytes.results == 2 * 3 * 100 * 2);
using narrow_beside = key_value_cache<narrow_decoders, key<32>, longest_memory<9>>;
constexpr auto step_beside = footprint<narrow_beside, token<1>>;
static_assert(step_beside.cache == sizeof(narrow_beside) && step_beside.flops == beside.flops);
static_assert(step_beside.workspace == sizeof(narrow_beside::workspace<token<1>>));
static_assert(
    step_beside.weights - step_beside.bytes_moved + 2 * 32 * 2 + 3 * (32 + 1 + 9) * 2 * 32 ==
    3 * 2 *
        sizeof(std::declval<const narrow_decoders&>().get_weights().layers[0].cross_attention.k));
static_assert(footprint<narrow_beside, token<1>, key<8>, key<2>>.flops ==
              footprint<beside_memory, token<1>, key<8>, key<2>>.flops);

// And what is built on it.
static_assert(fits<board::microbit, narrow_encoder, token<5>>);
static_assert((in_sums + footprint<answer, token<5>>).weights ==
              sizeof(narrow_encoder) + sizeof(answer));

// ---- formulas -----------------------------------------------------------------------------------
constexpr formula by_words = [](auto q, auto k, auto v) {
  return contract<key>(softmax<key>(contract<head_dim>(q, k) * 0.25f), v);
};
using words = decltype(by_words);
constexpr auto spelled = footprint<words, one_head, its_keys, its_keys>;
static_assert(spelled.flops == of_product.flops && spelled.results == sizeof(one_head));
static_assert(spelled.workspace == sizeof(workspace_for<words, one_head, its_keys, its_keys>));
static_assert(spelled.arguments == sizeof(one_head) + 2 * sizeof(its_keys));
// What a window hides is not counted: of 8 queries the first sees one key.
constexpr formula by_window = [](auto q, auto k, auto v) {
  auto scores = hide(contract<head_dim>(q, k), position<key> > position<query>);
  return contract<key>(softmax<key>(scores), v);
};
static_assert(footprint<decltype(by_window), one_head, its_keys, its_keys>.flops ==
              4 * product<4, 16> * (8 * 9 / 2));
// Weights that are changed after the softmax: in blocks of queries.
constexpr formula by_rows = [](auto q, auto k, auto v) {
  auto weights = softmax<key>(contract<head_dim>(q, k));
  return contract<key>(weights * weights, v);
};
static_assert(footprint<decltype(by_rows), one_head, its_keys, its_keys>.flops == of_product.flops);
// Weights and layers among the arguments; several results.
constexpr formula with_layers = [](auto x, const auto& layers, const auto& w) {
  auto y = layers(x, causal) + x;
  return std::pair{y, y * w};
};
using sequence = tensor<float, token<5>, hidden<64>>;
using head = linear<float, hidden<64>, classes<10>>;
constexpr auto mixed = footprint<decltype(with_layers), sequence, prepacked<model>, head::weights>;
static_assert(mixed.weights == sizeof(prepacked<model>) + sizeof(head::weights));
static_assert(mixed.flops == footprint<model, token<5>>.flops + footprint<head, token<5>>.flops);
static_assert(mixed.tables == footprint<model, token<5>>.tables && spelled.tables == 0);
constexpr formula placed = [](auto x) { return sinusoids{}(x); };
static_assert(footprint<decltype(placed), tensor<float, token<5>, hidden<8>>>.tables ==
              sizeof(sinusoids::table));
constexpr formula turned = [](auto x) { return rotate<split_halves, token, hidden>(x) + x; };
using eight = tensor<float, token<5>, hidden<8>>;
static_assert(footprint<decltype(turned), eight>.tables == 5 * 4 * 2 * sizeof(float));
static_assert(footprint<decltype(rotate<split_halves, token, hidden>()), eight>.tables ==
              footprint<decltype(turned), eight>.tables);
static_assert(mixed.results == sizeof(sequence) + 5 * 10 * sizeof(float));
static_assert(footprint<decltype(with_layers), sequence, model, head::weights_view>.weights ==
              sizeof(model::weights) + sizeof(head::weights));

// ---- sums ---------------------------------------------------------------------------------------
constexpr auto both = footprint<encoder, token<5>> + footprint<head, token<5>> + step;
static_assert(both.weights == sizeof(encoder::weights) + sizeof(head::weights) + step.weights);
static_assert(both.workspace == std::max(footprint<encoder, token<5>>.workspace, step.workspace));
static_assert(both.cache == step.cache);
static_assert(both.results == footprint<encoder, token<5>>.results);
static_assert(both.ram == both.workspace + both.cache + both.arguments + both.results);
static_assert((both + call_footprint{}).ram_with_weights == both.ram_with_weights);
static_assert(call_footprint{.workspace = 3, .results = 4}.ram == 7);

// A workspace of so many bytes, between bytes that a call must not touch.
template <class Workspace>
struct guarded {
  static constexpr std::size_t edge = 256;
  alignas(64) unsigned char bytes[edge + sizeof(Workspace) + edge];

  template <class Call>
  void check(std::size_t size, Call call) {
    std::memset(bytes, 0xA5, sizeof bytes);
    call(*static_cast<Workspace*>(static_cast<void*>(bytes + edge)));
    std::size_t first = sizeof bytes, last = 0;
    for (std::size_t i = 0; i < sizeof bytes; ++i)
      if (bytes[i] != 0xA5) {
        first = i < first ? i : first;
        last = i;
      }
    BOOST_TEST(first == edge);
    BOOST_TEST(last >= edge + size / 4);  // small code needs less of what is there
    BOOST_TEST(last < edge + size);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(footprints)

BOOST_AUTO_TEST_CASE(a_call_takes_its_workspace_and_no_byte_more) {
  static const attention::weights of_attention{};
  static const model::weights of_model{};
  static const tokens x{};
  static tokens y;
  static guarded<attention::workspace<token<7>>> own;
  own.check(self.workspace, [&](attention::workspace<token<7>>& work) {
    attention{of_attention}.into(y, x, causal, work);
  });

  static const tensor<float, batch<3>, token<5>, hidden<64>> sequences{};
  static tensor<float, batch<3>, token<5>, hidden<64>> encodings;
  static guarded<model::workspace<token<5>>> of_stack;
  of_stack.check(stacked.workspace, [&](model::workspace<token<5>>& work) {
    model{of_model}.into(encodings, sequences, all_keys, work);
  });

  static const narrow_model integers{};
  static sums of_integers{};
  static guarded<narrow_model::workspace<token<5>>> narrow_work;
  narrow_work.check(all_in_sums.workspace, [&](narrow_model::workspace<token<5>>& work) {
    integers.into(of_integers, of_integers, all_keys, work);
  });

  static past memory;
  static one_token next{};
  static guarded<past::workspace<token<1>>> of_step;
  of_step.check(step.workspace, [&](past::workspace<token<1>>& work) {
    BOOST_TEST(memory.step(next, model{of_model}, next, all_keys, work));
  });

  static const decoders::weights of_decoders{};
  static const tensor<float, key<9>, hidden<32>> other{};
  static tensor<float, token<1>, hidden<32>> decoding{};
  static beside_memory both_memories;
  both_memories.attend_to(decoders{of_decoders}, other);
  static guarded<beside_memory::workspace<token<1>>> of_decoding;
  of_decoding.check(beside.workspace, [&](beside_memory::workspace<token<1>>& work) {
    BOOST_TEST(both_memories.step(decoding, decoders{of_decoders}, decoding, all_keys, work));
  });
}

BOOST_AUTO_TEST_SUITE_END()
