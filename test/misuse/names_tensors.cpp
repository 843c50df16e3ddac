// SPDX-License-Identifier: BSL-1.0
// Axes, views, sizes of Hana, checks: what few programs of the other files have.
#include <misuse/all_headers.hpp>

#if defined CASE_axis_without_its_name
// fact: axis
// fact: [Nn]ame|itself|struct
tensor<float, umbel::axis<frames, 24>, hidden<32>> r;
#elif defined CASE_axis_named_by_a_string
// fact: axis
// fact: struct|name
tensor<float, umbel::axis<"frames", 24>, hidden<32>> r;
#elif defined CASE_family_in_a_shape
// fact: axis_family|axis
// fact: size|item
tensor<float, axis_family<frames>, hidden<32>> r;
#elif defined CASE_family_selected
// fact: select_at
// fact: query|axis
auto r = x | select_at<axis_family<query>, 0>;
#elif defined CASE_dims_of_weights
// fact: dims
// fact: weights|tensor
auto r = dims(sw);
#elif defined CASE_dims_of_a_layer_type
// fact: dims
// fact: tensor
auto r = dims<queries>();
#elif defined CASE_dims_of_a_vector
// fact: dims
// fact: vector|tensor
auto f(const std::vector<float>& v) { return dims(v); }
#elif defined CASE_size_of_what_is_not_there
// fact: key
// fact: query=4
auto r = extents(x)[family_c<key>];
#elif defined CASE_size_of_an_axis_with_a_size
// fact: family_c
// fact: hidden
auto r = extents(x)[family_c<hidden<100>>];
#elif defined CASE_family_of_the_tensor
// fact: integer
// fact: hidden=100
auto r = x[family_c<hidden>];
#elif defined CASE_handler_of_a_string
// fact: set_check_handler
// fact: const char
const check_handler before = set_check_handler([](std::string_view) {});
#elif defined CASE_handler_with_a_capture
// fact: set_check_handler
// fact: capture|const char
void f(int& count) {
  set_check_handler([&count](const char*) { ++count; });
}
#elif defined CASE_handler_that_returns
// fact: set_check_handler
// fact: const char|void
const check_handler before = set_check_handler(&std::puts);
#elif defined CASE_handler_of_std_function
// fact: set_check_handler
// fact: function|const char
void f(const std::function<void(const char*)>& to) {
  const check_handler old = set_check_handler(to);
}
#elif defined CASE_expected_view_as_a_tensor
// fact: softmax
// fact: expected_view
auto f(const expected_view<view<const float, query<4>, key<6>>>& r) { return softmax<key>(r); }
#elif defined CASE_expected_view_indexed
// fact: view
// fact: \*|star
auto f(const expected_view<view<const float, query<4>, key<6>>>& r) { return r(0, 1); }
#elif defined CASE_expected_view_assigned
// fact: expected_view|view
// fact: \*
void f(tensor<float, query<4>, key<6>>& to,
       const expected_view<view<const float, query<4>, key<6>>>& r) {
  to = r;
}
#elif defined CASE_as_view_with_axes
// fact: as_view
// fact: reshape|view_as|axes
auto r = as_view<batch<8>, hidden<100>>(x);
#elif defined CASE_as_view_of_a_vector
// fact: as_view
// fact: view_as|vector
auto f(std::vector<float>& v) { return as_view(v); }
#elif defined CASE_as_view_of_weights
// fact: as_view
// fact: tensor or view
auto r = as_view(sw);
#endif
