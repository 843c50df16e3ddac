// SPDX-License-Identifier: BSL-1.0
// Mistakes in replaying a probe (check.py).
#include <umbel/umbel.hpp>

#include <umbel/files.hpp>
#include <umbel/weights.hpp>

using namespace umbel;
using namespace umbel::axes;

using outputs = tensor<float, token<4>, classes<5>>;
using inputs = tensor<float, token<4>, hidden<8>>;
using classify = linear<float, hidden<8>, classes<5>>;

[[maybe_unused]] static bool cases(const tensor_file& file) {
  static classify::weights w;
  static inputs x, mask;
  static outputs y;
  static float array[20];
  (void)array, (void)file, (void)mask;
  const auto model = [](const auto& given) { return classify{w}(given); };
#if defined CASE_replay_two_inputs_without_a_name
  // expect-gcc: "umbel: replay: 2 inputs have no name; write probe_input\(name, x\) for all but one"
  // expect-clang: replay, .*number<2>, .*inputs_have_no_name_so_write_probe_input_with_a_name_for_all_but_one
  // cause: Both would be read from probe.input.
  // cure: Write `probe_input("mask", mask)` for the tensor probe.mask.
  const auto sum = [](const auto& a, const auto& b) { return a + b; };
  return bool(replay(file, sum, y, x, mask));
#elif defined CASE_replay_in_another_order
  // expect-gcc: "umbel: replay: expects the file, the model, a tensor for the output and one for each input, but argument 4 is lambda"
  // expect-clang: replay, .*expects_the_file_the_model_memory_for_the_output_and_for_each_input_but_argument, .*number<4>, .*is, .*given
  // cause: The arguments are in a different order.
  // cure: Write `replay(*file, model, tolerance, wanted, x)`; the tolerance is optional.
  return bool(replay(file, y, x, model));
#elif defined CASE_replay_with_the_tolerance_last
  // expect-gcc: "umbel: replay: expects the file, the model, a tensor for the output and one for each input, but argument 5 is probe_tolerance"
  // expect-clang: replay, .*expects_the_file_the_model_memory_for_the_output_and_for_each_input_but_argument, .*number<5>, .*is, .*probe_tolerance
  // cause: The arguments are in a different order.
  // cure: Write `replay(*file, model, tolerance, wanted, x)`; the tolerance is optional.
  return bool(replay(file, model, y, x, probe_tolerance{}));
#elif defined CASE_replay_of_a_result
  // expect-gcc: "umbel: replay: expects a file of tensors, not the result of opening one; write \*file"
  // expect-clang: replay, .*expects_a_file_of_tensors_so_write_an_asterisk_before_a_result
  // cause: Opening a file returns the file or an error.
  // cure: Write `if (!file) ...`, then `replay(*file, ...)`.
  const file_result<tensor_file> opened = file;
  return bool(replay(opened, model, y, x));
#elif defined CASE_replay_a_model_of_two_inputs
  // expect-gcc: "umbel: replay: the model cannot be called with the inputs, one argument each"
  // expect-clang: replay, .*the_model_cannot_be_called_with_the_inputs
  // cause: The model has parameters of other types, or not one for each input.
  // cure: Pass a tensor for the output, then one for each input.
  const auto of_two = [](const auto& a, const auto&) { return a; };
  return bool(replay(file, of_two, y, x));
#elif defined CASE_replay_a_model_without_a_result
  // expect-gcc: "umbel: replay: the model returns nothing; return the output"
  // expect-clang: replay, .*the_model_returns_nothing_so_return_the_output
  // cause: The returned value is compared with the output of the probe.
  // cure: Pass `[](const auto& x) { return layer{w}(x); }`.
  const auto silent = [](const inputs&) {};
  return bool(replay(file, silent, y, x));
#elif defined CASE_replay_a_refused_model
  // expect-gcc: "umbel: linear: the input has hidden=9 but the weights expect hidden=8"
  // expect-clang: linear, .*the_input_has, .*hidden<9>, .*but_the_weights_expect, .*hidden<8>
  // lines-gcc: 18
  // lines-clang: 40
  // cause: The input has a different number of features than the layer's weights.
  // cure: Pass the right tensor, or correct the sizes of the layer.
  static tensor<float, token<4>, hidden<9>> wide;
  return bool(replay(file, model, y, wide));
#elif defined CASE_compare_a_refused_output
  // expect-gcc: "umbel: linear: the input has hidden=9 but the weights expect hidden=8"
  // expect-clang: linear, .*the_input_has, .*hidden<9>, .*but_the_weights_expect, .*hidden<8>
  // cause: The input has a different number of features than the layer's weights.
  // cure: Pass the right tensor, or correct the sizes of the layer.
  static tensor<float, token<4>, hidden<9>> wide;
  return bool(compare_with_probe(classify{w}(wide), y));
#elif defined CASE_compare_with_an_array
  // expect-gcc: "umbel: compare_with_probe: expects the output and that of the probe as tensors, but argument 2 is a pointer to float"
  // expect-clang: compare_with_probe, .*expects_the_output_and_that_of_the_probe_as_tensors_but_argument, .*number<2>, .*is, .*a_pointer_to<.*float
  // cause: An array has no named axes.
  // cure: Write `compare_with_probe(y, view_as<classes<10>>(array))`.
  return bool(compare_with_probe(y, array));
#elif defined CASE_input_without_a_name
  // expect-gcc: "umbel: probe_input: expects the name in the file and a tensor; write probe_input\(name, x\)"
  // expect-clang: probe_input, .*expects_a_name_and_a_tensor
  // cause: A probe of several inputs finds each by its name.
  // cure: Write `probe_input("x", x)`.
  return bool(replay(file, model, y, probe_input(x)));
#elif defined CASE_result_of_a_probe_as_a_number
  // expect-gcc: "umbel: probe_result: does not convert to double; read its largest or its error\(\)"
  // expect-clang: probe_result, .*does_not_convert_to, .*element<double>, .*so_read_its_largest_or_its_error
  // cause: The result is a sentence, with the largest difference and its place.
  // cure: Write `compare_with_probe(y, wanted).largest`.
  const double r = compare_with_probe(y, y);
  return r < 1;
#else
  return bool(replay(file, model, y, x)) && bool(replay(file, model, {1e-6, 1e-6}, y, x)) &&
         bool(compare_with_probe(y, view_as<token<4>, classes<5>>(array)));
#endif
}
