// SPDX-License-Identifier: BSL-1.0
// Good files, as numpy and safetensors write them (test/golden/data/files.hpp): what is listed and
// what is read, in every order of the axes.
#include <boost/test/unit_test.hpp>
#include <umbel/file/mapped_file.hpp>
#include <umbel/file/read_file.hpp>
#include <umbel/files.hpp>
#include <umbel/umbel.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../golden/data/files.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <std::size_t Size>
file_result<tensor_file> open(const unsigned char (&bytes)[Size]) {
  return tensor_file::in_memory(bytes, Size);
}

std::string text(const tensor_name& name) {
  std::string copy(name.size() + 1, '\0');
  name.copy_to(copy.data(), copy.size());
  copy.pop_back();
  return copy;
}

std::vector<double> numbers(const stored_tensor& x) {
  std::vector<double> out(x.size());
  BOOST_TEST(!!x.read(out.data(), out.size()));
  return out;
}

// "name type [2, 3] 0 1 2": of each tensor a line.
template <class File>
std::string listed(const File& file) {
  std::string all = file.error();
  if (!file) return all;
  for (const stored_tensor& x : *file) {
    all += text(x.name) + " " + text(x.type_name) + " [";
    for (std::size_t i = 0; i < x.rank; ++i) (all += i ? " " : "") += std::to_string(x.extents[i]);
    all += "]";
    if (x.type != stored_type::other)
      for (const double value : numbers(x)) {
        std::string number = std::to_string(value);
        number.erase(number.find_last_not_of('0') + 1);
        (all += " ") += number.substr(0, number.size() - (number.back() == '.'));
      }
    all += "\n";
  }
  return all;
}

BOOST_AUTO_TEST_SUITE(file_read)

BOOST_AUTO_TEST_CASE(npy_of_every_type) {
  const char* const floats = " [2 3] 0 1 -2 3 100 -128\n";
  BOOST_TEST(listed(open(files::npy_b1)) == " |b1 [2 3] 0 1 1 1 1 1\n");
  BOOST_TEST(listed(open(files::npy_u1)) == " |u1 [2 3] 0 1 2 3 100 127\n");
  BOOST_TEST(listed(open(files::npy_i1)) == std::string(" |i1") + floats);
  BOOST_TEST(listed(open(files::npy_i2)) == std::string(" <i2") + floats);
  BOOST_TEST(listed(open(files::npy_big_i2)) == std::string(" >i2") + floats);
  BOOST_TEST(listed(open(files::npy_i4)) == std::string(" <i4") + floats);
  BOOST_TEST(listed(open(files::npy_big_i4)) == std::string(" >i4") + floats);
  BOOST_TEST(listed(open(files::npy_i8)) == std::string(" <i8") + floats);
  BOOST_TEST(listed(open(files::npy_big_i8)) == std::string(" >i8") + floats);
  BOOST_TEST(listed(open(files::npy_f2)) == std::string(" <f2") + floats);
  BOOST_TEST(listed(open(files::npy_big_f2)) == std::string(" >f2") + floats);
  BOOST_TEST(listed(open(files::npy_f4)) == std::string(" <f4") + floats);
  BOOST_TEST(listed(open(files::npy_big_f4)) == std::string(" >f4") + floats);
  BOOST_TEST(listed(open(files::npy_f8)) == std::string(" <f8") + floats);
  BOOST_TEST(listed(open(files::npy_big_f8)) == std::string(" >f8") + floats);
  BOOST_TEST(listed(open(files::npy_bfloat16)) == " |V2 [2] 1 -2\n");
}

BOOST_AUTO_TEST_CASE(npy_of_every_version_order_and_rank) {
  const std::string cube =
      " [2 3 4] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n";
  BOOST_TEST(listed(open(files::npy_version_2)) == std::string(" <f4") + cube);
  BOOST_TEST(listed(open(files::npy_version_3)) == std::string(" <f4") + cube);
  BOOST_TEST(listed(open(files::npy_fortran)) == std::string(" <f4") + cube);
  BOOST_TEST(listed(open(files::npy_fortran_big)) == std::string(" >f8") + cube);
  BOOST_TEST(listed(open(files::npy_scalar)) == " <i4 [] 7\n");
  BOOST_TEST(listed(open(files::npy_vector)) == " <f4 [3] 0 1 2\n");
  BOOST_TEST(listed(open(files::npy_empty)) == " <f4 [3 0 2]\n");
  BOOST_TEST(listed(open(files::npy_8_axes)) == " |i1 [1 1 2 1 1 3 1 1] 0 1 2 3 4 5\n");
  BOOST_TEST(open(files::npy_fortran)->begin()->fortran_order);
  const auto one = npy_file::in_memory(files::npy_vector, sizeof(files::npy_vector));
  BOOST_TEST(one->tensor().size() == 3U);
  BOOST_TEST(one->size() == 1U);
}

