// SPDX-License-Identifier: BSL-1.0
// Mistakes in calls of multi-head attention, its masks, workspaces and weights: one case each, with
// the message that the compiler must print (check.py).
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
  // cure: Choose a number of heads that divides it, or add the width of a head: `head_dim<16>`.
  multi_head_attention<float, hidden<100>, heads<7>>::weights uneven;
#elif defined CASE_no_heads
  // expect-gcc: "umbel: shape: heads=0 has size 0 in \[heads=0\]"
  // expect-clang: shape.*heads<0>.*has_size_0_in.*heads<0>
  // cause: An axis has size 0.
  // cure: Set every axis to a size of at least 1, or leave the axis out.
  multi_head_attention<float, hidden<100>, heads<0>>::weights none;
#elif defined CASE_heads_forgotten
  // expect-gcc: "umbel: multi_head_attention: expected the axis heads but got bias"
  // expect-clang: multi_head_attention.*expected_the_axis.*heads>.*but_got.*bias<true>
  // cause: The layer needs its features, then its heads, then options.
  // cure: Add the number of heads: `heads<5>`.
  multi_head_attention<float, hidden<100>, bias<true>>::weights none;
#elif defined CASE_features_only
  // expect-gcc: "umbel: multi_head_attention: the axis heads is missing"
  // expect-clang: multi_head_attention.*the_axis.*heads>.*is_missing
  // cause: The layer needs its features, then its heads, then options.
  // cure: Add the number of heads: `heads<5>`.
  multi_head_attention<float, hidden<100>>::weights none;
#elif defined CASE_heads_first
  // expect-gcc: "umbel: multi_head_attention: expected the axis hidden but got heads=5"
  // expect-clang: multi_head_attention.*expected_the_axis.*hidden>.*but_got.*heads<5>
  // cause: The layer needs its features, then its heads, then options.
  // cure: Write them in this order: `multi_head_attention<float, hidden<100>, heads<5>>`.
  multi_head_attention<float, heads<5>, hidden<100>>::weights turned;
#elif defined CASE_key_as_heads
  // expect-gcc: "umbel: multi_head_attention: expected the axis heads but got key=5"
  // expect-clang: multi_head_attention.*expected_the_axis.*heads>.*but_got.*key<5>
  // cause: The layer needs its features, then its heads, then options.
  // cure: Add the number of heads: `heads<5>`.
  multi_head_attention<float, hidden<100>, key<5>>::weights odd;
#elif defined CASE_unknown_option
  // expect-gcc: "umbel: multi_head_attention: norm_first is not one of its options"
  // expect-clang: attention.*norm_first<true>.*is_not_one_of_its_options
  // cause: A type after the axes is not an option of attention.
  // cure: See `attention/rules.hpp` for the options; `norm_first<>` and `activation<>` belong to `encoder_layer`.
  multi_head_attention<float, hidden<100>, heads<5>, norm_first<true>>::weights odd;
#elif defined CASE_option_that_is_none
  // expect-gcc: "umbel: multi_head_attention: hidden=100 is not one of its options"
  // expect-clang: attention.*hidden<100>.*is_not_one_of_its_options
  // cause: A type after the axes is not an option of attention.
  // cure: See `attention/rules.hpp` for the options; `norm_first<>` and `activation<>` belong to `encoder_layer`.
  multi_head_attention<float, hidden<100>, heads<5>, hidden<100>>::weights odd;
#elif defined CASE_option_twice
  // expect-gcc: "umbel: multi_head_attention: bias is given twice"
  // expect-clang: attention.*bias<true>.*is_given_twice
  // cause: One option has two values.
  // cure: Leave one out; `bias_on<'q', 'k'>` lists the projections with a bias.
  multi_head_attention<float, hidden<100>, heads<5>, bias<true>, bias<false>>::weights odd;
#elif defined CASE_bias_on_an_unknown_projection
  // expect-gcc: "umbel: multi_head_attention: bias_on accepts only the letters q, k, v and o"
  // expect-clang: multi_head_attention.*bias_on_accepts_only_the_letters_q_k_v_and_o
  // cause: Each letter names a projection, but this layer has no projection with that letter.
  // cure: Use the letters of the weights: `bias_on<'q', 'v'>` adds a bias to `w.q` and `w.v`.
  multi_head_attention<float, hidden<100>, heads<5>, bias_on<'q', 'w'>>::weights r;
#elif defined CASE_queries_and_keys_swapped
  // expect-gcc: "umbel: multi_head_attention: the queries in argument 1 need the axis query but have \[batch=2, key=6, hidden=100\]"
  // expect-clang: attention.*the_queries_in_argument_1.*need_the_axis.*query>.*but_have.*batch<2>.*key<6>.*hidden<100>
  // cause: The first argument has no axis query. Queries and keys are probably swapped.
  // cure: Pass queries, keys and values in this order, or rename the axis: `x | rename_axis<token, query>`.
  auto out = attend(y, x, x);
#elif defined CASE_queries_as_keys
  // expect-gcc: "umbel: multi_head_attention: the keys in argument 2 need the axis key but have \[batch=2, query=4, hidden=100\]"
  // expect-clang: attention.*the_keys_in_argument_2.*need_the_axis.*key>.*but_have.*batch<2>.*query<4>.*hidden<100>
  // cause: The queries are passed as keys: the second argument has the axis query.
  // cure: For self-attention pass the sequence once, `attend(x)`; otherwise pass a tensor with the axis key.
  auto out = attend(x, x, x);
#elif defined CASE_out_is_a_temporary
  // expect-gcc: "umbel: multi_head_attention: out is a temporary; store it in a variable"
  // expect-clang: multi_head_attention.*out_is_a_temporary_so_store_it_in_a_variable
  // cause: The result would be lost at the end of the statement.
  // cure: Declare a tensor and pass it, or use the returned result.
  attend.into(queries{}, x, y, y);
#elif defined CASE_out_is_broadcast
  // expect-gcc: "umbel: multi_head_attention: several elements of out share one memory location \(broadcast or windows\)"
  // expect-clang: multi_head_attention.*several_elements_of_out_share_one_memory_location
  // cause: An axis was made by `broadcast`, so all its positions are one place in memory.
  // cure: Pass a tensor, or a view without broadcast axes.
  static tensor<float, query<4>, hidden<100>> one;
  attend.into(one | broadcast<batch<2>, query<4>, hidden<100>>, x, y, y);
