// SPDX-License-Identifier: BSL-1.0
// Mistakes with caches of decoder layers and of stacks of them, and with such stacks (check.py).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using decoder = decoder_layer<float, hidden<32>, heads<4>, intermediate<64>, norm_first<true>,
                              activation<silu>, bias<true>>;
using model = layer_stack<decoder, 3>;
using cache = key_value_cache<model, key<256>, longest_memory<48>>;
using window =
    key_value_cache<model, key<64>, longest_sequence<4096>, longest_memory<48>, batch<2>>;
using tokens = tensor<float, token<1>, hidden<32>>;
using memories = tensor<float, key<40>, hidden<32>>;

[[maybe_unused]] static void cases(const model::weights& w, const model& layers, cache& past,
                                   window& slid, memories& memory, tokens& x, tokens& out) {
  (void)w, (void)layers, (void)past, (void)slid, (void)memory, (void)x, (void)out;
#if defined CASE_cache_without_longest_memory
  // expect-gcc: "umbel: key_value_cache: needs the longest length of the memory; add longest_memory<48>"
  // expect-clang: key_value_cache.*needs_the_longest_length_of_the_memory_so_add_longest_memory
  // cause: A cache of decoder layers stores the keys and values of the memory, and its size is a constant.
  // cure: Add the option: `key_value_cache<decoder, key<256>, longest_memory<48>>`.
  key_value_cache<decoder, key<256>> other;
#elif defined CASE_cache_without_longest_memory_stepped
  // expect-gcc: "umbel: key_value_cache: needs the longest length of the memory; add longest_memory<48>"
  // expect-clang: key_value_cache.*needs_the_longest_length_of_the_memory_so_add_longest_memory
  // cause: A cache of decoder layers stores the keys and values of the memory, and its size is a constant.
  // cure: Add the option: `key_value_cache<decoder, key<256>, longest_memory<48>>`.
  static key_value_cache<model, key<256>> other;
  (void)other.step(out, layers, x);
#elif defined CASE_cache_without_longest_memory_given_one
  // expect-gcc: "umbel: key_value_cache: needs the longest length of the memory; add longest_memory<48>"
  // expect-clang: key_value_cache.*needs_the_longest_length_of_the_memory_so_add_longest_memory
  // cause: A cache of decoder layers stores the keys and values of the memory, and its size is a constant.
  // cure: Add the option: `key_value_cache<decoder, key<256>, longest_memory<48>>`.
  static key_value_cache<model, key<256>> other;
  other.attend_to(layers, memory);
  (void)other.step(out, layers, x);
#elif defined CASE_longest_memory_of_encoders
  // expect-gcc: "umbel: key_value_cache: longest_memory is not one of its options"
  // expect-clang: key_value_cache.*longest_memory<48>.*is_not_one_of_its_options
  // cause: Only decoder layers attend to a memory.
  // cure: Leave it out.
  using encoder = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, norm_first<true>,
                                activation<silu>, bias<true>>;
  key_value_cache<encoder, key<256>, longest_memory<48>> other;
#elif defined CASE_longest_memory_of_nothing
  // expect-gcc: "umbel: shape: key=0 has size 0 in \[key=0\]"
  // expect-clang: shape.*key<0>.*has_size_0_in.*key<0>
  // cause: An axis has size 0.
  // cure: Set every axis to a size of at least 1, or leave the axis out.
  key_value_cache<decoder, key<256>, longest_memory<0>> other;
#elif defined CASE_longest_memory_of_nothing_given_one
  // expect-gcc: "umbel: shape: key=0 has size 0 in \[key=0\]"
  // expect-clang: shape.*key<0>.*has_size_0_in.*key<0>
  // cause: An axis has size 0.
  // cure: Set every axis to a size of at least 1, or leave the axis out.
  static key_value_cache<model, key<256>, longest_memory<0>> other;
  other.attend_to(layers, memory);
  (void)other.step(out, layers, x);
#elif defined CASE_longest_memory_twice
  // expect-gcc: "umbel: key_value_cache: longest_memory is given twice"
  // expect-clang: key_value_cache.*longest_memory<48>.*is_given_twice
  // cause: Two options have the same meaning.
  // cure: Leave one of them out.
  key_value_cache<decoder, key<256>, longest_memory<48>, longest_memory<40>> other;
#elif defined CASE_capacity_of_decoders_forgotten
  // expect-gcc: "umbel: key_value_cache: expected the axis key but got longest_memory"
  // expect-clang: key_value_cache.*expected_the_axis.*key>.*but_got.*longest_memory<48>
  // cause: The capacity is a number of keys.
  // cure: Write `key_value_cache<attention, key<256>>`.
  key_value_cache<decoder, longest_memory<48>> other;
#elif defined CASE_memory_longer_than_the_longest
  // expect-gcc: "umbel: key_value_cache: longest_memory=48 must be at least key=49"
  // expect-clang: key_value_cache.*longest_memory<48>.*must_be_at_least.*key<49>
  // cause: The memory has more positions than the cache has room for.
  // cure: Declare the cache with `longest_memory<49>`.
  past.attend_to(layers, tensor<float, key<49>, hidden<32>>{});
#elif defined CASE_memory_of_another_width
  // expect-gcc: "umbel: key_value_cache: the memory has hidden=33 but the layer has hidden=32"
  // expect-clang: key_value_cache.*the_memory.*has.*hidden<33>.*but_the_layer_has.*hidden<32>
  // cause: The memory has a different number of features than the layer's weights.
  // cure: Pass the right tensor, or declare the layer with its width.
  past.attend_to(layers, tensor<float, key<40>, hidden<33>>{});
#elif defined CASE_memory_without_positions
  // expect-gcc: "umbel: key_value_cache: the memory must have exactly one axis besides batch and hidden, not \[hidden=32\]"
  // expect-clang: key_value_cache.*the_memory.*must_have_exactly_one_axis_besides_batch_and.*hidden.*hidden<32>
  // cause: The memory does not have exactly one position axis.
  // cure: Pass one sequence of rows, or a batch of sequences.
  past.attend_to(layers, tensor<float, hidden<32>>{});
#elif defined CASE_memory_of_a_cache_without_batch
  // expect-gcc: "umbel: key_value_cache: the memory has batch=2 but the cache has no batch"
  // expect-clang: cache.*the_memory.*has.*batch<2>.*but_the_cache_has.*no_batch
  // cause: The cache was declared for a different number of sequences.
  // cure: Declare it with the batch: `key_value_cache<decoder, key<256>, longest_memory<48>, batch<2>>`.
  past.attend_to(layers, tensor<float, batch<2>, key<40>, hidden<32>>{});
#elif defined CASE_memory_of_no_batch
  // expect-gcc: "umbel: key_value_cache: the memory has no batch but the cache has batch=2"
  // expect-clang: cache.*the_memory.*has_no.*batch.*but_the_cache_has.*batch<2>
  // cause: The cache was declared for a different number of sequences.
  // cure: Declare it with the batch: `key_value_cache<decoder, key<256>, longest_memory<48>, batch<2>>`.
  slid.attend_to(layers, memory);
#elif defined CASE_memory_in_columns
  // expect-gcc: "umbel: key_value_cache: hidden=32 must be the last axis of \[hidden=32, key=40\]"
  // expect-clang: key_value_cache.*hidden<32>.*must_be_the_last_axis_of.*hidden<32>.*key<40>
  // cause: The features of a position must be adjacent in memory.
  // cure: Permute it: `memory | permute<key, hidden> | contiguous`.
  past.attend_to(layers, tensor<float, hidden<32>, key<40>>{});
#elif defined CASE_memory_for_another_layer
  // expect-gcc: "umbel: key_value_cache: the layer is not the one that the cache was declared for"
  // expect-clang: key_value_cache.*the_layer_is_not_the_one_that_the_cache_was_declared_for
  // cause: The keys and values of one layer have no meaning for a different layer, nor for a stack that contains it.
  // cure: Declare one cache for each layer, or one for the stack, with its type.
  past.attend_to(decoder{w[0]}, memory);
#elif defined CASE_attend_to_without_the_layer
  // expect-gcc: "umbel: key_value_cache: attend_to expects the layer and the memory, then a workspace"
  // expect-clang: cache.*attend_to_expects_the_layer_and_the_memory_then_a_workspace
  // cause: `attend_to` has too few or too many arguments. Pass the lengths of the memory to the steps.
  // cure: Pass the layer, then the memory: `past.attend_to(decode, memory)`.
  past.attend_to(memory);
#elif defined CASE_lengths_for_attend_to
  // expect-gcc: "umbel: key_value_cache: attend_to expects the layer and the memory, then a workspace"
  // expect-clang: cache.*attend_to_expects_the_layer_and_the_memory_then_a_workspace
  // cause: `attend_to` has too few or too many arguments. Pass the lengths of the memory to the steps.
  // cure: Pass the layer, then the memory: `past.attend_to(decode, memory)`.
  slid.attend_to(layers, tensor<float, batch<2>, key<40>, hidden<32>>{}, tensor<int, batch<2>>{});
#elif defined CASE_attend_to_in_the_workspace_of_the_whole_pass
  // expect-gcc: "umbel: key_value_cache: the workspace is for a different layer or other sizes; pass one for \[key=1\]"
  // expect-clang: key_value_cache.*the_workspace_is_for_a_different_layer_or_other_sizes_so_pass_one_for.*key<1>
  // cause: The workspace was declared for the layer, or for a different cache.
  // cure: Pass a workspace for a step of this cache, with any number of positions: `decltype(past)::workspace<token<1>>`.
  static model::workspace<token<1>, key<40>> work;
  past.attend_to(layers, memory, work);
#elif defined CASE_step_of_decoders_without_result
  // expect-gcc: "umbel: key_value_cache: step expects out, the layer and the next positions; then a mask of the memory; then a self_mask; then a workspace"
  // expect-clang: cache.*step_expects_out_and_the_layer_and_the_next_positions_then_a_mask_of_the_memory_then_self_mask_then_a_workspace
  // cause: `step` has too few or too many arguments, or they are in a different order. The memory goes to `attend_to`, once.
  // cure: Write `past.step(out, decode, next)`, then the further arguments of the layer: `lens`, `self_mask(alibi)`, a workspace.
  (void)past.step(layers, x);
#elif defined CASE_step_of_decoders_with_the_memory
  // expect-gcc: "umbel: key_value_cache: step got the memory; pass it once, to attend_to\(layer, memory\)"
  // expect-clang: key_value_cache.*step_got_the_memory_so_pass_it_once_to_attend_to
  // cause: The keys and values of the memory are projected once for each sequence; a step only needs the mask of the memory.
  // cure: Write `past.attend_to(decode, memory)` before the first step, then `past.step(out, decode, next)`.
  (void)past.step(out, layers, x, memory);
#elif defined CASE_step_of_decoders_with_the_memory_and_masks
  // expect-gcc: "umbel: key_value_cache: step got the memory; pass it once, to attend_to\(layer, memory\)"
  // expect-clang: key_value_cache.*step_got_the_memory_so_pass_it_once_to_attend_to
  // cause: The keys and values of the memory are projected once for each sequence; a step only needs the mask of the memory.
  // cure: Write `past.attend_to(decode, memory)` before the first step, then `past.step(out, decode, next)`.
  (void)past.step(out, layers, x, memory, self_mask(causal), all_keys);
#elif defined CASE_step_of_decoders_of_one_of_the_layers
  // expect-gcc: "umbel: key_value_cache: the layer is not the one that the cache was declared for"
  // expect-clang: key_value_cache.*the_layer_is_not_the_one_that_the_cache_was_declared_for
  // cause: The keys and values of one layer have no meaning for a different layer, nor for a stack that contains it.
  // cure: Declare one cache for each layer, or one for the stack, with its type.
  (void)past.step(out, decoder{w[0]}, x);
#elif defined CASE_prompt_of_decoders_too_long
  // expect-gcc: "umbel: key_value_cache: a step may append at most 256, got token=300"
  // expect-clang: key_value_cache.*a_step_may_append_at_most.*number<256>.*got.*token<300>
  // cause: The step has more positions than the cache has room for.
  // cure: Declare a larger cache, `key_value_cache<attention, key<300>>`, or make several smaller steps.
  static tensor<float, token<300>, hidden<32>> prompt;
  (void)past.step(prompt, layers, prompt);
#elif defined CASE_mask_of_another_memory
  // expect-gcc: "umbel: key_value_cache: keep_mask has key=40 but the scores have \[heads=4, query=1, key=48\]"
  // expect-clang: cache.*keep_mask.*has.*key<40>.*but_the_scores_have.*heads<4>.*query<1>.*key<48>
  // cause: In a mask of the memory, the axis key has the size of the longest memory.
  // cure: The mask needs as many keys as `longest_memory<>`.
  (void)past.step(out, layers, x, keep_mask(tensor<bool, key<40>>{}));
#elif defined CASE_causal_for_the_memory_in_a_step
  // expect-gcc: "umbel: key_value_cache: causal is passed as the mask of the memory; leave it out, each step is already causal"
  // expect-clang: key_value_cache.*causal_is_passed_as_the_mask_of_the_memory_and_a_step_is_causal_without_it_so_leave_it_out
  // cause: The mask after the positions belongs to the memory, which has its own positions.
  // cure: Leave it out, or pass it for the sequence, `self_mask(causal)`.
  (void)past.step(out, layers, x, causal);
#elif defined CASE_own_mask_of_other_positions
  // expect-gcc: "umbel: key_value_cache: keep_mask has key=9 but the scores have \[heads=4, query=1, key=256\]"
  // expect-clang: cache.*keep_mask.*has.*key<9>.*but_the_scores_have.*heads<4>.*query<1>.*key<256>
  // cause: The axis key of a mask counts the positions of the cache.
  // cure: The mask needs as many keys as the cache's capacity.
  (void)past.step(out, layers, x, self_mask(keep_mask(tensor<bool, key<9>>{})));
#elif defined CASE_own_lengths_of_sliding_decoders
  // expect-gcc: "umbel: key_value_cache: a cache with longest_sequence accepts only masks by position"
  // expect-clang: key_value_cache.*a_cache_with_longest_sequence_accepts_only_masks_by_position
  // cause: A sliding cache drops the first positions, so lengths and tensors by key have no meaning.
  // cure: Use `alibi` or `sliding_window<>`, or a cache that does not slide.
  tensor<float, batch<2>, token<1>, hidden<32>> two{};
  (void)slid.step(two, layers, two, self_mask(tensor<int, batch<2>>{}));
#elif defined CASE_step_of_decoders_beyond_the_stack
  // expect-gcc: "umbel: key_value_cache: needs a workspace of [0-9]+ bytes but the stack budget is 65536 bytes; pass one for \[token=200\]"
  // expect-clang: key_value_cache.*needs_a_workspace_of.*number<[0-9]+>.*bytes.*but_the_stack_budget_is.*number<65536>.*bytes_so_pass_one_for.*token<200>
  // cause: So many positions at once need more scratch memory than a call may put on the stack.
  // cure: Pass a workspace: `static decltype(past)::workspace<token<200>> work;`, or make several smaller steps.
  static tensor<float, token<200>, hidden<32>> prompt;
  (void)past.step(prompt, layers, prompt);
#elif defined CASE_workspace_of_other_steps_of_decoders
  // expect-gcc: "umbel: key_value_cache: the workspace is for \[token=2\]; pass one for \[token=1\]"
  // expect-clang: key_value_cache.*the_workspace_is_for.*token<2>.*so_pass_one_for.*token<1>
  // cause: The workspace was declared for steps of a different number of positions.
  // cure: Declare it with the size in the brackets: `decltype(past)::workspace<token<1>>`.
  static cache::workspace<token<2>> work;
  (void)past.step(out, layers, x, all_keys, work);
#elif defined CASE_append_to_decoders
  // expect-gcc: "umbel: key_value_cache: a cache of encoder or decoder layers has no append or attend; use step"
  // expect-clang: key_value_cache.*a_cache_of_encoder_or_decoder_layers_has_no_append_or_attend_so_use_step
  // cause: The keys and values of a layer are computed from the result of the layer before it, so they cannot be arguments.
  // cure: Call `step` for the positions and ignore the result if you do not need it. For attention to a second sequence use a cache of attention; pass the memory of decoder layers to `attend_to`.
  (void)past.append(layers, memory, memory);
#elif defined CASE_stack_of_decoders_without_self_mask
  // expect-gcc: "umbel: decoder_layer: needs a self_mask; add self_mask\(causal\), as torch has with tgt_is_causal or generate_square_subsequent_mask, or self_mask\(all_keys\), as torch has without tgt_mask"
  // expect-clang: decoder_layer.*needs_a_self_mask_so_add_self_mask_causal_or_self_mask_all_keys_as_torch_has_without_tgt_mask
  // cause: The call does not specify which positions of itself the sequence sees, and frameworks differ.
  // cure: After the memory and its mask, pass `self_mask(causal)` if no position may see a later one, `self_mask(all_keys)` if all may.
  (void)layers(x, memory);
#elif defined CASE_workspace_for_a_wrong_batch
  // expect-gcc: "umbel: key_value_cache: the sequence has batch=3 but the cache has batch=2"
  // expect-clang: key_value_cache.*batch<3>
  // cause: `workspace_for` checks the tensors of the call, and these do not fit the layer.
  // cure: Write the types of the tensors that you pass in the call.
  static workspace_for<window, tensor<float, batch<3>, token<1>, hidden<32>>> work;
#else
  past.attend_to(layers, memory);
  static cache::workspace<token<200>> work;
  past.attend_to(layers, tensor<float, token<48>, hidden<32>>{}, work);
  static tensor<float, token<200>, hidden<32>> prompt;
  (void)past.step(prompt, layers, prompt, all_keys, work);
  (void)past.step(prompt, layers, prompt, self_mask(alibi), work);
  (void)past.step(x, layers, x, keep_mask(tensor<bool, key<48>>{}), self_mask(alibi));
  slid.attend_to(layers, tensor<float, batch<2>, key<40>, hidden<32>>{});
  tensor<float, batch<2>, token<1>, hidden<32>> two{};
  (void)slid.step(two, layers, two, tensor<int, batch<2>>{}, self_mask(alibi));
  (void)layers(x, memory, self_mask(causal));
#endif
}
