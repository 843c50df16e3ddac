// SPDX-License-Identifier: BSL-1.0
// Mistakes in calls of multi-head attention, its masks, workspaces and weights: one case each, with the
// words that the compiler must print (check.py).
#include <umbel/umbel.hpp>

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
  // expect-gcc: "umbel: attention: hidden=100 into heads=7 leaves a remainder of 2"
  // expect-clang: attention.*hidden<100>.*into.*heads<7>.*leaves_a_remainder_of.*number<2>
  multi_head_attention<float, hidden<100>, heads<7>>::weights uneven;
#elif defined CASE_no_heads
  // expect-gcc: "umbel: shape: heads=0 has no positions in \[heads=0\]"
  // expect-clang: shape.*heads<0>.*has_no_positions_in.*heads<0>
  multi_head_attention<float, hidden<100>, heads<0>>::weights none;
#elif defined CASE_unknown_option
  // expect-gcc: "umbel: attention: norm_first is not an option of this layer"
  // expect-clang: attention.*norm_first<true>.*is_not_an_option_of_this_layer
  multi_head_attention<float, hidden<100>, heads<5>, norm_first<true>>::weights odd;
#elif defined CASE_option_that_is_none
  // expect-gcc: "umbel: attention: hidden=100 is not an option of this layer"
  // expect-clang: attention.*hidden<100>.*is_not_an_option_of_this_layer
  multi_head_attention<float, hidden<100>, heads<5>, hidden<100>>::weights odd;
#elif defined CASE_option_twice
  // expect-gcc: "umbel: attention: bias is given twice"
  // expect-clang: attention.*bias<true>.*is_given_twice
  multi_head_attention<float, hidden<100>, heads<5>, bias<true>, bias<false>>::weights odd;
#elif defined CASE_queries_and_keys_swapped
  // expect-gcc: "umbel: attention: the queries in argument 1 need the axis query but have \[batch=2, key=6, hidden=100\]"
  // expect-clang: attention.*the_queries_in_argument_1.*need_the_axis.*query>.*but_have.*batch<2>.*key<6>.*hidden<100>
  auto out = attend(y, x, x);
#elif defined CASE_queries_as_keys
  // expect-gcc: "umbel: attention: the keys in argument 2 need the axis key but have \[batch=2, query=4, hidden=100\]"
  // expect-clang: attention.*the_keys_in_argument_2.*need_the_axis.*key>.*but_have.*batch<2>.*query<4>.*hidden<100>
  auto out = attend(x, x, x);
#elif defined CASE_keys_without_hidden
  // expect-gcc: "umbel: attention: the keys in argument 2 need the axis hidden but have \[batch=2, key=6, token=100\]"
  // expect-clang: attention.*the_keys_in_argument_2.*need_the_axis.*hidden>.*but_have.*batch<2>.*key<6>.*token<100>
  auto out = attend(x, tensor<float, batch<2>, key<6>, token<100>>{}, y);
#elif defined CASE_an_axis_too_many
  // expect-gcc: "umbel: attention: the values in argument 3 take only the axes batch key and hidden but have \[batch=2, key=6, heads=1, hidden=100\]"
  // expect-clang: attention.*the_values_in_argument_3.*take_only_the_axes.*batch>.*key>.*and_.*hidden>.*but_have.*batch<2>.*key<6>.*heads<1>.*hidden<100>
  auto out = attend(x, y, tensor<float, batch<2>, key<6>, heads<1>, hidden<100>>{});
#elif defined CASE_another_batch
  // expect-gcc: "umbel: attention: the queries have batch=2 but the keys have batch=3"
  // expect-clang: attention.*the_queries.*have.*batch<2>.*but_the_keys.*have.*batch<3>
  tensor<float, batch<3>, key<6>, hidden<100>> three{};
  auto out = attend(x, three, three);
#elif defined CASE_keys_without_batch
  // expect-gcc: "umbel: attention: the queries have batch=2 but the keys have no batch"
  // expect-clang: attention.*the_queries.*have.*batch<2>.*but_the_keys.*have_no.*batch>
  tensor<float, key<6>, hidden<100>> one{};
  auto out = attend(x, one, one);
