// SPDX-License-Identifier: BSL-1.0
// Formulas in integers: operations without an integer form, names, arguments.
#include <umbel/quantized.hpp>
#include <umbel/quantized/cache_of_formula.hpp>

#include <tuple>

using namespace umbel;
using namespace umbel::axes;

using rows = tensor<float, token<5>, hidden<4>>;
using whole = tensor<std::int8_t, token<5>, hidden<4>>;

constexpr formula multiplied = [](auto x, auto y) { return x * y; };
using product_of_rows = quantized<decltype(multiplied), rows, rows>;

constexpr auto later = position<key> > position<token>;
constexpr formula causal_attention = [](auto a) {
  auto keys = a | rename_axis<token, key>;
  return contract<key>(softmax<key>(hide(contract<hidden>(a, keys), later)), keys);
};
using attention = quantized<decltype(causal_attention), rows>;

[[maybe_unused]] static void cases(const product_of_rows& multiply, const rows& x,
                                   const whole& integers) {
  (void)multiply, (void)x, (void)integers;
#if defined CASE_a_quotient
  // expect-gcc: "umbel: quantized: divide has no integer form in a formula; compute it in floats, before or after"
  // expect-clang: quantized.*operation<.*divide>.*has_no_integer_form_in_a_formula
  // cause: The sentence names an operation that 8-bit integers don't have. docs/integers.md lists those with an integer form.
  // cure: Write the formula with other operations, or compute this one in floats before or after.
  constexpr formula f = [](auto a, auto b) { return a / b; };
  (void)quantized<decltype(f), rows, rows>{};
#elif defined CASE_a_function
  // expect-gcc: "umbel: quantized: variance has no integer form in a formula; compute it in floats, before or after"
  // expect-clang: quantized.*operation_called_by<.*has_no_integer_form_in_a_formula
  // cause: The sentence names a function of tensors that 8-bit integers don't have.
  // cure: Use a layer_norm or rms_norm, which has an integer form.
  constexpr formula f = [](auto a) { return a * variance<hidden>(a); };
  (void)quantized<decltype(f), rows>{};
#elif defined CASE_places_of_values
  // expect-gcc: "umbel: quantized: gather needs places computed from positions, numbers and arguments of integers"
  // expect-clang: quantized.*gather.*needs_places_computed_from_positions_numbers_and_arguments_of_integers
  // cause: Integers read elements at positions that don't depend on values, so that they can be computed without them.
  // cure: Compute the places in floats, and pass them as a tensor of `int`.
  constexpr formula f = [](auto a) { return gather<hidden>(a, floor(sum<hidden>(a))); };
  (void)quantized<decltype(f), rows>{};
#elif defined CASE_weights_as_a_result
  // expect-gcc: "umbel: quantized: only a contraction along its axis can read a softmax"
  // expect-clang: quantized.*only_a_contraction_along_its_axis_can_read_a_softmax
  // cause: In integers the weights of a softmax are not divided by their sum: the contraction does that.
  // cure: Contract the softmax with values, or compute it in floats.
  constexpr formula f = [](auto a) { return softmax<hidden>(a); };
  (void)quantized<decltype(f), rows>{};
#elif defined CASE_weights_times_weights
  // expect-gcc: "umbel: quantized: only a contraction along its axis can read a softmax"
  // expect-clang: quantized.*only_a_contraction_along_its_axis_can_read_a_softmax
  // cause: In integers the weights of a softmax are not divided by their sum: the contraction does that.
  // cure: Contract the softmax with values, or compute it in floats.
  constexpr formula f = [](auto a) { return softmax<hidden>(a) * softmax<hidden>(a); };
  (void)quantized<decltype(f), rows>{};
#elif defined CASE_hidden_scores_as_a_result
  // expect-gcc: "umbel: quantized: only a softmax can read hidden scores"
  // expect-clang: quantized.*only_a_softmax_can_read_hidden_scores
  // cause: In integers a hidden score is a mark, not a number.
  // cure: Pass the hidden scores to a softmax.
  constexpr formula f = [](auto a) { return hide(a, position<hidden> > position<token>); };
  (void)quantized<decltype(f), rows>{};
#elif defined CASE_positions_as_values
  // expect-gcc: "umbel: quantized: positions are not values, except in conditions; pass them as a tensor"
  // expect-clang: quantized.*positions_are_not_values_so_pass_them_as_a_tensor
  // cause: An integer needs a range, and a position has none.
  // cure: Pass a tensor of the positions as an argument: it has a range.
  constexpr formula f = [](auto a) { return a * tanh(position<hidden> - 3.0f); };
  (void)quantized<decltype(f), rows>{};
#elif defined CASE_positions_with_a_size_as_values
  // expect-gcc: "umbel: quantized: positions are not values, except in conditions; pass them as a tensor"
  // expect-clang: quantized.*positions_are_not_values_so_pass_them_as_a_tensor
  // cause: An integer needs a range, and a position has none.
  // cure: Pass a tensor of the positions as an argument: it has a range.
  constexpr formula f = [](auto a) { return a * positions_along<hidden<4>>; };
  (void)quantized<decltype(f), rows>{};
#elif defined CASE_a_third_of_two_results
  // expect-gcc: "umbel: quantized: results are numbered from 0, and their count is 2"
  // expect-clang: quantized.*results_are_numbered_from_0_and_their_count_is.*number<2>
  // lines-clang: 15
  // cause: `output_range<2>` and `output_type<2>` name the third result.
  // cure: The first result is `output_range<0>`.
  constexpr formula f = [](auto a, auto b) { return std::tuple{a + b, a * b}; };
  using layer = quantized<decltype(f), rows, rows>;
  auto r = layer::output_range<2>(layer::ranges{});
#elif defined CASE_a_third_of_two_tensors
  // expect-gcc: "umbel: quantized: tensors are numbered from 0, and their count is 2"
  // expect-clang: quantized.*tensors_are_numbered_from_0_and_their_count_is.*number<2>
  // cause: `input_range<2>` and `input_type<2>` name the third tensor among the arguments. Weights don't count.
  // cure: The first tensor is `input_type<0>`.
  auto r = quantize<product_of_rows::input_type<2>>(x, 1);
#elif defined CASE_flags_as_numbers
  // expect-gcc: "umbel: quantized: bool and integers are not values; use them in conditions"
  // expect-clang: quantized.*bool_and_integers_are_not_values_so_use_them_in_conditions
  // cause: Arguments of bool and integers have no range.
  // cure: Choose by it, `where(m, x, 0)`, or pass a float tensor.
  constexpr formula f = [](auto a, auto m) { return a * m; };
  (void)quantized<decltype(f), rows, tensor<bool, token<5>>>{};
#elif defined CASE_one_out_for_two_results
  // expect-gcc: "umbel: formula: the number of results is 2 but out has 1"
  // expect-clang: formula.*the_number_of_results_is.*number<2>.*but_out_has.*number<1>
  // cause: The formula returns several results, but the output is one tensor.
  // cure: Write to `std::tie(a, b)`, with a tensor or view for each result.
  constexpr formula f = [](auto a, auto b) { return std::tuple{a + b, a * b}; };
  const quantized<decltype(f), rows, rows> both;
  tensor<std::int16_t, token<5>, hidden<4>> out;
  both.into(out, integers, integers);
#elif defined CASE_a_second_result_of_16_bits
  // expect-gcc: "umbel: quantized: the result has type std::int8_t but out has type std::int16_t"
  // expect-clang: quantized.*the_result_has_type.*but_out_has_type
  // cause: Each result has a type: 16 bits if it is a sum that only sums, norms and softmax read.
  // cure: Write into tensors of layer::output_type<0>, output_type<1> and so on.
  constexpr formula f = [](auto a, auto b) { return std::tuple{a + b, a * b}; };
  const quantized<decltype(f), rows, rows> both;
  tensor<std::int16_t, token<5>, hidden<4>> sum, product;
  both.into(std::tie(sum, product), integers, integers);
#elif defined CASE_a_softmax_as_the_second_result
  // expect-gcc: "umbel: quantized: only a contraction along its axis can read a softmax"
  // expect-clang: quantized.*only_a_contraction_along_its_axis_can_read_a_softmax
  // cause: In integers the weights of a softmax are not divided by their sum: the contraction does that.
  // cure: Contract the softmax with values, or compute it in floats.
  constexpr formula f = [](auto a, auto b) { return std::tuple{a + b, softmax<hidden>(a)}; };
  (void)quantized<decltype(f), rows, rows>{};
#elif defined CASE_an_argument_less
  // expect-gcc: "umbel: quantized: expects the formula and the types of its arguments"
  // expect-clang: quantized.*expects_the_formula_and_the_types_of_its_arguments
  // cause: The types after the formula are not those of arguments that its function accepts.
  // cure: Name the type of each argument in order, float tensors and weights.
  (void)quantized<decltype(multiplied), rows>{};
#elif defined CASE_one_name_twice
  // expect-gcc: "umbel: quantized: two values have the same name"
  // expect-clang: quantized.*two_values_have_the_same_name
  // cause: Each value has a range, which is found by the name.
  // cure: Choose different names.
  constexpr formula f = [](auto a, auto b) { return named<"a">(exp(a)) * named<"a">(exp(b)); };
  (void)quantized<decltype(f), rows, rows>{};
#elif defined CASE_floats_as_arguments
  // expect-gcc: "umbel: quantized: tensor 1 has type float but its input_type is std::int8_t"
  // expect-clang: quantized.*tensor.*number<1>.*has_type.*element<float>.*but_its_input_type_is.*element<signed char>
  // cause: The call needs 8-bit integers, or 16-bit ones for values that only sums, norms and softmax read.
  // cure: Convert each tensor, `quantize<layer::input_type<0>>(x, layer::input_range<0>(seen))`.
  (void)multiply(x, x);
#elif defined CASE_one_tensor_of_two
  // expect-gcc: "umbel: quantized: expects the tensors of the formula in integers, with the same axes; see input_type"
  // expect-clang: quantized.*expects_the_tensors_of_the_formula_in_integers
  // cause: The call needs all tensors among the arguments, and none of the others, which are packed.
  // cure: Pass the tensors in order, in integers, then perhaps a workspace.
  (void)multiply(integers);
#elif defined CASE_tensors_with_other_axes
  // expect-gcc: "umbel: quantized: tensor 2 has \[token=5, hidden=3\] but the formula in integers has \[token=5, hidden=4\]"
  // expect-clang: quantized.*tensor.*number<2>.*has.*hidden<3>.*but_the_formula_in_integers_has.*hidden<4>
  // cause: The tensors of a call have the axes of the types that the formula was quantized for.
  // cure: Pass a tensor with these axes, in this order.
  (void)multiply(integers, tensor<std::int8_t, token<5>, hidden<3>>{});
#elif defined CASE_tensors_with_gaps
  // expect-gcc: "umbel: quantized: tensor 1 has gaps in memory; pass contiguous\(x\)"
  // expect-clang: quantized.*tensor.*number<1>.*has_gaps_in_memory_so_pass_contiguous_of_x
  // cause: A call in integers reads its tensors row by row, without gaps.
  // cure: Pass `contiguous(x)`.
  static const tensor<std::int8_t, token<5>, hidden<6>> wide{};
  (void)multiply(wide | slice<hidden, from<1>, extent<4>>, integers);
#elif defined CASE_workspace_of_another_formula
  // expect-gcc: "umbel: quantized: the workspace is for a different layer or other sizes; pass one for this formula, a static layer::workspace"
  // expect-clang: quantized.*the_workspace_is_for_a_different_layer_or_other_sizes.*this_formula_so_declare_a_static_workspace
  // cause: Each formula in integers has a workspace type, which also depends on the axes.
  // cure: Declare a static `layer::workspace`.
  static quantized<decltype(multiplied), tensor<float, token<40>, hidden<4>>,
                   tensor<float, token<40>, hidden<4>>>::workspace other;
  (void)multiply(integers, integers, other);
#elif defined CASE_a_sum_that_is_too_long
  // expect-gcc: "umbel: quantized: contraction lets a sum of 8-bit products exceed 2\^31; 130038 is the maximum"
  // expect-clang: quantized.*operation<.*contract>.*lets_a_sum_of_8_bit_products_exceed_2_to_the_31
  // cause: Each product is up to 2^14, and their sum must stay below 2^31.
  // cure: Split the axis, or compute the contraction in floats.
  constexpr formula f = [](auto a, auto b) { return contract<hidden>(a, b); };
  using wide = tensor<float, token<1>, hidden<140000>>;
  using tall = tensor<float, classes<1>, hidden<140000>>;
  (void)quantized<decltype(f), wide, tall>{};
#elif defined CASE_values_beyond_the_stack
  // expect-gcc: "umbel: quantized: needs a workspace of [0-9]+ bytes but the stack budget is 65536 bytes; pass one for this formula, a static layer::calibration_workspace"
  // expect-clang: quantized.*needs_a_workspace_of.*bytes.*but_the_stack_budget_is
  // cause: The values of the formula, all of which calibrate looks at, would need more stack than `UMBEL_STACK_BUDGET`.
  // cure: Pass a static workspace as the last argument: `layer::calibration_workspace work`.
  using large = tensor<float, token<512>, hidden<512>>;
  constexpr formula f = [](auto a) { return exp(a) + tanh(a); };
  using layer = quantized<decltype(f), large>;
  static layer::ranges seen;
  static large a;
  (void)layer::calibrate(seen, a);
#elif defined CASE_a_name_of_a_number
  // expect-gcc: "umbel: named: expects a tensor, a view or a value of a formula, not float"
  // expect-clang: named.*expects_a_tensor_a_view_or_a_value_of_a_formula_not.*float
  // cause: Only values with axes have names and ranges.
  // cure: Name the tensor that the number is combined with: `named<"scaled">(2.0f * x)`.
  auto r = named<"two">(2.0f);
#elif defined CASE_no_such_range
  // expect-gcc: "umbel: quantized: no value of the formula is named scores; the names are argument_1, argument_2, multiply_1"
  // expect-clang: quantized.*no_value_of_the_formula_has_this_name
  // cause: A range is found by the name that `named<>` gave its value, or by the operation and its number.
  // cure: Use a name of the list, or name the value in the formula: `named<"scores">(...)`.
  product_of_rows::ranges seen{};
  seen.get<"scores">()() = 4;
  const float r = seen.get<"scores">()();
#elif defined CASE_calibrate_with_swapped_arguments
  // expect-gcc: "umbel: quantized: calibrate expects the ranges or histograms of this formula, then its arguments, calibrate\(seen, x, w\)"
  // expect-clang: quantized.*calibrate_expects_the_ranges_of_this_formula_then_its_arguments
  // cause: The arguments are in a different order, have other types, or the ranges belong to a different formula.
  // cure: Pass the ranges first, then the arguments of the formula in its order: `layer::calibrate(seen, x, w)`.
  product_of_rows::ranges seen{};
  auto r = product_of_rows::calibrate(x, x, seen);
#elif defined CASE_packed_from_the_tensors
  // expect-gcc: "umbel: quantized: expects the arguments of the formula that are not tensors, then its ranges, \(w, seen\)"
  // expect-clang: quantized.*expects_the_arguments_that_are_not_tensors_then_the_ranges_of_this_formula
  // cause: A formula in integers owns its weights and has the units of its ranges; tensors are arguments of a call.
  // cure: Write `layer packed(w, seen)`, or `layer packed(seen)` without weights.
  product_of_rows::ranges seen{};
  product_of_rows packed;
  auto r = packed.pack(x, seen);
#elif defined CASE_refused_and_used_further
  // expect-gcc: "umbel: quantized: divide has no integer form in a formula; compute it in floats, before or after"
  // expect-clang: quantized.*operation<.*divide>.*has_no_integer_form_in_a_formula
  // cause: The sentence names an operation that 8-bit integers don't have. docs/integers.md lists those with an integer form.
  // cure: Write the formula with other operations, or compute this one in floats before or after.
  constexpr formula f = [](auto a, auto b) { return a / b; };
  using layer = quantized<decltype(f), rows, rows>;
  layer::ranges seen{};
  auto y = layer::calibrate(seen, x, x);
  const layer packed(seen);
  auto z = dequantize(packed(integers, integers), 1.0f);
  auto q = quantize<layer::input_type<0>>(x, layer::input_range<0>(seen));
  auto r = layer::output_range(seen);
#elif defined CASE_choice_by_values
  // expect-gcc: "umbel: quantized: conditions must be on positions, numbers, lengths and arguments of bool"
  // expect-clang: quantized.*conditions_must_be_on_positions_numbers_lengths_and_arguments_of_bool
  // cause: The condition compares values of the formula, which are 8-bit integers then.
  // cure: Compute the condition in floats, and pass it as an argument, a tensor of bool. The larger of two values is `maximum(a, b)`.
  constexpr formula f = [](auto a, auto b) { return where(a > b, a, b); };
  (void)quantized<decltype(f), rows, rows>{};
#elif defined CASE_hide_by_values
  // expect-gcc: "umbel: quantized: conditions must be on positions, numbers, lengths and arguments of bool"
  // expect-clang: quantized.*conditions_must_be_on_positions_numbers_lengths_and_arguments_of_bool
  // cause: The condition compares values of the formula, which are 8-bit integers then.
  // cure: Compute the condition in floats, and pass it as an argument, a tensor of bool. The larger of two values is `maximum(a, b)`.
  constexpr formula f = [](auto a, auto b) {
    return contract<hidden>(softmax<hidden>(hide(a, a < b)), b);
  };
  using layer = quantized<decltype(f), rows, rows>;
  layer::ranges seen{};
#elif defined CASE_wrong_axis_and_used_further
  // expect-gcc: "umbel: softmax: there is no axis key in \[token=5, hidden=4\]"
  // expect-clang: softmax.*there_is_no_axis.*key.*token<5>.*hidden<4>
  // lines-gcc: 16
  // cause: The axis to normalize is not an axis of the tensor.
  // cure: Use an axis in the brackets, for scores usually key.
  constexpr formula f = [](auto a) { return softmax<key>(a); };
  using layer = quantized<decltype(f), rows>;
  layer::ranges seen{};
  auto y = layer::calibrate(seen, x);
#elif defined CASE_cache_of_a_sum_without_softmax
  // expect-gcc: "umbel: key_value_cache: key=6 is more positions than the formula was quantized for, and sums without softmax may overflow; quantize it for as many"
  // expect-clang: key_value_cache.*key<6.*are_more_positions_than_the_formula_was_quantized_for
  // cause: Without a softmax, the shifts of a sum along keys depend on how many there are.
  // cure: Quantize the formula for as many positions as the cache has room for: `tensor<float, token<6>, hidden<4>>`.
  constexpr formula f = [](auto a) {
    auto keys = a | rename_axis<token, key>;
    return contract<key>(where(later, 0, sigmoid(contract<hidden>(a, keys))), keys);
  };
  key_value_cache<quantized<decltype(f), rows>, key<6>> past;
#elif defined CASE_cache_of_integers
  // expect-gcc: "umbel: key_value_cache: keeps 8-bit and 16-bit values only; pass bool and integers along key"
  // expect-clang: key_value_cache.*keeps_8_and_16_bit_values_only_so_pass_bool_and_integers_along_key
  // cause: The formula compares integers of earlier positions, which the cache would have to keep.
  // cure: Pass those of the keys as an argument with the axis key, as many as the cache has room for.
  constexpr formula f = [](auto a, auto of) {
    auto keys = a | rename_axis<token, key>;
    auto hidden_keys = (of | rename_axis<token, key>) > 3;
    return contract<key>(softmax<key>(hide(contract<hidden>(a, keys), later || hidden_keys)), keys);
  };
  key_value_cache<quantized<decltype(f), rows, tensor<int, token<5>>>, key<5>> past;
#elif defined CASE_cache_of_all_keys
  // expect-gcc: "umbel: key_value_cache: softmax may see later keys; write hide\(scores, position<key> > position<query>\), or set their weights to 0"
  // expect-clang: key_value_cache.*may_see_later_keys_so_hide_them
  // cause: A row would change when later positions arrive, or no comparison of positions shows that it would not.
  // cure: Hide them: `softmax<key>(hide(scores, position<key> > position<query>))`.
  constexpr formula f = [](auto a) {
    auto keys = a | rename_axis<token, key>;
    return contract<key>(softmax<key>(contract<hidden>(a, keys)), keys);
  };
  key_value_cache<quantized<decltype(f), rows>, key<5>> past;
#elif defined CASE_option_of_a_cache_in_floats
  // expect-gcc: "umbel: key_value_cache: called_with is not one of its options"
  // expect-clang: key_value_cache.*called_with.*is_not_one_of_its_options
  // cause: The type of the formula in integers already has the types of its arguments.
  // cure: Write `key_value_cache<packed, key<256>>`.
  key_value_cache<product_of_rows, key<5>, called_with<rows>> past;
#elif defined CASE_step_of_a_const_cache
  // expect-gcc: "umbel: key_value_cache: is const, but a step changes its state; declare it without const"
  // expect-clang: key_value_cache.*is_const_but_a_step_changes_its_state_so_declare_it_without_const
  // cause: A step adds its positions to the cache.
  // cure: Declare the cache without `const`, and pass it by reference.
  static const key_value_cache<attention, key<5>> past;
  static attention packed;
  tensor<std::int8_t, token<1>, hidden<4>> next{};
  (void)past.step(next, packed, next);
#elif defined CASE_step_without_positions
  // expect-gcc: "umbel: key_value_cache: step expects out, the formula in integers and its tensors, of input_type; then a workspace"
  // expect-clang: key_value_cache.*step_expects_out_the_formula_in_integers_and_its_tensors
  // cause: A step has the tensors of a call, in integers, with any number of positions. Weights are packed.
  // cure: Pass them after the packed formula: `past.step(out, packed, x)`.
  static key_value_cache<attention, key<5>> past;
  static attention packed;
  tensor<std::int8_t, token<1>, hidden<4>> next{};
  (void)past.step(next, packed);
#elif defined CASE_step_in_floats
  // expect-gcc: "umbel: key_value_cache: tensor 1 has type float but its input_type is std::int8_t"
  // expect-clang: key_value_cache.*tensor.*number<1>.*has_type.*element<float>.*but_its_input_type_is.*element<signed char>
  // cause: A step has the tensors of a call, in integers, with any number of positions. Weights are packed.
  // cure: Quantize them: `quantize<layer::input_type<0>>(x, layer::input_range<0>(seen))`.
  static key_value_cache<attention, key<5>> past;
  static attention packed;
  tensor<float, token<1>, hidden<4>> next{};
  (void)past.step(next, packed, next);
#else
  (void)named<"x">(x);
  (void)multiply(integers, integers);
#endif
}
