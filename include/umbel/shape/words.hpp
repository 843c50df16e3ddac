// SPDX-License-Identifier: BSL-1.0
// The words of the sentences about shapes: a sentence is a list of them, and of axes and sizes,
// that begins with the operation (verdict.hpp). Words of layers and masks are with their rules.
#pragma once

#include <umbel/config.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::say {
// operations
struct shape;
struct access;
struct split;
struct merge;
struct permute;
struct rename;
struct reshape;
struct select;
struct slice;
struct broadcast;
struct contract;
struct reduce;
struct elementwise;
struct compare;
struct copy;
struct memory;
struct transposed;
struct view;
// phrases
struct and_;
struct are_not_neighbours_in_this_order_in;
struct axes_of;
struct belongs;
struct but_right_has;
struct but_the_right_side_holds;
struct but_the_size_of_the_memory_is_known_at_run_time_only_so_view_its_pointer;
struct but_the_whole_is;
struct do_not_fit_a_tensor_of;
struct do_not_lie_in_one_run_in_memory_so_pass_contiguous;
struct does_not_fit;
struct elements;
struct elements_but;
struct elements_but_the_list_has;
struct elements_but_the_memory_holds;
struct elements_of;
struct has;
struct has_an_axis;
struct has_more_elements_than_memory_can_hold;
struct has_no_axis;
struct has_no_positions_in;
struct has_several_elements_in_one_place;
struct has_strides_for_some_axes_only;
struct have_different_axes;
struct have_the_same_axes_in_another_order_so_permute_one;
struct in;
struct into;
struct is_a_temporary_so_give_it_a_name;
struct is_a_temporary_that_would_end_before_the_view_so_give_it_a_name;
struct is_already_an_axis_of;
struct is_const;
struct is_not_an_axis_of;
struct is_not_row_major_in_memory_so_pass_contiguous;
struct is_past_the_end_of;
struct keeps_no_position;
struct leaves_a_remainder_of;
struct left_has;
struct lists;
struct lists_of;
struct multiply_up_to;
struct names;
struct neither;
struct nor;
struct number_;
struct of_the;
struct of_the_axes_is_not_an_axis;
struct over;
struct parts;
struct position;
struct positions_are_all_integers_or_all_by_name_in;
struct positions_for_the;
struct positions_from;
struct reach_past_the_end_of;
struct stands_where_the_axis;
struct stands_where_the_element_type_belongs;
struct takes_two_axes_or_more_and_then_the_name_of_the_result;
struct the_elements_of;
struct the_left_side;
struct the_left_side_holds;
struct the_memory_of;
struct the_right_side;
struct the_target;
struct there_is_no_axis;
struct twice_in;
struct wants;
struct wants_a_position_along;
struct wants_one_list_of;
}  // namespace umbel::inline UMBEL_TARGET::detail::say
UMBEL_WARNINGS_POP