BOOST_AUTO_TEST_CASE(npz) {
  const char* const arrays =
      "l.weight <f4 [3 4] 0 1 2 3 4 5 6 7 8 9 10 11\n"
      "l.bias <f4 [4] 12 13 14 15\n"
      "t <f4 [3 4] 0 1 2 3 4 5 6 7 8 9 10 11\n"
      "n <i8 [2] 1 -2\n";
  BOOST_TEST(listed(open(files::npz)) == arrays);
  BOOST_TEST(listed(open(files::npz_descriptors)) == arrays);
  BOOST_TEST(listed(open(files::npz_64)) == arrays);
  BOOST_TEST(listed(open(files::npz_none)) == "");
  BOOST_TEST(listed(npz_file::in_memory(files::npz, sizeof(files::npz))) == arrays);
}

BOOST_AUTO_TEST_CASE(safetensors) {
  const char* const all =
      "w F32 [2 3] 0 1 2 3 4 5\n"
      "double F64 [2] 0.1 -3\n"
      "half F16 [2 1] 1 -2\n"
      "brain BF16 [2] 1 -2\n"
      "byte I8 [3] 0 127 -128\n"
      "w\u00f6rter \U0001F600 \"x\" I64 [] -5\n"
      "none F32 [0 4]\n"
      "float8 F8_E4M3 [2]\n";
  const auto file = open(files::safetensors);
  BOOST_TEST(listed(file) == all);
  BOOST_TEST(file->size() == 8U);
  BOOST_TEST(text(file->metadata("format")) == "pt");
  BOOST_TEST(text(file->metadata("step")) == "1000");
  BOOST_TEST(text(file->metadata("none")) == "");
  BOOST_TEST(listed(open(files::safetensors_misaligned)) == all);
  BOOST_TEST(text(open(files::safetensors_misaligned)->metadata("format")) == "");
  BOOST_TEST(listed(open(files::safetensors_none)) == "");
  BOOST_TEST(listed(open(files::safetensors_shuffled)) ==
             "w\u00f6rter \U0001F600 \"x\" I64 [] -5\n"
             "w F32 [2 3] 0 1 2 3 4 5\n"
             "none F32 [0 4]\n"
             "half F16 [2 1] 1 -2\n"
             "float8 F8_E4M3 [2]\n"
             "double F64 [2] 0.1 -3\n"
             "byte I8 [3] 0 127 -128\n"
             "brain BF16 [2] 1 -2\n");
}

BOOST_AUTO_TEST_CASE(by_name) {
  const auto file = open(files::safetensors);
  // Escapes in the file are the characters.
  BOOST_TEST(file->find("w\u00f6rter \U0001F600 \"x\"").has_value());
  BOOST_TEST(file->find(std::string("half"))->size() == 2U);
  const auto none = file->find("hal");
  BOOST_TEST((none.code() == file_error::not_found));
  BOOST_TEST(std::string(none.error()) == "umbel: the file has no tensor hal");
  float out[6]{};
  BOOST_TEST(!!file->read("w", static_cast<float*>(out), 6));
  BOOST_TEST(out[5] == 5);
  BOOST_TEST((file->read("v", out).code() == file_error::not_found));
  // Without looking at the result of find: there is nothing to read.
  BOOST_TEST((none->read(out).code() == file_error::not_found));
  BOOST_TEST(out[5] == 5);
}

BOOST_AUTO_TEST_CASE(names_are_copied_and_cut) {
  const auto x = open(files::safetensors)->find("double");
  char name[4] = "zzz";
  BOOST_TEST(x->name.copy_to(name, 4) == 6U);
  BOOST_TEST(name == "dou");
  BOOST_TEST(x->name.copy_to(nullptr, 0) == 6U);
}

// Into views of every order: from both orders of the file.
BOOST_AUTO_TEST_CASE(transposed) {
  for (const auto& file : {open(files::npy_version_2), open(files::npy_fortran)}) {
    tensor<float, batch<2>, query<3>, key<4>> rows{};
    BOOST_TEST(!!file->read("", rows));
    BOOST_TEST(rows(1, 2, 3) == 23);
    tensor<double, key<4>, query<3>, batch<2>> reversed{};
    BOOST_TEST(!!file->read("", reversed | permute<batch, query, key>));
    tensor<std::int32_t, query<3>, batch<2>, key<4>> middle{};
    BOOST_TEST(!!file->read("", rows));
    BOOST_TEST(!(*file).read("", middle | permute<batch, query, key>));  // 32-bit floats
    tensor<bfloat16, query<3>, batch<2>, key<4>> rounded{};
    BOOST_TEST(!!file->read("", rounded | permute<batch, query, key>));
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t q = 0; q < 3; ++q)
        for (std::size_t k = 0; k < 4; ++k) {
          BOOST_TEST(reversed(k, q, b) == rows(b, q, k));
          BOOST_TEST(static_cast<float>(rounded(q, b, k)) == rows(b, q, k));
        }
  }
}