#elif defined CASE_values_of_another_batch
  // expect-gcc: "umbel: attention: the keys have batch=2 but the values have batch=3"
  // expect-clang: attention.*the_keys.*have.*batch<2>.*but_the_values.*have.*batch<3>
  auto out = attend(x, y, tensor<float, batch<3>, key<6>, hidden<100>>{});
#elif defined CASE_keys_and_values_of_different_lengths
  // expect-gcc: "umbel: attention: the keys have key=6 but the values have key=7"
  // expect-clang: attention.*the_keys.*have.*key<6>.*but_the_values.*have.*key<7>
  auto out = attend(x, y, tensor<float, batch<2>, key<7>, hidden<100>>{});
#elif defined CASE_hidden_width
  // expect-gcc: "umbel: attention: the keys in argument 2 have hidden=80 but the layer has hidden=100"
  // expect-clang: attention.*the_keys_in_argument_2.*have.*hidden<80>.*but_the_layer_has.*hidden<100>
  tensor<float, batch<2>, key<6>, hidden<80>> narrow{};
  auto out = attend(x, narrow, narrow);
#elif defined CASE_hidden_width_of_packed
  // expect-gcc: "umbel: attention: the queries in argument 1 have hidden=80 but the layer has hidden=100"
  // expect-clang: attention.*the_queries_in_argument_1.*have.*hidden<80>.*but_the_layer_has.*hidden<100>
  auto out = packed(tensor<float, batch<2>, query<4>, hidden<80>>{}, y, y);
#elif defined CASE_double_into_float
  // expect-gcc: "umbel: attention: the values in argument 3 are of type double but the layer is of type float"
  // expect-clang: attention.*the_values_in_argument_3.*are_of_type.*element<double>.*but_the_layer_is_of_type.*element<float>
  auto out = attend(x, y, tensor<double, batch<2>, key<6>, hidden<100>>{});
#elif defined CASE_self_double_into_float
  // expect-gcc: "umbel: attention: the sequence is of type double but the layer is of type float"
  // expect-clang: attention.*the_sequence.*is_of_type.*element<double>.*but_the_layer_is_of_type.*element<float>
  auto out = attend(tensor<double, batch<2>, token<4>, hidden<100>>{});
#elif defined CASE_values_forgotten
  // expect-gcc: "umbel: attention: two sequences need values too so pass queries and keys and values"
  // expect-clang: attention.*two_sequences_need_values_too_so_pass_queries_and_keys_and_values
  auto out = attend(x, y);
#elif defined CASE_values_forgotten_lengths_given
  // expect-gcc: "umbel: attention: the values in argument 3 need the axis key but have \[batch=2\]"
  // expect-clang: attention.*the_values_in_argument_3.*need_the_axis.*key>.*but_have.*batch<2>
  auto out = attend(x, y, lens);
#elif defined CASE_self_of_two_sequences
  // expect-gcc: "umbel: attention: the sequence has one axis of positions besides batch and hidden not \[query=4, key=6, hidden=100\]"
  // expect-clang: attention.*the_sequence.*has_one_axis_of_positions_besides_batch_and.*hidden>.*not_.*query<4>.*key<6>.*hidden<100>
  auto out = attend(tensor<float, query<4>, key<6>, hidden<100>>{});
#elif defined CASE_self_of_no_sequence
  // expect-gcc: "umbel: attention: the sequence has one axis of positions besides batch and hidden not \[batch=2, hidden=100\]"
  // expect-clang: attention.*the_sequence.*has_one_axis_of_positions_besides_batch_and.*hidden>.*not_.*batch<2>.*hidden<100>
  auto out = attend(tensor<float, batch<2>, hidden<100>>{});
#elif defined CASE_self_hidden_width
  // expect-gcc: "umbel: attention: the sequence has hidden=99 but the layer has hidden=100"
  // expect-clang: attention.*the_sequence.*has.*hidden<99>.*but_the_layer_has.*hidden<100>
  auto out = attend(tensor<float, batch<2>, token<4>, hidden<99>>{});
