// SPDX-License-Identifier: BSL-1.0
// Mistakes with decoder_layer: one case each, with the message that the compiler must print
// (check.py).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using tokens = tensor<float, batch<2>, token<5>, hidden<32>>;
using encoded = tensor<float, batch<2>, key<7>, hidden<32>>;
using lengths_of = tensor<int, batch<2>>;
template <class... Options>
using layer = decoder_layer<float, hidden<32>, heads<4>, intermediate<64>, Options...>;
using decoder = layer<norm_first<true>, activation<gelu_exact>, bias<false>>;

[[maybe_unused]] static void cases(const decoder& decode, const prepacked<decoder>& packed,
                                   tokens& x, encoded& memory, lengths_of& lens) {
  (void)decode, (void)packed, (void)x, (void)memory, (void)lens;
#if defined CASE_decoder_without_memory
  // expect-gcc: "umbel: decoder_layer: expects a sequence and a memory; then a mask of the memory; then a self_mask; then a workspace"
  // expect-clang: decoder_layer.*expects_a_sequence_and_a_memory_then_a_mask_of_the_memory_then_self_mask_then_a_workspace
  // cause: The arguments match no overload: there is no memory, the masks are in a different order, or the mask of the sequence is not a `self_mask`.
  // cure: Keep this order, with `all_keys` for a memory without a mask; without a memory use `encoder_layer` with `causal`.
  auto r = decode(x);
#elif defined CASE_decoder_masks_in_the_order_of_torch
  // expect-gcc: "umbel: decoder_layer: expects a sequence and a memory; then a mask of the memory; then a self_mask; then a workspace"
  // expect-clang: decoder_layer.*expects_a_sequence_and_a_memory_then_a_mask_of_the_memory_then_self_mask_then_a_workspace
  // cause: The arguments match no overload: there is no memory, the masks are in a different order, or the mask of the sequence is not a `self_mask`.
  // cure: Keep this order, with `all_keys` for a memory without a mask; without a memory use `encoder_layer` with `causal`.
  auto r = decode(x, memory, causal, lens);
#elif defined CASE_decoder_self_mask_first
  // expect-gcc: "umbel: decoder_layer: expects a sequence and a memory; then a mask of the memory; then a self_mask; then a workspace"
  // expect-clang: decoder_layer.*expects_a_sequence_and_a_memory_then_a_mask_of_the_memory_then_self_mask_then_a_workspace
  // cause: The arguments match no overload: there is no memory, the masks are in a different order, or the mask of the sequence is not a `self_mask`.
  // cure: Keep this order, with `all_keys` for a memory without a mask; without a memory use `encoder_layer` with `causal`.
  auto r = packed(x, memory, self_mask(lens), lens);
#elif defined CASE_decoder_causal_for_the_memory
  // expect-gcc: "umbel: decoder_layer: causal is ambiguous because query=5 and key=7 differ; choose _top_left, _bottom_right or _at"
  // expect-clang: decoder_layer.*causal.*is_ambiguous_because.*query<5>.*and_.*key<7>.*differ_so_choose_top_left_bottom_right_or_at
  // cause: The mask is by position, but the numbers of queries and keys differ; for a memory it rarely has a meaning.
  // cure: Pass it for the sequence itself, `self_mask(causal)`; for the memory pass `causal_at(0)` or similar.
  auto r = decode(x, memory, causal, self_mask(causal));
#elif defined CASE_decoder_lengths_of_another_batch
  // expect-gcc: "umbel: decoder_layer: valid_lens have batch=3 but the scores have \[batch=2, heads=4, query=5, key=7\]"
  // expect-clang: decoder_layer.*valid_lens.*have.*batch<3>.*but_the_scores_have.*batch<2>.*heads<4>.*query<5>.*key<7>
  // cause: The number of lengths is not the number of sequences in the batch.
  // cure: Pass one length for each sequence of the batch.
  auto r = decode(x, memory, tensor<int, batch<3>>{}, self_mask(causal));
#elif defined CASE_decoder_own_lengths_of_another_batch
  // expect-gcc: "umbel: decoder_layer: valid_lens have batch=3 but the scores have \[batch=2, heads=4, query=5, key=5\]"
  // expect-clang: decoder_layer.*valid_lens.*have.*batch<3>.*but_the_scores_have.*batch<2>.*heads<4>.*query<5>.*key<5>
  // cause: The number of lengths is not the number of sequences in the batch.
  // cure: Pass one length for each sequence of the batch.
  auto r = decode(x, memory, lens, self_mask(tensor<int, batch<3>>{}));
#elif defined CASE_decoder_mask_of_the_memory_as_its_own
  // expect-gcc: "umbel: decoder_layer: keep_mask has key=7 but the scores have \[batch=2, heads=4, query=5, key=5\]"
  // expect-clang: decoder_layer.*keep_mask.*has.*key<7>.*but_the_scores_have.*batch<2>.*heads<4>.*query<5>.*key<5>
  // cause: The mask of the memory is passed as the mask of the sequence itself.
  // cure: Pass it before `self_mask(...)`, by itself.
  static const tensor<bool, batch<2>, key<7>> keep{};
  auto r = decode(x, memory, lens, self_mask(keep_mask(keep)));
#elif defined CASE_decoder_own_mask_of_bool
  // expect-gcc: "umbel: decoder_layer: a bool mask is ambiguous; write keep_mask\(mask\) if true keeps a key, drop_mask\(mask\) if true drops it"
  // expect-clang: decoder_layer.*a_bool_mask_is_ambiguous_so_write_keep_mask_or_drop_mask_for_what_true_does
  // cause: True means "attend" in some frameworks and "do not attend" in others.
  // cure: Pass `keep_mask(m)` or `drop_mask(m)`.
  static const tensor<bool, batch<2>, key<5>> mask{};
  auto r = decode(x, memory, lens, self_mask(mask));
#elif defined CASE_decoder_memory_of_another_batch
  // expect-gcc: "umbel: decoder_layer: the sequences have batch=2 but the memories have batch=3"
  // expect-clang: decoder_layer.*the_sequences.*have.*batch<2>.*but_the_memories.*have.*batch<3>
  // cause: The number of memories is not the number of sequences in the batch.
  // cure: Pass one memory for each sequence of the batch.
  auto r = decode(x, tensor<float, batch<3>, key<7>, hidden<32>>{});
#elif defined CASE_decoder_memory_without_batch
  // expect-gcc: "umbel: decoder_layer: the sequences have batch=2 but the memories have no batch"
  // expect-clang: decoder_layer.*the_sequences.*have.*batch<2>.*but_the_memories.*have_no.*batch
  // cause: The number of memories is not the number of sequences in the batch.
  // cure: Pass one memory for each sequence of the batch.
  auto r = decode(x, tensor<float, key<7>, hidden<32>>{});
#elif defined CASE_decoder_memory_width
  // expect-gcc: "umbel: decoder_layer: the memory has hidden=48 but the layer has hidden=32"
  // expect-clang: decoder_layer.*the_memory.*has.*hidden<48>.*but_the_layer_has.*hidden<32>
  // cause: The memory has a different number of features than the layer's weights.
  // cure: Pass the result of an encoder with the width of the layer, or map it with `linear` first.
  auto r = decode(x, tensor<float, batch<2>, key<7>, hidden<48>>{});
#elif defined CASE_decoder_memory_without_hidden
  // expect-gcc: "umbel: decoder_layer: the memory needs the axis hidden but has \[batch=2, key=7, head_dim=32\]"
  // expect-clang: decoder_layer.*the_memory.*needs_the_axis.*hidden>.*but_has.*batch<2>.*key<7>.*head_dim<32>
  // cause: The memory has no feature axis with the name in the layer.
  // cure: Rename it: `memory | rename_axis<head_dim, hidden>`.
  auto r = decode(x, tensor<float, batch<2>, key<7>, head_dim<32>>{});
#elif defined CASE_decoder_memory_type
  // expect-gcc: "umbel: decoder_layer: the memory has type double but the layer has type float"
  // expect-clang: decoder_layer.*the_memory.*has_type.*element<double>.*but_the_layer_has_type.*element<float>
  // cause: The memory and the layer have different element types, and Umbel converts nothing implicitly.
  // cure: Declare both with one element type.
  auto r = decode(x, tensor<double, batch<2>, key<7>, hidden<32>>{});
#elif defined CASE_decoder_memory_of_two_sequences
  // expect-gcc: "umbel: decoder_layer: the memory must have exactly one axis besides batch and hidden, not \[query=5, key=7, hidden=32\]"
  // expect-clang: decoder_layer.*the_memory.*must_have_exactly_one_axis_besides_batch_and.*hidden>.*not_.*query<5>.*key<7>.*hidden<32>
  // cause: The memory has no position axis, or two.
  // cure: Pass (batch, position, hidden).
  auto r = decode(x, tensor<float, query<5>, key<7>, hidden<32>>{});
#elif defined CASE_decoder_memory_not_row_major
  // expect-gcc: "umbel: decoder_layer: \[batch=2, key=7, hidden=32\] is not row-major in memory; pass contiguous\(x\)"
  // expect-clang: decoder_layer.*batch<2>.*key<7>.*hidden<32>.*is_not_row_major_in_memory_so_pass_contiguous
  // cause: The sequence or the memory is a permuted or sliced view.
  // cure: Copy first: `decode(x, memory | contiguous)`.
  static const tensor<float, key<7>, batch<2>, hidden<32>> turned{};
  auto r = decode(x, turned | permute<batch, key, hidden>);
#elif defined CASE_decoder_memory_batch_not_first
  // expect-gcc: "umbel: decoder_layer: batch must be the first axis of \[key=7, batch=2, hidden=32\]"
  // expect-clang: decoder_layer.*batch>.*must_be_the_first_axis_of.*key<7>.*batch<2>.*hidden<32>
  // cause: The batch axis is behind the positions, as in PyTorch without `batch_first`.
  // cure: Write `memory | permute<batch, key, hidden> | contiguous`.
  auto r = decode(x, tensor<float, key<7>, batch<2>, hidden<32>>{});
#elif defined CASE_decoder_width
  // expect-gcc: "umbel: decoder_layer: the sequence has hidden=33 but the layer has hidden=32"
  // expect-clang: decoder_layer.*the_sequence.*has.*hidden<33>.*but_the_layer_has.*hidden<32>
  // cause: The sequence has a different number of features than the layer's weights.
  // cure: Pass the right tensor, or declare the layer with its width.
  auto r = packed(tensor<float, batch<2>, token<5>, hidden<33>>{}, memory);
#elif defined CASE_decoder_workspace_for_one_length
  // expect-gcc: "umbel: decoder_layer: the workspace is for \[token=5, key=5\]; pass one for \[token=5, key=7\]"
  // expect-clang: decoder_layer.*the_workspace_is_for.*key<5>.*so_pass_one_for.*key<7>
  // cause: The workspace was declared for a different layer, or for different lengths of the sequence and the memory.
  // cure: Declare it with the sizes in the brackets, in this order: `decoder::workspace<token<5>, key<7>>`.
  static decoder::workspace<token<5>> work;
  auto r = decode(x, memory, self_mask(causal), work);
#elif defined CASE_decoder_stack_budget
  // expect-gcc: "umbel: decoder_layer: needs a workspace of [0-9]+ bytes but the stack budget is 65536 bytes; pass one for \[token=100, key=300\]"
  // expect-clang: decoder_layer.*needs_a_workspace_of.*number<[0-9]+>.*bytes.*but_the_stack_budget_is.*number<65536>.*bytes_so_pass_one_for.*token<100>.*key<300>
  // cause: The intermediate results of the call would need more stack than `UMBEL_STACK_BUDGET`.
  // cure: Pass a static workspace: `decoder::workspace<token<100>, key<300>>`, or raise the budget with `-DUMBEL_STACK_BUDGET=...`.
  static const tensor<float, token<100>, hidden<32>> long_x{};
  static const tensor<float, key<300>, hidden<32>> long_memory{};
  auto r = decode(long_x, long_memory, self_mask(causal));
#elif defined CASE_decoder_out_of_the_memory_s_axes
  // expect-gcc: "umbel: decoder_layer: the result has \[batch=2, token=5, hidden=32\] but out has \[batch=2, key=7, hidden=32\]"
  // expect-clang: decoder_layer.*the_result_has.*batch<2>.*token<5>.*hidden<32>.*but_out_has.*batch<2>.*key<7>.*hidden<32>
  // cause: The output has other axes or sizes than the result, which has those of the sequence.
  // cure: Declare `out` with the axes of the result.
  encoded out{};
  decode.into(out, x, memory, self_mask(causal));
#elif defined CASE_decoder_out_not_row_major
  // expect-gcc: "umbel: decoder_layer: out must be row-major in memory"
  // expect-clang: decoder_layer.*out_must_be_row_major_in_memory
  // cause: The output is a permuted or sliced view.
  // cure: Write to a plain tensor, then `copy` it to the view.
  tensor<float, token<5>, batch<2>, hidden<32>> out{};
  decode.into(out | permute<batch, token, hidden>, x, memory);
#elif defined CASE_decoder_temporary_weights
  // expect-gcc: "umbel: decoder_layer: the weights are a temporary that would be destroyed before the layer; store them in a variable"
  // expect-clang: decoder_layer.*the_weights_are_a_temporary_that_would_be_destroyed_before_the_layer_so_store_them_in_a_variable
  // cause: A layer borrows its weights, but these are destroyed at the end of the statement.
  // cure: Store them in a variable that lives as long as the layer, preferably `static const`.
  const decoder r{decoder::weights{}};
#elif defined CASE_decoder_weights_of_an_encoder
  // expect-gcc: "umbel: decoder_layer: the weights do not match this layer and its options; they are for encoder_layer"
  // expect-clang: decoder_layer.*the_weights_do_not_match_this_layer_and_its_options
  // cause: The weights belong to a layer with other axes or other options, or to an encoder layer.
  // cure: Use the `weights` type of this layer.
  static encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, norm_first<true>,
                       activation<gelu_exact>, bias<false>>::weights other;
  const decoder r{other};
#elif defined CASE_decoder_heads_do_not_divide_hidden
  // expect-gcc: "umbel: multi_head_attention: hidden=32 into heads=5 leaves a remainder of 2"
  // expect-clang: multi_head_attention.*hidden<32>.*into.*heads<5>.*leaves_a_remainder_of.*number<2>
  // cause: The heads of the layer do not divide its hidden axis.
  // cure: Choose a number of heads that divides it.
  decoder_layer<float, hidden<32>, heads<5>, intermediate<64>>::weights r;
#elif defined CASE_decoder_unknown_option
  // expect-gcc: "umbel: decoder_layer: int is not one of its options"
  // expect-clang: decoder_layer.*element<int>.*is_not_one_of_its_options
  // cause: A type after the axes is not an option of the decoder layer.
  // cure: See `block/encoder.hpp` for the options; both layers have the same.
  layer<int>::weights r;
#elif defined CASE_decoder_option_twice
  // expect-gcc: "umbel: decoder_layer: rope is given twice"
  // expect-clang: decoder_layer.*rope<.*is_given_twice
  // cause: One option has two values.
  // cure: Leave one out.
  layer<rope<split_halves>, rope<adjacent_pairs>>::weights r;
#elif defined CASE_decoder_rms_norm_without_epsilon
  // expect-gcc: "umbel: decoder_layer: rms_norm needs the epsilon of the trained model; add norm_epsilon<1, 1000000> for 1e-6"
  // expect-clang: decoder_layer.*rms_norm_needs_the_epsilon_of_the_model_so_add_norm_epsilon
  // cause: The epsilon of `rms_norm` differs between models and has no default.
  // cure: Look it up in the configuration of the model and add it, for example `norm_epsilon<1, 1'000'000>`.
  layer<norm_by<rms_norm>>::weights r;
#elif defined CASE_decoder_bias_of_the_network_not_said
  // expect-gcc: "umbel: decoder_layer: specify feed_forward_bias<true> or feed_forward_bias<false>; torch\.nn\.TransformerDecoderLayer has bias<true>"
  // expect-clang: decoder_layer.*specify<.*feed_forward_bias_true_or_false>.*torch_nn_TransformerDecoderLayer_has.*options_are<.*bias_true>
  // cause: `bias_on<>` lists the projections of both attentions but not those of the feed-forward network, in which models differ.
  // cure: Add the option of your model: Whisper is `bias_on<'q', 'v', 'o'>, feed_forward_bias<true>`.
  layer<norm_first<true>, activation<gelu_exact>, bias_on<'q', 'v', 'o'>>::weights r;
#elif defined CASE_decoder_norm_bias_of_rms_norm
  // expect-gcc: "umbel: decoder_layer: rms_norm has no beta; leave out norm_bias"
  // expect-clang: decoder_layer.*rms_norm_has_no_beta_so_leave_out_norm_bias
  // cause: `norm_bias<>` is for `layer_norm`; `rms_norm` never has a beta.
  // cure: Leave it out, or use `norm_by<layer_norm>`.
  layer<norm_by<rms_norm>, norm_bias<false>>::weights r;
#elif defined CASE_decoder_without_a_network
  // expect-gcc: "umbel: decoder_layer: the axis intermediate is missing"
  // expect-clang: decoder_layer.*the_axis.*intermediate>.*is_missing
  // cause: The layer needs its features, its heads, the width of its network, then options.
  // cure: Add the width of the network: `intermediate<64>`.
  decoder_layer<float, hidden<32>, heads<4>>::weights none;
#elif defined CASE_decoder_network_forgotten
  // expect-gcc: "umbel: decoder_layer: expected the axis intermediate but got kv_heads=1"
  // expect-clang: decoder_layer.*expected_the_axis.*intermediate>.*but_got.*kv_heads<1>
  // cause: The layer needs its features, its heads, the width of its network, then options.
  // cure: Add the width of the network: `intermediate<64>`.
  decoder_layer<float, hidden<32>, heads<4>, kv_heads<1>>::weights none;
#elif defined CASE_decoder_nothing_said
  // expect-gcc: "umbel: decoder_layer: specify norm_first<true> or norm_first<false>, activation<relu> or another, bias<true> or bias<false>; torch\.nn\.TransformerDecoderLayer has norm_first<false>, activation<relu>, bias<true>"
  // expect-clang: decoder_layer.*specify<.*norm_first_true_or_false, .*activation_relu_or_another, .*bias_true_or_false>.*torch_nn_TransformerDecoderLayer_has.*options_are<.*norm_first_false, .*activation_relu, .*bias_true>
  // cause: Norm order, activation and bias differ between frameworks and models and have no default.
  // cure: Add the options of your model: the default of torch's layer is `norm_first<false>, activation<relu>, bias<true>`.
  layer<>::weights r;
#elif defined CASE_decoder_norm_order_not_said
  // expect-gcc: "umbel: decoder_layer: specify norm_first<true> or norm_first<false>; torch\.nn\.TransformerDecoderLayer has norm_first<false>"
  // expect-clang: decoder_layer.*specify<.*norm_first_true_or_false>.*torch_nn_TransformerDecoderLayer_has.*options_are<.*norm_first_false>
  // cause: Norm order, activation and bias differ between frameworks and models and have no default.
  // cure: Add `norm_first<false>` (Vaswani et al., torch's default) or `norm_first<true>` (most recent models).
  const layer<activation<relu>, bias<true>>* none = nullptr;
  auto r = (*none)(x, memory, self_mask(causal));
#elif defined CASE_decoder_self_mask_not_said
  // expect-gcc: "umbel: decoder_layer: needs a self_mask; add self_mask\(causal\), as torch has with tgt_is_causal or generate_square_subsequent_mask, or self_mask\(all_keys\), as torch has without tgt_mask"
  // expect-clang: decoder_layer.*needs_a_self_mask_so_add_self_mask_causal_or_self_mask_all_keys_as_torch_has_without_tgt_mask
  // cause: The call does not specify which positions of itself the sequence sees, and frameworks differ.
  // cure: After the memory and its mask, pass `self_mask(causal)` if no position may see a later one, `self_mask(all_keys)` if all may.
  auto r = decode(x, memory);
#elif defined CASE_decoder_self_mask_not_said_but_that_of_the_memory
  // expect-gcc: "umbel: decoder_layer: needs a self_mask; add self_mask\(causal\), as torch has with tgt_is_causal or generate_square_subsequent_mask, or self_mask\(all_keys\), as torch has without tgt_mask"
  // expect-clang: decoder_layer.*needs_a_self_mask_so_add_self_mask_causal_or_self_mask_all_keys_as_torch_has_without_tgt_mask
  // cause: The call does not specify which positions of itself the sequence sees, and frameworks differ.
  // cure: After the memory and its mask, pass `self_mask(causal)` if no position may see a later one, `self_mask(all_keys)` if all may.
  static decoder::workspace<token<5>, key<7>> work;
  tokens out{};
  packed.into(out, x, memory, lens, work);
#elif defined CASE_decoder_of_integers
  // expect-gcc: "umbel: decoder_layer: needs float or double, not int"
  // expect-clang: decoder_layer.*needs_float_or_double_not.*element<int>
  // cause: The layer is declared with an element type that it cannot compute with.
  // cure: Declare it with float or double.
  decoder_layer<int, hidden<32>, heads<4>, intermediate<64>>::weights r;
#elif defined CASE_decoder_behind_a_mistake
  // expect-gcc: "umbel: mean: there is no axis head_dim in \[batch=2, token=5, hidden=32\]"
  // expect-clang: mean.*there_is_no_axis.*head_dim>.*in.*batch<2>.*token<5>.*hidden<32>
  // cause: The axis to average over is not an axis of the tensor.
  // cure: Average over an axis in the brackets.
  auto r = decode(x | mean<head_dim>, memory, lens);
  packed.into(r, x, memory);
#elif defined CASE_no_weights
  // expect-gcc: "umbel: decoder_layer: construct it from one object, its weights"
  // expect-clang: decoder_layer.*construct_it_from_one_object_its_weights
  // cause: A layer borrows its weights, all in one struct, when it is constructed.
  // cure: Fill `decoder::weights w` and write `decoder{w}`.
  const decoder wrong;
#elif defined CASE_workspace_for_a_memory_of_a_wrong_width
  // expect-gcc: "umbel: decoder_layer: the memory has hidden=80 but the layer has hidden=32"
  // expect-clang: decoder_layer.*hidden<80>.*hidden<32>
  // cause: `workspace_for` checks the tensors of the call, and these do not fit the layer.
  // cure: Write the types of the tensors that you pass in the call.
  static workspace_for<decoder, tokens, tensor<float, batch<2>, key<7>, hidden<80>>> work;
#elif defined CASE_workspace_for_no_memory
  // expect-gcc: "umbel: decoder_layer: attends to a memory; write layer\(x, memory, self_mask\(\.\.\.\)\)"
  // expect-clang: decoder_layer, .*attends_to_a_memory
  // cause: A decoder layer reads a sequence and a memory.
  // cure: Write both: `workspace_for<decoder, tokens, encoded>`.
  static workspace_for<decoder, tokens> work;
#else
  auto r = decode(x, memory, lens, self_mask(causal & lens));
  packed.into(r, x, memory, self_mask(all_keys));
#endif
}
