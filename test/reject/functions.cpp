// SPDX-License-Identifier: BSL-1.0
// Mistakes in functions of each element and in reductions (check.py).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using positions = tensor<int, batch<2>, query<4>>;

[[maybe_unused]] static void cases(const queries& x, const positions& ids) {
  (void)x, (void)ids;
#if defined CASE_exp_of_integers
  // expect-gcc: "umbel: exp: needs float or double, not int"
  // expect-clang: exp, .*needs_float_or_double_not, .*element<int>
  // cause: The function needs floating-point numbers, and Umbel converts nothing implicitly.
  // cure: Copy the integers into a float tensor first: `copy(ids, numbers)`.
  auto r = exp(ids);
#elif defined CASE_log_of_a_view_of_integers
  // expect-gcc: "umbel: log: needs float or double, not int"
  // expect-clang: log, .*needs_float_or_double_not, .*element<int>
  // cause: The function needs floating-point numbers, and Umbel converts nothing implicitly.
  // cure: Copy the integers into a float tensor first: `copy(ids, numbers)`.
  auto r = log(ids | permute<query, batch>) + 1;
#elif defined CASE_softplus_of_integers
  // expect-gcc: "umbel: softplus: needs float or double, not int"
  // expect-clang: softplus, .*needs_float_or_double_not, .*element<int>
  // cause: The function needs floating-point numbers, and Umbel converts nothing implicitly.
  // cure: Copy the integers into a float tensor first: `copy(ids, numbers)`.
  auto r = ids | softplus;
#elif defined CASE_sin_of_integers
  // expect-gcc: "umbel: sin: needs float or double, not int"
  // expect-clang: sin, .*needs_float_or_double_not, .*element<int>
  // cause: The function needs floating-point numbers, and Umbel converts nothing implicitly.
  // cure: Copy the integers into a float tensor first: `copy(ids, numbers)`.
  auto r = sin(ids);
#elif defined CASE_pow_of_integers
  // expect-gcc: "umbel: pow: needs float or double, not int"
  // expect-clang: pow, .*needs_float_or_double_not, .*element<int>
  // cause: The function needs floating-point numbers, and Umbel converts nothing implicitly.
  // cure: Copy the integers into a float tensor first: `copy(ids, numbers)`.
  auto r = pow(2, ids);
#elif defined CASE_remainder_of_integers_by_a_fraction
  // expect-gcc: "umbel: elementwise: elements of float do not fit a tensor of int"
  // expect-clang: elementwise, .*elements_of, .*element<float>, .*do_not_fit_a_tensor_of, .*element<int>
  // cause: The tensor of integers would truncate a fraction.
  // cure: Convert it to a float tensor first: `tensor<float, batch<2>>(x)`.
  auto r = ids % 2.5f;
#elif defined CASE_abs_of_flags
  // expect-gcc: "umbel: abs: bool has no sign"
  // expect-clang: abs, .*element<bool>, .*has_no_sign
  // cause: The elements are not numbers.
  // cure: Leave the call out.
  auto r = abs(tensor<bool, query<4>>{});
#elif defined CASE_functions_of_what_was_refused
  // expect-gcc: "umbel: permute: there is no axis key in \[batch=2, query=4, hidden=100\]"
  // expect-clang: permute, .*there_is_no_axis, .*key>, .*in, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: The order names an axis that the tensor does not have.
  // cure: List the axes of the tensor.
  auto y = x | permute<batch, key, hidden>;
  auto r = clamp(pow(sigmoid(tanh(sqrt(abs(y)))), 2) % 3, 7 % y, erf(sin(cos(y) - elu(x % y))));
#elif defined CASE_sum_over_an_absent_axis
  // expect-gcc: "umbel: sum: there is no axis key in \[batch=2, query=4, hidden=100\]"
  // expect-clang: sum, .*there_is_no_axis, .*key>, .*in, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: The axis to sum over is not an axis of the tensor.
  // cure: Sum over axes in the brackets.
  auto r = sum<query, key>(x);
#elif defined CASE_max_over_an_axis_twice
  // expect-gcc: "umbel: max: the axis query is named twice in \[batch=2, query=4, hidden=100\]"
  // expect-clang: max, .*the_axis, .*query>, .*is_named_twice_in, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: An axis can be removed only once.
  // cure: Name it once; the second name was probably meant to be different.
  auto r = max<query, query>(x);
#elif defined CASE_min_without_an_axis
  // expect-gcc: "umbel: min: names no axis of \[batch=2, query=4, hidden=100\]"
  // expect-clang: min, .*names_no_axis_of, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: There is no form for all axes, and none is named.
  // cure: Name the axes: `min<query>(x)`, `min<batch, query, hidden>(x)`.
  auto r = min(x);
#elif defined CASE_sum_of_flags
  // expect-gcc: "umbel: sum: needs numbers, not bool"
  // expect-clang: sum, .*needs_numbers_not, .*element<bool>
  // cause: A sum of flags would be a flag, not the number of flags.
  // cure: Convert them to numbers first: `where(flags, 1, 0)`.
  auto r = sum<query>(tensor<bool, query<4>>{});
#elif defined CASE_reductions_of_what_was_refused
  // expect-gcc: "umbel: max: there is no axis key in \[batch=2, query=4, hidden=100\]"
  // expect-clang: max, .*there_is_no_axis, .*key>, .*in, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: The axis is not an axis of the tensor.
  // cure: Name axes in the brackets.
  auto r = sum<query>(x - max<key>(x)) | mean<batch, hidden>;
#elif defined CASE_max_in_a_pipe_over_an_absent_axis
  // expect-gcc: "umbel: max: there is no axis key in \[batch=2, query=4, hidden=100\]"
  // expect-clang: max, .*there_is_no_axis, .*key>, .*in, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: The axis is not an axis of the tensor.
  // cure: Name axes in the brackets.
  auto r = x * 2 | max<key>;
#elif defined CASE_variance_over_an_absent_axis
  // expect-gcc: "umbel: variance: there is no axis key in \[batch=2, query=4, hidden=100\]"
  // expect-clang: variance, .*there_is_no_axis, .*key>, .*in, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: The axis is not an axis of the tensor.
  // cure: Name axes in the brackets.
  auto r = variance<query, key>(x);
#elif defined CASE_variance_of_integers
  // expect-gcc: "umbel: variance: needs float or double, not int"
  // expect-clang: variance, .*needs_float_or_double_not, .*element<int>
  // cause: The function needs floating-point numbers, and Umbel converts nothing implicitly.
  // cure: Copy the integers into a float tensor first: `copy(ids, numbers)`.
  auto r = ids | variance<query>;
#elif defined CASE_product_over_an_absent_axis
  // expect-gcc: "umbel: product: there is no axis key in \[batch=2, query=4, hidden=100\]"
  // expect-clang: product, .*there_is_no_axis, .*key>, .*in, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: The axis is not an axis of the tensor.
  // cure: Name axes in the brackets.
  auto r = product<key>(x);
#elif defined CASE_log_softmax_along_an_absent_axis
  // expect-gcc: "umbel: log_softmax: there is no axis key in \[batch=2, query=4, hidden=100\]"
  // expect-clang: log_softmax, .*there_is_no_axis, .*key>, .*in, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: The axis is not an axis of the tensor.
  // cure: Name an axis in the brackets.
  auto r = x | log_softmax<key>;
#elif defined CASE_pow_of_a_template_argument
  // expect-gcc: "umbel: pow: expects its numbers as arguments; write pow\(x, 2\)"
  // expect-clang: error: umbel: pow: expects its numbers as arguments; write pow\(x, 2\)
  // cause: The exponent is a template argument.
  // cure: Pass it in the brackets: `pow(x, 2)`.
  auto r = pow<2>(x);
#elif defined CASE_clamp_to_template_arguments
  // expect-gcc: "umbel: clamp: expects its numbers as arguments; write clamp\(x, 0, 6\)"
  // expect-clang: error: umbel: clamp: expects its numbers as arguments; write clamp\(x, 0, 6\)
  // cause: The bounds are template arguments.
  // cure: Pass them in the brackets: `clamp(x, 0, 6)`.
  auto r = clamp<0, 6>(x);
#elif defined CASE_log_softmax_of_integers
  // expect-gcc: "umbel: log_softmax: needs float or double, not int"
  // expect-clang: log_softmax, .*needs_float_or_double_not, .*element<int>
  // cause: The function needs floating-point numbers, and Umbel converts nothing implicitly.
  // cure: Copy the integers into a float tensor first: `copy(ids, numbers)`.
  auto r = log_softmax<query>(ids);
#else
  const float all = sum<batch, query, hidden>(x)();
  tensor<int, query<4>> first = min<batch>(ids);
  (void)all, (void)first;
  queries r = exp(x) + sqrt(abs(x)) + log_softmax<hidden>(x);
  const float most = (x | sum<hidden> | max<batch, query>)();
  (void)most;
  positions distances = abs(ids) % 7;
  queries bounded = clamp(pow(2, x), 0, x) + softplus(x) - pow(x, 2) % x;
  (void)bounded;
  (void)r, (void)distances;
#endif
}
