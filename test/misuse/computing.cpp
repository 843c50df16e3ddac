// SPDX-License-Identifier: BSL-1.0
// Sums, contractions, softmax, memory, indices.
#include <misuse/preamble.hpp>

#if defined CASE_add_queries_and_keys
// fact: query=4
// fact: key=6
auto r = x + y;
#elif defined CASE_add_another_width
// fact: hidden=100
// fact: hidden=80
auto r = x + narrow;
#elif defined CASE_add_another_batch
// fact: batch=2
// fact: batch=3
auto r = x + three;
#elif defined CASE_subtract_integers
// fact: float
// fact: int
auto r = x - tensor<int, batch<2>, query<4>, hidden<100>>{};
#elif defined CASE_add_double
// fact: float
// fact: double
auto r = x + tensor<double, batch<2>, query<4>, hidden<100>>{};
#elif defined CASE_add_in_place_of_another_width
// fact: hidden=100
// fact: hidden=80
void f(queries& q) { q += narrow; }
#elif defined CASE_multiply_queries_and_keys
// fact: query=4
// fact: key=6
auto r = x * y;
#elif defined CASE_copy_keys_to_queries
// fact: query=4
// fact: key=6
queries r = y;
#elif defined CASE_assign_another_batch
// fact: batch=2
// fact: batch=3
void f(queries& q) { q = three; }
#elif defined CASE_assign_the_split_to_the_whole
// fact: hidden=100
// fact: heads=5
queries r = x | split<hidden, heads<5>, head_dim>;
#elif defined CASE_contract_what_is_not_there
// fact: head_dim
// fact: hidden=100
auto r = contract<head_dim>(x, y);
#elif defined CASE_contract_two_widths
// fact: hidden=100
// fact: hidden=80
auto r = contract<hidden>(y, narrow);
#elif defined CASE_contract_two_batches
// fact: batch=2
// fact: batch=3
auto r = contract<hidden>(y, three);
#elif defined CASE_contract_only_one_has_it
// fact: key
// fact: query=4
auto r = contract<key>(x, y);
#elif defined CASE_contract_one_tensor
// fact: contract
// fact: two
auto r = contract<hidden>(x);
#elif defined CASE_softmax_over_what_is_not_there
// fact: key
// fact: query=4
auto r = softmax<key>(x);
#elif defined CASE_softmax_of_integers
// fact: int
// fact: float
auto r = softmax<key>(tensor<int, query<4>, key<6>>{});
#elif defined CASE_mask_after_without_keys
// fact: key
// fact: hidden=100
auto r = mask_after<key>(x, lens);
#elif defined CASE_mask_after_of_another_batch
// fact: batch=3
// fact: batch=2
auto r = mask_after<key>(scores, tensor<int, batch<3>>{3, 2, 1});
#elif defined CASE_mask_after_with_float_lengths
// fact: float
// fact: int
auto r = mask_after<key>(scores, tensor<float, batch<2>>{3.f, 2.f});
#elif defined CASE_mask_after_lengths_by_key
// fact: key
// fact: lengths?|lens|mask_after
auto r = mask_after<key>(scores, tensor<int, key<6>>{});
#elif defined CASE_mean_over_what_is_not_there
// fact: token
// fact: query=4
auto r = x | mean<token>;
#elif defined CASE_mean_twice
// fact: hidden
// fact: query=4
auto r = x | mean<hidden> | mean<hidden>;
#elif defined CASE_copy_into_another_width
// fact: hidden=100
// fact: hidden=80
void f(float* p) { copy(x, view_as<batch<2>, query<4>, hidden<80>>(p)); }
#elif defined CASE_copy_into_constant_memory
// fact: const
// fact: copy|write
void f(const float* p) { copy(x, view_as<batch<2>, query<4>, hidden<100>>(p)); }
#elif defined CASE_copy_the_wrong_way_round
// fact: const
// fact: copy|write
void f(queries& q) { copy(q, x); }
#elif defined CASE_view_of_a_short_array
// fact: 800
// fact: 700
float memory[700];
auto r = view_as<queries>(memory);
#elif defined CASE_view_of_a_long_std_array
// fact: 800
// fact: 801
std::array<float, 801> memory;
auto r = view_as<batch<2>, query<4>, hidden<100>>(memory);
#elif defined CASE_view_of_doubles
// fact: double
// fact: float
double memory[800];
queries r = view_as<queries>(memory);
#elif defined CASE_view_of_a_vector
// fact: 800
// fact: run time|pointer
std::vector<float> memory(800);
auto r = view_as<queries>(memory);
#elif defined CASE_view_of_a_static_span_too_short
// fact: 800
// fact: 80\b
float eighty[80];
std::span<float, 80> memory(eighty);
auto r = view_as<queries>(memory);
#elif defined CASE_too_many_numbers
// fact: 2
// fact: 3
tensor<int, batch<2>> r{3, 2, 1};
#elif defined CASE_index_with_two
// fact: 3|hidden
// fact: 2|query
float r = x(0, 1);
#elif defined CASE_index_with_four
// fact: 3|hidden
// fact: 4
float r = x(0, 1, 2, 3);
#elif defined CASE_index_by_keys
// fact: key
// fact: query
float r = x(at<batch>(0), at<key>(0), at<hidden>(0));
#elif defined CASE_index_one_name_missing
// fact: hidden
// fact: batch|query
float r = x(at<batch>(0), at<query>(0));
#elif defined CASE_index_one_name_twice
// fact: query
// fact: twice|once|hidden
float r = x(at<batch>(0), at<query>(0), at<query>(1));
#elif defined CASE_index_by_a_fraction
// fact: double|floating|integer
// fact: index|position|2.5|query
float r = x(0, 1, 2.5);
#elif defined CASE_one_axis_twice
// fact: query
// fact: twice|once|2
tensor<float, query<4>, query<4>> r;
#elif defined CASE_size_zero
// fact: batch=0|batch
// fact: 0
tensor<float, batch<0>, hidden<8>> r;
#elif defined CASE_no_element_type
// fact: batch=2
// fact: element|float
tensor<batch<2>, query<4>> r;
#elif defined CASE_element_type_last
// fact: batch=2
// fact: element
tensor<batch<2>, query<4>, float> r;
#elif defined CASE_write_to_a_constant
// fact: const
// fact: x|assign|write|read
void f() { x(0, 0, 0) = 1; }
#elif defined CASE_transposed_without_an_axis
// fact: key
// fact: query=4
auto r = x | transposed<key, query>;
#elif defined CASE_for_each_over_two_shapes
// fact: query=4
// fact: key=6
void f() {
  for_each([](float, float) {}, x, y);
}
#elif defined CASE_compare_two_shapes
// fact: query=4
// fact: key=6
bool r = x == y;
#elif defined CASE_flat_subscript
// fact: 1 position
// fact: 3
void f(queries& q) { q[0] = 1; }
#endif
