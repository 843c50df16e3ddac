// SPDX-License-Identifier: BSL-1.0
// Mistakes with memory: tensors that cannot be, elements that are not there, memory of another size,
// views that would dangle, copies into another shape (check.py).
#include <umbel/umbel.hpp>

#include <array>
#include <span>
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
  // expect-gcc: "umbel: shape: names batch twice in \[batch=2, query=4, batch=3\]"
  // expect-clang: shape, .*names, .*batch>, .*twice_in, .*batch<2>, .*query<4>, .*batch<3>
  tensor<float, batch<2>, query<4>, batch<3>> t;
#elif defined CASE_view_duplicate_axes
  // expect-gcc: "umbel: shape: names batch twice in \[batch=20, batch=40\]"
  // expect-clang: shape, .*names, .*batch>, .*twice_in, .*batch<20>, .*batch<40>
  view<float, batch<20>, batch<40>> v(raw);
#elif defined CASE_zero_sized_axis
  // expect-gcc: "umbel: shape: query=0 has no positions in \[batch=2, query=0\]"
  // expect-clang: shape, .*query<0>, .*has_no_positions_in, .*batch<2>, .*query<0>
  tensor<float, batch<2>, query<0>> t;
#elif defined CASE_more_elements_than_memory
  // expect-gcc: "umbel: shape: \[batch=4294967296, query=4294967296\] has more elements than memory can hold"
  // expect-clang: shape, .*batch<4294967296>, .*query<4294967296>>, .*has_more_elements_than_memory_can_hold
  view<float, batch<(1ull << 32)>, query<(1ull << 32)>> v(raw);
#elif defined CASE_strides_for_some_axes
  // expect-gcc: "umbel: shape: \[batch=2, query=4\] has strides for some axes only"
  // expect-clang: shape, .*batch<2>, .*query<4>>, .*has_strides_for_some_axes_only
  view<float, batch<2>, strided<query<4>, 100>> v(raw);
#elif defined CASE_access_one_missing
  // expect-gcc: "umbel: access: lists 2 of the 3 axes of \[batch=2, query=4, hidden=100\]"
  // expect-clang: access, .*lists, .*<2>, .*of_the, .*<3>, .*axes_of, .*batch<2>, .*query<4>, .*hidden<100>
  float e = x(at<batch>(1), at<hidden>(3));
#elif defined CASE_access_foreign_axis
  // expect-gcc: "umbel: access: there is no axis key in \[batch=2, query=4, hidden=100\]"
  // expect-clang: access, .*there_is_no_axis, .*key>, .*in, .*batch<2>, .*query<4>, .*hidden<100>
  float e = x(at<batch>(1), at<key>(3), at<hidden>(7));
#elif defined CASE_access_twice
  // expect-gcc: "umbel: access: names query twice in \[batch=2, query=4, hidden=100\]"
  // expect-clang: access, .*names, .*query>, .*twice_in, .*batch<2>, .*query<4>, .*hidden<100>
  float e = only_read(at<query>(1), at<query>(3), at<hidden>(7));
#elif defined CASE_access_of_a_view_foreign_axis
  // expect-gcc: "umbel: access: there is no axis query in \[batch=2, key=4, hidden=100\]"
  // expect-clang: access, .*there_is_no_axis, .*query>, .*in, .*batch<2>, .*key<4>, .*hidden<100>
  float e = rename_axis<query, key>(x)(at<batch>(1), at<query>(3), at<hidden>(7));
#elif defined CASE_access_too_few_positions
  // expect-gcc: "umbel: access: 2 positions for the 3 axes of \[batch=2, query=4, hidden=100\]"
  // expect-clang: access, .*<2>, .*positions_for_the, .*<3>, .*axes_of, .*batch<2>, .*query<4>, .*hidden<100>
  float e = x(1, 2);
