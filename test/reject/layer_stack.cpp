// SPDX-License-Identifier: BSL-1.0
// Mistakes with stacks of layers and with their caches (check.py).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using encoder = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, norm_first<true>,
                              activation<silu>, bias<true>>;
using model = layer_stack<encoder, 3>;
using memory = key_value_cache<model, key<256>>;
using window = key_value_cache<model, key<64>, longest_sequence<4096>>;
using tokens = tensor<float, token<1>, hidden<32>>;

[[maybe_unused]] static void cases(const model::weights& w, const model& layers, memory& past,
                                   window& slid, tokens& x, tokens& out) {
  (void)w, (void)layers, (void)past, (void)slid, (void)x, (void)out;
#if defined CASE_stack_of_attention
  // expect-gcc: "umbel: layer_stack: the first argument is not an encoder_layer, a decoder_layer or a residual_block"
  // expect-clang: layer_stack.*the_first_argument_is_not_an_encoder_layer_a_decoder_layer_or_a_residual_block
  // cause: A stack needs an `encoder_layer`, a `decoder_layer` or a `residual_block`, and is packed as a whole.
  // cure: Use one of these, packed as `prepacked<layer_stack<encoder, 3>>`; call other layers in sequence.
  using attention = multi_head_attention<float, hidden<32>, heads<4>>;
  [[maybe_unused]] layer_stack<attention, 3>::weights many;
#elif defined CASE_stack_of_packed_layers
  // expect-gcc: "umbel: layer_stack: the first argument is not an encoder_layer, a decoder_layer or a residual_block"
  // expect-clang: layer_stack.*the_first_argument_is_not_an_encoder_layer_a_decoder_layer_or_a_residual_block
  // cause: A stack needs an `encoder_layer`, a `decoder_layer` or a `residual_block`, and is packed as a whole.
  // cure: Use one of these, packed as `prepacked<layer_stack<encoder, 3>>`; call other layers in sequence.
  layer_stack<prepacked<encoder>, 3> packed{w};
#elif defined CASE_cache_of_a_stack_of_attention
  // expect-gcc: "umbel: layer_stack: the first argument is not an encoder_layer, a decoder_layer or a residual_block"
  // expect-clang: layer_stack.*the_first_argument_is_not_an_encoder_layer_a_decoder_layer_or_a_residual_block
  // lines-clang: 29
  // cause: A stack needs an `encoder_layer`, a `decoder_layer` or a `residual_block`, and is packed as a whole.
  // cure: Use one of these, packed as `prepacked<layer_stack<encoder, 3>>`; call other layers in sequence.
  using attention = multi_head_attention<float, hidden<32>, heads<4>>;
  key_value_cache<layer_stack<attention, 3>, key<8>> other;
  (void)other.step(out, layers, x);
#elif defined CASE_stack_of_no_layer
  // expect-gcc: "umbel: layer_stack: needs at least one layer"
  // expect-clang: layer_stack.*needs_at_least_one_layer
  // cause: The number of layers is 0.
  // cure: Write the number of layers: `layer_stack<encoder, 6>`.
  [[maybe_unused]] layer_stack<encoder, 0>::weights none;
#elif defined CASE_stack_of_fewer_weights
  // expect-gcc: "umbel: layer_stack: the weights are for 2 layers, but the stack has 3"
  // expect-clang: layer_stack.*the_weights_are_for.*number<2>.*layers_but_the_stack_has.*number<3>
  // cause: The weights are for a different number of layers.
  // cure: Declare them with the type of the stack: `model::weights w;`.
  static const layer_stack<encoder, 2>::weights two{};
  (void)model{two};
#elif defined CASE_stack_of_other_layers
  // expect-gcc: "umbel: feed_forward: part 1 of the weights maps \[hidden=32, intermediate=96\] but the layer needs \[hidden=32, intermediate=64\]"
  // expect-clang: feed_forward.*part.*number<1>.*of_the_weights_maps.*intermediate<96>.*but_the_layer_needs.*intermediate<64>
  // cause: The weights are for layers with other sizes or options.
  // cure: Declare them with the type of the stack: `model::weights w;`.
  using wider = encoder_layer<float, hidden<32>, heads<4>, intermediate<96>, norm_first<true>,
                              activation<silu>, bias<true>>;
  static const layer_stack<wider, 3>::weights others{};
  (void)model{others};
#elif defined CASE_stack_of_temporary_weights
  // expect-gcc: "umbel: layer_stack: the weights are a temporary that would be destroyed before the layer; store them in a variable"
  // expect-clang: layer_stack.*the_weights_are_a_temporary_that_would_be_destroyed_before_the_layer_so_store_them_in_a_variable
  // cause: A layer borrows its weights.
  // cure: Declare the weights in a variable that outlives the layer: `static model::weights w;`.
  (void)model{model::weights{}};
#elif defined CASE_stack_of_another_width
  // expect-gcc: "umbel: encoder_layer: the sequence has hidden=33 but the layer has hidden=32"
  // expect-clang: encoder_layer.*the_sequence.*has.*hidden<33>.*but_the_layer_has.*hidden<32>
  // cause: The sequence has a different number of features than the layer's weights.
  // cure: Pass the right tensor, or declare the layer with its width.
  (void)layers(tensor<float, token<5>, hidden<33>>{});
#elif defined CASE_step_of_one_of_the_layers
  // expect-gcc: "umbel: key_value_cache: the layer is not the one that the cache was declared for"
  // expect-clang: key_value_cache.*the_layer_is_not_the_one_that_the_cache_was_declared_for
  // cause: The keys and values of one layer have no meaning for a different layer, nor for a stack that contains it.
  // cure: Declare one cache for each layer, or one for the stack, with its type.
  (void)past.step(out, encoder{w[0]}, x);
#elif defined CASE_step_of_the_packed_layer
  // expect-gcc: "umbel: key_value_cache: the layer is not the one that the cache was declared for"
  // expect-clang: key_value_cache.*the_layer_is_not_the_one_that_the_cache_was_declared_for
  // cause: The keys and values of one layer have no meaning for a different layer, nor for a stack that contains it.
  // cure: Declare one cache for each layer, or one for the stack, with its type.
  static const prepacked<encoder> packed{w[0]};
  (void)past.step(out, packed, x);
#elif defined CASE_prompt_too_long_for_a_stack
  // expect-gcc: "umbel: key_value_cache: a step may append at most 256, got token=300"
  // expect-clang: key_value_cache.*a_step_may_append_at_most.*number<256>.*got.*token<300>
  // cause: The step has more positions than the cache has room for.
  // cure: Declare a larger cache, `key_value_cache<attention, key<300>>`, or make several smaller steps.
  static tensor<float, token<300>, hidden<32>> prompt;
  (void)past.step(prompt, layers, prompt);
#elif defined CASE_step_of_a_stack_into_a_column
  // expect-gcc: "umbel: key_value_cache: \[token=2, hidden=32\] and \[hidden=32, token=2\] have the same axes in a different order; permute one"
  // expect-clang: key_value_cache.*token<2>.*hidden<32>.*and_.*hidden<32>.*token<2>.*have_the_same_axes_in_a_different_order_so_permute_one
  // cause: Blocks read and write rows of features.
  // cure: Declare `out` with the axes of the positions in the same order.
  tensor<float, hidden<32>, token<2>> columns{};
  (void)past.step(columns, layers, tensor<float, token<2>, hidden<32>>{});
#elif defined CASE_step_of_a_stack_beyond_the_stack
  // expect-gcc: "umbel: key_value_cache: needs a workspace of [0-9]+ bytes but the stack budget is 65536 bytes; pass one for \[token=200\]"
  // expect-clang: key_value_cache.*needs_a_workspace_of.*number<[0-9]+>.*bytes.*but_the_stack_budget_is.*number<65536>.*bytes_so_pass_one_for.*token<200>
  // cause: So many positions at once need more scratch memory than a call may put on the stack.
  // cure: Pass a workspace: `static decltype(past)::workspace<token<200>> work;`, or make several smaller steps.
  static tensor<float, token<200>, hidden<32>> prompt;
  (void)past.step(prompt, layers, prompt);
#elif defined CASE_workspace_of_other_steps_of_a_stack
  // expect-gcc: "umbel: key_value_cache: the workspace is for \[token=2\]; pass one for \[token=1\]"
  // expect-clang: key_value_cache.*the_workspace_is_for.*token<2>.*so_pass_one_for.*token<1>
  // cause: The workspace was declared for steps of a different number of positions.
  // cure: Declare it with the size in the brackets: `decltype(past)::workspace<token<1>>`.
  static memory::workspace<token<2>> work;
  (void)past.step(out, layers, x, all_keys, work);
#elif defined CASE_workspace_of_the_whole_pass
  // expect-gcc: "umbel: key_value_cache: the workspace is for a different layer or other sizes; pass one for \[token=1\]"
  // expect-clang: key_value_cache.*the_workspace_is_for_a_different_layer_or_other_sizes_so_pass_one_for.*token<1>
  // cause: The workspace was declared for steps of a different number of positions, or for a different cache.
  // cure: Declare it with the size in the brackets: `decltype(past)::workspace<token<1>>`.
  static model::workspace<token<1>> work;
  (void)past.step(out, layers, x, all_keys, work);
#elif defined CASE_lengths_of_a_sliding_stack
  // expect-gcc: "umbel: key_value_cache: a cache with longest_sequence accepts only masks by position"
  // expect-clang: key_value_cache.*a_cache_with_longest_sequence_accepts_only_masks_by_position
  // cause: A sliding cache drops the first positions, so lengths and tensors by key have no meaning.
  // cure: Use `alibi` or `sliding_window<>`, or a cache that does not slide.
  (void)slid.step(out, layers, x, tensor<int, query<1>>{});
#elif defined CASE_append_to_a_stack
  // expect-gcc: "umbel: key_value_cache: a cache of encoder or decoder layers has no append or attend; use step"
  // expect-clang: key_value_cache.*a_cache_of_encoder_or_decoder_layers_has_no_append_or_attend_so_use_step
  // cause: The keys and values of a layer are computed from the result of the layer before it, so they cannot be arguments.
  // cure: Call `step` for the positions and ignore the result if you do not need it. For attention to a second sequence use a cache of attention; pass the memory of decoder layers to `attend_to`.
  (void)past.append(layers, x, x);
#elif defined CASE_attend_of_a_stack
  // expect-gcc: "umbel: key_value_cache: a cache of encoder or decoder layers has no append or attend; use step"
  // expect-clang: key_value_cache.*a_cache_of_encoder_or_decoder_layers_has_no_append_or_attend_so_use_step
  // cause: The keys and values of a layer are computed from the result of the layer before it, so they cannot be arguments.
  // cure: Call `step` for the positions and ignore the result if you do not need it. For attention to a second sequence use a cache of attention; pass the memory of decoder layers to `attend_to`.
  past.attend(out, layers, x);
#elif defined CASE_cache_of_tokens_of_a_stack
  // expect-gcc: "umbel: key_value_cache: expected the axis key but got token=256"
  // expect-clang: key_value_cache.*expected_the_axis.*key>.*but_got.*token<256>
  // cause: The capacity is a number of keys.
  // cure: Write `key_value_cache<attention, key<256>>`.
  key_value_cache<model, token<256>> other;
#elif defined CASE_layer_stack_of_weights
  // expect-gcc: "umbel: layer_stack: needs the layer and the number of layers; write layer_stack<encoder, 6>\{w\}"
  // expect-clang: layer_stack.*needs_the_layer_and_their_number_so_write_layer_stack_of_them
  // cause: The weights do not determine the layer, and their number is a constant.
  // cure: Name both: `using model = layer_stack<encoder, 6>`; then write `model{w}` with one `model::weights`, or an array of the weights of a layer.
  layer_stack wrong{w[0], w[1]};
#else
  (void)model{w}(tensor<float, token<5>, hidden<32>>{}, causal);
  static memory::workspace<token<200>> work;
  static tensor<float, token<200>, hidden<32>> prompt;
  (void)past.step(prompt, layers, prompt, all_keys, work);
  (void)past.step(x, layers, x, alibi);
  (void)slid.step(out, layers, x, alibi);
#endif
}