#elif defined CASE_sequence_without_hidden
  // expect-gcc: "umbel: multi_head_attention: the sequence needs the axis hidden but has \[batch=2, token=4, classes=100\]"
  // expect-clang: attention.*the_sequence.*needs_the_axis.*hidden>.*but_has.*batch<2>.*token<4>.*classes<100>
  // cause: The feature axis of the sequence is not named as in the layer.
  // cure: Rename the axis as in the layer: `x | rename_axis<classes, hidden>`.
  auto out = attend(tensor<float, batch<2>, token<4>, classes<100>>{});
#elif defined CASE_queries_without_hidden
  // expect-gcc: "umbel: multi_head_attention: the queries in argument 1 need the axis hidden but have \[batch=2, query=4, classes=100\]"
  // expect-clang: attention.*the_queries_in_argument_1.*need_the_axis.*hidden>.*but_have.*batch<2>.*query<4>.*classes<100>
  // cause: The feature axis of the queries is not named as in the layer.
  // cure: Rename the axis as in the layer: `x | rename_axis<classes, hidden>`.
  auto out = attend(x | rename_axis<hidden, classes>, y, y);
#elif defined CASE_keys_without_hidden
  // expect-gcc: "umbel: multi_head_attention: the keys in argument 2 need the axis hidden but have \[batch=2, key=6, token=100\]"
  // expect-clang: attention.*the_keys_in_argument_2.*need_the_axis.*hidden>.*but_have.*batch<2>.*key<6>.*token<100>
  // cause: The keys have no feature axis with the name in the layer.
  // cure: Rename the axis as in the layer: `y | rename_axis<token, hidden>`.
  auto out = attend(x, tensor<float, batch<2>, key<6>, token<100>>{}, y);
#elif defined CASE_an_axis_too_many
  // expect-gcc: "umbel: multi_head_attention: the values in argument 3 may have only the axes batch, key and hidden but have \[batch=2, key=6, heads=1, hidden=100\]"
  // expect-clang: multi_head_attention.*the_values_in_argument_3.*may_have_only_the_axes.*listed<.*batch>.*key>.*hidden>.*but_have.*batch<2>.*key<6>.*heads<1>.*hidden<100>
  // cause: An argument has one axis too many.
  // cure: Remove it with `select_at` or `merge`; the layer itself splits the heads.
  auto out = attend(x, y, tensor<float, batch<2>, key<6>, heads<1>, hidden<100>>{});
#elif defined CASE_another_batch
  // expect-gcc: "umbel: multi_head_attention: the queries have batch=2 but the keys have batch=3"
  // expect-clang: attention.*the_queries.*have.*batch<2>.*but_the_keys.*have.*batch<3>
  // cause: Queries and keys have batches of two sizes.
  // cure: Pass batches of the same size.
  tensor<float, batch<3>, key<6>, hidden<100>> three{};
  auto out = attend(x, three, three);
#elif defined CASE_keys_without_batch
  // expect-gcc: "umbel: multi_head_attention: the queries have batch=2 but the keys have no batch"
  // expect-clang: attention.*the_queries.*have.*batch<2>.*but_the_keys.*have_no.*batch>
  // cause: The queries have a batch, the keys have none; keys are not shared by a batch implicitly.
  // cure: Share them explicitly: `y | broadcast<batch<2>, key<6>, hidden<100>>`.
  tensor<float, key<6>, hidden<100>> one{};
  auto out = attend(x, one, one);
#elif defined CASE_values_of_another_batch
  // expect-gcc: "umbel: multi_head_attention: the keys have batch=2 but the values have batch=3"
  // expect-clang: attention.*the_keys.*have.*batch<2>.*but_the_values.*have.*batch<3>
  // cause: Keys and values differ in batch or in length.
  // cure: Pass both from one sequence, or shorten the longer one with `slice`.
  auto out = attend(x, y, tensor<float, batch<3>, key<6>, hidden<100>>{});
#elif defined CASE_keys_and_values_of_different_lengths
  // expect-gcc: "umbel: multi_head_attention: the keys have key=6 but the values have key=7"
  // expect-clang: attention.*the_keys.*have.*key<6>.*but_the_values.*have.*key<7>
  // cause: Keys and values differ in batch or in length.
  // cure: Pass both from one sequence, or shorten the longer one with `slice`.
  auto out = attend(x, y, tensor<float, batch<2>, key<7>, hidden<100>>{});
#elif defined CASE_hidden_width
  // expect-gcc: "umbel: multi_head_attention: the keys in argument 2 have hidden=80 but the layer has hidden=100"
  // expect-clang: attention.*the_keys_in_argument_2.*have.*hidden<80>.*but_the_layer_has.*hidden<100>
  // cause: The keys have a different number of features than the layer's weights.
  // cure: Pass the right tensor, or declare the layer with `keys_from<hidden<80>>` and `values_from<hidden<80>>`.
  tensor<float, batch<2>, key<6>, hidden<80>> narrow{};
  auto out = attend(x, narrow, narrow);
#elif defined CASE_hidden_width_of_packed
  // expect-gcc: "umbel: multi_head_attention: the queries in argument 1 have hidden=80 but the layer has hidden=100"
  // expect-clang: attention.*the_queries_in_argument_1.*have.*hidden<80>.*but_the_layer_has.*hidden<100>
  // cause: The queries have a different number of features than the layer's weights.
  // cure: Pass the right tensor, or declare the layer with its width.
  auto out = packed(tensor<float, batch<2>, query<4>, hidden<80>>{}, y, y);
#elif defined CASE_double_into_float
  // expect-gcc: "umbel: multi_head_attention: the values in argument 3 have type double but the layer has type float"
  // expect-clang: attention.*the_values_in_argument_3.*have_type.*element<double>.*but_the_layer_has_type.*element<float>
  // cause: An argument and the layer have different element types, and Umbel converts nothing implicitly.
  // cure: Declare the layer and its arguments with one element type.
  auto out = attend(x, y, tensor<double, batch<2>, key<6>, hidden<100>>{});
