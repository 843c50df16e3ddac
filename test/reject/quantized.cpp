// SPDX-License-Identifier: BSL-1.0
// Mistakes with layers in integers: one case each, with the message that the compiler must print
// (check.py).
#include <umbel/umbel.hpp>

#include <umbel/quantized.hpp>

#include <tuple>

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<30>, heads<3>>;
using block = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, norm_first<true>,
                            activation<relu>, bias<true>>;
using linear_map = linear<float, hidden<32>, out_features<10>>;
using norm = layer_norm<float, hidden<32>>;
using rms = rms_norm<float, hidden<32>>;
using network =
    feed_forward<float, hidden<32>, intermediate<64>, gated<false>, activation<relu>, bias<true>>;

static attention::weights of_attention;
static block::weights of_block;
static rms::weights of_rms;
static quantized<attention>::ranges seen_of_attention;
static quantized<block>::ranges seen_of_block;
static quantized<norm>::ranges seen_of_norm;
static tensor<std::int8_t, token<9>, hidden<30>> x;
static tensor<std::int8_t, token<9>, hidden<32>> bytes;
static tensor<std::int16_t, token<9>, hidden<32>> sums;
static tensor<float, token<9>, hidden<32>> floats;

[[maybe_unused]] static void cases(const quantized<attention>& attend,
                                   const quantized<block>& layer, const quantized<linear_map>& map,
                                   const quantized<norm>& norms, const quantized<network>& feed) {
  (void)attend, (void)layer, (void)map, (void)norms, (void)feed;
  (void)of_attention, (void)of_block, (void)of_rms;
  (void)seen_of_attention, (void)seen_of_block, (void)seen_of_norm;
  (void)x, (void)bytes, (void)sums, (void)floats;
#if defined CASE_quantized_without_ranges
  // expect-gcc: "umbel: quantized: expects weights, then their ranges, quantized<layer>::ranges, which calibrate makes"
  // expect-clang: quantized.*expects_weights_then_their_ranges_which_calibrate_makes
  // cause: A layer in integers has scales, which come from ranges; construct it from weights and ranges, in this order.
  // cure: Calibrate the float layer on samples, `quantized<layer>::calibrate(seen, weights, x)`, and write `quantized<layer>{weights, seen}`. Only norms also need an epsilon.
  quantized<attention> odd{of_attention};
#elif defined CASE_calibrated_without_some_rows
  // expect-gcc: "umbel: quantized: valid_rows is for multi_head_attention, encoder_layer, decoder_layer and residual_block, outside of formulas, caches and calibrate, without empty_rows<uniform_weights>; pass the lengths alone"
  // expect-clang: quantized.*valid_rows_is_for_multi_head_attention_and_blocks_so_pass_lengths
  // cause: `calibrate` observes all rows, also those that `valid_rows` leaves out.
  // cure: Pass `lens` instead of `valid_rows(lens)`, with zeros in the rows after them.
  const tensor<float, token<9>, hidden<30>> sample{};
  auto y = quantized<attention>::calibrate(seen_of_attention, of_attention, sample, valid_rows(3));
#elif defined CASE_quantized_of_ranges_first
  // expect-gcc: "umbel: quantized: expects weights, then their ranges, quantized<layer>::ranges, which calibrate makes"
  // expect-clang: quantized.*expects_weights_then_their_ranges_which_calibrate_makes
  // cause: A layer in integers has scales, which come from ranges; construct it from weights and ranges, in this order.
  // cure: Calibrate the float layer on samples, `quantized<layer>::calibrate(seen, weights, x)`, and write `quantized<layer>{weights, seen}`. Only norms also need an epsilon.
  quantized<block> odd{seen_of_block, of_block};
#elif defined CASE_quantized_of_three
  // expect-gcc: "umbel: quantized: expects weights, then their ranges, quantized<layer>::ranges, which calibrate makes"
  // expect-clang: quantized.*expects_weights_then_their_ranges_which_calibrate_makes
  // cause: A layer in integers has scales, which come from ranges; construct it from weights and ranges, in this order.
  // cure: Calibrate the float layer on samples, `quantized<layer>::calibrate(seen, weights, x)`, and write `quantized<layer>{weights, seen}`. Only norms also need an epsilon.
  quantized<block> odd{of_block, seen_of_block, 3};
#elif defined CASE_quantized_ranges_of_another_layer
  // expect-gcc: "umbel: quantized: expects the ranges of this layer, quantized<layer>::ranges, not attention_ranges"
  // expect-clang: quantized.*expects_the_ranges_of_this_layer_quantized_layer_ranges_not.*attention_ranges
  // cause: The ranges belong to a different kind of layer.
  // cure: Declare them as `quantized<layer>::ranges` of this layer.
  quantized<block> odd{of_block, seen_of_attention};
#elif defined CASE_quantized_weights_of_another_layer
  // expect-gcc: "umbel: multi_head_attention: the weights do not match this layer and its options; they are for encoder_layer"
  // expect-clang: multi_head_attention.*the_weights_do_not_match_this_layer_and_its_options.*they_are_for.*encoder_layer
  // cause: The weights belong to a different type of layer.
  // cure: Declare them as `weights` of the quantized layer, or pass the right part.
  quantized<attention> odd{of_block, seen_of_attention};
#elif defined CASE_quantized_of_a_tensor
  // expect-gcc: "umbel: multi_head_attention: must be built from weights before it is called, layer\{w\}\(x\), but got the tensor \[token=9, hidden=30\]"
  // expect-clang: multi_head_attention.*must_be_built_from_weights_before_it_is_called_but_got_the_tensor.*token<9>.*hidden<30>
  // cause: The layer is constructed with the arguments of its call.
  // cure: Construct it from weights and ranges, then call it.
  quantized<attention> odd{x, seen_of_attention};
#elif defined CASE_quantized_rms_norm_without_epsilon
  // expect-gcc: "umbel: quantized: expects weights, then their ranges, then an epsilon"
  // expect-clang: quantized.*expects_weights_then_their_ranges_then_an_epsilon
  // cause: Models with rms_norm differ in its epsilon.
  // cure: Pass that of the float layer: `quantized<norm>{weights, ranges, 1e-6F}`.
  quantized<rms> odd{of_rms, seen_of_norm};
#elif defined CASE_quantized_packed_without_ranges
  // expect-gcc: "umbel: quantized: expects weights, then their ranges, quantized<layer>::ranges, which calibrate makes"
  // expect-clang: quantized.*expects_weights_then_their_ranges_which_calibrate_makes
  // cause: A layer in integers has scales, which come from ranges; construct it from weights and ranges, in this order.
  // cure: Calibrate the float layer on samples, `quantized<layer>::calibrate(seen, weights, x)`, and write `quantized<layer>{weights, seen}`. Only norms also need an epsilon.
  quantized<block> later;
  std::ignore = later.pack(of_block);
#elif defined CASE_quantized_packed_with_other_ranges
  // expect-gcc: "umbel: quantized: expects the ranges of this layer, quantized<layer>::ranges, not attention_ranges"
  // expect-clang: quantized.*expects_the_ranges_of_this_layer_quantized_layer_ranges_not.*attention_ranges
  // cause: The ranges belong to a different kind of layer.
  // cure: Declare them as `quantized<layer>::ranges` of this layer.
  quantized<block> later;
  std::ignore = later.pack(of_block, seen_of_attention);
#elif defined CASE_quantized_observe_in_another_order
  // expect-gcc: "umbel: quantized: calibrate expects the ranges of this layer, its weights, and then its arguments"
  // expect-clang: quantized.*calibrate_expects_the_ranges_of_this_layer_its_weights_and_then_its_arguments
  // cause: The ranges to widen are the first argument, and must not be const.
  // cure: Write `quantized<layer>::calibrate(seen, weights, x)`, with `seen` declared without `const`.
  std::ignore = quantized<block>::calibrate(of_block, seen_of_block, floats);
#elif defined CASE_quantized_observe_constant_ranges
  // expect-gcc: "umbel: quantized: calibrate expects the ranges of this layer, its weights, and then its arguments"
  // expect-clang: quantized.*calibrate_expects_the_ranges_of_this_layer_its_weights_and_then_its_arguments
  // cause: The ranges to widen are the first argument, and must not be const.
  // cure: Write `quantized<layer>::calibrate(seen, weights, x)`, with `seen` declared without `const`.
  const quantized<block>::ranges fixed{};
  std::ignore = quantized<block>::calibrate(fixed, of_block, floats);
#elif defined CASE_quantized_observe_integers
  // expect-gcc: "umbel: encoder_layer: the sequence has type std::int16_t but the layer has type float"
  // expect-clang: encoder_layer.*the_sequence.*short.*float
  // cause: Calibration runs the float layer on floats.
  // cure: Pass the sample before it is quantized.
  std::ignore = quantized<block>::calibrate(seen_of_block, of_block, sums);
#elif defined CASE_quantized_of_floats
  // expect-gcc: "umbel: quantized: the input has type float but 8-bit integers are needed; convert floats with quantize<std::int8_t>\(x, range\)"
  // expect-clang: quantized.*the_input_has_type.*element<float>.*but_8_bit_integers_are_needed_so_convert_floats_with_quantize_int8_of_x_and_a_range
  // cause: The input is floats, and Umbel converts nothing implicitly.
  // cure: Write `quantize<std::int8_t>(x, seen.queries)` at the input of the model.
  auto r = attend(tensor<float, token<9>, hidden<30>>{});
#elif defined CASE_quantized_residual_of_floats
  // expect-gcc: "umbel: quantized: the input has type float but 16-bit integers are needed; convert floats with quantize<std::int16_t>\(x, range\)"
  // expect-clang: quantized.*the_input_has_type.*element<float>.*but_16_bit_integers_are_needed_so_convert_floats_with_quantize_int16_of_x_and_a_range
  // cause: The input is floats, and Umbel converts nothing implicitly.
  // cure: Write `quantize<std::int16_t>(x, seen.residual)` at the input of the model.
  auto r = layer(floats);
#elif defined CASE_quantized_linear_of_16_bits
  // expect-gcc: "umbel: quantized: the input has type std::int16_t but 8-bit integers are needed; convert floats with quantize<std::int8_t>\(x, range\)"
  // expect-clang: quantized.*the_input_has_type.*element<short>.*but_8_bit_integers_are_needed_so_convert_floats_with_quantize_int8_of_x_and_a_range
  // cause: The layer needs 8 bits, but got a residual sum with 16 bits.
  // cure: Put a norm between them, or let the previous layer return 8 bits.
  auto r = map(sums);
#elif defined CASE_quantized_encoder_of_8_bits
  // expect-gcc: "umbel: quantized: the input has type std::int8_t but 16-bit integers are needed; convert floats with quantize<std::int16_t>\(x, range\)"
  // expect-clang: quantized.*the_input_has_type.*element<signed char>.*but_16_bit_integers_are_needed_so_convert_floats_with_quantize_int16_of_x_and_a_range
  // cause: Norms and blocks need residual sums, which have 16 bits.
  // cure: Let the previous layer return them: `quantized<linear<...>, output_as<std::int16_t>>`.
  auto r = layer(bytes);
#elif defined CASE_quantized_norm_of_8_bits
  // expect-gcc: "umbel: quantized: the input has type std::int8_t but 16-bit integers are needed; convert floats with quantize<std::int16_t>\(x, range\)"
  // expect-clang: quantized.*the_input_has_type.*element<signed char>.*but_16_bit_integers_are_needed_so_convert_floats_with_quantize_int16_of_x_and_a_range
  // cause: Norms and blocks need residual sums, which have 16 bits.
  // cure: Let the previous layer return them: `quantized<linear<...>, output_as<std::int16_t>>`.
  auto r = norms(bytes);
#elif defined CASE_quantized_width
  // expect-gcc: "umbel: quantized: the sequence has hidden=32 but the layer has hidden=30"
  // expect-clang: quantized.*the_sequence.*has.*hidden<32>.*but_the_layer_has.*hidden<30>
  // cause: The input has a different number of features than the layer.
  // cure: Pass the right tensor, or declare the layer with its width.
  auto r = attend(bytes);
#elif defined CASE_quantized_absent_axis
  // expect-gcc: "umbel: quantized: the sequence needs the axis hidden but has \[token=9, heads=32\]"
  // expect-clang: quantized.*the_sequence.*needs_the_axis.*hidden>.*but_has.*token<9>.*heads<32>
  // cause: The input has no feature axis.
  // cure: Rename the right axis: `x | rename_axis<heads, hidden>`.
  auto r = layer(tensor<std::int16_t, token<9>, heads<32>>{});
#elif defined CASE_quantized_score_bias
  // expect-gcc: "umbel: quantized: masks that change scores, drop weights or observe them are not supported in integers; use lengths, causal, a window or keep_mask"
  // expect-clang: quantized.*masks_that_change_scores_or_drop_weights_are_not_supported_in_integers
  // cause: In integers, scores become weights with powers of two only; masks that change or read them need floats.
  // cure: Compute this layer in floats, or select keys with lengths, `causal`, windows or `keep_mask`.
  tensor<float, query<9>, key<9>> biases{};
  auto r = attend(x, score_bias(biases));
#elif defined CASE_quantized_alibi
  // expect-gcc: "umbel: quantized: masks that change scores, drop weights or observe them are not supported in integers; use lengths, causal, a window or keep_mask"
  // expect-clang: quantized.*masks_that_change_scores_or_drop_weights_are_not_supported_in_integers
  // cause: In integers, scores become weights with powers of two only; masks that change or read them need floats.
  // cure: Compute this layer in floats, or select keys with lengths, `causal`, windows or `keep_mask`.
  auto r = attend(x, alibi);
#elif defined CASE_quantized_dropout
  // expect-gcc: "umbel: quantized: masks that change scores, drop weights or observe them are not supported in integers; use lengths, causal, a window or keep_mask"
  // expect-clang: quantized.*masks_that_change_scores_or_drop_weights_are_not_supported_in_integers
  // cause: In integers, scores become weights with powers of two only; masks that change or read them need floats.
  // cure: Compute this layer in floats, or select keys with lengths, `causal`, windows or `keep_mask`.
  auto r = layer(sums, dropout(0.1, 3));
#elif defined CASE_quantized_observe_mask
  // expect-gcc: "umbel: quantized: masks that change scores, drop weights or observe them are not supported in integers; use lengths, causal, a window or keep_mask"
  // expect-clang: quantized.*masks_that_change_scores_or_drop_weights_are_not_supported_in_integers
  // cause: In integers, scores become weights with powers of two only; masks that change or read them need floats.
  // cure: Compute this layer in floats, or select keys with lengths, `causal`, windows or `keep_mask`.
  tensor<float, heads<3>, query<9>, key<9>> weights{};
  auto r = attend(x, observe(weights));
#elif defined CASE_quantized_softcap
  // expect-gcc: "umbel: quantized: softcap and empty_rows<uniform_weights> are not supported in integers"
  // expect-clang: quantized.*softcap_and_empty_rows_are_not_supported_in_integers
  // cause: In integers, scores become weights with powers of two only, and a row without keys is zeros.
  // cure: Compute the layer in floats, or train it without these options.
  quantized<multi_head_attention<float, hidden<30>, heads<3>, softcap<20>>> odd;
#elif defined CASE_quantized_empty_rows
  // expect-gcc: "umbel: quantized: softcap and empty_rows<uniform_weights> are not supported in integers"
  // expect-clang: quantized.*softcap_and_empty_rows_are_not_supported_in_integers
  // cause: In integers, scores become weights with powers of two only, and a row without keys is zeros.
  // cure: Compute the layer in floats, or train it without these options.
  quantized<multi_head_attention<float, hidden<30>, heads<3>, empty_rows<uniform_weights>>> odd;
#elif defined CASE_quantized_too_many_arguments
  // expect-gcc: "umbel: quantized: expects a sequence; then a mask such as lengths, causal or all_keys; then a workspace"
  // expect-clang: quantized.*expects_a_sequence_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace
  // cause: The arguments match no overload: pass at most one mask, and then at most one workspace.
  // cure: Combine masks with `&`; without a mask, write `layer(x, all_keys, work)`.
  auto r = layer(sums, causal, causal);
#elif defined CASE_quantized_workspace_first
  // expect-gcc: "umbel: quantized: expects a sequence; then a mask such as lengths, causal or all_keys; then a workspace"
  // expect-clang: quantized.*expects_a_sequence_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace
  // cause: The arguments match no overload: pass at most one mask, and then at most one workspace.
  // cure: Combine masks with `&`; without a mask, write `layer(x, all_keys, work)`.
  static quantized<block>::workspace<token<9>> work;
  auto r = layer(sums, work);
#elif defined CASE_quantized_two_tensors
  // expect-gcc: "umbel: quantized: valid_lens have token=9 but the scores have \[heads=4, query=9, key=9\]"
  // expect-clang: quantized.*valid_lens.*have.*token<9>.*but_the_scores_have.*heads<4>.*query<9>.*key<9>
  // cause: An encoder layer accepts one sequence; a tensor of integers after it is lengths.
  // cure: Leave the second one out, or quantize `multi_head_attention` to attend from queries to keys.
  auto r = quantized<block>{of_block, seen_of_block}(sums, sums);
#elif defined CASE_quantized_network_with_a_mask
  // expect-gcc: "umbel: quantized: expects a sequence, then a workspace"
  // expect-clang: quantized.*expects_a_sequence_then_a_workspace
  // cause: The arguments match no overload; masks are for attention.
  // cure: Leave the mask out.
  auto r = feed(bytes, causal);
#elif defined CASE_quantized_into_without_memory
  // expect-gcc: "umbel: quantized: into expects the output first, layer\.into\(out, x\), but got only \[token=9, hidden=32\]"
  // expect-clang: quantized.*into_expects_the_output_first_so_write_into_out_x_but_got_only.*token<9>.*hidden<32>
  // cause: The output is missing.
  // cure: Write `layer.into(out, x)`; out may be x.
  layer.into(sums);
#elif defined CASE_quantized_into_floats
  // expect-gcc: "umbel: quantized: the result has type std::int16_t but out has type float"
  // expect-clang: quantized.*the_result_has_type.*element<short>.*but_out_has_type.*element<float>
  // cause: The result has integer elements.
  // cure: Write into a tensor of integers, then call `dequantize(out, seen.residual)`.
  tensor<float, token<9>, hidden<32>> out{};
  layer.into(out, sums);
#elif defined CASE_quantized_in_a_formula
  // expect-gcc: "umbel: formula: quantized cannot be used in formulas; write out its operations, or call it outside"
  // expect-clang: formula.*quantized.*cannot_be_used_in_formulas_so_write_out_its_operations
  // cause: Formulas compute with floats.
  // cure: Call the layer before or after the formula.
  auto r = formula([](auto t) { return quantized<block>{}(t); })(sums);
#elif defined CASE_quantized_in_a_formula_with_a_mask
  // expect-gcc: "umbel: formula: quantized cannot be used in formulas; write out its operations, or call it outside"
  // expect-clang: formula.*quantized.*cannot_be_used_in_formulas_so_write_out_its_operations
  // cause: Formulas compute with floats.
  // cure: Call the layer before or after the formula.
  auto r = formula([](auto t, const auto& f) { return f(t, causal); })(sums, layer);
#elif defined CASE_quantize_in_a_formula
  // expect-gcc: "umbel: formula: quantize cannot be used in formulas; write out its operations, or call it outside"
  // expect-clang: formula.*quantize.*cannot_be_used_in_formulas_so_write_out_its_operations
  // lines-clang: 15
  // cause: Formulas compute with floats.
  // cure: Call `quantize` on the result of the formula.
  auto r = formula([](auto t) { return quantize<std::int8_t>(t, 2.0f); })(
      tensor<float, token<9>, hidden<32>>{});
#elif defined CASE_quantized_workspace_of_floats
  // expect-gcc: "umbel: quantized: the workspace is for a different layer or other sizes; pass one for \[token=9\]"
  // expect-clang: quantized.*the_workspace_is_for_a_different_layer_or_other_sizes_so_pass_one_for.*token<9>
  // cause: The workspace belongs to the float layer.
  // cure: Declare it as `quantized<layer>::workspace<token<9>>`.
  static block::workspace<token<9>> work;
  auto r = layer(sums, all_keys, work);
#elif defined CASE_quantized_workspace_of_other_sizes
  // expect-gcc: "umbel: quantized: the workspace is for \[token=8\]; pass one for \[token=9\]"
  // expect-clang: quantized.*the_workspace_is_for.*token<8>.*so_pass_one_for.*token<9>
  // cause: The workspace was declared for a different number of positions.
  // cure: Declare it with the size in the brackets.
  static quantized<block>::workspace<token<8>> work;
  auto r = layer(sums, all_keys, work);
#elif defined CASE_quantized_workspace_of_a_batch
  // expect-gcc: "umbel: workspace: batch=2 is unnecessary, since sequences share one workspace; leave it out"
  // expect-clang: workspace.*batch<2>.*is_unnecessary_since_sequences_share_one_workspace_so_leave_it_out
  // cause: All sequences of a batch share one workspace, so its size does not depend on their number.
  // cure: List only the positions: `workspace<token<9>>`.
  static quantized<block>::workspace<batch<2>, token<9>> work;
#elif defined CASE_quantized_too_many_keys
  // expect-gcc: "umbel: quantized: key=200000 lets a sum of 8-bit products exceed 2\^31; 133144 is the maximum"
  // expect-clang: quantized.*key<200000>.*lets_a_sum_of_8_bit_products_exceed_2_to_the_31.*number<133144.*is_the_maximum
  // cause: Each key adds up to 127 * 127 to a 32-bit sum.
  // cure: Use a window, or fewer keys.
  static tensor<std::int8_t, query<1>, hidden<4>> q;
  static tensor<std::int8_t, key<200000>, hidden<4>> k;
  static quantized<multi_head_attention<float, hidden<4>, heads<1>>> wide;
  auto r = wide(q, k, k);
#elif defined CASE_quantized_too_many_features
  // expect-gcc: "umbel: quantized: hidden=140000 lets a sum of 8-bit products exceed 2\^31; 130038 is the maximum"
  // expect-clang: quantized.*hidden<140000>.*lets_a_sum_of_8_bit_products_exceed_2_to_the_31.*number<130038.*is_the_maximum
  // cause: The sum has 32 bits.
  // cure: Split the map into two and add the results.
  quantized<linear<float, hidden<140000>, out_features<1>>> odd;
#elif defined CASE_quantized_too_wide_network
  // expect-gcc: "umbel: quantized: intermediate=140000 lets a sum of 8-bit products exceed 2\^31; 130038 is the maximum"
  // expect-clang: quantized.*intermediate<140000>.*lets_a_sum_of_8_bit_products_exceed_2_to_the_31.*number<130038.*is_the_maximum
  // cause: The sum has 32 bits.
  // cure: Use a narrower network.
  quantized<feed_forward<float, hidden<8>, intermediate<140000>, gated<false>, activation<relu>,
                         bias<true>>>
      odd;
#elif defined CASE_quantized_too_wide_heads
  // expect-gcc: "umbel: quantized: head_dim=70000 lets a sum of 8-bit products exceed 2\^31; 66572 is the maximum"
  // expect-clang: quantized.*head_dim<70000>.*lets_a_sum_of_8_bit_products_exceed_2_to_the_31.*number<66572.*is_the_maximum
  // cause: The difference of two scores has 32 bits.
  // cure: Use narrower heads.
  quantized<multi_head_attention<float, hidden<8>, heads<1>, head_dim<70000>>> odd;
#elif defined CASE_quantized_too_long_norm
  // expect-gcc: "umbel: quantized: hidden=20000 is too long for a norm in integers; 16384 is the maximum"
  // expect-clang: quantized.*hidden<20000>.*is_too_long_for_a_norm_in_integers.*number<16384.*is_the_maximum
  // cause: The sum of squares has 32 bits.
  // cure: Compute this norm in floats.
  quantized<layer_norm<float, hidden<20000>>> odd;
#elif defined CASE_quantized_too_long_norm_of_heads
  // expect-gcc: "umbel: quantized: head_dim=20000 is too long for a norm in integers; 16384 is the maximum"
  // expect-clang: quantized.*head_dim<20000>.*is_too_long_for_a_norm_in_integers.*number<16384.*is_the_maximum
  // cause: The sum of squares has 32 bits.
  // cure: Compute this norm in floats.
  quantized<
      multi_head_attention<float, hidden<8>, heads<1>, head_dim<20000>, query_key_norm<layer_norm>>>
      odd;
#elif defined CASE_quantized_gives_floats
  // expect-gcc: "umbel: quantized: the result must be std::int8_t or std::int16_t, not float"
  // expect-clang: quantized.*the_result_must_be_int8_t_or_int16_t_not.*element<float>
  // cause: Layers in integers return integers.
  // cure: To get floats, write `dequantize(y, range)`.
  quantized<linear<float, hidden<32>, out_features<10>>, output_as<float>> odd;
#elif defined CASE_quantized_norm_gives
  // expect-gcc: "umbel: quantized: output_as is not one of its options"
  // expect-clang: quantized.*output_as.*is_not_one_of_its_options
  // cause: A norm always returns 8 bits, an encoder layer 16 bits.
  // cure: Leave the option out.
  quantized<layer_norm<float, hidden<32>>, output_as<std::int16_t>> odd;
#elif defined CASE_quantized_softmax_as_floats
  // expect-gcc: "umbel: quantized: attention weights must be std::int8_t or std::int16_t, not float"
  // expect-clang: quantized.*attention_weights_must_be_int8_t_or_int16_t_not.*element<float>
  // cause: The softmax in integers returns integers.
  // cure: Leave the option out, or write `softmax_as<std::int16_t>` for long rows.
  quantized<block, softmax_as<float>> odd;
#elif defined CASE_quantized_softmax_of_a_map
  // expect-gcc: "umbel: quantized: softmax_as is not one of its options"
  // expect-clang: quantized.*softmax_as.*is_not_one_of_its_options
  // cause: A linear map has no softmax, and integer decoder layers always have 8-bit attention weights.
  // cure: Leave the option out.
  quantized<linear<float, hidden<32>, out_features<10>>, softmax_as<std::int16_t>> odd;
#elif defined CASE_quantized_too_many_keys_in_16_bits
  // expect-gcc: "umbel: quantized: key=70000 lets a sum of 8-bit products exceed 2\^31; 66052 is the maximum"
  // expect-clang: quantized.*key<70000>.*lets_a_sum_of_8_bit_products_exceed_2_to_the_31.*number<66052.*is_the_maximum
  // cause: A 16-bit attention weight is at most 32512, and the sum of a row has 32 bits.
  // cure: Use fewer keys, or 8-bit weights.
  static const tensor<std::int8_t, key<70000>, hidden<30>> keys{};
  auto r = quantized<attention, softmax_as<std::int16_t>>{}(
      tensor<std::int8_t, query<1>, hidden<30>>{}, keys, keys);
#elif defined CASE_quantized_stored_as
  // expect-gcc: "umbel: quantized: stored_as is not one of its options"
  // expect-clang: quantized.*stored_as.*is_not_one_of_its_options
  // cause: The weights of a layer in integers always have 8 bits.
  // cure: Leave it out; for 8-bit weights with float sums use `prepacked<layer, stored_as<std::int8_t>>`.
  quantized<linear<float, hidden<32>, out_features<10>>, stored_as<std::int8_t>> odd;
#elif defined CASE_quantized_prepacked
  // expect-gcc: "umbel: quantized: prepacked cannot be quantized"
  // expect-clang: quantized.*prepacked.*cannot_be_quantized
  // cause: `quantized` packs the weights itself.
  // cure: Leave `prepacked` out: `quantized<layer>`.
  quantized<prepacked<block>> odd{of_block, seen_of_block};
#elif defined CASE_quantized_twice
  // expect-gcc: "umbel: quantized: quantized cannot be quantized"
  // expect-clang: quantized.*quantized.*cannot_be_quantized
  // cause: The layer is already in integers.
  // cure: Remove the outer `quantized`.
  quantized<quantized<block>> odd;
#elif defined CASE_quantized_number
  // expect-gcc: "umbel: quantized: int cannot be quantized"
  // expect-clang: quantized.*int.*cannot_be_quantized
  // cause: Only layers can be quantized.
  // cure: Use linear, multi_head_attention, feed_forward, a norm, encoder_layer, decoder_layer, layer_stack, embedding or positions.
  quantized<int> odd;
#elif defined CASE_quantized_model
  // expect-gcc: "umbel: quantized: model cannot be quantized"
  // expect-clang: quantized.*model.*cannot_be_quantized
  // cause: A struct of layers is not a layer.
  // cure: Quantize each layer, and match their ranges with `chain_ranges`.
  struct model {
    block first;
  };
  quantized<model> odd{};
#elif defined CASE_quantized_additive
  // expect-gcc: "umbel: quantized: additive_attention cannot be quantized"
  // expect-clang: quantized.*additive_attention.*cannot_be_quantized
  // cause: The tanh of scores is not supported in integers.
  // cure: Use linear, multi_head_attention, feed_forward, a norm, encoder_layer, decoder_layer, layer_stack, embedding or positions.
  quantized<additive_attention<float, hidden<20>, score_hidden<8>>> odd;
#elif defined CASE_prepacked_quantized
  // expect-gcc: "umbel: prepacked: the first argument is not a layer with weights to pack"
  // expect-clang: prepacked.*the_first_argument_is_not_a_layer_with_weights_to_pack
  // cause: The first argument is not a layer, or a layer without weights.
  // cure: Pass a layer, and then its weights, `prepacked<attention>{w}`.
  prepacked<quantized<block>> odd{of_block};
#elif defined CASE_quantize_to_int
  // expect-gcc: "umbel: quantize: the result must be std::int8_t or std::int16_t, not int"
  // expect-clang: quantize.*the_result_must_be_int8_t_or_int16_t_not.*element<int>
  // cause: Layers in integers need 8 or 16 bits.
  // cure: Write `quantize<std::int8_t>`, or `<std::int16_t>` for a residual sum.
  auto r = quantize<int>(floats, seen_of_block.residual);
#elif defined CASE_quantize_integers
  // expect-gcc: "umbel: quantize: needs float or double, not std::int8_t"
  // expect-clang: quantize.*needs_float_or_double_not.*signed char
  // cause: The input already has integer elements.
  // cure: Leave `quantize` out.
  auto r = quantize<std::int8_t>(bytes, seen_of_block.residual);
#elif defined CASE_dequantize_floats
  // expect-gcc: "umbel: dequantize: needs 8-bit or 16-bit integers, not float"
  // expect-clang: dequantize.*needs_8_bit_or_16_bit_integers_not.*element<float>
  // cause: The input already has float elements.
  // cure: Leave `dequantize` out.
  auto r = dequantize(floats, seen_of_block.residual);
#elif defined CASE_workspace_for_floats
  // expect-gcc: "umbel: quantized: the input has type float but 8-bit integers are needed; convert floats with quantize<std::int8_t>\(x, range\)"
  // expect-clang: quantized.*element<float>
  // cause: The input is floats, and Umbel converts nothing implicitly.
  // cure: Write `quantize<std::int8_t>(x, seen.queries)` at the input of the model.
  static workspace_for<quantized<network>, tensor<float, token<9>, hidden<32>>> work;
#else
  // Weights and ranges may end with the statement.
  const quantized<attention> owning{attention::weights{}, quantized<attention>::ranges{}};
  const quantized<block> same = layer;
  const quantized<rms> with_epsilon{of_rms, seen_of_norm, 1e-6F};
  const norm::weights of_norm{};
  const quantized<norm> without{of_norm, seen_of_norm};
  static quantized<block>::workspace<token<9>> work;
  auto r = same(quantize<std::int16_t>(floats, seen_of_block.residual), causal, work);
  layer.into(r, sums, tensor<int, query<9>>{} & causal);
  [[maybe_unused]] auto s = owning(x), t = attend(x, keep_mask(tensor<bool, query<9>, key<9>>{}));
  [[maybe_unused]] auto u = map(norms(sums) | feed);
  [[maybe_unused]] auto v = quantized<block>::calibrate(seen_of_block, of_block,
                                                        dequantize(sums, seen_of_block.residual));
  quantized<attention> later;
  std::ignore = later.pack(of_attention, seen_of_attention);
#endif
}
