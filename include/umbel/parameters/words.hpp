// SPDX-License-Identifier: BSL-1.0
// Messages about parameter names, files and callbacks; rules of arguments.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <umbel/shape/words.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
namespace say {
struct at;
struct compare_parameters;
struct count_parameters;
struct fold_batch_norm;
struct for_each_parameter;
struct load;
struct parameter_name;
struct replay;
struct save;
struct write_parameter_table;

struct arguments;
struct but_the_weights_have;
struct the_norm_has;
struct the_weights_are_const;
}  // namespace say
UMBEL_SAYS(a_row_is_empty_so_add_a_path_and_a_name_in_the_file,
           "a row is empty; add a path and a name in the file");
UMBEL_SAYS(expects_a_path_a_name_in_the_file_and_the_order_there_but_argument,
           "expects a path, a name in the file and, for a matrix, in_out or out_in, but argument");
UMBEL_SAYS(argument_3_is_at_so_write_one_at_with_whole_paths,
           "argument 3 is at(...), so its paths would be lost; write one at with whole paths");
UMBEL_SAYS(expects_a_path_in_w_a_path_in_the_file_and_a_table_of_names_but_argument,
           "expects a path in w, a path in the file and a table of names, but argument");
UMBEL_SAYS(expects_a_path_in_w_a_path_in_the_file_and_a_table_of_names_not,
           "expects a path in w, a path in the file and a table of names, not");

UMBEL_SAYS(f_must_accept_a_path_and_a_view_const_parameter_path_path_auto_x,
           "f must accept a path and a view, (const parameter_path& path, auto x)");
UMBEL_SAYS(expects_the_weights_so_write_count_parameters_of_w,
           "expects the weights; write count_parameters(w)");
UMBEL_SAYS(expects_two_weights_so_write_compare_parameters_of_both,
           "expects two structs of weights; write compare_parameters(w, loaded)");
UMBEL_SAYS(the_arguments_have_two_types_so_load_both_into_weights_of_one_type,
           "the arguments have two types; load both into weights of one type");
UMBEL_SAYS(expects_a_file_of_tensors_so_write_an_asterisk_before_a_result,
           "expects a file of tensors, not the result of opening one; write *file");
UMBEL_SAYS(expects_a_file_of_tensors_tensor_file_in_memory_of_bytes_not,
           "expects a file of tensors, tensor_file::in_memory(bytes), not");
UMBEL_SAYS(expects_tables_of_names_arrays_of_parameter_name_or_at_but_argument,
           "expects tables of names, arrays of parameter_name or at(...), but argument");
UMBEL_SAYS(the_weights_are_borrowed_and_const_so_load_the_weights_that_they_view,
           "the weights are borrowed and const; load the weights that they view");
UMBEL_SAYS(the_weights_are_a_temporary_so_store_them_in_a_variable,
           "the weights are a temporary; store them in a variable");
UMBEL_SAYS(
    needs_the_names_in_the_file_so_write_names_umbel_for_a_file_of_save,
    "needs the names in the file; for a file that save wrote, write load(w, file, names::umbel)");
UMBEL_SAYS(
    expects_the_file_the_model_memory_for_the_output_and_for_each_input_but_argument,
    "expects the file, the model, a tensor for the output and one for each input, but argument");
UMBEL_SAYS(inputs_have_no_name_so_write_probe_input_with_a_name_for_all_but_one,
           "inputs have no name; write probe_input(name, x) for all but one");
UMBEL_SAYS(the_model_cannot_be_called_with_the_inputs,
           "the model cannot be called with the inputs, one argument each");
UMBEL_SAYS(the_model_returns_nothing_so_return_the_output,
           "the model returns nothing; return the output");
UMBEL_SAYS(expects_the_output_and_that_of_the_probe_as_tensors_but_argument,
           "expects the output and that of the probe as tensors, but argument");
// Zero-terminated text; not nullptr or 0, a literal that would convert to it.
template <class X>
concept c_string = std::is_convertible_v<X, const char*> && !std::is_same_v<X, std::nullptr_t>;

template <class File>
concept file_of_tensors = requires(const File& file) {
  file.find("name");
  file.begin()->data;
};
template <class Result>
concept result_with_file = requires(const Result& result) {
  result.failure();
  requires file_of_tensors<std::remove_cvref_t<decltype(*result)>>;
};

// Not std::is_invocable, through whose internals errors in the body of f would be reported.
template <class F, class... Arguments>
concept callable_with = requires(F& f) { f(std::declval<Arguments>()...); };

// The message for an argument with the wrong type.
template <class X>
struct word_for_argument {
  using type = type_of_given<std::decay_t<X>>;
};
template <>
struct word_for_argument<std::nullptr_t> {
  using type = struct a_null_pointer;
};

namespace rules {
template <bool Ok, class Operation, class Takes, std::size_t Number, class X>
using argument = verdict<Ok, Operation, Takes, number<Number>, say::is,
                         typename word_for_argument<std::remove_cvref_t<X>>::type>;
// The file that tensors are read from by name.
template <class Operation, class File>
using file =
    first_error<verdict<!result_with_file<File>, Operation,
                        say::expects_a_file_of_tensors_so_write_an_asterisk_before_a_result>,
                verdict<file_of_tensors<File>, Operation,
                        say::expects_a_file_of_tensors_tensor_file_in_memory_of_bytes_not,
                        type_of_given<std::decay_t<File>>>>;
}  // namespace rules

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
