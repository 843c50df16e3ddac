// SPDX-License-Identifier: BSL-1.0
// Mistakes with masks and with the options of scores (check.py).
#include <umbel/umbel.hpp>
#include <vector>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using context = tensor<float, batch<2>, key<6>, hidden<100>>;
using tokens = tensor<float, token<9>, hidden<100>>;
using attention = multi_head_attention<float, hidden<100>, heads<5>>;

[[maybe_unused]] static void cases(const attention& attend, queries& x, context& y, tokens& t) {
  (void)attend, (void)x, (void)y, (void)t;
  constexpr tensor<int, batch<2>> lens{3, 2};
  (void)lens;
#if defined CASE_mask_with_query_and_key_swapped
  // expect-gcc: "umbel: multi_head_attention: keep_mask has query=6 but the scores have \[batch=2, heads=5, query=4, key=6\]"
  // expect-clang: attention.*keep_mask.*has.*query<6>.*but_the_scores_have.*batch<2>.*heads<5>.*query<4>.*key<6>
  // cause: The mask has a different number of positions along this axis; query and key may be swapped.
  // cure: Declare it as `tensor<bool, query<4>, key<6>>`; the order of the axes does not matter, their names do.
  auto out = attend(x, y, y, keep_mask(tensor<bool, query<6>, key<4>>{}));
#elif defined CASE_mask_of_int
  // expect-gcc: "umbel: multi_head_attention: keep_mask must be bool but has type int"
  // expect-clang: attention.*keep_mask.*must_be_bool_but_has_type.*element<int>
  // cause: A mask of numbers could be truth values, lengths or a bias.
  // cure: Make it a tensor of bool; pass lengths as a bare tensor, a float bias as `score_bias`.
  auto out = attend(x, y, y, keep_mask(tensor<int, query<4>, key<6>>{}));
#elif defined CASE_drop_mask_of_float
  // expect-gcc: "umbel: multi_head_attention: drop_mask must be bool but has type float"
  // expect-clang: attention.*drop_mask.*must_be_bool_but_has_type.*element<float>
  // cause: A mask of numbers could be truth values, lengths or a bias.
  // cure: Make it a tensor of bool; pass lengths as a bare tensor, a float bias as `score_bias`.
  auto out = attend(x, y, y, drop_mask(tensor<float, query<4>, key<6>>{}));
#elif defined CASE_mask_of_tokens
  // expect-gcc: "umbel: multi_head_attention: keep_mask has token=9 but the scores have \[heads=5, query=9, key=9\]"
  // expect-clang: attention.*keep_mask.*has.*token<9>.*but_the_scores_have.*heads<5>.*query<9>.*key<9>
  // cause: The mask has an axis that scores do not have, which could be the queries or the keys.
  // cure: Rename it to query or key, `m | rename_axis<token, key>` for a padding mask.
  auto out = attend(t, keep_mask(tensor<bool, token<9>>{}));
#elif defined CASE_mask_of_other_heads
  // expect-gcc: "umbel: multi_head_attention: score_bias has heads=4 but the scores have \[batch=2, heads=5, query=4, key=6\]"
  // expect-clang: attention.*score_bias.*has.*heads<4>.*but_the_scores_have.*batch<2>.*heads<5>.*query<4>.*key<6>
  // cause: The bias has a different number of heads.
  // cure: Use the number of heads of the layer, or leave out the axis to use one bias for all heads.
  auto out = attend(x, y, y, score_bias(tensor<float, heads<4>, query<4>, key<6>>{}));
#elif defined CASE_bias_of_double
  // expect-gcc: "umbel: multi_head_attention: score_bias has type double but the scores have type float"
  // expect-clang: attention.*score_bias.*has_type.*element<double>.*but_the_scores_have_type.*element<float>
  // cause: The bias has a different element type than the layer.
  // cure: Declare it with the element type of the layer.
  auto out = attend(x, y, y, score_bias(tensor<double, query<4>, key<6>>{}));
#elif defined CASE_bias_generator_of_two
  // expect-gcc: "umbel: multi_head_attention: score_bias needs a function of batch, head, query and key that returns float"
  // expect-clang: multi_head_attention.*score_bias.*needs_a_function_of_batch_head_query_and_key_that_returns.*element<float>
  // cause: The function has other parameters, or returns a different type.
  // cure: Write `[](auto batch, auto head, auto query, auto key) { return 0.1f; }`; it may ignore some of its parameters.
  auto out = attend(x, y, y, score_bias([](auto i, auto j) { return i < j ? 0.0f : 1.0f; }));
#elif defined CASE_causal_of_unequal_sizes
  // expect-gcc: "umbel: multi_head_attention: causal is ambiguous because query=4 and key=6 differ; choose _top_left, _bottom_right or _at"
  // expect-clang: multi_head_attention.*causal.*is_ambiguous_because.*query<4>.*and_.*key<6>.*differ_so_choose_top_left_bottom_right_or_at
  // cause: With fewer queries than keys it is unclear which keys are in the past of a query; frameworks disagree.
  // cure: Choose one: `causal_top_left` (PyTorch's is_causal), `causal_bottom_right` (FlashAttention, PyTorch's causal_lower_right), `causal_at(2)` (ONNX with 2 past keys).
  auto out = attend(x, y, y, causal);
#elif defined CASE_window_of_unequal_sizes
  // expect-gcc: "umbel: multi_head_attention: sliding_window is ambiguous because query=4 and key=6 differ; choose _top_left, _bottom_right or _at"
  // expect-clang: multi_head_attention.*sliding_window.*is_ambiguous_because.*query<4>.*and_.*key<6>.*differ_so_choose_top_left_bottom_right_or_at
  // cause: With fewer queries than keys it is unclear which key is at the position of a query.
  // cure: Choose one: `sliding_window_top_left<3>`, `sliding_window_bottom_right<3>`, `sliding_window_at<3>(2)`.
  auto out = attend(x, y, y, lens & sliding_window<3>);
#elif defined CASE_alibi_of_unequal_sizes
  // expect-gcc: "umbel: multi_head_attention: alibi is ambiguous because query=4 and key=6 differ; choose _top_left, _bottom_right or _at"
  // expect-clang: multi_head_attention.*alibi.*is_ambiguous_because.*query<4>.*and_.*key<6>.*differ_so_choose_top_left_bottom_right_or_at
  // cause: With fewer queries than keys the distance between them is unclear.
  // cure: Choose one: `alibi_top_left`, `alibi_bottom_right`, `alibi_at(2)`.
  auto out = attend(x, y, y, alibi & causal_bottom_right);
#elif defined CASE_lengths_and_bottom_right
  // expect-gcc: "umbel: multi_head_attention: valid_lens and causal_bottom_right are ambiguous; write causal_bottom_right\(lens\) to align the last query with the last key of its sequence, causal_at\(keys - queries\) with the last of all keys"
  // expect-clang: attention.*valid_lens.*and_.*causal_bottom_right.*are_ambiguous_so_write_causal_bottom_right_of_lens_or_causal_at
  // cause: With lengths, each sequence has its own last key, and frameworks place the last query differently.
  // cure: `causal_bottom_right(lens)` is ONNX with nonpad_kv_seqlen and FlashAttention with lengths, and also hides the padding; `lens & causal_at(2)` is PyTorch's causal_lower_right with a padding mask.
  auto out = attend(x, y, y, lens & causal_bottom_right);
#elif defined CASE_bottom_right_then_lengths_of_a_longer_mask
  // expect-gcc: "umbel: multi_head_attention: valid_lens and causal_bottom_right are ambiguous; write causal_bottom_right\(lens\) to align the last query with the last key of its sequence, causal_at\(keys - queries\) with the last of all keys"
  // expect-clang: attention.*valid_lens.*and_.*causal_bottom_right.*are_ambiguous_so_write_causal_bottom_right_of_lens_or_causal_at
  // cause: With lengths, each sequence has its own last key, and frameworks place the last query differently.
  // cure: `causal_bottom_right(lens)` is ONNX with nonpad_kv_seqlen and FlashAttention with lengths, and also hides the padding; `lens & causal_at(2)` is PyTorch's causal_lower_right with a padding mask.
  auto out = attend(
      x, y, y,
      (causal_bottom_right & alibi_top_left) + (dropout(0.1, 7) & tensor<int, batch<2>>{3, 2}));
#elif defined CASE_lengths_and_window_bottom_right
  // expect-gcc: "umbel: multi_head_attention: valid_lens and sliding_window_bottom_right are ambiguous; write sliding_window_bottom_right<4>\(lens\) to align the last query with the last key of its sequence, sliding_window_at<4>\(keys - queries\) with the last of all keys"
  // expect-clang: attention.*valid_lens.*and_.*sliding_window_bottom_right.*are_ambiguous_so_write_sliding_window_bottom_right_of_lens_or_sliding_window_at
  // cause: With lengths, each sequence has its own last key, and frameworks place the last query differently.
  // cure: Write `sliding_window_bottom_right<4>(lens)` for the last key of each sequence, `lens & sliding_window_at<4>(2)` for the last of all keys.
  auto out = attend(x, y, y, lens & sliding_window_bottom_right<4>);
#elif defined CASE_position_of_float
  // expect-gcc: "umbel: multi_head_attention: causal_at needs integers but these have type float"
  // expect-clang: attention.*causal_at.*needs_integers_but_these_have_type.*element<float>
  // cause: A position counts keys, but this tensor does not hold integers.
  // cure: Pass `tensor<int, batch<2>>`, the position of the first query of each sequence.
  auto out = attend(x, y, y, causal_at(tensor<float, batch<2>>{}));
#elif defined CASE_position_of_bool
  // expect-gcc: "umbel: multi_head_attention: sliding_window_at needs integers but these have type bool"
  // expect-clang: attention.*sliding_window_at.*needs_integers_but_these_have_type.*element<bool>
  // cause: A position counts keys, but this tensor does not hold integers.
  // cure: Pass `tensor<int, batch<2>>`, the position of the first query of each sequence.
  auto out = attend(x, y, y, sliding_window_at<3>(tensor<bool, batch<2>>{}));
#elif defined CASE_position_by_key
  // expect-gcc: "umbel: multi_head_attention: causal_at needs positions of queries, which cannot have the axis key=6"
  // expect-clang: multi_head_attention.*causal_at.*needs_positions_of_queries.*which_cannot_have_the_axis.*key<6>
  // cause: The positions belong to queries, but have the axis key.
  // cure: Remove the axis, or rename it to query.
  auto out = attend(x, y, y, causal_at(tensor<int, batch<2>, key<6>>{}));
#elif defined CASE_window_position_by_query
  // expect-gcc: "umbel: multi_head_attention: sliding_window_at needs the position of the first query, which cannot have the axis query=4"
  // expect-clang: multi_head_attention.*sliding_window_at.*needs_the_position_of_the_first_query.*which_cannot_have_the_axis.*query<4>
  // cause: Only `causal_at` accepts a position for each query.
  // cure: Pass the position of the first query, for each sequence or head.
  auto out = attend(x, y, y, sliding_window_at<3>(tensor<int, query<4>>{}));
#elif defined CASE_position_of_another_batch
  // expect-gcc: "umbel: multi_head_attention: causal_at has batch=3 but the scores have \[batch=2, heads=5, query=4, key=6\]"
  // expect-clang: attention.*causal_at.*has.*batch<3>.*but_the_scores_have.*batch<2>.*heads<5>.*query<4>.*key<6>
  // cause: The number of positions is not the number of sequences in the batch.
  // cure: Pass one position for each sequence of the batch, or one number for all.
  auto out = attend(x, y, y, causal_at(tensor<int, batch<3>>{}));
#elif defined CASE_alibi_position_of_tokens
  // expect-gcc: "umbel: multi_head_attention: alibi_at has token=2 but the scores have \[batch=2, heads=5, query=4, key=6\]"
  // expect-clang: attention.*alibi_at.*has.*token<2>.*but_the_scores_have.*batch<2>.*heads<5>.*query<4>.*key<6>
  // cause: The positions have an axis that scores do not have.
  // cure: Rename it to batch: `at | rename_axis<token, batch>`.
  auto out = attend(x, y, y, alibi_at(tensor<int, token<2>>{}));
#elif defined CASE_position_that_is_no_integer
  // expect-gcc: "umbel: causal_at: expects an integer or a tensor of integers, but argument 1 is double"
  // expect-clang: mask.*causal_at.*expects_an_integer_or_a_tensor_of_integers
  // cause: The argument must be the position of the first query, but is a fraction, an array or not a number.
  // cure: Pass a number of keys, or a tensor with one number for each sequence; to pass an array, write `view_as<batch<2>>(array)`.
  auto out = attend(x, y, y, causal_at(2.5));
#elif defined CASE_positions_of_an_array
  // expect-gcc: "umbel: causal_at: expects an integer or a tensor of integers, but argument 1 is int \[2\]"
  // expect-clang: mask.*causal_at.*expects_an_integer_or_a_tensor_of_integers
  // cause: The argument must be the position of the first query, but is a fraction, an array or not a number.
  // cure: Pass a number of keys, or a tensor with one number for each sequence; to pass an array, write `view_as<batch<2>>(array)`.
  const int positions[2] = {2, 1};
  auto out = attend(x, y, y, causal_at(positions));
#elif defined CASE_bottom_right_of_lengths_by_query
  // expect-gcc: "umbel: multi_head_attention: causal_bottom_right needs one length per sequence, which cannot have the axis query=4"
  // expect-clang: multi_head_attention.*causal_bottom_right.*needs_one_length_per_sequence.*which_cannot_have_the_axis.*query<4>
  // cause: The last query is at the last key of its sequence, so there is one length for each sequence.
  // cure: Pass `tensor<int, batch<2>>`; lengths for each query are a mask on their own, and `causal_at(positions)` is causal for each query.
  auto out = attend(x, y, y, causal_bottom_right(tensor<int, batch<2>, query<4>>{}));
#elif defined CASE_bottom_right_of_lengths_of_float
  // expect-gcc: "umbel: multi_head_attention: causal_bottom_right needs integers but these have type float"
  // expect-clang: attention.*causal_bottom_right.*needs_integers_but_these_have_type.*element<float>
  // cause: Lengths count keys, but this tensor does not hold integers.
  // cure: Pass `tensor<int, batch<2>>`.
  auto out = attend(x, y, y, causal_bottom_right(tensor<float, batch<2>>{}));
#elif defined CASE_bottom_right_of_a_number
  // expect-gcc: "umbel: causal_bottom_right: expects a tensor of lengths"
  // expect-clang: mask.*causal_bottom_right.*expects_a_tensor_of_lengths
  // cause: `causal_bottom_right` has no argument, or the length of each sequence.
  // cure: For one length for all sequences, write the position of the first query: `causal_at(length - queries)`.
  auto out = attend(x, y, y, causal_bottom_right(3));
#elif defined CASE_second_of_two_masks
  // expect-gcc: "umbel: multi_head_attention: score_bias has key=5 but the scores have \[batch=2, heads=5, query=4, key=6\]"
  // expect-clang: attention.*score_bias.*has.*key<5>.*but_the_scores_have.*batch<2>.*heads<5>.*query<4>.*key<6>
  // cause: The bias has a different number of keys.
  // cure: Declare it with the sizes in the brackets.
  auto out = attend(x, y, y, lens & causal_top_left & score_bias(tensor<float, key<5>>{}));
#elif defined CASE_bool_within_masks
  // expect-gcc: "umbel: multi_head_attention: a bool mask is ambiguous; write keep_mask\(mask\) if true keeps a key, drop_mask\(mask\) if true drops it"
  // expect-clang: attention.*a_bool_mask_is_ambiguous_so_write_keep_mask_or_drop_mask_for_what_true_does
  // cause: In some frameworks true means "attend", in others "do not attend", and a bare bool tensor does not tell.
  // cure: Write `keep_mask(m)` if true attends (Haiku, ONNX), `drop_mask(m)` if it does not (PyTorch's layers).
  auto out = attend(x, y, y, causal_top_left & tensor<bool, key<6>>{});
#elif defined CASE_softcap_of_zero
  // expect-gcc: "umbel: multi_head_attention: softcap 0/1 is not a positive number"
  // expect-clang: multi_head_attention.*softcap.*ratio<0.*1>.*is_not_a_positive_number
  // cause: Some frameworks use 0 for "no cap".
  // cure: Leave the option out.
  multi_head_attention<float, hidden<100>, heads<5>, softcap<0>>::weights none;
#elif defined CASE_scale_over_zero
  // expect-gcc: "umbel: multi_head_attention: score_scale 1/0 is not a positive number"
  // expect-clang: multi_head_attention.*score_scale.*ratio<1.*0>.*is_not_a_positive_number
  // cause: The scale is a numerator and a denominator: `score_scale<1, 8>` is 1/8.
  // cure: Write both, or leave the option out for 1 / sqrt(head_dim).
  multi_head_attention<float, hidden<100>, heads<5>, score_scale<1, 0>>::weights none;
#elif defined CASE_empty_rows_of_what
  // expect-gcc: "umbel: multi_head_attention: empty_rows must be zero_weights or uniform_weights, not float"
  // expect-clang: multi_head_attention.*empty_rows_must_be_zero_weights_or_uniform_weights_not.*element<float>
  // cause: The option names the result of a query without keys.
  // cure: Write `empty_rows<uniform_weights>` ("Dive into Deep Learning", Haiku) or `empty_rows<zero_weights>`.
  multi_head_attention<float, hidden<100>, heads<5>, empty_rows<float>>::weights none;
#elif defined CASE_observed_axes
  // expect-gcc: "umbel: multi_head_attention: observe has \[query=4, key=6\] but the scores have \[batch=2, heads=5, query=4, key=6\]"
  // expect-clang: attention.*observe.*has.*query<4>.*key<6>.*but_the_scores_have.*batch<2>.*heads<5>.*query<4>.*key<6>
  // cause: The memory lacks an axis: each head and each sequence has its own weights.
  // cure: Declare it with the axes in the brackets; average after the call, `weights | mean<heads>`.
  tensor<float, query<4>, key<6>> weights{};
  auto out = attend(x, y, y, observe(weights));
#elif defined CASE_observed_size
  // expect-gcc: "umbel: multi_head_attention: observe has key=4 but the scores have \[batch=2, heads=5, query=4, key=6\]"
  // expect-clang: attention.*observe.*has.*key<4>.*but_the_scores_have.*batch<2>.*heads<5>.*query<4>.*key<6>
  // cause: The memory has a different number of positions along this axis.
  // cure: Declare it with the axes in the brackets.
  tensor<float, batch<2>, heads<5>, query<4>, key<4>> weights{};
  auto out = attend(x, y, y, observe(weights));
#elif defined CASE_observed_type
  // expect-gcc: "umbel: multi_head_attention: observe has type double but the scores have type float"
  // expect-clang: attention.*observe.*has_type.*element<double>.*but_the_scores_have_type.*element<float>
  // cause: The memory has a different element type than the layer.
  // cure: Declare it with the element type of the layer.
  tensor<double, batch<2>, heads<5>, query<4>, key<6>> weights{};
  auto out = attend(x, y, y, observe(weights));
#elif defined CASE_observed_is_const
  // expect-gcc: "umbel: multi_head_attention: observe is const"
  // expect-clang: attention.*observe.*is_const
  // cause: `observe` writes to its memory, but this one is const.
  // cure: Remove the const.
  const tensor<float, batch<2>, heads<5>, query<4>, key<6>> weights{};
  auto out = attend(x, y, y, observe(weights));
#elif defined CASE_observed_is_broadcast
  // expect-gcc: "umbel: multi_head_attention: several elements of observe share one memory location \(broadcast or windows\)"
  // expect-clang: multi_head_attention.*several_elements_of.*observe.*share_one_memory_location
  // cause: An axis was made by `broadcast`, so all its positions are one place in memory.
  // cure: Pass a tensor, or a view without broadcast axes.
  tensor<float, heads<5>, query<4>, key<6>> weights{};
  auto out = attend(x, y, y, observe(weights | broadcast<batch<2>, heads<5>, query<4>, key<6>>));
#elif defined CASE_observed_temporary
  // expect-gcc: "umbel: observe: the memory is a temporary; store it in a variable"
  // expect-clang: observe.*the_memory_is_a_temporary_so_store_it_in_a_variable
  // cause: The weights would be lost at the end of the statement.
  // cure: Declare a tensor and pass it.
  auto out = attend(x, y, y, observe(tensor<float, batch<2>, heads<5>, query<4>, key<6>>{}));
#elif defined CASE_observed_twice
  // expect-gcc: "umbel: multi_head_attention: observe is given twice"
  // expect-clang: attention.*observe.*is_given_twice
  // cause: One call can observe only one stage.
  // cure: Call once for each stage, or keep only one.
  tensor<float, batch<2>, heads<5>, query<4>, key<6>> weights{};
  auto out = attend(x, y, y, observe(weights) & observe(weights));
#elif defined CASE_dropout_twice
  // expect-gcc: "umbel: multi_head_attention: dropout is given twice"
  // expect-clang: attention.*dropout.*is_given_twice
  // cause: A call can drop weights only once.
  // cure: Leave one out; the rate of both together is 1 - (1 - p)(1 - q).
  auto out = attend(x, y, y, dropout(0.1, 7) & lens & dropout(0.2, 8));
#elif defined CASE_rows_left_out_of_a_mean
  // expect-gcc: "umbel: multi_head_attention: valid_rows is for multi_head_attention, encoder_layer, decoder_layer and residual_block, outside of formulas, caches and calibrate, without empty_rows<uniform_weights>; pass the lengths alone"
  // expect-clang: attention.*valid_rows_is_for_multi_head_attention_and_blocks_so_pass_lengths
  // cause: This call can't leave out rows: the layer has no code for it, or a query without keys needs the mean of all values.
  // cure: Pass `lens` instead of `valid_rows(lens)`. The first rows of the result are the same.
  const multi_head_attention<float, hidden<100>, heads<5>, empty_rows<uniform_weights>>::weights
      w{};
  auto out = multi_head_attention<float, hidden<100>, heads<5>, empty_rows<uniform_weights>>{w}(
      t, valid_rows(3));
#elif defined CASE_rows_left_out_by_query
  // expect-gcc: "umbel: multi_head_attention: valid_rows needs one length per sequence, which cannot have the axis query=4"
  // expect-clang: attention.*valid_rows.*needs_one_length_per_sequence.*which_cannot_have_the_axis.*query<4>
  // cause: A call leaves out rows of a sequence for all heads and queries.
  // cure: Pass an integer or `tensor<int, batch<2>>`. Lengths for each query are a mask on their own.
  auto out = attend(x, y, y, valid_rows(tensor<int, batch<2>, query<4>>{}));
#elif defined CASE_rows_left_out_of_another_batch
  // expect-gcc: "umbel: multi_head_attention: valid_rows have batch=3 but the scores have \[batch=2, heads=5, query=4, key=6\]"
  // expect-clang: attention.*valid_rows.*have.*batch<3>.*but_the_scores_have.*batch<2>
  // cause: The number of lengths is not the number of sequences in the batch.
  // cure: Pass one length for each sequence of the batch, or one integer for all.
  auto out = attend(x, y, y, valid_rows(tensor<int, batch<3>>{}));
#elif defined CASE_rows_left_out_by_float
  // expect-gcc: "umbel: multi_head_attention: valid_rows needs integers but these have type float"
  // expect-clang: attention.*valid_rows.*needs_integers_but_these_have_type.*element<float>
  // cause: Lengths count rows, but this tensor does not hold integers.
  // cure: Pass `tensor<int, batch<2>>`.
  auto out = attend(x, y, y, valid_rows(tensor<float, batch<2>>{}));
#elif defined CASE_rows_left_out_by_a_fraction
  // expect-gcc: "umbel: valid_rows: expects an integer or a tensor of integers, but argument 1 is double"
  // expect-clang: valid_rows.*expects_an_integer_or_a_tensor_of_integers
  // cause: The argument must be the number of rows, but is a fraction, an array or not a number.
  // cure: Pass an integer, or a tensor with one integer for each sequence; to pass an array, write `view_as<batch<2>>(array)`.
  auto out = attend(t, valid_rows(2.5));
#elif defined CASE_rows_left_out_and_observed
  // expect-gcc: "umbel: multi_head_attention: valid_rows leaves out rows that observe writes; pass the lengths alone"
  // expect-clang: attention.*valid_rows_leaves_out_rows_that_observe_writes_so_pass_lengths
  // cause: `observe` writes the weights of all queries, and `valid_rows` computes only some.
  // cure: Pass `lens` instead of `valid_rows(lens)` in the call that observes.
  tensor<float, batch<2>, heads<5>, query<4>, key<6>> weights{};
  auto out = attend(x, y, y, valid_rows(lens) & observe(weights));
#elif defined CASE_rows_left_out_twice
  // expect-gcc: "umbel: multi_head_attention: valid_rows is given twice"
  // expect-clang: attention.*valid_rows.*is_given_twice
  // cause: A sequence has one number of rows.
  // cure: Keep one; `valid_rows(n) & lens` has n rows, of which queries see the first lens.
  auto out = attend(t, valid_rows(3) & valid_rows(4));
#elif defined CASE_two_tensors_of_bool
  // expect-gcc: "umbel: multi_head_attention: a bool mask is ambiguous; write keep_mask\(mask\) if true keeps a key, drop_mask\(mask\) if true drops it"
  // expect-clang: attention.*a_bool_mask_is_ambiguous_so_write_keep_mask_or_drop_mask_for_what_true_does
  // cause: In some frameworks true means "attend", in others "do not attend", and a bare bool tensor does not tell.
  // cure: Write `keep_mask(m)` if true attends (Haiku, ONNX), `drop_mask(m)` if it does not (PyTorch's layers).
  auto out = attend(x, y, y, tensor<bool, key<6>>{} & tensor<bool, query<4>>{});
#elif defined CASE_keep_mask_of_a_number
  // expect-gcc: "umbel: keep_mask: expects one tensor or view, but argument 1 is int"
  // expect-clang: keep_mask.*expects_one_tensor_or_view
  // cause: The argument is not a tensor or view, or there are several.
  // cure: Pass one tensor or view; for memory write `view_as<query<4>, hidden<8>>(memory)`.
  auto out = attend(x, y, y, keep_mask(3));
#elif defined CASE_score_bias_of_a_number
  // expect-gcc: "umbel: score_bias: expects a tensor or view, or a function object, but argument 1 is float"
  // expect-clang: score_bias.*expects_a_tensor_or_view_or_a_function_object
  // cause: The argument is neither a tensor or view, nor an object that can be called with batch, head, query and key.
  // cure: Pass one of these, `score_bias([](auto...) { return 0.5f; })`; put a function into a lambda.
  auto out = attend(x, y, y, score_bias(0.5f));
#elif defined CASE_masks_by_logical_and
  // expect-gcc: "umbel: mask: masks combine only with masks, by & or \+; write lens & causal or keep_mask\(m\) & score_bias\(b\)"
  // expect-clang: mask.*masks_combine_only_with_masks_by_and_or_plus
  // cause: The operator has no meaning for masks, or one side is a number. A key is visible only if all combined masks keep it.
  // cure: Combine masks with `&` or `+`; the opposite of `keep_mask(m)` is `drop_mask(m)`; a length is an integer, `3 & causal`; to add numbers to the scores, pass `score_bias(b)`.
  auto out = attend(x, y, y, causal_top_left && alibi_top_left);
#elif defined CASE_masks_by_or
  // expect-gcc: "umbel: mask: masks combine only with masks, by & or \+; write lens & causal or keep_mask\(m\) & score_bias\(b\)"
  // expect-clang: mask.*masks_combine_only_with_masks_by_and_or_plus
  // cause: The operator has no meaning for masks, or one side is a number. A key is visible only if all combined masks keep it.
  // cure: Combine masks with `&` or `+`; the opposite of `keep_mask(m)` is `drop_mask(m)`; a length is an integer, `3 & causal`; to add numbers to the scores, pass `score_bias(b)`.
  auto out = attend(x, y, y, causal_top_left | tensor<int, batch<2>>{});
#elif defined CASE_not_a_mask
  // expect-gcc: "umbel: mask: masks combine only with masks, by & or \+; write lens & causal or keep_mask\(m\) & score_bias\(b\)"
  // expect-clang: mask.*masks_combine_only_with_masks_by_and_or_plus
  // cause: The operator has no meaning for masks, or one side is a number. A key is visible only if all combined masks keep it.
  // cure: Combine masks with `&` or `+`; the opposite of `keep_mask(m)` is `drop_mask(m)`; a length is an integer, `3 & causal`; to add numbers to the scores, pass `score_bias(b)`.
  auto out = attend(x, y, y, !keep_mask(tensor<bool, key<6>>{}));
#elif defined CASE_mask_plus_a_number
  // expect-gcc: "umbel: mask: masks combine only with masks, by & or \+; write lens & causal or keep_mask\(m\) & score_bias\(b\)"
  // expect-clang: mask.*masks_combine_only_with_masks_by_and_or_plus
  // cause: The operator has no meaning for masks, or one side is a number. A key is visible only if all combined masks keep it.
  // cure: Combine masks with `&` or `+`; the opposite of `keep_mask(m)` is `drop_mask(m)`; a length is an integer, `3 & causal`; to add numbers to the scores, pass `score_bias(b)`.
  auto out = attend(x, y, y, keep_mask(tensor<bool, key<6>>{}) + 1);
#elif defined CASE_mask_and_a_fraction
  // expect-gcc: "umbel: mask: masks combine only with masks, by & or \+; write lens & causal or keep_mask\(m\) & score_bias\(b\)"
  // expect-clang: mask.*masks_combine_only_with_masks_by_and_or_plus
  // cause: The operator has no meaning for masks, or one side is a number. A key is visible only if all combined masks keep it.
  // cure: Combine masks with `&` or `+`; the opposite of `keep_mask(m)` is `drop_mask(m)`; a length is an integer, `3 & causal`; to add numbers to the scores, pass `score_bias(b)`.
  auto out = attend(x, y, y, causal_top_left & 3.0F);
#elif defined CASE_mask_and_a_vector_of_bool
  // expect-gcc: "umbel: mask: masks combine only with masks, by & or \+; write lens & causal or keep_mask\(m\) & score_bias\(b\)"
  // expect-clang: mask.*masks_combine_only_with_masks_by_and_or_plus
  // cause: The operator has no meaning for masks, or one side is a number. A key is visible only if all combined masks keep it.
  // cure: Combine masks with `&` or `+`; the opposite of `keep_mask(m)` is `drop_mask(m)`; a length is an integer, `3 & causal`; to add numbers to the scores, pass `score_bias(b)`.
  auto out = attend(x, y, y, causal_top_left & std::vector<bool>(6));
#elif defined CASE_mask_minus_a_mask
  // expect-gcc: "umbel: mask: masks combine only with masks, by & or \+; write lens & causal or keep_mask\(m\) & score_bias\(b\)"
  // expect-clang: mask.*masks_combine_only_with_masks_by_and_or_plus
  // cause: The operator has no meaning for masks, or one side is a number. A key is visible only if all combined masks keep it.
  // cure: Combine masks with `&` or `+`; the opposite of `keep_mask(m)` is `drop_mask(m)`; a length is an integer, `3 & causal`; to add numbers to the scores, pass `score_bias(b)`.
  auto out = attend(x, y, y, alibi_top_left - causal_top_left);
#elif defined CASE_masks_by_exclusive_or
  // expect-gcc: "umbel: mask: masks combine only with masks, by & or \+; write lens & causal or keep_mask\(m\) & score_bias\(b\)"
  // expect-clang: mask.*masks_combine_only_with_masks_by_and_or_plus
  // cause: The operator has no meaning for masks, or one side is a number. A key is visible only if all combined masks keep it.
  // cure: Combine masks with `&` or `+`; the opposite of `keep_mask(m)` is `drop_mask(m)`; a length is an integer, `3 & causal`; to add numbers to the scores, pass `score_bias(b)`.
  auto out = attend(x, y, y, causal_top_left ^ tensor<int, batch<2>>{});
#elif defined CASE_mask_complemented
  // expect-gcc: "umbel: mask: masks combine only with masks, by & or \+; write lens & causal or keep_mask\(m\) & score_bias\(b\)"
  // expect-clang: mask.*masks_combine_only_with_masks_by_and_or_plus
  // cause: The operator has no meaning for masks, or one side is a number. A key is visible only if all combined masks keep it.
  // cure: Combine masks with `&` or `+`; the opposite of `keep_mask(m)` is `drop_mask(m)`; a length is an integer, `3 & causal`; to add numbers to the scores, pass `score_bias(b)`.
  auto out = attend(x, y, y, ~keep_mask(tensor<bool, key<6>>{}));
#elif defined CASE_mask_by_position_called
  // expect-gcc: "umbel: mask: causal, sliding_window<4> and alibi are values; do not call them, but write lens & causal, causal_at\(p\) or causal_bottom_right\(lens\)"
  // expect-clang: mask, .*masks_by_position_are_values_so_do_not_call_them_but_write_lens_and_causal>
  // cause: A mask by position is an object, which is passed as it is.
  // cure: Write it without parentheses; combine it with others by `&`; to set the position of the queries, write `causal_at(p)` or `causal_bottom_right(lens)`, and likewise for `sliding_window` and `alibi`.
  auto out = attend(x, y, y, causal_top_left());
#elif defined CASE_window_of_lengths
  // expect-gcc: "umbel: mask: causal, sliding_window<4> and alibi are values; do not call them, but write lens & causal, causal_at\(p\) or causal_bottom_right\(lens\)"
  // expect-clang: mask, .*masks_by_position_are_values_so_do_not_call_them_but_write_lens_and_causal>
  // cause: A mask by position is an object, which is passed as it is.
  // cure: Write it without parentheses; combine it with others by `&`; to set the position of the queries, write `causal_at(p)` or `causal_bottom_right(lens)`, and likewise for `sliding_window` and `alibi`.
  auto out = attend(x, y, y, sliding_window<4>(tensor<int, batch<2>>{}));
#elif defined CASE_alibi_bottom_right_of_lengths
  // expect-gcc: "umbel: mask: causal, sliding_window<4> and alibi are values; do not call them, but write lens & causal, causal_at\(p\) or causal_bottom_right\(lens\)"
  // expect-clang: mask, .*masks_by_position_are_values_so_do_not_call_them_but_write_lens_and_causal>
  // cause: A mask by position is an object, which is passed as it is.
  // cure: Write it without parentheses; combine it with others by `&`; to set the position of the queries, write `causal_at(p)` or `causal_bottom_right(lens)`, and likewise for `sliding_window` and `alibi`.
  auto out = attend(x, y, y, alibi_bottom_right(lens));
#elif defined CASE_keep_mask_of_two
  // expect-gcc: "umbel: keep_mask: expects one tensor or view"
  // expect-clang: keep_mask, .*expects_one_tensor_or_view
  // cause: A mask is made from one tensor or view.
  // cure: Combine two masks with `&`: `keep_mask(a) & keep_mask(b)`.
  auto out = attend(x, y, y, keep_mask(tensor<bool, key<6>>{}, tensor<bool, query<4>>{}));
#elif defined CASE_drop_mask_of_none
  // expect-gcc: "umbel: drop_mask: expects one tensor or view"
  // expect-clang: drop_mask, .*expects_one_tensor_or_view
  // cause: A mask is made from one tensor or view.
  // cure: Combine two masks with `&`: `keep_mask(a) & keep_mask(b)`.
  auto out = attend(x, y, y, drop_mask());
#elif defined CASE_score_bias_of_two
  // expect-gcc: "umbel: score_bias: expects a tensor or view, or a function object"
  // expect-clang: score_bias, .*expects_a_tensor_or_view_or_a_function_object
  // cause: A mask is made from one tensor or view.
  // cure: Combine two masks with `&`: `keep_mask(a) & keep_mask(b)`.
  auto out = attend(x, y, y, score_bias(tensor<float, key<6>>{}, tensor<float, query<4>>{}));
#elif defined CASE_causal_at_two
  // expect-gcc: "umbel: causal_at: expects an integer or a tensor of integers"
  // expect-clang: causal_at, .*expects_an_integer_or_a_tensor_of_integers
  // cause: The argument must be the position of the first query, but is a fraction, an array or not a number.
  // cure: Pass a number of keys, or a tensor with one number for each sequence; to pass an array, write `view_as<batch<2>>(array)`.
  auto out = attend(x, y, y, causal_at(2, 3));
#elif defined CASE_mask_and_assigned
  // expect-gcc: "umbel: mask: masks are immutable; write auto both = a & b"
  // expect-clang: mask, .*masks_are_immutable_so_write_auto_both>
  // cause: A combined mask has its own type, so that the kernel knows all its parts.
  // cure: Declare a new variable, `auto both = lens & causal;`.
  auto mask = causal_top_left;
  mask &= tensor<int, batch<2>>{};
#elif defined CASE_mask_and_a_refused_tensor
  // expect-gcc: "umbel: permute: there is no axis heads in \[batch=2\]"
  // expect-clang: permute, .*there_is_no_axis, .*heads>, .*batch<2>
  // cause: The tensor has no such axis.
  // cure: Name an axis of the tensor.
  auto out = attend(x, y, y, (tensor<int, batch<2>>{} | permute<heads>)&causal_top_left);
#elif defined CASE_float_mask_of_a_sequence
  // expect-gcc: "umbel: multi_head_attention: valid_lens must be integers but have type float; pass numbers to add to the scores as score_bias"
  // expect-clang: attention.*valid_lens.*must_be_integers_but_have_type.*element<float>.*score_bias
  // cause: A bare tensor is a list of lengths, which count keys; this one does not hold integers.
  // cure: Pass `tensor<int, batch<2>>`, the number of keys to attend to in each sequence; to add numbers to the scores, pass `score_bias(mask)`.
  auto out = attend(x, tensor<float, query<4>, key<4>>{});
#elif defined CASE_one_error_of_a_mask
  // expect-gcc: "umbel: softmax: there is no axis head_dim in \[batch=2, query=4, hidden=100\]"
  // expect-clang: softmax.*there_is_no_axis.*head_dim>
  // cause: The axis to normalize is not an axis of the tensor.
  // cure: Use an axis in the brackets, for scores usually key.
  auto r = softmax<head_dim>(x);
  auto out = attend(x, y, y, keep_mask(r) & score_bias(r) & observe(r));
#elif defined CASE_dropout_swapped
  // expect-gcc: "umbel: dropout: expects the rate, a fraction, then the seed, an integer, as in dropout\(0\.1, 42\)"
  // expect-clang: dropout, .*expects_the_rate_then_the_seed
  // cause: Rate and seed are swapped, or one is missing.
  // cure: Write `dropout(0.1, 42)`, with the rate first.
  auto out = attend(x, dropout(42, 0.1));

#elif defined CASE_dropout_without_a_seed
  // expect-gcc: "umbel: dropout: expects the rate, a fraction, then the seed, an integer, as in dropout\(0\.1, 42\)"
  // expect-clang: dropout, .*expects_the_rate_then_the_seed
  // cause: Rate and seed are swapped, or one is missing.
  // cure: Write `dropout(0.1, 42)`, with the rate first.
  auto out = attend(x, dropout(0.1));

#elif defined CASE_mask_in_place_of_the_queries
  // expect-gcc: "umbel: multi_head_attention: expects a sequence, or queries, keys and values; then a mask such as lengths, causal or all_keys; then a workspace or parallel\(\.\.\.\), but argument 1 is position_mask"
  // expect-clang: attention.*expects_a_sequence_or_queries.*but_argument, .*number<1>, .*is, .*position_mask
  // cause: The arguments are in a different order.
  // cure: Pass the sequence first: `attend(x, causal)`, `attend(x, y, y, causal)`.
  auto out = attend(alibi_bottom_right, y, y);
#elif defined CASE_tensor_in_place_of_a_workspace
  // expect-gcc: "umbel: multi_head_attention: expects a sequence, or queries, keys and values; then a mask such as lengths, causal or all_keys; then a workspace or parallel\(\.\.\.\), but argument 5 is tensor"
  // expect-clang: attention.*expects_a_sequence_or_queries.*but_argument, .*number<5>, .*is, .*given<.*tensor
  // cause: After the mask there is only a workspace.
  // cure: Pass `attention::workspace<query<4>, key<6>>`, or nothing.
  auto out = attend(x, y, y, all_keys, x);
#else
  auto one = attend(x, y, y, keep_mask(tensor<bool, query<4>, key<6>>{}));
  auto two = attend(x, y, y, causal_bottom_right(lens) & sliding_window_at<3>(2) & alibi_top_left);
  auto seven = attend(
      x, y, y, lens & causal_at(lens) & sliding_window_bottom_right<3>(lens) & alibi_at(lens));
  auto three = attend(t, causal + score_bias(tensor<float, heads<5>, query<9>, key<9>>{}));
  auto four = attend(t, all_keys & drop_mask(tensor<bool, key<9>>{}));
  tensor<float, heads<5>, key<6>, query<4>, batch<2>> weights{};
  auto six = attend(x, y, y, lens & observe(weights) & dropout(0.1, 7));
  auto eight = attend(x, y, y, valid_rows(lens) & lens & causal_at(2));
  auto five = attend(x, y, y, tensor<int, batch<2>, heads<1>, query<4>>{});
#endif
}
