// SPDX-License-Identifier: BSL-1.0
// A wrong shape whose result is used: the first mistake is the only one.
#include <misuse/preamble.hpp>

#if defined CASE_split_then_indexed
// fact: hidden=100
// fact: heads=7
float r = (x | split<hidden, heads<7>, head_dim>)(0, 0, 0, 0);
#elif defined CASE_split_then_subscript
// fact: hidden=100
// fact: heads=8
float r = (x | split<hidden, heads<8>, head_dim>)[0];
#elif defined CASE_split_then_data
// fact: hidden=100
// fact: heads=9
void f() {
  auto s = x | split<hidden, heads<9>, head_dim>;
  const float* p = s.data();
  (void)p;
}
#elif defined CASE_split_then_range_for
// fact: hidden=100
// fact: heads=11
float f() {
  float sum = 0;
  for (float e : x | split<hidden, heads<11>, head_dim>) sum += e;
  return sum;
}
#elif defined CASE_split_then_accumulate
// fact: hidden=100
// fact: heads=12
float f() {
  auto s = x | split<hidden, heads<12>, head_dim>;
  return std::accumulate(s.begin(), s.end(), 0.0f);
}
#elif defined CASE_split_then_std_begin
// fact: hidden=100
// fact: heads=13
void f() {
  auto s = x | split<hidden, heads<13>, head_dim>;
  std::fill(std::begin(s), std::end(s), 0.0f);
}
#elif defined CASE_split_then_ranges
// fact: hidden=100
// fact: heads=14
float f() {
  auto s = x | split<hidden, heads<14>, head_dim>;
  return *std::ranges::max_element(s);
}
#elif defined CASE_split_then_size
// fact: hidden=100
// fact: heads=15
constexpr auto r = (queries{} | split<hidden, heads<15>, head_dim>).size();
#elif defined CASE_split_then_extent
// fact: hidden=100
// fact: heads=16
auto s = x | split<hidden, heads<16>, head_dim>;
constexpr std::size_t r = decltype(s)::extent<head_dim>;
#elif defined CASE_split_then_layout
// fact: hidden=100
// fact: heads=17
auto s = x | split<hidden, heads<17>, head_dim>;
constexpr std::size_t r = decltype(s)::layout::count;
#elif defined CASE_split_then_permuted
// fact: hidden=100
// fact: heads=18
auto r = x | split<hidden, heads<18>, head_dim> | permute<batch, heads, query, head_dim>;
#elif defined CASE_split_permuted_and_contracted
// fact: hidden=100
// fact: heads=19
auto q = x | split<hidden, heads<19>, head_dim> | permute<batch, heads, query, head_dim>;
auto r = contract<head_dim>(q, q) * 0.5f;
#elif defined CASE_split_then_whole_attention
// fact: hidden=100
// fact: heads=21
auto f() {
  auto q = x * w.q | split<hidden, heads<21>, head_dim> | permute<batch, heads, query, head_dim>;
  auto k = y * w.k | split<hidden, heads<5>, head_dim> | permute<batch, heads, key, head_dim>;
  auto scores = contract<head_dim>(q, k) * 0.2f;
  auto weights = softmax<key>(mask_after<key>(scores, lens));
  return contract<key>(weights, k) | permute<batch, query, heads, head_dim> | contiguous |
         merge<heads, head_dim, hidden>;
}
#elif defined CASE_split_into_a_named_tensor
// fact: hidden=100
// fact: heads=22
tensor<float, batch<2>, query<4>, heads<22>, head_dim<14>> r =
    x | split<hidden, heads<22>, head_dim>;
