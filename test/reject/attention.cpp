// SPDX-License-Identifier: BSL-1.0
// Mistakes in calls of multi-head attention, its masks, workspaces and weights: one case each, with
// the words that the compiler must print (check.py).
#include <umbel/umbel.hpp>

#include <array>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using context = tensor<float, batch<2>, key<6>, hidden<100>>;
using attention = multi_head_attention<float, hidden<100>, heads<5>>;
using lengths_of_two = tensor<int, batch<2>>;

[[maybe_unused]] static void cases(const attention& attend, const prepacked<attention>& packed,
                                   queries& x, context& y, const lengths_of_two& lens,
                                   attention::weights& w) {
  (void)attend, (void)packed, (void)x, (void)y, (void)lens, (void)w;
#if defined CASE_heads_do_not_divide_hidden
  // expect-gcc: "umbel: multi_head_attention: hidden=100 into heads=7 leaves a remainder of 2"
  // expect-clang: attention.*hidden<100>.*into.*heads<7>.*leaves_a_remainder_of.*number<2>
  // cause: The heads do not divide the hidden axis.
  // cure: Take a number of heads that divides it, or say how wide a head is: `head_dim<16>`.
  multi_head_attention<float, hidden<100>, heads<7>>::weights uneven;
#elif defined CASE_no_heads
  // expect-gcc: "umbel: shape: heads=0 has size 0 in \[heads=0\]"
  // expect-clang: shape.*heads<0>.*has_size_0_in.*heads<0>
  // cause: An axis has size 0.
  // cure: Give every axis at least one position, or leave the axis out.
  multi_head_attention<float, hidden<100>, heads<0>>::weights none;
#elif defined CASE_heads_forgotten
  // expect-gcc: "umbel: multi_head_attention: expected the axis heads but got bias"
  // expect-clang: multi_head_attention.*expected_the_axis.*heads>.*but_got.*bias<true>
  // cause: The layer takes its features, then its heads, then options.
  // cure: Say how many heads: `heads<5>`.
  multi_head_attention<float, hidden<100>, bias<true>>::weights none;
#elif defined CASE_features_only
  // expect-gcc: "umbel: multi_head_attention: the axis heads is missing"
  // expect-clang: multi_head_attention.*the_axis.*heads>.*is_missing
  // cause: The layer takes its features, then its heads, then options.
  // cure: Say how many heads: `heads<5>`.
  multi_head_attention<float, hidden<100>>::weights none;
#elif defined CASE_heads_first
  // expect-gcc: "umbel: multi_head_attention: expected the axis hidden but got heads=5"
  // expect-clang: multi_head_attention.*expected_the_axis.*hidden>.*but_got.*heads<5>
  // cause: The layer takes its features, then its heads, then options.
  // cure: Write them in this order: `multi_head_attention<float, hidden<100>, heads<5>>`.
  multi_head_attention<float, heads<5>, hidden<100>>::weights turned;
#elif defined CASE_key_as_heads
  // expect-gcc: "umbel: multi_head_attention: expected the axis heads but got key=5"
  // expect-clang: multi_head_attention.*expected_the_axis.*heads>.*but_got.*key<5>
  // cause: The layer takes its features, then its heads, then options.
  // cure: Say how many heads: `heads<5>`.
  multi_head_attention<float, hidden<100>, key<5>>::weights odd;
#elif defined CASE_unknown_option
  // expect-gcc: "umbel: multi_head_attention: norm_first is not an option of this layer"
  // expect-clang: attention.*norm_first<true>.*is_not_an_option_of_this_layer
  // cause: A type after the axes is no option of attention.
  // cure: See `attention/rules.hpp` for its options; `norm_first<>` and `activation<>` belong to `encoder_layer`.
  multi_head_attention<float, hidden<100>, heads<5>, norm_first<true>>::weights odd;
#elif defined CASE_option_that_is_none
  // expect-gcc: "umbel: multi_head_attention: hidden=100 is not an option of this layer"
  // expect-clang: attention.*hidden<100>.*is_not_an_option_of_this_layer
  // cause: A type after the axes is no option of attention.
  // cure: See `attention/rules.hpp` for its options; `norm_first<>` and `activation<>` belong to `encoder_layer`.
  multi_head_attention<float, hidden<100>, heads<5>, hidden<100>>::weights odd;
#elif defined CASE_option_twice
  // expect-gcc: "umbel: multi_head_attention: bias is given twice"
  // expect-clang: attention.*bias<true>.*is_given_twice
  // cause: One option is given two values.
  // cure: Leave one out; `bias_on<'q', 'k'>` names the projections with one.
  multi_head_attention<float, hidden<100>, heads<5>, bias<true>, bias<false>>::weights odd;
#elif defined CASE_bias_on_an_unknown_projection
  // expect-gcc: "umbel: multi_head_attention: bias_on accepts only the letters q, k, v and o"
  // expect-clang: multi_head_attention.*bias_on_accepts_only_the_letters_q_k_v_and_o
  // cause: A letter names a projection, and this layer has no such one.
  // cure: Name them as the weights are: `bias_on<'q', 'v'>` gives `w.q` and `w.v` a bias.
  multi_head_attention<float, hidden<100>, heads<5>, bias_on<'q', 'w'>>::weights r;
#elif defined CASE_queries_and_keys_swapped
  // expect-gcc: "umbel: multi_head_attention: the queries in argument 1 need the axis query but have \[batch=2, key=6, hidden=100\]"
  // expect-clang: attention.*the_queries_in_argument_1.*need_the_axis.*query>.*but_have.*batch<2>.*key<6>.*hidden<100>
  // cause: The first argument has no axis query; mostly queries and keys are swapped.
  // cure: Pass queries, keys, values in this order; or name the axis: `x | rename_axis<token, query>`.
  auto out = attend(y, x, x);
#elif defined CASE_queries_as_keys
  // expect-gcc: "umbel: multi_head_attention: the keys in argument 2 need the axis key but have \[batch=2, query=4, hidden=100\]"
  // expect-clang: attention.*the_keys_in_argument_2.*need_the_axis.*key>.*but_have.*batch<2>.*query<4>.*hidden<100>
  // cause: Queries are passed as keys: the second argument has the axis query.
  // cure: For self-attention pass the sequence once, `attend(x)`; else pass what has the axis key.
  auto out = attend(x, x, x);
#elif defined CASE_out_is_a_temporary
  // expect-gcc: "umbel: multi_head_attention: out is a temporary; store it in a variable"
  // expect-clang: multi_head_attention.*out_is_a_temporary_so_store_it_in_a_variable
  // cause: What a call writes would be lost at once.
  // cure: Declare a tensor and pass that, or take the result by value.
  attend.into(queries{}, x, y, y);
#elif defined CASE_out_is_broadcast
  // expect-gcc: "umbel: multi_head_attention: several elements of out share one memory location \(broadcast\)"
  // expect-clang: multi_head_attention.*several_elements_of_out_share_one_memory_location
  // cause: An axis was made by `broadcast`: all its positions are one place in memory.
  // cure: Pass a tensor, or a view without repeated axes.
  static tensor<float, query<4>, hidden<100>> one;
  attend.into(one | broadcast<batch<2>, query<4>, hidden<100>>, x, y, y);
#elif defined CASE_sequence_without_hidden
  // expect-gcc: "umbel: multi_head_attention: the sequence needs the axis hidden but has \[batch=2, token=4, classes=100\]"
  // expect-clang: attention.*the_sequence.*needs_the_axis.*hidden>.*but_has.*batch<2>.*token<4>.*classes<100>
  // cause: The features of the sequence have another name than the layer's.
  // cure: Name the axis as the layer does: `x | rename_axis<classes, hidden>`.
  auto out = attend(tensor<float, batch<2>, token<4>, classes<100>>{});
#elif defined CASE_queries_without_hidden
  // expect-gcc: "umbel: multi_head_attention: the queries in argument 1 need the axis hidden but have \[batch=2, query=4, classes=100\]"
  // expect-clang: attention.*the_queries_in_argument_1.*need_the_axis.*hidden>.*but_have.*batch<2>.*query<4>.*classes<100>
  // cause: The features of the queries have another name than the layer's.
  // cure: Name the axis as the layer does: `x | rename_axis<classes, hidden>`.
  auto out = attend(x | rename_axis<hidden, classes>, y, y);
#elif defined CASE_keys_without_hidden
  // expect-gcc: "umbel: multi_head_attention: the keys in argument 2 need the axis hidden but have \[batch=2, key=6, token=100\]"
  // expect-clang: attention.*the_keys_in_argument_2.*need_the_axis.*hidden>.*but_have.*batch<2>.*key<6>.*token<100>
  // cause: The keys have no axis of features named as the layer's.
  // cure: Name the axis as the layer does: `y | rename_axis<token, hidden>`.
  auto out = attend(x, tensor<float, batch<2>, key<6>, token<100>>{}, y);
#elif defined CASE_an_axis_too_many
  // expect-gcc: "umbel: multi_head_attention: the values in argument 3 may have only the axes batch, key and hidden but have \[batch=2, key=6, heads=1, hidden=100\]"
  // expect-clang: multi_head_attention.*the_values_in_argument_3.*may_have_only_the_axes.*listed<.*batch>.*key>.*hidden>.*but_have.*batch<2>.*key<6>.*heads<1>.*hidden<100>
  // cause: An argument has one axis too many.
  // cure: Remove it with `select_at` or `merge`; heads are split inside the layer.
  auto out = attend(x, y, tensor<float, batch<2>, key<6>, heads<1>, hidden<100>>{});
#elif defined CASE_another_batch
  // expect-gcc: "umbel: multi_head_attention: the queries have batch=2 but the keys have batch=3"
  // expect-clang: attention.*the_queries.*have.*batch<2>.*but_the_keys.*have.*batch<3>
  // cause: Queries and keys come in batches of two sizes.
  // cure: Pass batches of one size.
  tensor<float, batch<3>, key<6>, hidden<100>> three{};
  auto out = attend(x, three, three);
#elif defined CASE_keys_without_batch
  // expect-gcc: "umbel: multi_head_attention: the queries have batch=2 but the keys have no batch"
  // expect-clang: attention.*the_queries.*have.*batch<2>.*but_the_keys.*have_no.*batch>
  // cause: The queries have a batch, the keys have none; keys are not shared by a batch in silence.
  // cure: Share them openly: `y | broadcast<batch<2>, key<6>, hidden<100>>`.
  tensor<float, key<6>, hidden<100>> one{};
  auto out = attend(x, one, one);
#elif defined CASE_values_of_another_batch
  // expect-gcc: "umbel: multi_head_attention: the keys have batch=2 but the values have batch=3"
  // expect-clang: attention.*the_keys.*have.*batch<2>.*but_the_values.*have.*batch<3>
  // cause: Keys and values differ in batch or in length.
  // cure: Take both from one sequence, or cut the longer one with `slice`.
  auto out = attend(x, y, tensor<float, batch<3>, key<6>, hidden<100>>{});
#elif defined CASE_keys_and_values_of_different_lengths
  // expect-gcc: "umbel: multi_head_attention: the keys have key=6 but the values have key=7"
  // expect-clang: attention.*the_keys.*have.*key<6>.*but_the_values.*have.*key<7>
  // cause: Keys and values differ in batch or in length.
  // cure: Take both from one sequence, or cut the longer one with `slice`.
  auto out = attend(x, y, tensor<float, batch<2>, key<7>, hidden<100>>{});
#elif defined CASE_hidden_width
  // expect-gcc: "umbel: multi_head_attention: the keys in argument 2 have hidden=80 but the layer has hidden=100"
  // expect-clang: attention.*the_keys_in_argument_2.*have.*hidden<80>.*but_the_layer_has.*hidden<100>
  // cause: The keys have another number of features than the layer's weights.
  // cure: Pass the right tensor, or declare the layer with `keys_from<hidden<80>>` and `values_from<hidden<80>>`.
  tensor<float, batch<2>, key<6>, hidden<80>> narrow{};
  auto out = attend(x, narrow, narrow);
#elif defined CASE_hidden_width_of_packed
  // expect-gcc: "umbel: multi_head_attention: the queries in argument 1 have hidden=80 but the layer has hidden=100"
  // expect-clang: attention.*the_queries_in_argument_1.*have.*hidden<80>.*but_the_layer_has.*hidden<100>
  // cause: The queries have another number of features than the layer's weights.
  // cure: Pass the right tensor, or declare the layer with its width.
  auto out = packed(tensor<float, batch<2>, query<4>, hidden<80>>{}, y, y);
#elif defined CASE_double_into_float
  // expect-gcc: "umbel: multi_head_attention: the values in argument 3 have type double but the layer has type float"
  // expect-clang: attention.*the_values_in_argument_3.*have_type.*element<double>.*but_the_layer_has_type.*element<float>
  // cause: An argument has another element type than the layer, and nothing is converted in silence.
  // cure: Declare the layer and its arguments with one type.
  auto out = attend(x, y, tensor<double, batch<2>, key<6>, hidden<100>>{});
#elif defined CASE_self_double_into_float
  // expect-gcc: "umbel: multi_head_attention: the sequence has type double but the layer has type float"
  // expect-clang: attention.*the_sequence.*has_type.*element<double>.*but_the_layer_has_type.*element<float>
  // cause: The sequence has another element type than the layer, and nothing is converted in silence.
  // cure: Declare the layer and the sequence with one type.
  auto out = attend(tensor<double, batch<2>, token<4>, hidden<100>>{});
#elif defined CASE_values_forgotten
  // expect-gcc: "umbel: multi_head_attention: two sequences need values; pass queries, keys and values"
  // expect-clang: multi_head_attention.*two_sequences_need_values_so_pass_queries_keys_and_values
  // cause: Two sequences are passed, and three are needed: the values are missing.
  // cure: Pass the values, often the keys again: `attend(x, y, y)`.
  auto out = attend(x, y);
#elif defined CASE_values_forgotten_lengths_given
  // expect-gcc: "umbel: multi_head_attention: the values in argument 3 need the axis key but have \[batch=2\]"
  // expect-clang: attention.*the_values_in_argument_3.*need_the_axis.*key>.*but_have.*batch<2>
  // cause: Lengths stand where the values belong: the third argument is the values.
  // cure: Pass the values too, often the keys again: `attend(x, y, y, lens)`.
  auto out = attend(x, y, lens);
#elif defined CASE_self_of_two_sequences
  // expect-gcc: "umbel: multi_head_attention: the sequence must have exactly one axis besides batch and hidden, not \[query=4, key=6, hidden=100\]"
  // expect-clang: multi_head_attention.*the_sequence.*must_have_exactly_one_axis_besides_batch_and.*hidden>.*not_.*query<4>.*key<6>.*hidden<100>
  // cause: Self-attention is given a tensor with no axis of positions, or with two.
  // cure: Pass (batch, token, hidden); put two axes together with `merge`, or add one with `broadcast`.
  auto out = attend(tensor<float, query<4>, key<6>, hidden<100>>{});
#elif defined CASE_self_of_no_sequence
  // expect-gcc: "umbel: multi_head_attention: the sequence must have exactly one axis besides batch and hidden, not \[batch=2, hidden=100\]"
  // expect-clang: multi_head_attention.*the_sequence.*must_have_exactly_one_axis_besides_batch_and.*hidden>.*not_.*batch<2>.*hidden<100>
  // cause: Self-attention is given a tensor with no axis of positions, or with two.
  // cure: Pass (batch, token, hidden); put two axes together with `merge`, or add one with `broadcast`.
  auto out = attend(tensor<float, batch<2>, hidden<100>>{});
#elif defined CASE_self_hidden_width
  // expect-gcc: "umbel: multi_head_attention: the sequence has hidden=99 but the layer has hidden=100"
  // expect-clang: attention.*the_sequence.*has.*hidden<99>.*but_the_layer_has.*hidden<100>
  // cause: The sequence has another number of features than the layer's weights.
  // cure: Pass the right tensor, or declare the layer with its width.
  auto out = attend(tensor<float, batch<2>, token<4>, hidden<99>>{});
#elif defined CASE_lengths_of_float
  // expect-gcc: "umbel: multi_head_attention: valid_lens must be integers but have type float; pass numbers to add to the scores as score_bias"
  // expect-clang: attention.*valid_lens.*must_be_integers_but_have_type.*element<float>
  // cause: A tensor by itself is lengths, counts of keys; one of another type is no list of lengths.
  // cure: Pass `tensor<int, batch<2>>`, how many keys of each sequence count; numbers to add go by `score_bias(mask)`.
  auto out = attend(x, y, y, tensor<float, batch<2>>{});
#elif defined CASE_lengths_of_bool
  // expect-gcc: "umbel: multi_head_attention: a bool mask is ambiguous; write keep_mask\(mask\) if true keeps a key, drop_mask\(mask\) if true drops it"
  // expect-clang: attention.*a_bool_mask_is_ambiguous_so_write_keep_mask_or_drop_mask_for_what_true_does
  // cause: Frameworks disagree whether true means to attend or not to; a bare tensor of bool does not say.
  // cure: Write `keep_mask(m)` where true attends (Haiku, ONNX), `drop_mask(m)` where it does not (PyTorch's layers).
  auto out = attend(x, y, y, tensor<bool, query<4>, key<6>>{});
#elif defined CASE_lengths_of_another_batch
  // expect-gcc: "umbel: multi_head_attention: valid_lens have batch=3 but the scores have \[batch=2, heads=5, query=4, key=6\]"
  // expect-clang: attention.*valid_lens.*have.*batch<3>.*but_the_scores_have.*batch<2>.*heads<5>.*query<4>.*key<6>
  // cause: There is not one length a sequence of the batch.
  // cure: Pass as many lengths as the batch has sequences.
  auto out = attend(x, y, y, tensor<int, batch<3>>{});
#elif defined CASE_lengths_along_another_axis
  // expect-gcc: "umbel: multi_head_attention: valid_lens count keys and cannot have the axis key=6"
  // expect-clang: attention.*valid_lens.*count_keys_and_cannot_have_the_axis.*key<6>
  // cause: Lengths are given along the keys; they count them.
  // cure: Pass a length a sequence, `tensor<int, batch<2>>`, or a query; along the keys a mask is `keep_mask` of bool.
  auto out = attend(x, y, y, tensor<int, key<6>>{});
#elif defined CASE_lengths_without_batch
  // expect-gcc: "umbel: multi_head_attention: valid_lens have batch=2 but the scores have \[heads=5, query=4, key=4\]"
  // expect-clang: attention.*valid_lens.*have.*batch<2>.*but_the_scores_have.*heads<5>.*query<4>.*key<4>
  // cause: There are lengths for a batch, but the input is one sequence without a batch axis.
  // cure: Give the sequence a batch axis, `tensor<float, batch<2>, token<4>, hidden<100>>`, or slice it to what counts.
  auto out = attend(tensor<float, token<4>, hidden<100>>{}, lens);
#elif defined CASE_lengths_as_a_number
  // expect-gcc: "umbel: multi_head_attention: expects a sequence, or queries, keys and values; then a mask such as lengths, causal or all_keys; then a workspace or parallel\(\.\.\.\), but argument 4 is int"
  // expect-clang: attention.*expects_a_sequence_or_queries_and_keys_and_values_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace
  // cause: The arguments fit no form of the call: a plain number as length, a workspace before the mask, or one too many.
  // cure: Keep this order; lengths are a tensor, and before a workspace stands `all_keys` where there is no mask.
  auto out = attend(x, y, y, 3);
#elif defined CASE_workspace_of_other_shapes
  // expect-gcc: "umbel: multi_head_attention: the workspace is for \[query=4, key=4\]; pass one for \[query=4, key=6\]"
  // expect-clang: multi_head_attention.*the_workspace_is_for.*query<4>.*key<4>.*so_pass_one_for.*query<4>.*key<6>
  // cause: The workspace was declared for another layer type or other sequence lengths.
  // cure: Declare it with the sizes of the brackets: `attention::workspace<query<4>, key<6>>`.
  attention::workspace<query<4>> other;
  auto out = attend(x, y, y, all_keys, other);
#elif defined CASE_workspace_of_another_layer
  // expect-gcc: "umbel: multi_head_attention: the workspace is for a different layer or other sizes; pass one for \[query=4, key=6\]"
  // expect-clang: multi_head_attention.*the_workspace_is_for_a_different_layer_or_other_sizes_so_pass_one_for.*query<4>.*key<6>
  // cause: The workspace was declared for another layer type or other sequence lengths.
  // cure: Declare it with the sizes of the brackets: `attention::workspace<query<4>, key<6>>`.
  multi_head_attention<float, hidden<80>, heads<5>>::workspace<query<4>, key<6>> other;
  auto out = attend(x, y, y, all_keys, other);
#elif defined CASE_workspace_is_const
  // expect-gcc: "umbel: multi_head_attention: the workspace is const"
  // expect-clang: attention.*the_workspace_is_const
  // cause: The layer writes to its workspace, and this one is const.
  // cure: Drop the const: `static attention::workspace<query<4>, key<6>> work;`
  static const attention::workspace<query<4>, key<6>> work{};
  auto out = attend(x, y, y, all_keys, work);
#elif defined CASE_workspace_without_lengths
  // expect-gcc: "umbel: multi_head_attention: expects a sequence, or queries, keys and values; then a mask such as lengths, causal or all_keys; then a workspace or parallel\(\.\.\.\)"
  // expect-clang: attention.*expects_a_sequence_or_queries_and_keys_and_values_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace
  // cause: The arguments fit no form of the call: a plain number as length, a workspace before the mask, or one too many.
  // cure: Keep this order; lengths are a tensor, and before a workspace stands `all_keys` where there is no mask.
  static attention::workspace<query<4>, key<6>> work;
  auto out = attend(x, y, y, work);
#elif defined CASE_stack_budget
  // expect-gcc: "umbel: multi_head_attention: needs a workspace of [0-9]+ bytes but the stack budget is 65536 bytes; pass one for \[token=600\]"
  // expect-clang: attention.*needs_a_workspace_of.*number<[0-9]+>.*bytes.*but_the_stack_budget_is.*number<65536>.*bytes_so_pass_one_for.*token<600>
  // cause: What the call needs in between would take more stack than `UMBEL_STACK_BUDGET`.
  // cure: Pass a static one: `attention::workspace<token<600>>`, or raise the budget with `-DUMBEL_STACK_BUDGET=...`.
  auto out = attend(tensor<float, batch<2>, token<600>, hidden<100>>{});
#elif defined CASE_too_many_arguments
  // expect-gcc: "umbel: multi_head_attention: expects a sequence, or queries, keys and values; then a mask such as lengths, causal or all_keys; then a workspace or parallel\(\.\.\.\)"
  // expect-clang: attention.*expects_a_sequence_or_queries_and_keys_and_values_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace
  // cause: The arguments fit no form of the call: a plain number as length, a workspace before the mask, or one too many.
  // cure: Keep this order; lengths are a tensor, and before a workspace stands `all_keys` where there is no mask.
  auto out = attend(x, y, y, y, lens);
#elif defined CASE_out_of_other_axes
  // expect-gcc: "umbel: multi_head_attention: the result has \[batch=2, query=4, hidden=100\] but out has \[batch=2, key=6, hidden=100\]"
  // expect-clang: attention.*the_result_has.*batch<2>.*query<4>.*hidden<100>.*but_out_has.*batch<2>.*key<6>.*hidden<100>
  // cause: The tensor for the result has other axes or sizes: the result has those of the queries.
  // cure: Declare `out` with the axes that the result has.
  context out{};
  attend.into(out, x, y, y);
#elif defined CASE_out_of_another_size
  // expect-gcc: "umbel: multi_head_attention: the result has \[batch=2, query=4, hidden=100\] but out has \[batch=2, query=5, hidden=100\]"
  // expect-clang: attention.*the_result_has.*batch<2>.*query<4>.*hidden<100>.*but_out_has.*batch<2>.*query<5>.*hidden<100>
  // cause: The tensor for the result has other axes or sizes: the result has those of the queries.
  // cure: Declare `out` with the axes that the result has.
  tensor<float, batch<2>, query<5>, hidden<100>> out{};
  attend.into(out, x, y, y, lens);
#elif defined CASE_out_is_double
  // expect-gcc: "umbel: multi_head_attention: the result has type float but out has type double"
  // expect-clang: attention.*the_result_has_type.*element<float>.*but_out_has_type.*element<double>
  // cause: The tensor for the result has another element type.
  // cure: Declare `out` with the layer's type.
  tensor<double, batch<2>, query<4>, hidden<100>> out{};
  attend.into(out, x);
#elif defined CASE_out_is_const
  // expect-gcc: "umbel: multi_head_attention: out is const"
  // expect-clang: attention.*out_is_const
  // cause: The tensor for the result is const.
  // cure: Drop the const.
  const queries out{};
  attend.into(out, x);
#elif defined CASE_temporary_weights
  // expect-gcc: "umbel: multi_head_attention: the weights are a temporary that would be destroyed before the layer; store them in a variable"
  // expect-clang: multi_head_attention.*the_weights_are_a_temporary_that_would_be_destroyed_before_the_layer_so_store_them_in_a_variable
  // cause: A layer borrows its weights, and these end with the statement.
  // cure: Give them a name: `static const attention::weights w = ...; attention{w}`.
  const attention dangling{attention::weights{}};
#elif defined CASE_temporary_weight
  // expect-gcc: "umbel: x \* weights: the weights are a temporary that would be destroyed before the layer; store them in a variable"
  // expect-clang: x_times_weights.*the_weights_are_a_temporary_that_would_be_destroyed_before_the_layer_so_store_them_in_a_variable
  // cause: Weights of a linear map are borrowed, and these end with the statement.
  // cure: Give them a name that lives as long as the layer, best `static const`.
  const attention::weights_view dangling(
      portable::linear_weights<float, hidden<100>, hidden<100>, false>{}, w.k, w.v, w.o);
#elif defined CASE_bias_array_of_the_wrong_length
  // expect-gcc: "umbel: memory: \[hidden=100\] needs 100 elements but the memory holds 99"
  // expect-clang: memory.*hidden<100>.*needs.*number<100>.*elements_but_the_memory_holds.*number<99>
  // cause: An array of biases has another length than the map has outputs.
  // cure: Pass one bias an output; look whether it belongs to another layer.
  static const float array[10000] = {}, biases[99] = {};
  const portable::linear_view<float, hidden<100>, hidden<100>, true> q(
      view_as<in_features, out_features>(array), biases);
#elif defined CASE_weights_of_another_layer
  // expect-gcc: "umbel: multi_head_attention: part 1 of the weights maps \[hidden=80, hidden=80\] but the layer needs \[hidden=100, hidden=100\]"
  // expect-clang: multi_head_attention.*part.*of_the_weights_maps.*hidden<80>.*but_the_layer_needs.*hidden<100>
  // cause: The weights belong to a layer of other axes or other options, `bias<>` for one.
  // cure: Use the `weights` type of this very layer: `attention::weights`.
  static multi_head_attention<float, hidden<80>, heads<5>>::weights other;
  const attention wrong{other};
#elif defined CASE_weights_have_a_bias
  // expect-gcc: "umbel: multi_head_attention: part 1 of the weights has a bias but the layer has none"
  // expect-clang: multi_head_attention.*part.*of_the_weights_has_a_bias_but_the_layer_has_none
  // cause: The weights belong to a layer of other axes or other options, `bias<>` for one.
  // cure: Use the `weights` type of this very layer: `attention::weights`.
  static multi_head_attention<float, hidden<100>, heads<5>, bias<true>>::weights other;
  const attention wrong{other};
#elif defined CASE_project_width
  // expect-gcc: "umbel: x \* weights: the input has hidden=80 but the weights expect hidden=100"
  // expect-clang: x_times_weights.*the_input_has.*hidden<80>.*but_the_weights_expect.*hidden<100>
  // cause: In `x * w`, the axis that the weight maps from has another size in x.
  // cure: Pass the right weight, or correct the size.
  auto out = tensor<float, batch<2>, hidden<80>>{} * w.q;
#elif defined CASE_project_absent_axis
  // expect-gcc: "umbel: x \* weights: there is no axis hidden in \[batch=2, token=100\]"
  // expect-clang: project.*there_is_no_axis.*hidden>.*in.*batch<2>.*token<100>
  // cause: In `x * w`, x has no axis that the weight maps from.
  // cure: Rename the axis: `x | rename_axis<token, hidden>`.
  auto out = tensor<float, batch<2>, token<100>>{} * w.q;
#elif defined CASE_project_type
  // expect-gcc: "umbel: x \* weights: the input has type double but the weights have type float"
  // expect-clang: x_times_weights.*the_input_has_type.*element<double>.*but_the_weights_have_type.*element<float>
  // cause: In `x * w`, the element types differ, and nothing is converted in silence.
  // cure: Declare both with one type.
  auto out = tensor<double, batch<2>, hidden<100>>{} * w.q;
#elif defined CASE_project_onto_an_axis_that_is_there
  // expect-gcc: "umbel: x \* weights: classes is already an axis of \[classes=10, hidden=100\]"
  // expect-clang: project.*classes>.*is_already_an_axis_of.*classes<10>.*hidden<100>
  // cause: The axis that the weight maps to is there already.
  // cure: `rename_axis` the one that is there first.
  static linear<float, hidden<100>, classes<10>>::weights map;
  auto out = tensor<float, classes<10>, hidden<100>>{} * map;
#elif defined CASE_mask_absent_axis
  // expect-gcc: "umbel: mask_after: there is no axis token in \[batch=2, query=4, hidden=100\]"
  // expect-clang: mask_after.*there_is_no_axis.*token>.*in.*batch<2>.*query<4>.*hidden<100>
  // cause: The axis to mask is not an axis of the scores.
  // cure: Mask an axis of the brackets, mostly key.
  auto out = mask_after<token>(x, lens);
#elif defined CASE_mask_lengths_of_float
  // expect-gcc: "umbel: mask_after: valid_lens must be integers but have type float"
  // expect-clang: mask_after.*valid_lens.*must_be_integers_but_have_type.*element<float>
  // cause: Lengths are counts; a tensor of another type is no list of lengths.
  // cure: Pass `tensor<int, batch<2>>`.
  auto out = mask_after<query>(x, tensor<float, batch<2>>{});
#elif defined CASE_mask_scores_without_batch
  // expect-gcc: "umbel: mask_after: valid_lens have batch=2 but the scores have \[query=4, key=6\]"
  // expect-clang: mask_after.*valid_lens.*have.*batch<2>.*but_the_scores_have.*query<4>.*key<6>
  // cause: There are lengths for a batch, but the scores have no batch axis.
  // cure: Keep the batch axis in the scores, or slice them to what counts.
  auto out = mask_after<query>(tensor<float, query<4>, key<6>>{}, lens);
#elif defined CASE_mask_another_batch
  // expect-gcc: "umbel: mask_after: valid_lens have batch=3 but the scores have \[batch=2, query=4, hidden=100\]"
  // expect-clang: mask_after.*valid_lens.*have.*batch<3>.*but_the_scores_have.*batch<2>.*query<4>.*hidden<100>
  // cause: There is not one length a sequence of the batch.
  // cure: Pass as many lengths as the batch has sequences.
  auto out = mask_after<query>(x, tensor<int, batch<3>>{});
#elif defined CASE_mask_lengths_along_themselves
  // expect-gcc: "umbel: mask_after: valid_lens count along query=4 and cannot have that axis"
  // expect-clang: mask_after.*valid_lens.*count_along.*query<4>.*and_cannot_have_that_axis
  // cause: A length says how many positions of this axis count: it has no place among them.
  // cure: Give the lengths the other axes only, `tensor<int, batch<2>>`; is the right axis masked?
  auto out = mask_after<query>(x, tensor<int, batch<2>, query<4>>{});
#elif defined CASE_softmax_absent_axis
  // expect-gcc: "umbel: softmax: there is no axis key in \[batch=2, query=4, hidden=100\]"
  // expect-clang: softmax.*there_is_no_axis.*key>.*in.*batch<2>.*query<4>.*hidden<100>
  // cause: The axis to normalise is not an axis of the tensor.
  // cure: Name an axis of the brackets, for scores mostly key.
  auto out = softmax<key>(x);
#elif defined CASE_softmax_of_integers
  // expect-gcc: "umbel: softmax: needs float or double, not int"
  // expect-clang: softmax.*needs_float_or_double_not.*element<int>
  // cause: A softmax of integers.
  // cure: Declare the tensor with float or double.
  auto out = softmax<key>(tensor<int, key<6>>{});
#elif defined CASE_one_error_in_a_chain
  // expect-gcc: "umbel: split: hidden=100 into heads=7 leaves a remainder of 2"
  // expect-clang: split.*hidden<100>.*into.*heads<7>.*leaves_a_remainder_of.*number<2>
  // cause: The axis cannot be cut into that many equal parts.
  // cure: Take a number of parts that divides the size, or another size.
  auto q = x * w.q | split<hidden, heads<7>, head_dim>;
  auto k = y * w.k | split<hidden, heads<5>, head_dim>;
  auto out = softmax<key>(mask_after<key>(contract<head_dim>(q, k) * 0.5f, lens)) | mean<heads>;
  auto more = attend(out, y, y, lens);
  attend.into(out, more);
#elif defined CASE_element_type_forgotten
  // expect-gcc: "umbel: multi_head_attention: needs float or double, not hidden=100"
  // expect-clang: attention.*needs_float_or_double_not.*hidden<100>
  // cause: The element type, which comes first, is missing.
  // cure: Say it: `multi_head_attention<float, hidden<100>, heads<5>>`.
  multi_head_attention<hidden<100>, heads<5>>::weights none{};
  (void)none;
#elif defined CASE_keys_from_key
  // expect-gcc: "umbel: multi_head_attention: expected the axis hidden but got key=32"
  // expect-clang: multi_head_attention.*expected_the_axis.*hidden>.*but_got.*key<32>
  // cause: The widths of keys, values and result are features.
  // cure: Say how wide they are: `keys_from<hidden<32>>`; how many keys there are is up to the call.
  multi_head_attention<float, hidden<100>, heads<5>, keys_from<key<32>>>::weights none{};
  (void)none;
#elif defined CASE_layer_that_is_used_all_the_same
  // expect-gcc: "umbel: multi_head_attention: hidden=100 into heads=7 leaves a remainder of 2"
  // expect-clang: attention.*hidden<100>.*into.*heads<7>.*leaves_a_remainder_of.*number<2>
  // cause: The heads do not divide the hidden axis.
  // cure: Take a number of heads that divides it, or say how wide a head is: `head_dim<16>`.
  multi_head_attention<float, hidden<100>, heads<7>>::weights uneven{};
  uneven.q.weight[0] = 1;
#elif defined CASE_weights_part_of_another_width
  // expect-gcc: "umbel: multi_head_attention: part 2 of the weights maps \[hidden=64, hidden=100\] but the layer needs \[hidden=100, hidden=100\]"
  // expect-clang: multi_head_attention.*part.*number<2>.*of_the_weights_maps.*hidden<64>.*hidden<100>.*but_the_layer_needs.*hidden<100>.*hidden<100>
  // cause: The weights are given part by part, and one is not that of the layer.
  // cure: Declare the part as the layer has it: `decltype(attention::weights::k)`.
  linear<float, hidden<100>, hidden<100>>::weights square{};
  linear<float, hidden<64>, hidden<100>>::weights narrow{};
  const attention::weights_view r(square, narrow, square, square);
#elif defined CASE_weights_part_missing
  // expect-gcc: "umbel: multi_head_attention: the weights have 3 parts but the layer needs 4"
  // expect-clang: multi_head_attention.*the_weights_have.*number<3>.*parts_but_the_layer_needs.*number<4>
  // cause: The weights are given part by part, and one is missing or too many.
  // cure: Pass all of them, in the order of the layer's `weights`.
  linear<float, hidden<100>, hidden<100>>::weights square{};
  const attention::weights_view r(square, square, square);
#elif defined CASE_weights_part_with_bias
  // expect-gcc: "umbel: multi_head_attention: part 4 of the weights has a bias but the layer has none"
  // expect-clang: multi_head_attention.*part.*number<4>.*of_the_weights_has_a_bias_but_the_layer_has_none
  // cause: A part of the weights has a bias that the layer has not, or the other way round.
  // cure: Declare the layer with `bias<true>` or `bias_on<'q', 'k'>` as the weights are.
  linear<float, hidden<100>, hidden<100>>::weights square{};
  linear<float, hidden<100>, hidden<100>, bias<true>>::weights biased{};
  const attention::weights_view r(square, square, square, biased);
#elif defined CASE_weights_part_without_bias
  // expect-gcc: "umbel: multi_head_attention: part 1 of the weights has no bias but the layer has one"
  // expect-clang: multi_head_attention.*part.*number<1>.*of_the_weights_has_no_bias_but_the_layer_has_one
  // cause: A part of the weights has a bias that the layer has not, or the other way round.
  // cure: Declare the layer with `bias<true>` or `bias_on<'q', 'k'>` as the weights are.
  using with_bias = multi_head_attention<float, hidden<100>, heads<5>, bias<true>>;
  linear<float, hidden<100>, hidden<100>>::weights square{};
  const with_bias::weights_view r(square, square, square, square);
#elif defined CASE_weights_part_of_double
  // expect-gcc: "umbel: multi_head_attention: part 1 of the weights has type double but the layer has type float"
  // expect-clang: attention.*part.*number<1>.*of_the_weights_has_type.*element<double>.*but_the_layer_has_type.*element<float>
  // cause: The weights are given part by part, and one is not that of the layer.
  // cure: Declare the part as the layer has it: `decltype(attention::weights::k)`.
  linear<float, hidden<100>, hidden<100>>::weights square{};
  linear<double, hidden<100>, hidden<100>>::weights doubles{};
  const attention::weights_view r(doubles, square, square, square);
#elif defined CASE_weights_part_of_nothing
  // expect-gcc: "umbel: multi_head_attention: part 3 of the weights must be weights for \[hidden=100, hidden=100\]"
  // expect-clang: multi_head_attention.*part.*number<3>.*of_the_weights_must_be_weights_for.*hidden<100>.*hidden<100>
  // cause: The weights are given part by part, and one is not that of the layer.
  // cure: Declare the part as the layer has it: `decltype(attention::weights::k)`.
  linear<float, hidden<100>, hidden<100>>::weights square{};
  const attention::weights_view r(square, square, 0, square);
#elif defined CASE_prepacked_weights
  // expect-gcc: "umbel: prepacked: the first argument is the type of weights; name their layer, prepacked<layer>\{w\}"
  // expect-clang: prepacked, .*the_first_argument_is_the_type_of_weights_so_name_their_layer
  // cause: A prepacked layer is named after the layer whose weights it packs.
  // cure: `prepacked<attention>{w}`.
  const prepacked<attention::weights> r{w};
  auto out = r(x, y, y);
#elif defined CASE_prepacked_weights_packed_later
  // expect-gcc: "umbel: prepacked: the first argument is the type of weights; name their layer, prepacked<layer>\{w\}"
  // expect-clang: prepacked, .*the_first_argument_is_the_type_of_weights_so_name_their_layer
  // cause: A prepacked layer is named after the layer whose weights it packs.
  // cure: `prepacked<attention>{w}`.
  static prepacked<attention::weights> later;
  later.pack(w);
  auto out = later(x, y, y);
#elif defined CASE_one_error_of_a_layer_without_features
  // expect-gcc: "umbel: multi_head_attention: expected the axis hidden but got int"
  // expect-clang: multi_head_attention.*expected_the_axis.*hidden>.*but_got.*element<int>
  // cause: The layer takes its features, then its heads, then options.
  // cure: Write them in this order: `multi_head_attention<float, hidden<100>, heads<5>>`.
  using wrong = multi_head_attention<float, int, heads<5>>;
  wrong::weights none{};
  auto out = wrong{none}(x, y, y) + x;
#elif defined CASE_no_weights
  // expect-gcc: "umbel: multi_head_attention: construct it from one object, its weights"
  // expect-clang: multi_head_attention.*construct_it_from_one_object_its_weights
  // cause: A layer borrows its weights, all of them in one struct, when it is made.
  // cure: Fill `attention::weights w` and write `attention{w}`.
  const attention wrong;
#elif defined CASE_no_weights_in_a_struct
  // expect-gcc: "umbel: multi_head_attention: construct it from one object, its weights"
  // expect-clang: multi_head_attention.*construct_it_from_one_object_its_weights
  // cause: A layer borrows its weights, all of them in one struct, when it is made.
  // cure: Fill `attention::weights w` and write `attention{w}`.
  struct model {
    attention layer;
  };
  const model wrong{};
#elif defined CASE_lengths_in_braces
  // expect-gcc: "umbel: multi_head_attention: a braced list is not a mask; write lengths as a tensor, tensor<int, batch<\.\.\.>>\{\.\.\.\}, here with batch=2"
  // expect-clang: multi_head_attention.*a_braced_list_is_not_a_mask_so_write_lengths_as_a_tensor_of_int_with.*batch<2>
  // cause: Braces alone have no type, so nothing says that these are lengths.
  // cure: `attend(x, y, y, tensor<int, batch<2>>{3, 2})`.
  auto out = attend(x, y, y, {3, 2});
#elif defined CASE_lengths_as_an_array
  // expect-gcc: "umbel: multi_head_attention: expects a sequence, or queries, keys and values; then a mask such as lengths, causal or all_keys; then a workspace or parallel\(\.\.\.\), but argument 4 is array"
  // expect-clang: multi_head_attention.*takes_a_sequence.*then_a_mask_such_as_lengths.*but_argument.*number<4>.*is.*given<.*array<int, 2
  // cause: Plain memory has no axes, so it is no lengths.
  // cure: View it: `attend(x, y, y, view_as<batch<2>>(lengths))`.
  const std::array<int, 2> lengths{3, 2};
  auto out = attend(x, y, y, lengths);
#elif defined CASE_weights_of_a_pointer
  // expect-gcc: "umbel: multi_head_attention: the weights do not match this layer and its options; they are a pointer to float"
  // expect-clang: multi_head_attention.*the_weights_do_not_match_this_layer_and_its_options.*they_have_type.*a_pointer_to<.*given<float>
  // cause: A pointer does not say where each of the weights is.
  // cure: Name them: `attention::weights_view view{q, k, v, o}`, or fill `attention::weights w`.
  auto out = attention{static_cast<float*>(nullptr)}(x, y, y);
#elif defined CASE_weights_of_another_kind_of_layer
  // expect-gcc: "umbel: multi_head_attention: the weights do not match this layer and its options; they are for layer_norm"
  // expect-clang: multi_head_attention.*the_weights_do_not_match_this_layer_and_its_options.*they_are_for.*layer_norm
  // cause: The weights of another kind of layer are passed.
  // cure: Pass those of this layer's `weights`.
  layer_norm<float, hidden<100>>::weights norm{};
  auto out = attention{norm}(x, y, y);
#elif defined CASE_sizes_as_arguments
  // expect-gcc: "umbel: multi_head_attention: sizes are template arguments; write multi_head_attention<float, hidden<64>, heads<8>>\{weights\}"
  // expect-clang: multi_head_attention.*sizes_are_template_arguments_so_write_multi_head_attention_of_float_hidden_and_heads
  // cause: Sizes are part of the type, so that shapes are checked when compiling.
  // cure: `using attention = multi_head_attention<float, hidden<64>, heads<8>>;` and `attention{w}`.
  multi_head_attention layer(64, 8);
#elif defined CASE_a_bias_too_many
  // expect-gcc: "umbel: weights: got a bias but the layer has none; add bias<true> to its type"
  // expect-clang: weights.*got_a_bias_but_the_layer_has_none_so_add_bias_true
  // cause: The layer's type has no bias, the arrays have one.
  // cure: Say `bias<true>` in the type of the layer, or leave the biases out.
  static const float m[10000]{}, b[100]{};
  const auto named = view_as<in_features, out_features>(m);
  const attention::weights_view r{{named, b}, {named, b}, {named, b}, {named, b}};
#elif defined CASE_a_bias_forgotten
  // expect-gcc: "umbel: weights: got no bias but the layer has one; pass both, \{weight, bias\}"
  // expect-clang: weights.*got_no_bias_but_the_layer_has_one_so_pass_weight_and_bias
  // cause: The layer's type has a bias, only the weight is given.
  // cure: Give both, `{q, q_bias}`; without biases say `bias<false>` in the type of the layer.
  static const float m[10000]{};
  using biased = multi_head_attention<float, hidden<100>, heads<5>, bias<true>>;
  const auto named = view_as<in_features, out_features>(m);
  const biased::weights_view r{{named}, {named}, {named}, {named}};
#elif defined CASE_workspace_along_the_width
  // expect-gcc: "umbel: workspace: hidden=100 is a width of the layer; name the axis of the positions, workspace<token<12>>"
  // expect-clang: workspace.*hidden<100>.*is_a_width_of_the_layer_so_name_the_axis_of_the_positions
  // cause: A workspace depends on how many positions there are, not on the layer's own width.
  // cure: Name the axis of the positions: `attention::workspace<query<4>, key<6>>`, `workspace<token<12>>`.
  static attention::workspace<hidden<100>> work;
#elif defined CASE_called_without_weights
  // expect-gcc: "umbel: multi_head_attention: must be built from weights before it is called, layer\{w\}\(x\), but got the tensor \[batch=2, query=4, hidden=100\]"
  // expect-clang: multi_head_attention, .*must_be_built_from_weights_before_it_is_called_but_got_the_tensor, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: A layer borrows its weights when it is made, and is then called.
  // cure: `attention{w}(x)`.
  auto r = attention(x);
#elif defined CASE_into_nothing
  // expect-gcc: "umbel: multi_head_attention: into expects the output first, layer\.into\(out, x\), but got only \[batch=2, query=4, hidden=100\]"
  // expect-clang: multi_head_attention, .*into_expects_the_output_first_so_write_into_out_x_but_got_only, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: `into` writes to memory of the caller's, its first argument.
  // cure: `attend.into(out, x)`, or `auto out = attend(x)`.
  attend.into(x);
#elif defined CASE_times_all_weights
  // expect-gcc: "umbel: elementwise: the weights of multi_head_attention have several parts; name one, x \* w\.q"
  // expect-clang: elementwise, .*the_weights_of, .*multi_head_attention.*have_several_parts_so_name_one
  // cause: A layer has several maps, and x is projected by one.
  // cure: `x * w.q`.
  auto r = x * w;
#else
  static attention::workspace<query<4>, key<6>> work;
  auto out = attend(x, y, y, lens, work);
  auto self = attend(x, lens) * w.q;
  attend.into(out, x, y, y);
  (void)self;
#endif
}
