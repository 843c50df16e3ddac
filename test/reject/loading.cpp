// SPDX-License-Identifier: BSL-1.0
// Mistakes in loading and saving weights (check.py).
#include <umbel/umbel.hpp>

#include <umbel/files.hpp>
#include <umbel/weights.hpp>

#include <cstdio>
#include <vector>

using namespace umbel;
using namespace umbel::axes;

using classify = linear<float, hidden<32>, classes<10>>;

struct model {
  static constexpr const char* part_names[] = {"head"};
  classify::weights head;
};
struct unnamed_model {
  classify::weights head;
};
struct convolution {
  tensor<float, kernel_size<3>, hidden<8>, out_features<64>> weight;
  tensor<float, out_features<64>> bias;
};
struct model_of_a_view {
  static constexpr const char* part_names[] = {"head"};
  classify::weights_view head;
};
struct model_with_a_mask {
  static constexpr const char* part_names[] = {"seen"};
  tensor<bool, token<4>> seen;
};
struct model_with_sizes {
  static constexpr const char* part_names[] = {"sizes"};
  tensor<std::size_t, token<4>> sizes;
};
struct bytes {
  const char* begin;
  std::size_t count;
  const char* data() const { return begin; }
  std::size_t size() const { return count; }
};

[[maybe_unused]] static bool cases(const tensor_file& file, bytes memory, std::FILE* out) {
  static model w;
  (void)memory, (void)out;
#if defined CASE_fold_a_norm_of_another_size
  // expect-gcc: "umbel: fold_batch_norm: the norm has out_features=32 but the weights have \[kernel_size=3, hidden=8, out_features=64\]"
  // expect-clang: fold_batch_norm.*the_norm_has.*out_features<32>.*but_the_weights_have.*out_features<64>
  // cause: A batch norm has one number for each output of the layer before it.
  // cure: Declare it with the axis of the outputs: `batch_norm<float, out_features<64>>`.
  static convolution c;
  static batch_norm<float, out_features<32>> norm;
  fold_batch_norm(c, norm, 1e-5);
  return true;
#elif defined CASE_fold_a_norm_of_another_axis
  // expect-gcc: "umbel: fold_batch_norm: the norm has classes=64 but the weights have \[kernel_size=3, hidden=8, out_features=64\]"
  // expect-clang: fold_batch_norm.*the_norm_has.*classes<64>.*but_the_weights_have.*out_features<64>
  // cause: A batch norm has one number for each output of the layer before it.
  // cure: Declare it with the axis of the outputs: `batch_norm<float, out_features<64>>`.
  static convolution c;
  static batch_norm<float, classes<64>> norm;
  fold_batch_norm(c, norm, 1e-5);
  return true;
#elif defined CASE_fold_a_const_norm_without_bias
  // expect-gcc: "umbel: fold_batch_norm: the weights have no bias, and the norm is const, so its beta cannot become one"
  // expect-clang: fold_batch_norm.*the_weights_have_no_bias_and_the_norm_is_const_so_its_beta_cannot_be_one
  // cause: A norm adds a number to each output. Without a bias the norm's beta becomes that number.
  // cure: Pass a norm that is not const, and add its `beta` to the result.
  static const batch_norm<float, classes<10>> norm{};
  fold_batch_norm(w.head, norm, 1e-5);
  return true;
#elif defined CASE_fold_into_a_short_bias
  // expect-gcc: "umbel: fold_batch_norm: the norm has out_features=64 but the bias has other axes"
  // expect-clang: fold_batch_norm.*the_norm_has.*out_features<64>.*but_the_bias_has_other_axes
  // cause: A convolution has one bias for each output.
  // cure: Declare the bias with the axis of the outputs: `tensor<float, out_features<64>> bias;`.
  static struct {
    tensor<float, kernel_size<3>, hidden<8>, out_features<64>> weight;
    tensor<float, out_features<32>> bias;
  } short_of_bias;
  static batch_norm<float, out_features<64>> norm;
  fold_batch_norm(short_of_bias, norm, 1e-5);
  return true;
#elif defined CASE_fold_into_integers
  // expect-gcc: "umbel: fold_batch_norm: expects tensors weight and bias in float or double, a batch_norm and its epsilon, but argument 1 is integers"
  // expect-clang: fold_batch_norm.*expects_weights_a_batch_norm_and_its_epsilon_but_argument.*integers
  // cause: Folded weights are quotients, which integers cannot hold.
  // cure: Fold before you quantize.
  struct integers {
    tensor<std::int8_t, hidden<8>, out_features<64>> weight;
  };
  static integers q;
  static batch_norm<float, out_features<64>> norm;
  fold_batch_norm(q, norm, 1e-5);
  return true;
#elif defined CASE_fold_without_epsilon
  // expect-gcc: "umbel: fold_batch_norm: expects weights, a batch_norm and its epsilon, not 2 arguments"
  // expect-clang: fold_batch_norm.*expects_weights_a_batch_norm_and_its_epsilon_not.*number<2>
  // cause: Frameworks have different epsilons.
  // cure: Pass it: 1e-5 for PyTorch, 1e-3 for Keras.
  static convolution c;
  static batch_norm<float, out_features<64>> norm;
  fold_batch_norm(c, norm);
  return true;
#elif defined CASE_load_of_a_result
  // expect-gcc: "umbel: load: expects a file of tensors, not the result of opening one; write \*file"
  // expect-clang: load.*expects_a_file_of_tensors_so_write_an_asterisk_before_a_result
  // cause: Opening a file returns the file or an error.
  // cure: Write `if (!file) ...`, then `load(w, *file, ...)`.
  const auto opened = tensor_file::in_memory(memory);
  return bool(load(w, opened, names::umbel));
#elif defined CASE_load_of_a_path
  // expect-gcc: "umbel: load: expects a file of tensors, tensor_file::in_memory\(bytes\), not a pointer to char"
  // expect-clang: load.*expects_a_file_of_tensors_tensor_file_in_memory_of_bytes_not.*a_pointer_to<.*char
  // cause: A file must be opened first; it may also be in memory.
  // cure: Write `mapped_file::open(path)`, `tensor_file::in_memory(*mapped)`, then `load(w, *file, ...)`.
  return bool(load(w, "model.npz", names::umbel));
#elif defined CASE_load_of_bytes
  // expect-gcc: "umbel: load: expects a file of tensors, tensor_file::in_memory\(bytes\), not bytes"
  // expect-clang: load.*expects_a_file_of_tensors_tensor_file_in_memory_of_bytes_not.*bytes
  // cause: Bytes must be checked and listed first.
  // cure: Write `tensor_file::in_memory(bytes)`, then `load(w, *file, ...)`.
  return bool(load(w, memory, names::umbel));
#elif defined CASE_load_swapped
  // expect-gcc: "umbel: load: expects a file of tensors, tensor_file::in_memory\(bytes\), not model"
  // expect-clang: load.*expects_a_file_of_tensors_tensor_file_in_memory_of_bytes_not.*model
  // cause: The weights are the first argument, the file is the second.
  // cure: Write `load(w, *file, ...)`.
  return bool(load(file, w, names::umbel));
#elif defined CASE_load_without_names
  // expect-gcc: "umbel: load: needs the names in the file; for a file that save wrote, write load\(w, file, names::umbel\)"
  // expect-clang: load.*needs_the_names_in_the_file_so_write_names_umbel_for_a_file_of_save
  // cause: The names of the parameters in the file are unknown.
  // cure: Pass the table of the framework, `names::torch_linear`, a table of your rows, or `names::umbel`.
  return bool(load(w, file));
#elif defined CASE_load_one_row
  // expect-gcc: "umbel: load: expects tables of names, arrays of parameter_name or at\(\.\.\.\), but argument 3 is parameter_name"
  // expect-clang: load.*expects_tables_of_names_arrays_of_parameter_name_or_at_but_argument.*number<3>.*parameter_name
  // cause: Rows of names must be in an array.
  // cure: `constexpr parameter_name own[] = {{"head.weight", "fc.weight", out_in}};`
  return bool(load(w, file, parameter_name("head.weight", "fc.weight", out_in)));
#elif defined CASE_load_a_vector_of_rows
  // expect-gcc: "umbel: load: expects tables of names, arrays of parameter_name or at\(\.\.\.\), but argument 4 is vector"
  // expect-clang: load.*expects_tables_of_names_arrays_of_parameter_name_or_at_but_argument.*number<4>.*vector
  // cause: Rows of names must be in an array.
  // cure: `constexpr parameter_name own[] = {{"head.weight", "fc.weight", out_in}};`
  const std::vector<parameter_name> rows;
  return bool(load(w, file, names::umbel, rows));
#elif defined CASE_load_by_two_paths
  // expect-gcc: "umbel: load: expects tables of names, arrays of parameter_name or at\(\.\.\.\), but argument 3 is a pointer to char"
  // expect-clang: load.*expects_tables_of_names_arrays_of_parameter_name_or_at_but_argument.*number<3>.*char
  // cause: A path needs a table of names, both in at(...).
  // cure: Write `load(w, file, at("head", "fc", names::torch_linear))`.
  return bool(load(w, file, "head", "fc"));
#elif defined CASE_load_into_a_constant
  // expect-gcc: "umbel: load: the weights are const"
  // expect-clang: load.*the_weights_are_const
  // cause: The weights to load are const.
  // cure: Pass weights that are not const.
  const model& constant = w;
  return bool(load(constant, file, names::umbel));
#elif defined CASE_load_into_a_temporary
  // expect-gcc: "umbel: load: the weights are a temporary; store them in a variable"
  // expect-clang: load.*the_weights_are_a_temporary_so_store_them_in_a_variable
  // cause: The loaded weights would be lost at the end of the statement.
  // cure: Write `static model w;`, then `load(w, ...)`.
  return bool(load(model{}, file, names::umbel));
#elif defined CASE_load_into_a_view
  // expect-gcc: "umbel: load: the weights are borrowed and const; load the weights that they view"
  // expect-clang: load.*the_weights_are_borrowed_and_const_so_load_the_weights_that_they_view
  // cause: A view of weights cannot change them.
  // cure: Pass the `layer::weights` that it views.
  static model_of_a_view borrowed{w.head};
  return bool(load(borrowed, file, names::umbel));
#elif defined CASE_load_a_mask
  // expect-gcc: "umbel: load: needs elements of float, double, bfloat16, float16, int8 or int32, not bool"
  // expect-clang: load.*needs_elements_of_float_double_bfloat16_float16_int8_or_int32_not.*bool
  // cause: Elements of a file cannot be read as this type.
  // cure: Make it a float tensor, or keep it outside the struct.
  static model_with_a_mask masked;
  return bool(load(masked, file, names::umbel));
#elif defined CASE_load_without_part_names
  // expect-gcc: "umbel: load: the struct does not name its members; add static constexpr const char\* part_names\[\] = \{\.\.\.\}, in their order"
  // expect-clang: load.*the_struct_does_not_name_its_members_so_add_part_names_in_their_order
  // cause: C\+\+ cannot list the names of members, so the struct must list them.
  // cure: Add `static constexpr const char* part_names[] = {"first", "second"};` to the struct.
  static unnamed_model unnamed;
  return bool(load(unnamed, file, names::umbel));
#elif defined CASE_load_prepacked
  // expect-gcc: "umbel: load: packed weights have no parameters; pass the unpacked weights"
  // expect-clang: load.*packed_weights_have_no_parameters_so_pass_the_unpacked_weights
  // cause: Packed weights have panels for the kernels, not parameters.
  // cure: List, load and save `layer::weights`, and pack them afterwards.
  static prepacked<classify> packed{w.head};
  return bool(load(packed, file, names::umbel));
#elif defined CASE_save_to_a_path
  // expect-gcc: "umbel: save: expects first a sink, called with \(const char\*, std::size_t\), not a pointer to char"
  // expect-clang: save.*expects_first_a_sink_called_with_const_char_and_size_t_not.*a_pointer_to<.*char
  // cause: The program opens files, if it has any.
  // cure: Write `save([&](const char* bytes, std::size_t count) { std::fwrite(bytes, 1, count, out); }, w)`.
  save("out.safetensors", w);
  return true;
#elif defined CASE_save_to_a_stream
  // expect-gcc: "umbel: save: expects first a sink, called with \(const char\*, std::size_t\), not a pointer to _IO_FILE"
  // expect-clang: save.*expects_first_a_sink_called_with_const_char_and_size_t_not.*a_pointer_to<.*_IO_FILE
  // cause: A function of the program receives the bytes.
  // cure: Write `save([&](const char* bytes, std::size_t count) { std::fwrite(bytes, 1, count, out); }, w)`.
  save(out, w);
  return true;
#elif defined CASE_save_prepacked
  // expect-gcc: "umbel: save: packed weights have no parameters; pass the unpacked weights"
  // expect-clang: save.*packed_weights_have_no_parameters_so_pass_the_unpacked_weights
  // cause: Packed weights have panels for the kernels, not parameters.
  // cure: List, load and save `layer::weights`, and pack them afterwards.
  static const prepacked<classify> packed{w.head};
  save([](const char*, std::size_t) {}, packed);
  return true;
#elif defined CASE_save_sizes
  // expect-gcc: "umbel: save: needs elements of float, double, bfloat16, float16, bool, uint8 or a signed integer, not long unsigned int"
  // expect-clang: save.*needs_elements_of_float_double_bfloat16_float16_bool_uint8_or_a_signed_integer_not.*unsigned long
  // cause: Elements of this type cannot be written.
  // cure: Use `std::int64_t`, which can be written but not read, or `std::int32_t`.
  static const model_with_sizes sizes{};
  save([](const char*, std::size_t) {}, sizes);
  return true;
#elif defined CASE_table_to_a_stream
  // expect-gcc: "umbel: write_parameter_table: expects first a sink, called with \(const char\*, std::size_t\), not a pointer to _IO_FILE"
  // expect-clang: write_parameter_table.*expects_first_a_sink_called_with_const_char_and_size_t_not.*a_pointer_to<.*_IO_FILE
  // cause: A function of the program receives the text.
  // cure: Write `write_parameter_table([](const char* text, std::size_t count) { std::fwrite(text, 1, count, stdout); }, w)`.
  write_parameter_table(out, w);
  return true;
#elif defined CASE_save_without_a_sink
  // expect-gcc: "umbel: save: expects a sink and the weights; write save\(sink, w\)"
  // expect-clang: save.*expects_a_sink_and_the_weights_so_write_save_of_both
  // cause: `save` passes bytes to your function and opens no file.
  // cure: Write `save([&](const char* bytes, std::size_t count) { std::fwrite(bytes, 1, count, out); }, w)`.
  save(w);
  return false;
#elif defined CASE_load_result_dereferenced
  // expect-gcc: "umbel: load_result: has no value; use the weights that load has filled"
  // expect-clang: load_result, .*has_no_value_so_use_the_weights_given_to_load
  // cause: `load` writes into your weights, and returns only the problems.
  // cure: Use those weights: `if (const auto loaded = load(w, file); !loaded) return false;`.
  const auto loaded = load(w, file, names::umbel);
  (void)*loaded;
  return false;
#elif defined CASE_load_result_as_that_of_a_file
  // expect-gcc: "umbel: load_result: does not convert to void; return a load_result, or print its error\(\)"
  // expect-clang: load_result, .*does_not_convert_to, .*file_result<void>.*so_return_a_load_result_or_print_its_error
  // cause: A file has one error, and a model one for each tensor.
  // cure: Let the function return a `load_result`.
  const file_result<> r = load(w, file, names::umbel);
  return bool(r);
#elif defined CASE_names_that_are_one_row
  // expect-gcc: "umbel: parameter_names: expects an array; write constexpr parameter_name rows\[\] = \{\.\.\.\}"
  // expect-clang: parameter_names, .*expects_an_array_so_write_constexpr_parameter_name_rows
  // cause: A table of names is an array, which it borrows.
  // cure: Write `constexpr parameter_name rows[] = {{"head.weight", "fc.weight", out_in}};`.
  const parameter_names r = parameter_name{"head.weight", "fc.weight", out_in};
  return r.count != 0;
#elif defined CASE_name_in_two_orders
  // expect-gcc: "umbel: parameter_name: expects a path, a name in the file and, for a matrix, in_out or out_in, but argument 4 is stored_axes"
  // expect-clang: parameter_name, .*expects_a_path_a_name_in_the_file_and_the_order_there_but_argument, .*number<4>
  // cause: A row has one order, that of the axes in the file.
  // cure: Leave the other out.
  const parameter_name r{"head.weight", "fc.weight", out_in, in_out};
  return r.tensor != nullptr;
#elif defined CASE_part_without_their_number
  // expect-gcc: "umbel: stored_axes: part_of expects the part, from 0, and the number of parts; write in_out\.part_of\(0, 3\)"
  // expect-clang: stored_axes, .*part_of_expects_the_part_and_the_number_of_parts_so_write_part_of_0_3
  // cause: The size of a part is that of the tensor over the number of parts.
  // cure: Write `in_out.part_of(1, 3)`, the keys of queries, keys and values.
  const stored_axes r = in_out.part_of(1);
  return r.parts != 0;
#elif defined CASE_checksum_of_a_tensor_added
  // expect-gcc: "umbel: weights_checksum: adds a float or std::int32_t array, or bytes and their number, not tensor"
  // expect-clang: weights_checksum, .*adds_an_array_of_float_or_int32_or_bytes_and_their_number_not
  // cause: The sum is over the arrays of an exported header.
  // cure: Pass the memory: `sum.add(reinterpret_cast<const unsigned char*>(x.data()), 4 * x.size())`.
  static convolution c;
  weights_checksum sum;
  sum.add(c.weight);
  return false;
#elif defined CASE_difference_compared
  // expect-gcc: "umbel: parameter_difference: does not convert to double; read its largest"
  // expect-clang: parameter_difference, .*does_not_convert_to, .*element<double>, .*so_read_its_largest
  // lines-clang: 14
  // cause: The result has the difference and the path of its parameter.
  // cure: Write `compare_parameters(a, b).largest < 1e-5`.
  return compare_parameters(w, w) < 1e-5;
#elif defined CASE_path_added_to
  // expect-gcc: "umbel: parameter_path: is extended by /, not \+; write path / part"
  // expect-clang: parameter_path, .*has_no_sum_so_write_path_slash_part
  // cause: A path is extended as `std::filesystem::path` is.
  // cure: Write `path / "weight"`.
  return (parameter_path{} + "weight").size() != 0;
#elif defined CASE_load_without_a_file
  // expect-gcc: "umbel: load: expects the weights and a file, then tables of names; write load\(w, \*file\)"
  // expect-clang: load.*expects_the_weights_and_a_file_so_write_load_of_both
  // cause: `load` reads tensors of a file that is open already.
  // cure: Open it, `const auto file = mapped_file::open(path)`, and write `load(w, *tensors)` with its tensors.
  load(w);
  return false;
#elif defined CASE_checksum_of_a_result
  // expect-gcc: "umbel: checksum_of: expects a file of tensors, not the result of opening one; write \*file"
  // expect-clang: checksum_of, .*expects_a_file_of_tensors_so_write_an_asterisk_before_a_result
  // cause: Opening a file returns a result: the file or an error.
  // cure: Check it, then write `checksum_of(*file)`.
  const auto opened = tensor_file::in_memory(memory);
  return checksum_of(opened) != 0;
#else
  save([](const char*, std::size_t) {}, w);
  write_parameter_table([](const char*, std::size_t) {}, w);
  return bool(load(w, file, at("head", "fc", names::torch_linear), names::umbel));
#endif
}
