// SPDX-License-Identifier: BSL-1.0
// Mistakes in the names of parameters (check.py).
#include <umbel/umbel.hpp>

#include <umbel/weights.hpp>

#include <string>

using namespace umbel;
using namespace umbel::axes;

[[maybe_unused]] static void cases() {
#if defined CASE_row_without_a_name
  // expect-gcc: "umbel: parameter_name: expects a path, a name in the file and, for a matrix, in_out or out_in, but argument 2 is a null pointer"
  // expect-clang: parameter_name, .*expects_a_path_a_name_in_the_file_and_the_order_there_but_argument, .*number<2>, .*is, .*a_null_pointer
  // cause: The row lacks the name in the file.
  // cure: Write `{"head.bias", "fc.bias"}`; for a tensor that w does not have, write `{nullptr, "name.in.the.file"}`.
  constexpr parameter_name rows[] = {{"head.weight", nullptr, out_in}};
#elif defined CASE_row_with_a_number
  // expect-gcc: "umbel: parameter_name: expects a path, a name in the file and, for a matrix, in_out or out_in, but argument 2 is int"
  // expect-clang: parameter_name, .*expects_a_path_a_name_in_the_file_and_the_order_there_but_argument, .*number<2>, .*is, .*given<int>
  // cause: Names are text; a 0 would be a null pointer.
  // cure: Write `"layers.0.weight"`, or `"layers.*.weight"` for all layers.
  constexpr parameter_name rows[] = {{"layers.0.weight", 0, out_in}};
#elif defined CASE_row_of_strings
  // expect-gcc: "umbel: parameter_name: expects a path, a name in the file and, for a matrix, in_out or out_in, but argument 1 is basic_string"
  // expect-clang: parameter_name, .*expects_a_path_a_name_in_the_file_and_the_order_there_but_argument, .*number<1>, .*is, .*basic_string
  // cause: A row holds pointers to text that is stored elsewhere.
  // cure: Pass `text.c_str()` of a string that outlives the row.
  const std::string text = "head.weight";
  const parameter_name rows[] = {{text, "fc.weight", out_in}};
#elif defined CASE_row_with_another_order
  // expect-gcc: "umbel: parameter_name: expects a path, a name in the file and, for a matrix, in_out or out_in, but argument 3 is a pointer to char"
  // expect-clang: parameter_name, .*expects_a_path_a_name_in_the_file_and_the_order_there_but_argument, .*number<3>, .*is
  // cause: The third argument is the order of a matrix in the file.
  // cure: Pass `in_out` or, as in torch, `out_in`.
  constexpr parameter_name rows[] = {{"head.weight", "fc.weight", "out_in"}};
#elif defined CASE_row_that_is_empty
  // expect-gcc: "umbel: parameter_name: a row is empty; add a path and a name in the file"
  // expect-clang: parameter_name, .*a_row_is_empty_so_add_a_path_and_a_name_in_the_file
  // cause: A row is empty, `{}`, or the array is larger than its list.
  // cure: Write the row, or let the compiler count the rows, `parameter_name rows[] = {...}`.
  constexpr parameter_name rows[2] = {{"head.weight", "fc.weight", out_in}};
#elif defined CASE_at_a_number
  // expect-gcc: "umbel: at: expects a path in w, a path in the file and a table of names, but argument 2 is int"
  // expect-clang: at, .*expects_a_path_in_w_a_path_in_the_file_and_a_table_of_names_but_argument, .*number<2>, .*is, .*given<int>
  // cause: Paths are text; a 0 would be a null pointer.
  // cure: Write `at("layers.0", "layers.0", ...)`, or `at("layers.*", "layers.*", ...)` for all layers.
  const auto r = at("layers", 0, names::torch_linear);
#elif defined CASE_at_nothing
  // expect-gcc: "umbel: at: expects a path in w, a path in the file and a table of names, but argument 1 is a null pointer"
  // expect-clang: at, .*expects_a_path_in_w_a_path_in_the_file_and_a_table_of_names_but_argument, .*number<1>, .*is, .*a_null_pointer
  // cause: A path is a null pointer.
  // cure: Pass `""` if the names in the table are whole paths.
  const auto r = at(nullptr, "fc", names::torch_linear);
#elif defined CASE_at_a_string
  // expect-gcc: "umbel: at: expects a path in w, a path in the file and a table of names, but argument 2 is basic_string"
  // expect-clang: at, .*expects_a_path_in_w_a_path_in_the_file_and_a_table_of_names_but_argument, .*number<2>, .*is, .*basic_string
  // cause: The result of at(...) points to the text of its arguments.
  // cure: Pass `path.c_str()` of a string that outlives the call of load.
  const std::string path = "layers.*";
  const auto r = at("layers.*", path, names::torch_encoder_layer);
#elif defined CASE_at_swapped
  // expect-gcc: "umbel: at: expects a path in w, a path in the file and a table of names, but argument 2 is a pointer to parameter_name"
  // expect-clang: at, .*expects_a_path_in_w_a_path_in_the_file_and_a_table_of_names_but_argument, .*number<2>, .*is, .*a_pointer_to<.*parameter_name>
  // cause: The table of names is the last argument.
  // cure: Write `at("head", "fc", names::torch_linear)`.
  const auto r = at("head", names::torch_linear, "fc");
#elif defined CASE_at_of_at
  // expect-gcc: "umbel: at: argument 3 is at\(\.\.\.\), so its paths would be lost; write one at with whole paths"
  // expect-clang: at, .*argument_3_is_at_so_write_one_at_with_whole_paths
  // cause: A table has one path in w and one in the file.
  // cure: Write `at("decoder.norm", "dec.ln", names::torch_layer_norm)`.
  const auto r = at("decoder", "dec", at("norm", "ln", names::torch_layer_norm));
#elif defined CASE_at_one_path
  // expect-gcc: "umbel: at: expects a path in w, a path in the file and a table of names, not 2 arguments"
  // expect-clang: at, .*expects_a_path_in_w_a_path_in_the_file_and_a_table_of_names_not, .*number<2>, .*arguments
  // cause: The path in w and the path in the file are two arguments, even if they are the same.
  // cure: Write `at("head", "head", names::torch_linear)`.
  const auto r = at("head", names::torch_linear);
#else
  constexpr parameter_name rows[] = {{"head.weight", "fc.weight", out_in}, {nullptr, "fc.mask"}};
  const char* path = "layers.*";
  const auto r = at("layers.*", path, rows);
  (void)r;
#endif
}