#elif defined CASE_lengths_of_float
  // expect-gcc: "umbel: attention: valid_lens must be integers but are of type float"
  // expect-clang: attention.*valid_lens.*must_be_integers_but_are_of_type.*element<float>
  auto out = attend(x, y, y, tensor<float, batch<2>>{});
#elif defined CASE_lengths_of_bool
  // expect-gcc: "umbel: attention: valid_lens must be integers but are of type bool"
  // expect-clang: attention.*valid_lens.*must_be_integers_but_are_of_type.*element<bool>
  auto out = attend(x, y, y, tensor<bool, batch<2>>{});
#elif defined CASE_lengths_of_another_batch
  // expect-gcc: "umbel: attention: valid_lens have batch=3 but the queries have batch=2"
  // expect-clang: attention.*valid_lens.*have.*batch<3>.*but_the_queries.*have.*batch<2>
  auto out = attend(x, y, y, tensor<int, batch<3>>{});
#elif defined CASE_lengths_along_another_axis
  // expect-gcc: "umbel: attention: valid_lens take only the axis batch but have \[key=6\]"
  // expect-clang: attention.*valid_lens.*take_only_the_axis.*batch>.*but_have.*key<6>
  auto out = attend(x, y, y, tensor<int, key<6>>{});
#elif defined CASE_lengths_for_each_query
  // expect-gcc: "umbel: attention: valid_lens take only the axis batch but have \[batch=2, query=4\]"
  // expect-clang: attention.*valid_lens.*take_only_the_axis.*batch>.*but_have.*batch<2>.*query<4>
  auto out = attend(x, y, y, tensor<int, batch<2>, query<4>>{});
#elif defined CASE_lengths_without_batch
  // expect-gcc: "umbel: attention: valid_lens have batch=2 but the sequences have no batch"
  // expect-clang: attention.*valid_lens.*have.*batch<2>.*but_the_sequences.*have_no.*batch>
  auto out = attend(tensor<float, token<4>, hidden<100>>{}, lens);
#elif defined CASE_lengths_as_a_number
  // expect-gcc: "umbel: attention: takes a sequence, or queries, keys and values; then valid_lens or all_keys; then a workspace"
  // expect-clang: attention.*takes_a_sequence_or_queries_and_keys_and_values_then_valid_lens_then_a_workspace
  auto out = attend(x, y, y, 3);
#elif defined CASE_workspace_of_other_shapes
  // expect-gcc: "umbel: attention: the workspace is of another layer or of other sizes so pass one for \[query=4, key=6\]"
  // expect-clang: attention.*the_workspace_is_of_another_layer_or_of_other_sizes_so_pass_one_for.*query<4>.*key<6>
  attention::workspace<query<4>> other;
  auto out = attend(x, y, y, all_keys, other);
#elif defined CASE_workspace_of_another_layer
  // expect-gcc: "umbel: attention: the workspace is of another layer or of other sizes so pass one for \[query=4, key=6\]"
  // expect-clang: attention.*the_workspace_is_of_another_layer_or_of_other_sizes_so_pass_one_for.*query<4>.*key<6>
  multi_head_attention<float, hidden<80>, heads<5>>::workspace<query<4>, key<6>> other;
  auto out = attend(x, y, y, all_keys, other);
#elif defined CASE_workspace_is_const
  // expect-gcc: "umbel: attention: the workspace is const"
  // expect-clang: attention.*the_workspace_is_const
  static const attention::workspace<query<4>, key<6>> work{};
  auto out = attend(x, y, y, all_keys, work);
#elif defined CASE_workspace_without_lengths
  // expect-gcc: "umbel: attention: takes a sequence, or queries, keys and values; then valid_lens or all_keys; then a workspace"
  // expect-clang: attention.*takes_a_sequence_or_queries_and_keys_and_values_then_valid_lens_then_a_workspace
  static attention::workspace<query<4>, key<6>> work;
  auto out = attend(x, y, y, work);
#elif defined CASE_stack_budget
  // expect-gcc: "umbel: attention: needs a workspace of 1125376 bytes but the stack budget is 65536 bytes so pass one for \[token=600\]"
  // expect-clang: attention.*needs_a_workspace_of.*number<1125376>.*bytes.*but_the_stack_budget_is.*number<65536>.*bytes_so_pass_one_for.*token<600>
  auto out = attend(tensor<float, batch<2>, token<600>, hidden<100>>{});
