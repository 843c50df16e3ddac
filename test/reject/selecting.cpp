// SPDX-License-Identifier: BSL-1.0
// Mistakes in conditions and in the operations that choose by them (check.py).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using scores_of = tensor<float, batch<2>, query<4>, key<6>>;

[[maybe_unused]] static void cases(const scores_of& x, const tensor<bool, key<6>>& keep) {
  const auto flags = x > 0;
  (void)keep, (void)flags;
#if defined CASE_compare_with_another_shape
  // expect-gcc: "umbel: elementwise: \[batch=2, query=4, key=6\] and \[key=6\] have different axes; to repeat one along the others, write x \| broadcast<\.\.\.>"
  // expect-clang: elementwise, .*batch<2>, .*query<4>, .*key<6>>, .*and_, .*key<6>>, .*have_different_axes_so_broadcast_one
  // cause: The tensors are combined element by element, but have different axes or sizes.
  // cure: `broadcast` the smaller one to the axes of the larger one, or rename the axis that differs.
  auto r = x < tensor<float, key<6>>{};
#elif defined CASE_compare_integers_with_a_fraction
  // expect-gcc: "umbel: elementwise: elements of double do not fit a tensor of int"
  // expect-clang: elementwise, .*elements_of, .*element<double>, .*do_not_fit_a_tensor_of, .*element<int>
  // cause: The tensor of integers would truncate a fraction.
  // cure: Convert it to a float tensor first: `tensor<float, batch<2>>(x)`.
  auto r = tensor<int, key<6>>{} > 2.5;
#elif defined CASE_not_of_numbers
  // expect-gcc: "umbel: elementwise: needs conditions, elements of bool, not float"
  // expect-clang: elementwise, .*needs_conditions_not, .*element<float>
  // cause: The elements are numbers, but must be conditions.
  // cure: Compare them: `x != 0` is `x < 0 || x > 0`.
  auto r = !x;
#elif defined CASE_and_of_numbers
  // expect-gcc: "umbel: elementwise: needs conditions, elements of bool, not float"
  // expect-clang: elementwise, .*needs_conditions_not, .*element<float>
  // cause: The elements are numbers, but must be conditions.
  // cure: Compare them: `x != 0` is `x < 0 || x > 0`.
  auto r = flags && x;
#elif defined CASE_maximum_of_other_axes
  // expect-gcc: "umbel: elementwise: \[batch=2, query=4, key=6\] and \[key=6\] have different axes; to repeat one along the others, write x \| broadcast<\.\.\.>"
  // expect-clang: elementwise, .*batch<2>, .*query<4>, .*key<6>>, .*and_, .*key<6>>, .*have_different_axes_so_broadcast_one
  // cause: The tensors are combined element by element, but have different axes or sizes.
  // cure: `broadcast` the smaller one to the axes of the larger one, or rename the axis that differs.
  auto r = maximum(x, tensor<float, key<6>>{});
#elif defined CASE_minimum_of_integers_and_a_fraction
  // expect-gcc: "umbel: elementwise: elements of double do not fit a tensor of int"
  // expect-clang: elementwise, .*elements_of, .*element<double>, .*do_not_fit_a_tensor_of, .*element<int>
  // cause: The tensor of integers would truncate a fraction.
  // cure: Convert it to a float tensor first: `tensor<float, batch<2>>(x)`.
  auto r = minimum(2.5, tensor<int, key<6>>{});
#elif defined CASE_maximum_of_something_else
  // expect-gcc: "umbel: elementwise: expects two tensors or views, or one and a number, but argument 2 is float \[6\]"
  // expect-clang: elementwise, .*expects_two_tensors_or_views_or_one_and_a_number, .*but_argument, .*number<2
  // cause: An operand is not a tensor, view or number.
  // cure: Add axes first, `view_as<hidden<64>>(pointer)`.
  float numbers[6]{};
  auto r = maximum(x, numbers);
#elif defined CASE_where_by_numbers
  // expect-gcc: "umbel: where: needs conditions, elements of bool, not float"
  // expect-clang: where, .*needs_conditions_not, .*element<float>
  // cause: The first argument must be a condition.
  // cure: Compare the elements: `where(x > 0, x, 0)`.
  auto r = where(x, x, 0);
#elif defined CASE_where_of_fewer_axes
  // expect-gcc: "umbel: where: \[key=6\] and \[batch=2, query=4, key=6\] have different axes; to repeat one along the others, write x \| broadcast<\.\.\.>"
  // expect-clang: where, .*key<6>>, .*and_, .*batch<2>, .*query<4>, .*key<6>>, .*have_different_axes_so_broadcast_one
  // cause: The condition has other axes than the choices.
  // cure: Repeat it: `keep | broadcast<batch<2>, query<4>, key<6>>`.
  auto r = where(keep, x, 0);
#elif defined CASE_where_of_two_types
  // expect-gcc: "umbel: where: the left side holds float but the right side holds double"
  // expect-clang: where, .*the_left_side_holds, .*element<float>, .*but_the_right_side_holds, .*element<double>
  // cause: The choices have different element types, and Umbel converts nothing implicitly.
  // cure: Declare both with one element type.
  auto r = where(flags, x, tensor<double, batch<2>, query<4>, key<6>>{});
#elif defined CASE_where_without_a_condition
  // expect-gcc: "umbel: where: expects a condition, then two tensors, views or numbers"
  // expect-clang: where, .*expects_a_condition_then_two_tensors_views_or_numbers
  // cause: The condition is not a tensor or view, or it is not followed by two choices.
  // cure: Pass a condition for each element: `where(x > 0, x, 0)`.
  auto r = where(true, x, 0);
#elif defined CASE_where_of_two
  // expect-gcc: "umbel: where: expects a condition, then two tensors, views or numbers"
  // expect-clang: where, .*expects_a_condition_then_two_tensors_views_or_numbers
  // cause: The condition is not a tensor or view, or it is not followed by two choices.
  // cure: Pass a condition for each element: `where(x > 0, x, 0)`.
  auto r = where(flags, x);
#elif defined CASE_where_of_four
  // expect-gcc: "umbel: where: expects a condition, then two tensors, views or numbers"
  // expect-clang: where, .*expects_a_condition_then_two_tensors_views_or_numbers
  // cause: The condition is not a tensor or view, or it is not followed by two choices.
  // cure: Pass a condition for each element: `where(x > 0, x, 0)`.
  auto r = where(flags, x, 0, 1);
#elif defined CASE_where_of_numbers
  // expect-gcc: "umbel: where: expects a condition, then two tensors, views or numbers"
  // expect-clang: where, .*expects_a_condition_then_two_tensors_views_or_numbers
  // cause: The condition is not a tensor or view, or it is not followed by two choices.
  // cure: Pass a condition for each element: `where(x > 0, x, 0)`.
  auto r = where(true, 1.0f, 2.0f);
#elif defined CASE_hide_of_one
  // expect-gcc: "umbel: hide: expects scores and a condition"
  // expect-clang: hide, .*expects_scores_and_a_condition
  // cause: The condition is not a tensor or view of bool, or there are not two arguments.
  // cure: Write `hide(scores, condition)`; to hide keys past a length, write `mask_after<key>(scores, lens)`.
  auto r = hide(x);
#elif defined CASE_hide_of_three
  // expect-gcc: "umbel: hide: expects scores and a condition"
  // expect-clang: hide, .*expects_scores_and_a_condition
  // cause: The condition is not a tensor or view of bool, or there are not two arguments.
  // cure: Write `hide(scores, condition)`; to hide keys past a length, write `mask_after<key>(scores, lens)`.
  auto r = hide(x, flags, 0);
#elif defined CASE_maximum_of_three
  // expect-gcc: "umbel: maximum: expects two tensors or views, or one and a number"
  // expect-clang: maximum, .*expects_two_tensors_or_views_or_one_and_a_number
  // cause: `maximum` and `minimum` choose between two elements at each position, and `pow` has a base and an exponent.
  // cure: Write `maximum(maximum(x, y), z)`, `pow(x, 2)` or `pow(2, x)`; along an axis, write `max<key>(x)`.
  auto r = maximum(x, x, 0);
#elif defined CASE_minimum_of_one
  // expect-gcc: "umbel: minimum: expects two tensors or views, or one and a number"
  // expect-clang: minimum, .*expects_two_tensors_or_views_or_one_and_a_number
  // cause: `maximum` and `minimum` choose between two elements at each position, and `pow` has a base and an exponent.
  // cure: Write `maximum(maximum(x, y), z)`, `pow(x, 2)` or `pow(2, x)`; along an axis, write `max<key>(x)`.
  auto r = minimum(x);
#elif defined CASE_clamp_by_one_bound
  // expect-gcc: "umbel: clamp: expects a tensor or view, then two bounds: tensors, views or numbers"
  // expect-clang: clamp, .*expects_a_tensor_or_view_then_two_bounds
  // cause: `clamp` needs a tensor or view, then a lower and an upper bound.
  // cure: Write `clamp(x, low, high)`; for one bound, `maximum(x, low)` or `minimum(x, high)`.
  auto r = clamp(x, 0);
#elif defined CASE_clamp_of_conditions
  // expect-gcc: "umbel: clamp: needs numbers, not bool"
  // expect-clang: clamp, .*needs_numbers_not, .*element<bool>
  // cause: An operand holds conditions.
  // cure: Choose by the condition: `where(x > 0, x, 0)`.
  auto r = clamp(flags, 0, 1);
#elif defined CASE_clamp_in_a_pipe
  // expect-gcc: "umbel: clamp: expects a tensor or view, then two bounds: tensors, views or numbers"
  // expect-clang: clamp, .*expects_a_tensor_or_view_then_two_bounds
  // cause: `clamp` needs a tensor or view, then a lower and an upper bound.
  // cure: Write `clamp(x, low, high)`; for one bound, `maximum(x, low)` or `minimum(x, high)`.
  auto r = x | clamp(0.0f, 1.0f);
#elif defined CASE_maximum_in_a_pipe
  // expect-gcc: "umbel: maximum: expects two tensors or views, or one and a number"
  // expect-clang: maximum, .*expects_two_tensors_or_views_or_one_and_a_number
  // cause: `maximum` and `minimum` choose between two elements at each position, and `pow` has a base and an exponent.
  // cure: Write `maximum(maximum(x, y), z)`, `pow(x, 2)` or `pow(2, x)`; along an axis, write `max<key>(x)`.
  auto r = x | maximum(0.0f);
#elif defined CASE_clamp_of_a_number
  // expect-gcc: "umbel: clamp: expects a tensor or view, then two bounds: tensors, views or numbers"
  // expect-clang: clamp, .*expects_a_tensor_or_view_then_two_bounds
  // cause: `clamp` needs a tensor or view, then a lower and an upper bound.
  // cure: Write `clamp(x, low, high)`; for one bound, `maximum(x, low)` or `minimum(x, high)`.
  auto r = clamp(0, x, 1);
#elif defined CASE_pow_of_one
  // expect-gcc: "umbel: pow: expects two tensors or views, or one and a number"
  // expect-clang: pow, .*expects_two_tensors_or_views_or_one_and_a_number
  // cause: `maximum` and `minimum` choose between two elements at each position, and `pow` has a base and an exponent.
  // cure: Write `maximum(maximum(x, y), z)`, `pow(x, 2)` or `pow(2, x)`; along an axis, write `max<key>(x)`.
  auto r = pow(x);
#elif defined CASE_max_of_two
  // expect-gcc: "umbel: max: expects one tensor and named axes, x \| max<key>; for two tensors write maximum\(x, y\) or minimum\(x, y\)"
  // expect-clang: max, .*expects_one_tensor_and_named_axes_so_write_maximum_or_minimum_of_two
  // cause: `max` and `min` reduce an axis; for two tensors, or a tensor and a number, the names are `maximum` and `minimum`.
  // cure: Write `maximum(x, 0)`.
  auto r = max(x, 0);
#elif defined CASE_min_along_an_axis_of_two
  // expect-gcc: "umbel: min: expects one tensor and named axes, x \| max<key>; for two tensors write maximum\(x, y\) or minimum\(x, y\)"
  // expect-clang: min, .*expects_one_tensor_and_named_axes_so_write_maximum_or_minimum_of_two
  // cause: `max` and `min` reduce an axis; for two tensors, or a tensor and a number, the names are `maximum` and `minimum`.
  // cure: Write `maximum(x, 0)`.
  auto r = min<key>(x, 0);
#elif defined CASE_hide_by_fewer_axes
  // expect-gcc: "umbel: hide: \[batch=2, query=4, key=6\] and \[key=6\] have different axes; to repeat one along the others, write x \| broadcast<\.\.\.>"
  // expect-clang: hide, .*batch<2>, .*query<4>, .*key<6>>, .*and_, .*key<6>>, .*have_different_axes_so_broadcast_one
  // cause: The condition has other axes than the scores.
  // cure: Repeat it: `keep | broadcast<batch<2>, query<4>, key<6>>`.
  auto r = hide(x, keep);
#elif defined CASE_hide_by_a_number
  // expect-gcc: "umbel: hide: expects scores and a condition"
  // expect-clang: hide, .*expects_scores_and_a_condition
  // cause: The condition is not a tensor or view of bool, or there are not two arguments.
  // cure: Write `hide(scores, condition)`; to hide keys past a length, write `mask_after<key>(scores, lens)`.
  auto r = hide(x, 3);
#elif defined CASE_conditions_of_what_was_refused
  // expect-gcc: "umbel: permute: lists 2 of the 3 axes of \[batch=2, query=4, key=6\]"
  // expect-clang: permute.*lists.*number<2>.*of_the.*number<3>.*axes_of.*batch<2>.*query<4>.*key<6>
  // cause: The new order leaves an axis out.
  // cure: List all axes; to remove one, use `select_at` or `mean`.
  auto y = x | permute<query, key>;
  auto r = softmax<key>(hide(where(y < x && !(y > 3), y, x), flags || y >= x));
#elif defined CASE_concat_of_another_batch
  // expect-gcc: "umbel: concat: \[batch=2, query=4, key=6\] and \[batch=3, query=1, key=6\] differ in more than the axis query"
  // expect-clang: concat, .*batch<2>, .*query<4>, .*key<6>>, .*and_, .*batch<3>, .*query<1>, .*key<6>>, .*differ_in_more_than_the_axis, .*query>
  // cause: Along the other axes, the tensors differ in size, order or name.
  // cure: Make the other axes the same; `permute` or `rename_axis` one tensor.
  auto r = concat<query>(x, tensor<float, batch<3>, query<1>, key<6>>{});
#elif defined CASE_concat_along_an_absent_axis
  // expect-gcc: "umbel: concat: there is no axis heads in \[batch=2, query=4, key=6\]"
  // expect-clang: concat, .*there_is_no_axis, .*heads>, .*in, .*batch<2>, .*query<4>, .*key<6>
  // cause: The tensors do not have this axis.
  // cure: Name one of their axes; along a new axis, write `stack<heads>(x, y)`.
  auto r = concat<heads>(x, x);
#elif defined CASE_concat_of_two_types
  // expect-gcc: "umbel: concat: the left side holds float but the right side holds bool"
  // expect-clang: concat, .*the_left_side_holds, .*element<float>, .*but_the_right_side_holds, .*element<bool>
  // cause: The sides have different element types, and Umbel converts nothing implicitly.
  // cure: Declare both with one element type.
  auto r = concat<query>(x, flags);
#elif defined CASE_concat_with_a_number
  // expect-gcc: "umbel: concat: expects tensors or views"
  // expect-clang: concat, .*expects_tensors_or_views
  // cause: Only tensors and views can be concatenated.
  // cure: Make a tensor of it, with the same axes.
  auto r = concat<query>(x, 0.0f);
#elif defined CASE_stack_along_what_is_there
  // expect-gcc: "umbel: stack: query is already an axis of \[batch=2, query=4, key=6\]"
  // expect-clang: stack, .*query>, .*is_already_an_axis_of, .*batch<2>, .*query<4>, .*key<6>
  // cause: A stack needs a new axis.
  // cure: Use a different name; along an existing axis, write `concat<query>(x, y)`.
  auto r = stack<query>(x, x);
#elif defined CASE_roll_along_an_absent_axis
  // expect-gcc: "umbel: roll: there is no axis heads in \[batch=2, query=4, key=6\]"
  // expect-clang: roll, .*there_is_no_axis, .*heads>, .*in, .*batch<2>, .*query<4>, .*key<6>
  // cause: The tensor does not have the axis along which positions move.
  // cure: Name an axis in the brackets.
  auto r = x | roll<heads, 1>;
#elif defined CASE_flip_along_an_absent_axis
  // expect-gcc: "umbel: flip: there is no axis heads in \[batch=2, query=4, key=6\]"
  // expect-clang: flip, .*there_is_no_axis, .*heads>, .*in, .*batch<2>, .*query<4>, .*key<6>
  // cause: The tensor does not have the axis whose positions are put in the opposite order.
  // cure: Name an axis of the tensor.
  auto r = x | flip<heads>;
#elif defined CASE_flip_along_an_axis_twice
  // expect-gcc: "umbel: flip: the axis key is named twice in \[key=6, key=6\]"
  // expect-clang: flip, .*the_axis, .*key>, .*is_named_twice_in, .*key<6>, .*key<6>
  // cause: Flipped twice, an axis is as before.
  // cure: Name each axis once.
  auto r = x | flip<key, key>;
#elif defined CASE_cumulative_sum_along_an_absent_axis
  // expect-gcc: "umbel: cumulative_sum: there is no axis heads in \[batch=2, query=4, key=6\]"
  // expect-clang: cumulative_sum, .*there_is_no_axis, .*heads>, .*in, .*batch<2>, .*query<4>, .*key<6>
  // cause: The tensor does not have the axis along which positions are added.
  // cure: Name an axis of the tensor.
  auto r = cumulative_sum<heads>(x);
#elif defined CASE_cumulative_sum_with_a_type
  // expect-gcc: "umbel: cumulative_sum: int is not one of its options"
  // expect-clang: cumulative_sum, .*element<int>, .*is_not_one_of_its_options
  // cause: The options are `exclusive` and `from_last`; the sums have the element type of the tensor.
  // cure: Write `cumulative_sum<key, exclusive>(x)`.
  auto r = cumulative_sum<key, exclusive, int>(x);
#elif defined CASE_cumulative_sum_of_flags
  // expect-gcc: "umbel: cumulative_sum: needs numbers, not bool"
  // expect-clang: cumulative_sum, .*needs_numbers_not, .*bool
  // cause: Only numbers have sums.
  // cure: Make numbers of the flags: `where(flags, 1.0f, 0.0f)`.
  auto r = cumulative_sum<key>(x > 0.0f);
#elif defined CASE_cumulative_sum_twice_exclusive
  // expect-gcc: "umbel: cumulative_sum: exclusive is given twice"
  // expect-clang: cumulative_sum, .*exclusive.*is_given_twice
  // cause: An option is there twice.
  // cure: Write it once.
  auto r = cumulative_sum<key, exclusive, exclusive>(x);
#elif defined CASE_windows_longer_than_the_axis
  // expect-gcc: "umbel: windows: kernel_size=4 spans 7 positions, but the axis is key=6"
  // expect-clang: windows, .*kernel_size<4>, .*spans, .*number<7>, .*positions_but_the_axis_is, .*key<6>
  // cause: From its first to its last element a window has (kernel_size - 1) x dilation + 1 positions.
  // cure: Use smaller windows, or add positions at the ends: `x | padded<key, before<1>>`.
  auto r = x | windows<key, kernel_size<4>, dilation<2>>;
#elif defined CASE_windows_further_apart_than_can_be_counted
  // expect-gcc: "umbel: windows: kernel_size=3 spans [0-9]+ positions, but the axis is key=6"
  // expect-clang: windows, .*kernel_size<3>, .*spans, .*positions_but_the_axis_is, .*key<6>
  // cause: From its first to its last element a window has (kernel_size - 1) x dilation + 1 positions.
  // cure: Use a smaller dilation.
  auto r = x | windows<key, kernel_size<3>, dilation<~std::size_t{0} / 2 + 1>>;
#elif defined CASE_windows_of_an_absent_axis
  // expect-gcc: "umbel: windows: there is no axis heads in \[batch=2, query=4, key=6\]"
  // expect-clang: windows, .*there_is_no_axis, .*heads>, .*in, .*batch<2>, .*query<4>, .*key<6>
  // cause: The tensor does not have the axis of the windows.
  // cure: Name an axis of the tensor.
  auto r = x | windows<heads, kernel_size<3>>;
#elif defined CASE_windows_on_an_axis_that_is_there
  // expect-gcc: "umbel: windows: query is already an axis of \[batch=2, query=4, key=6\]"
  // expect-clang: windows, .*query>, .*is_already_an_axis_of, .*batch<2>, .*query<4>, .*key<6>
  // cause: The positions of a window are a new axis.
  // cure: Use a different name, such as `kernel_size<3>`; for the second axis of an image declare a second one.
  auto r = x | windows<key, query<3>>;
#elif defined CASE_patches_that_leave_a_rest
  // expect-gcc: "umbel: patches: query=4 into token=3 leaves a remainder of 1"
  // expect-clang: patches, .*query<4>, .*into, .*token<3>, .*leaves_a_remainder_of, .*number<1>
  // cause: Patches lie side by side, and the size of one does not divide that of the image.
  // cure: Use a size that divides it, or `windows`, which leave out the rest; `padded` adds positions.
  auto r = x | patches<query, key, token<3>, hidden<2>>;
#elif defined CASE_patches_with_one_axis_for_both_sizes
  // expect-gcc: "umbel: patches: the axis token is named twice in \[token=2, token=3\]"
  // expect-clang: patches, .*the_axis, .*token>, .*is_named_twice_in
  // cause: The rows and the columns of a patch are two new axes.
  // cure: Declare a second axis: `patches<row, column, kernel_row<4>, kernel_column<4>>`.
  auto r = x | patches<query, key, token<2>, token<3>>;
#elif defined CASE_patches_of_one_axis
  // expect-gcc: "umbel: patches: the axis query is named twice in \[batch=2, query=4, key=6\]"
  // expect-clang: patches, .*the_axis, .*query>, .*is_named_twice_in, .*batch<2>
  // cause: Both axes of the image are the same.
  // cure: Name its rows and its columns; for one axis write `windows<query, kernel_size<2>, stride<2>>`.
  auto r = x | patches<query, query, token<2>, hidden<2>>;
#elif defined CASE_patches_of_an_absent_axis
  // expect-gcc: "umbel: patches: there is no axis heads in \[batch=2, query=4, key=6\]"
  // expect-clang: patches, .*there_is_no_axis, .*heads>, .*in, .*batch<2>, .*query<4>, .*key<6>
  // cause: The image does not have this axis.
  // cure: Name two axes of the image.
  auto r = x | patches<query, heads, token<2>, hidden<2>>;
#elif defined CASE_patches_with_a_stride
  // expect-gcc: "umbel: patches: expects the size of a patch as two axes; write patches<row, column, kernel_row<4>, kernel_column<4>>"
  // expect-clang: patches, .*expects_the_size_of_a_patch_as_two_axes
  // cause: The third and fourth template arguments are the axes of a patch with their sizes.
  // cure: Write the two axes of the image, then those of a patch; for patches that overlap write `windows` twice.
  auto r = x | patches<query, key, token<2>, stride<2>>;
#elif defined CASE_windows_without_a_size
  // expect-gcc: "umbel: windows: expects the size of a window as an axis; write windows<token, kernel_size<3>>"
  // expect-clang: windows, .*expects_the_size_of_a_window_as_an_axis_so_write_windows
  // cause: The second template argument is the axis of a window's positions, with its size.
  // cure: Write `windows<key, kernel_size<3>, stride<2>>`.
  auto r = x | windows<key, stride<2>>;
#elif defined CASE_windows_with_a_stride_of_0
  // expect-gcc: "umbel: windows: stride must be 1 or more"
  // expect-clang: windows, .*stride.*, .*must_be_1_or_more
  // cause: The windows would all be at the same position.
  // cure: Write `stride<1>`, or leave it out; to repeat a tensor, use `broadcast`.
  auto r = x | windows<key, kernel_size<3>, stride<0>>;
#elif defined CASE_windows_with_padding
  // expect-gcc: "umbel: windows: before is not one of its options"
  // expect-clang: windows, .*before.*is_not_one_of_its_options
  // cause: The options are `stride` and `dilation`.
  // cure: Pad first: `x | padded<key, before<1>> | windows<key, kernel_size<3>>`.
  auto r = x | windows<key, kernel_size<3>, before<1>>;
#elif defined CASE_windows_of_a_number
  // expect-gcc: "umbel: windows: expects one tensor or view, but argument 1 is int"
  // expect-clang: windows, .*expects_one_tensor_or_view.*but_argument, .*number<1>, .*is, .*given<int>
  // cause: The argument must be a tensor or view.
  // cure: Write `windows<key, kernel_size<3>>(x)` or `x | windows<key, kernel_size<3>>`.
  auto r = windows<key, kernel_size<3>>(1);
#elif defined CASE_padded_along_an_absent_axis
  // expect-gcc: "umbel: padded: there is no axis heads in \[batch=2, query=4, key=6\]"
  // expect-clang: padded, .*there_is_no_axis, .*heads>, .*in, .*batch<2>, .*query<4>, .*key<6>
  // cause: The tensor does not have the axis to which positions would be added.
  // cure: Name an axis of the tensor.
  auto r = x | padded<heads, before<1>>;
#elif defined CASE_padded_by_a_stride
  // expect-gcc: "umbel: padded: stride is not one of its options"
  // expect-clang: padded, .*stride.*is_not_one_of_its_options
  // cause: The options are `before` and `after`.
  // cure: Write `padded<key, before<1>, after<1>>(x)`.
  auto r = x | padded<key, stride<1>>;
#elif defined CASE_padded_by_a_tensor
  // expect-gcc: "umbel: padded: expects one tensor or view, then a number"
  // expect-clang: padded, .*expects_one_tensor_or_view_then_a_number
  // cause: All new positions have one number.
  // cure: Write `padded<key, before<1>>(x, -1.0f)`; to join two tensors, use `concat`.
  auto r = padded<key, before<1>>(x, keep);
#elif defined CASE_rank_beyond_the_axis
  // expect-gcc: "umbel: kth_largest: 7 is not in 1 to key=6"
  // expect-clang: kth_largest, .*number<7>, .*is_not_in_1_to, .*key<6>
  // cause: An axis of 6 positions has a first to a sixth largest element.
  // cure: Use a rank of at least 1 and at most the size of the axis.
  auto r = kth_largest<7, key>(x);
#elif defined CASE_rank_along_an_absent_axis
  // expect-gcc: "umbel: kth_largest: there is no axis heads in \[batch=2, query=4, key=6\]"
  // expect-clang: kth_largest, .*there_is_no_axis, .*heads>, .*in, .*batch<2>, .*query<4>, .*key<6>
  // cause: The tensor does not have the axis along which elements are ranked.
  // cure: Name an axis of the tensor.
  auto r = kth_largest<1, heads>(x);
#elif defined CASE_stack_of_other_sizes
  // expect-gcc: "umbel: stack: \[batch=2, query=4, key=6\] and \[key=6\] have different axes"
  // expect-clang: stack, .*batch<2>, .*query<4>, .*key<6>>, .*and_, .*key<6>>, .*have_different_axes
  // cause: The stacked tensors must have the same axes.
  // cure: Stack tensors of the same axes and sizes, or `broadcast` the smaller one.
  auto r = stack<heads>(x, tensor<float, key<6>>{});
#elif defined CASE_one_hot_of_numbers
  // expect-gcc: "umbel: one_hot: needs integers, not float"
  // expect-clang: one_hot, .*needs_integers_not, .*element<float>
  // cause: Positions must be integers.
  // cure: Declare the tensor of positions with int.
  auto r = one_hot<classes<10>>(x);
#elif defined CASE_one_hot_along_what_is_there
  // expect-gcc: "umbel: one_hot: key is already an axis of \[key=6\]"
  // expect-clang: one_hot, .*key>, .*is_already_an_axis_of, .*key<6>
  // cause: The positions are put on a new axis.
  // cure: Use a different name.
  auto r = one_hot<key<10>>(tensor<int, key<6>>{});
#elif defined CASE_lookup_by_numbers
  // expect-gcc: "umbel: lookup: needs integers, not float"
  // expect-clang: lookup, .*needs_integers_not, .*element<float>
  // cause: Positions are integers; the arguments are probably swapped.
  // cure: Write `lookup(table, ids)`, with ids a tensor of int; in a formula, `gather<axis>(table, x)` reads at computed numbers.
  auto r = lookup(tensor<int, key<6>>{}, x);
#elif defined CASE_lookup_of_an_axis_that_ids_have
  // expect-gcc: "umbel: lookup: the axis key is named twice in \[key=3, query=4, key=6\]"
  // expect-clang: lookup, .*the_axis, .*key>, .*is_named_twice_in, .*key<3>, .*query<4>, .*key<6>
  // cause: The integers have an axis that the rows of the table also have.
  // cure: Rename one of them with `rename_axis`.
  auto r = lookup(x, tensor<int, key<3>>{});
#elif defined CASE_lookup_by_an_integer
  // expect-gcc: "umbel: lookup: expects a table and integers"
  // expect-clang: lookup, .*expects_a_table_and_integers
  // cause: The integers must be a tensor or view.
  // cure: For one row, write `x | select_at<batch>(1)`.
  auto r = lookup(x, 1);
#elif defined CASE_rows_of_what_was_refused
  // expect-gcc: "umbel: permute: lists 2 of the 3 axes of \[batch=2, query=4, key=6\]"
  // expect-clang: permute.*lists.*number<2>.*of_the.*number<3>.*axes_of.*batch<2>.*query<4>.*key<6>
  // cause: The new order leaves an axis out.
  // cure: List all axes; to remove one, use `select_at` or `mean`.
  auto y = x | permute<query, key>;
  auto r = lookup(stack<heads>(concat<query>(x, y), x), one_hot<classes<10>>(y));
#elif defined CASE_one_hot_without_classes
  // expect-gcc: "umbel: one_hot: needs the axis of the classes with its size; write one_hot<classes<10>>\(ids\)"
  // expect-clang: one_hot.*needs_the_axis_of_the_classes_so_write_one_hot_of_10_classes
  // cause: The result has one more axis, whose size the integers do not determine.
  // cure: Write `one_hot<classes<10>>(ids)`.
  auto r = one_hot(tensor<int, batch<2>>{});
#elif defined CASE_one_hot_without_the_number_of_classes
  // expect-gcc: "umbel: one_hot: needs the axis of the classes with its size; write one_hot<classes<10>>\(ids\)"
  // expect-clang: umbel: one_hot: needs the axis of the classes with its size
  // cause: The result has one more axis, whose size the integers do not determine.
  // cure: Write `one_hot<classes<10>>(ids)`.
  auto r = one_hot<classes>(tensor<int, batch<2>>{});
#elif defined CASE_gather_along_an_axis_that_is_absent
  // expect-gcc: "umbel: gather: there is no axis hidden in \[batch=2, query=4, key=6\]"
  // expect-clang: gather, .*there_is_no_axis, .*hidden>, .*in, .*batch<2>, .*query<4>, .*key<6>
  // cause: The axis along which elements are read is not one of the tensor's.
  // cure: Name an axis of the tensor, here `gather<key>(x, ids)`.
  auto r = gather<hidden>(x, tensor<int, token<3>>{});
#elif defined CASE_gather_with_other_sizes
  // expect-gcc: "umbel: gather: the left side has query=4 but the right side has query=5"
  // expect-clang: gather, .*the_left_side_has, .*query<4>, .*but_the_right_side_has, .*query<5>
  // cause: Axes that both have are paired up, so they need the same size.
  // cure: Use integers for the same queries, or rename their axis.
  auto r = gather<key>(x, tensor<int, query<5>>{});
#elif defined CASE_gather_by_numbers
  // expect-gcc: "umbel: gather: needs integers, not float"
  // expect-clang: gather, .*needs_integers_not, .*element<float>
  // cause: Positions are integers; the arguments are probably swapped.
  // cure: Write `gather<key>(x, ids)`, with ids a tensor of int.
  auto r = gather<key>(tensor<int, key<6>>{}, x);
#elif defined CASE_gather_without_positions
  // expect-gcc: "umbel: gather: expects a tensor and positions; write gather<bucket>\(x, ids\)"
  // expect-clang: gather.*expects_a_tensor_and_positions_so_write_gather_of_both
  // cause: `gather` returns elements of a tensor, those at the positions.
  // cure: Write `gather<key>(x, ids)`, with ids a tensor of int; for one position, `x | select_at<key>(1)`.
  auto r = gather<key>(x);
#elif defined CASE_gather_without_an_axis
  // expect-gcc: "umbel: gather: expects one axis, by its name; write gather<bucket>\(x, ids\)"
  // expect-clang: gather.*expects_one_axis_by_its_name_so_write_gather_of_both
  // cause: Axes have names, not numbers.
  // cure: Write `gather<key>(x, ids)`.
  auto r = gather(x, 2, tensor<int, token<3>>{});
#elif defined CASE_gather_along_a_size
  // expect-gcc: "umbel: gather: expects one axis, by its name; write gather<bucket>\(x, ids\)"
  // expect-clang: umbel: gather: expects one axis, by its name
  // cause: Axes have names, not numbers.
  // cure: Write `gather<key>(x, ids)`.
  auto r = gather<key<6>>(x, tensor<int, token<3>>{});
#elif defined CASE_gather_along_two_axes
  // expect-gcc: "umbel: gather: expects one axis, by its name; write gather<bucket>\(x, ids\)"
  // expect-clang: umbel: gather: expects one axis, by its name
  // cause: Axes have names, not numbers.
  // cure: Write `gather<key>(x, ids)`.
  auto r = gather<query, key>(x, tensor<int, token<3>>{});
#elif defined CASE_lookup_along_an_axis
  // expect-gcc: "umbel: lookup: reads along the first axis; for a different one write gather<bucket>\(x, ids\)"
  // expect-clang: umbel: lookup: reads along the first axis
  // cause: `lookup` returns rows of a table, those along its first axis.
  // cure: Write `lookup(x, ids)`, or `gather<key>(x, ids)` for elements along `key`.
  auto r = lookup<key>(x, tensor<int, token<3>>{});
#elif defined CASE_lookup_without_positions
  // expect-gcc: "umbel: lookup: expects a table and positions; write lookup\(table, ids\)"
  // expect-clang: lookup.*expects_a_table_and_positions_so_write_lookup_of_both
  // cause: `lookup` returns rows of a table, those at the positions.
  // cure: Write `lookup(table, ids)`, with ids a tensor of int.
  auto r = lookup(x);
#elif defined CASE_patches_larger_than_the_image
  // expect-gcc: "umbel: patches: token=8 is larger than query=4"
  // expect-clang: patches, .*token<8>, .*is_larger_than, .*query<4>
  // cause: A patch has more positions than the axis that it cuts.
  // cure: Use a smaller patch, or check that the axes of the image are in the order of the sizes.
  auto r = x | patches<query, key, token<8>, hidden<2>>;
#elif defined CASE_patches_of_two_axes_with_a_stride
  // expect-gcc: "umbel: patches: expects two axes and two sizes, and patches lie side by side; for a stride write windows<row, kernel_row<3>, stride<2>>, then windows of column"
  // expect-clang: patches, .*expects_two_axes_and_two_sizes_so_for_a_stride_write_windows
  // cause: Patches do not overlap, so their stride is their size.
  // cure: Leave the stride out, or write `windows` along one axis after the other.
  auto r = x | patches<query, key, token<2>, hidden<2>, stride<2>>;
#elif defined CASE_patches_without_sizes
  // expect-gcc: "umbel: patches: expects the size of a patch as two axes; write patches<row, column, kernel_row<4>, kernel_column<4>>"
  // expect-clang: patches, .*expects_the_size_of_a_patch_as_two_axes
  // cause: The third and fourth template arguments are the axes of a patch with their sizes.
  // cure: Write the two axes of the image, then those of a patch; for patches that overlap write `windows` twice.
  auto r = x | patches<query, key>;
#elif defined CASE_merge_after_patches
  // expect-gcc: "umbel: merge: \[token=2, hidden=2\] are not adjacent in this order in \[batch=2, query=2, token=2, key=3, hidden=2\]; bring them together, x \| permute<\.\.\.> \| contiguous"
  // expect-clang: merge, .*token<2>, .*hidden<2>.*are_not_adjacent_in_this_order_in, .*so_permute_them_together_then_contiguous
  // cause: Each axis of a patch is next to its axis of the image, so others lie between those to merge.
  // cure: List the axes to merge next to each other in `permute`, then write `contiguous`.
  auto r = x | patches<query, key, token<2>, hidden<2>> | merge<token, hidden, head_dim>;
#elif defined CASE_padded_by_nothing
  // expect-gcc: "umbel: padded: adds nothing to query=4; write padded<token, before<1>, after<1>>"
  // expect-clang: padded, .*adds_nothing_to, .*query<4>, .*so_write_before_or_after
  // cause: The numbers of positions before the first and after the last are missing.
  // cure: Add `before`, `after` or both.
  auto r = x | padded<query>;
#elif defined CASE_roll_by_no_number
  // expect-gcc: "umbel: roll: needs a number of positions along key=6"
  // expect-clang: roll, .*needs_a_number_of_positions_along, .*key<6>
  // cause: The number of positions to move by is missing.
  // cure: Add it: `roll<key, 1>`.
  auto r = x | roll<key>;
#elif defined CASE_sum_of_an_axis_with_its_size
  // expect-gcc: "umbel: sum: expects names of axes, not sizes, numbers or options such as exclusive; write key, not key<6> or 1"
  // expect-clang: umbel: sum: expects names of axes, not sizes
  // cause: An axis is summed over by its name; its size is in the type of the tensor.
  // cure: Leave the size out.
  auto r = sum<key<6>>(x);
#elif defined CASE_largest_of_an_axis_with_its_size_in_a_pipe
  // expect-gcc: "umbel: max: expects names of axes, not sizes, numbers or options such as exclusive; write key, not key<6> or 1"
  // expect-clang: umbel: max: expects names of axes, not sizes
  // cause: An axis is named; its size is in the type of the tensor.
  // cure: Leave the size out.
  auto r = x | max<key<6>>;
#elif defined CASE_smallest_along_an_axis_by_its_number
  // expect-gcc: "umbel: min: expects names of axes, not sizes, numbers or options such as exclusive; write key, not key<6> or 1"
  // expect-clang: umbel: min: expects names of axes, not sizes
  // cause: Axes have names, not numbers.
  // cure: Name the axis.
  auto r = min<1>(x);
#elif defined CASE_sum_with_the_number_of_an_axis
  // expect-gcc: "umbel: sum: expects names of axes, not sizes, numbers or options such as exclusive; write key, not key<6> or 1"
  // expect-clang: sum, .*expects_names_of_axes_without_sizes_so_write_key
  // cause: An axis is summed over by its name; its size is in the type of the tensor.
  // cure: Leave the size out.
  auto r = sum(x, 1);
#elif defined CASE_concat_of_a_list_in_braces
  // expect-gcc: "umbel: concat: expects each tensor or view as an argument; write \(a, b\) instead of a list"
  // expect-clang: concat, .*expects_each_tensor_or_view_as_an_argument_so_write_f_of_a_and_b
  // cause: The axes of a result are constants, so the number of tensors has to be one as well: it is the number of arguments.
  // cure: Write each tensor as an argument: `concat<token>(a, b)`, `stack<batch>(all[0], all[1])`.
  auto r = concat<key>({x, x});
#elif defined CASE_stack_of_a_list_in_braces
  // expect-gcc: "umbel: stack: expects each tensor or view as an argument; write \(a, b\) instead of a list"
  // expect-clang: stack, .*expects_each_tensor_or_view_as_an_argument_so_write_f_of_a_and_b
  // cause: The axes of a result are constants, so the number of tensors has to be one as well: it is the number of arguments.
  // cure: Write each tensor as an argument: `concat<token>(a, b)`, `stack<batch>(all[0], all[1])`.
  auto r = stack<heads>({x, x});
#elif defined CASE_gather_of_positions_first
  // expect-gcc: "umbel: gather: key is an axis of the second argument \[batch=2, query=4, key=6\]; write gather<bucket>\(x, ids\)"
  // expect-clang: gather, .*key>, .*is_an_axis_of_the_second_argument, .*so_pass_the_tensor_then_its_positions
  // cause: The tensor and its positions are swapped.
  // cure: Pass the tensor first.
  auto r = gather<key>(tensor<int, heads<3>>{}, x);
#elif defined CASE_one_hot_of_a_number
  // expect-gcc: "umbel: one_hot: needs the axis of the classes with its size; write one_hot<classes<10>>\(ids\)"
  // expect-clang: umbel: one_hot: needs the axis of the classes with its size
  // cause: The result has one more axis, whose size the integers do not determine.
  // cure: Write `one_hot<classes<10>>(ids)`.
  auto r = one_hot<10>(tensor<int, heads<3>>{});
#elif defined CASE_function_of_a_struct_of_tensors
  // expect-gcc: "umbel: exp: expects a tensor or view, not [^"]*; pass one of its members, such as w\.weight"
  // expect-clang: exp, .*expects_a_tensor_or_view_and_not, .*so_pass_one_of_its_members_such_as_weight
  // cause: The function computes each element of a tensor, but the argument is an object with several.
  // cure: Pass one of the tensors in it.
  auto r = exp(linear<float, hidden<8>, intermediate<4>>::weights{});
#elif defined CASE_softmax_of_positions
  // expect-gcc: "umbel: softmax: position<key> and numbers computed from it have values only next to a tensor in a formula; write x \+ position<key>"
  // expect-clang: softmax, .*position_is_an_operand_in_a_formula_so_write_x_plus_position
  // cause: Positions have no size. In a formula, the size is that of a tensor with the axis.
  // cure: Combine them with a value of a formula first.
  auto r = (position<key> + 1) | softmax<key>;
#elif defined CASE_option_as_an_argument
  // expect-gcc: "umbel: padded: expects one tensor or view, then a number, but argument 2 is after"
  // expect-clang: padded, .*expects_one_tensor_or_view_then_a_number, .*but_argument, .*number<2>, .*is, .*after<1>
  // cause: Options are template arguments.
  // cure: Write `padded<query, after<1>>(x)`.
  auto r = padded<query>(x, after<1>{});
#else
  scores_of capped = maximum(minimum(x, 1), -x);
  (void)capped;
  const tensor<int, token<3>> ids{};
  tensor<float, batch<2>, query<8>, key<6>> two = concat<query>(x, x);
  tensor<float, token<3>, query<4>, key<6>> rows = lookup(x, ids);
  tensor<float, batch<2>, query<4>, token<3>> elements = gather<key>(x, ids);
  (void)elements;
  (void)two, (void)rows;
  const auto seen = keep | broadcast<batch<2>, query<4>, key<6>>;
  scores_of r = where(flags && seen, hide(x, !flags), x);
  (void)r;
#endif
}
