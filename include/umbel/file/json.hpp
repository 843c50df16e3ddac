// SPDX-License-Identifier: BSL-1.0
// JSON's tokens (RFC 8259) for a reader that knows what must follow: no tree, no recursion, nothing
// skipped unchecked. Its input is checked UTF-8.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>
#include <umbel/file/numbers.hpp>
#include <umbel/file/result.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

class json_reader {
 public:
  constexpr json_reader(const unsigned char* first, std::size_t bytes, std::size_t at = 0) noexcept
      : first_(first), at_(first + at), end_(first + bytes) {}

  // In bytes from the start.
  [[nodiscard]] constexpr std::size_t position() const {
    return static_cast<std::size_t>(at_ - first_);
  }
  [[nodiscard]] constexpr bool at_end() {
    skip_space();
    return at_ == end_;
  }
  constexpr bool take(char c) {
    skip_space();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  constexpr file_problem string(tensor_name& text) {
    constexpr file_problem bad_escape{file_error::malformed, "a wrong escape in a text"};
    if (!take('"')) return {file_error::malformed, "a text in quotes expected"};
    const unsigned char* const first = at_;
    bool escaped = false;
    for (;;) {
      if (at_ == end_) return {file_error::malformed, "a text without an end"};
      const unsigned char c = *at_;
      if (c == '"') break;
      if (c < 0x20) return {file_error::malformed, "a control character in a text"};
      ++at_;
      if (c != '\\') {
        skip_plain();
        continue;
      }
      escaped = true;
      if (!escape()) return bad_escape;
      ++at_;
    }
    text = tensor_name(first, static_cast<std::size_t>(at_++ - first), escaped);
    return {};
  }

  // Non-negative, without fraction or exponent.
  constexpr file_problem integer(std::uint64_t& value) {
    skip_space();
    value = 0;
    bool zero_first = false, goes_on = false;
    std::size_t digits = 0;
    for (; at_ != end_; ++at_, ++digits) {
      const unsigned char c = *at_;
      goes_on = c == '.' || c == 'e' || c == 'E';
      if (c < '0' || c > '9') break;
      zero_first = zero_first || (digits == 1 && value == 0);
      if (!multiply(value, 10) || !add(value, c - std::uint64_t{'0'}))
        return {file_error::too_large, "a number that overflows"};
    }
    if (digits == 0 || zero_first || goes_on)
      return {file_error::malformed, "an integer expected, not negative"};
    return {};
  }

 private:
  constexpr void skip_space() {
    for (; at_ != end_; ++at_) {
      if (!__builtin_is_constant_evaluated())
        while (end_ - at_ >= 8 && load_8(at_) == each_byte(' ')) at_ += 8;
      if (at_ == end_) return;
      const unsigned char c = *at_;
      if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return;
    }
  }
  // By sixteens, until some contain a character that needs more than copying.
  constexpr void skip_plain() {
    if (__builtin_is_constant_evaluated()) return;
    const auto special = [](std::uint64_t bytes) {
      return ((bytes ^ each_byte('"')) - each_byte(1)) |
             ((bytes ^ each_byte('\\')) - each_byte(1)) | (bytes - each_byte(0x20));
    };
    for (; end_ - at_ >= 16; at_ += 16) {
      const std::uint64_t a = load_8(at_), b = load_8(at_ + 8);
      if ((((special(a) & ~a) | (special(b) & ~b)) & each_byte(0x80)) != 0) return;
    }
  }
  // After the \, through its last character.
  constexpr bool escape() {
    if (at_ == end_) return false;
    switch (*at_) {
      case '"':
      case '\\':
      case '/':
      case 'b':
      case 'f':
      case 'n':
      case 'r':
      case 't':
        return true;
      case 'u':
        return code_point();
      default:
        return false;
    }
  }
  constexpr bool code_point() {
    if (end_ - at_ < 5) return false;
    const int high = four_digits(at_ + 1);
    if (high < 0 || (high >= 0xdc00 && high < 0xe000)) return false;
    at_ += 4;
    if (high < 0xd800 || high >= 0xe000) return true;
    // The first half of a surrogate pair: the other must follow.
    if (end_ - at_ < 7 || at_[1] != '\\' || at_[2] != 'u') return false;
    const int low = four_digits(at_ + 3);
    at_ += 6;
    return low >= 0xdc00 && low < 0xe000;
  }

  const unsigned char *first_, *at_, *end_;
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
