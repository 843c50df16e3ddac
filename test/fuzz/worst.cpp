// SPDX-License-Identifier: BSL-1.0
// The files of 10 MB that cost most to open and to load: the file's length bounds the steps of both
// together (check.py).
#include <umbel/files.hpp>
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>

#include "steps.hpp"

#include <cstdint>
#include <cstdio>
#include <string>

namespace {

using namespace umbel;
using namespace umbel::axes;

constexpr std::size_t most = 16384, length = 10'000'000;  // of tensors; of a header

// Some hundred parameters, whose names many tensors could have.
using layer = encoder_layer<float, hidden<4>, heads<2>, intermediate<4>, norm_first<true>,
                            activation<relu>, bias<true>>;
layer_stack<layer, 12>::weights weights;

// 0, 1 ... in an order that is far from sorted.
std::size_t mixed(std::size_t i) { return i * 7919 % most; }

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (; bytes-- > 0; value >>= 8) text += static_cast<char>(value);
  return text;
}

// name(i): of the tensor i, as JSON has it; between: what stands after each. Four bytes of data
// each.
template <class Name>
std::string safetensors(const Name& name, const std::string& between = "",
                        const std::string& metadata = "") {
  std::string header = "{" + metadata;
  for (std::size_t i = 0; i < most; ++i) {
    const std::size_t at = 4 * mixed(i);
    header += (i != 0 || !metadata.empty() ? ",\"" : "\"") + name(i) +
              "\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[" + std::to_string(at) + "," +
              std::to_string(at + 4) + "]}" + between;
  }
  header += "}";
  return little_endian(header.size(), 8) + header + std::string(4 * most, '\0');
}

// Members of one element, in another order than their lines in the directory.
std::string npz(const std::string& begin) {
  std::string array = std::string("\x93NUMPY\x01\0v\0", 10) +
                      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  array += std::string(127 - array.size(), ' ') + "\n" + std::string(4, '\0');
  const std::uint32_t crc =
      umbel::detail::crc32(reinterpret_cast<const unsigned char*>(array.data()), array.size());
  const auto sizes = [&](std::size_t name) {
    return little_endian(0, 8) + little_endian(crc, 4) + little_endian(array.size(), 4) +
           little_endian(array.size(), 4) + little_endian(name, 2) + little_endian(0, 2);
  };
  const auto name = [&](std::size_t i) { return begin + std::to_string(100000 + i) + ".npy"; };
  const std::size_t bytes = 30 + name(0).size() + array.size();
  std::string file, directory;
  for (std::size_t i = 0; i < most; ++i) {
    const std::string it = name(mixed(i));
    file += little_endian(0x04034b50, 4) + little_endian(20, 2) + sizes(it.size()) + it + array;
  }
  for (std::size_t i = 0; i < most; ++i) {
    const std::string it = name(mixed(mixed(i)));
    directory += little_endian(0x02014b50, 4) + little_endian(0x140014, 4) + sizes(it.size()) +
                 little_endian(0, 10) + little_endian(bytes * mixed(i), 4) + it;
  }
  const std::size_t begins = file.size(), size = directory.size();
  return file + directory + little_endian(0x06054b50, 4) + little_endian(0, 4) +
         little_endian(most, 2) + little_endian(most, 2) + little_endian(size, 4) +
         little_endian(begins, 4) + little_endian(0, 2);
}

int failures = 0, checks = 0;

// limit: steps for a byte; about 1.3 times what g++ needs, which enters more blocks than clang.
void check(const char* what, const std::string& file, double limit) {
  bool good = false;
  const std::uint64_t needed = steps_of([&] {
    const auto opened = tensor_file::in_memory(file.data(), file.size());
    if (opened)
      static_cast<void>(load(weights, *opened, at("*", "layers.*", names::torch_encoder_layer)));
    good = opened || opened.code() == file_error::duplicate;
    if (!opened) std::printf("# %s\n", opened.error());
  });
  const double of_a_byte = static_cast<double>(needed) / static_cast<double>(file.size());
  good = good && of_a_byte <= limit;
  failures += !good;
  std::printf("%s %d - %s: %zu bytes, %.2f steps for a byte, %.2f allowed\n",
              good ? "ok" : "not ok", ++checks, what, file.size(), of_a_byte, limit);
}

}  // namespace

int main() {
  const auto number = [](std::size_t i) { return std::to_string(100000 + i); };
  const std::string same(length / most - 100, 'a');
  check("long names with one beginning",
        safetensors([&](std::size_t i) { return same + number(i); }), 30);
  std::string escaped;
  while (escaped.size() + 6 < same.size()) escaped += "\\u0061";
  check("names of long escapes", safetensors([&](std::size_t i) { return escaped + number(i); }),
        80);
  std::string quotes;
  while (quotes.size() < same.size()) quotes += "\\\"";
  check("names of short escapes", safetensors([&](std::size_t i) { return quotes + number(i); }),
        100);
  check("spaces",
        safetensors([&](std::size_t i) { return "layers." + std::to_string(i) + ".norm1.weight"; },
                    std::string(same.size(), ' ')),
        45);
  std::string lines(same.size(), '\n');
  check(
      "line ends",
      safetensors([&](std::size_t i) { return "layers." + std::to_string(i) + ".linear1.weight"; },
                  lines),
      100);
  std::string metadata = "\"__metadata__\":{";
  for (std::size_t i = 0; i < most; ++i)
    metadata += (i == 0 ? "\"" : ",\"") + same + number(i) + "\":\"\"";
  check("metadata", safetensors(number, "", metadata + "}"), 30);
  check("two of one name", safetensors([&](std::size_t i) {
          return same + number(i == most - 1 ? mixed(most / 2) : i);
        }),
        25);
  check("an archive", npz(std::string(length / most / 2 - 200, 'a')), 35);
  std::printf("1..%d\n", checks);
  return failures != 0;
}