// Sizes around those of the blocks that transposed reads take.
BOOST_AUTO_TEST_CASE(transposed_in_blocks) {
  for (const std::size_t rows : {1U, 15U, 16U, 17U, 33U})
    for (const std::size_t columns : {1U, 2U, 16U, 31U, 48U}) {
      std::vector<float> values(rows * columns);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
      stored_tensor x;
      x.type = stored_type::float32;
      x.big_endian = UMBEL_LITTLE_ENDIAN == 0;
      x.rank = 2;
      x.extents[0] = rows;
      x.extents[1] = columns;
      x.data = reinterpret_cast<const unsigned char*>(values.data());
      x.bytes = values.size() * sizeof(float);
      const std::size_t strides[] = {1, rows};
      std::vector<float> out(values.size(), -1);
      BOOST_TEST(!!x.read(out.data(), out.size(), strides));
      bool equal = true;
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
          equal = equal && out[j * rows + i] == values[i * columns + j];
      BOOST_TEST(equal);
    }
}

BOOST_AUTO_TEST_CASE(part_of_a_larger_tensor) {
  const auto x = open(files::npy_f4)->find("");
  float out[8] = {9, 9, 9, 9, 9, 9, 9, 9};
  const std::size_t padded[] = {4, 1};
  BOOST_TEST(!!x->read(out, 7, padded));
  BOOST_TEST(out[2] == -2);
  BOOST_TEST(out[3] == 9);
  BOOST_TEST(out[6] == -128);
  BOOST_TEST((x->read(out, 6, padded).code() == file_error::wrong_shape));
  const std::size_t overflowing[] = {~std::size_t{0}, ~std::size_t{0} / 2};
  BOOST_TEST((x->read(out, 8, overflowing).code() == file_error::wrong_shape));
  BOOST_TEST(out[7] == 9);
}

BOOST_AUTO_TEST_CASE(memory_of_another_shape) {
  const auto file = open(files::safetensors);
  tensor<float, query<3>, key<2>> w{};
  BOOST_TEST(std::string(file->read("w", w).error()) ==
             "umbel: read: w has the shape [2, 3] but the memory has [query=3, key=2]");
  tensor<float, query<6>> flat{};
  BOOST_TEST((file->read("w", flat).code() == file_error::wrong_shape));
  float out[5]{};
  BOOST_TEST(std::string(file->read("w", out).error()) ==
             "umbel: read: w has 6 elements but the memory has 5");
}

BOOST_AUTO_TEST_CASE(types_that_are_not_read) {
  float out[2]{};
  BOOST_TEST(std::string(open(files::safetensors)->read("float8", out).error()) ==
             "umbel: read: float8 has the element type F8_E4M3, which is not supported");
  BOOST_TEST(
      std::string(open(files::npy_complex)->begin()->read(out, 1).error()) ==
      "umbel: read: the tensor without a name has the element type <c8, which is not supported");
  tensor<std::int8_t, query<2>, key<3>> bytes{};
  BOOST_TEST(std::string(open(files::safetensors)->read("w", bytes).error()) ==
             "umbel: read: w has the element type F32, which cannot be read as integers");
}

// At any address.
BOOST_AUTO_TEST_CASE(alignment_does_not_matter) {
  for (std::size_t shift = 0; shift < 8; ++shift) {
    std::vector<unsigned char> moved(sizeof(files::npz) + shift);
    std::copy(std::begin(files::npz), std::end(files::npz),
              moved.begin() + static_cast<std::ptrdiff_t>(shift));
    const auto file = npz_file::in_memory(moved.data() + shift, sizeof(files::npz));
    BOOST_TEST(listed(file) == listed(open(files::npz)));
  }
}

// A file in the temporary folder, gone with this object.
struct one_file {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("umbel_file_" + std::to_string(::getpid()));

  explicit one_file(const std::vector<unsigned char>& content) {
    std::ofstream out{path, std::ios::binary};
    for (const unsigned char byte : content) out.put(static_cast<char>(byte));
  }
  one_file(const one_file&) = delete;
  one_file& operator=(const one_file&) = delete;
  ~one_file() { std::filesystem::remove(path); }
};