#elif defined CASE_too_many_arguments
  // expect-gcc: "umbel: attention: takes a sequence, or queries, keys and values; then valid_lens or all_keys; then a workspace"
  // expect-clang: attention.*takes_a_sequence_or_queries_and_keys_and_values_then_valid_lens_then_a_workspace
  auto out = attend(x, y, y, y, lens);
#elif defined CASE_out_of_other_axes
  // expect-gcc: "umbel: attention: the result has \[batch=2, query=4, hidden=100\] but out has \[batch=2, key=6, hidden=100\]"
  // expect-clang: attention.*the_result_has.*batch<2>.*query<4>.*hidden<100>.*but_out_has.*batch<2>.*key<6>.*hidden<100>
  context out{};
  attend.into(out, x, y, y);
#elif defined CASE_out_of_another_size
  // expect-gcc: "umbel: attention: the result has \[batch=2, query=4, hidden=100\] but out has \[batch=2, query=5, hidden=100\]"
  // expect-clang: attention.*the_result_has.*batch<2>.*query<4>.*hidden<100>.*but_out_has.*batch<2>.*query<5>.*hidden<100>
  tensor<float, batch<2>, query<5>, hidden<100>> out{};
  attend.into(out, x, y, y, lens);
#elif defined CASE_out_is_double
  // expect-gcc: "umbel: attention: the result is of type float but out is of type double"
  // expect-clang: attention.*the_result_is_of_type.*element<float>.*but_out_is_of_type.*element<double>
  tensor<double, batch<2>, query<4>, hidden<100>> out{};
  attend.into(out, x);
#elif defined CASE_out_is_const
  // expect-gcc: "umbel: attention: out is const"
  // expect-clang: attention.*out_is_const
  const queries out{};
  attend.into(out, x);
#elif defined CASE_temporary_weights
  // expect-gcc: "umbel: attention: the weights are a temporary that would end before the layer so give them a name"
  // expect-clang: attention.*the_weights_are_a_temporary_that_would_end_before_the_layer_so_give_them_a_name
  const attention dangling{attention::weights{}};
#elif defined CASE_temporary_weight
  // expect-gcc: "umbel: project: the weights are a temporary that would end before the layer so give them a name"
  // expect-clang: project.*the_weights_are_a_temporary_that_would_end_before_the_layer_so_give_them_a_name
  const attention::weights_view dangling(linear_weights<float, hidden<100>, hidden<100>, false>{},
                                         w.k, w.v, w.o);
#elif defined CASE_weight_array_of_the_wrong_length
  // expect-gcc: "umbel: memory: \[hidden=100, hidden=100\] wants 10000 elements but the memory holds 9999"
  // expect-clang: memory.*hidden<100>.*hidden<100>.*wants.*number<10000>.*elements_but_the_memory_holds.*number<9999>
  static const float array[9999] = {};
  const linear_view<float, hidden<100>, hidden<100>, false> q(array);
#elif defined CASE_bias_array_of_the_wrong_length
  // expect-gcc: "umbel: memory: \[hidden=100\] wants 100 elements but the memory holds 99"
  // expect-clang: memory.*hidden<100>.*wants.*number<100>.*elements_but_the_memory_holds.*number<99>
  static const float array[10000] = {}, biases[99] = {};
  const linear_view<float, hidden<100>, hidden<100>, true> q(array, biases);
#elif defined CASE_weights_of_another_layer
  // expect-gcc: "umbel: attention: the weights are of another layer or of other options"
  // expect-clang: attention.*the_weights_are_of_another_layer_or_of_other_options
  static multi_head_attention<float, hidden<80>, heads<5>>::weights other;
  const attention wrong{other};
#elif defined CASE_weights_have_a_bias
  // expect-gcc: "umbel: attention: the weights are of another layer or of other options"
  // expect-clang: attention.*the_weights_are_of_another_layer_or_of_other_options
  static multi_head_attention<float, hidden<100>, heads<5>, bias<true>>::weights other;
  const attention wrong{other};
