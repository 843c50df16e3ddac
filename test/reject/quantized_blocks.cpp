// SPDX-License-Identifier: BSL-1.0
// Mistakes with attention, decoder layers and caches in integers (check.py).
#include <umbel/quantized.hpp>

#include <umbel/formula/row_formula.hpp>

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<16>, heads<2>, bias<false>>;
using decoder = decoder_layer<float, hidden<16>, heads<2>, intermediate<24>, norm_first<true>,
                              activation<relu>, bias<false>>;
using parallel_block = residual_block<
    float, hidden<16>,
    block_parts::pre_norm<
        block_parts::name::norm,
        block_parts::self_attention<block_parts::name::attention, heads<2>, bias<false>>,
        block_parts::linear_map<block_parts::name::linear, bias<false>>>>;
using memory_block =
    residual_block<float, hidden<16>,
                   block_parts::pre_norm<block_parts::name::norm,
                                         block_parts::cross_attention<block_parts::name::attention,
                                                                      heads<2>, bias<false>>>>;
constexpr formula gate = [](auto x, const auto& w) { return x / (1 + abs(x * w.scale)); };
using formula_block =
    residual_block<float, hidden<16>,
                   block_parts::without_norm<block_parts::row_formula<
                       block_parts::name::linear, decltype(gate),
                       block_parts::weight<block_parts::name::scale, hidden<16>>>>>;
using past_of_attention = key_value_cache<quantized<attention>, key<8>>;
using past_of_decoder = key_value_cache<quantized<decoder>, key<8>, longest_memory<6>>;

