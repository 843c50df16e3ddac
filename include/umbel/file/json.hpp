// SPDX-License-Identifier: BSL-1.0
// The words of JSON (RFC 8259) for a reader that knows what has to come next: there is no tree, no
// recursion, and nothing is skipped that was not checked. It begins in UTF-8 that has been checked.
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

  // In bytes from the first one.
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
    for (; at_ != end_ && *at_ != '"'; ++at_) {
      if (*at_ < 0x20) return {file_error::malformed, "a control character in a text"};
      if (*at_ != '\\') continue;
      escaped = true;
      ++at_;
      if (!escape()) return bad_escape;
    }
    if (at_ == end_) return {file_error::malformed, "a text without an end"};
    text = tensor_name(first, static_cast<std::size_t>(at_++ - first), escaped);
    return {};
  }

  // Not negative, without a fraction or an exponent.
  constexpr file_problem integer(std::uint64_t& value) {
    skip_space();
    const unsigned char* const first = at_;
    value = 0;
    for (; at_ != end_ && *at_ >= '0' && *at_ <= '9'; ++at_)
      if (!multiply(value, 10) || !add(value, *at_ - std::uint64_t{'0'}))
        return {file_error::too_large, "a number that overflows"};
    const bool zero_first = at_ - first > 1 && *first == '0';
    const bool goes_on = at_ != end_ && (*at_ == '.' || *at_ == 'e' || *at_ == 'E');
    if (at_ == first || zero_first || goes_on)
      return {file_error::malformed, "an integer expected, not negative"};
    return {};
  }

 private:
  constexpr void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  // After the \, up to its last character.
  constexpr bool escape() {
    if (at_ == end_) return false;
    if (*at_ != 'u') {
      for (const char c : {'"', '\\', '/', 'b', 'f', 'n', 'r', 't'})
        if (*at_ == c) return true;
      return false;
    }
    if (end_ - at_ < 5) return false;
    const int high = four_digits(at_ + 1);
    if (high < 0 || (high >= 0xdc00 && high < 0xe000)) return false;
    at_ += 4;
    if (high < 0xd800 || high >= 0xe000) return true;
    // The first half of a surrogate pair: the other has to follow.
    if (end_ - at_ < 7 || at_[1] != '\\' || at_[2] != 'u') return false;
    const int low = four_digits(at_ + 3);
    at_ += 6;
    return low >= 0xdc00 && low < 0xe000;
  }

  const unsigned char *first_, *at_, *end_;
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
