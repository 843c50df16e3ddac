// SPDX-License-Identifier: BSL-1.0
// Reads and writes whole files: a file is read completely or refused with one message, and a set of
// files is written completely or not at all. Independent of formats.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "system.hpp"

namespace fashion {

// Unusable input: the message names it, with what was expected and found.
struct input_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline input_error file_error(const std::filesystem::path& file, const std::string& wrong) {
  return input_error{file.string() + ": " + wrong};
}

// All bytes of a regular file.
inline std::vector<std::uint8_t> read_whole(const std::filesystem::path& file) {
  std::error_code failed;
  const auto status = std::filesystem::status(file, failed);
  if (!std::filesystem::exists(status)) {
    const bool packed = std::filesystem::exists(file.string() + ".gz", failed);
    throw file_error(file, packed ? "not found (only the .gz is there: unpack it with gunzip first)"
                                  : "not found");
  }
  if (!std::filesystem::is_regular_file(status)) throw file_error(file, "not a regular file");

  const auto size = std::filesystem::file_size(file, failed);
  std::ifstream in{file, std::ios::binary};
  if (failed || !in) throw file_error(file, "cannot be opened for reading");
  constexpr std::uintmax_t largest = std::uintmax_t{1} << 30;
  if (size > largest) {
    throw file_error(file,
                     "holds " + std::to_string(size) + " bytes, more than any file of the set");
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in || in.gcount() != static_cast<std::streamsize>(bytes.size())) {
    throw file_error(file, "could not be read to its end");
  }
  return bytes;
}

// Ensures that the folder exists (or makes it) and accepts new files.
inline void make_writable_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (!std::filesystem::is_directory(folder)) {
    throw file_error(folder, "cannot be made a folder for the output" +
                                 (failed ? " (" + failed.message() + ")" : std::string{}));
  }
  if (!system::can_write_in(folder)) {
    throw file_error(folder, "the output folder is not writable");
  }
}

struct named_text {
  std::filesystem::path file;
  std::string text;
};

// Writes every text to a temporary file first, then moves them all: no half file stays.
inline void write_all(const std::vector<named_text>& outputs) {
  const auto beside = [](const named_text& output) {
    return std::filesystem::path{output.file.string() + ".part" +
                                 std::to_string(system::process_number())};
  };
  const auto sweep = [&] {
    std::error_code ignored;
    for (const auto& output : outputs) std::filesystem::remove(beside(output), ignored);
  };
  for (const auto& output : outputs) {
    std::ofstream out{beside(output), std::ios::binary | std::ios::trunc};
    out.write(output.text.data(), static_cast<std::streamsize>(output.text.size()));
    out.close();
    if (!out) {
      sweep();
      throw file_error(output.file, "cannot be written");
    }
  }
  for (const auto& output : outputs) {
    std::error_code failed;
    std::filesystem::rename(beside(output), output.file, failed);
    if (failed) {
      sweep();
      throw file_error(output.file, "cannot be written (" + failed.message() + ")");
    }
  }
}

}  // namespace fashion