#elif defined CASE_self_double_into_float
  // expect-gcc: "umbel: multi_head_attention: the sequence has type double but the layer has type float"
  // expect-clang: attention.*the_sequence.*has_type.*element<double>.*but_the_layer_has_type.*element<float>
  // cause: The sequence and the layer have different element types, and Umbel converts nothing implicitly.
  // cure: Declare the layer and the sequence with one element type.
  auto out = attend(tensor<double, batch<2>, token<4>, hidden<100>>{});
#elif defined CASE_values_forgotten
  // expect-gcc: "umbel: multi_head_attention: two sequences need values; pass queries, keys and values"
  // expect-clang: multi_head_attention.*two_sequences_need_values_so_pass_queries_keys_and_values
  // cause: Attention between two sequences needs queries, keys and values, but the values are missing.
  // cure: Pass the values, often the keys again: `attend(x, y, y)`.
  auto out = attend(x, y);
#elif defined CASE_values_forgotten_lengths_given
  // expect-gcc: "umbel: multi_head_attention: the values in argument 3 need the axis key but have \[batch=2\]"
  // expect-clang: attention.*the_values_in_argument_3.*need_the_axis.*key>.*but_have.*batch<2>
  // cause: Lengths are passed as the values, the third argument.
  // cure: Pass the values, often the keys again: `attend(x, y, y, lens)`.
  auto out = attend(x, y, lens);
#elif defined CASE_self_of_two_sequences
  // expect-gcc: "umbel: multi_head_attention: the sequence must have exactly one axis besides batch and hidden, not \[query=4, key=6, hidden=100\]"
  // expect-clang: multi_head_attention.*the_sequence.*must_have_exactly_one_axis_besides_batch_and.*hidden>.*not_.*query<4>.*key<6>.*hidden<100>
  // cause: The tensor has no position axis, or two.
  // cure: Pass (batch, token, hidden); join two axes with `merge`, or add one with `broadcast`.
  auto out = attend(tensor<float, query<4>, key<6>, hidden<100>>{});
#elif defined CASE_self_of_no_sequence
  // expect-gcc: "umbel: multi_head_attention: the sequence must have exactly one axis besides batch and hidden, not \[batch=2, hidden=100\]"
  // expect-clang: multi_head_attention.*the_sequence.*must_have_exactly_one_axis_besides_batch_and.*hidden>.*not_.*batch<2>.*hidden<100>
  // cause: The tensor has no position axis, or two.
  // cure: Pass (batch, token, hidden); join two axes with `merge`, or add one with `broadcast`.
  auto out = attend(tensor<float, batch<2>, hidden<100>>{});
#elif defined CASE_self_hidden_width
  // expect-gcc: "umbel: multi_head_attention: the sequence has hidden=99 but the layer has hidden=100"
  // expect-clang: attention.*the_sequence.*has.*hidden<99>.*but_the_layer_has.*hidden<100>
  // cause: The sequence has a different number of features than the layer's weights.
  // cure: Pass the right tensor, or declare the layer with its width.
  auto out = attend(tensor<float, batch<2>, token<4>, hidden<99>>{});
#elif defined CASE_lengths_of_float
  // expect-gcc: "umbel: multi_head_attention: valid_lens must be integers but have type float; pass numbers to add to the scores as score_bias"
  // expect-clang: attention.*valid_lens.*must_be_integers_but_have_type.*element<float>
  // cause: A bare tensor is a list of lengths, which count keys; this one does not hold integers.
  // cure: Pass `tensor<int, batch<2>>`, the number of keys to attend to in each sequence; to add numbers to the scores, pass `score_bias(mask)`.
  auto out = attend(x, y, y, tensor<float, batch<2>>{});
#elif defined CASE_lengths_of_bool
  // expect-gcc: "umbel: multi_head_attention: a bool mask is ambiguous; write keep_mask\(mask\) if true keeps a key, drop_mask\(mask\) if true drops it"
  // expect-clang: attention.*a_bool_mask_is_ambiguous_so_write_keep_mask_or_drop_mask_for_what_true_does
  // cause: In some frameworks true means "attend", in others "do not attend", and a bare bool tensor does not tell.
  // cure: Write `keep_mask(m)` if true attends (Haiku, ONNX), `drop_mask(m)` if it does not (PyTorch's layers).
  auto out = attend(x, y, y, tensor<bool, query<4>, key<6>>{});
#elif defined CASE_lengths_of_another_batch
  // expect-gcc: "umbel: multi_head_attention: valid_lens have batch=3 but the scores have \[batch=2, heads=5, query=4, key=6\]"
  // expect-clang: attention.*valid_lens.*have.*batch<3>.*but_the_scores_have.*batch<2>.*heads<5>.*query<4>.*key<6>
  // cause: The number of lengths is not the number of sequences in the batch.
  // cure: Pass one length for each sequence of the batch.
  auto out = attend(x, y, y, tensor<int, batch<3>>{});
#elif defined CASE_lengths_along_another_axis
  // expect-gcc: "umbel: multi_head_attention: valid_lens count keys and cannot have the axis key=6"
  // expect-clang: attention.*valid_lens.*count_keys_and_cannot_have_the_axis.*key<6>
  // cause: The lengths have the axis key, but they count keys.
  // cure: Pass one length for each sequence, `tensor<int, batch<2>>`, or for each query; a mask along the keys is a `keep_mask` of bool.
  auto out = attend(x, y, y, tensor<int, key<6>>{});
#elif defined CASE_lengths_without_batch
  // expect-gcc: "umbel: multi_head_attention: valid_lens have batch=2 but the scores have \[heads=5, query=4, key=4\]"
  // expect-clang: attention.*valid_lens.*have.*batch<2>.*but_the_scores_have.*heads<5>.*query<4>.*key<4>
  // cause: There are lengths for a batch, but the input is a single sequence without a batch axis.
  // cure: Add a batch axis to the sequence, `tensor<float, batch<2>, token<4>, hidden<100>>`, or cut it to its length with `slice`.
  auto out = attend(tensor<float, token<4>, hidden<100>>{}, lens);
#elif defined CASE_lengths_as_a_fraction
  // expect-gcc: "umbel: multi_head_attention: expects a sequence, or queries, keys and values; then a mask such as lengths, causal or all_keys; then a workspace or parallel\(\.\.\.\), but argument 4 is float"
  // expect-clang: attention.*expects_a_sequence_or_queries_and_keys_and_values_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace
  // cause: The arguments match no overload: a fraction as length, a workspace before the mask, or one argument too many.
  // cure: Keep this order. Lengths are integers; to pass a workspace without a mask, put `all_keys` before it.
  auto out = attend(x, y, y, 3.0F);
