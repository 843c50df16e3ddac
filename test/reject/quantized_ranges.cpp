// SPDX-License-Identifier: BSL-1.0
// Integers: operations on ranges with wrong arguments, or in the wrong order.
#include <umbel/quantized.hpp>

#include <tuple>

using namespace umbel;
using namespace umbel::axes;

using linear_map = linear<float, hidden<8>, out_features<4>>;
using norm = layer_norm<float, hidden<8>>;
using tokens_mean = quantized_mean<token<5>>;
using positions = sinusoidal_positions<float, token<5>, hidden<8>, split_halves>;
using words = embedding<float, vocabulary<9>, hidden<8>>;
using decoder = decoder_layer<float, hidden<8>, heads<2>, intermediate<8>, norm_first<false>,
                              activation<relu>, bias<true>>;

using second_map = linear<float, out_features<4>, classes<3>>;
struct model_of_two {
  quantized<linear_map> map;
  quantized<second_map> second;
};
struct weights_of_two {
  static constexpr const char* part_names[] = {"map", "second"};
  linear_map::weights map;
  second_map::weights second;
};
struct weights_of_one {
  static constexpr const char* part_names[] = {"map"};
  linear_map::weights map;
};
struct ranges_of_two {
  static constexpr const char* part_names[] = {"map", "second"};
  quantized<linear_map>::ranges map;
  quantized<second_map>::ranges second;
};
struct weights_of_a_body {
  static constexpr const char* part_names[] = {"body"};
  weights_of_one body;
};
struct ranges_of_a_body {
  static constexpr const char* part_names[] = {"body"};
  ranges_of_two body;
};
struct weights_of_several {
  static constexpr const char* part_names[] = {"maps"};
  linear_map::weights maps[2];
};
struct ranges_of_several {
  static constexpr const char* part_names[] = {"maps"};
  quantized<linear_map>::ranges maps[2];
};

