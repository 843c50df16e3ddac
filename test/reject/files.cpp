// SPDX-License-Identifier: BSL-1.0
// Mistakes in reading tensors of files (check.py).
#include <umbel/umbel.hpp>

#include <umbel/files.hpp>

#include <cstdint>

using namespace umbel;
using namespace umbel::axes;

[[maybe_unused]] static void cases(const tensor_file& file, const stored_tensor& x,
                                   tensor<float, query<2>, key<3>>& w, float* memory) {
  const auto& only_read = w;
  (void)file, (void)x, (void)only_read, (void)memory;
#if defined CASE_read_into_a_constant
  // expect-gcc: "umbel: read: the target is const"
  // expect-clang: read, .*the_target, .*is_const
  // cause: A tensor of a file is read into a tensor or view that may not change.
  // cure: Give it one that may.
  static_cast<void>(x.read(only_read));
#elif defined CASE_read_into_a_temporary
  // expect-gcc: "umbel: read: the target is a temporary; store it in a variable"
  // expect-clang: read, .*the_target, .*is_a_temporary_so_store_it_in_a_variable
  // cause: What is read would be gone at the end of the statement.
  // cure: Read into a tensor with a name, or a view of one.
  static_cast<void>(x.read(tensor<float, query<2>, key<3>>{}));
#elif defined CASE_read_as_long
  // expect-gcc: "umbel: read: takes elements of float, double, bfloat16, float16, int8 or int32, not long int"
  // expect-clang: read, .*takes_elements_of_float_double_bfloat16_float16_int8_or_int32_not, .*long
  // cause: Elements of a file are not read as this type.
  // cure: Read them as one of these; into `std::int32_t` all integers are read that fit.
  tensor<std::int64_t, query<2>, key<3>> ids;
  static_cast<void>(x.read(ids));
#elif defined CASE_read_as_unsigned
  // expect-gcc: "umbel: read: takes elements of float, double, bfloat16, float16, int8 or int32, not unsigned int"
  // expect-clang: read, .*takes_elements_of_float_double_bfloat16_float16_int8_or_int32_not, .*unsigned int
  // cause: Elements of a file are not read as this type.
  // cure: Read them as one of these; into `std::int32_t` all integers are read that fit.
  unsigned ids[6];
  static_cast<void>(x.read(ids));
#elif defined CASE_read_without_a_count
  // expect-gcc: "umbel: read: takes a tensor, a view or an array, or a pointer and a number of elements, not float\*"
  // expect-clang: read, .*takes_a_tensor_a_view_or_an_array_or_a_pointer_and_a_number_of_elements_not, .*float \*
  // cause: A pointer does not say how much memory there is.
  // cure: Say how many elements it has, `x.read(memory, 6)`, or read into a tensor or `view_as<...>(memory)`.
  static_cast<void>(file.read("w", memory));
#else
  static_cast<void>(x.read(w));
  static_cast<void>(x.read(w | permute<key, query>));
  static_cast<void>(x.read(memory, 6));
  static_cast<void>(file.read("w", w));
  static_cast<void>(file.read("w", memory, 6));
#endif
}
