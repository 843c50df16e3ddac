// SPDX-License-Identifier: BSL-1.0
// The words of messages about shapes. A message is a list of words, axes and sizes that begins with
// the operation (verdict.hpp). Words of layers and masks are with their rules.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/verdict.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
namespace say {
// operations
struct shape;
struct access;
struct at;
struct axis;
struct split;
struct merge;
struct permute;
struct rename_axis;
struct reshape;
struct select_at;
struct slice;
struct windows;
struct patches;
struct padded;
struct broadcast;
struct contract;
struct reduce;
struct elementwise;
struct compare;
struct copy;
struct memory;
struct transposed;
struct tensor;
struct view;
struct view_as;
struct where;
struct hide;

// phrases
struct and_;
struct is;
struct axes_of;

struct but_the_right_side_has;
struct
    but_the_size_of_a_vector_or_span_is_known_only_at_run_time_so_view_its_pointer_to_use_or_copy_it;
struct elements;
struct elements_but_the_memory_holds;
struct elements_of;
struct has;
struct has_no_axis;

struct have_different_axes;
struct in;
struct into;
struct is_const;
struct is_past_the_end_of;

struct leaves_a_remainder_of;
struct lists;
struct lists_of;
struct the_left_side_has;

struct neither;
struct nor;

struct but_got;
struct is_missing;
struct item;
struct none_of;
struct of_the;
struct several_elements_of;
struct the_axis;
struct would_be_left;

struct position;

struct needs;
struct needs_one_list_of;
struct the_left_side;
struct the_memory_of;
struct the_target;
struct the_weights_of;
}  // namespace say

UMBEL_SAYS(a_pointer_has_no_size_so_view_it_by_view_as,
           "a pointer has no size; write view_as<axes>(pointer)");
UMBEL_SAYS(so_permute_them_together_then_contiguous,
           "; bring them together, x | permute<...> | contiguous");
UMBEL_SAYS(are_not_contiguous_in_memory_so_pass_contiguous_of_x,
           "are not contiguous in memory; pass contiguous(x)");
UMBEL_SAYS(is_not_row_major_in_memory_so_pass_contiguous_of_x,
           "is not row-major in memory; pass contiguous(x)");
UMBEL_SAYS(is_a_temporary_so_store_it_in_a_variable, "is a temporary; store it in a variable");
UMBEL_SAYS(is_a_temporary_that_would_be_destroyed_before_the_view_so_store_it_in_a_variable,
           "is a temporary that would be destroyed before the view; store it in a variable");
UMBEL_SAYS(share_one_memory_location, "share one memory location (broadcast or windows)");
UMBEL_SAYS(has_the_base_axis_of, "has the base of the axis");
UMBEL_SAYS(so_derive_it_from_axis_of_itself_and_N, "; derive it from axis<itself, N>");
UMBEL_SAYS(have_different_axes_so_broadcast_one,
           "have different axes; to repeat one along the others, write x | broadcast<...>");
UMBEL_SAYS(have_different_axes_so_contract_them_or_multiply_by_weights,
           "have different axes; for a matrix product write contract<axis>(x, y) or x * weights");
UMBEL_SAYS(sizes_at_run_time_need_one_tensor_type_and_a_pointer,
           "sizes at run time need one tensor type and a pointer; write view_as<tensor<float, "
           "batch<2>, hidden<100>>>(pointer, sizes)");
UMBEL_SAYS(expects_memory_so_write_reshape_for_the_tensor,
           "expects an array, a span or a pointer; write x | reshape<token<8>, hidden<100>> for "
           "the tensor");
UMBEL_SAYS(
    axes_have_names_so_write_view_as_batch_not,
    "axes have names; write view_as<batch<2>, query<4>, hidden<100>>(memory), not sizes such as");
UMBEL_SAYS(is_not_an_element_type_so_write_const_tensor_or_view_of_const_float,
           "is not an element type; write const tensor<float, ...>, or view<const float, ...> for "
           "other memory");
UMBEL_SAYS(is_not_an_element_type_so_write_float_or_another_object_type,
           "is not an element type; write float or another object type");
UMBEL_SAYS(but_argument, ", but argument");
UMBEL_SAYS(so_write_copy, "; to round them, write copy(from, to)");
UMBEL_SAYS(
    an_array_has_no_named_axes_so_write_view_as,
    "an array has no named axes; write view_as<tensor<float, token<4>, hidden<100>>>(memory)");
UMBEL_SAYS(can_only_be_assigned_a_tensor_or_view_so_copy_an_array_or_vector_from_view_as,
           "can only be assigned a tensor or view; for an array or vector write "
           "copy(view_as<tensor<...>>(memory), x)");
UMBEL_SAYS(cannot_be_assigned_a_result_or_expected_view_so_check_it_and_assign_star_of_it,
           "cannot be assigned a result such as an expected_view; check it, then write x = *r");
UMBEL_SAYS(cannot_be_assigned_a_number_so_write_a_for_loop,
           "cannot be assigned a number; write for (float& element : x) element = number");
UMBEL_SAYS(is_not_one_number_so_write_x_of_i_and_j_or_reduce_all_of_its_axes,
           "is not one number; write x(i, j), or reduce all of its axes");
UMBEL_SAYS(cannot_be_copied_to_weights_so_copy_it_to_a_view_of_their_array_weight,
           "cannot be copied to weights; write copy(x, view_as<in_features, out_features>("
           "w.weight)), with the axes of x");
UMBEL_SAYS(brackets, "x[...]");
UMBEL_SAYS(has_1_position_for_the, "has 1 position for the");
UMBEL_SAYS(so_write_x_of_i_and_j, "; write x(i, j), with a position for each");
UMBEL_SAYS(has_no_axes_so_one_element_but_the_list_has,
           "without axes has one element but the list has");
UMBEL_SAYS(so_write_the_axes_in_its_type,
           "; write the axes in its type, tensor<float, query<4>, hidden<100>>");
UMBEL_SAYS(
    needs_one_integer_and_one_axis_so_write_x_with_a_position_for_each_of,
    "needs one integer and a tensor with one axis; write x(i, j), with a position for each of");
UMBEL_SAYS(expects_two_or_more_axes_then_the_name_of_the_result,
           "expects two or more axes, then the name of the result");

// A type from outside Umbel, by its name: "vector", "float*", "char [7]".
template <class T>
struct given {};
template <class T>
struct speak<given<T>> {
  static constexpr void to(sentence_buffer& out) {
    constexpr const char* function = __PRETTY_FUNCTION__;
    const char* begin = function;
    while (*begin != '=') ++begin;
    begin += 2;
    const char* end = begin;
    while (*end) ++end;
    while (*--end != ']') {
    }
    std::size_t depth = 0;
    for (const char* c = begin; c < end; ++c) {
      if (*c == '<') ++depth;
      if (*c == '>') --depth;
      if (*c == ':' && depth == 0) begin = c + 1;
    }
    if (*begin == '<') out.put("lambda");
    for (const char* c = begin; c < end && *c != ';'; ++c) {
      if (*c == '<') ++depth;
      if (depth == 0) out.put(*c);
      if (*c == '>') --depth;
    }
  }
};
template <class T>
struct a_pointer_to {};  // "a pointer to float"
template <class T>
struct speak<a_pointer_to<T>> {
  static constexpr void to(sentence_buffer& out) {
    out.put("a pointer to ");
    speak<T>::to(out);
  }
};
template <class T>
using type_of_given =
    std::conditional_t<std::is_pointer_v<T>,
                       a_pointer_to<given<std::remove_cv_t<std::remove_pointer_t<T>>>>, given<T>>;
}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
