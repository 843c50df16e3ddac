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
  // expect-gcc: "umbel: exp: takes float or double, not int"
  // expect-clang: exp, .*takes_float_or_double_not, .*element<int>
  // cause: The function is of floating-point numbers; nothing is converted in silence.
  // cure: Copy into a tensor of float first: `copy(ids, numbers)`.
  auto r = exp(ids);
#elif defined CASE_log_of_a_view_of_integers
  // expect-gcc: "umbel: log: takes float or double, not int"
  // expect-clang: log, .*takes_float_or_double_not, .*element<int>
  // cause: The function is of floating-point numbers; nothing is converted in silence.
  // cure: Copy into a tensor of float first: `copy(ids, numbers)`.
  auto r = log(ids | permute<query, batch>) + 1;
#elif defined CASE_abs_of_flags
  // expect-gcc: "umbel: abs: bool has no sign"
  // expect-clang: abs, .*element<bool>, .*has_no_sign
  // cause: The elements are no numbers.
  // cure: Leave the call out.
  auto r = abs(tensor<bool, query<4>>{});
#elif defined CASE_functions_of_what_was_refused
  // expect-gcc: "umbel: permute: there is no axis key in \[batch=2, query=4, hidden=100\]"
  // expect-clang: permute, .*there_is_no_axis, .*key>, .*in, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: The order names an axis that the tensor does not have.
  // cure: List its own axes.
  auto r = sigmoid(tanh(sqrt(abs(x | permute<batch, key, hidden>))));
#else
  queries r = exp(x) + sqrt(abs(x));
  positions distances = abs(ids);
  (void)r, (void)distances;
#endif
}
