// SPDX-License-Identifier: BSL-1.0
// Mistakes with operators and functions of elements in formulas (check.py).
#include <cmath>
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, heads<3>, query<17>, head_dim<16>>;
struct parts {
  tensor<float, head_dim<16>> gain;
};
struct characters {
  characters& operator<<(const char*);
  characters& operator<<(int);
};

[[maybe_unused]] static void cases(const queries& q) {
  constexpr formula doubled = [](auto a) {
    auto b = a;
    b = a * 2;
    return b;
  };
  const auto ok = doubled(q);
#if defined CASE_formula_value_plus_assigned
  // expect-gcc: "umbel: formula: values are immutable; write auto y = x \+ 1"
  // expect-clang: formula, .*values_are_immutable_so_write_auto_y>
  // cause: A value of a formula is the result of one operation, and other operations may read it: `x += 1` would change it for them.
  // cure: Declare a new variable, `auto y = x + 1;`.
  constexpr formula next = [](auto a) {
    a += 1.0f;
    return a;
  };
  auto r = next(q);
#elif defined CASE_formula_value_minus_assigned
  // expect-gcc: "umbel: formula: values are immutable; write auto y = x \+ 1"
  // expect-clang: formula, .*values_are_immutable_so_write_auto_y>
  // cause: A value of a formula is the result of one operation, and other operations may read it: `x += 1` would change it for them.
  // cure: Declare a new variable, `auto y = x + 1;`.
  constexpr formula less = [](auto a, auto b) {
    auto c = a * 2;
    c -= b;
    return c;
  };
  auto r = less(q, q);
#elif defined CASE_formula_value_times_assigned
  // expect-gcc: "umbel: formula: values are immutable; write auto y = x \+ 1"
  // expect-clang: formula, .*values_are_immutable_so_write_auto_y>
  // cause: A value of a formula is the result of one operation, and other operations may read it: `x += 1` would change it for them.
  // cure: Declare a new variable, `auto y = x + 1;`.
  constexpr formula gained = [](auto a, const auto& with) {
    a *= with.gain;
    return a;
  };
  auto r = gained(q, parts{});
#elif defined CASE_formula_position_divide_assigned
  // expect-gcc: "umbel: formula: values are immutable; write auto y = x \+ 1"
  // expect-clang: formula, .*values_are_immutable_so_write_auto_y>
  // cause: A value of a formula is the result of one operation, and other operations may read it: `x += 1` would change it for them.
  // cure: Declare a new variable, `auto y = x + 1;`.
  constexpr formula far = [](auto a) {
    auto distance = position<query> - position<head_dim>;
    distance /= 2;
    return a * distance;
  };
  auto r = far(q);
#elif defined CASE_formula_value_incremented
  // expect-gcc: "umbel: formula: values are immutable; write auto y = x \+ 1"
  // expect-clang: formula, .*values_are_immutable_so_write_auto_y>
  // cause: A value of a formula is the result of one operation, and other operations may read it: `x += 1` would change it for them.
  // cure: Declare a new variable, `auto y = x + 1;`.
  constexpr formula next = [](auto a) {
    ++a;
    return a;
  };
  auto r = next(q);
#elif defined CASE_formula_value_assigned_a_number
  // expect-gcc: "umbel: formula: values are immutable; write auto y = x \+ 1"
  // expect-clang: formula, .*values_are_immutable_so_write_auto_y>
  // cause: A value of a formula is the result of one operation, and other operations may read it: `x += 1` would change it for them.
  // cure: Declare a new variable, `auto y = x + 1;`.
  constexpr formula three = [](auto a) {
    a = 3.0f;
    return a;
  };
  auto r = three(q);
#elif defined CASE_formula_variable_of_other_axes
  // expect-gcc: "umbel: formula: a variable of \[heads=3, query=17, head_dim=16\] cannot be assigned \[heads=3, query=17\]; declare another, auto y = \.\.\."
  // expect-clang: formula, .*a_variable_of, .*head_dim<16>>, .*cannot_be_assigned, .*heads<3>, .*query<17>>, .*so_declare_another>
  // cause: A variable keeps the axes and the type of elements, numbers or conditions, of its declaration, but the new value has others.
  // cure: Declare a new variable: `auto total = sum<head_dim>(x);`.
  constexpr formula summed = [](auto a) {
    auto b = a * 2;
    b = sum<head_dim>(a);
    return b;
  };
  auto r = summed(q);
#elif defined CASE_formula_variable_of_numbers_given_conditions
  // expect-gcc: "umbel: formula: a variable of float cannot be assigned bool; declare another, auto y = \.\.\."
  // expect-clang: formula, .*a_variable_of, .*element<float>, .*cannot_be_assigned, .*element<bool>, .*so_declare_another>
  // cause: A variable keeps the axes and the type of elements, numbers or conditions, of its declaration, but the new value has others.
  // cure: Declare a new variable: `auto total = sum<head_dim>(x);`.
  constexpr formula positive = [](auto a) {
    auto b = a * 2;
    b = a > 0;
    return b;
  };
  auto r = positive(q);
#elif defined CASE_formula_conditions_by_and_of_bits
  // expect-gcc: "umbel: formula: has no such operator; use \+ - \* / % < <= > >= == != && \|\| or !"
  // expect-clang: formula, .*has_no_such_operator_so_use>
  // cause: numpy combines conditions with & | ~, formulas with && || and !; ^ is not a power.
  // cure: Write `x > 0 && x < 1`, `!kept`, `pow(x, 2)`.
  constexpr formula inside = [](auto a) { return where((a > 0) & (a < 1), a, 0); };
  auto r = inside(q);
#elif defined CASE_formula_conditions_by_or_of_bits
  // expect-gcc: "umbel: formula: has no such operator; use \+ - \* / % < <= > >= == != && \|\| or !"
  // expect-clang: formula, .*has_no_such_operator_so_use>
  // cause: numpy combines conditions with & | ~, formulas with && || and !; ^ is not a power.
  // cure: Write `x > 0 && x < 1`, `!kept`, `pow(x, 2)`.
  constexpr formula outside = [](auto a) { return where((a < 0) | (a > 1), a, 0); };
  auto r = outside(q);
#elif defined CASE_formula_condition_complemented
  // expect-gcc: "umbel: formula: has no such operator; use \+ - \* / % < <= > >= == != && \|\| or !"
  // expect-clang: formula, .*has_no_such_operator_so_use>
  // cause: numpy combines conditions with & | ~, formulas with && || and !; ^ is not a power.
  // cure: Write `x > 0 && x < 1`, `!kept`, `pow(x, 2)`.
  constexpr formula negative = [](auto a) { return where(~(a > 0), a, 0); };
  auto r = negative(q);
#elif defined CASE_formula_power
  // expect-gcc: "umbel: formula: has no such operator; use \+ - \* / % < <= > >= == != && \|\| or !"
  // expect-clang: formula, .*has_no_such_operator_so_use>
  // cause: numpy combines conditions with & | ~, formulas with && || and !; ^ is not a power.
  // cure: Write `x > 0 && x < 1`, `!kept`, `pow(x, 2)`.
  constexpr formula squared = [](auto a) { return a ^ 2; };
  auto r = squared(q);
#elif defined CASE_formula_shifted
  // expect-gcc: "umbel: formula: has no such operator; use \+ - \* / % < <= > >= == != && \|\| or !"
  // expect-clang: formula, .*has_no_such_operator_so_use>
  // cause: numpy combines conditions with & | ~, formulas with && || and !; ^ is not a power.
  // cure: Write `x > 0 && x < 1`, `!kept`, `pow(x, 2)`.
  constexpr formula f = [](auto a) { return a << 2; };
  auto r = f(q);
#elif defined CASE_formula_position_shifted
  // expect-gcc: "umbel: formula: has no such operator; use \+ - \* / % < <= > >= == != && \|\| or !"
  // expect-clang: formula, .*has_no_such_operator_so_use>
  // cause: numpy combines conditions with & | ~, formulas with && || and !; ^ is not a power.
  // cure: Write `x > 0 && x < 1`, `!kept`, `pow(x, 2)`.
  constexpr formula f = [](auto a) { return a * (position<query> >> 2); };
  auto r = f(q);
#elif defined CASE_formula_where_of_two
  // expect-gcc: "umbel: where: expects a condition, then two tensors, views or numbers"
  // expect-clang: where, .*expects_a_condition_then_two_tensors_views_or_numbers
  // cause: The condition is not a tensor or view, or it is not followed by two choices.
  // cure: Pass a condition for each element: `where(x > 0, x, 0)`.
  constexpr formula f = [](auto a) { return where(a > 0, a); };
  auto r = f(q);
#elif defined CASE_formula_where_of_four
  // expect-gcc: "umbel: where: expects a condition, then two tensors, views or numbers"
  // expect-clang: where, .*expects_a_condition_then_two_tensors_views_or_numbers
  // cause: The condition is not a tensor or view, or it is not followed by two choices.
  // cure: Pass a condition for each element: `where(x > 0, x, 0)`.
  constexpr formula f = [](auto a) { return where(a > 0, a, 0, 1); };
  auto r = f(q);
#elif defined CASE_formula_where_of_numbers
  // expect-gcc: "umbel: where: expects a condition, then two tensors, views or numbers"
  // expect-clang: where, .*expects_a_condition_then_two_tensors_views_or_numbers
  // cause: The condition is not a tensor or view, or it is not followed by two choices.
  // cure: Pass a condition for each element: `where(x > 0, x, 0)`.
  constexpr formula f = [](auto a) { return a * where(true, 1.0f, 2.0f); };
  auto r = f(q);
#elif defined CASE_formula_hide_of_one
  // expect-gcc: "umbel: hide: expects scores and a condition"
  // expect-clang: hide, .*expects_scores_and_a_condition
  // cause: The condition is not a tensor or view of bool, or there are not two arguments.
  // cure: Write `hide(scores, condition)`; to hide keys past a length, write `mask_after<key>(scores, lens)`.
  constexpr formula f = [](auto a) { return hide(a > 0); };
  auto r = f(q);
#elif defined CASE_formula_maximum_of_three
  // expect-gcc: "umbel: maximum: expects two tensors or views, or one and a number"
  // expect-clang: maximum, .*expects_two_tensors_or_views_or_one_and_a_number
  // cause: `maximum` and `minimum` choose between two elements at each position, and `pow` has a base and an exponent.
  // cure: Write `maximum(maximum(x, y), z)`, `pow(x, 2)` or `pow(2, x)`; along an axis, write `max<key>(x)`.
  constexpr formula f = [](auto a) { return maximum(a, a, 0); };
  auto r = f(q);
#elif defined CASE_formula_pow_of_three
  // expect-gcc: "umbel: pow: expects two tensors or views, or one and a number"
  // expect-clang: pow, .*expects_two_tensors_or_views_or_one_and_a_number
  // lines-clang: 15
  // cause: `maximum` and `minimum` choose between two elements at each position, and `pow` has a base and an exponent.
  // cure: Write `maximum(maximum(x, y), z)`, `pow(x, 2)` or `pow(2, x)`; along an axis, write `max<key>(x)`.
  constexpr formula f = [](auto a) { return pow(a, 2, 3); };
  auto r = f(q);
#elif defined CASE_formula_clamp_by_one_bound
  // expect-gcc: "umbel: clamp: expects a tensor or view, then two bounds: tensors, views or numbers"
  // expect-clang: clamp, .*expects_a_tensor_or_view_then_two_bounds
  // lines-clang: 15
  // cause: `clamp` needs a tensor or view, then a lower and an upper bound.
  // cure: Write `clamp(x, low, high)`; for one bound, `maximum(x, low)` or `minimum(x, high)`.
  constexpr formula f = [](auto a) { return clamp(a, 0); };
  auto r = f(q);
#elif defined CASE_formula_clamp_by_a_condition
  // expect-gcc: "umbel: clamp: needs numbers, not bool"
  // expect-clang: clamp, .*needs_numbers_not, .*element<bool>
  // lines-clang: 15
  // cause: An operand holds conditions.
  // cure: Choose by the condition: `where(x > 0, x, 0)`.
  constexpr formula f = [](auto a) { return clamp(a, a > 0, 1); };
  auto r = f(q);
#elif defined CASE_formula_clamp_of_positions_by_a_condition
  // expect-gcc: "umbel: clamp: needs numbers, not bool"
  // expect-clang: clamp, .*needs_numbers_not, .*element<bool>
  // lines-clang: 15
  // cause: An operand holds conditions.
  // cure: Choose by the condition: `where(x > 0, x, 0)`.
  constexpr formula f = [](auto a) { return clamp(a, 0, position<query> > 2); };
  auto r = f(q);
#elif defined CASE_formula_softmax_of_an_axis_by_number
  // expect-gcc: "umbel: softmax: axes have names; write x \| softmax<key>"
  // expect-clang: umbel: softmax: axes have names; write x \| softmax<key>
  // sentence-gcc: 4
  // lines-gcc: 14
  // lines-clang: 15
  // cause: A softmax needs a named axis.
  // cure: Write `x | softmax<hidden>`.
  constexpr formula f = [](auto a) { return a.softmax(-1) + 1; };
  auto r = f(q);
#elif defined CASE_formula_transpose_by_numbers
  // expect-gcc: "umbel: transpose: axes have names; list them in their new order, x \| permute<heads, query, head_dim>"
  // expect-clang: umbel: transpose: axes have names; list them in their new order, x \| permute<heads, query, head_dim>
  // sentence-gcc: 4
  // lines-gcc: 14
  // lines-clang: 16
  // cause: Axes have names here, not numbers.
  // cure: List all axes in their new order: `x | permute<batch, hidden, query>`.
  constexpr formula f = [](auto a) { return transpose(a, 0, 1); };
  auto r = f(q);
#elif defined CASE_formula_remainder_by_an_absent_axis
  // expect-gcc: "umbel: elementwise: \[heads=3, query=17, head_dim=16\] and \[key=4\] have different axes; to repeat one along the others, write x \| broadcast<\.\.\.>"
  // expect-clang: elementwise, .*heads<3>, .*query<17>, .*head_dim<16>>, .*and_, .*key<4>>, .*have_different_axes_so_broadcast_one
  // lines-clang: 15
  // cause: One operand must have all axes of the other.
  // cure: Repeat one along the axes of the other: `x | broadcast<...>`.
  constexpr formula f = [](auto a, auto b) { return a % b; };
  auto r = f(q, tensor<float, key<4>>{});
#elif defined CASE_formula_max_of_two
  // expect-gcc: "umbel: max: expects one tensor and named axes, x \| max<key>; for two tensors write maximum\(x, y\) or minimum\(x, y\)"
  // expect-clang: max, .*expects_one_tensor_and_named_axes_so_write_maximum_or_minimum_of_two
  // cause: `max` and `min` reduce an axis; for two tensors, or a tensor and a number, the names are `maximum` and `minimum`.
  // cure: Write `maximum(x, 0)`.
  constexpr formula f = [](auto a) { return max(a, 0); };
  auto r = f(q);
#elif defined CASE_formula_standard_function
  // expect-gcc: "umbel: formula: a value is not a number yet; write exp\(x\), not std::exp\(x\), and functions of numbers as formulas"
  // expect-clang: formula, .*a_value_is_not_a_number_yet_so_write_exp_without_std>
  // lines-gcc-14: 17
  // cause: A value of a formula stands for tensors that are computed later; functions of one number, such as std::exp or yours, cannot be called with it.
  // cure: Write `exp(x)`, `sqrt(x)`, `abs(x)` without `std::`; write your function as a formula with `auto` parameters, which other formulas can call.
  constexpr formula f = [](auto a) { return a * std::abs(position<query> - position<head_dim>); };
  auto r = f(q);
#elif defined CASE_formula_value_as_a_number
  // expect-gcc: "umbel: formula: a value is not a number yet; write exp\(x\), not std::exp\(x\), and functions of numbers as formulas"
  // expect-clang: formula, .*a_value_is_not_a_number_yet_so_write_exp_without_std>
  // lines-clang: 15
  // lines-gcc-14: 17
  // cause: A value of a formula stands for tensors that are computed later; functions of one number, such as std::exp or yours, cannot be called with it.
  // cure: Write `exp(x)`, `sqrt(x)`, `abs(x)` without `std::`; write your function as a formula with `auto` parameters, which other formulas can call.
  constexpr formula f = [](auto a) {
    float most = max<heads, query, head_dim>(a);
    return a * most;
  };
  auto r = f(q);
#elif defined CASE_formula_element_by_brackets
  // expect-gcc: "umbel: formula: an element has no value yet; write select_at<heads, 2>\(x\), or an operation on the whole tensor"
  // expect-clang: formula, .*an_element_has_no_value_yet_so_write_select_at>
  // cause: A formula works on whole tensors; while it is traced there are no elements.
  // cure: Select one position of an axis with `select_at`, or write the operation for all elements.
  constexpr formula f = [](auto a) { return a[0] * 2; };
  auto r = f(q);
#elif defined CASE_formula_select_at_an_argument
  // expect-gcc: "umbel: formula: select at cannot be used in formulas; write out its operations, or call it outside"
  // expect-clang: formula, .*select_at, .*cannot_be_used_in_formulas_so_write_out_its_operations>
  // lines-gcc-14: 17
  // cause: A formula must know at compile time which elements it reads, but the position is an argument, which has no value yet.
  // cure: Write a constant, `x | select_at<heads, 2>`, or pass the part, `f(x | select_at<heads>(n))`.
  constexpr formula f = [](auto a, auto n) { return a | select_at<heads>(n); };
  auto r = f(q, 3);
#elif defined CASE_a_name_with_a_dot
  // expect-gcc: "umbel: named: needs a name of letters, digits and underscores"
  // expect-clang: named, .*needs_a_name_of_letters_digits_and_underscores>
  // cause: The name is a part of paths in files, in which dots separate parts.
  // cure: Use letters, digits and underscores, `named<"scores">(x)`.
  (void)named<"layer.scores">(q);
#elif defined CASE_formula_of_a_chained_comparison
  // expect-gcc: "umbel: formula: compares the result of a comparison; write a < b && b < c"
  // expect-clang: formula, .*compares_the_result_of_a_comparison_so_write_a_less_b_and_b_less_c
  // cause: In C++, 0 <= x < 2 compares the condition 0 <= x with 2, which is always true.
  // cure: Write both comparisons, joined by `&&`.
  constexpr formula f = [](auto a) { return where(0 <= a < 2, a, 0); };
  auto r = f(q);
#elif defined CASE_formula_of_a_chained_comparison_of_positions
  // expect-gcc: "umbel: formula: compares the result of a comparison; write a < b && b < c"
  // expect-clang: formula, .*compares_the_result_of_a_comparison_so_write_a_less_b_and_b_less_c
  // cause: In C++, 0 <= x < 2 compares the condition 0 <= x with 2, which is always true.
  // cure: Write both comparisons, joined by `&&`.
  constexpr formula f = [](auto a) { return hide(a, 1 < position<query> >= position<head_dim>); };
  auto r = f(q);
#elif defined CASE_formula_with_a_function_of_weights
  // expect-gcc: "umbel: exp: expects a tensor or view, not parts; pass one of its members, such as w\.weight"
  // expect-clang: exp, .*expects_a_tensor_or_view_and_not, .*parts.*so_pass_one_of_its_members_such_as_weight
  // cause: The function computes each element of a tensor, but the argument is an object with several.
  // cure: Pass one of the tensors in it.
  constexpr formula f = [](auto a, const auto& w) { return a * exp(w); };
  auto r = f(q, parts{});
#elif defined CASE_formula_that_gathers_from_positions
  // expect-gcc: "umbel: gather: expects a tensor and positions; write gather<bucket>\(x, ids\)"
  // expect-clang: gather, .*expects_a_tensor_and_positions_so_write_gather_of_both
  // cause: `gather` returns elements of a tensor, those at the positions.
  // cure: Write `gather<key>(x, ids)`, with ids a tensor of int; for one position, `x | select_at<key>(1)`.
  constexpr formula f = [](auto a) { return gather<head_dim>(position<query> + 1, a); };
  auto r = f(q);
#elif defined CASE_formula_printed
  // expect-gcc: "umbel: formula: cannot be printed; include umbel/inspect/describe\.hpp and print describe\(f, x\)"
  // expect-clang: formula, .*cannot_be_printed_so_print_describe
  // cause: A formula is a function.
  // cure: Print its plan, `describe(f, x)`, or its result.
  characters out;
  out << doubled;
#endif
}