#elif defined CASE_workspace_of_other_shapes
  // expect-gcc: "umbel: multi_head_attention: the workspace is for \[query=4, key=4\]; pass one for \[query=4, key=6\]"
  // expect-clang: multi_head_attention.*the_workspace_is_for.*query<4>.*key<4>.*so_pass_one_for.*query<4>.*key<6>
  // cause: The workspace was declared for a different type of layer or for different sequence lengths.
  // cure: Declare it with the sizes in the brackets: `attention::workspace<query<4>, key<6>>`.
  attention::workspace<query<4>> other;
  auto out = attend(x, y, y, all_keys, other);
#elif defined CASE_workspace_of_another_layer
  // expect-gcc: "umbel: multi_head_attention: the workspace is for a different layer or other sizes; pass one for \[query=4, key=6\]"
  // expect-clang: multi_head_attention.*the_workspace_is_for_a_different_layer_or_other_sizes_so_pass_one_for.*query<4>.*key<6>
  // cause: The workspace was declared for a different type of layer or for different sequence lengths.
  // cure: Declare it with the sizes in the brackets: `attention::workspace<query<4>, key<6>>`.
  multi_head_attention<float, hidden<80>, heads<5>>::workspace<query<4>, key<6>> other;
  auto out = attend(x, y, y, all_keys, other);
#elif defined CASE_workspace_is_const
  // expect-gcc: "umbel: multi_head_attention: the workspace is const"
  // expect-clang: attention.*the_workspace_is_const
  // cause: The layer writes to its workspace, but this one is const.
  // cure: Remove the const: `static attention::workspace<query<4>, key<6>> work;`
  static const attention::workspace<query<4>, key<6>> work{};
  auto out = attend(x, y, y, all_keys, work);
#elif defined CASE_workspace_without_lengths
  // expect-gcc: "umbel: multi_head_attention: expects a sequence, or queries, keys and values; then a mask such as lengths, causal or all_keys; then a workspace or parallel\(\.\.\.\)"
  // expect-clang: attention.*expects_a_sequence_or_queries_and_keys_and_values_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace
  // cause: The arguments match no overload: a plain number as length, a workspace before the mask, or one argument too many.
  // cure: Keep this order. Lengths are a tensor; to pass a workspace without a mask, put `all_keys` before it.
  static attention::workspace<query<4>, key<6>> work;
  auto out = attend(x, y, y, work);
#elif defined CASE_stack_budget
  // expect-gcc: "umbel: multi_head_attention: needs a workspace of [0-9]+ bytes but the stack budget is 65536 bytes; pass one for \[token=600\]"
  // expect-clang: attention.*needs_a_workspace_of.*number<[0-9]+>.*bytes.*but_the_stack_budget_is.*number<65536>.*bytes_so_pass_one_for.*token<600>
  // cause: The intermediate results of the call would need more stack than `UMBEL_STACK_BUDGET`.
  // cure: Pass a static workspace: `attention::workspace<token<600>>`, or raise the budget with `-DUMBEL_STACK_BUDGET=...`.
  auto out = attend(tensor<float, batch<2>, token<600>, hidden<100>>{});
#elif defined CASE_too_many_arguments
  // expect-gcc: "umbel: multi_head_attention: expects a sequence, or queries, keys and values; then a mask such as lengths, causal or all_keys; then a workspace or parallel\(\.\.\.\)"
  // expect-clang: attention.*expects_a_sequence_or_queries_and_keys_and_values_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace
  // cause: The arguments match no overload: a plain number as length, a workspace before the mask, or one argument too many.
  // cure: Keep this order. Lengths are a tensor; to pass a workspace without a mask, put `all_keys` before it.
  auto out = attend(x, y, y, y, lens);
#elif defined CASE_out_of_other_axes
  // expect-gcc: "umbel: multi_head_attention: the result has \[batch=2, query=4, hidden=100\] but out has \[batch=2, key=6, hidden=100\]"
  // expect-clang: attention.*the_result_has.*batch<2>.*query<4>.*hidden<100>.*but_out_has.*batch<2>.*key<6>.*hidden<100>
  // cause: The output has other axes or sizes than the result, which has those of the queries.
  // cure: Declare `out` with the axes of the result.
  context out{};
  attend.into(out, x, y, y);
#elif defined CASE_out_of_another_size
  // expect-gcc: "umbel: multi_head_attention: the result has \[batch=2, query=4, hidden=100\] but out has \[batch=2, query=5, hidden=100\]"
  // expect-clang: attention.*the_result_has.*batch<2>.*query<4>.*hidden<100>.*but_out_has.*batch<2>.*query<5>.*hidden<100>
  // cause: The output has other axes or sizes than the result, which has those of the queries.
  // cure: Declare `out` with the axes of the result.
  tensor<float, batch<2>, query<5>, hidden<100>> out{};
  attend.into(out, x, y, y, lens);
#elif defined CASE_out_is_double
  // expect-gcc: "umbel: multi_head_attention: the result has type float but out has type double"
  // expect-clang: attention.*the_result_has_type.*element<float>.*but_out_has_type.*element<double>
  // cause: The output has a different element type.
  // cure: Declare `out` with the element type of the layer.
  tensor<double, batch<2>, query<4>, hidden<100>> out{};
  attend.into(out, x);
#elif defined CASE_out_is_const
  // expect-gcc: "umbel: multi_head_attention: out is const"
  // expect-clang: attention.*out_is_const
  // cause: The output is const.
  // cure: Remove the const.
  const queries out{};
  attend.into(out, x);
#elif defined CASE_temporary_weights
  // expect-gcc: "umbel: multi_head_attention: the weights are a temporary that would be destroyed before the layer; store them in a variable"
  // expect-clang: multi_head_attention.*the_weights_are_a_temporary_that_would_be_destroyed_before_the_layer_so_store_them_in_a_variable
  // cause: A layer borrows its weights, but these are destroyed at the end of the statement.
  // cure: Store them in a variable: `static const attention::weights w = ...; attention{w}`.
  const attention dangling{attention::weights{}};
