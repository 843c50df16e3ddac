// SPDX-License-Identifier: BSL-1.0
// Text for a sink, a callable with (const char*, std::size_t): characters, numbers, and labels,
// which may hold anything. Control characters and invalid UTF-8 become U+FFFD, so that no label can
// damage a document or a terminal.
//
// See inspect/heat_map_svg.hpp and inspect/heat_map_terminal.hpp for the drawings.
#pragma once

#include <umbel/config.hpp>

#include <concepts>
#include <cstddef>
#include <umbel/text/utf8.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// The target of a label: determines which characters are escaped, and whether non-ASCII may stay.
enum class label_for { xml, terminal, ascii };

// Excludes control characters, and the two that XML forbids.
constexpr bool is_printable(unsigned value) {
  return value >= 0x20 && !(value >= 0x7f && value < 0xa0) && value != 0xfffe && value != 0xffff;
}

// In characters; each counts as one column.
constexpr std::size_t label_width(const char* label) {
  std::size_t width = 0;
  for (; *label; label += first_code_point(label).bytes) ++width;
  return width;
}

template <class Sink>
class text_writer {
 public:
  constexpr explicit text_writer(Sink& sink) : sink_(sink) {}

  constexpr void put(char c) {
    if (used_ == sizeof(chars_)) flush();
    chars_[used_++] = c;
  }
  constexpr void put(const char* s) {
    while (*s) put(*s++);
  }
  template <std::unsigned_integral I>
  constexpr void put(I value) {
    char digits[20]{};
    std::size_t count = 0;
    do digits[count++] = static_cast<char>('0' + value % 10);
    while (value /= 10);
    while (count) put(digits[--count]);
  }
  // Right-aligned, with a comma between thousands: "   65,536".
  constexpr void put_aligned(std::size_t value, std::size_t width) {
    std::size_t scale = 1, digits = 1;
    for (; value / scale >= 10; scale *= 10) ++digits;
    const std::size_t length = digits + (digits - 1) / 3;
    for (std::size_t i = length; i < width; ++i) put(' ');
    for (; scale != 0; scale /= 10, --digits) {
      put(static_cast<char>('0' + value / scale % 10));
      if (digits % 3 == 1 && digits != 1) put(',');
    }
  }
  // Left-aligned.
  constexpr void put_aligned(const char* s, std::size_t width) {
    for (; *s; ++s, width -= width != 0) put(*s);
    repeat(width, " ");
  }
  // Three significant digits, at most nine decimals: 0.25, 0.0156, 12.5, 1034.
  constexpr void put(double value) {
    constexpr double most = 1e15;
    if (value < 0) put('-');
    value = value < 0 ? -value : value;
    if (!(value < most)) return put(value != value ? "NaN" : "inf");
    double power = 1;
    while (value > 0 && value * power < 100 && power < 1e9) power *= 10;
    const auto scaled = static_cast<unsigned long long>(value * power + 0.5);
    auto unit = static_cast<unsigned long long>(power);
    put(scaled / unit);
    unsigned long long rest = scaled % unit;
    if (rest != 0) put('.');
    while (rest != 0) {
      unit /= 10;
      put(rest / unit);
      rest %= unit;
    }
  }
  template <class... Parts>
    requires(sizeof...(Parts) > 1)
  constexpr void put(const Parts&... parts) {
    (put(parts), ...);
  }
  constexpr void repeat(std::size_t count, const char* s) {
    while (count-- != 0) put(s);
  }

  constexpr void label(const char* s, label_for where) {
    while (*s) s += one_of_label(s, where);
  }
  // Writes its first character; returns that one's bytes.
  constexpr std::size_t one_of_label(const char* s, label_for where) {
    const code_point c = first_code_point(s);
    const bool is_there = is_printable(c.value) && (c.value != 0xfffd || c.bytes == 3);
    if (where == label_for::ascii && (!is_there || c.value > 0x7e))
      put('?');
    else if (!is_there)
      put("\xef\xbf\xbd");
    else if (where == label_for::xml && c.bytes == 1)
      xml(*s);
    else
      for (std::size_t i = 0; i < c.bytes; ++i) put(s[i]);
    return c.bytes;
  }

  // Passes on the rest: call once, at the end.
  constexpr void flush() {
    if (used_ != 0) sink_(static_cast<const char*>(chars_), used_);
    used_ = 0;
  }

 private:
  constexpr void xml(char c) {
    switch (c) {
      case '&':
        return put("&amp;");
      case '<':
        return put("&lt;");
      case '>':
        return put("&gt;");
      case '"':
        return put("&quot;");
      default:
        put(c);
    }
  }

  Sink& sink_;
  char chars_[512]{};
  std::size_t used_ = 0;
};

// The output of Page::put(writer), made by the compiler, terminated by a zero.
template <class Page, class Sink>
constexpr void put_page(Sink sink) {
  text_writer<Sink> out(sink);
  Page::put(out);
  out.flush();
}
template <std::size_t Length>
struct page {
  char text[Length + 1]{};
};
template <class Page>
inline constexpr auto page_of = [] {
  constexpr std::size_t length = [] {
    std::size_t sum = 0;
    detail::put_page<Page>([&](const char*, std::size_t count) { sum += count; });
    return sum;
  }();
  page<length> made;
  std::size_t at = 0;
  detail::put_page<Page>([&](const char* from, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) made.text[at++] = from[i];
  });
  return made;
}();

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