#elif defined CASE_project_width
  // expect-gcc: "umbel: project: the input has hidden=80 but the weight expects hidden=100"
  // expect-clang: project.*the_input_has.*hidden<80>.*but_the_weight_expects.*hidden<100>
  auto out = tensor<float, batch<2>, hidden<80>>{} * w.q;
#elif defined CASE_project_absent_axis
  // expect-gcc: "umbel: project: there is no axis hidden in \[batch=2, token=100\]"
  // expect-clang: project.*there_is_no_axis.*hidden>.*in.*batch<2>.*token<100>
  auto out = tensor<float, batch<2>, token<100>>{} * w.q;
#elif defined CASE_project_type
  // expect-gcc: "umbel: project: the input is of type double but the weight is of type float"
  // expect-clang: project.*the_input_is_of_type.*element<double>.*but_the_weight_is_of_type.*element<float>
  auto out = tensor<double, batch<2>, hidden<100>>{} * w.q;
#elif defined CASE_project_onto_an_axis_that_is_there
  // expect-gcc: "umbel: project: classes is already an axis of \[classes=10, hidden=100\]"
  // expect-clang: project.*classes>.*is_already_an_axis_of.*classes<10>.*hidden<100>
  static linear<float, hidden<100>, classes<10>>::weights map;
  auto out = tensor<float, classes<10>, hidden<100>>{} * map;
#elif defined CASE_mask_absent_axis
  // expect-gcc: "umbel: mask_after: there is no axis token in \[batch=2, query=4, hidden=100\]"
  // expect-clang: mask_after.*there_is_no_axis.*token>.*in.*batch<2>.*query<4>.*hidden<100>
  auto out = mask_after<token>(x, lens);
#elif defined CASE_mask_lengths_of_float
  // expect-gcc: "umbel: mask_after: valid_lens must be integers but are of type float"
  // expect-clang: mask_after.*valid_lens.*must_be_integers_but_are_of_type.*element<float>
  auto out = mask_after<query>(x, tensor<float, batch<2>>{});
#elif defined CASE_mask_scores_without_batch
  // expect-gcc: "umbel: mask_after: valid_lens have batch=2 but the scores have no batch"
  // expect-clang: mask_after.*valid_lens.*have.*batch<2>.*but_the_scores.*have_no.*batch>
  auto out = mask_after<query>(tensor<float, query<4>, key<6>>{}, lens);
#elif defined CASE_mask_another_batch
  // expect-gcc: "umbel: mask_after: valid_lens have batch=3 but the scores have batch=2"
  // expect-clang: mask_after.*valid_lens.*have.*batch<3>.*but_the_scores.*have.*batch<2>
  auto out = mask_after<query>(x, tensor<int, batch<3>>{});
#elif defined CASE_softmax_absent_axis
  // expect-gcc: "umbel: softmax: there is no axis key in \[batch=2, query=4, hidden=100\]"
  // expect-clang: softmax.*there_is_no_axis.*key>.*in.*batch<2>.*query<4>.*hidden<100>
  auto out = softmax<key>(x);
#elif defined CASE_softmax_of_integers
  // expect-gcc: "umbel: softmax: takes float or double not int"
  // expect-clang: softmax.*takes_float_or_double_not.*element<int>
  auto out = softmax<key>(tensor<int, key<6>>{});
#elif defined CASE_one_error_in_a_chain
  // expect-gcc: "umbel: split: hidden=100 into heads=7 leaves a remainder of 2"
  // expect-clang: split.*hidden<100>.*into.*heads<7>.*leaves_a_remainder_of.*number<2>
  auto q = x * w.q | split<hidden, heads<7>, head_dim>;
  auto k = y * w.k | split<hidden, heads<5>, head_dim>;
  auto out = softmax<key>(mask_after<key>(contract<head_dim>(q, k) * 0.5f, lens)) | mean<heads>;
  auto more = attend(out, y, y, lens);
  attend.into(out, more);
#else
  static attention::workspace<query<4>, key<6>> work;
  auto out = attend(x, y, y, lens, work);
  auto self = attend(x, lens) * w.q;
  attend.into(out, x, y, y);
  (void)self;
#endif
}