#elif defined CASE_temporary_weight
  // expect-gcc: "umbel: x \* weights: the weights are a temporary that would be destroyed before the layer; store them in a variable"
  // expect-clang: x_times_weights.*the_weights_are_a_temporary_that_would_be_destroyed_before_the_layer_so_store_them_in_a_variable
  // cause: A linear map borrows its weights, but these are destroyed at the end of the statement.
  // cure: Store them in a variable that lives as long as the layer, preferably `static const`.
  const attention::weights_view dangling(
      portable::linear_weights<float, hidden<100>, hidden<100>, false>{}, w.k, w.v, w.o);
#elif defined CASE_bias_array_of_the_wrong_length
  // expect-gcc: "umbel: memory: \[hidden=100\] needs 100 elements but the memory holds 99"
  // expect-clang: memory.*hidden<100>.*needs.*number<100>.*elements_but_the_memory_holds.*number<99>
  // cause: The array of biases does not have one element for each output of the map.
  // cure: Pass one bias for each output; check whether the array belongs to a different layer.
  static const float array[10000] = {}, biases[99] = {};
  const portable::linear_view<float, hidden<100>, hidden<100>, true> q(
      view_as<in_features, out_features>(array), biases);
#elif defined CASE_weights_of_another_layer
  // expect-gcc: "umbel: multi_head_attention: part 1 of the weights maps \[hidden=80, hidden=80\] but the layer needs \[hidden=100, hidden=100\]"
  // expect-clang: multi_head_attention.*part.*of_the_weights_maps.*hidden<80>.*but_the_layer_needs.*hidden<100>
  // cause: The weights belong to a layer with other axes or other options, such as `bias<>`.
  // cure: Use the `weights` type of this layer: `attention::weights`.
  static multi_head_attention<float, hidden<80>, heads<5>>::weights other;
  const attention wrong{other};
#elif defined CASE_weights_have_a_bias
  // expect-gcc: "umbel: multi_head_attention: part 1 of the weights has a bias but the layer has none"
  // expect-clang: multi_head_attention.*part.*of_the_weights_has_a_bias_but_the_layer_has_none
  // cause: The weights belong to a layer with other axes or other options, such as `bias<>`.
  // cure: Use the `weights` type of this layer: `attention::weights`.
  static multi_head_attention<float, hidden<100>, heads<5>, bias<true>>::weights other;
  const attention wrong{other};
#elif defined CASE_project_width
  // expect-gcc: "umbel: x \* weights: the input has hidden=80 but the weights expect hidden=100"
  // expect-clang: x_times_weights.*the_input_has.*hidden<80>.*but_the_weights_expect.*hidden<100>
  // cause: In `x * w`, the input axis of the weights has a different size in x.
  // cure: Pass the weights that fit, or correct the size.
  auto out = tensor<float, batch<2>, hidden<80>>{} * w.q;
#elif defined CASE_project_absent_axis
  // expect-gcc: "umbel: x \* weights: there is no axis hidden in \[batch=2, token=100\]"
  // expect-clang: project.*there_is_no_axis.*hidden>.*in.*batch<2>.*token<100>
  // cause: In `x * w`, x lacks the input axis of the weights.
  // cure: Rename the axis: `x | rename_axis<token, hidden>`.
  auto out = tensor<float, batch<2>, token<100>>{} * w.q;
#elif defined CASE_project_type
  // expect-gcc: "umbel: x \* weights: the input has type double but the weights have type float"
  // expect-clang: x_times_weights.*the_input_has_type.*element<double>.*but_the_weights_have_type.*element<float>
  // cause: In `x * w`, the element types differ, and Umbel converts nothing implicitly.
  // cure: Declare both with one element type.
  auto out = tensor<double, batch<2>, hidden<100>>{} * w.q;
#elif defined CASE_project_onto_an_axis_that_is_there
  // expect-gcc: "umbel: x \* weights: classes is already an axis of \[classes=10, hidden=100\]"
  // expect-clang: project.*classes>.*is_already_an_axis_of.*classes<10>.*hidden<100>
  // cause: The tensor already has the output axis of the weights.
  // cure: Rename the axis of the tensor with `rename_axis`.
  static linear<float, hidden<100>, classes<10>>::weights map;
  auto out = tensor<float, classes<10>, hidden<100>>{} * map;
#elif defined CASE_mask_absent_axis
  // expect-gcc: "umbel: mask_after: there is no axis token in \[batch=2, query=4, hidden=100\]"
  // expect-clang: mask_after.*there_is_no_axis.*token>.*in.*batch<2>.*query<4>.*hidden<100>
  // cause: The axis to mask is not an axis of the scores.
  // cure: Mask an axis in the brackets, usually key.
  auto out = mask_after<token>(x, lens);
#elif defined CASE_mask_lengths_of_float
  // expect-gcc: "umbel: mask_after: valid_lens must be integers but have type float"
  // expect-clang: mask_after.*valid_lens.*must_be_integers_but_have_type.*element<float>
  // cause: Lengths are counts, but this tensor does not hold integers.
  // cure: Pass `tensor<int, batch<2>>`.
  auto out = mask_after<query>(x, tensor<float, batch<2>>{});
#elif defined CASE_mask_scores_without_batch
  // expect-gcc: "umbel: mask_after: valid_lens have batch=2 but the scores have \[query=4, key=6\]"
  // expect-clang: mask_after.*valid_lens.*have.*batch<2>.*but_the_scores_have.*query<4>.*key<6>
  // cause: There are lengths for a batch, but the scores have no batch axis.
  // cure: Keep the batch axis in the scores, or cut the scores to their length with `slice`.
  auto out = mask_after<query>(tensor<float, query<4>, key<6>>{}, lens);
#elif defined CASE_mask_another_batch
  // expect-gcc: "umbel: mask_after: valid_lens have batch=3 but the scores have \[batch=2, query=4, hidden=100\]"
  // expect-clang: mask_after.*valid_lens.*have.*batch<3>.*but_the_scores_have.*batch<2>.*query<4>.*hidden<100>
  // cause: The number of lengths is not the number of sequences in the batch.
  // cure: Pass one length for each sequence of the batch.
  auto out = mask_after<query>(x, tensor<int, batch<3>>{});
#elif defined CASE_mask_lengths_along_themselves
  // expect-gcc: "umbel: mask_after: valid_lens count along query=4 and cannot have that axis"
  // expect-clang: mask_after.*valid_lens.*count_along.*query<4>.*and_cannot_have_that_axis
  // cause: A length counts positions of this axis, so it cannot have the axis itself.
  // cure: The lengths may only have the other axes, `tensor<int, batch<2>>`; check whether the right axis is masked.
  auto out = mask_after<query>(x, tensor<int, batch<2>, query<4>>{});