#elif defined CASE_access_too_many_positions
  // expect-gcc: "umbel: access: 4 positions for the 3 axes of \[batch=2, query=4, hidden=100\]"
  // expect-clang: access, .*<4>, .*positions_for_the, .*<3>, .*axes_of, .*batch<2>, .*query<4>, .*hidden<100>
  float e = queries_view<float>(raw)(1, 2, 3, 4);
#elif defined CASE_write_to_what_is_only_read
  // expect: read-only|cannot assign to return value|not assignable
  only_read(1, 2, 3) = 4;
#elif defined CASE_raw_array_size
  // expect-gcc: "umbel: memory: \[batch=2, query=4, hidden=99\] wants 792 elements but the memory holds 800"
  // expect-clang: memory, .*batch<2>, .*query<4>, .*hidden<99>>, .*wants, .*<792>, .*elements_but_the_memory_holds, .*<800>
  auto v = view_as<batch<2>, query<4>, hidden<99>>(raw);
#elif defined CASE_std_array_size
  // expect-gcc: "umbel: memory: \[batch=2, query=4, hidden=100\] wants 800 elements but the memory holds 799"
  // expect-clang: memory, .*batch<2>, .*query<4>, .*hidden<100>>, .*wants, .*<800>, .*elements_but_the_memory_holds, .*<799>
  auto v = view_as<batch<2>, query<4>, hidden<100>>(array);
#elif defined CASE_span_size
  // expect-gcc: "umbel: memory: \[query=4, hidden=100\] wants 400 elements but the memory holds 799"
  // expect-clang: memory, .*query<4>, .*hidden<100>>, .*wants, .*<400>, .*elements_but_the_memory_holds, .*<799>
  auto v = view_as<query<4>, hidden<100>>(std::span(array));
#elif defined CASE_span_of_run_time_size
  // expect-gcc: "umbel: memory: \[query=8, hidden=100\] wants 800 elements but the size of the memory is known at run time only so view its pointer"
  // expect-clang: memory, .*query<8>, .*hidden<100>>, .*wants, .*<800>, .*elements, .*but_the_size_of_the_memory_is_known_at_run_time_only_so_view_its_pointer
  auto v = view_as<query<8>, hidden<100>>(run_time);
#elif defined CASE_vector
  // expect-gcc: "umbel: memory: \[query=8, hidden=100\] wants 800 elements but the size of the memory is known at run time only so view its pointer"
  // expect-clang: memory, .*query<8>, .*hidden<100>>, .*wants, .*<800>, .*elements, .*but_the_size_of_the_memory_is_known_at_run_time_only_so_view_its_pointer
  auto v = view_as<query<8>, hidden<100>>(vector);
#elif defined CASE_strided_memory_too_small
  // expect-gcc: "umbel: memory: \[query=4, hidden=100\] wants 868 elements but the memory holds 800"
  // expect-clang: memory, .*query<4>, .*hidden<100>>, .*wants, .*<868>, .*elements_but_the_memory_holds, .*<800>
  auto v = view_as<strided<query<4>, 256>, strided<hidden<100>, 1>>(raw);
#elif defined CASE_view_as_zero_sized
  // expect-gcc: "umbel: shape: query=0 has no positions in \[query=0, hidden=100\]"
  // expect-clang: shape, .*query<0>, .*has_no_positions_in, .*query<0>, .*hidden<100>
  auto v = view_as<query<0>, hidden<100>>(raw);
#elif defined CASE_tensor_of_array_size
  // expect-gcc: "umbel: memory: \[batch=2, query=4, hidden=100\] wants 800 elements but the memory holds 799"
  // expect-clang: memory, .*batch<2>, .*query<4>, .*hidden<100>>, .*wants, .*<800>, .*elements_but_the_memory_holds, .*<799>
  queries q(array);
#elif defined CASE_tensor_of_raw_array_size
  // expect-gcc: "umbel: memory: \[batch=2, key=6, hidden=100\] wants 1200 elements but the memory holds 800"
  // expect-clang: memory, .*batch<2>, .*key<6>, .*hidden<100>>, .*wants, .*<1200>, .*elements_but_the_memory_holds, .*<800>
  context c(raw);
