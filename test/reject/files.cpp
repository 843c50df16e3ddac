// SPDX-License-Identifier: BSL-1.0
// Mistakes in reading and writing tensors in files (check.py).
#include <umbel/umbel.hpp>

#include <umbel/file/mapped_file.hpp>
#include <umbel/files.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

using namespace umbel;
using namespace umbel::axes;

static const auto sink = [](const char*, std::size_t) {};

[[maybe_unused]] static void cases(const tensor_file& file, const stored_tensor& x,
                                   tensor<float, query<2>, key<3>>& w, float* memory) {
  const auto& only_read = w;
  (void)file, (void)x, (void)sink, (void)only_read, (void)memory;
#if defined CASE_read_into_a_constant
  // expect-gcc: "umbel: read: the target is const"
  // expect-clang: read, .*the_target, .*is_const
  // cause: The tensor is read into a const tensor or view.
  // cure: Pass one that is not const.
  static_cast<void>(x.read(only_read));
#elif defined CASE_read_into_a_temporary
  // expect-gcc: "umbel: read: the target is a temporary; store it in a variable"
  // expect-clang: read, .*the_target, .*is_a_temporary_so_store_it_in_a_variable
  // cause: The elements would be lost at the end of the statement.
  // cure: Read into a variable, or into a view of one.
  static_cast<void>(x.read(tensor<float, query<2>, key<3>>{}));
#elif defined CASE_read_as_long
  // expect-gcc: "umbel: read: needs elements of float, double, bfloat16, float16, int8 or int32, not long int"
  // expect-clang: read, .*needs_elements_of_float_double_bfloat16_float16_int8_or_int32_not, .*long
  // cause: Elements of a file cannot be read as this type.
  // cure: Read them as one of these types; `std::int32_t` accepts all integers that fit.
  tensor<std::int64_t, query<2>, key<3>> ids;
  static_cast<void>(x.read(ids));
#elif defined CASE_read_as_unsigned
  // expect-gcc: "umbel: read: needs elements of float, double, bfloat16, float16, int8 or int32, not unsigned int"
  // expect-clang: read, .*needs_elements_of_float_double_bfloat16_float16_int8_or_int32_not, .*unsigned int
  // cause: Elements of a file cannot be read as this type.
  // cure: Read them as one of these types; `std::int32_t` accepts all integers that fit.
  unsigned ids[6];
  static_cast<void>(x.read(ids));
#elif defined CASE_read_without_a_count
  // expect-gcc: "umbel: read: expects a tensor, a view or an array, or a pointer and a number of elements, not a pointer to float"
  // expect-clang: read, .*expects_a_tensor_a_view_or_an_array_or_a_pointer_and_a_number_of_elements_not, .*a_pointer_to.*float
  // cause: A pointer does not know the size of its memory.
  // cure: Add the number of elements, `x.read(memory, 6)`, or read into a tensor or `view_as<...>(memory)`.
  static_cast<void>(file.read("w", memory));
#elif defined CASE_read_into_a_vector
  // expect-gcc: "umbel: read: expects a tensor, a view or an array, or a pointer and a number of elements, not vector"
  // expect-clang: read, .*expects_a_tensor_a_view_or_an_array_or_a_pointer_and_a_number_of_elements_not, .*vector
  // cause: The target has no shape to compare with the shape in the file.
  // cure: Read into a tensor, or into `vector.data()` and `vector.size()`.
  std::vector<float> memory_of_run_time(6);
  static_cast<void>(file.read("w", memory_of_run_time));
#elif defined CASE_refused_target_of_read
  // expect-gcc: "umbel: permute: there is no axis token in \[query=2, key=3\]"
  // expect-clang: permute.*token.*query<2>.*key<3>
  // cause: The new order lists an axis that the tensor does not have.
  // cure: List the axes in the brackets, each once.
  static_cast<void>(file.read("w", w | permute<key, token>));
#elif defined CASE_file_in_a_temporary
  // expect-gcc: "umbel: in_memory: the memory is a temporary that would be destroyed before the file; store it in a variable"
  // expect-clang: in_memory.*the_memory_is_a_temporary_that_would_be_destroyed_before_the_file_so_store_it_in_a_variable
  // cause: A file refers to its memory, which would be destroyed at the end of the statement.
  // cure: Write `const auto memory = mapped_file::open(path);` on a separate line, then `tensor_file::in_memory(*memory)`.
  const auto opened = tensor_file::in_memory(*mapped_file::open("model.npz"));
#elif defined CASE_file_in_a_temporary_vector
  // expect-gcc: "umbel: in_memory: the memory is a temporary that would be destroyed before the file; store it in a variable"
  // expect-clang: in_memory.*the_memory_is_a_temporary_that_would_be_destroyed_before_the_file_so_store_it_in_a_variable
  // cause: A file refers to its memory, which would be destroyed at the end of the statement.
  // cure: Write `const auto memory = mapped_file::open(path);` on a separate line, then `tensor_file::in_memory(*memory)`.
  const auto opened = npy_file::in_memory(std::vector<char>(100));
#elif defined CASE_file_in_a_result
  // expect-gcc: "umbel: in_memory: expects the value of a file_result; check it, if \(!memory\) return, and write \*memory"
  // expect-clang: in_memory.*expects_the_value_of_a_file_result_so_check_it_and_write_star_of_it
  // cause: Opening a file returns its memory or an error.
  // cure: Write `if (!memory) return;`, then `tensor_file::in_memory(*memory)`.
  const auto mapped = mapped_file::open("model.npz");
  const auto opened = tensor_file::in_memory(mapped);
#elif defined CASE_file_in_a_path
  // expect-gcc: "umbel: in_memory: expects memory, not a path; write mapped_file::open\(path\)"
  // expect-clang: in_memory.*expects_memory_not_a_path_so_write_mapped_file_open_path
  // cause: A file is read from memory, since systems differ in how they open files.
  // cure: Write `const auto memory = mapped_file::open(path);`, then `tensor_file::in_memory(*memory)`; without mmap use `read_file`.
  const auto opened = tensor_file::in_memory("model.npz");
#elif defined CASE_file_in_an_array
  // expect-gcc: "umbel: in_memory: expects bytes in a mapped_file, a std::span or std::vector, or a pointer and their number, not unsigned char \[100\]"
  // expect-clang: in_memory.*expects_bytes_in_a_mapped_file_span_or_vector_or_a_pointer_and_their_number_not.*unsigned char *\[100\]
  // cause: An array may be larger than the file that it holds.
  // cure: Add the number of bytes of the file: `tensor_file::in_memory(array, sizeof(array))`.
  static const unsigned char bytes[100]{};
  const auto opened = safetensors_file::in_memory(bytes);
#elif defined CASE_file_in_floats
  // expect-gcc: "umbel: in_memory: expects memory of bytes, not of float"
  // expect-clang: in_memory.*expects_memory_of_bytes_not_of.*float
  // cause: The elements of this memory are larger than bytes.
  // cure: Read the file into a `std::vector` of `unsigned char`.
  const std::vector<float> floats(100);
  const auto opened = tensor_file::in_memory(floats);
#elif defined CASE_tensors_of_a_result
  // expect-gcc: "umbel: file_result: is not the file; check it, if \(!result\) return, and write \*result"
  // expect-clang: file_result.*is_not_the_file_so_check_it_and_write_star_of_it
  // cause: Opening a file returns the file or an error.
  // cure: Write `const auto file = tensor_file::in_memory(*memory);`, `if (!file) return;`, then `for (const stored_tensor& x : *file)`.
  const std::vector<char> bytes(100);
  for (const stored_tensor& each : tensor_file::in_memory(bytes)) (void)each.rank;
#elif defined CASE_written_to_a_path
  // expect-gcc: "umbel: write_npy: expects first a sink, called with \(const char\*, std::size_t\), not a pointer to char"
  // expect-clang: write_npy.*expects_first_a_sink_called_with_const_char_and_size_t_not.*a_pointer_to<.*char
  // cause: Systems differ in how they open files, so your function receives the bytes.
  // cure: Pass `[&](const char* bytes, std::size_t count) { std::fwrite(bytes, 1, count, file); }`.
  write_npy("x.npy", w);
#elif defined CASE_written_array
  // expect-gcc: "umbel: write_npy: expects a tensor or view, not float \[6\]"
  // expect-clang: write_npy.*expects_a_tensor_or_view_not.*float *\[6\]
  // cause: Memory without axes has no shape to write.
  // cure: View it: `view_as<query<2>, key<3>>(memory)`.
  static const float memory_of_six[6]{};
  write_npy(sink, memory_of_six);
#elif defined CASE_written_unsigned
  // expect-gcc: "umbel: write_npy: needs elements of float, double, bfloat16, float16, bool, uint8 or a signed integer, not unsigned int"
  // expect-clang: write_npy.*needs_elements_of_float_double_bfloat16_float16_bool_uint8_or_a_signed_integer_not.*unsigned int
  // cause: Elements of this type cannot be written.
  // cure: Copy them into a tensor of one of these types.
  write_npy(sink, tensor<unsigned, query<2>>{});
#elif defined CASE_written_without_a_function
  // expect-gcc: "umbel: write_safetensors: expects a function that puts each tensor, \[&\]\(auto put\) \{ put\(name, x\); \}, not tensor"
  // expect-clang: write_safetensors.*expects_a_function_that_puts_each_tensor_not.*tensor
  // cause: The tensors of a file have names, which your function passes.
  // cure: Write `write_safetensors(sink, [&](auto put) { put("w", w); });`.
  static_cast<void>(write_safetensors(sink, w));
#elif defined CASE_written_by_a_function_of_nothing
  // expect-gcc: "umbel: write_npz: expects a function that puts each tensor, \[&\]\(auto put\) \{ put\(name, x\); \}, not lambda"
  // expect-clang: write_npz.*expects_a_function_that_puts_each_tensor_not
  // cause: The tensors of a file have names, which your function passes.
  // cure: Write `write_safetensors(sink, [&](auto put) { put("w", w); });`.
  static_cast<void>(write_npz(sink, [] {}));
#elif defined CASE_put_swapped
  // lines-clang: 15
  // expect-gcc: "umbel: put: expects a name and a tensor or view, put\(name, x\), but argument 1 is tensor"
  // expect-clang: put.*expects_a_name_and_a_tensor_or_view.*but_argument.*number<1>.*is.*tensor
  // cause: The arguments are in the wrong order, or the name is not a `const char*`.
  // cure: Write `put("w", w)`, or `put(name.c_str(), w)` for a `std::string`.
  static_cast<void>(write_safetensors(sink, [&](auto put) { put(w, "w"); }));
#elif defined CASE_put_without_a_name
  // lines-clang: 15
  // expect-gcc: "umbel: put: expects a name and a tensor or view, put\(name, x\)"
  // expect-clang: put.*expects_a_name_and_a_tensor_or_view
  // cause: A tensor in a file needs a name.
  // cure: Write `put("w", w)`.
  static_cast<void>(write_safetensors(sink, [&](auto put) { put(w); }));
#elif defined CASE_put_an_array
  // lines-clang: 15
  // expect-gcc: "umbel: put: expects a tensor or view, not float \[6\]"
  // expect-clang: put.*expects_a_tensor_or_view_not.*float *\[6\]
  // cause: Memory without axes has no shape to write.
  // cure: View it: `view_as<query<2>, key<3>>(memory)`; to write the parameters of a layer, use `save`.
  static const float memory_of_six[6]{};
  static_cast<void>(write_npz(sink, [&](auto put) { put("w", memory_of_six); }));
#elif defined CASE_refused_tensor_to_write
  // expect-gcc: "umbel: permute: there is no axis token in \[query=2, key=3\]"
  // expect-clang: permute.*token.*query<2>.*key<3>
  // cause: The new order lists an axis that the tensor does not have.
  // cure: List the axes in the brackets, each once.
  write_npy(sink, w | permute<key, token>);
#elif defined CASE_refused_tensor_to_put
  // expect-gcc: "umbel: permute: there is no axis token in \[query=2, key=3\]"
  // expect-clang: permute.*token.*query<2>.*key<3>
  // cause: The new order lists an axis that the tensor does not have.
  // cure: List the axes in the brackets, each once.
  const auto r = w | permute<key, token>;
  static_cast<void>(write_safetensors(sink, [&](auto put) { put("w", r); }));
#else
  static_cast<void>(x.read(w));
  static_cast<void>(x.read(w | permute<key, query>));
  static_cast<void>(x.read(memory, 6));
  static_cast<void>(file.read("w", w));
  static_cast<void>(file.read("w", memory, 6));
  write_npy(sink, w | permute<key, query>);
  static_cast<void>(write_safetensors(sink, [&](auto put) { put("w", w); }));
  static_cast<void>(write_npz(sink, [&](auto put) { put("w", as_view(w)); }));
  const std::string bytes(100, 'x');
  static_cast<void>(npz_file::in_memory(bytes));
  static_cast<void>(tensor_file::in_memory(std::span<const char>(bytes)));
#endif
}
