// SPDX-License-Identifier: BSL-1.0
// Mistakes with caches of keys and values (check.py).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<100>, heads<5>>;
using across = multi_head_attention<float, hidden<100>, heads<5>, keys_from<hidden<32>>>;
using memory = key_value_cache<attention, key<256>>;
using window = key_value_cache<attention, key<64>, longest_sequence<4096>>;

[[maybe_unused]] static void cases(const attention& attend, const across& look, memory& past,
                                   window& slid, tensor<float, token<1>, hidden<100>>& x,
                                   tensor<float, token<1>, hidden<100>>& out) {
  (void)attend, (void)look, (void)past, (void)slid, (void)x, (void)out;
#if defined CASE_prefill_too_long
  // expect-gcc: "umbel: key_value_cache: a step may append at most 256, got token=300"
  // expect-clang: key_value_cache.*a_step_may_append_at_most.*number<256>.*got.*token<300>
  // cause: The step has more positions than the cache has room for.
  // cure: Declare a larger cache, `key_value_cache<attention, key<300>>`, or make several smaller steps.
  // The result is ignored: the compiler's warning comes after the message.
  // lines-gcc: 17
  tensor<float, token<300>, hidden<100>> prompt{}, result{};
  past.step(result, attend, prompt);
#elif defined CASE_chunk_too_long
  // expect-gcc: "umbel: key_value_cache: a step may append at most 1, got token=2"
  // expect-clang: key_value_cache.*a_step_may_append_at_most.*number<1>.*got.*token<2>
  // cause: A sliding cache has memory for steps of one position, unless it is declared for more.
  // cure: Add the number of positions in a step: `longest_sequence<4096, 2>`.
  tensor<float, token<2>, hidden<100>> two{}, result{};
  (void)slid.step(result, attend, two);
#elif defined CASE_formula_without_its_header
  // expect-gcc: "umbel: key_value_cache: of a formula needs its header; add #include <umbel/decode/cache_of_formula\.hpp>"
  // expect-clang: key_value_cache.*of_a_formula_needs_its_header_so_include_decode_cache_of_formula
  // cause: Caches of formulas are not part of umbel.hpp.
  // cure: Write `#include <umbel/decode/cache_of_formula.hpp>`.
  constexpr formula f = [](auto y) { return y; };
  static key_value_cache<decltype(f), key<16>, called_with<tensor<float, token<1>, hidden<8>>>>
      of_f;
  of_f.reset();
  (void)of_f.step(out, f, x);
#elif defined CASE_capacity_of_tokens
  // expect-gcc: "umbel: key_value_cache: expected the axis key but got token=256"
  // expect-clang: key_value_cache.*expected_the_axis.*key>.*but_got.*token<256>
  // cause: The capacity is a number of keys.
  // cure: Write `key_value_cache<attention, key<256>>`.
  key_value_cache<attention, token<256>> other;
#elif defined CASE_option_instead_of_the_capacity
  // expect-gcc: "umbel: key_value_cache: expected the axis key but got longest_sequence"
  // expect-clang: key_value_cache.*expected_the_axis.*key>.*but_got.*longest_sequence<128.*1>
  // cause: The capacity is a number of keys.
  // cure: Write `key_value_cache<attention, key<256>>`.
  key_value_cache<attention, longest_sequence<128>> other;
#elif defined CASE_no_capacity
  // expect-gcc: "umbel: key_value_cache: the axis key is missing"
  // expect-clang: key_value_cache.*the_axis.*key>.*is_missing
  // cause: The capacity is a number of keys.
  // cure: Write `key_value_cache<attention, key<256>>`.
  key_value_cache<attention> other;
#elif defined CASE_cache_without_positions
  // expect-gcc: "umbel: shape: key=0 has size 0 in \[key=0\]"
  // expect-clang: shape.*key<0>.*has_size_0_in.*key<0>
  // cause: An axis has size 0.
  // cure: Set every axis to a size of at least 1, or leave the axis out.
  key_value_cache<attention, key<0>> none;
#elif defined CASE_unknown_option_of_a_cache
  // expect-gcc: "umbel: key_value_cache: heads=5 is not one of its options"
  // expect-clang: cache.*heads<5>.*is_not_one_of_its_options
  // cause: A cache accepts a batch, `longest_sequence<>` and `stored_as<>`; the layer has the heads.
  // cure: Leave it out: the cache knows its layer.
  key_value_cache<attention, key<256>, heads<5>> other;
#elif defined CASE_sliding_over_fewer
  // expect-gcc: "umbel: key_value_cache: longest_sequence=32 must be at least key=64"
  // expect-clang: key_value_cache.*longest_sequence<32>.*must_be_at_least.*key<64>
  // cause: The sequence would be shorter than the window.
  // cure: Write the longest length, at least the size of the window; a cache that does not slide needs no such option.
  key_value_cache<attention, key<64>, longest_sequence<32>> other;
#elif defined CASE_sliding_over_nothing
  // expect-gcc: "umbel: key_value_cache: longest_sequence=0 must be at least key=64"
  // expect-clang: key_value_cache.*longest_sequence<0>.*must_be_at_least.*key<64>
  // cause: The sequence is shorter than the window of its queries.
  // cure: Set `longest_sequence<>` to the length of the longest sequence, or leave it out.
  key_value_cache<attention, key<64>, longest_sequence<0>> other;
#elif defined CASE_steps_of_nothing
  // expect-gcc: "umbel: key_value_cache: the second number of longest_sequence, how many positions a step may append, must be at least 1"
  // expect-clang: key_value_cache.*longest_sequence_must_allow_steps_of_at_least_1
  // cause: The second number, the positions in a step, is 0.
  // cure: Leave it out to make steps of one position.
  key_value_cache<attention, key<64>, longest_sequence<128, 0>> other;
#elif defined CASE_cache_of_no_sequence
  // expect-gcc: "umbel: shape: batch=0 has size 0 in \[batch=0\]"
  // expect-clang: shape.*batch<0>.*has_size_0_in.*batch<0>
  // cause: An axis has size 0.
  // cure: Set every axis to a size of at least 1, or leave the axis out.
  key_value_cache<attention, key<64>, batch<0>> other;
#elif defined CASE_step_into_a_temporary
  // expect-gcc: "umbel: key_value_cache: out is a temporary; store it in a variable"
  // expect-clang: key_value_cache.*out_is_a_temporary_so_store_it_in_a_variable
  // cause: The result would be lost at the end of the statement.
  // cure: Declare a tensor and pass it, or use the returned result.
  (void)past.step(tensor<float, token<1>, hidden<100>>{}, attend, x);
#elif defined CASE_step_of_another_layer
  // expect-gcc: "umbel: key_value_cache: the layer is not the one that the cache was declared for"
  // expect-clang: key_value_cache.*the_layer_is_not_the_one_that_the_cache_was_declared_for
  // cause: The keys and values of one layer have no meaning for a different layer, nor for a stack that contains it.
  // cure: Declare one cache for each layer, or one for the stack, with its type.
  (void)past.step(out, look, x);
#elif defined CASE_step_of_a_batch
  // expect-gcc: "umbel: key_value_cache: the sequence has batch=3 but the cache has no batch"
  // expect-clang: cache.*the_sequence.*has.*batch<3>.*but_the_cache_has.*no_batch
  // cause: The cache was declared for a different number of sequences.
  // cure: Declare it with the batch: `key_value_cache<attention, key<256>, batch<3>>`.
  tensor<float, batch<3>, token<1>, hidden<100>> three{}, result{};
  (void)past.step(result, attend, three);
#elif defined CASE_step_into_another_shape
  // expect-gcc: "umbel: key_value_cache: the result has \[token=1, hidden=100\] but out has \[token=2, hidden=100\]"
  // expect-clang: cache.*the_result_has.*token<1>.*hidden<100>.*but_out_has.*token<2>.*hidden<100>
  // cause: The output has other axes or sizes than the result, which has those of the new positions.
  // cure: Declare `out` with the axes of the result.
  tensor<float, token<2>, hidden<100>> result{};
  (void)past.step(result, attend, x);
#elif defined CASE_step_of_two_widths
  // expect-gcc: "umbel: key_value_cache: the layer reads keys from hidden=32 and queries from hidden=100; pass queries, keys and values"
  // expect-clang: key_value_cache.*the_layer_reads_keys_from.*hidden<32>.*and_.*queries_from.*hidden<100>.*so_pass_queries_keys_and_values
  // cause: The layer attends to a second sequence of a different width, but a step attends to its own.
  // cure: Append the keys and values of that sequence once, then call `attend` with the queries.
  key_value_cache<across, key<256>> other;
  (void)other.step(out, look, x);
#elif defined CASE_mask_of_other_positions
  // expect-gcc: "umbel: key_value_cache: keep_mask has key=9 but the scores have \[heads=5, query=1, key=256\]"
  // expect-clang: cache.*keep_mask.*has.*key<9>.*but_the_scores_have.*heads<5>.*query<1>.*key<256>
  // cause: The axis key of a mask counts the positions of the cache.
  // cure: The mask needs as many keys as the cache's capacity.
  (void)past.step(out, attend, x, keep_mask(tensor<bool, key<9>>{}));
#elif defined CASE_lengths_of_a_sliding_cache
  // expect-gcc: "umbel: key_value_cache: a cache with longest_sequence accepts only masks by position"
  // expect-clang: key_value_cache.*a_cache_with_longest_sequence_accepts_only_masks_by_position
  // cause: A sliding cache drops the first positions, so lengths and tensors by key have no meaning.
  // cure: Use `alibi` or `sliding_window<>`, or a cache that does not slide.
  (void)slid.step(out, attend, x, tensor<int, query<1>>{});
#elif defined CASE_double_in_16_bits
  // expect-gcc: "umbel: key_value_cache: a layer of double cannot be stored as float16"
  // expect-clang: cache.*a_layer_of.*element<double>.*cannot_be_stored_as.*element<.*float16>
  // cause: 16-bit and 8-bit storage is for float layers; a double layer would lose most of its precision.
  // cure: Declare the layer with float, or leave out `stored_as<>`.
  using of_double = multi_head_attention<double, hidden<12>, heads<3>>;
  key_value_cache<of_double, key<8>, stored_as<float16>> r;
#elif defined CASE_attend_of_a_sliding_cache
  // expect-gcc: "umbel: key_value_cache: a cache with longest_sequence overwrites positions; use step, not attend"
  // expect-clang: key_value_cache.*a_cache_with_longest_sequence_overwrites_positions_so_use_step_not_attend
  // cause: Which keys a sliding cache still stores depends on the sizes of its steps.
  // cure: Use a cache that does not slide; for self-attention use `step`, which sees the window.
  tensor<float, query<2>, hidden<100>> seen{};
  slid.attend(seen, attend, tensor<float, query<2>, hidden<100>>{});
#elif defined CASE_append_beyond_the_stack
  // expect-gcc: "umbel: key_value_cache: needs a workspace of [0-9]+ bytes but the stack budget is 65536 bytes; pass one for \[key=256\]"
  // expect-clang: cache.*needs_a_workspace_of.*number<[0-9]+>.*bytes.*but_the_stack_budget_is.*number<65536>.*bytes_so_pass_one_for.*key<256>
  // cause: Projecting so many keys at once needs more scratch memory than a call may put on the stack.
  // cure: Pass a workspace: `static decltype(past)::workspace<key<256>> work;`, or append in parts.
  (void)past.append(attend, tensor<float, key<256>, hidden<100>>{},
                    tensor<float, key<256>, hidden<100>>{});
#elif defined CASE_chunk_too_long_appended
  // expect-gcc: "umbel: key_value_cache: a step may append at most 1, got key=2"
  // expect-clang: key_value_cache.*a_step_may_append_at_most.*number<1>.*got.*key<2>
  // cause: A sliding cache has memory for steps of one position, unless it is declared for more.
  // cure: Add the number of positions in a step: `longest_sequence<4096, 2>`.
  (void)slid.append(attend, tensor<float, key<2>, hidden<100>>{},
                    tensor<float, key<2>, hidden<100>>{});
#elif defined CASE_more_keys_than_values
  // expect-gcc: "umbel: key_value_cache: the keys have key=4 but the values have key=3"
  // expect-clang: cache.*the_keys.*have.*key<4>.*but_the_values.*have.*key<3>
  // cause: The numbers of keys and values differ.
  // cure: Pass tensors with the same number of positions.
  (void)past.append(attend, tensor<float, key<4>, hidden<100>>{},
                    tensor<float, key<3>, hidden<100>>{});
#elif defined CASE_workspace_of_other_steps
  // expect-gcc: "umbel: key_value_cache: the workspace is for a different layer or other sizes; pass one for \[token=1\]"
  // expect-clang: key_value_cache.*the_workspace_is_for_a_different_layer_or_other_sizes_so_pass_one_for.*token<1>
  // cause: The workspace was declared for steps of a different number of positions, or for a different cache.
  // cure: Declare it with the size in the brackets: `decltype(past)::workspace<token<1>>`.
  static memory::workspace<token<2>> work;
  (void)past.step(out, attend, x, all_keys, work);
#elif defined CASE_arguments_of_the_cache_swapped
  // expect-gcc: "umbel: key_value_cache: the first argument is not a multi_head_attention, an encoder_layer, a decoder_layer or a layer_stack"
  // expect-clang: cache.*the_first_argument_is_not_a_multi_head_attention_an_encoder_or_decoder_layer_or_a_layer_stack
  // cause: The first argument is the layer of the cache, one of these four.
  // cure: Put the layer first; for `prepacked<layer>` name the layer itself.
  key_value_cache<key<8>, attention> r;
  (void)r.step(x, attend, x);
#elif defined CASE_step_without_result
  // expect-gcc: "umbel: key_value_cache: step expects out, the layer and the next positions; then a mask such as lengths, causal or all_keys; then a workspace"
  // expect-clang: cache.*step_expects_out_and_the_layer_and_the_next_positions_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace
  // cause: `step` has too few or too many arguments.
  // cure: Pass the output, the layer and the next positions: `past.step(out, attend, next)`.
  (void)past.step(attend, x);
#elif defined CASE_append_of_one
  // expect-gcc: "umbel: key_value_cache: append expects the layer, keys and values; then a workspace"
  // expect-clang: cache.*append_expects_the_layer_and_keys_and_values_then_a_workspace
  // cause: `append` has too few or too many arguments.
  // cure: Pass the layer, then the keys and the values, which may be one tensor: `past.append(attend, y, y)`.
  (void)past.append(attend, x);
#elif defined CASE_attend_of_nothing
  // expect-gcc: "umbel: key_value_cache: attend expects out, the layer and queries; then a mask such as lengths, causal or all_keys; then a workspace"
  // expect-clang: cache.*attend_expects_out_and_the_layer_and_queries_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace
  // cause: `attend` has too few or too many arguments.
  // cure: Pass the output, the layer and the queries: `past.attend(out, attend, x)`.
  past.attend(attend);
#elif defined CASE_workspace_for_a_wrong_width
  // expect-gcc: "umbel: key_value_cache: the sequence has hidden=80 but the layer has hidden=100"
  // expect-clang: key_value_cache.*hidden<80>.*hidden<100>
  // cause: `workspace_for` checks the tensors of the call, and these do not fit the layer.
  // cure: Write the types of the tensors that you pass in the call.
  static workspace_for<memory, tensor<float, token<1>, hidden<80>>> work;
#else
  static memory::workspace<token<1>> work;
  (void)past.step(out, attend, x, keep_mask(tensor<bool, key<256>>{}) & alibi, work);
  (void)slid.step(out, attend, x, alibi);
  (void)past.append(attend, tensor<float, key<4>, hidden<100>>{},
                    tensor<float, key<4>, hidden<100>>{});
  static memory::workspace<key<256>> all;
  (void)past.append(attend, tensor<float, key<256>, hidden<100>>{},
                    tensor<float, key<256>, hidden<100>>{}, all);
  (void)slid.append(attend, tensor<float, key<1>, hidden<100>>{},
                    tensor<float, key<1>, hidden<100>>{});
  tensor<float, query<2>, hidden<100>> two{};
  past.attend(two, attend, tensor<float, query<2>, hidden<100>>{});
#endif
}
