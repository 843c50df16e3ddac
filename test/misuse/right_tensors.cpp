// SPDX-License-Identifier: BSL-1.0
// Programs that a user expects to compile: tensors.
#include <misuse/preamble.hpp>

#if defined CASE_split_and_merge_back
auto r = x | split<hidden, heads<5>, head_dim> | merge<heads, head_dim, hidden>;
#elif defined CASE_split_with_both_sizes
auto r = x | split<hidden, heads<5>, head_dim<20>>;
#elif defined CASE_split_then_named_tensor
tensor<float, batch<2>, query<4>, heads<5>, head_dim<20>> r = x | split<hidden, heads<5>, head_dim>;
#elif defined CASE_permute_into_a_tensor
tensor<float, query<4>, batch<2>, hidden<100>> r = x | permute<query, batch, hidden>;
#elif defined CASE_permute_back
queries r = x | permute<hidden, batch, query> | permute<batch, query, hidden>;
#elif defined CASE_copy_of_a_tensor
void f() {
  auto r = x;
  r(0, 0, 0) = 1;
}
#elif defined CASE_assign_a_view_to_a_tensor
void f(queries& q) {
  auto v = x | permute<batch, query, hidden>;
  q = v;
}
#elif defined CASE_deduced_tensor
tensor r = x;
#elif defined CASE_deduced_tensor_from_a_view
tensor r = x | split<hidden, heads<5>, head_dim>;
#elif defined CASE_add_and_assign
queries r = x + x;
#elif defined CASE_add_in_place
void f(queries& q) { q += x; }
#elif defined CASE_subtract_in_place
void f(queries& q) { q -= x; }
#elif defined CASE_scale_by_float
queries r = x * 0.5f;
#elif defined CASE_scale_from_the_left
queries r = 0.5f * x;
#elif defined CASE_divide_by_float
queries r = x / 2.0f;
#elif defined CASE_scale_in_place
void f(queries& q) { q *= 2.0f; }
#elif defined CASE_negate
queries r = -x;
#elif defined CASE_sum_of_products
auto r = contract<hidden>(x, y);
#elif defined CASE_matrix_product
tensor<float, query<4>, key<6>> f(const tensor<float, key<6>, hidden<100>>& k) {
  return contract<hidden>(m, k);
}
#elif defined CASE_softmax_of_scores
auto r = softmax<key>(scores);
#elif defined CASE_softmax_in_a_pipe
auto r = scores | softmax<key>;
#elif defined CASE_mean_over_queries
auto r = x | mean<query>;
#elif defined CASE_mean_over_queries_by_call
auto r = mean<query>(x);
#elif defined CASE_mask_then_softmax
auto r = softmax<key>(mask_after<key>(scores, lens));
#elif defined CASE_select_a_row
auto r = x | select_at<query, 3>;
#elif defined CASE_select_the_first_of_two
float r = (x | select_at<batch, 0> | select_at<query, 1>)(5);
#elif defined CASE_select_at_run_time
auto f(std::size_t i) { return x | select_at<query>(i); }
#elif defined CASE_slice_two_keys
auto r = y | slice<key, from<2>, extent<2>>;
#elif defined CASE_slice_the_last
auto r = y | slice<key, from<5>, extent<1>>;
#elif defined CASE_broadcast_a_row
auto r = m | broadcast<batch<2>, query<4>, hidden<100>>;
#elif defined CASE_rename_tokens_to_queries
auto r = t | rename_axis<token, query>;
#elif defined CASE_reshape_batch_away
auto r = x | reshape<token<8>, hidden<100>>;
#elif defined CASE_transposed_copy
auto r = m | permute<hidden, query> | contiguous;
#elif defined CASE_element_by_position
float r = x(1, 3, 99);
#elif defined CASE_element_by_name
float r = x(at<query>(3), at<batch>(1), at<hidden>(99));
#elif defined CASE_element_by_int
float f(int i) { return x(i, i, i); }
#elif defined CASE_element_by_unsigned
float f(unsigned i) { return x(i, 0, 0); }
#elif defined CASE_element_written
void f(queries& q) {
  q(0, 1, 2) = 3;
  q(at<batch>(0), at<query>(1), at<hidden>(2)) += 1;
}
#elif defined CASE_range_for
float f() {
  float sum = 0;
  for (float e : x) sum += e;
  return sum;
}
#elif defined CASE_range_for_over_a_view
float f() {
  float sum = 0;
  for (float e : x | permute<query, batch, hidden>) sum += e;
  return sum;
}
#elif defined CASE_range_for_over_a_split
float f() {
  float sum = 0;
  for (float e : x | split<hidden, heads<5>, head_dim>) sum += e;
  return sum;
}
#elif defined CASE_accumulate
float f() { return std::accumulate(x.begin(), x.end(), 0.0f); }
#elif defined CASE_std_fill
void f(queries& q) { std::fill(q.begin(), q.end(), 1.0f); }
#elif defined CASE_std_iota
void f(queries& q) { std::iota(q.begin(), q.end(), 0.0f); }
#elif defined CASE_std_generate
void f(queries& q) {
  std::generate(q.begin(), q.end(), [n = 0.0f]() mutable { return n += 1; });
}
#elif defined CASE_std_copy_from_a_vector
void f(queries& q, const std::vector<float>& v) { std::copy(v.begin(), v.end(), q.begin()); }
#elif defined CASE_std_max_element
float f() { return *std::max_element(x.begin(), x.end()); }
#elif defined CASE_functions_of_each_element
using T = tensor<float, query<4>, hidden<100>>;
T f(const T& x) { return exp(x) + sqrt(abs(x)); }
#elif defined CASE_ranges_max
float f() { return std::ranges::max(x); }
#elif defined CASE_ranges_fill
void f(queries& q) { std::ranges::fill(q, 0.0f); }
#elif defined CASE_ranges_transform
void f(queries& q) {
  std::ranges::transform(x, q.begin(), [](float e) { return e * e; });
}
#elif defined CASE_std_sort
void f(queries& q) { std::sort(q.begin(), q.end()); }
#elif defined CASE_span_of_a_tensor
std::span<const float> f() { return {x.data(), x.size()}; }
#elif defined CASE_span_from_a_range
std::span<const float> f() { return x; }
#elif defined CASE_inner_product
float f() { return std::inner_product(x.begin(), x.end(), x.begin(), 0.0f); }
#elif defined CASE_equality
bool r = x == x;
#elif defined CASE_inequality
bool r = x != x;
#elif defined CASE_print
void f() { std::cout << x << '\n'; }
#elif defined CASE_print_a_view
void f() { std::cout << (x | select_at<query, 0>) << std::endl; }
#elif defined CASE_size_constant
static_assert(queries::size() == 800);
#elif defined CASE_size_of_an_object
constexpr queries q{};
static_assert(q.size() == 800);
#elif defined CASE_rank_constant
static_assert(queries::rank == 3);
#elif defined CASE_extent_constant
static_assert(queries::extent<hidden> == 100 && queries::extent<batch> == 2);
#elif defined CASE_extent_of_another_axis
static_assert(queries::extent<key> == 0);
#elif defined CASE_extent_of_an_object
std::size_t f(const queries& q) { return q.extent<hidden>; }
#elif defined CASE_sizeof_is_elements
static_assert(sizeof(queries) == 800 * sizeof(float));
#elif defined CASE_trivially_copyable
static_assert(std::is_trivially_copyable_v<queries> &&
              std::is_trivially_copyable_v<attention::weights>);