BOOST_AUTO_TEST_CASE(mapped) {
  const one_file file({std::begin(files::npz), std::end(files::npz)});
  auto memory = mapped_file::open(file.path.c_str());
  BOOST_TEST_REQUIRE(memory.has_value());
  BOOST_TEST(memory->size() == sizeof(files::npz));
  BOOST_TEST(listed(tensor_file::in_memory(*memory)) == listed(open(files::npz)));
  mapped_file moved = *static_cast<file_result<mapped_file>&&>(memory);
  mapped_file other;
  other = static_cast<mapped_file&&>(moved);
  BOOST_TEST(moved.size() == 0U);
  BOOST_TEST(listed(tensor_file::in_memory(other)) == listed(open(files::npz)));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_mapped) {
  const auto none = mapped_file::open("/nowhere/x.npz");
  BOOST_TEST((none.code() == file_error::cannot_open));
  BOOST_TEST(std::string(none.error()) == "umbel: mapped_file: /nowhere/x.npz does not exist");
  const std::string folder = std::filesystem::temp_directory_path().string();
  BOOST_TEST(std::string(mapped_file::open(folder.c_str()).error()).find("is not a regular file") !=
             std::string::npos);
  // A pipe that nobody writes to is not waited for.
  const std::string pipe = one_file({}).path.string();
  BOOST_TEST(::mkfifo(pipe.c_str(), 0600) == 0);
  unsigned char bytes[4] = {9, 9, 9, 9};
  BOOST_TEST(std::string(read_file(pipe.c_str(), bytes, 4).error()) ==
             "umbel: read_file: " + pipe + " is a pipe, not a file");
  BOOST_TEST(bytes[0] == 9);
  BOOST_TEST(std::string(mapped_file::open(pipe.c_str()).error()).find("is not a regular file") !=
             std::string::npos);
  std::filesystem::remove(pipe);
  BOOST_TEST(std::string(mapped_file::open("").error()) ==
             "umbel: mapped_file: the empty path does not exist");
  const one_file empty({});
  const auto memory = mapped_file::open(empty.path.c_str());
  BOOST_TEST_REQUIRE(memory.has_value());
  BOOST_TEST((tensor_file::in_memory(*memory).code() == file_error::truncated));
}

BOOST_AUTO_TEST_CASE(read_into_memory) {
  const one_file file({1, 2, 3});
  unsigned char memory[4] = {9, 9, 9, 9};
  const auto size = read_file(file.path.c_str(), memory, 4);
  BOOST_TEST(*size == 3U);
  BOOST_TEST(memory[2] == 3);
  BOOST_TEST(memory[3] == 9);
  BOOST_TEST((read_file(file.path.c_str(), memory, 2).code() == file_error::too_large));
  BOOST_TEST((read_file("/nowhere/x.npz", memory, 4).code() == file_error::cannot_open));
  BOOST_TEST(std::string(read_file("", memory, 4).error()) ==
             "umbel: read_file: the empty path cannot be opened");
  const one_file empty({});
  const auto nothing = read_file(empty.path.c_str(), memory, 4);
  BOOST_TEST((nothing.has_value() && *nothing == 0U));
}

// What opens as a file and has no size: a folder, and devices.
BOOST_AUTO_TEST_CASE(what_cannot_be_read_into_memory) {
  unsigned char memory[4] = {9, 9, 9, 9};
  const std::string folder = std::filesystem::temp_directory_path().string();
  const auto of_a_folder = read_file(folder.c_str(), memory, 4);
  BOOST_TEST((of_a_folder.code() == file_error::cannot_open));
  BOOST_TEST(memory[0] == 9);
  if (std::filesystem::exists("/dev/zero"))
    BOOST_TEST(std::string(read_file("/dev/zero", memory, 4).error()) ==
               "umbel: read_file: /dev/zero has more than the 4 bytes of the memory");
  if (std::filesystem::exists("/proc/self/statm")) {
    char numbers[1000];
    const auto size = read_file("/proc/self/statm", numbers, sizeof(numbers));
    BOOST_TEST((size.has_value() && *size > 0U));
  }
}

// An array does not say the order of a matrix, so it takes rows only.
BOOST_AUTO_TEST_CASE(arrays) {
  const auto vector = open(files::npy_vector);
  float row[3] = {};
  BOOST_TEST(!!vector->read("", row));
  BOOST_TEST(row[2] == 2);

  const auto file = open(files::npy_version_2);
  double flat[24] = {7};
  const auto refused = file->read("", flat);
  BOOST_TEST((refused.code() == file_error::wrong_shape));
  BOOST_TEST(std::string(refused.error()) ==
             "umbel: read: the tensor without a name has the shape [2, 3, 4] but an array has no "
             "named axes; read it into a tensor or view, or in the order of the file into a "
             "pointer and 24 elements");
  BOOST_TEST(flat[0] == 7);
  BOOST_TEST(!!file->read("", static_cast<double*>(flat), 24));
  BOOST_TEST(flat[23] == 23);

  stored_tensor column = *vector->find("");  // as (3, 1)
  column.rank = 2;
  column.extents[1] = 1;
  double three[3] = {};
  BOOST_TEST(!!column.read(three));
  BOOST_TEST(three[2] == 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