#elif defined CASE_permuted_then_called_by_name
// fact: query
// fact: hidden
auto p = x | permute<batch, query>;
float r = p(at<batch>(0), at<query>(0));
#elif defined CASE_permuted_then_added
// fact: query
// fact: hidden
auto r = (x | permute<batch, query>)+x;
#elif defined CASE_sum_then_indexed
// fact: query=4
// fact: key=6
float r = (x + y)(0, 0, 0);
#elif defined CASE_sum_then_scaled
// fact: query=4
// fact: key=6
auto r = (x + y) * 0.5f;
#elif defined CASE_half_of_the_sum
// fact: query=4
// fact: key=6
auto r = 0.5f * (x + y);
#elif defined CASE_sum_then_negated
// fact: query=4
// fact: key=6
auto r = -(x + y);
#elif defined CASE_sum_then_softmax
// fact: query=4
// fact: key=6
auto r = softmax<hidden>(x + y);
#elif defined CASE_sum_into_a_queries
// fact: query=4
// fact: key=6
queries r = x + y;
#elif defined CASE_sum_of_three
// fact: query=4
// fact: key=6
auto r = x + y + x;
#elif defined CASE_sum_compared
// fact: query=4
// fact: key=6
bool r = (x + y) == x;
#elif defined CASE_sum_compared_by_less
// fact: query=4
// fact: key=6
bool r = (x + y)(0, 0, 0) < 1.0f;
#elif defined CASE_sum_printed
// fact: query=4
// fact: key=6
void f() { std::cout << (x + y) << '\n'; }
#elif defined CASE_sum_printed_by_printf
// fact: query=4
// fact: key=6
void f() { std::printf("%g\n", static_cast<double>((x + y)(0, 0, 0))); }
#elif defined CASE_sum_swapped
// fact: query=4
// fact: key=6
void f(queries& q) {
  auto s = x + y;
  std::swap(s, s);
  q = s;
}
#elif defined CASE_sum_in_a_condition
// fact: query=4
// fact: key=6
int f() {
  if (auto s = x + y; s(0, 0, 0) > 0) return 1;
  return 0;
}
#elif defined CASE_sum_incremented
// fact: query=4
// fact: key=6
void f() {
  auto s = x + y;
  s += x;
}
#elif defined CASE_sum_element_counted_up
// fact: query=4
// fact: key=6
void f() {
  auto s = x + y;
  ++s(0, 0, 0);
}
#elif defined CASE_sum_element_assigned
// fact: query=4
// fact: key=6
void f() {
  auto s = x + y;
  s(0, 0, 0) = 1;
  s(1, 0, 0) += 2;
}
#elif defined CASE_sum_passed_to_my_function
// fact: query=4
// fact: key=6
float norm_of(const queries& q);
float r = norm_of(x + y);
#elif defined CASE_sum_passed_to_my_template
// fact: query=4
// fact: key=6
template <class X>
float first_of(const X& v) {
  return v(0, 0, 0) + *v.data();
}
float r = first_of(x + y);
#elif defined CASE_sum_returned
// fact: query=4
// fact: key=6
queries f() { return x + y; }
#elif defined CASE_sum_in_a_lambda
// fact: query=4
// fact: key=6
auto add = [](const auto& a, const auto& b) { return a + b; };
float r = add(x, y)(0, 0, 0);
#elif defined CASE_sum_into_a_struct
// fact: query=4
// fact: key=6
struct both {
  queries sum;
  int count;
};
both r{x + y, 2};
#elif defined CASE_sum_memcpy
// fact: query=4
// fact: key=6
void f(float* out) {
  auto s = x + y;
  std::memcpy(out, s.data(), sizeof s);
}
#elif defined CASE_deduced_tensor_from_split
// fact: hidden=100
// fact: heads=23
tensor r = x | split<hidden, heads<23>, head_dim>;
#elif defined CASE_deduced_tensor_from_the_layer
// fact: query
// fact: key=6
tensor r = attention{w}(y, x, x);
#elif defined CASE_deduced_view_from_slice
// fact: key=6
// fact: 7|from.*4
void f() { view r = y | slice<key, from<4>, extent<3>>; }
#elif defined CASE_static_split_of_a_constant
// fact: hidden=64
// fact: heads=7
constexpr tensor<float, hidden<64>> ones{};
constexpr auto r = ones | split<hidden, heads<7>, head_dim>;
static_assert(r(0, 0) == 0);
#elif defined CASE_constant_sum
// fact: hidden=64
// fact: hidden=32
constexpr tensor<float, hidden<64>> a{};
constexpr tensor<float, hidden<32>> b{};
constexpr float r = (a + b)(0);
#elif defined CASE_constant_softmax
// fact: key
// fact: hidden=64
constexpr tensor<float, hidden<64>> a{};
constexpr auto r = softmax<key>(a);
static_assert(r(0) > 0);
#elif defined CASE_sum_into_functions_of_numbers
// fact: query=4
// fact: key=6
float f() {
  auto r = x + y;
  float largest = 0;
  for (int i = 0; i < 4; ++i) largest = std::max(largest, std::exp(r(0, i, 0)));
  return std::min(r(0, 0, 0), largest) + std::abs(r(0, 1, 0)) + std::sqrt(r[0]);
}
#elif defined CASE_softmax_as_text
// fact: key
// fact: query=4
std::string f() {
  auto r = x | softmax<key>;
  return std::to_string(r(0, 0, 0)) + std::to_string(r[0]);
}
#elif defined CASE_split_by_pointer
// fact: hidden=100
// fact: heads=24
float f() {
  auto r = x | split<hidden, heads<24>, head_dim>;
  auto* p = r.data();
  std::vector<float> v(r->size());
  std::memcpy(v.data(), p, v.size() * sizeof(float));
  return p[0] + r.value()(0, 0, 0);
}
#elif defined CASE_softmax_as_of_another_library
// fact: key
// fact: query=4
auto f() {
  auto r = x | softmax<key>;
  std::cout << r.shape[0] << r.size(0) << r.rows() << r[{0, 1, 2}];
  return r.transpose(0, 1).reshape({2, 400}).contiguous();
}
#elif defined CASE_softmax_to_a_function_of_tensors
// fact: key
// fact: query=4
float norm2(const tensor_like auto& a) {
  float sum = 0;
  for (float e : a) sum += e * e;
  return sum;
}
float f() { return norm2(x | softmax<key>); }
#elif defined CASE_sum_to_functions_that_ask
// fact: query=4
// fact: key=6
template <class A, class B>
  requires same_shape<A, B>