#elif defined CASE_softmax_absent_axis
  // expect-gcc: "umbel: softmax: there is no axis key in \[batch=2, query=4, hidden=100\]"
  // expect-clang: softmax.*there_is_no_axis.*key>.*in.*batch<2>.*query<4>.*hidden<100>
  // cause: The axis to normalize is not an axis of the tensor.
  // cure: Use an axis in the brackets, for scores usually key.
  auto out = softmax<key>(x);
#elif defined CASE_softmax_along_axes_that_are_not_neighbors
  // expect-gcc: "umbel: softmax: \[batch=2, hidden=100\] are not adjacent in this order in \[batch=2, query=4, hidden=100\]"
  // expect-clang: softmax.*batch<2>.*hidden<100>.*are_not_adjacent_in_this_order_in.*batch<2>.*query<4>.*hidden<100>
  // cause: A softmax along several axes runs along neighbors.
  // cure: Name the axes in the order of the tensor, or permute it first.
  auto out = softmax<batch, hidden>(x);
#elif defined CASE_softmax_of_integers
  // expect-gcc: "umbel: softmax: needs float or double, not int"
  // expect-clang: softmax.*needs_float_or_double_not.*element<int>
  // cause: The input of the softmax is integers.
  // cure: Declare the tensor with float or double.
  auto out = softmax<key>(tensor<int, key<6>>{});
#elif defined CASE_one_error_in_a_chain
  // expect-gcc: "umbel: split: hidden=100 into heads=7 leaves a remainder of 2"
  // expect-clang: split.*hidden<100>.*into.*heads<7>.*leaves_a_remainder_of.*number<2>
  // cause: The axis cannot be cut into that many equal parts.
  // cure: Choose a number of parts that divides the size, or change the size.
  auto q = x * w.q | split<hidden, heads<7>, head_dim>;
  auto k = y * w.k | split<hidden, heads<5>, head_dim>;
  auto out = softmax<key>(mask_after<key>(contract<head_dim>(q, k) * 0.5f, lens)) | mean<heads>;
  auto more = attend(out, y, y, lens);
  attend.into(out, more);
#elif defined CASE_element_type_forgotten
  // expect-gcc: "umbel: multi_head_attention: needs float or double, not hidden=100"
  // expect-clang: attention.*needs_float_or_double_not.*hidden<100>
  // cause: The element type, the first template argument, is missing.
  // cure: Add it: `multi_head_attention<float, hidden<100>, heads<5>>`.
  multi_head_attention<hidden<100>, heads<5>>::weights none{};
  (void)none;
#elif defined CASE_keys_from_key
  // expect-gcc: "umbel: multi_head_attention: expected the axis hidden but got key=32"
  // expect-clang: multi_head_attention.*expected_the_axis.*hidden>.*but_got.*key<32>
  // cause: The widths of keys, values and result are numbers of features.
  // cure: Write the width: `keys_from<hidden<32>>`; the number of keys depends on the call.
  multi_head_attention<float, hidden<100>, heads<5>, keys_from<key<32>>>::weights none{};
  (void)none;
#elif defined CASE_layer_that_is_used_all_the_same
  // expect-gcc: "umbel: multi_head_attention: hidden=100 into heads=7 leaves a remainder of 2"
  // expect-clang: attention.*hidden<100>.*into.*heads<7>.*leaves_a_remainder_of.*number<2>
  // cause: The heads do not divide the hidden axis.
  // cure: Choose a number of heads that divides it, or add the width of a head: `head_dim<16>`.
  multi_head_attention<float, hidden<100>, heads<7>>::weights uneven{};
  uneven.q.weight[0] = 1;
#elif defined CASE_weights_part_of_another_width
  // expect-gcc: "umbel: multi_head_attention: part 2 of the weights maps \[hidden=64, hidden=100\] but the layer needs \[hidden=100, hidden=100\]"
  // expect-clang: multi_head_attention.*part.*number<2>.*of_the_weights_maps.*hidden<64>.*hidden<100>.*but_the_layer_needs.*hidden<100>.*hidden<100>
  // cause: The weights are passed part by part, and one part does not match the layer.
  // cure: Declare the part as in the layer: `decltype(attention::weights::k)`.
  linear<float, hidden<100>, hidden<100>>::weights square{};
  linear<float, hidden<64>, hidden<100>>::weights narrow{};
  const attention::weights_view r(square, narrow, square, square);
#elif defined CASE_weights_part_missing
  // expect-gcc: "umbel: multi_head_attention: the weights have 3 parts but the layer needs 4"
  // expect-clang: multi_head_attention.*the_weights_have.*number<3>.*parts_but_the_layer_needs.*number<4>
  // cause: The weights are passed part by part, and there are too few or too many parts.
  // cure: Pass all parts, in the order of the layer's `weights`.
  linear<float, hidden<100>, hidden<100>>::weights square{};
  const attention::weights_view r(square, square, square);
#elif defined CASE_weights_part_with_bias
  // expect-gcc: "umbel: multi_head_attention: part 4 of the weights has a bias but the layer has none"
  // expect-clang: multi_head_attention.*part.*number<4>.*of_the_weights_has_a_bias_but_the_layer_has_none
  // cause: A part of the weights has a bias but the layer has none, or the reverse.
  // cure: Declare the layer with `bias<true>` or `bias_on<'q', 'k'>`, as the weights are.
  linear<float, hidden<100>, hidden<100>>::weights square{};
  linear<float, hidden<100>, hidden<100>, bias<true>>::weights biased{};
  const attention::weights_view r(square, square, square, biased);
#elif defined CASE_weights_part_without_bias
  // expect-gcc: "umbel: multi_head_attention: part 1 of the weights has no bias but the layer has one"
  // expect-clang: multi_head_attention.*part.*number<1>.*of_the_weights_has_no_bias_but_the_layer_has_one
  // cause: A part of the weights has a bias but the layer has none, or the reverse.
  // cure: Declare the layer with `bias<true>` or `bias_on<'q', 'k'>`, as the weights are.
  using with_bias = multi_head_attention<float, hidden<100>, heads<5>, bias<true>>;
  linear<float, hidden<100>, hidden<100>>::weights square{};
  const with_bias::weights_view r(square, square, square, square);
