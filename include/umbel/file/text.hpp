// SPDX-License-Identifier: BSL-1.0
// Names as stored in a file: UTF-8, possibly with JSON escapes. They are compared and copied
// without being unescaped into memory first. A mapped file may change at any time, so earlier
// checks aren't trusted: a name may change its text but never runs past its last byte.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/shape/verdict.hpp>
#include <umbel/text/utf8.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {

// The value of a hexadecimal digit, by its character; negative if it is not one.
struct hexadecimal_digits {
  signed char value[256];
  constexpr hexadecimal_digits() noexcept : value{} {
    for (signed char& v : value) v = -1;
    for (int i = 0; i < 10; ++i) value['0' + i] = static_cast<signed char>(i);
    for (int i = 0; i < 6; ++i) value['a' + i] = value['A' + i] = static_cast<signed char>(10 + i);
  }
};
inline constexpr hexadecimal_digits hexadecimal;

// The value of four hexadecimal digits; negative if one is not a digit.
constexpr int four_digits(const unsigned char* at) {
  const int a = hexadecimal.value[at[0]], b = hexadecimal.value[at[1]];
  const int c = hexadecimal.value[at[2]], d = hexadecimal.value[at[3]];
  return (a | b | c | d) < 0 ? -1 : a * 4096 + b * 256 + c * 16 + d;
}

// The bytes of a name with escapes replaced. JSON has been checked before (json.hpp); an invalid
// escape, in a changed file, ends the name.
class text_reader {
 public:
  constexpr text_reader(const unsigned char* first, std::size_t bytes, bool escaped) noexcept
      : at_(first), end_(first + bytes), escaped_(escaped) {}

  // Negative at the end.
  constexpr int next() noexcept {
    if (waiting_ != 0) {  // the rest of a character, six bits a byte
      waiting_ -= 6;
      return static_cast<int>(0x80 | (code_ >> waiting_ & 0x3f));
    }
    if (at_ == end_) return -1;
    const int c = *at_++;
    return escaped_ && c == '\\' ? escape() : c;
  }
  // The next eight at once, the first in the lowest byte; false, without reading any, if fewer
  // remain before the end or the next escape.
  bool next_8(std::uint64_t& bytes) noexcept {
    if (waiting_ != 0 || end_ - at_ < 8) return false;
    bytes = load_8(at_);
    if (escaped_ && has_byte(bytes, '\\')) return false;
    at_ += 8;
    return true;
  }
  // Skips equal bytes, by eights.
  static void skip_equal(text_reader& a, text_reader& b) noexcept {
    while (a.waiting_ == 0 && b.waiting_ == 0 && a.end_ - a.at_ >= 8 && b.end_ - b.at_ >= 8) {
      const std::uint64_t bytes = load_8(a.at_);
      if (bytes != load_8(b.at_)) return;
      if ((a.escaped_ || b.escaped_) && has_byte(bytes, '\\')) return;
      a.at_ += 8;
      b.at_ += 8;
    }
  }

 private:
  constexpr int ended() noexcept {
    at_ = end_;
    return -1;
  }
  constexpr int escape() noexcept {
    if (at_ == end_) return -1;
    switch (const int c = *at_++) {
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'u':
        return code_point();
      default:
        return c;
    }
  }
  // Returns the first byte of its UTF-8.
  constexpr int code_point() noexcept {
    const int first = end_ - at_ < 4 ? -1 : four_digits(at_);
    if (first < 0) return ended();
    at_ += 4;
    code_ = static_cast<unsigned>(first);
    if (code_ >= 0xd800 && code_ < 0xdc00) {  // a surrogate pair; the other half follows
      const int second = end_ - at_ < 6 ? -1 : four_digits(at_ + 2);
      if (second < 0xdc00 || second >= 0xe000) return ended();
      code_ = 0x10000 + ((code_ - 0xd800) << 10) + (static_cast<unsigned>(second) - 0xdc00);
      at_ += 6;
    }
    if (code_ < 0x80) return static_cast<int>(code_);
    waiting_ = code_ < 0x800 ? 6 : code_ < 0x10000 ? 12 : 18;
    const unsigned lead = waiting_ == 6 ? 0xc0 : waiting_ == 12 ? 0xe0 : 0xf0;
    return static_cast<int>(lead | code_ >> waiting_);
  }

