// SPDX-License-Identifier: BSL-1.0
// Mistakes in drawing tokens: one case each, with the message that the compiler must print
// (check.py).
#include <umbel/umbel.hpp>

#include <umbel/decode/sample.hpp>

using namespace umbel;
using namespace umbel::axes;

[[maybe_unused]] static void cases(sampler<float, classes<8>>& sample,
                                   tensor<float, token<2>, classes<8>>& all,
                                   tensor<float, classes<8>>& logits) {
  (void)sample, (void)all, (void)logits;
#if defined CASE_logits_of_several_positions
  // expect-gcc: "umbel: sampler: needs logits along one axis; select one position of \[token=2, classes=8\]"
  // expect-clang: sampler.*needs_logits_along_one_axis_so_select_one_position_of.*token<2>.*classes<8>
  // cause: The logits belong to several positions or sequences.
  // cure: Pass those of the last position: `sample(logits | select_at<token, 1>)`.
  auto r = sample(all);
#elif defined CASE_logits_of_another_vocabulary
  // expect-gcc: "umbel: sampler: needs the logits of one position along classes=8 but got \[classes=9\]"
  // expect-clang: sampler.*needs_the_logits_of_one_position_along.*classes<8>.*but_got.*classes<9>
  // cause: The sampler was declared for a different number of tokens.
  // cure: Declare `sampler<float, classes<9>>`.
  auto r = sample(tensor<float, classes<9>>{});
#elif defined CASE_most_likely_of_several_positions
  // expect-gcc: "umbel: argmax: \[token=2, classes=8\] has several axes; name one, argmax<key>\(x\)"
  // expect-clang: argmax.*token<2>.*classes<8>.*has_several_axes_so_name_one_argmax_of_key
  // cause: The logits belong to several positions or sequences.
  // cure: Name the axis, `argmax<classes>(logits)`, or pass those of the last position, `argmax(logits | select_at<token, 1>)`.
  auto r = argmax(all);
#elif defined CASE_tokens_that_are_no_integers
  // expect-gcc: "umbel: penalize_repetition: needs tokens as integers along one axis, not float \[token=3\]"
  // expect-clang: penalize_repetition.*needs_tokens_as_integers_along_one_axis_not.*element<float>.*token<3>
  // cause: Tokens are positions in the logits, so they must be integers.
  // cure: Declare them as `tensor<int, token<3>>`.
  penalize_repetition(logits, tensor<float, token<3>>{}, 1.1f);
#elif defined CASE_logits_that_are_conditions
  // expect-gcc: "umbel: argmax: needs numbers, not bool"
  // expect-clang: argmax.*needs_numbers_not.*element<bool>
  // cause: The argument holds conditions.
  // cure: Compare numbers, `argmax(logits)`; for the first true one, write `argmax(where(condition, 1, 0))`.
  auto r = argmax(tensor<bool, classes<8>>{});
#elif defined CASE_argmax_along_two_axes
  // expect-gcc: "umbel: argmax: expects one axis, by its name: argmax<key>\(x\)"
  // expect-clang: umbel: argmax: expects one axis, by its name
  // cause: An index is a position along one axis.
  // cure: Name one axis, `argmax<classes>(x)`, or `merge` both first.
  auto r = argmax<token, classes>(all);
#elif defined CASE_argmax_along_an_axis_by_number
  // expect-gcc: "umbel: argmax: expects one axis, by its name: argmax<key>\(x\)"
  // expect-clang: umbel: argmax: expects one axis, by its name
  // cause: An index is a position along one axis.
  // cure: Name one axis, `argmax<classes>(x)`, or `merge` both first.
  auto r = argmax<1>(all);
#elif defined CASE_argmax_along_an_axis_with_its_size
  // expect-gcc: "umbel: argmax: expects one axis, by its name: argmax<key>\(x\)"
  // expect-clang: umbel: argmax: expects one axis, by its name
  // cause: An index is a position along one axis.
  // cure: Name one axis, `argmax<classes>(x)`, or `merge` both first.
  auto r = argmax<classes<8>>(all);
#elif defined CASE_argmax_in_a_formula
  // expect-gcc: "umbel: argmax: expects one axis, by its name: argmax<key>\(x\)"
  // expect-clang: argmax, .*expects_one_axis_by_name_argmax_of_key
  // lines-clang: 15
  // cause: An index is a position along one axis.
  // cure: Name one axis, `argmax<classes>(x)`, or `merge` both first.
  constexpr formula f = [](auto x) { return x * argmax(x); };
  auto r = f(all);
#elif defined CASE_argmax_along_an_absent_axis
  // expect-gcc: "umbel: argmax: there is no axis heads in \[token=2, classes=8\]"
  // expect-clang: argmax, .*there_is_no_axis, .*heads>, .*in, .*token<2>, .*classes<8>
  // cause: The tensor does not have the axis along which elements are compared.
  // cure: Name an axis of the tensor.
  auto r = argmax<heads>(all);
#elif defined CASE_logits_of_another_type
  // expect-gcc: "umbel: sampler: needs logits of float but got double"
  // expect-clang: sampler.*needs_logits_of.*element<float>.*but_got.*element<double>
  // cause: The sampler was declared for logits of a different type.
  // cure: Declare `sampler<double, classes<8>>`, or copy the logits into a tensor of `float`.
  auto r = sample(tensor<double, classes<8>>{});
#elif defined CASE_logits_in_an_array
  // expect-gcc: "umbel: argmax: expects a tensor or view of logits, not float \[8\]"
  // expect-clang: argmax.*expects_a_tensor_or_view_of_logits_not.*float *\[8\]
  // cause: The argument is memory without axes.
  // cure: View it: `argmax(view_as<classes<8>>(memory))`.
  float memory[8]{};
  auto r = argmax(memory);
#elif defined CASE_how_to_draw_as_a_number
  // expect-gcc: "umbel: sampler: expects the logits, then options in braces, sample\(logits, \{\.temperature = 0\.8f\}\), but argument 2 is float"
  // expect-clang: sampler.*expects_the_logits_then_options_in_braces.*but_argument.*number<2>.*is.*float
  // cause: A number could be the temperature, k or p.
  // cure: Write `sample(logits, {.temperature = 0.8f})`.
  auto r = sample(logits, 0.8f);
#elif defined CASE_sampler_that_is_const
  // expect-gcc: "umbel: sampler: is const, but drawing changes its state; declare it without const"
  // expect-clang: sampler.*is_const_but_drawing_changes_its_state_so_declare_it_without_const
  // cause: Each draw changes the sampler; otherwise it would draw the same token again.
  // cure: Declare it without `const`, and pass it by reference.
  const auto& only_read = sample;
  auto r = only_read(logits);
#elif defined CASE_sampler_with_swapped_arguments
  // expect-gcc: "umbel: sampler: expected an element type but got the axis classes=8"
  // expect-clang: sampler.*expected_an_element_type_but_got_the_axis.*classes<8>
  // cause: The template arguments are in the wrong order.
  // cure: Write `sampler<float, classes<8>>`.
  sampler<classes<8>, float> swapped{1};
  auto r = swapped(logits);
#elif defined CASE_sampler_of_integers
  // expect-gcc: "umbel: sampler: needs logits of float or double, not int"
  // expect-clang: sampler.*needs_logits_of_float_or_double_not.*int
  // cause: The element type must be that of the logits, not that of the tokens.
  // cure: Write `sampler<float, classes<8>>`.
  sampler<int, classes<8>> of_tokens{1};
  auto r = of_tokens(tensor<int, classes<8>>{});
#elif defined CASE_sampler_without_an_axis
  // expect-gcc: "umbel: sampler: needs the axis of the logits, not float"
  // expect-clang: sampler.*needs_the_axis_of_the_logits_not.*float
  // cause: The axis of the logits, along which the sampler draws, is missing.
  // cure: Write `sampler<float, classes<8>>`.
  sampler<float, float> without{1};
  auto r = without(logits);
#elif defined CASE_penalty_on_constant_logits
  // expect-gcc: "umbel: penalize_repetition: the tensor of logits is const"
  // expect-clang: penalize_repetition.*the_tensor_of_logits.*is_const
  // cause: The logits to change are const.
  // cure: Copy them into a variable: `auto changed = logits;`.
  const auto& only_read = logits;
  penalize_repetition(only_read, tensor<int, token<3>>{}, 1.1f);
#elif defined CASE_penalty_on_temporary_logits
  // expect-gcc: "umbel: penalize_repetition: the tensor of logits is a temporary; store it in a variable"
  // expect-clang: penalize_repetition.*the_tensor_of_logits.*is_a_temporary_so_store_it_in_a_variable
  // cause: The changed logits would be lost at the end of the statement.
  // cure: Store the logits in a variable, change them, then draw from them.
  penalize_repetition(tensor<float, classes<8>>{}, tensor<int, token<3>>{}, 1.1f);
#elif defined CASE_tokens_in_an_array
  // expect-gcc: "umbel: penalize_repetition: expects a tensor or view of tokens, not int \[3\]"
  // expect-clang: penalize_repetition.*expects_a_tensor_or_view_of_tokens_not.*int *\[3\]
  // cause: The argument is memory without axes.
  // cure: View it: `view_as<token<3>>(memory)`.
  int said[3]{};
  penalize_repetition(logits, said, 1.1f);
#elif defined CASE_refused_logits_are_handed_to_most_likely
  // expect-gcc: "umbel: select_at: position 2 is past the end of token=2"
  // expect-clang: select_at.*position.*number<2>.*is_past_the_end_of.*token<2>
  // cause: The position is not below the size of the axis.
  // cure: Count from 0: the last position is the size minus 1.
  auto r = argmax(all | select_at<token, 2>);
#elif defined CASE_refused_logits_are_handed_to_a_sampler
  // expect-gcc: "umbel: select_at: position 2 is past the end of token=2"
  // expect-clang: select_at.*position.*number<2>.*is_past_the_end_of.*token<2>
  // cause: The position is not below the size of the axis.
  // cure: Count from 0: the last position is the size minus 1.
  auto r = sample(all | select_at<token, 2>);
#elif defined CASE_refused_logits_are_handed_to_a_penalty
  // expect-gcc: "umbel: select_at: position 2 is past the end of token=2"
  // expect-clang: select_at.*position.*number<2>.*is_past_the_end_of.*token<2>
  // cause: The position is not below the size of the axis.
  // cure: Count from 0: the last position is the size minus 1.
  penalize_repetition(all | select_at<token, 2>, tensor<int, token<3>>{}, 1.1f);
#else
  penalize_repetition(all | select_at<token, 0>, tensor<int, token<3>>{}, 1.1f);
  auto r = sample(all | select_at<token, 1>);
  penalize_repetition(logits, tensor<int, token<3>>{}, 1.1f);
  (void)r;
#endif
}