#elif defined CASE_weights_part_of_double
  // expect-gcc: "umbel: multi_head_attention: part 1 of the weights has type double but the layer has type float"
  // expect-clang: attention.*part.*number<1>.*of_the_weights_has_type.*element<double>.*but_the_layer_has_type.*element<float>
  // cause: The weights are passed part by part, and one part does not match the layer.
  // cure: Declare the part as in the layer: `decltype(attention::weights::k)`.
  linear<float, hidden<100>, hidden<100>>::weights square{};
  linear<double, hidden<100>, hidden<100>>::weights doubles{};
  const attention::weights_view r(doubles, square, square, square);
#elif defined CASE_weights_part_of_nothing
  // expect-gcc: "umbel: multi_head_attention: part 3 of the weights must be weights for \[hidden=100, hidden=100\]"
  // expect-clang: multi_head_attention.*part.*number<3>.*of_the_weights_must_be_weights_for.*hidden<100>.*hidden<100>
  // cause: The weights are passed part by part, and one part does not match the layer.
  // cure: Declare the part as in the layer: `decltype(attention::weights::k)`.
  linear<float, hidden<100>, hidden<100>>::weights square{};
  const attention::weights_view r(square, square, 0, square);
#elif defined CASE_prepacked_weights
  // expect-gcc: "umbel: prepacked: the first argument is the type of weights; name their layer, prepacked<layer>\{w\}"
  // expect-clang: prepacked, .*the_first_argument_is_the_type_of_weights_so_name_their_layer
  // cause: `prepacked` needs the layer, not its type of weights.
  // cure: Write `prepacked<attention>{w}`.
  const prepacked<attention::weights> r{w};
  auto out = r(x, y, y);
#elif defined CASE_prepacked_weights_packed_later
  // expect-gcc: "umbel: prepacked: the first argument is the type of weights; name their layer, prepacked<layer>\{w\}"
  // expect-clang: prepacked, .*the_first_argument_is_the_type_of_weights_so_name_their_layer
  // cause: `prepacked` needs the layer, not its type of weights.
  // cure: Write `prepacked<attention>{w}`.
  static prepacked<attention::weights> later;
  later.pack(w);
  auto out = later(x, y, y);
#elif defined CASE_one_error_of_a_layer_without_features
  // expect-gcc: "umbel: multi_head_attention: expected the axis hidden but got int"
  // expect-clang: multi_head_attention.*expected_the_axis.*hidden>.*but_got.*element<int>
  // cause: The layer needs its features, then its heads, then options.
  // cure: Write them in this order: `multi_head_attention<float, hidden<100>, heads<5>>`.
  using wrong = multi_head_attention<float, int, heads<5>>;
  wrong::weights none{};
  auto out = wrong{none}(x, y, y) + x;
#elif defined CASE_no_weights
  // expect-gcc: "umbel: multi_head_attention: construct it from one object, its weights"
  // expect-clang: multi_head_attention.*construct_it_from_one_object_its_weights
  // cause: A layer borrows its weights, all in one struct, when it is constructed.
  // cure: Fill `attention::weights w` and write `attention{w}`.
  const attention wrong;
#elif defined CASE_no_weights_in_a_struct
  // expect-gcc: "umbel: multi_head_attention: construct it from one object, its weights"
  // expect-clang: multi_head_attention.*construct_it_from_one_object_its_weights
  // cause: A layer borrows its weights, all in one struct, when it is constructed.
  // cure: Fill `attention::weights w` and write `attention{w}`.
  struct model {
    attention layer;
  };
  const model wrong{};
#elif defined CASE_lengths_in_braces
  // expect-gcc: "umbel: multi_head_attention: a braced list is not a mask; write lengths as a tensor, tensor<int, batch<\.\.\.>>\{\.\.\.\}, here with batch=2"
  // expect-clang: multi_head_attention.*a_braced_list_is_not_a_mask_so_write_lengths_as_a_tensor_of_int_with.*batch<2>
  // cause: Braces alone have no type, so the compiler cannot tell that these are lengths.
  // cure: Write `attend(x, y, y, tensor<int, batch<2>>{3, 2})`.
  auto out = attend(x, y, y, {3, 2});
#elif defined CASE_lengths_as_an_array
  // expect-gcc: "umbel: multi_head_attention: expects a sequence, or queries, keys and values; then a mask such as lengths, causal or all_keys; then a workspace or parallel\(\.\.\.\), but argument 4 is array"
  // expect-clang: multi_head_attention.*expects_a_sequence.*then_a_mask_such_as_lengths.*but_argument.*number<4>.*is.*given<.*array<int, 2
  // cause: Plain memory has no axes, so it cannot be lengths.
  // cure: View it: `attend(x, y, y, view_as<batch<2>>(lengths))`.
  const std::array<int, 2> lengths{3, 2};
  auto out = attend(x, y, y, lengths);
#elif defined CASE_weights_of_a_pointer
  // expect-gcc: "umbel: multi_head_attention: the weights do not match this layer and its options; they are a pointer to float"
  // expect-clang: multi_head_attention.*the_weights_do_not_match_this_layer_and_its_options.*they_have_type.*a_pointer_to<.*given<float>
  // cause: A pointer does not tell the position of each part of the weights.
  // cure: Name them: `attention::weights_view view{q, k, v, o}`, or fill `attention::weights w`.
  auto out = attention{static_cast<float*>(nullptr)}(x, y, y);
#elif defined CASE_weights_of_another_kind_of_layer
  // expect-gcc: "umbel: multi_head_attention: the weights do not match this layer and its options; they are for layer_norm"
  // expect-clang: multi_head_attention.*the_weights_do_not_match_this_layer_and_its_options.*they_are_for.*layer_norm
  // cause: The weights belong to a different kind of layer.
  // cure: Pass the `weights` of this layer.
  layer_norm<float, hidden<100>>::weights norm{};
  auto out = attention{norm}(x, y, y);