  const unsigned char *at_, *end_;
  bool escaped_;
  unsigned code_ = 0, waiting_ = 0;
};

UMBEL_SAYS(expects_text_not, "expects text, not");
UMBEL_SAYS(is_not_a_string_so_copy_it_by_copy_to,
           "is not a string; copy its text into an array by copy_to");
}  // namespace detail

// The name of a tensor, in place in the file. It must not outlive the file's memory.
class tensor_name {
 public:
  tensor_name() = default;
  constexpr tensor_name(const unsigned char* first, std::size_t bytes,
                        bool escaped = false) noexcept
      : first_(first), bytes_(bytes), escaped_(escaped) {}
  // From zero-terminated text, or anything with data() and size(): for comparisons.
  tensor_name(const char* text) noexcept
      : first_(reinterpret_cast<const unsigned char*>(text)), bytes_(__builtin_strlen(text)) {}
  template <class Text>
    requires requires(const Text& t) { static_cast<const char*>(t.data()), t.size(); }
  tensor_name(const Text& text) noexcept
      : first_(reinterpret_cast<const unsigned char*>(text.data())), bytes_(text.size()) {}

  // From a number, or as a string: refused.
  template <class X>
    requires std::is_arithmetic_v<X>
  constexpr tensor_name(X) noexcept {
    using verdict = detail::verdict<detail::never<X>, tensor_name, detail::say::expects_text_not,
                                    detail::element<X>>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  }
  template <class X>
    requires requires { typename X::traits_type; }
  constexpr operator X() const {
    using verdict = detail::verdict<detail::never<X>, tensor_name,
                                    detail::say::is_not_a_string_so_copy_it_by_copy_to>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    return X{};
  }

  // Copies the text and a zero, cut to `capacity` bytes in all. Returns the bytes of the whole
  // text.
  constexpr std::size_t copy_to(char* out, std::size_t capacity) const noexcept {
    std::size_t size = 0;
    if (!escaped_) {
      for (; size < bytes_ && size + 1 < capacity; ++size)
        out[size] = static_cast<char>(first_[size]);
      if (capacity != 0) out[size] = '\0';
      return bytes_;
    }
    detail::text_reader from = reader();
    for (int c = from.next(); c >= 0; c = from.next(), ++size)
      if (size + 1 < capacity) out[size] = static_cast<char>(c);
    if (capacity != 0) out[size < capacity ? size : capacity - 1] = '\0';
    return size;
  }
  // Has it more than `most` bytes? Reads only so many.
  [[nodiscard]] constexpr bool is_longer(std::size_t most) const noexcept {
    if (!escaped_ || bytes_ <= most) return bytes_ > most;
    detail::text_reader from = reader();
    while (from.next() >= 0)
      if (most-- == 0) return true;
    return false;
  }
  // In bytes of UTF-8.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return copy_to(nullptr, 0); }

  // Negative if it sorts before the other, byte by byte; 0 if equal.
  [[nodiscard]] constexpr int compare(const tensor_name& other) const noexcept {
    detail::text_reader a = reader(), b = other.reader();
    for (;;) {
      if (!__builtin_is_constant_evaluated()) detail::text_reader::skip_equal(a, b);
      const int x = a.next(), y = b.next();
      if (x != y) return x - y;
      if (x < 0) return 0;
    }
  }
  friend constexpr bool operator==(const tensor_name& a, const tensor_name& b) noexcept {
    return a.compare(b) == 0;
  }
  friend bool operator==(const tensor_name& a, const char* b) noexcept {
    return a.compare(tensor_name(b)) == 0;
  }

  // Its bytes one by one: next() returns each, then -1.
  [[nodiscard]] constexpr detail::text_reader reader() const noexcept {
    return {first_, bytes_, escaped_};
  }

 private:
  const unsigned char* first_ = nullptr;
  std::size_t bytes_ = 0;
  bool escaped_ = false;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
