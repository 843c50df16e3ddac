// SPDX-License-Identifier: BSL-1.0
// Mistakes with memory: tensors that cannot be, elements that are not there, memory of another
// size, views that would dangle, copies into another shape (check.py).
#include <umbel/umbel.hpp>

#include <array>
#include <span>
#include <sstream>
#include <vector>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using context = tensor<float, batch<2>, key<6>, hidden<100>>;
template <class T>
using queries_view = view<T, batch<2>, query<4>, hidden<100>>;

[[maybe_unused]] static void reads(queries_view<const float>) {}

[[maybe_unused]] static void cases(queries& x, const queries& only_read, context& y,
                                   std::span<float> run_time, std::vector<float>& vector) {
  float raw[800]{};
  std::array<float, 799> array{};
  (void)x, (void)only_read, (void)y, (void)raw, (void)array, (void)run_time, (void)vector;
#if defined CASE_tensor_duplicate_axes
  // expect-gcc: "umbel: shape: the axis batch is named twice in \[batch=2, query=4, batch=3\]"
  // expect-clang: shape.*the_axis.*batch>.*is_named_twice_in.*batch<2>.*query<4>.*batch<3>
  // cause: Two axes of one shape have the same name, which would be ambiguous.
  // cure: Rename one of them, if necessary to a custom axis: `template <std::size_t N> struct channel : axis<channel, N> {};`
  tensor<float, batch<2>, query<4>, batch<3>> t;
#elif defined CASE_view_duplicate_axes
  // expect-gcc: "umbel: shape: the axis batch is named twice in \[batch=20, batch=40\]"
  // expect-clang: shape.*the_axis.*batch>.*is_named_twice_in.*batch<20>.*batch<40>
  // cause: Two axes of one shape have the same name, which would be ambiguous.
  // cure: Rename one of them, if necessary to a custom axis: `template <std::size_t N> struct channel : axis<channel, N> {};`
  view<float, batch<20>, batch<40>> v(raw);
#elif defined CASE_zero_sized_axis
  // expect-gcc: "umbel: shape: query=0 has size 0 in \[batch=2, query=0\]"
  // expect-clang: shape, .*query<0>, .*has_size_0_in, .*batch<2>, .*query<0>
  // cause: An axis has size 0.
  // cure: Set every axis to a size of at least 1, or leave the axis out.
  tensor<float, batch<2>, query<0>> t;
#elif defined CASE_more_elements_than_memory
  // expect-gcc: "umbel: shape: \[batch=4294967296, query=4294967296\] has more elements than memory can hold"
  // expect-clang: shape, .*batch<4294967296>, .*query<4294967296>>, .*has_more_elements_than_memory_can_hold
  // cause: The product of the sizes is more than memory can hold: 2^51 elements, or 2^28 with 32-bit pointers.
  // cure: Look for a size with an extra digit or an extra factor.
  view<float, batch<(1ull << 32)>, query<(1ull << 32)>> v(raw);
#elif defined CASE_strides_for_some_axes
  // expect-gcc: "umbel: shape: only some axes of \[batch=2, query=4\] have strides; give them to all or none"
  // expect-clang: shape.*only_some_axes_of.*batch<2>.*query<4>.*have_strides_so_give_them_to_all_or_none
  // cause: Some axes are `strided<...>`, others are not.
  // cure: Write a stride for every axis, or for none.
  view<float, batch<2>, strided<query<4>, 100>> v(raw);
#elif defined CASE_access_one_missing
  // expect-gcc: "umbel: access: lists 2 of the 3 axes of \[batch=2, query=4, hidden=100\]"
  // expect-clang: access, .*lists, .*<2>, .*of_the, .*<3>, .*axes_of, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: An axis is missing in the access to an element.
  // cure: Name every axis once: `x(at<batch>(0), at<query>(1), at<hidden>(2))`; for a part of a tensor use `select_at`.
  float e = x(at<batch>(1), at<hidden>(3));
#elif defined CASE_access_foreign_axis
  // expect-gcc: "umbel: access: there is no axis key in \[batch=2, query=4, hidden=100\]"
  // expect-clang: access, .*there_is_no_axis, .*key>, .*in, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: The access names an axis that the tensor does not have.
  // cure: Use the axes in the brackets; they may have been renamed before.
  float e = x(at<batch>(1), at<key>(3), at<hidden>(7));
#elif defined CASE_access_twice
  // expect-gcc: "umbel: access: the axis query is named twice in \[batch=2, query=4, hidden=100\]"
  // expect-clang: access.*the_axis.*query>.*is_named_twice_in.*batch<2>.*query<4>.*hidden<100>
  // cause: One axis has two positions.
  // cure: Pass one position for each axis; the second one was probably meant for a different axis.
  float e = only_read(at<query>(1), at<query>(3), at<hidden>(7));
#elif defined CASE_access_of_a_view_foreign_axis
  // expect-gcc: "umbel: access: there is no axis query in \[batch=2, key=4, hidden=100\]"
  // expect-clang: access, .*there_is_no_axis, .*query>, .*in, .*batch<2>, .*key<4>, .*hidden<100>
  // cause: The access names an axis that the tensor does not have.
  // cure: Use the axes in the brackets; they may have been renamed before.
  float e = rename_axis<query, key>(x)(at<batch>(1), at<query>(3), at<hidden>(7));
#elif defined CASE_access_too_few_positions
  // expect-gcc: "umbel: access: 2 positions for the 3 axes of \[batch=2, query=4, hidden=100\]"
  // expect-clang: access, .*<2>, .*positions_for_the, .*<3>, .*axes_of, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: The access has too few or too many positions.
  // cure: Pass one position for each axis, in the order of the brackets.
  float e = x(1, 2);
#elif defined CASE_access_too_many_positions
  // expect-gcc: "umbel: access: 4 positions for the 3 axes of \[batch=2, query=4, hidden=100\]"
  // expect-clang: access, .*<4>, .*positions_for_the, .*<3>, .*axes_of, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: The access has too few or too many positions.
  // cure: Pass one position for each axis, in the order of the brackets.
  float e = queries_view<float>(raw)(1, 2, 3, 4);
#elif defined CASE_write_to_what_is_only_read
  // expect: read-only|cannot assign to return value|not assignable
  // cause: The code writes to an element of a const tensor, or of a view of const elements.
  // cure: Remove the const from the declaration of the tensor, or write to a copy: `auto copy = x | contiguous;`
  only_read(1, 2, 3) = 4;
#elif defined CASE_raw_array_size
  // expect-gcc: "umbel: view_as: \[batch=2, query=4, hidden=99\] needs 792 elements but the memory holds 800"
  // expect-clang: view_as.*batch<2>.*query<4>.*hidden<99>.*needs.*number<792>.*elements_but_the_memory_holds.*number<800>
  // cause: The array has a different number of elements than the shape.
  // cure: Correct the wrong size, in the shape or in the array.
  auto v = view_as<batch<2>, query<4>, hidden<99>>(raw);
#elif defined CASE_array_of_arrays_in_another_order
  // expect-gcc: "umbel: view_as: \[batch=2, query=4, hidden=100\] needs an array of the same sizes in the same order, but the array is float \[4\]\[2\]\[100\]"
  // expect-clang: view_as.*batch<2>.*query<4>.*hidden<100>.*needs_an_array_of_the_same_sizes_in_the_same_order.*but_the_array_is.*float\[4\]\[2\]\[100\]
  // cause: The sizes of the nested array differ from those of the axes, in this order, so a wrong axis would be read.
  // cure: List the axes in the order of the array, `view_as<query<4>, batch<2>, hidden<100>>(a)`; to read the elements with a different shape, add `| permute<...>` or `| reshape<...>`.
  static float by_query[4][2][100];
  auto v = view_as<queries>(by_query);
#elif defined CASE_view_deduced_from_a_temporary
  // expect-gcc: "umbel: view: the memory of \[batch=2, query=4, hidden=100\] is a temporary that would be destroyed before the view; store it in a variable"
  // expect-clang: view.*the_memory_of.*batch<2>.*query<4>.*hidden<100>.*is_a_temporary_that_would_be_destroyed_before_the_view_so_store_it_in_a_variable
  // cause: The view refers to a result that is destroyed at the end of its statement.
  // cure: Keep the result: `auto sum = x + x;`, then view `sum`.
  view v = x + x;
#elif defined CASE_std_array_size
  // expect-gcc: "umbel: view_as: \[batch=2, query=4, hidden=100\] needs 800 elements but the memory holds 799"
  // expect-clang: view_as.*batch<2>.*query<4>.*hidden<100>.*needs.*number<800>.*elements_but_the_memory_holds.*number<799>
  // cause: The array has a different number of elements than the shape.
  // cure: Correct the wrong size, in the shape or in the array.
  auto v = view_as<batch<2>, query<4>, hidden<100>>(array);
#elif defined CASE_span_size
  // expect-gcc: "umbel: view_as: \[query=4, hidden=100\] needs 400 elements but the memory holds 799"
  // expect-clang: view_as.*query<4>.*hidden<100>.*needs.*number<400>.*elements_but_the_memory_holds.*number<799>
  // cause: The array has a different number of elements than the shape.
  // cure: Correct the wrong size, in the shape or in the array.
  auto v = view_as<query<4>, hidden<100>>(std::span(array));
#elif defined CASE_span_of_run_time_size
  // expect-gcc: "umbel: view_as: \[query=8, hidden=100\] needs 800 elements but the size of a vector or span is known only at run time; view its pointer to use or copy it"
  // expect-clang: view_as.*query<8>.*hidden<100>.*needs.*number<800>.*elements.*but_the_size_of_a_vector_or_span_is_known_only_at_run_time_so_view_its_pointer_to_use_or_copy_it
  // cause: The compiler does not know the size of a `std::vector` or of a `std::span` without a fixed size.
  // cure: Check the size yourself, then view the pointer: `view_as<query<8>, hidden<100>>(v.data())`.
  auto v = view_as<query<8>, hidden<100>>(run_time);
#elif defined CASE_vector
  // expect-gcc: "umbel: view_as: \[query=8, hidden=100\] needs 800 elements but the size of a vector or span is known only at run time; view its pointer to use or copy it"
  // expect-clang: view_as.*query<8>.*hidden<100>.*needs.*number<800>.*elements.*but_the_size_of_a_vector_or_span_is_known_only_at_run_time_so_view_its_pointer_to_use_or_copy_it
  // cause: The compiler does not know the size of a `std::vector` or of a `std::span` without a fixed size.
  // cure: Check the size yourself, then view the pointer: `view_as<query<8>, hidden<100>>(v.data())`.
  auto v = view_as<query<8>, hidden<100>>(vector);
#elif defined CASE_strided_memory_too_small
  // expect-gcc: "umbel: view_as: \[query=4, hidden=100\] needs 868 elements but the memory holds 800"
  // expect-clang: view_as.*query<4>.*hidden<100>.*needs.*number<868>.*elements_but_the_memory_holds.*number<800>
  // cause: The strides reach past the end of the array.
  // cure: Correct the strides, or pass the whole array: the view needs all elements up to its last one.
  auto v = view_as<strided<query<4>, 256>, strided<hidden<100>, 1>>(raw);
#elif defined CASE_view_as_zero_sized
  // expect-gcc: "umbel: shape: query=0 has size 0 in \[query=0, hidden=100\]"
  // expect-clang: shape, .*query<0>, .*has_size_0_in, .*query<0>, .*hidden<100>
  // cause: An axis has size 0.
  // cure: Set every axis to a size of at least 1, or leave the axis out.
  auto v = view_as<query<0>, hidden<100>>(raw);
#elif defined CASE_list_too_long
  // expect-gcc: "umbel: tensor: \[batch=2\] needs 2 elements but the list has 3"
  // expect-clang: tensor.*batch<2>.*needs.*number<2>.*elements_but_the_list_has.*number<3>
  // cause: The list has a different number of elements than the tensor.
  // cure: List every element in row-major order; `{}` is all zeros.
  tensor<int, batch<2>> lens{3, 2, 1};
#elif defined CASE_list_of_fractions
  // expect-gcc: "umbel: tensor: elements of float do not fit a tensor of int"
  // expect-clang: tensor.*elements_of.*element<float>.*do_not_fit_a_tensor_of.*element<int>
  // cause: The list has fractions, which a tensor of integers would truncate.
  // cure: List integers, or convert each number with `static_cast<int>`.
  tensor<int, batch<2>> lens{1.5f, 2};
#elif defined CASE_fractions_for_integers
  // expect-gcc: "umbel: tensor: elements of float do not fit a tensor of int"
  // expect-clang: tensor.*elements_of.*element<float>.*do_not_fit_a_tensor_of.*element<int>
  // cause: The list has fractions, which a tensor of integers would truncate.
  // cure: List integers, or convert each number with `static_cast<int>`.
  tensor<int, batch<2>, query<4>, hidden<100>> whole = x;
#elif defined CASE_integers_by_a_fraction
  // expect-gcc: "umbel: elementwise: elements of double do not fit a tensor of int"
  // expect-clang: elementwise.*elements_of.*element<double>.*do_not_fit_a_tensor_of.*element<int>
  // cause: The tensor of integers would truncate a fraction.
  // cure: Convert it to a float tensor first: `tensor<float, batch<2>>(x)`.
  auto half = tensor<int, batch<2>>{10, 20} * 0.5;
#elif defined CASE_tensor_of_array_size
  // expect-gcc: "umbel: tensor: \[batch=2, query=4, hidden=100\] needs 800 elements but the memory holds 799"
  // expect-clang: tensor.*batch<2>.*query<4>.*hidden<100>.*needs.*number<800>.*elements_but_the_memory_holds.*number<799>
  // cause: The array has a different number of elements than the shape.
  // cure: Correct the wrong size, in the shape or in the array.
  queries q(array);
#elif defined CASE_tensor_of_raw_array_size
  // expect-gcc: "umbel: tensor: \[batch=2, key=6, hidden=100\] needs 1200 elements but the memory holds 800"
  // expect-clang: tensor.*batch<2>.*key<6>.*hidden<100>.*needs.*number<1200>.*elements_but_the_memory_holds.*number<800>
  // cause: The array has a different number of elements than the shape.
  // cure: Correct the wrong size, in the shape or in the array.
  context c(raw);
#elif defined CASE_tensor_of_run_time_span
  // expect-gcc: "umbel: tensor: \[batch=2, query=4, hidden=100\] needs 800 elements but the size of a vector or span is known only at run time; view its pointer to use or copy it"
  // expect-clang: tensor.*batch<2>.*query<4>.*hidden<100>.*needs.*number<800>.*elements.*but_the_size_of_a_vector_or_span_is_known_only_at_run_time_so_view_its_pointer_to_use_or_copy_it
  // cause: The compiler does not know the size of a `std::vector` or of a `std::span` without a fixed size.
  // cure: Check the size yourself, then view the pointer: `view_as<query<8>, hidden<100>>(v.data())`.
  queries q(run_time);
#elif defined CASE_view_of_a_temporary
  // expect-gcc: "umbel: view: the memory of \[batch=2, query=4, hidden=100\] is a temporary that would be destroyed before the view; store it in a variable"
  // expect-clang: view.*the_memory_of.*batch<2>.*query<4>.*hidden<100>.*is_a_temporary_that_would_be_destroyed_before_the_view_so_store_it_in_a_variable
  // cause: The view refers to a result that is destroyed at the end of its statement.
  // cure: Keep the result: `auto sum = x + x;`, then view `sum`.
  queries_view<const float> v = x + x;
#elif defined CASE_as_view_of_a_temporary
  // expect-gcc: "umbel: view: the memory of \[batch=2, query=4, hidden=100\] is a temporary that would be destroyed before the view; store it in a variable"
  // expect-clang: view.*the_memory_of.*batch<2>.*query<4>.*hidden<100>.*is_a_temporary_that_would_be_destroyed_before_the_view_so_store_it_in_a_variable
  // cause: The view refers to a result that is destroyed at the end of its statement.
  // cure: Keep the result: `auto sum = x + x;`, then view `sum`.
  auto v = as_view(x + x);
#elif defined CASE_view_of_a_temporary_array
  // expect-gcc: "umbel: view_as: the memory of \[query=4, hidden=2\] is a temporary that would be destroyed before the view; store it in a variable"
  // expect-clang: view_as.*the_memory_of.*query<4>.*hidden<2>.*is_a_temporary_that_would_be_destroyed_before_the_view_so_store_it_in_a_variable
  // cause: The view refers to a result that is destroyed at the end of its statement.
  // cure: Keep the result: `auto sum = x + x;`, then view `sum`.
  auto v = view_as<query<4>, hidden<2>>(std::array<float, 8>{});
#elif defined CASE_construct_from_other_axes
  // expect-gcc: "umbel: copy: \[batch=2, query=4, hidden=100\] and \[batch=2, key=6, hidden=100\] have different axes"
  // expect-clang: copy, .*batch<2>, .*query<4>, .*hidden<100>>, .*and_, .*batch<2>, .*key<6>, .*hidden<100>>, .*have_different_axes
  // cause: The source and the target have different axes or sizes.
  // cure: Rename, reshape or slice the source, or declare the target with the axes of the source.
  queries q = y;
#elif defined CASE_assign_other_order
  // expect-gcc: "umbel: copy: \[batch=2, query=4, hidden=100\] and \[query=4, batch=2, hidden=100\] have the same axes in a different order; permute one"
  // expect-clang: copy, .*batch<2>, .*query<4>, .*hidden<100>>, .*and_, .*query<4>, .*batch<2>, .*hidden<100>>, .*have_the_same_axes_in_a_different_order_so_permute_one
  // cause: The source and the target have the same axes in a different order, but elements are copied in order.
  // cure: Permute the source: `to = from | permute<batch, query, hidden>;`
  x = x | permute<query, batch, hidden>;
#elif defined CASE_copy_to_another_shape
  // expect-gcc: "umbel: copy: \[batch=2, key=6, hidden=100\] and \[batch=2, query=4, hidden=100\] have different axes"
  // expect-clang: copy, .*batch<2>, .*key<6>, .*hidden<100>>, .*and_, .*batch<2>, .*query<4>, .*hidden<100>>, .*have_different_axes
  // cause: The source and the target have different axes or sizes.
  // cure: Rename, reshape or slice the source, or declare the target with the axes of the source.
  copy(y, x);
#elif defined CASE_copy_to_another_order
  // expect-gcc: "umbel: copy: \[batch=2, query=4, hidden=100\] and \[query=4, batch=2, hidden=100\] have the same axes in a different order; permute one"
  // expect-clang: copy, .*batch<2>, .*query<4>, .*hidden<100>>, .*and_, .*query<4>, .*batch<2>, .*hidden<100>>, .*have_the_same_axes_in_a_different_order_so_permute_one
  // cause: The source and the target have the same axes in a different order, but elements are copied in order.
  // cure: Permute the source: `to = from | permute<batch, query, hidden>;`
  copy(x, x | permute<query, batch, hidden>);
#elif defined CASE_run_time_memory_of_another_type
  // expect-gcc: "umbel: view_as: \[batch=2, query=4, hidden=100\] holds float but the pointer is to double"
  // expect-clang: view_as.*batch<2>.*query<4>.*hidden<100>.*holds.*element<float>.*but_the_pointer_is_to.*element<double>
  // cause: The memory has a different element type than the tensor.
  // cure: View it with its own element type, and copy to the other type.
  double other[800]{};
  auto e = view_as<queries>(+other, std::size_t{800});
#elif defined CASE_access_in_two_ways
  // expect-gcc: "umbel: access: positions must all be integers or all be named in \[batch=2, query=4, hidden=100\]"
  // expect-clang: access.*positions_must_all_be_integers_or_all_be_named_in.*batch<2>.*query<4>.*hidden<100>
  // cause: Some positions are integers and some are named, or one is not an integer.
  // cure: Write `x(1, 2, 3)` or `x(at<batch>(1), at<query>(2), at<hidden>(3))`.
  auto e = x(at<batch>(1), 2, at<hidden>(3));
#elif defined CASE_access_by_double
  // expect-gcc: "umbel: access: positions must all be integers or all be named in \[batch=2, query=4, hidden=100\]"
  // expect-clang: access.*positions_must_all_be_integers_or_all_be_named_in.*batch<2>.*query<4>.*hidden<100>
  // cause: Some positions are integers and some are named, or one is not an integer.
  // cure: Write `x(1, 2, 3)` or `x(at<batch>(1), at<query>(2), at<hidden>(3))`.
  auto e = x(0, 1.5, 2);
#elif defined CASE_select_without_position
  // expect-gcc: "umbel: select_at: needs a position along query"
  // expect-clang: select_at.*needs_a_position_along.*query>
  // cause: The position to select is missing.
  // cure: Write `select_at<query, 2>`, or `select_at<query>(i)` if the position is known only at run time.
  auto e = x | select_at<query>;
#elif defined CASE_type_among_the_axes
  // expect-gcc: "umbel: shape: item 2 in the list of axes is not an axis"
  // expect-clang: shape.*item.*number<2>.*in_the_list_of_axes_is_not_an_axis
  // cause: The list of axes contains a type that is not an axis, often a tensor type or an element type.
  // cure: List only axes with their sizes: `tensor<float, batch<2>, hidden<100>>`.
  tensor<float, batch<2>, int> r{};
  r(1, 0) = 1;
#elif defined CASE_view_as_a_tensor_of_another_size
  // expect-gcc: "umbel: view_as: \[batch=2, query=4, hidden=100\] needs 800 elements but the memory holds 799"
  // expect-clang: view_as.*batch<2>.*query<4>.*hidden<100>.*needs.*number<800>.*elements_but_the_memory_holds.*number<799>
  // cause: The array has a different number of elements than the shape.
  // cure: Correct the wrong size, in the shape or in the array.
  float memory[799] = {};
  auto r = view_as<queries>(memory);
#elif defined CASE_element_type_forgotten
  // expect-gcc: "umbel: shape: expected an element type but got batch=2"
  // expect-clang: shape.*expected_an_element_type_but_got.*batch<2>
  // cause: The element type, the first template argument, is missing.
  // cure: Add it: `tensor<float, batch<2>, hidden<100>>`.
  tensor<batch<2>, hidden<100>> r;
#elif defined CASE_view_of_a_tensor_type
  // expect-gcc: "umbel: shape: expected an element type but got \[batch=2, query=4, hidden=100\]"
  // expect-clang: shape.*expected_an_element_type_but_got.*batch<2>.*query<4>.*hidden<100>
  // cause: The template argument is the type of a tensor; a view has an element type and axes.
  // cure: Write `view<const float, batch<2>, query<4>, hidden<100>>`, or `const auto v = as_view(x);`
  view<tensor<float, batch<2>, query<4>, hidden<100>>> r{
      tensor<float, batch<2>, query<4>, hidden<100>>{}};
#elif defined CASE_one_error_of_a_type_among_the_axes
  // expect-gcc: "umbel: shape: item 1 in the list of axes is not an axis"
  // expect-clang: shape.*item.*number<1>.*in_the_list_of_axes_is_not_an_axis
  // cause: The list of axes contains a type that is not an axis, often a tensor type or an element type.
  // cure: List only axes with their sizes: `tensor<float, batch<2>, hidden<100>>`.
  tensor<float, int, hidden<100>> r{};
  auto sum = r + queries{} | merge<batch, query, key>;
#elif defined CASE_one_number_for_all
  // expect-gcc: "umbel: tensor: \[batch=2, query=4, hidden=100\] needs 800 elements but the list has 1"
  // expect-clang: tensor.*batch<2>.*query<4>.*hidden<100>.*needs.*number<800>.*elements_but_the_list_has.*number<1>
  // cause: The tensor is initialized with one number, which is not repeated for all elements.
  // cure: Initialize it with zeros, then add the number: `queries x{}; x += 1`.
  queries ones(1.0f);
#elif defined CASE_lists_of_another_shape
  // expect-gcc: "umbel: tensor: \[query=2, key=3\] needs 2 lists of 3 elements"
  // expect-clang: tensor.*query<2>.*key<3>.*needs.*number<2>.*lists_of.*number<3>.*elements
  // cause: A tensor with two axes needs one list for each position of its first axis.
  // cure: Write as many lists as the first number, each with as many elements as the second.
  tensor<float, query<2>, key<3>> r{{1, 2}, {3, 4}, {5, 6}};
#elif defined CASE_lists_for_three_axes
  // expect-gcc: "umbel: tensor: \[batch=1, query=2, key=3\] needs one list of 6 elements"
  // expect-clang: tensor.*batch<1>.*query<2>.*key<3>.*needs_one_list_of.*number<6>.*elements
  // cause: Nested lists are for two or three axes, but the tensor has a different number of axes.
  // cure: For three axes, write lists of lists of elements; for any number of axes, write all elements in one list, the last axis fastest.
  tensor<float, batch<1>, query<2>, key<3>> r{{1, 2, 3}, {4, 5, 6}};
#elif defined CASE_lists_of_lists_of_another_shape
  // expect-gcc: "umbel: tensor: \[batch=2, query=2, key=3\] needs 2 lists of 2 lists of 3 elements"
  // expect-clang: tensor.*batch<2>.*query<2>.*key<3>.*needs.*number<2>.*lists_of.*number<2>.*lists_of.*number<3>.*elements
  // cause: A tensor with three axes needs a list for each position of its first axis, with a list for each position of its second axis.
  // cure: Write as many lists as the numbers require.
  tensor<float, batch<2>, query<2>, key<3>> r = {{{1, 2, 3}, {4, 5, 6}}};
#elif defined CASE_one_element_for_three
  // expect-gcc: "umbel: tensor: \[query=3\] needs 3 elements but the list has 1"
  // expect-clang: tensor.*query<3>.*needs.*number<3>.*elements_but_the_list_has.*number<1>
  // cause: The tensor is initialized with one number, which is not repeated for all elements.
  // cure: List every element, or initialize it with zeros and add the number: `tensor<int, query<3>> x{}; x += 1`.
  tensor<int, query<3>> r = {1};
#elif defined CASE_assign_to_a_view_without_a_name
  // expect-gcc: "umbel: view: assigning the view \[query=4, hidden=100\] re-points it and copies nothing; write copy\(from, to\)"
  // expect-clang: view.*assigning_the_view.*query<4>.*hidden<100>.*repoints_it_and_copies_nothing_so_write_copy
  // cause: Assigning to a view changes its address, as with a pointer, not the elements.
  // cure: Copy the elements: `copy(from, x | select_at<batch, 0>)`; `+=` and similar operators also write elements.
  (x | select_at<batch, 0>) = x | select_at<batch, 1>;
#elif defined CASE_assign_a_tensor_to_a_view
  // expect-gcc: "umbel: view: assigning the view \[query=4, hidden=100\] re-points it and copies nothing; write copy\(from, to\)"
  // expect-clang: view.*assigning_the_view.*query<4>.*hidden<100>.*repoints_it_and_copies_nothing_so_write_copy
  // cause: Assigning to a view changes its address, as with a pointer, not the elements.
  // cure: Copy the elements: `copy(from, x | select_at<batch, 0>)`; `+=` and similar operators also write elements.
  tensor<float, query<4>, hidden<100>> one{};
  auto first = x | select_at<batch, 0>;
  first = one;
#elif defined CASE_brackets_for_three_axes
  // expect-gcc: "umbel: x\[\.\.\.\]: has 1 position for the 3 axes of \[batch=2, query=4, hidden=100\]; write x\(i, j\), with a position for each"
  // expect-clang: brackets.*has_1_position_for_the.*number<3>.*axes_of.*batch<2>
  // cause: `x[i]` is for tensors with one axis.
  // cure: Pass one position for each axis, `x(0, 3, 7)`, or named positions, `x(at<hidden>(7), at<batch>(0), at<query>(3))`.
  x[0] = 1;
#elif defined CASE_brackets_twice
  // expect-gcc: "umbel: x\[\.\.\.\]: has 1 position for the 3 axes of \[batch=2, query=4, hidden=100\]; write x\(i, j\), with a position for each"
  // expect-clang: brackets.*has_1_position_for_the.*number<3>.*axes_of.*batch<2>
  // cause: `x[i]` is for tensors with one axis.
  // cure: Pass one position for each axis, `x(0, 3, 7)`, or named positions, `x(at<hidden>(7), at<batch>(0), at<query>(3))`.
  float element = x[0][3];
#elif defined CASE_brackets_with_a_list
  // expect-gcc: "umbel: x\[\.\.\.\]: needs one integer and a tensor with one axis; write x\(i, j\), with a position for each of \[batch=2, query=4, hidden=100\]"
  // expect-clang: brackets.*needs_one_integer_and_one_axis_so_write_x_with_a_position_for_each_of.*batch<2>
  // cause: `x[i]` is for tensors with one axis.
  // cure: Pass one position for each axis, `x(0, 3, 7)`, or named positions, `x(at<hidden>(7), at<batch>(0), at<query>(3))`.
  float element = x[{0, 3, 7}];
#elif defined CASE_assigned_by_a_fraction
  // expect-gcc: "umbel: access: positions must all be integers or all be named in \[batch=2, query=4, hidden=100\]"
  // expect-clang: access.*positions_must_all_be_integers_or_all_be_named_in.*batch<2>.*query<4>.*hidden<100>
  // cause: Some positions are integers and some are named, or one is not an integer.
  // cure: Write `x(1, 2, 3)` or `x(at<batch>(1), at<query>(2), at<hidden>(3))`.
  queries changed{};
  changed(1.0) = 1;
#elif defined CASE_row_of_a_tensor
  // expect-gcc: "umbel: access: 1 position for the 3 axes of \[batch=2, query=4, hidden=100\]"
  // expect-clang: access, .*number<1>, .*position_for_the, .*number<3>, .*axes_of, .*batch<2>.*query<4>.*hidden<100>
  // cause: The access has fewer or more positions than the tensor has axes.
  // cure: Pass one position for each axis; for a row, write `x | select_at<batch, 0>`.
  auto row = x(0);
  row(1, 2);
#elif defined CASE_view_as_a_tensor_of_another_type
  // expect-gcc: "umbel: view_as: \[batch=2, query=4, hidden=100\] holds float but the pointer is to double"
  // expect-clang: view_as.*batch<2>.*query<4>.*hidden<100>.*holds.*element<float>.*but_the_pointer_is_to.*element<double>
  // cause: The memory has a different element type than the tensor.
  // cure: View it with its own element type, and copy to the other type.
  double doubles[800] = {};
  auto r = view_as<queries>(doubles);
#elif defined CASE_rounded_by_a_copy
  // expect-gcc: "umbel: tensor: elements of double would be rounded in a tensor of float; to round them, write copy\(from, to\)"
  // expect-clang: tensor, .*elements_of, .*element<double>, .*would_be_rounded_in_a_tensor_of, .*element<float>
  // cause: The double elements would be rounded to float implicitly.
  // cure: Write `copy(from, to)`, which converts each element, or use one element type throughout.
  queries rounded = tensor<double, batch<2>, query<4>, hidden<100>>{};
#elif defined CASE_rounded_by_an_assignment
  // expect-gcc: "umbel: tensor: elements of double would be rounded in a tensor of float; to round them, write copy\(from, to\)"
  // expect-clang: tensor, .*elements_of, .*element<double>, .*would_be_rounded_in_a_tensor_of, .*element<float>
  // cause: The double elements would be rounded to float implicitly.
  // cure: Write `copy(from, to)`, which converts each element, or use one element type throughout.
  x = tensor<double, batch<2>, query<4>, hidden<100>>{};
#elif defined CASE_view_of_an_array_without_axes
  // expect-gcc: "umbel: view: an array has no named axes; write view_as<tensor<float, token<4>, hidden<100>>>\(memory\)"
  // expect-clang: view, .*an_array_has_no_named_axes_so_write_view_as
  // cause: Only you know the axes of plain memory.
  // cure: Write `view_as<queries>(memory)`, or `view_as<batch<2>, query<4>, hidden<100>>(memory)`.
  float memory[800]{};
  view v(memory);
#elif defined CASE_number_assigned_to_a_tensor
  // expect-gcc: "umbel: tensor: \[batch=2, query=4, hidden=100\] cannot be assigned a number; write for \(float& element : x\) element = number"
  // expect-clang: tensor, .*batch<2>, .*query<4>, .*hidden<100>>, .*cannot_be_assigned_a_number_so_write_a_for_loop
  // cause: A number is not a tensor.
  // cure: Write `for (float& element : x) element = 1;`; `x = {}` sets all elements to zero.
  x = 1.0f;
#elif defined CASE_vector_assigned_to_a_tensor
  // expect-gcc: "umbel: tensor: \[batch=2, query=4, hidden=100\] can only be assigned a tensor or view; for an array or vector write copy\(view_as<tensor<\.\.\.>>\(memory\), x\)"
  // expect-clang: tensor, .*batch<2>, .*query<4>, .*hidden<100>>, .*can_only_be_assigned_a_tensor_or_view_so_copy_an_array_or_vector_from_view_as
  // cause: Plain memory has no axes.
  // cure: Name the axes: `copy(view_as<queries>(memory), x)`; for a vector write `view_as<queries>(pointer, {2, 4, 100})`, checked at run time.
  int other[3]{};
  x = other;
#elif defined CASE_elements_that_are_references
  // expect-gcc: "umbel: tensor: float& is not an element type; write float or another object type"
  // expect-clang: tensor, .*float &.*is_not_an_element_type_so_write_float_or_another_object_type
  // cause: C\+\+ has no arrays of references.
  // cure: Write `tensor<float, hidden<8>>`; to refer to existing memory, write `view<float, hidden<8>>`.
  tensor<float&, hidden<8>> none;
#elif defined CASE_elements_that_are_constants
  // expect-gcc: "umbel: tensor: const float is not an element type; write const tensor<float, \.\.\.>, or view<const float, \.\.\.> for other memory"
  // expect-clang: tensor, .*const float.*is_not_an_element_type_so_write_const_tensor_or_view_of_const_float
  // cause: The elements of a tensor are set after its construction; only the whole tensor can be const.
  // cure: Write `const tensor<float, hidden<8>>`, or `view<const float, hidden<8>>` for existing memory.
  tensor<const float, hidden<8>> none{};
#elif defined CASE_view_as_of_sizes
  // expect-gcc: "umbel: view_as: axes have names; write view_as<batch<2>, query<4>, hidden<100>>\(memory\), not sizes such as 2 4 100"
  // expect-clang: view_as, .*axes_have_names_so_write_view_as_batch_not, .*number<2>, .*number<4>, .*number<100>
  // cause: Sizes alone do not name the axes.
  // cure: Write `view_as<batch<2>, query<4>, hidden<100>>(memory)`, or `view_as<queries>(memory)`.
  float memory[800]{};
  auto r = view_as<2, 4, 100>(memory);
#elif defined CASE_view_as_of_a_tensor
  // expect-gcc: "umbel: view_as: expects an array, a span or a pointer; write x \| reshape<token<8>, hidden<100>> for the tensor \[batch=2, query=4, hidden=100\]"
  // expect-clang: view_as, .*expects_memory_so_write_reshape_for_the_tensor, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: A tensor knows its axes; memory does not.
  // cure: Change its axes with `reshape`, `split` or `merge`, or pass `x.data()`.
  auto r = view_as<batch<8>, hidden<100>>(x);
  r(0, 0) = 1;
#elif defined CASE_view_as_with_sizes_of_axes
  // expect-gcc: "umbel: view_as: sizes at run time need one tensor type and a pointer; write view_as<tensor<float, batch<2>, hidden<100>>>\(pointer, sizes\)"
  // expect-clang: view_as, .*sizes_at_run_time_need_one_tensor_type_and_a_pointer
  // cause: Sizes at run time are compared with the axes of one tensor type.
  // cure: Write `using queries = tensor<float, batch<2>, query<4>, hidden<100>>;` and `view_as<queries>(pointer, sizes)`.
  std::size_t sizes[3]{2, 4, 100};
  auto r = view_as<batch<2>, query<4>, hidden<100>>(raw, sizes);
  if (r) (void)r->size();
#elif defined CASE_expected_view_called
  // expect-gcc: "umbel: view_as: may fail at run time; check r, then use \*r, a view of \[batch=2, query=4, hidden=100\]"
  // expect-clang: view_as, .*may_fail_at_run_time_so_check_r_and_use_star_of_r, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: Sizes at run time may not match, so `view_as` with sizes returns a view or an error.
  // cure: Write `if (r) use(*r);`.
  auto r = view_as<queries>(run_time.data(), run_time.size());
  const float first = r(0, 0, 0);
  (void)first;
#elif defined CASE_expected_view_printed
  // expect-gcc: "umbel: view_as: may fail at run time; check r, then use \*r, a view of \[batch=2, query=4, hidden=100\]"
  // expect-clang: view_as, .*may_fail_at_run_time_so_check_r_and_use_star_of_r, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: Sizes at run time may not match, so `view_as` with sizes returns a view or an error.
  // cure: Write `if (r) use(*r);`.
  std::ostringstream text;
  text << view_as<queries>(run_time.data(), run_time.size());
#elif defined CASE_tensor_as_a_number
  // expect-gcc: "umbel: tensor: is not one number; write x\(i, j\), or reduce all of its axes"
  // expect-clang: tensor, .*is_not_one_number_so_write_x_of_i_and_j_or_reduce_all_of_its_axes
  // cause: Only a tensor without axes, one element, converts to a number or a condition; a comparison of tensors has one for each element. g++ prints the axes after the message.
  // cure: Write `x(1, 2, 3)` for an element, `max<batch, query, hidden>(x) > 0.0f` for one of all, `where(x > 0.0f, x, 0.0f)` to choose elements.
  const auto first = static_cast<float>(x);
  (void)first;
#elif defined CASE_comparison_as_a_condition
  // expect-gcc: "umbel: tensor: is not one number; write x\(i, j\), or reduce all of its axes"
  // expect-clang: tensor, .*is_not_one_number_so_write_x_of_i_and_j_or_reduce_all_of_its_axes
  // cause: Only a tensor without axes, one element, converts to a number or a condition; a comparison of tensors has one for each element. g++ prints the axes after the message.
  // cure: Write `x(1, 2, 3)` for an element, `max<batch, query, hidden>(x) > 0.0f` for one of all, `where(x > 0.0f, x, 0.0f)` to choose elements.
  if (x > 0.0f) y = {};
#elif defined CASE_list_without_axes
  // expect-gcc: "umbel: tensor: without axes has one element but the list has 3; write the axes in its type, tensor<float, query<4>, hidden<100>>"
  // expect-clang: tensor, .*has_no_axes_so_one_element_but_the_list_has, .*number<3>, .*so_write_the_axes_in_its_type
  // cause: A `tensor<float>` has no axes, and so one element; numbers in parentheses are elements, not sizes.
  // cure: Write the axes between the angle brackets: `tensor<float, batch<2>, query<4>> x{}`.
  tensor<float> r(2, 4, 100);
  (void)r;
#elif defined CASE_expected_view_assigned
  // expect-gcc: "umbel: tensor: \[batch=2, query=4, hidden=100\] cannot be assigned a result such as an expected_view; check it, then write x = \*r"
  // expect-clang: tensor, .*batch<2>, .*cannot_be_assigned_a_result_or_expected_view_so_check_it_and_assign_star_of_it
  // cause: With sizes at run time `view_as` returns a view or an error message.
  // cure: Check it, then use the view: `if (r) x = *r;`.
  const std::size_t sizes[] = {2, 4, 100};
  const auto r = view_as<queries>(run_time.data(), sizes);
  x = r;
#elif defined CASE_number_plus_a_tensor
  // expect-gcc: "umbel: tensor: \[batch=2, query=4, hidden=100\] is not one number; write x\(i, j\), or reduce all of its axes"
  // expect-clang: tensor, .*batch<2>, .*query<4>, .*hidden<100>>, .*is_not_one_number_so_write_x_of_i_and_j_or_reduce_all_of_its_axes
  // cause: Only a tensor without axes, one element, converts to a number.
  // cure: Add one element, `sum += x(1, 2, 3)`, or reduce all axes: `total += sum<batch, query, hidden>(x)`.
  float total = 0;
  total += x;
#else
  reads(x);
  queries q(view_as<batch<2>, query<4>, hidden<100>>(run_time.data()));
  x = only_read | contiguous;
#endif
}
