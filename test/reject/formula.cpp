// SPDX-License-Identifier: BSL-1.0
// Mistakes in formulas (check.py).
#include <array>
#include <tuple>
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, heads<3>, query<17>, head_dim<16>>;
using keys = tensor<float, heads<3>, key<21>, head_dim<16>>;
using attention = multi_head_attention<float, hidden<16>, heads<4>>;

struct two_workers {
  static constexpr std::size_t workers = 2;
  template <class Piece>
  void operator()(std::size_t count, const Piece& piece) const {
    for (std::size_t i = 0; i < count; ++i) piece(i, i % 2);
  }
};

template <class X>
auto not_constexpr(const X& x) {
  return x + x;
}

[[maybe_unused]] static void cases(const queries& q, const keys& k) {
  tensor<float, heads<3>, key<20>, head_dim<16>> other{};
  tensor<float, batch<2>> slopes{};
  tensor<float, token<4>, hidden<16>> x{};
  static attention::weights w;
  float scale = 0.25f;
  constexpr formula attend = [](auto queries, auto keys, auto values) {
    return contract<key>(softmax<key>(contract<head_dim>(queries, keys) * 0.25f), values);
  };
  (void)q, (void)k, (void)other, (void)slopes, (void)x, (void)w, (void)scale;
  const auto ok = attend(q, k, k);
#if defined CASE_formula_checks_each_step
  // expect-gcc: "umbel: contract: the left side has key=21 but the right side has key=20"
  // expect-clang: contract, .*the_left_side_has, .*key<21>, .*but_the_right_side_has, .*key<20>
  // cause: In a formula, each operation has its own rule; here there are fewer values than keys.
  // cure: Use the same number of keys for both.
  auto r = attend(q, k, other);
#elif defined CASE_formula_elementwise_axes
  // expect-gcc: "umbel: elementwise: \[heads=3, query=17, key=21\] and \[batch=2\] have different axes; to repeat one along the others, write x \| broadcast<\.\.\.>"
  // expect-clang: elementwise, .*heads<3>, .*query<17>, .*key<21>>, .*and_, .*batch<2>>, .*have_different_axes_so_broadcast_one>
  // cause: In a formula, an operand is repeated along the axes that it lacks, but this one has an extra axis.
  // cure: Rename the axis, select one position of it, or sum over it first.
  constexpr formula biased = [](auto queries, auto keys, auto bias) {
    return contract<head_dim>(queries, keys) + bias;
  };
  auto r = biased(q, k, slopes);
#elif defined CASE_formula_elementwise_sizes
  // expect-gcc: "umbel: elementwise: the left side has head_dim=16 but the right side has head_dim=20"
  // expect-clang: elementwise, .*the_left_side_has, .*head_dim<16>, .*but_the_right_side_has, .*head_dim<20>>
  // cause: Two operands have the same axis with two sizes.
  // cure: Use one size, or rename one of the axes.
  constexpr formula sum = [](auto a, auto b) { return a + b; };
  auto r = sum(q, tensor<float, head_dim<20>>{});
#elif defined CASE_formula_elementwise_types
  // expect-gcc: "umbel: formula: argument 2 holds double but the formula computes in float"
  // expect-clang: formula, .*argument, .*number<2>, .*holds, .*element<double>, .*but_the_formula_computes_in, .*element<float>
  // cause: A formula computes in the type of its first floating-point argument, and converts nothing.
  // cure: Pass all arguments in one type.
  constexpr formula sum = [](auto a, auto b) { return a + b; };
  auto r = sum(q, tensor<double, head_dim<16>>{});
#elif defined CASE_formula_part_of_integers
  // expect-gcc: "umbel: formula: a part of an argument holds int; pass it as a separate argument"
  // expect-clang: formula, .*a_part_of_an_argument_holds, .*element<int>, .*so_pass_it_as_a_separate_argument>
  // cause: Tensors in an argument must have the element type of the formula.
  // cure: Pass that tensor as a separate argument of the formula.
  struct parts {
    tensor<int, heads<3>> lengths;
  };
  constexpr formula longer = [](auto a, const auto& with) { return a + with.lengths; };
  auto r = longer(q, parts{});
#elif defined CASE_formula_part_beside_a_position
  // expect-gcc: "umbel: elementwise: \[heads=3, query=17, head_dim=16\] and \[batch=2\] have different axes; to repeat one along the others, write x \| broadcast<\.\.\.>"
  // expect-clang: elementwise, .*heads<3>, .*query<17>, .*head_dim<16>>, .*and_, .*batch<2>>, .*have_different_axes_so_broadcast_one>
  // cause: In a formula, an operand is repeated along the axes that it lacks, but this one has an extra axis.
  // cure: Rename the axis, select one position of it, or sum over it first.
  struct parts {
    tensor<float, batch<2>> slopes;
  };
  constexpr formula far = [](auto a, const auto& with) {
    return a + with.slopes * position<query>;
  };
  auto r = far(q, parts{});
#elif defined CASE_formula_part_of_another_type_beside_a_position
  // expect-gcc: "umbel: elementwise: the left side holds float but the right side holds double"
  // expect-clang: elementwise, .*the_left_side_holds, .*element<float>, .*but_the_right_side_holds, .*element<double>
  // cause: The sides have different element types, and Umbel converts nothing implicitly.
  // cure: Declare both with one element type.
  struct parts {
    tensor<double, heads<3>> slopes;
  };
  constexpr formula far = [](auto a, const auto& with) {
    return a + with.slopes * position<query>;
  };
  auto r = far(q, parts{});
#elif defined CASE_formula_part_alone
  // expect-gcc: "umbel: formula: copies a part of an argument or uses it alone, before it has a value; pass that part as a separate argument, the object as const auto& w; a function that it calls must be constexpr"
  // expect-clang: formula, .*copies_a_part_of_an_argument_or_uses_it_alone_so_pass_it_separately_and_the_object_as_const_auto>
  // cause: A formula is traced at compile time. Then weights and numbers in an argument have no values, nor have the results computed only from them: `exp(w.gain)`, `one_hot<classes<9>>(w.ids)`.
  // cure: Declare weights as `const auto& w`, and pack them outside. Pass numbers, and tensors that are used alone, as separate arguments, or combine a part with a tensor first: `x + w.gain`, `contract<head_dim>(x, w.table)`.
  struct parts {
    tensor<float, heads<3>> gain;
  };
  constexpr formula gained = [](auto a, const auto& with) { return a * exp(with.gain); };
  auto r = gained(q, parts{});
#elif defined CASE_formula_one_hot_of_a_part
  // expect-gcc: "umbel: formula: copies a part of an argument or uses it alone, before it has a value; pass that part as a separate argument, the object as const auto& w; a function that it calls must be constexpr"
  // expect-clang: formula, .*copies_a_part_of_an_argument_or_uses_it_alone_so_pass_it_separately_and_the_object_as_const_auto>
  // cause: A formula is traced at compile time. Then weights and numbers in an argument have no values, nor have the results computed only from them: `exp(w.gain)`, `one_hot<classes<9>>(w.ids)`.
  // cure: Declare weights as `const auto& w`, and pack them outside. Pass numbers, and tensors that are used alone, as separate arguments, or combine a part with a tensor first: `x + w.gain`, `contract<head_dim>(x, w.table)`.
  struct parts {
    tensor<int, query<17>> ids;
  };
  constexpr formula chosen = [](auto a, const auto& with) {
    return a + one_hot<head_dim<16>>(with.ids);
  };
  auto r = chosen(q, parts{});
#elif defined CASE_formula_number_of_an_object
  // expect-gcc: "umbel: formula: copies a part of an argument or uses it alone, before it has a value; pass that part as a separate argument, the object as const auto& w; a function that it calls must be constexpr"
  // expect-clang: formula, .*copies_a_part_of_an_argument_or_uses_it_alone_so_pass_it_separately_and_the_object_as_const_auto>
  // cause: A formula is traced at compile time. Then weights and numbers in an argument have no values, nor have the results computed only from them: `exp(w.gain)`, `one_hot<classes<9>>(w.ids)`.
  // cure: Declare weights as `const auto& w`, and pack them outside. Pass numbers, and tensors that are used alone, as separate arguments, or combine a part with a tensor first: `x + w.gain`, `contract<head_dim>(x, w.table)`.
  struct parts {
    float scale;
  };
  constexpr formula times = [](auto a, const auto& with) { return a * with.scale; };
  auto r = times(q, parts{});
#elif defined CASE_formula_maximum_of_other_axes
  // expect-gcc: "umbel: elementwise: \[heads=3, query=17, head_dim=16\] and \[batch=2\] have different axes; to repeat one along the others, write x \| broadcast<\.\.\.>"
  // expect-clang: elementwise, .*heads<3>, .*query<17>, .*head_dim<16>>, .*and_, .*batch<2>>, .*have_different_axes_so_broadcast_one>
  // cause: In a formula, an operand is repeated along the axes that it lacks, but this one has an extra axis.
  // cure: Rename the axis, select one position of it, or sum over it first.
  constexpr formula capped = [](auto a, auto b) { return maximum(a, b); };
  auto r = capped(q, slopes);
#elif defined CASE_formula_concat_of_other_sizes
  // expect-gcc: "umbel: concat: \[heads=3, query=17, head_dim=16\] and \[heads=3, key=21, head_dim=16\] differ in more than the axis head_dim"
  // expect-clang: concat, .*heads<3>, .*query<17>, .*head_dim<16>>, .*and_, .*heads<3>, .*key<21>, .*differ_in_more_than_the_axis, .*head_dim>
  // cause: The tensors must have the same axes in the same order, and the same sizes along all but one.
  // cure: `permute` or `rename_axis` one of them, or name the axis in which they differ.
  constexpr formula joined = [](auto a, auto b) { return concat<head_dim>(a, b); };
  auto r = joined(q, k);
#elif defined CASE_formula_stack_of_conditions
  // expect-gcc: "umbel: stack: needs float or double, not bool"
  // expect-clang: stack, .*needs_float_or_double_not, .*element<bool>
  // cause: A formula can stack numbers, but not conditions.
  // cure: Choose numbers: `where(x > 0, 1, 0)`.
  constexpr formula stacked = [](auto a) { return stack<batch>(a > 0, a < 0) * 2; };
  auto r = stacked(q);
#elif defined CASE_formula_lookup_by_numbers
  // expect-gcc: "umbel: lookup: needs integers, not float"
  // expect-clang: lookup, .*needs_integers_not, .*element<float>
  // cause: Positions are integers; the arguments are probably swapped.
  // cure: Write `lookup(table, ids)`, with ids a tensor of int; in a formula, `gather<axis>(table, x)` reads at computed numbers.
  constexpr formula rows = [](auto table, auto at) { return lookup(table, at); };
  auto r = rows(x, tensor<float, batch<2>>{});
#elif defined CASE_formula_lookup_by_a_part
  // expect-gcc: "umbel: formula: a part of an argument holds int; pass it as a separate argument"
  // expect-clang: formula, .*a_part_of_an_argument_holds, .*element<int>, .*so_pass_it_as_a_separate_argument>
  // cause: Tensors in an argument must have the element type of the formula.
  // cure: Pass that tensor as a separate argument of the formula.
  struct parts {
    tensor<int, batch<3>> ids;
  };
  constexpr formula rows = [](auto table, const auto& with) { return lookup(table, with.ids); };
  auto r = rows(x, parts{});
#elif defined CASE_formula_lookup_in_a_long_table
  // expect-gcc: "umbel: lookup: classes=20000000 has more positions than float can count; look up outside the formula"
  // expect-clang: lookup, .*classes<20000000>, .*has_more_positions_than, .*element<float>, .*can_count_so_look_up_outside_the_formula>
  // cause: A formula converts integers to its element type, and float cannot hold all integers above 16,777,216.
  // cure: Call `lookup(table, ids)` outside, and pass its result.
  static tensor<float, classes<20000000>> table;
  constexpr formula rows = [](auto words, auto at) { return lookup(words, at); };
  auto r = rows(table, tensor<int, batch<2>>{});
#elif defined CASE_formula_one_hot_of_another_type
  // expect-gcc: "umbel: one_hot: the left side holds float but the right side holds double"
  // expect-clang: one_hot, .*the_left_side_holds, .*element<float>, .*but_the_right_side_holds, .*element<double>
  // cause: The formula computes in a different type than the requested one.
  // cure: Leave the type out in a formula: `one_hot<classes<10>>(ids)`.
  constexpr formula chosen = [](auto a, auto at) { return a + one_hot<batch<2>, float>(at); };
  auto r = chosen(tensor<double, batch<2>>{}, tensor<int>{});
#elif defined CASE_formula_rotate_by_other_angles
  // expect-gcc: "umbel: rotate: the left side has query=17 but the right side has query=10"
  // expect-clang: rotate, .*the_left_side_has, .*query<17>, .*but_the_right_side_has, .*query<10>
  // cause: The cosines or the positions have an axis of x with a different size.
  // cure: Use as many as x has: `cosines | slice<token, from<0>, extent<9>>`, or `positions | slice<token, from<0>, extent<9>>`.
  constexpr formula turned = [](auto a, auto c, auto s) {
    return rotate<split_halves, head_dim>(a, c, s);
  };
  const auto cosines = rope_cosines<split_halves, query<10>, head_dim<16>>();
  auto r = turned(q, cosines, cosines);
#elif defined CASE_formula_makes_a_tensor
  // expect-gcc: "umbel: formula: uses a tensor that is not part of any argument; pass it as an argument"
  // expect-clang: formula, .*uses_a_tensor_that_is_not_part_of_any_argument_so_pass_it_as_an_argument>
  // cause: A tensor that the function creates is destroyed before the formula runs.
  // cure: Pass it as an argument of the formula; a single number may be a literal.
  constexpr formula weighted = [](auto a) {
    const tensor<float, heads<3>> by{1, 2, 3};
    return a * by;
  };
  auto r = weighted(q);
#elif defined CASE_formula_captures
  // expect-gcc: "umbel: formula: captures variables; pass them as arguments"
  // expect-clang: formula, .*captures_variables_so_pass_them_as_arguments>
  // cause: A formula is traced at compile time, when a variable has no value.
  // cure: Pass it as an argument of the formula: `[](auto q, auto k, auto scale) { ... }`.
  formula scaled = [scale](auto queries, auto keys) {
    return contract<head_dim>(queries, keys) * scale;
  };
  auto r = scaled(q, k);
#elif defined CASE_formula_condition_and_true
  // expect-gcc: "umbel: elementwise: one bool is not a condition of elements; leave out true, or pass a tensor of bool as an argument"
  // expect-clang: elementwise, .*one_bool_is_not_a_condition_of_elements_so_leave_out_true_or_pass_a_tensor_of_bool>
  // cause: &&, || and ! combine conditions of a formula, with one value for each element.
  // cure: Leave out `&& true`. Pass a flag that is known at run time as `tensor<bool>`, without axes.
  constexpr formula positive = [](auto a) { return where(a > 0 && true, a, 0); };
  auto r = positive(q);
#elif defined CASE_formula_branches
  // expect-gcc: "umbel: formula: cannot branch on a condition, which has no value yet; write where\(condition, a, b\), or maximum\(a, b\) for std::max"
  // expect-clang: formula, .*cannot_branch_on_a_condition_so_write_where>
  // lines-gcc: 17
  // cause: if, ?: and && of C++ need a value while the formula is traced, but the values exist only later, one for each element.
  // cure: Write `where(condition, a, b)`.
  constexpr formula positive = [](auto a) {
    if (a > 0) return a * 2;
    return a * 1;
  };
  auto r = positive(q);
#elif defined CASE_formula_elements
  // expect-gcc: "umbel: formula: an element has no value yet; write select_at<heads, 2>\(x\), or an operation on the whole tensor"
  // expect-clang: formula, .*an_element_has_no_value_yet_so_write_select_at>
  // cause: A formula works on whole tensors; while it is traced there are no elements.
  // cure: Select one position of an axis with `select_at`, or write the operation for all elements.
  constexpr formula first = [](auto a) { return a(0, 0, 0) * 2; };
  auto r = first(q);
#elif defined CASE_formula_no_word
  // expect-gcc: "umbel: formula: transposed cannot be used in formulas; write out its operations, or call it outside"
  // expect-clang: formula, .*transposed, .*cannot_be_used_in_formulas_so_write_out_its_operations>
  // cause: The operation accepts only tensors.
  // cure: Write it with operations that formulas have, here `permute`, or call it before or after the formula.
  constexpr formula turned = [](auto a) { return a | transposed<token, hidden>; };
  auto r = turned(x);
#elif defined CASE_formula_gives_conditions
  // expect-gcc: "umbel: formula: returns conditions, not numbers; write where\(condition, 1, 0\)"
  // expect-clang: formula, .*returns_conditions_not_numbers_so_write_where>
  // cause: The result is true or false.
  // cure: Choose numbers for it: `where(x > 0, 1, 0)`.
  constexpr formula positive = [](auto a) { return a > 0; };
  auto r = positive(q);
#elif defined CASE_formula_gives_integers
  // expect-gcc: "umbel: formula: returns int but the formula computes in float"
  // expect-clang: formula, .*returns, .*element<int>, .*but_the_formula_computes_in, .*element<float>
  // cause: A formula returns computed values, but these integers are only moved.
  // cure: Leave them out of the results, or convert them: `1.0f * ids`.
  constexpr formula first = [](auto a, auto ids) {
    return std::tuple{a * 2, ids | select_at<token, 0>};
  };
  auto r = first(q, tensor<int, token<4>>{});
#elif defined CASE_formula_of_integers_gives_integers
  // expect-gcc: "umbel: formula: returns int but the formula computes in float"
  // expect-clang: formula, .*returns, .*element<int>, .*but_the_formula_computes_in, .*element<float>
  // cause: A formula returns computed values, but these integers are only moved.
  // cure: Leave them out of the results, or convert them: `1.0f * ids`.
  constexpr formula turned = [](auto ids) { return ids | permute<token, batch>; };
  tensor<int, token<4>, batch<2>> out{};
  turned.into(out, tensor<int, batch<2>, token<4>>{});
  const int r = 0;
#elif defined CASE_formula_workspace_of_integers
  // expect-gcc: "umbel: formula: returns int but the formula computes in float"
  // expect-clang: formula, .*returns, .*element<int>, .*but_the_formula_computes_in, .*element<float>
  // cause: A formula returns computed values, but these integers are only moved.
  // cure: Leave them out of the results, or convert them: `1.0f * ids`.
  constexpr formula same = [](auto ids) { return ids; };
  static workspace_for<decltype(same), tensor<int, token<4>>> work;
  (void)work;
#elif defined CASE_formula_gives_another_type
  // expect-gcc: "umbel: formula: argument 2 holds double but the formula computes in float"
  // expect-clang: formula, .*argument, .*number<2>, .*holds, .*element<double>, .*but_the_formula_computes_in, .*element<float>
  // cause: A formula computes in the type of its first floating-point argument, and converts nothing.
  // cure: Pass all arguments in one type.
  constexpr formula second = [](auto, auto b) { return b; };
  auto r = second(q, tensor<double, token<4>>{});
#elif defined CASE_formula_gives_no_tensor
  // expect-gcc: "umbel: formula: must return a tensor computed from its arguments"
  // expect-clang: formula, .*must_return_a_tensor_computed_from_its_arguments>
  // cause: The function returns a number, an object or nothing.
  // cure: Return the result of an operation.
  constexpr formula nothing = [](auto) { return 3; };
  auto r = nothing(q);
#elif defined CASE_formula_position_alone
  // expect-gcc: "umbel: formula: uses positions along key, but no operand has that axis"
  // expect-clang: formula, .*uses_positions_along, .*key>, .*but_no_operand_has_that_axis>
  // cause: position<key> is the number of each position on an axis, but no operand here has that axis.
  // cure: Combine it with a tensor that has the axis, or name a different axis; `positions_along<key<6>>` brings its own.
  constexpr formula far = [](auto a) { return a - position<key>; };
  auto r = far(q);
#elif defined CASE_formula_number_of_arguments
  // expect-gcc: "umbel: formula: the function has 3 parameters but the call has 2"
  // expect-clang: formula, .*the_function_has, .*number<3>, .*parameters_but_the_call_has, .*number<2>
  // cause: The function has a different number of parameters, or has weights as values, which each call would copy.
  // cure: Pass as many arguments as it has parameters, and optionally a workspace last; write `const auto& w` for weights.
  auto r = attend(q, k);
#elif defined CASE_formula_value_from_itself
  // expect-gcc: "umbel: formula: subtracts a value from itself, which is 0; for pairs of positions rename an axis of one, x - \(x \| rename_axis<query, key>\)"
  // expect-clang: formula, .*subtracts_a_value_from_itself_so_rename_an_axis_of_one
  // cause: The difference of each pair of positions was meant, but both operands have the same axes, so each element is subtracted from itself.
  // cure: Rename an axis of one operand: `times - (times | rename_axis<query, key>)`.
  constexpr formula apart = [](auto a) {
    auto scaled = a * 2;
    return scaled - scaled;
  };
  auto r = apart(q);
#elif defined CASE_formula_unknown_operation
  // expect: lambda|frobnicate
  // lines-gcc: 14
  // lines-clang: 15
  // cause: The formula uses a name that nothing declares. Umbel adds no second message.
  // cure: Correct the name, or include the header that declares it.
  constexpr formula unknown = [](auto a) { return a + frobnicate(a); };
  auto r = unknown(q);
#elif defined CASE_formula_unknown_operation_into
  // expect: lambda|frobnicate
  // lines-gcc: 14
  // lines-clang: 15
  // cause: The formula uses a name that nothing declares. Umbel adds no second message.
  // cure: Correct the name, or include the header that declares it.
  static queries out;
  constexpr formula unknown = [](auto a) { return a + frobnicate(a); };
  unknown.into(out, q);
#elif defined CASE_formula_unknown_operation_and_a_workspace
  // expect: lambda|frobnicate
  // lines-gcc: 14
  // lines-clang: 16
  // cause: The formula uses a name that nothing declares. Umbel adds no second message.
  // cure: Correct the name, or include the header that declares it.
  constexpr formula unknown = [](auto a) { return a + frobnicate(a); };
  static workspace_for<decltype(unknown), queries> work;
  auto r = unknown(q, work);
#elif defined CASE_formula_lookup_by_a_mask
  // expect-gcc: "umbel: lookup: expects a table and positions; write lookup\(table, ids\)"
  // expect-clang: lookup.*expects_a_table_and_positions_so_write_lookup_of_both
  // cause: `lookup` returns rows of a table, those at the positions.
  // cure: Write `lookup(table, ids)`, with ids a tensor of int.
  constexpr formula rows = [](auto a, auto t) { return softmax<head_dim>(a + lookup(t, causal)); };
  auto r = rows(q, other);
#elif defined CASE_formula_gather_by_a_condition
  // expect-gcc: "umbel: gather: needs integers, not bool"
  // expect-clang: gather, .*needs_integers_not, .*element<bool>
  // cause: The positions are a condition.
  // cure: Write `where(position<key> > position<query>, 1, 0)` for the positions 1 and 0.
  constexpr formula rows = [](auto a, auto b) {
    return contract<head_dim>(a, b) + gather<head_dim>(a, position<key> > position<query>);
  };
  auto r = rows(q, k);
#elif defined CASE_formula_lookup_by_positions_of_no_axis
  // expect-gcc: "umbel: formula: uses positions along token, but no operand has that axis"
  // expect-clang: formula.*uses_positions_along.*token.*but_no_operand_has_that_axis
  // cause: The rows at these positions meet no operand with the axis.
  // cure: Add, multiply or compare them with a tensor that has it.
  constexpr formula rows = [](auto a, auto t) {
    return a + lookup(t | permute<key, heads, head_dim>, position<token>);
  };
  auto r = rows(q, other);
#elif defined CASE_formula_into_of_fewer_arguments
  // expect-gcc: "umbel: formula: the function has 3 parameters but the call has 2"
  // expect-clang: formula, .*the_function_has, .*number<3>, .*parameters_but_the_call_has, .*number<2>
  // cause: The function has a different number of parameters, or has weights as values, which each call would copy.
  // cure: Pass as many arguments as it has parameters, and optionally a workspace last; write `const auto& w` for weights.
  static queries out;
  attend.into(out, q, k);
#elif defined CASE_formula_workspace_of_fewer_arguments
  // expect-gcc: "umbel: formula: the function has 3 parameters but the call has 2"
  // expect-clang: formula, .*the_function_has, .*number<3>, .*parameters_but_the_call_has, .*number<2>
  // cause: The function has a different number of parameters, or has weights as values, which each call would copy.
  // cure: Pass as many arguments as it has parameters, and optionally a workspace last; write `const auto& w` for weights.
  static workspace_for<decltype(attend), queries, keys> work;
  (void)work;
#elif defined CASE_formula_workspace_of_other_shapes
  // expect-gcc: "umbel: contract: the left side has key=21 but the right side has key=20"
  // expect-clang: contract, .*the_left_side_has, .*key<21>, .*but_the_right_side_has, .*key<20>
  // cause: In a formula, each operation has its own rule; here there are fewer values than keys.
  // cure: Use the same number of keys for both.
  static workspace_for<decltype(attend), queries, keys,
                       tensor<float, heads<3>, key<20>, head_dim<16>>>
      work;
  (void)work;
#elif defined CASE_formula_workspace_of_conditions
  // expect-gcc: "umbel: formula: returns conditions, not numbers; write where\(condition, 1, 0\)"
  // expect-clang: formula, .*returns_conditions_not_numbers_so_write_where>
  // cause: The result is true or false.
  // cure: Choose numbers for it: `where(x > 0, 1, 0)`.
  constexpr formula positive = [](auto a) { return a > 0; };
  static workspace_for<decltype(positive), queries> work;
  (void)work;
#elif defined CASE_formula_several_workspaces
  // expect-gcc: "umbel: formula: got several workspaces but no executor; write parallel\(executor, works\)"
  // expect-clang: formula, .*got_several_workspaces_but_no_executor_so_write_parallel_of_both>
  // cause: One call uses one workspace; several are for the workers of an executor.
  // cure: Pass one workspace, or `parallel(executor, works)`.
  static workspace_for<decltype(attend), queries, keys, keys> works[2];
  auto r = attend(q, k, k, works);
#elif defined CASE_formula_into_with_several_workspaces
  // expect-gcc: "umbel: formula: got several workspaces but no executor; write parallel\(executor, works\)"
  // expect-clang: formula, .*got_several_workspaces_but_no_executor_so_write_parallel_of_both>
  // cause: One call uses one workspace; several are for the workers of an executor.
  // cure: Pass one workspace, or `parallel(executor, works)`.
  static queries out;
  static std::array<workspace_for<decltype(attend), queries, keys, keys>, 2> works;
  attend.into(out, q, k, k, works);
#elif defined CASE_formula_with_a_pointer_to_a_workspace
  // expect-gcc: "umbel: formula: got a pointer to a workspace; pass the workspace itself, f\(x, work\)"
  // expect-clang: formula, .*got_a_pointer_to_a_workspace_so_pass_the_workspace_itself>
  // cause: A call needs its workspace by reference.
  // cure: Remove the `&`: `f(x, work)`, `f.into(out, x, work)`.
  static workspace_for<decltype(attend), queries, keys, keys> work;
  auto r = attend(q, k, k, &work);
#elif defined CASE_formula_into_with_a_pointer_to_a_workspace
  // expect-gcc: "umbel: formula: got a pointer to a workspace; pass the workspace itself, f\(x, work\)"
  // expect-clang: formula, .*got_a_pointer_to_a_workspace_so_pass_the_workspace_itself>
  // cause: A call needs its workspace by reference.
  // cure: Remove the `&`: `f(x, work)`, `f.into(out, x, work)`.
  static workspace_for<decltype(attend), queries, keys, keys> work;
  static queries out;
  attend.into(out, q, k, k, &work);
#elif defined CASE_formula_pointer_to_a_workspace_for_an_argument
  // expect-gcc: "umbel: formula: got a pointer to a workspace; pass the workspace itself, f\(x, work\)"
  // expect-clang: formula, .*got_a_pointer_to_a_workspace_so_pass_the_workspace_itself>
  // cause: A call needs its workspace by reference.
  // cure: Remove the `&`: `f(x, work)`, `f.into(out, x, work)`.
  static workspace_for<decltype(attend), queries, keys, keys> work;
  auto r = attend(q, k, &work);
#elif defined CASE_formula_into_pointer_to_a_workspace_for_an_argument
  // expect-gcc: "umbel: formula: got a pointer to a workspace; pass the workspace itself, f\(x, work\)"
  // expect-clang: formula, .*got_a_pointer_to_a_workspace_so_pass_the_workspace_itself>
  // cause: A call needs its workspace by reference.
  // cure: Remove the `&`: `f(x, work)`, `f.into(out, x, work)`.
  static workspace_for<decltype(attend), queries, keys, keys> work;
  static queries out;
  attend.into(out, q, k, &work);
#elif defined CASE_formula_with_an_executor
  // expect-gcc: "umbel: formula: got an executor without workspaces; write parallel\(executor, works\), with a workspace for each worker"
  // expect-clang: formula, .*got_an_executor_without_workspaces_so_write_parallel_of_both>
  // cause: An executor is passed together with the workspaces of its workers.
  // cure: Declare `static workspace_for<decltype(f), X, Y> works[2]`, one for each worker, and pass `parallel(executor, works)` last.
  auto r = attend(q, k, k, two_workers{});
#elif defined CASE_formula_into_with_an_executor
  // expect-gcc: "umbel: formula: got an executor without workspaces; write parallel\(executor, works\), with a workspace for each worker"
  // expect-clang: formula, .*got_an_executor_without_workspaces_so_write_parallel_of_both>
  // cause: An executor is passed together with the workspaces of its workers.
  // cure: Declare `static workspace_for<decltype(f), X, Y> works[2]`, one for each worker, and pass `parallel(executor, works)` last.
  static queries out;
  const two_workers executor;
  attend.into(out, q, k, k, executor);
#elif defined CASE_formula_with_an_executor_then_workspaces
  // expect-gcc: "umbel: formula: got an executor without workspaces; write parallel\(executor, works\), with a workspace for each worker"
  // expect-clang: formula, .*got_an_executor_without_workspaces_so_write_parallel_of_both>
  // cause: An executor is passed together with the workspaces of its workers.
  // cure: Declare `static workspace_for<decltype(f), X, Y> works[2]`, one for each worker, and pass `parallel(executor, works)` last.
  static workspace_for<decltype(attend), queries, keys, keys> works[2];
  auto r = attend(q, k, k, two_workers{}, works);
#elif defined CASE_formula_into_with_an_executor_then_a_workspace
  // expect-gcc: "umbel: formula: got an executor without workspaces; write parallel\(executor, works\), with a workspace for each worker"
  // expect-clang: formula, .*got_an_executor_without_workspaces_so_write_parallel_of_both>
  // lines-clang: 15
  // cause: An executor is passed together with the workspaces of its workers.
  // cure: Declare `static workspace_for<decltype(f), X, Y> works[2]`, one for each worker, and pass `parallel(executor, works)` last.
  static workspace_for<decltype(attend), queries, keys, keys> work;
  static queries out;
  attend.into(out, q, k, k, two_workers{}, work);
#elif defined CASE_formula_into_a_tie_of_one
  // expect-gcc: "umbel: formula: got a tie of one tensor; write into\(out, x\)"
  // expect-clang: formula, .*got_a_tie_of_one_tensor_so_write_into_out_x>
  // cause: Several results are written to a tuple of references, one result to the tensor or view itself.
  // cure: Write `f.into(out, x)`.
  static queries out;
  attend.into(std::tie(out), q, k, k);
#elif defined CASE_formula_with_too_few_workspaces
  // expect-gcc: "umbel: parallel: the executor has 2 workers but the number of workspaces is 1"
  // expect-clang: parallel, .*the_executor_has, .*number<2.*>, .*workers, .*but_the_number_of_workspaces_is, .*number<1.*>
  // cause: Each worker writes to its own workspace, and there are too few.
  // cure: Declare one for each worker: `static attention::workspace<token<9>> work[2];`.
  static workspace_for<decltype(attend), queries, keys, keys> works[1];
  const two_workers executor;
  auto r = attend(q, k, k, parallel(executor, works));
#elif defined CASE_formula_by_a_temporary_executor
  // expect-gcc: "umbel: parallel: the executor is a temporary; store it in a variable"
  // expect-clang: parallel, .*the_executor_is_a_temporary_so_store_it_in_a_variable>
  // cause: `parallel` borrows the executor, but this one is destroyed at the end of the statement.
  // cure: Store it in a variable, usually `static`: to start threads costs more than one call of the layer.
  static workspace_for<decltype(attend), queries, keys, keys> works[2];
  static queries out;
  attend.into(out, q, k, k, parallel(two_workers{}, works));
#elif defined CASE_formula_with_workspaces_of_another
  // expect-gcc: "umbel: formula: the workspace is for a different layer or other sizes; pass one for these arguments, declared with workspace_for"
  // expect-clang: formula, .*the_workspace_is_for_a_different_layer_or_other_sizes_so_pass_one_for, .*these_arguments_by_workspace_for
  // lines-clang: 15
  // cause: The workspaces are for a different layer or formula, or for arguments of different sizes.
  // cure: Declare `workspace_for<decltype(f), X, Y> works[2]` with the types of this call.
  static attention::workspace<token<4>> works[2];
  const two_workers executor;
  auto r = attend(q, k, k, parallel(executor, works));
#elif defined CASE_formula_fewer_arguments_and_a_workspace
  // expect-gcc: "umbel: formula: the function has 3 parameters but the call has 2"
  // expect-clang: formula, .*the_function_has, .*number<3>, .*parameters_but_the_call_has, .*number<2>
  // lines-clang: 15
  // cause: The function has a different number of parameters, or has weights as values, which each call would copy.
  // cure: Pass as many arguments as it has parameters, and optionally a workspace last; write `const auto& w` for weights.
  static workspace_for<decltype(attend), queries, keys, keys> work;
  auto r = attend(q, k, work);
#elif defined CASE_formula_into_of_fewer_arguments_and_a_workspace
  // expect-gcc: "umbel: formula: the function has 3 parameters but the call has 2"
  // expect-clang: formula, .*the_function_has, .*number<3>, .*parameters_but_the_call_has, .*number<2>
  // lines-clang: 15
  // cause: The function has a different number of parameters, or has weights as values, which each call would copy.
  // cure: Pass as many arguments as it has parameters, and optionally a workspace last; write `const auto& w` for weights.
  static workspace_for<decltype(attend), queries, keys, keys> work;
  static queries out;
  attend.into(out, q, k, work);
#elif defined CASE_formula_outs_that_are_not_tied_and_a_workspace
  // expect-gcc: "umbel: formula: returns several results; write into\(std::tie\(a, b\), x\)"
  // expect-clang: formula, .*returns_several_results_so_write_into_std_tie>
  // lines-clang: 15
  // cause: `into` needs the memory of all results as one argument.
  // cure: Write `f.into(std::tie(a, b), x)`.
  static queries one, two;
  constexpr formula both = [](auto a) { return std::pair{a * 2, a * 3}; };
  static workspace_for<decltype(both), queries> work;
  both.into(one, two, q, work);
#elif defined CASE_formula_one_of_several_results
  // expect-gcc: "umbel: contract: the left side has key=21 but the right side has key=20"
  // expect-clang: contract, .*the_left_side_has, .*key<21>, .*but_the_right_side_has, .*key<20>
  // cause: In a formula, each operation has its own rule; here there are fewer values than keys.
  // cure: Use the same number of keys for both.
  constexpr formula both = [](auto queries, auto keys, auto values) {
    auto p = softmax<key>(contract<head_dim>(queries, keys));
    return std::tuple{contract<key>(p, values), p};
  };
  auto r = both(q, k, other);
#elif defined CASE_formula_weights_by_value
  // expect-gcc: "umbel: formula: copies a part of an argument or uses it alone, before it has a value; pass that part as a separate argument, the object as const auto& w; a function that it calls must be constexpr"
  // expect-clang: formula, .*copies_a_part_of_an_argument_or_uses_it_alone_so_pass_it_separately_and_the_object_as_const_auto>
  // cause: A formula is traced at compile time. Then weights and numbers in an argument have no values, nor have the results computed only from them: `exp(w.gain)`, `one_hot<classes<9>>(w.ids)`.
  // cure: Declare weights as `const auto& w`, and pack them outside. Pass numbers, and tensors that are used alone, as separate arguments, or combine a part with a tensor first: `x + w.gain`, `contract<head_dim>(x, w.table)`.
  constexpr formula queries_of = [](auto input, auto weights) { return input * weights.q; };
  auto r = queries_of(x, w);
#elif defined CASE_formula_out_axes
  // expect-gcc: "umbel: formula: the result has \[heads=3, query=17, head_dim=16\] but out has \[heads=3, key=21, head_dim=16\]"
  // expect-clang: formula, .*the_result_has, .*query<17>, .*but_out_has, .*key<21>
  // cause: The output has other axes than the result.
  // cure: Declare it with the axes of the result, in any order.
  static keys out;
  attend.into(out, q, k, k);
#elif defined CASE_formula_number_of_results
  // expect-gcc: "umbel: formula: the number of results is 2 but out has 1"
  // expect-clang: formula, .*the_number_of_results_is, .*number<2>, .*but_out_has, .*number<1>
  // cause: The formula returns several results, but the output is one tensor.
  // cure: Write to `std::tie(a, b)`, with a tensor or view for each result.
  static queries out;
  constexpr formula both = [](auto a) { return std::pair{a * 2, a * 3}; };
  both.into(out, q);
#elif defined CASE_formula_outs_that_are_not_tied
  // expect-gcc: "umbel: formula: returns several results; write into\(std::tie\(a, b\), x\)"
  // expect-clang: formula, .*returns_several_results_so_write_into_std_tie>
  // cause: `into` needs the memory of all results as one argument.
  // cure: Write `f.into(std::tie(a, b), x)`.
  static queries one, two;
  constexpr formula both = [](auto a) { return std::pair{a * 2, a * 3}; };
  both.into(one, two, q);
#elif defined CASE_formula_gives_an_array
  // expect-gcc: "umbel: formula: returns an array; return std::tuple\{a, b\}"
  // expect-clang: formula, .*returns_an_array_so_return_std_tuple>
  // cause: Results may have different axes, so they must be the members of a std::tuple, a std::pair or a struct template.
  // cure: Return `std::tuple{a, b}`.
  constexpr formula both = [](auto a) { return std::array{a, a}; };
  auto r = both(q);
#elif defined CASE_formula_second_out_axes
  // expect-gcc: "umbel: formula: the result has \[heads=3, key=21, head_dim=16\] but out has \[heads=3, query=17, head_dim=16\]"
  // expect-clang: formula, .*the_result_has, .*key<21>, .*but_out_has, .*query<17>
  // cause: One of several results has other axes than its output.
  // cure: Declare each output with the axes of its result, in their order.
  static queries one, two;
  constexpr formula both = [](auto a, auto b) { return std::pair{a * 2, b * 3}; };
  both.into(std::tie(one, two), q, k);
#elif defined CASE_formula_too_many_results
  // expect-gcc: "umbel: formula: the number of results is 7 but the maximum is 6"
  // expect-clang: formula, .*the_number_of_results_is, .*number<7>, .*but_the_maximum_is, .*number<6>
  // cause: A formula returns at most six results.
  // cure: Write two formulas.
  constexpr formula many = [](auto a) { return std::tuple{a, a, a, a, a, a, a}; };
  auto r = many(q);
#elif defined CASE_formula_stack_budget
  // expect-gcc: "umbel: formula: needs a workspace of [0-9]+ bytes but the stack budget is 65536 bytes; pass one for these arguments, declared with workspace_for"
  // expect-clang: formula, .*needs_a_workspace_of, .*number<\d+.*>.*these_arguments_by_workspace_for
  // cause: The intermediate results of the formula need more memory than a call may put on the stack.
  // cure: Pass a workspace last: `static workspace_for<decltype(f), X, Y> work; f(x, y, work)`.
  constexpr formula twice = [](auto a, auto b) {
    return softmax<query>(softmax<key>(contract<head_dim>(a, b)));
  };
  static tensor<float, query<400>, head_dim<4>> a;
  static tensor<float, key<400>, head_dim<4>> b;
  static tensor<float, query<400>, key<400>> out;
  twice.into(out, a, b);
#elif defined CASE_formula_slopes_of_another_type
  // expect-gcc: "umbel: formula: argument 3 holds double but the formula computes in float"
  // expect-clang: formula, .*argument, .*number<3>, .*holds, .*element<double>, .*but_the_formula_computes_in, .*element<float>
  // cause: A formula computes in the type of its first floating-point argument, and converts nothing.
  // cure: Pass all arguments in one type.
  constexpr formula biased = [](auto queries, auto keys, auto by) {
    return contract<head_dim>(queries, keys) + by * position<key>;
  };
  auto r = biased(q, k, tensor<double, heads<3>>{});
#elif defined CASE_formula_function_of_another_type
  // expect-gcc: "umbel: formula: argument 2 holds double but the formula computes in float"
  // expect-clang: formula, .*argument, .*number<2>, .*holds, .*element<double>, .*but_the_formula_computes_in, .*element<float>
  // cause: A formula computes in the type of its first floating-point argument, and converts nothing.
  // cure: Pass all arguments in one type.
  constexpr formula scaled = [](auto queries, auto by) { return queries * exp(by); };
  queries out{};
  scaled.into(out, q, tensor<double, heads<3>>{});
  const int r = 0;
#elif defined CASE_formula_workspace_of_another_type
  // expect-gcc: "umbel: formula: argument 3 holds double but the formula computes in float"
  // expect-clang: formula, .*argument, .*number<3>, .*holds, .*element<double>, .*but_the_formula_computes_in, .*element<float>
  // cause: A formula computes in the type of its first floating-point argument, and converts nothing.
  // cure: Pass all arguments in one type.
  static workspace_for<decltype(attend), queries, keys,
                       tensor<double, heads<3>, key<21>, head_dim<16>>>
      work;
  const auto r = sizeof(work);
#elif defined CASE_formula_unused_argument_of_another_type
  // expect-gcc: "umbel: formula: argument 2 holds double but the formula computes in float"
  // expect-clang: formula, .*argument, .*number<2>, .*holds, .*element<double>, .*but_the_formula_computes_in, .*element<float>
  // cause: A formula computes in the type of its first floating-point argument, and converts nothing.
  // cure: Pass all arguments in one type.
  constexpr formula twice = [](auto queries, auto) { return queries * 2; };
  auto r = twice(q, tensor<double, heads<3>>{});
#elif defined CASE_formula_without_arguments
  // expect-gcc: "umbel: formula: the function has 1 parameter but the call has 0"
  // expect-clang: formula, .*the_function_has, .*number<1>, .*parameter_but_the_call_has, .*number<0>
  // cause: The call has no arguments.
  // cure: Pass one argument for each parameter of the function: `f(x)`.
  constexpr formula f = [](auto a) { return a * 2; };
  auto r = f();
#elif defined CASE_formula_calls_a_function_that_is_not_constexpr
  // expect-gcc: "umbel: formula: calls a function that is not constexpr; declare it as constexpr auto f\(\.\.\.\); of a number write umbel::exp\(2\.0\)"
  // expect-clang: formula, .*calls_a_function_that_is_not_constexpr_so_declare_it_constexpr>
  // cause: A formula is traced in a constant expression, and so are the functions that it calls. (A lambda is constexpr by itself.)
  // cure: Declare the function `constexpr auto f(const auto& x)`. With clang, those of `<cmath>` are not constexpr: write `umbel::log(n)`.
  constexpr formula scaled = [](auto queries) { return not_constexpr(queries) * 2; };
  auto r = scaled(q);
#elif defined CASE_formula_calls_a_function_of_weights_that_is_not_constexpr
  // expect-gcc: "umbel: formula: copies a part of an argument or uses it alone, before it has a value; pass that part as a separate argument, the object as const auto& w; a function that it calls must be constexpr"
  // expect-clang: formula, .*copies_a_part_of_an_argument_or_uses_it_alone_so_pass_it_separately_and_the_object_as_const_auto>
  // cause: A formula is traced at compile time. Then weights and numbers in an argument have no values, nor have the results computed only from them: `exp(w.gain)`, `one_hot<classes<9>>(w.ids)`.
  // cure: Declare weights as `const auto& w`, and pack them outside. Pass numbers, and tensors that are used alone, as separate arguments, or combine a part with a tensor first: `x + w.gain`, `contract<head_dim>(x, w.table)`.
  constexpr formula scaled = [](auto a, const auto& with) { return not_constexpr(a) * with.q; };
  auto r = scaled(x, w);
#endif
}
