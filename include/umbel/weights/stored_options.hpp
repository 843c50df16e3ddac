// SPDX-License-Identifier: BSL-1.0
// The options that a file has for its layers, one text in its metadata with the key umbel.options:
//
//   layers.*: heads=12, norm_first=false, norm_epsilon=1e-12; decoder.0: rope=split_halves
//
// Paths are those of layers in the file, * a number. Spaces around a piece don't count.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <umbel/file/text.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

template <class File>
concept has_metadata = requires(const File& file) { file.metadata("checksum"); };

// A path, the name of an option or its value, zero-terminated.
struct stored_piece {
  static constexpr std::size_t most = 255;
  char chars[most + 1]{};
  std::size_t size = 0;
};

// Reads one option after the other.
class stored_options {
 public:
  static constexpr std::size_t longest = 262144;  // bounds the time for a file

  constexpr explicit stored_options(const tensor_name& text) noexcept : from_(text.reader()) {}
  // False at the end, or if the rest is malformed.
  constexpr bool next() noexcept {
    if (problem_ != nullptr) return false;
    is_first = begins_entry_;
    if (is_first) {
      const bool is_path = read(path) && stop_ == ':';
      if (problem_ == nullptr && stop_ < 0 && path.size == 0) return false;
      if (!is_path) return fail("a path and a colon expected");
    }
    if (!read(name) || stop_ != '=') return fail("the name of an option and = expected");
    if (!read(value) || stop_ == ':' || stop_ == '=')
      return fail("the value of an option expected");
    begins_entry_ = stop_ != ',';
    return true;
  }
  // The expected text if the rest is malformed, otherwise null; and the character, from 1.
  [[nodiscard]] constexpr const char* problem() const noexcept { return problem_; }
  [[nodiscard]] constexpr std::size_t place() const noexcept { return place_; }

  // Of the last option read; is it the first with its path?
  stored_piece path, name, value;
  bool is_first = false;

 private:
  constexpr bool fail(const char* words) noexcept {
    if (problem_ == nullptr) problem_ = words;
    return false;
  }
  // Up to a character that ends a piece; false if it is empty or too long.
  constexpr bool read(stored_piece& piece) noexcept {
    piece = {};
    std::size_t used = 0;  // without the spaces at the end
    for (;;) {
      stop_ = from_.next();
      ++place_;
      if (stop_ < 0 || stop_ == ':' || stop_ == '=' || stop_ == ',' || stop_ == ';') break;
      if (stop_ < ' ') return fail("a printable character expected");
      if (stop_ == ' ' && piece.size == 0) continue;
      if (piece.size == stored_piece::most) return fail("a shorter word expected");
      piece.chars[piece.size++] = static_cast<char>(stop_);
      if (stop_ != ' ') used = piece.size;
    }
    while (piece.size > used) piece.chars[--piece.size] = '\0';
    return used != 0;
  }

  text_reader from_;
  int stop_ = 0;
  bool begins_entry_ = true;
  std::size_t place_ = 0;
  const char* problem_ = nullptr;
};

// A number as text, 0.125 or 1e-12, not negative. False if it is anything else.
constexpr bool read_number(const char* text, double& value) noexcept {
  value = 0;
  int exponent = 0, digits = 0;
  bool has_dot = false;
  for (; (*text >= '0' && *text <= '9') || (*text == '.' && !has_dot); ++text) {
    if (*text == '.') {
      has_dot = true;
      continue;
    }
    value = value * 10 + (*text - '0');
    exponent -= has_dot;
    ++digits;
  }
  if (digits == 0) return false;
  if (*text == 'e' || *text == 'E') {
    const bool is_negative = *++text == '-';
    if (*text == '-' || *text == '+') ++text;
    if (*text == '\0') return false;
    int power = 0;
    for (; *text >= '0' && *text <= '9'; ++text)
      power = power < 1000 ? power * 10 + *text - '0' : 1000;
    exponent += is_negative ? -power : power;
  }
  for (; exponent > 0; --exponent) value *= 10;
  for (; exponent < 0; ++exponent) value /= 10;
  return *text == '\0';
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