#elif defined CASE_memcpy_into_a_tensor
void f(queries& q, const float* p) { std::memcpy(q.data(), p, sizeof q); }
#elif defined CASE_constexpr_tensor
constexpr tensor<float, query<2>, hidden<3>> r{1, 2, 3, 4, 5, 6};
static_assert(r(1, 2) == 6);
#elif defined CASE_constexpr_arithmetic
constexpr tensor<float, hidden<3>> a{1, 2, 3};
constexpr auto r = a + a * 2.0f;
static_assert(r(2) == 9);
#elif defined CASE_constexpr_attention
constexpr multi_head_attention<float, hidden<4>, heads<2>>::weights v{};
constexpr tensor<float, token<3>, hidden<4>> in{};
constexpr auto r = multi_head_attention<float, hidden<4>, heads<2>>{v}(in);
static_assert(r(0, 0) == 0);
#elif defined CASE_view_over_a_c_array
float memory[800];
auto r = view_as<queries>(memory);
#elif defined CASE_view_over_a_c_array_by_axes
float memory[2][4][100];
auto r = view_as<batch<2>, query<4>, hidden<100>>(memory);
#elif defined CASE_view_over_a_vector_pointer
std::vector<float> memory(800);
auto r = view_as<queries>(memory.data());
#elif defined CASE_view_at_run_time
auto f(float* p) { return view_as<queries>(p, {2, 4, 100}); }
#elif defined CASE_view_written_through
float memory[800];
void f() { view_as<queries>(memory)(0, 0, 0) = 1; }
#elif defined CASE_tensor_from_a_view_of_memory
queries f(const float* p) { return view_as<queries>(p); }
#elif defined CASE_for_each_of_one
void f(queries& q) {
  for_each([](float& e) { e *= 2; }, q);
}
#elif defined CASE_for_each_of_two
void f(queries& q) {
  for_each([](float& a, float b) { a += b; }, q, x);
}
#elif defined CASE_merge_of_a_transposed_view
auto f() {
  auto q = x | split<hidden, heads<5>, head_dim> | permute<batch, heads, query, head_dim>;
  return q | permute<batch, heads, head_dim, query> | merge<heads, head_dim, hidden>;
}
#elif defined CASE_scale_by_int
auto r = x * 2;
#elif defined CASE_divide_by_double
auto r = x / std::sqrt(20.0);
#elif defined CASE_nested_braces
tensor<float, batch<2>, hidden<3>> r{{1, 2, 3}, {4, 5, 6}};
#elif defined CASE_sum_over_all_as_a_number
float r = sum<batch, query, hidden>(x);
#elif defined CASE_product_over_all_as_a_number
double r = contract<query, hidden>(m, m);
#elif defined CASE_sum_over_all_as_a_condition
bool f() { return sum<query, hidden>(m) > 0.0f; }
#elif defined CASE_root_of_a_sum
float r = std::sqrt(contract<query, hidden>(m, m));
#elif defined CASE_one_element_as_a_number
float r = m | select_at<query, 1> | select_at<hidden, 2>;
#elif defined CASE_position_of_the_largest
int r = argmax<hidden>(m | select_at<query, 1>);
#elif defined CASE_own_sum_of_a_type
template <class T>
T sum(const std::vector<T>& list) {
  return std::accumulate(list.begin(), list.end(), T{});
}
auto r = sum<float>(std::vector<float>{1, 2});
#elif defined CASE_own_sum_of_a_span
template <class T>
T sum(std::span<const T> list) {
  return std::accumulate(list.begin(), list.end(), T{});
}
std::vector<float> numbers{1, 2};
auto r = sum<float>(numbers);
#elif defined CASE_standard_max_of_a_type
float f(float a, double b) {
  using namespace std;
  return max<float>(a, min<float>(1, b));
}
#elif defined CASE_own_function_of_numbers_and_of_views
constexpr double show(double number) { return number; }
template <class X>
constexpr auto show(const X& value) {
  return value * 2.0f;
}
inline constexpr formula f = [](auto a) { return show(a) + static_cast<float>(show(1.0)); };
auto r = f(x);
#elif defined CASE_functions_with_template_arguments
auto a = x | max<hidden>;
auto b = x | sum<query, hidden>;
auto c = x | argmax<hidden>;
auto d = concat<query>(x, x);
auto e = x | rotate<split_halves, query, hidden>;
auto f = rotate<split_halves, query, hidden>(x);
auto g = rope_cosines<split_halves, token<8>, head_dim<16>>();
auto h = rope_sines<split_halves, token<8>, head_dim<16>, double>();
auto i = one_hot<classes<10>>(lens);
auto j = one_hot<classes<10>, double>(lens);
auto k = x(at<query>(1), at<batch>(0), at<hidden>(2));
auto l = sliding_window_at<4>(2);
auto m2 = sliding_window_at<4, 1>(lens);
#endif
