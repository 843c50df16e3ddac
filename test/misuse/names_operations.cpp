// SPDX-License-Identifier: BSL-1.0
// Functions of elements, and the operations of sequences with their options.
#include <misuse/preamble.hpp>

// table of functions: NAME
// row: log
// row: rsqrt
// row: sigmoid
// row: cos
// row: erf
// row: floor
// row: sin
// table of activations: NAME
// row: gelu_tanh
// row: elu
// row: softplus
// row: log_sigmoid

#if defined CASE_NAME_along_an_axis
// each of: functions
// fact: NAME
// fact: axis|axes|hidden|each element
auto r = x | NAME<hidden>;
#elif defined CASE_NAME_piped
// each of: functions
// fact: \||pipe
// fact: exp|NAME
auto r = x | NAME;
#elif defined CASE_NAME_of_two
// each of: functions
// fact: NAME
// fact: one
auto r = NAME(x, 2.0f);
#elif defined CASE_NAME_of_a_refused_result
// each of: functions activations
// fact: hidden=100
// fact: heads=ROW
auto r = NAME(x | split<hidden, heads<ROW>, head_dim>)(0, 0, 0, 0);
#elif defined CASE_NAME_then_another_shape
// each of: functions activations
// fact: query=4
// fact: query=ROW
auto r = NAME(x) + tensor<float, batch<2>, query<ROW>, hidden<100>>{};
#elif defined CASE_log_sigmoid_along_an_axis
// fact: log_sigmoid
// fact: axis|axes|hidden|each element
auto r = x | log_sigmoid<hidden>;
#elif defined CASE_NAME_with_an_alpha
// each of: activations
// fact: NAME
// fact: one
auto r = x | NAME(0.1f);
#elif defined CASE_elu_as_an_option_itself
// fact: activation
// fact: elu|feed_forward
feed_forward<float, hidden<8>, intermediate<16>, elu, bias<true>>::weights r;
#elif defined CASE_NAME_of_a_vector
// each of: activations
// fact: NAME
// fact: vector
auto r = NAME(std::vector<float>(10));
#elif defined CASE_roll_by_a_size
// fact: roll
// fact: token|number
auto r = t | roll<token<3>>;
#elif defined CASE_roll_along_an_absent_axis
// fact: key
// fact: token=12
auto r = t | roll<key, 3>;
#elif defined CASE_roll_of_two_numbers
// fact: roll
// fact: -1|1
auto r = roll(t, 1, -1);
#elif defined CASE_exclusive_as_an_argument
// fact: cumulative_sum
// fact: exclusive
auto r = cumulative_sum<token>(t, exclusive{});
#elif defined CASE_exclusive_of_a_sum
// fact: sum
// fact: exclusive
auto r = sum<token, exclusive>(t);
#elif defined CASE_from_last_without_an_axis
// fact: cumulative_sum
// fact: axis|token
auto r = t | cumulative_sum<from_last>;
#elif defined CASE_from_last_twice
// fact: cumulative_sum
// fact: from_last|twice
auto r = t | cumulative_sum<token, from_last, from_last>;
#elif defined CASE_from_last_along_an_absent_axis
// fact: key
// fact: token=12
auto r = t | cumulative_sum<key, from_last, exclusive>;
#elif defined CASE_from_last_of_a_flip
// fact: flip
// fact: from_last|axis
auto r = t | flip<token, from_last>;
#elif defined CASE_kth_largest_of_too_many
// fact: key=6
// fact: 7
auto r = kth_largest<7, key>(scores);
#elif defined CASE_kth_largest_swapped
// fact: kth_largest
// fact: key|axis|number
auto r = kth_largest<key, 2>(scores);
#elif defined CASE_product_of_two
// fact: product
// fact: one tensor
auto r = product<token>(t, t);
#elif defined CASE_product_without_an_axis
// fact: product
// fact: axis|axes
auto r = product(t);
#elif defined CASE_product_along_an_absent_axis
// fact: key
// fact: token=12
auto r = product<key>(t);
#elif defined CASE_product_of_a_vector
// fact: product
// fact: tensor|vector
auto r = product<token>(std::vector<float>(3));
#elif defined CASE_minimum_along_an_axis
// fact: minimum
// fact: min<|axis|axes
auto r = minimum<key>(scores);
#elif defined CASE_minimum_of_one
// fact: minimum
// fact: two|min<
auto r = minimum(scores);
#elif defined CASE_dilation_of_padding
// fact: padded
// fact: dilation
auto r = t | padded<token, before<2>, dilation<2>>;
#elif defined CASE_dilation_too_large
// fact: token=12
// fact: 13|dilation=6|kernel_size=3
auto r = t | windows<token, kernel_size<3>, dilation<6>>;
#elif defined CASE_after_of_windows
// fact: windows
// fact: after
auto r = t | windows<token, kernel_size<3>, after<1>>;
#elif defined CASE_after_alone_of_an_absent_axis
// fact: key
// fact: token=12
auto r = t | padded<key, after<1>>;
#elif defined CASE_after_as_a_number
// fact: padded
// fact: before|after
auto r = t | padded<token, 1, 1>;
#elif defined CASE_after_given_as_an_argument
// fact: padded
// fact: after
auto r = padded<token>(t, after<1>{});
#elif defined CASE_padded_by_nothing
// fact: padded
// fact: token=12
auto r = t | padded<token>;
#elif defined CASE_roll_by_nothing_at_all
// fact: roll
// fact: token=12
auto r = t | roll<token>;
#elif defined CASE_sum_of_a_sized_axis
// fact: sum
// fact: names of axes|token
auto r = t | sum<token<12>>;
#elif defined CASE_largest_by_the_number_of_an_axis
// fact: max
// fact: names of axes|token
auto r = max<1>(t);
#elif defined CASE_smallest_of_a_sized_axis
// fact: min
// fact: names of axes|key
auto r = min<key<6>>(scores);
#elif defined CASE_concat_of_braces
// fact: concat
// fact: argument|list
auto r = concat<token>({t, t});
#elif defined CASE_patches_larger_than_the_image
// fact: patches
// fact: patch_row=9|pixel_row=8
auto r = tensor<float, pixel_row<8>, pixel_column<8>>{} |
         patches<pixel_row, pixel_column, patch_row<9>, patch_column<2>>;
#elif defined CASE_patches_with_a_stride_too
// fact: patches
// fact: stride
auto r = tensor<float, pixel_row<8>, pixel_column<8>>{} |
         patches<pixel_row, pixel_column, patch_row<2>, patch_column<2>, stride<1>>;
#elif defined CASE_exp_of_weights
// fact: exp
// fact: multi_head_parts|weights
auto r = exp(sw);
#endif
