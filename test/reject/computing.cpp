// SPDX-License-Identifier: BSL-1.0
// Mistakes in elementwise arithmetic, loops and contractions (check.py).
#include <array>
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using context = tensor<float, batch<2>, key<6>, hidden<100>>;

[[maybe_unused]] static void cases(queries& x, context& y) {
  tensor<float, batch<2>, key<6>, hidden<80>> narrow{};
  tensor<float, batch<3>, key<6>, hidden<100>> third{};
  tensor<double, batch<2>, query<4>, hidden<100>> doubles{};
  (void)x, (void)y, (void)narrow, (void)third, (void)doubles;
#if defined CASE_contract_absent_left
  // expect-gcc: "umbel: contract: the left side \[batch=2, query=4, hidden=100\] has no axis key"
  // expect-clang: contract, .*the_left_side, .*batch<2>, .*query<4>, .*hidden<100>>, .*has_no_axis, .*key>
  // cause: Only the right side has the axis to sum over.
  // cure: Contract over an axis of both sides, or rename the left side's: `x | rename_axis<query, key>`.
  auto r = contract<key>(x, y);
#elif defined CASE_contract_absent_right
  // expect-gcc: "umbel: contract: the right side \[batch=2, key=6, hidden=100\] has no axis query"
  // expect-clang: contract, .*the_right_side, .*batch<2>, .*key<6>, .*hidden<100>>, .*has_no_axis, .*query>
  // cause: Only the left side has the axis to sum over.
  // cure: Contract over an axis of both sides, or rename the right side's: `y | rename_axis<key, query>`.
  auto r = contract<query>(x, y);
#elif defined CASE_contract_absent_both
  // expect-gcc: "umbel: contract: neither \[batch=2, query=4, hidden=100\] nor \[batch=2, key=6, hidden=100\] has an axis head_dim"
  // expect-clang: contract, .*neither, .*query<4>, .*hidden<100>>, .*nor, .*key<6>, .*hidden<100>>, .*has_an_axis, .*head_dim>
  // cause: Neither side has the axis to sum over; a split may be missing.
  // cure: Contract over an axis of both sides, or split it off first.
  auto r = contract<head_dim>(x, y);
#elif defined CASE_contract_sizes
  // expect-gcc: "umbel: contract: the left side has hidden=100 but the right side has hidden=80"
  // expect-clang: contract.*the_left_side_has.*hidden<100>.*but_the_right_side_has.*hidden<80>
  // cause: The axis to sum over has two sizes.
  // cure: Use the same size on both sides; after a split, the same number of heads.
  auto r = contract<hidden>(x, narrow);
#elif defined CASE_contract_another_batch
  // expect-gcc: "umbel: contract: the left side has batch=2 but the right side has batch=3"
  // expect-clang: contract.*the_left_side_has.*batch<2>.*but_the_right_side_has.*batch<3>
  // cause: Both sides have a second axis with the same name, which pairs up, but its sizes differ.
  // cure: Use the same size, or rename one if the two should not pair up.
  auto r = contract<hidden>(x, third);
#elif defined CASE_contract_element_types
  // expect-gcc: "umbel: contract: the left side holds float but the right side holds double"
  // expect-clang: contract, .*the_left_side_holds, .*element<float>, .*but_the_right_side_holds, .*element<double>
  // cause: The sides have different element types, and Umbel converts nothing implicitly.
  // cure: Declare both with one element type.
  auto r = contract<hidden>(y, doubles);
#elif defined CASE_contract_permuted_views
  // expect-gcc: "umbel: contract: the left side has head_dim=20 but the right side has head_dim=25"
  // expect-clang: contract.*the_left_side_has.*head_dim<20>.*but_the_right_side_has.*head_dim<25>
  // cause: The axis to sum over has two sizes.
  // cure: Use the same size on both sides; after a split, the same number of heads.
  auto r = contract<head_dim>(x | split<hidden, heads<5>, head_dim>,
                              y | split<hidden, heads<4>, head_dim>);
#elif defined CASE_contract_second_axis_absent
  // expect-gcc: "umbel: contract: the left side \[batch=2, query=4, hidden=100\] has no axis key"
  // expect-clang: contract, .*the_left_side, .*batch<2>, .*query<4>, .*hidden<100>>, .*has_no_axis, .*key>
  // cause: Only the right side has the axis to sum over.
  // cure: Contract over an axis of both sides, or rename the left side's: `x | rename_axis<query, key>`.
  auto r = contract<hidden, key>(x, y);
#elif defined CASE_contract_axis_twice
  // expect-gcc: "umbel: contract: the axis hidden is named twice in \[hidden=100, hidden=100\]"
  // expect-clang: contract, .*the_axis, .*hidden>, .*is_named_twice_in, .*hidden<100>, .*hidden<100>>
  // cause: An axis can be summed over only once.
  // cure: Name each axis to sum over once: `contract<heads, head_dim>(x, y)`.
  auto r = contract<hidden, hidden>(x, y);
#elif defined CASE_add_other_axes
  // expect-gcc: "umbel: elementwise: \[batch=2, query=4, hidden=100\] and \[batch=2, key=6, hidden=100\] have different axes"
  // expect-clang: elementwise, .*batch<2>, .*query<4>, .*hidden<100>>, .*and_, .*batch<2>, .*key<6>, .*hidden<100>>, .*have_different_axes
  // cause: The tensors are combined element by element, but have different axes or sizes.
  // cure: `broadcast` the smaller one to the axes of the larger one, or rename the axis that differs.
  auto r = x + y;
#elif defined CASE_multiply_other_size
  // expect-gcc: "umbel: elementwise: \[batch=2, key=6, hidden=100\] and \[batch=3, key=6, hidden=100\] have the same axes with different sizes"
  // expect-clang: elementwise, .*batch<2>, .*key<6>, .*hidden<100>>, .*and_, .*batch<3>, .*key<6>, .*hidden<100>>, .*have_the_same_axes_with_different_sizes
  // cause: The tensors are combined element by element, but have different axes or sizes.
  // cure: `broadcast` the smaller one to the axes of the larger one, or rename the axis that differs.
  auto r = y * third;
#elif defined CASE_add_fewer_axes
  // expect-gcc: "umbel: elementwise: \[batch=2, query=4, hidden=100\] and \[batch=2, hidden=100\] have different axes; to repeat one along the others, write x \| broadcast<\.\.\.>"
  // expect-clang: elementwise, .*batch<2>, .*query<4>, .*hidden<100>>, .*and_, .*batch<2>, .*hidden<100>>, .*have_different_axes_so_broadcast_one
  // cause: The tensors are combined element by element, but have different axes or sizes.
  // cure: `broadcast` the smaller one to the axes of the larger one, or rename the axis that differs.
  auto r = x - (x | select_at<query, 0>);
#elif defined CASE_add_another_order
  // expect-gcc: "umbel: elementwise: \[batch=2, query=4, hidden=100\] and \[query=4, batch=2, hidden=100\] have the same axes in a different order; permute one"
  // expect-clang: elementwise, .*batch<2>, .*query<4>, .*hidden<100>>, .*and_, .*query<4>, .*batch<2>, .*hidden<100>>, .*have_the_same_axes_in_a_different_order_so_permute_one
  // cause: The axes are the same but in a different order, and elements pair up by position.
  // cure: Permute one side into the order of the other.
  auto r = x + (x | permute<query, batch, hidden>);
#elif defined CASE_add_element_types
  // expect-gcc: "umbel: elementwise: the left side holds float but the right side holds double"
  // expect-clang: elementwise, .*the_left_side_holds, .*element<float>, .*but_the_right_side_holds, .*element<double>
  // cause: The sides have different element types, and Umbel converts nothing implicitly.
  // cure: Declare both with one element type.
  auto r = x + doubles;
#elif defined CASE_for_each_other_axes
  // expect-gcc: "umbel: elementwise: \[batch=2, query=4, hidden=100\] and \[batch=2, key=6, hidden=100\] have different axes"
  // expect-clang: elementwise, .*batch<2>, .*query<4>, .*hidden<100>>, .*and_, .*batch<2>, .*key<6>, .*hidden<100>>, .*have_different_axes
  // cause: The tensors are combined element by element, but have different axes or sizes.
  // cure: `broadcast` the smaller one to the axes of the larger one, or rename the axis that differs.
  for_each([](float&, float, float) {}, x, x, y);
#elif defined CASE_scores_from_swapped_arguments
  // expect-gcc: "umbel: copy: \[batch=2, query=4, key=6\] and \[batch=2, key=6, query=4\] have the same axes in a different order; permute one"
  // expect-clang: copy, .*batch<2>, .*query<4>, .*key<6>>, .*and_, .*batch<2>, .*key<6>, .*query<4>>, .*have_the_same_axes_in_a_different_order_so_permute_one
  // cause: The arguments of `contract` are swapped: its result has the axes of the left side first.
  // cure: Swap them back, `contract<hidden>(queries, keys)`, or permute the result.
  tensor<float, batch<2>, query<4>, key<6>> scores = contract<hidden>(y, x);
#elif defined CASE_array_into_a_pipe
  // expect-gcc: "umbel: permute: expects one tensor or view, but argument 1 is float \[8\]"
  // expect-clang: permute.*expects_one_tensor_or_view
  // cause: The argument is not a tensor or view, or there are several.
  // cure: Pass one tensor or view; for memory write `view_as<query<4>, hidden<8>>(memory)`.
  float memory[8] = {};
  auto r = memory | permute<hidden, query>;
#elif defined CASE_softmax_of_two
  // expect-gcc: "umbel: softmax: expects one tensor or view"
  // expect-clang: softmax.*expects_one_tensor_or_view
  // cause: The argument is not a tensor or view, or there are several.
  // cure: Pass one tensor or view; for memory write `view_as<query<4>, hidden<8>>(memory)`.
  auto r = softmax<hidden>(x, y);
#elif defined CASE_contract_of_one
  // expect-gcc: "umbel: contract: expects two tensors or views"
  // expect-clang: contract.*expects_two_tensors_or_views
  // cause: The contraction has one side, or more than two.
  // cure: Pass both sides: `contract<hidden>(queries, keys)`.
  auto r = contract<hidden>(x);
#elif defined CASE_gelu_of_a_number
  // expect-gcc: "umbel: gelu_exact: expects one tensor or view, but argument 1 is float"
  // expect-clang: gelu_exact.*expects_one_tensor_or_view
  // cause: The argument is not a tensor or view, or there are several.
  // cure: Pass one tensor or view; for memory write `view_as<query<4>, hidden<8>>(memory)`.
  auto r = gelu_exact(3.0f);
#elif defined CASE_mask_after_without_lengths
  // expect-gcc: "umbel: mask_after: expects scores, then lengths"
  // expect-clang: mask_after.*expects_scores_then_lengths
  // cause: The lengths are missing, or there are too many arguments.
  // cure: Pass the scores, then a tensor of integers: `mask_after<key>(scores, valid_lens)`.
  auto r = mask_after<key>(y);
#elif defined CASE_compare_other_axes
  // expect-gcc: "umbel: compare: \[batch=2, query=4, hidden=100\] and \[batch=2, key=6, hidden=100\] have different axes"
  // expect-clang: compare, .*batch<2>, .*query<4>, .*hidden<100>>, .*and_, .*batch<2>, .*key<6>, .*hidden<100>>, .*have_different_axes
  // cause: The compared tensors have different axes or sizes.
  // cure: Compare tensors with the same axes in the same order; to compare shapes, use `decltype(x)::layout`.
  const bool same = x == y;
#elif defined CASE_add_to_what_is_const
  // expect-gcc: "umbel: elementwise: the left side is const"
  // expect-clang: elementwise, .*the_left_side, .*is_const
  // cause: The target cannot be written.
  // cure: Assign to a tensor, or to a view whose elements are not const.
  const queries fixed{};
  fixed += x;
#elif defined CASE_add_to_a_temporary
  // expect-gcc: "umbel: elementwise: the left side is a temporary; store it in a variable"
  // expect-clang: elementwise.*the_left_side.*is_a_temporary_so_store_it_in_a_variable
  // cause: The target and its new elements are destroyed at the end of the statement.
  // cure: Store it in a variable, or assign to a view of a variable.
  queries{} += x;
#elif defined CASE_add_to_what_is_broadcast
  // expect-gcc: "umbel: elementwise: several elements of the left side share one memory location \(broadcast or windows\)"
  // expect-clang: elementwise.*several_elements_of.*the_left_side.*share_one_memory_location
  // cause: A broadcast view, or a view of windows, has one element for many positions, so they cannot all be written.
  // cure: Assign to a tensor that has all of the axes.
  tensor<float, query<4>, hidden<100>> row{};
  (row | broadcast<batch<2>, query<4>, hidden<100>>) += x;
#elif defined CASE_copy_to_what_is_broadcast
  // expect-gcc: "umbel: copy: several elements of the target share one memory location \(broadcast or windows\)"
  // expect-clang: copy.*several_elements_of.*the_target.*share_one_memory_location
  // cause: A broadcast view, or a view of windows, has one element for many positions, so they cannot all be written.
  // cure: Assign to a tensor that has all of the axes.
  tensor<float, query<4>, hidden<100>> row{};
  copy(x, row | broadcast<batch<2>, query<4>, hidden<100>>);
#elif defined CASE_copy_to_what_is_const
  // expect-gcc: "umbel: copy: the target is const"
  // expect-clang: copy, .*the_target, .*is_const
  // cause: The target cannot be written.
  // cure: Assign to a tensor, or to a view whose elements are not const.
  const queries fixed{};
  copy(x, fixed);
#elif defined CASE_one_error_with_what_follows
  // expect-gcc: "umbel: permute: lists 1 of the 3 axes of \[batch=2, query=4, hidden=100\]"
  // expect-clang: permute, .*lists, .*number<1>, .*of_the, .*number<3>, .*axes_of, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: The new order leaves an axis out.
  // cure: List all axes; to remove one, use `select_at` or `mean`.
  auto r = x | permute<batch>;
  r += x;
  x += r;
  if (r == r && x == r) copy(r, x);
  const float* memory = r.data();
#elif defined CASE_softmax_into_other_axes
  // expect-gcc: "umbel: softmax: the result has \[batch=2, query=4, hidden=100\] but out has \[batch=2, key=6, hidden=100\]"
  // expect-clang: softmax, .*the_result_has, .*query<4>.*but_out_has, .*key<6>
  // cause: The output has other axes or sizes than the result.
  // cure: Declare it with the axes of the result.
  softmax<hidden>.into(y, x);
#elif defined CASE_gelu_into_gaps
  // expect-gcc: "umbel: gelu_exact: out must be row-major in memory"
  // expect-clang: gelu_exact, .*out_must_be_row_major_in_memory
  // cause: The operation only writes row-major memory.
  // cure: Write to a tensor, and permute it afterwards.
  tensor<float, hidden<100>, batch<2>, query<4>> turned{};
  gelu_exact.into(turned | permute<batch, query, hidden>, x);
#elif defined CASE_add_to_what_overlaps_itself
  // expect-gcc: "umbel: elementwise: several elements of the left side share one memory location \(broadcast or windows\)"
  // expect-clang: elementwise.*several_elements_of.*the_left_side.*share_one_memory_location
  // cause: A broadcast view, or a view of windows, has one element for many positions, so they cannot all be written.
  // cure: Assign to a tensor that has all of the axes.
  view<float, strided<query<3>, 1>, strided<key<3>, 1>> diagonals(x.data());
  diagonals += 1;
#elif defined CASE_add_to_windows
  // expect-gcc: "umbel: elementwise: several elements of the left side share one memory location \(broadcast or windows\)"
  // expect-clang: elementwise.*several_elements_of.*the_left_side.*share_one_memory_location
  // cause: A broadcast view, or a view of windows, has one element for many positions, so they cannot all be written.
  // cure: Assign to a tensor that has all of the axes.
  (x | windows<query, kernel_size<2>>) += 1;
#elif defined CASE_add_what_is_for_storage
  // expect-gcc: "umbel: elementwise: bfloat16 has no arithmetic; convert it to float"
  // expect-clang: elementwise.*element<.*bfloat16>.*has_no_arithmetic_so_convert_it_to_float
  // cause: Weights and caches are stored as 16-bit numbers, but arithmetic is in float.
  // cure: Use `for_each` on a float tensor and this one, and assign `float(element)`.
  const tensor<bfloat16, query<4>> stored{};
  auto sum = stored + stored;
#elif defined CASE_scale_what_is_for_storage
  // expect-gcc: "umbel: elementwise: bfloat16 has no arithmetic; convert it to float"
  // expect-clang: elementwise.*element<.*bfloat16>.*has_no_arithmetic_so_convert_it_to_float
  // cause: Weights and caches are stored as 16-bit numbers, but arithmetic is in float.
  // cure: Use `for_each` on a float tensor and this one, and assign `float(element)`.
  tensor<bfloat16, query<4>> stored{};
  stored *= 2;
#elif defined CASE_add_an_array
  // expect-gcc: "umbel: elementwise: expects two tensors or views, or one and a number, but argument 2 is float \[800\]"
  // expect-clang: elementwise, .*expects_two_tensors_or_views_or_one_and_a_number
  // cause: One side is not a tensor, view or number, but an array, a vector or all weights of a layer.
  // cure: View the memory, `view_as<queries>(array)`; to project a tensor, write `x * w.q` with one part of the weights.
  const float array[800] = {};
  auto sum = x + array;
#elif defined CASE_multiply_by_all_weights
  // expect-gcc: "umbel: elementwise: the weights of multi_head_attention have several parts; name one, x \* w\.q"
  // expect-clang: elementwise, .*the_weights_of, .*multi_head_attention.*have_several_parts_so_name_one
  // cause: A layer has several maps, and a tensor is projected by one of them.
  // cure: Write `x * w.q`.
  static multi_head_attention<float, hidden<100>, heads<5>>::weights w;
  auto q = x * w;
#elif defined CASE_add_text
  // expect-gcc: "umbel: elementwise: expects two tensors or views, or one and a number, but argument 2 is char \[2\]"
  // expect-clang: elementwise, .*expects_two_tensors_or_views_or_one_and_a_number
  // cause: One side is not a tensor, view or number, but an array, a vector or all weights of a layer.
  // cure: View the memory, `view_as<queries>(array)`; to project a tensor, write `x * w.q` with one part of the weights.
  x += "1";
#elif defined CASE_operation_called_in_a_pipe
  // expect-gcc: "umbel: permute: expects one tensor or view"
  // expect-clang: permute.*expects_one_tensor_or_view
  // cause: The argument is not a tensor or view, or there are several.
  // cure: Pass one tensor or view; for memory write `view_as<query<4>, hidden<8>>(memory)`.
  auto r = x | permute<hidden, query, batch>();
#elif defined CASE_for_each_the_other_way_round
  // expect-gcc: "umbel: for_each: expects a function, then tensors or views"
  // expect-clang: for_each.*expects_a_function_then_tensors_or_views
  // cause: The function comes first, since any number of tensors may follow.
  // cure: Write `for_each([](float& element) { ... }, x)`.
  for_each(x, [](float& element) { element = 0; });
#elif defined CASE_one_error_in_a_pipe_of_functions
  // expect-gcc: "umbel: permute: lists 2 of the 3 axes of \[batch=2, query=4, hidden=100\]"
  // expect-clang: permute.*lists.*number<2>.*of_the.*number<3>.*axes_of.*batch<2>.*query<4>.*hidden<100>
  // cause: The new order leaves an axis out.
  // cure: List all axes; to remove one, use `select_at` or `mean`.
  auto r = x | permute<batch, query> | [](const auto& z) { return z + z; };
#elif defined CASE_one_error_in_a_sum
  // expect-gcc: "umbel: elementwise: expects two tensors or views, or one and a number, but argument 2 is float \[800\]"
  // expect-clang: elementwise, .*expects_two_tensors_or_views_or_one_and_a_number
  // cause: One side is not a tensor, view or number, but an array, a vector or all weights of a layer.
  // cure: View the memory, `view_as<queries>(array)`; to project a tensor, write `x * w.q` with one part of the weights.
  const float array[800] = {};
  auto sum = (x + array + array) * 2 + x;
#elif defined CASE_product_of_matrices_by_times
  // expect-gcc: "umbel: elementwise: \[query=4, hidden=100\] and \[hidden=100, classes=3\] have different axes; for a matrix product write contract<axis>\(x, y\) or x \* weights"
  // expect-clang: elementwise, .*query<4>, .*hidden<100>>, .*and_, .*hidden<100>, .*classes<3>>, .*have_different_axes_so_contract_them
  // cause: `*` of two tensors multiplies element by element.
  // cure: To sum over a common axis, write `contract<hidden>(x, y)`; to project, write `x * weights` with the weights of a layer.
  auto r = tensor<float, query<4>, hidden<100>>{} * tensor<float, hidden<100>, classes<3>>{};
#elif defined CASE_concat_of_a_vector
  // expect-gcc: "umbel: concat: expects each tensor or view as an argument; write \(a, b\) instead of a list"
  // expect-clang: concat.*expects_each_tensor_or_view_as_an_argument_so_write_f_of_a_and_b
  // cause: The axes of a result are constants, so the number of tensors has to be one as well: it is the number of arguments.
  // cure: Write each tensor as an argument: `concat<token>(a, b)`, `stack<batch>(all[0], all[1])`.
  const std::array<queries, 2> all{};
  auto r = concat<query>(all);
#elif defined CASE_stack_of_an_array
  // expect-gcc: "umbel: stack: expects each tensor or view as an argument; write \(a, b\) instead of a list"
  // expect-clang: stack.*expects_each_tensor_or_view_as_an_argument_so_write_f_of_a_and_b
  // cause: The axes of a result are constants, so the number of tensors has to be one as well: it is the number of arguments.
  // cure: Write each tensor as an argument: `concat<token>(a, b)`, `stack<batch>(all[0], all[1])`.
  const std::array<queries, 2> all{};
  auto r = umbel::stack<token>(all);
#else
  tensor<float, batch<2>, query<4>, key<6>> scores = contract<hidden>(x, y) * 0.1f;
  x = x + x;
  (void)scores;
#endif
}