#elif defined CASE_sizes_as_arguments
  // expect-gcc: "umbel: multi_head_attention: sizes are template arguments, not numbers in a call; write multi_head_attention<float, hidden<64>, heads<8>>\{weights\}"
  // expect-clang: multi_head_attention.*sizes_are_template_arguments_not_numbers_in_a_call_so_write_multi_head_attention_of_float_hidden_and_heads
  // cause: Sizes are part of the type, so the compiler can check shapes.
  // cure: Write `using attention = multi_head_attention<float, hidden<64>, heads<8>>;` and `attention{w}`.
  multi_head_attention layer(64, 8);
#elif defined CASE_a_bias_too_many
  // expect-gcc: "umbel: weights: got a bias but the layer has none; add bias<true> to its type"
  // expect-clang: weights.*got_a_bias_but_the_layer_has_none_so_add_bias_true
  // cause: The layer's type has no bias, but the arrays have one.
  // cure: Add `bias<true>` to the type of the layer, or leave the biases out.
  static const float m[10000]{}, b[100]{};
  const auto named = view_as<in_features, out_features>(m);
  const attention::weights_view r{{named, b}, {named, b}, {named, b}, {named, b}};
#elif defined CASE_a_bias_forgotten
  // expect-gcc: "umbel: weights: got no bias but the layer has one; pass both, \{weight, bias\}"
  // expect-clang: weights.*got_no_bias_but_the_layer_has_one_so_pass_weight_and_bias
  // cause: The layer's type has a bias, but only the weight is passed.
  // cure: Pass both, `{q, q_bias}`; to have no biases, add `bias<false>` to the type of the layer.
  static const float m[10000]{};
  using biased = multi_head_attention<float, hidden<100>, heads<5>, bias<true>>;
  const auto named = view_as<in_features, out_features>(m);
  const biased::weights_view r{{named}, {named}, {named}, {named}};
#elif defined CASE_workspace_along_the_width
  // expect-gcc: "umbel: workspace: hidden=100 is a width of the layer; name the axis of the positions, workspace<token<12>>"
  // expect-clang: workspace.*hidden<100>.*is_a_width_of_the_layer_so_name_the_axis_of_the_positions
  // cause: The size of a workspace depends on the number of positions, not on the width of the layer.
  // cure: Name the position axis: `attention::workspace<query<4>, key<6>>`, `workspace<token<12>>`.
  static attention::workspace<hidden<100>> work;
#elif defined CASE_called_without_weights
  // expect-gcc: "umbel: multi_head_attention: must be built from weights before it is called, layer\{w\}\(x\), but got the tensor \[batch=2, query=4, hidden=100\]"
  // expect-clang: multi_head_attention, .*must_be_built_from_weights_before_it_is_called_but_got_the_tensor, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: A layer borrows its weights when it is constructed, and is then called.
  // cure: Write `attention{w}(x)`.
  auto r = attention(x);
#elif defined CASE_into_nothing
  // expect-gcc: "umbel: multi_head_attention: into expects the output first, layer\.into\(out, x\), but got only \[batch=2, query=4, hidden=100\]"
  // expect-clang: multi_head_attention, .*into_expects_the_output_first_so_write_into_out_x_but_got_only, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: `into` writes to the caller's memory, its first argument.
  // cure: Write `attend.into(out, x)`, or `auto out = attend(x)`.
  attend.into(x);
#elif defined CASE_times_all_weights
  // expect-gcc: "umbel: elementwise: the weights of multi_head_attention have several parts; name one, x \* w\.q"
  // expect-clang: elementwise, .*the_weights_of, .*multi_head_attention.*have_several_parts_so_name_one
  // cause: A layer has several maps, and a tensor is projected by one of them.
  // cure: Write `x * w.q`.
  auto r = x * w;
#elif defined CASE_workspace_for_a_wrong_width
  // expect-gcc: "umbel: multi_head_attention: the keys in argument 2 have hidden=80 but the layer has hidden=100"
  // expect-clang: attention.*the_keys_in_argument_2.*hidden<80>.*hidden<100>
  // cause: The keys have a different number of features than the layer's weights.
  // cure: Pass the right tensor, or declare the layer with `keys_from<hidden<80>>` and `values_from<hidden<80>>`.
  static workspace_for<attention, queries, tensor<float, batch<2>, key<6>, hidden<80>>, context>
      work;
#elif defined CASE_workspace_for_one_sequence_of_a_wrong_width
  // expect-gcc: "umbel: multi_head_attention: the sequence has hidden=80 but the layer has hidden=100"
  // expect-clang: attention.*hidden<80>.*hidden<100>
  // cause: `workspace_for` checks the tensors of the call, and these do not fit the layer.
  // cure: Write the types of the tensors that you pass in the call.
  static workspace_for<attention, tensor<float, token<6>, hidden<80>>> work;
#elif defined CASE_workspace_for_axes
  // expect-gcc: "umbel: workspace_for: expects a layer and the types of the tensors of its call; for axes write layer::workspace<token<9>>"
  // expect-clang: workspace_for, .*expects_a_layer_and_the_types_of_the_tensors_of_its_call_for_axes_write_workspace>
  // cause: `workspace_for` needs types of tensors; here there are axes.
  // cure: Write `attention::workspace<query<4>, key<6>>`, or the types of the tensors.
  static workspace_for<attention, query<4>, key<6>> work;
#elif defined CASE_workspace_for_a_mask_of_other_keys
  // expect-gcc: "umbel: multi_head_attention: keep_mask has key=7 but the scores have \[batch=2, heads=5, query=4, key=6\]"
  // expect-clang: multi_head_attention.*keep_mask.*key<7>.*key<6>
  // cause: `workspace_for` checks the arguments of the call, and the call would refuse this mask.
  // cure: Write the types of the arguments that you pass in the call.
  static workspace_for<attention, queries, context, context,
                       decltype(keep_mask(tensor<bool, key<7>>{}))>
      work;
#elif defined CASE_workspace_for_two_of_three
  // expect-gcc: "umbel: multi_head_attention: two sequences need values; pass queries, keys and values"
  // expect-clang: multi_head_attention.*two_sequences_need_values_so_pass_queries_keys_and_values
  // cause: Attention between two sequences needs queries, keys and values, but the values are missing.
  // cure: Pass the values, often the keys again: `attend(x, y, y)`.
  static workspace_for<attention, queries, context> work;
#else
  static attention::workspace<query<4>, key<6>> work;
  auto out = attend(x, y, y, lens, work);
  auto self = attend(x, lens) * w.q;
  attend.into(out, x, y, y);
  (void)self;
#endif
}
