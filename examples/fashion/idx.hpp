// SPDX-License-Identifier: BSL-1.0
// The IDX format of the MNIST family (unsigned bytes only): a big-endian magic number, one 32-bit
// size per axis, the data, the end of the file. Anything else is refused: a header that promises
// more or less than the file holds never reaches the model.
//   http://yann.lecun.com/exdb/mnist/ (the format)
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "files.hpp"

namespace fashion::idx {

using bytes = std::vector<std::uint8_t>;

// The first four bytes: two zeros, the element type (8: unsigned byte), the number of axes.
constexpr std::uint32_t magic(std::size_t axes) {
  return 0x0800U + static_cast<std::uint32_t>(axes);
}

inline std::uint32_t big_endian(const bytes& file, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | file[at + i];
  return value;
}

// The data after the header, if the file holds exactly `expected` along every axis. `axis_names`
// are for the message: {"pictures", "rows", "columns"}.
template <std::size_t Axes>
bytes read(const std::filesystem::path& path, const std::array<std::size_t, Axes>& expected,
           const std::array<const char*, Axes>& axis_names) {
  bytes file = read_whole(path);
  constexpr std::size_t header = 4 + 4 * Axes;
  const std::string holds = "the file holds " + std::to_string(file.size()) + " bytes, ";
  if (file.size() < header) {
    throw file_error(path, holds + "expected a header of " + std::to_string(header));
  }
  if (const std::uint32_t found = big_endian(file, 0); found != magic(Axes)) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "the magic number is 0x%08x, expected 0x%08x", found,
                  magic(Axes));
    throw file_error(path, text.data());
  }
  std::uint64_t size = header;
  std::uint64_t product = 1;
  for (std::size_t axis = 0; axis < Axes; ++axis) {
    const std::uint32_t found = big_endian(file, 4 + 4 * axis);
    if (found != expected[axis]) {
      throw file_error(path, "the header says " + std::to_string(found) + " " + axis_names[axis] +
                                 ", expected " + std::to_string(expected[axis]));
    }
    product *= found;
  }
  size += product;
  if (file.size() != size) {
    throw file_error(path, holds + "its header asks for " + std::to_string(size) +
                               (file.size() < size ? " (truncated)" : " (trailing bytes)"));
  }
  file.erase(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(header));
  return file;
}

// Row-major pictures, one byte a pixel, one after the other.
inline bytes read_images(const std::filesystem::path& path, std::size_t count, std::size_t rows,
                         std::size_t columns) {
  return read<3>(path, {count, rows, columns}, {"pictures", "rows", "columns"});
}

// One label a picture, each below `classes`.
inline bytes read_labels(const std::filesystem::path& path, std::size_t count,
                         std::size_t classes) {
  bytes labels = read<1>(path, {count}, {"labels"});
  const auto bad = std::find_if(labels.begin(), labels.end(),
                                [&](std::uint8_t label) { return label >= classes; });
  if (bad != labels.end()) {
    throw file_error(path, "label " + std::to_string(bad - labels.begin()) + " is " +
                               std::to_string(*bad) + ", expected 0 to " +
                               std::to_string(classes - 1));
  }
  return labels;
}

}  // namespace fashion::idx