[[maybe_unused]] static void cases(
    const tensor<float, token<5>, hidden<8>>& x, const tensor<std::int8_t, token<5>, hidden<8>>& y,
    quantized<linear_map>::ranges& seen, quantized<linear_map>::histograms& counted,
    quantized<norm>::ranges& of_norm, quantized<decoder>::histograms& counts_of_decoder,
    const norm::weights& w, const words::weights& table, quantized<words>::ranges& of_words,
    tokens_mean::ranges& of_mean, quantized<positions>::ranges& of_positions,
    const decoder::weights& w_decoder, quantized<decoder>::ranges& of_decoder) {
  (void)x, (void)y, (void)seen, (void)counted, (void)of_norm, (void)counts_of_decoder, (void)w;
  (void)table, (void)of_words, (void)of_mean, (void)of_positions, (void)w_decoder, (void)of_decoder;
#if defined CASE_quantize_without_a_type
  // expect-gcc: "umbel: quantize: needs an integer type; write quantize<std::int8_t>\(x, range\), or <std::int16_t> for a residual sum"
  // expect-clang: quantize, .*needs_an_integer_type_so_write_quantize_int8_of_x_and_a_range_or_int16_for_a_residual_sum
  // cause: The number of bits of the integers is missing.
  // cure: Use 8 bits for activations, 16 for residual sums.
  auto q = quantize(x, seen.input);
#elif defined CASE_quantize_with_the_ranges_of_a_layer
  // expect-gcc: "umbel: quantize: expects a tensor, then one range, such as seen\.input, or a number"
  // expect-clang: quantize, .*expects_a_tensor_then_one_range_a_number_or_such_as_seen_input
  // cause: The second argument is not a range, or the arguments are out of order.
  // cure: Pass the tensor, then the range of this tensor: `seen.input` of the layer that reads it.
  auto q = quantize<std::int8_t>(x, seen);
#elif defined CASE_dequantize_without_a_range
  // expect-gcc: "umbel: dequantize: expects a tensor, then one range, such as seen\.input, or a number"
  // expect-clang: dequantize, .*expects_a_tensor_then_one_range_a_number_or_such_as_seen_input
  // cause: The second argument is not a range, or the arguments are out of order.
  // cure: Pass the tensor, then the range of this tensor: `seen.input` of the layer that reads it.
  auto q = dequantize(y);
#elif defined CASE_take_percentile_of_another_layer
  // expect-gcc: "umbel: take_percentile: expects ranges, then histograms of the same layers, then a percentage"
  // expect-clang: take_percentile, .*expects_ranges_then_histograms_of_the_same_layers_then_a_percentage
  // cause: The histograms belong to other layers, or the arguments are out of order.
  // cure: Declare `quantized<layer>::histograms` for the layer of the ranges, and count with `calibrate(counted, weights, x)`.
  take_percentile(seen, counts_of_decoder, 99.9);
#elif defined CASE_take_percentile_in_another_order
  // expect-gcc: "umbel: take_percentile: expects ranges, then histograms of the same layers, then a percentage"
  // expect-clang: take_percentile, .*expects_ranges_then_histograms_of_the_same_layers_then_a_percentage
  // cause: The histograms belong to other layers, or the arguments are out of order.
  // cure: Declare `quantized<layer>::histograms` for the layer of the ranges, and count with `calibrate(counted, weights, x)`.
  take_percentile(counted, seen, 99.9);
#elif defined CASE_same_range_of_layers
  // expect-gcc: "umbel: same_range: expects two or more non-const ranges, such as seen\.input and seen\.output"
  // expect-clang: same_range, .*expects_two_or_more_non_const_ranges_such_as_seen_input_and_seen_output
  // cause: The arguments are ranges of whole layers, only one range, or a const range.
  // cure: Name the members, `same_range(a.output, b.input)`; for layers in their order write `chain_ranges(a, b)`.
  same_range(seen, of_norm);
#elif defined CASE_chain_ranges_of_one
  // expect-gcc: "umbel: chain_ranges: expects the non-const ranges of two or more parts of a model, such as quantized<layer>::ranges"
  // expect-clang: chain_ranges, .*expects_the_non_const_ranges_of_two_or_more_parts_of_a_model_such_as_quantized_layer_ranges
  // cause: There is only one part, a part is const, or an argument has no ranges.
  // cure: Pass the ranges of the parts in the order of the forward pass.
  chain_ranges(of_norm);
#elif defined CASE_are_chained_of_weights
  // expect-gcc: "umbel: are_chained: expects the ranges of two or more parts of a model, such as quantized<layer>::ranges"
  // expect-clang: are_chained, .*expects_the_ranges_of_two_or_more_parts_of_a_model_such_as_quantized_layer_ranges
  // cause: There is only one part, or an argument has no ranges.
  // cure: Pass the ranges of the parts in the order of the forward pass.
  std::ignore = are_chained(of_norm, w);
#elif defined CASE_pack_model_without_ranges
  // expect-gcc: "umbel: pack_model: expects a struct of quantized layers, then of their weights, then of their ranges; both with part_names"
  // expect-clang: pack_model, .*expects_a_struct_of_quantized_layers_then_their_weights_then_their_ranges_with_part_names
  // cause: An argument is missing, out of order, a single layer, or a struct without names.
  // cure: Declare three structs, in the order of the forward pass, two of them with part_names.
  model_of_two model{};
  weights_of_two weights{};
  std::ignore = pack_model(model, weights);
#elif defined CASE_pack_model_in_another_order
  // expect-gcc: "umbel: pack_model: expects a struct of quantized layers, then of their weights, then of their ranges; both with part_names"
  // expect-clang: pack_model, .*expects_a_struct_of_quantized_layers_then_their_weights_then_their_ranges_with_part_names
  // cause: An argument is missing, out of order, a single layer, or a struct without names.
  // cure: Declare three structs, in the order of the forward pass, two of them with part_names.
  model_of_two model{};
  weights_of_two weights{};
  ranges_of_two ranges{};
  std::ignore = pack_model(model, ranges, weights);
#elif defined CASE_pack_model_of_fewer_layers
  // expect-gcc: "umbel: pack_model: the struct of layers needs one member for each of the ranges, in their order"
  // expect-clang: pack_model, .*the_struct_of_layers_needs_one_member_for_each_of_the_ranges
  // cause: The numbers of members differ.
  // cure: List a layer for each member of the ranges, in the same order.
  weights_of_two weights{};
  ranges_of_two ranges{};
  struct {
    quantized<linear_map> map;
  } model;
  std::ignore = pack_model(model, weights, ranges);
#elif defined CASE_pack_model_of_fewer_weights
  // expect-gcc: "umbel: pack_model: the struct of weights needs one member for each layer with weights, in their order"
  // expect-clang: pack_model, .*the_struct_of_weights_needs_one_member_for_each_layer_with_weights
  // cause: A layer with weights has none in the struct of weights, or a layer without weights has.
  // cure: List the weights of the layers in their order; `quantized_mean`, positions and others without weights have no member.
  model_of_two model{};
  ranges_of_two ranges{};
  weights_of_one weights{};
  std::ignore = pack_model(model, weights, ranges);
#elif defined CASE_pack_model_of_a_struct_within
  // expect-gcc: "umbel: pack_model: the members are layers or arrays of layers; call pack_model for each struct within the struct"
  // expect-clang: pack_model, .*the_members_are_layers_or_arrays_of_layers_so_pack_a_struct_within_by_itself
  // cause: A member of the struct of layers is a struct of layers.
  // cure: Write `pack_model(model.body, weights.body, ranges.body)`, then pack the other layers.
  struct {
    model_of_two body;
  } model;
  weights_of_a_body weights{};
  ranges_of_a_body ranges{};
  std::ignore = pack_model(model, weights, ranges);
#elif defined CASE_pack_model_of_fewer_layers_in_an_array
  // expect-gcc: "umbel: pack_model: arrays of layers, weights and ranges differ in their sizes"
  // expect-clang: pack_model, .*arrays_of_layers_weights_and_ranges_differ_in_their_sizes
  // cause: A member of the model is an array, and has more or fewer elements than that of its weights or ranges.
  // cure: Declare the three arrays with one size.
  struct {
    quantized<linear_map> maps[3];
  } model;
  weights_of_several weights{};
  ranges_of_several ranges{};
  std::ignore = pack_model(model, weights, ranges);
#elif defined CASE_observe_a_norm_without_an_epsilon
  // expect-gcc: "umbel: quantized: calibrate expects the ranges of this norm, its weights, x, and the epsilon"
  // expect-clang: quantized, .*calibrate_expects_the_ranges_of_this_norm_its_weights_x_and_the_epsilon
  // cause: The type of a norm does not contain its epsilon.
  // cure: Pass the epsilon of the float layer, `quantized<norm>::calibrate(seen, weights, x, 1e-5F)`.
  std::ignore = quantized<norm>::calibrate(of_norm, w, x);
#elif defined CASE_mean_of_weights_and_ranges
  // expect-gcc: "umbel: quantized_mean: expects only its ranges, which calibrate makes"
  // expect-clang: quantized_mean, .*expects_only_its_ranges_which_calibrate_makes
  // cause: A layer without weights is constructed from ranges alone.
  // cure: Write `quantized_mean<token<5>>{seen}`, or `quantized<sinusoidal_positions<...>>{seen}`.
  tokens_mean odd{w, of_mean};
#elif defined CASE_positions_packed_with_other_ranges
  // expect-gcc: "umbel: quantized: expects only its ranges, which calibrate makes"
  // expect-clang: quantized, .*expects_only_its_ranges_which_calibrate_makes
  // cause: A layer without weights is constructed from ranges alone.
  // cure: Write `quantized_mean<token<5>>{seen}`, or `quantized<sinusoidal_positions<...>>{seen}`.
  quantized<positions> later;
  std::ignore = later.pack(seen);
#elif defined CASE_observe_a_mean_in_another_order
  // expect-gcc: "umbel: quantized_mean: calibrate expects its ranges, then its arguments"
  // expect-clang: quantized_mean, .*calibrate_expects_its_ranges_then_its_arguments
  // cause: The ranges to widen are the first argument, and must not be const.
  // cure: Write `quantized_mean<token<5>>::calibrate(seen, x)`, with `seen` declared without `const`.
  std::ignore = tokens_mean::calibrate(x, of_mean);
#elif defined CASE_embedding_of_ranges_first
  // expect-gcc: "umbel: quantized: expects weights, then their ranges, quantized<layer>::ranges, which calibrate makes"
  // expect-clang: quantized.*expects_weights_then_their_ranges_which_calibrate_makes
  // cause: A layer in integers has scales, which come from ranges; construct it from weights and ranges, in this order.
  // cure: Calibrate the float layer on samples, `quantized<layer>::calibrate(seen, weights, x)`, and write `quantized<layer>{weights, seen}`. Only norms also need an epsilon.
  quantized<words> odd{of_words, table};
#elif defined CASE_decoder_of_ranges_first
  // expect-gcc: "umbel: quantized: expects weights, then their ranges, quantized<layer>::ranges, which calibrate makes"
  // expect-clang: quantized.*expects_weights_then_their_ranges_which_calibrate_makes
  // cause: A layer in integers has scales, which come from ranges; construct it from weights and ranges, in this order.
  // cure: Calibrate the float layer on samples, `quantized<layer>::calibrate(seen, weights, x)`, and write `quantized<layer>{weights, seen}`. Only norms also need an epsilon.
  quantized<decoder> odd{of_decoder, w_decoder};
#endif
}