#elif defined CASE_tensor_of_run_time_span
  // expect-gcc: "umbel: memory: \[batch=2, query=4, hidden=100\] wants 800 elements but the size of the memory is known at run time only so view its pointer"
  // expect-clang: memory, .*batch<2>, .*query<4>, .*hidden<100>>, .*wants, .*<800>, .*elements, .*but_the_size_of_the_memory_is_known_at_run_time_only_so_view_its_pointer
  queries q(run_time);
#elif defined CASE_view_of_a_temporary
  // expect-gcc: "umbel: view: the memory of \[batch=2, query=4, hidden=100\] is a temporary that would end before the view so give it a name"
  // expect-clang: view, .*the_memory_of, .*batch<2>, .*query<4>, .*hidden<100>>, .*is_a_temporary_that_would_end_before_the_view_so_give_it_a_name
  queries_view<const float> v = x + x;
#elif defined CASE_as_view_of_a_temporary
  // expect-gcc: "umbel: view: the memory of \[batch=2, query=4, hidden=100\] is a temporary that would end before the view so give it a name"
  // expect-clang: view, .*the_memory_of, .*batch<2>, .*query<4>, .*hidden<100>>, .*is_a_temporary_that_would_end_before_the_view_so_give_it_a_name
  auto v = as_view(x + x);
#elif defined CASE_view_of_a_temporary_array
  // expect-gcc: "umbel: view: the memory of \[query=4, hidden=2\] is a temporary that would end before the view so give it a name"
  // expect-clang: view, .*the_memory_of, .*query<4>, .*hidden<2>>, .*is_a_temporary_that_would_end_before_the_view_so_give_it_a_name
  auto v = view_as<query<4>, hidden<2>>(std::array<float, 8>{});
#elif defined CASE_construct_from_other_axes
  // expect-gcc: "umbel: copy: \[batch=2, query=4, hidden=100\] and \[batch=2, key=6, hidden=100\] have different axes"
  // expect-clang: copy, .*batch<2>, .*query<4>, .*hidden<100>>, .*and_, .*batch<2>, .*key<6>, .*hidden<100>>, .*have_different_axes
  queries q = y;
#elif defined CASE_assign_other_order
  // expect-gcc: "umbel: copy: \[batch=2, query=4, hidden=100\] and \[query=4, batch=2, hidden=100\] have the same axes in another order so permute one"
  // expect-clang: copy, .*batch<2>, .*query<4>, .*hidden<100>>, .*and_, .*query<4>, .*batch<2>, .*hidden<100>>, .*have_the_same_axes_in_another_order_so_permute_one
  x = x | permute<query, batch, hidden>;
#elif defined CASE_copy_to_another_shape
  // expect-gcc: "umbel: copy: \[batch=2, key=6, hidden=100\] and \[batch=2, query=4, hidden=100\] have different axes"
  // expect-clang: copy, .*batch<2>, .*key<6>, .*hidden<100>>, .*and_, .*batch<2>, .*query<4>, .*hidden<100>>, .*have_different_axes
  copy(y, x);
#elif defined CASE_copy_to_another_order
  // expect-gcc: "umbel: copy: \[batch=2, query=4, hidden=100\] and \[query=4, batch=2, hidden=100\] have the same axes in another order so permute one"
  // expect-clang: copy, .*batch<2>, .*query<4>, .*hidden<100>>, .*and_, .*query<4>, .*batch<2>, .*hidden<100>>, .*have_the_same_axes_in_another_order_so_permute_one
  copy(x, x | permute<query, batch, hidden>);
#else
  reads(x);
  queries q(view_as<batch<2>, query<4>, hidden<100>>(run_time.data()));
  x = only_read | contiguous;
#endif
}
