// SPDX-License-Identifier: BSL-1.0
// What the readers make of many files, for another reader to compare (differential.py). Standard
// input: each file's size, four bytes, and its bytes. A file is a line
//   refused SENTENCE     or     tensors N
// and each tensor of it one: its name in hexadecimal digits, its type, what is wrong with its
// elements or the CRC-32 of them as doubles, every NaN the same, and its extents.
#include <umbel/files.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace umbel;

std::string hexadecimal(const tensor_name& name) {
  std::string text;
  char digits[3];
  auto from = name.reader();
  for (int c = from.next(); c >= 0; c = from.next()) {
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned>(c));
    text += digits;
  }
  return text.empty() ? "-" : text;
}

std::string content(const stored_tensor& x) {
  constexpr std::size_t most = 1 << 20;
  if (x.type == stored_type::other) return "unread";
  if (x.size() > most) return "large";
  std::vector<double> numbers(x.size());
  const auto done = x.read(numbers.data(), numbers.size());
  if (!done) return "damaged";
  for (double& number : numbers)
    if (number != number) number = std::numeric_limits<double>::quiet_NaN();
  char text[9];
  std::snprintf(text, sizeof(text), "%08x",
                static_cast<unsigned>(umbel::detail::crc32(
                    reinterpret_cast<const unsigned char*>(numbers.data()), 8 * numbers.size())));
  return text;
}

void list(const std::vector<unsigned char>& bytes) {
  const auto file = tensor_file::in_memory(bytes.data(), bytes.size());
  if (!file) return void(std::printf("refused %s\n", file.error()));
  std::printf("tensors %zu\n", file->size());
  for (const stored_tensor& x : *file) {
    std::printf("%s %s %s", hexadecimal(x.name).c_str(), hexadecimal(x.type_name).c_str(),
                content(x).c_str());
    for (std::size_t i = 0; i < x.rank; ++i) std::printf(" %zu", x.extents[i]);
    std::printf("\n");
  }
}

}  // namespace

int main() {
  unsigned char size[4];
  while (std::fread(size, 1, 4, stdin) == 4) {
    std::vector<unsigned char> bytes(umbel::detail::load_integer<std::uint32_t>(size));
    if (std::fread(bytes.data(), 1, bytes.size(), stdin) != bytes.size()) return 1;
    list(bytes);
  }
}