auto add(const A& a, const B& b) {
  return a + b;
}
template <class A>
  requires has_axis<A, hidden> && splittable<A, hidden, heads<5>>
auto halves(const A& a) {
  return a | split<hidden, heads<5>, head_dim>;
}
auto f() {
  auto r = x + y;
  return halves(add(r, x));
}
#elif defined CASE_maximum_of_a_row_as_a_number
// fact: batch=2
// fact: number
float r = max<key>(scores);
#elif defined CASE_argmax_as_an_integer
// fact: batch=2
// fact: number
int r = argmax<key>(scores);
#elif defined CASE_mean_as_a_double
// fact: query=4
// fact: number
double r = x | mean<hidden>;
#elif defined CASE_one_row_as_a_number
// fact: hidden=100
// fact: number
float r = m | select_at<query, 1>;
#elif defined CASE_comparison_as_a_condition
// fact: query=4
// fact: number
int f() {
  if (x > 0.0f) return 1;
  return 0;
}
#elif defined CASE_not_of_a_comparison
// fact: query=4
// fact: number
int f() {
  while (!(x > 0.0f)) return 1;
  return 0;
}
#elif defined CASE_comparison_and_another
// fact: query=4
// fact: number
bool r = x > 0.0f && true;
#elif defined CASE_comparison_chooses
// fact: query=4
// fact: number
float r = x > 0.0f ? 1.0f : 0.0f;
#elif defined CASE_added_to_a_number
// fact: batch=2
// fact: number
float f() {
  float r = 0;
  r += sum<key>(scores);
  return r;
}
#elif defined CASE_cast_to_a_number
// fact: batch=2
// fact: number
float r = static_cast<float>(sum<key>(scores));
#elif defined CASE_passed_to_a_function_of_a_number
// fact: batch=2
// fact: number
float half(float a) { return a / 2; }
float r = half(max<key>(scores));
#elif defined CASE_passed_to_std_exp
// fact: batch=2
// fact: number
float r = std::exp(max<key>(scores));
#elif defined CASE_overloads_of_numbers
// fact: query=4
// fact: number
int kind(int) { return 0; }
int kind(double) { return 1; }
int r = kind(x);
#elif defined CASE_gather_by_number
// fact: gather
// fact: axis
auto r = gather<3>(scores, lens);
#endif