[[maybe_unused]] static void cases(
    const quantized<attention>& attend, const quantized<decoder>& decode, past_of_attention& past,
    past_of_decoder& steps, tensor<std::int8_t, token<1>, hidden<16>>& x,
    tensor<std::int16_t, token<1>, hidden<16>>& sum,
    tensor<std::int8_t, key<5>, hidden<16>>& memory, const quantized<parallel_block>& parallel,
    const quantized<memory_block>& remember, const parallel_block::weights& w_of_parallel,
    quantized<parallel_block>::ranges& seen, const decoder::weights& w_of_decoder,
    const attention::weights& w_of_attention) {
  (void)attend, (void)decode, (void)past, (void)steps, (void)x, (void)sum, (void)memory;
  (void)parallel, (void)remember, (void)w_of_parallel, (void)seen, (void)w_of_decoder;
  (void)w_of_attention;
#if defined CASE_softcap
  // expect-gcc: "umbel: quantized: softcap and empty_rows<uniform_weights> are not supported in integers"
  // expect-clang: quantized.*softcap_and_empty_rows_are_not_supported_in_integers
  // cause: In integers, scores become weights with powers of two only, and a row without keys is zeros.
  // cure: Compute the layer in floats, or train it without these options.
  quantized<multi_head_attention<float, hidden<16>, heads<2>, softcap<50>>> other;
#elif defined CASE_a_block_with_a_formula
  // expect-gcc: "umbel: quantized: divide has no integer form in a formula; compute it in floats, before or after"
  // expect-clang: quantized.*operation<.*divide>.*has_no_integer_form_in_a_formula
  // cause: The sentence names an operation that 8-bit integers don't have. docs/integers.md lists those with an integer form.
  // cure: Write the formula with other operations, or compute this one in floats before or after.
  quantized<formula_block> other;
#elif defined CASE_a_bias_of_scores
  // expect-gcc: "umbel: quantized: masks that change scores, drop weights or observe them are not supported in integers; use lengths, causal, a window or keep_mask"
  // expect-clang: quantized.*masks_that_change_scores_or_drop_weights_are_not_supported_in_integers
  // cause: In integers, scores become weights with powers of two only; masks that change or read them need floats.
  // cure: Compute this layer in floats, or select keys with lengths, `causal`, windows or `keep_mask`.
  (void)attend(x, alibi);
#elif defined CASE_keys_of_floats
  // expect-gcc: "umbel: key_value_cache: stored_as is not one of its options"
  // expect-clang: cache.*stored_as.*is_not_one_of_its_options
  // cause: A cache of a layer in integers always stores 8-bit integers.
  // cure: Leave it out.
  key_value_cache<quantized<attention>, key<8>, stored_as<bfloat16>> other;
#elif defined CASE_more_keys_than_a_sum_holds
  // expect-gcc: "umbel: quantized: key=200000 lets a sum of 8-bit products exceed 2\^31; 133144 is the maximum"
  // expect-clang: quantized.*key<200000>.*lets_a_sum_of_8_bit_products_exceed_2_to_the_31.*133144.*is_the_maximum
  // cause: Each key adds up to 127 * 127 to a 32-bit sum.
  // cure: Use a window, or fewer keys.
  key_value_cache<quantized<attention>, key<200000>> other;
#elif defined CASE_a_cache_of_a_linear_map
  // expect-gcc: "umbel: key_value_cache: the first argument is not a multi_head_attention, an encoder_layer, a decoder_layer or a layer_stack"
  // expect-clang: key_value_cache.*the_first_argument_is_not_a_multi_head_attention
  // cause: The first argument is the layer of the cache, one of these four.
  // cure: Put the layer first; for `prepacked<layer>` name the layer itself.
  key_value_cache<quantized<linear<float, hidden<16>, hidden<16>>>, key<8>> other;
#elif defined CASE_a_layer_of_floats_for_a_cache_of_integers
  // expect-gcc: "umbel: key_value_cache: the layer is not the one that the cache was declared for"
  // expect-clang: key_value_cache.*the_layer_is_not_the_one_that_the_cache_was_declared_for
  // cause: The keys and values of one layer have no meaning for a different layer, nor for a stack that contains it.
  // cure: Declare one cache for each layer, or one for the stack, with its type.
  static attention::weights w;
  (void)past.step(x, attention{w}, x);
#elif defined CASE_a_step_of_floats
  // expect-gcc: "umbel: key_value_cache: the sequence has type float but the layer has type std::int8_t"
  // expect-clang: key_value_cache.*the_sequence.*float.*signed char
  // cause: The layer needs 8-bit integers.
  // cure: Convert the sequence with `quantize<std::int8_t>(x, range)`.
  tensor<float, token<1>, hidden<16>> floats{};
  (void)past.step(x, attend, floats);
#elif defined CASE_no_room
  // expect-gcc: "umbel: key_value_cache: a step may append at most 8, got token=9"
  // expect-clang: key_value_cache.*a_step_may_append_at_most.*number<8>.*got.*token<9>
  // cause: The step has more positions than the cache has room for.
  // cure: Declare a larger cache, or make several smaller steps.
  tensor<std::int16_t, token<9>, hidden<16>> nine{};
  (void)steps.step(nine, decode, nine);
#elif defined CASE_a_memory_of_residual_sums
  // expect-gcc: "umbel: quantized: the memory has type std::int16_t but the layer has type std::int8_t"
  // expect-clang: quantized.*the_memory.*short.*signed char
  // cause: The memory must be 8-bit integers, as a norm returns them.
  // cure: Pass the result of the last norm of the encoder.
  (void)decode(sum, sum, self_mask(causal));
#elif defined CASE_no_self_mask
  // expect-gcc: "umbel: decoder_layer: needs a self_mask; add self_mask\(causal\), as torch has with tgt_is_causal or generate_square_subsequent_mask, or self_mask\(all_keys\), as torch has without tgt_mask"
  // expect-clang: decoder_layer.*needs_a_self_mask
  // cause: The call does not specify which positions of itself the sequence sees, and frameworks differ.
  // cure: After the memory and its mask, pass `self_mask(causal)` if no position may see a later one, `self_mask(all_keys)` if all may.
  (void)decode(sum, memory);
#elif defined CASE_no_longest_memory
  // expect-gcc: "umbel: key_value_cache: needs the longest length of the memory; add longest_memory<48>"
  // expect-clang: key_value_cache.*needs_the_longest_length_of_the_memory_so_add_longest_memory
  // cause: A cache of decoder layers stores the keys and values of the memory, and its size is a constant.
  // cure: Add the option: `key_value_cache<decoder, key<256>, longest_memory<48>>`.
  key_value_cache<quantized<decoder>, key<8>> other;
#elif defined CASE_a_memory_beyond_the_longest
  // expect-gcc: "umbel: key_value_cache: longest_memory=6 must be at least key=7"
  // expect-clang: key_value_cache.*longest_memory<6>.*must_be_at_least.*key<7>
  // cause: The memory has more positions than the cache has room for.
  // cure: Declare a cache with a larger `longest_memory<>`.
  tensor<std::int8_t, key<7>, hidden<16>> seven{};
  steps.attend_to(decode, seven);
#elif defined CASE_a_workspace_of_another_number
  // expect-gcc: "umbel: quantized: the workspace is for \[token=2, token=2\]; pass one for \[token=1, token=1\]"
  // expect-clang: quantized.*the_workspace_is_for
  // cause: A workspace is for a fixed number of positions.
  // cure: Pass a `workspace` for the positions of the call.
  static quantized<attention>::workspace<token<2>> work;
  (void)attend(x, causal, work);
#elif defined CASE_weights_of_another_block
  // expect-gcc: "umbel: residual_block: the weights do not match this layer and its options; they are for decoder_layer"
  // expect-clang: residual_block.*the_weights_do_not_match_this_layer_and_its_options
  // cause: The weights belong to a layer with other parts.
  // cure: Declare them as `weights` of this block.
  quantized<parallel_block> other(w_of_decoder, seen);
#elif defined CASE_ranges_of_a_block_for_attention
  // expect-gcc: "umbel: quantized: expects the ranges of this layer, quantized<layer>::ranges, not those of another layer"
  // expect-clang: quantized.*expects_the_ranges_of_this_layer_quantized_layer_ranges_not.*those_of_another_layer
  // cause: The ranges belong to a different kind of layer.
  // cure: Declare them as `quantized<layer>::ranges` of this layer.
  quantized<attention> other(w_of_attention, seen);
#elif defined CASE_a_mask_of_another_size
  // expect-gcc: "umbel: quantized: keep_mask has key=4 but the scores have \[heads=2, query=1, key=1\]"
  // expect-clang: quantized.*keep_mask.*key<4>.*scores
  // cause: In a mask, the axis key has one element for each position.
  // cure: Declare the mask with as many keys as the sequence has positions.
  tensor<bool, key<4>> kept{};
  (void)parallel(sum, keep_mask(kept));
#elif defined CASE_no_memory
  // expect-gcc: "umbel: quantized: expects a sequence and a memory; then a mask of the memory; then a self_mask; then a workspace"
  // expect-clang: quantized.*expects_a_sequence_and_a_memory
  // cause: The block attends to a memory, but the call has none.
  // cure: Write `layer(x, memory, self_mask(...))`.
  (void)remember(sum);
#elif defined CASE_a_memory_too_many
  // expect-gcc: "umbel: residual_block: has no attention to a memory"
  // expect-clang: residual_block.*has_no_attention_to_a_memory
  // cause: No part of the block attends to a memory.
  // cure: Leave it out, or add `block_parts::cross_attention` to the block.
  (void)parallel(sum, memory, self_mask(causal));
#elif defined CASE_observing_a_memory_too_many
  // expect-gcc: "umbel: residual_block: has no attention to a memory"
  // expect-clang: residual_block.*has_no_attention_to_a_memory
  // cause: No part of the block attends to a memory.
  // cure: Leave it out, or add `block_parts::cross_attention` to the block.
  const tensor<float, token<3>, hidden<16>> floats{};
  (void)quantized<parallel_block>::calibrate(seen, w_of_parallel, floats, floats,
                                             self_mask(causal));
#elif defined CASE_a_cache_without_self_attention
  // expect-gcc: "umbel: key_value_cache: the block has no self attention"
  // expect-clang: key_value_cache.*the_block_has_no_self_attention
  // cause: A cache stores the keys and values of the positions so far, but no part of the block reads them.
  // cure: Call the block itself on each position.
  key_value_cache<quantized<memory_block>, key<8>, longest_memory<6>> other;
#else
  (void)parallel(sum, causal);
  (void)remember(sum, memory, self_mask(causal));
  (void)attend(x, causal);
  (void)decode(sum, memory, self_mask(causal));
  (void)past.step(x, attend, x);
  steps.attend_to(decode, memory);
  (void)steps.step(sum, decode, sum);
#endif
}
