// SPDX-License-Identifier: BSL-1.0
// UTF-8 (RFC 3629): checks it and reads code points.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

UMBEL_INLINE std::uint64_t load_8(const unsigned char* at) noexcept {
  std::uint64_t bytes;
  __builtin_memcpy(&bytes, at, sizeof(bytes));
  return UMBEL_LITTLE_ENDIAN ? bytes : __builtin_bswap64(bytes);
}
constexpr std::uint64_t each_byte(unsigned char value) noexcept { return ~0ull / 255 * value; }
// Is one of the eight c?
constexpr bool has_byte(std::uint64_t bytes, char c) noexcept {
  const std::uint64_t apart = bytes ^ each_byte(static_cast<unsigned char>(c));
  return ((apart - each_byte(1)) & ~apart & each_byte(0x80)) != 0;
}

// The bytes of the code point that begins with this one; 0 if none does.
constexpr int bytes_of_code_point(unsigned lead) {
  return lead < 0x80                   ? 1
         : lead >= 0xc2 && lead < 0xe0 ? 2
         : lead >= 0xe0 && lead < 0xf0 ? 3
         : lead >= 0xf0 && lead < 0xf5 ? 4
                                       : 0;
}

// The first byte that is not valid UTF-8 (overlong forms and surrogates aren't, RFC 3629), or the
// end.
constexpr const unsigned char* end_of_utf8(const unsigned char* at, const unsigned char* end) {
  while (at != end) {
    if (!__builtin_is_constant_evaluated() && end - at >= 8 &&
        (load_8(at) & each_byte(0x80)) == 0) {
      at += 8;
      continue;
    }
    const unsigned lead = *at;
    const std::ptrdiff_t more = bytes_of_code_point(lead) - 1;
    if (more < 0 || end - at <= more) return at;
    for (std::ptrdiff_t i = 1; i <= more; ++i)
      if (at[i] >> 6 != 2) return at;
    // After these four the second byte has a smaller range.
    if ((lead == 0xe0 && at[1] < 0xa0) || (lead == 0xed && at[1] >= 0xa0) ||
        (lead == 0xf0 && at[1] < 0x90) || (lead == 0xf4 && at[1] >= 0x90))
      return at;
    at += more + 1;
  }
  return at;
}

struct code_point {
  unsigned value;
  std::size_t bytes;
};

// The first code point of non-empty text; one byte of U+FFFD if invalid.
constexpr code_point first_code_point(const char* s) {
  const auto byte = [s](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned lead = byte(0);
  const auto bytes = static_cast<std::size_t>(bytes_of_code_point(lead));
  constexpr code_point none{0xfffd, 1};
  if (bytes == 0) return none;
  unsigned value = bytes == 1 ? lead : lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (byte(i) >> 6 != 2) return none;  // also the terminating zero
    value = value << 6 | (byte(i) & 0x3fu);
  }
  const bool too_long = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  return too_long || surrogate || value > 0x10ffff ? none : code_point{value, bytes};
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
