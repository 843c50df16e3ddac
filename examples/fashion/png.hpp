// SPDX-License-Identifier: BSL-1.0
// A PNG of a small picture as a data URI: RGBA, stored (uncompressed) deflate blocks, so that the
// page needs no library and no second file. Not for big pictures: one stored block holds 65,535
// bytes.
//   PNG: ISO/IEC 15948; zlib: RFC 1950; deflate: RFC 1951; base64: RFC 4648
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "colour.hpp"

namespace fashion::png {

inline void put_big_endian(std::string& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
}

constexpr std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char byte : bytes) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}
static_assert(crc32("123456789") == 0xcbf43926);

constexpr std::uint32_t adler32(std::string_view bytes) {
  std::uint32_t low = 1;
  std::uint32_t high = 0;
  for (const char byte : bytes) {
    low = (low + static_cast<std::uint8_t>(byte)) % 65521;
    high = (high + low) % 65521;
  }
  return high << 16 | low;
}
static_assert(adler32("Wikipedia") == 0x11e60398);

inline void put_chunk(std::string& file, std::string_view type, std::string_view data) {
  put_big_endian(file, static_cast<std::uint32_t>(data.size()));
  const std::string body = std::string{type}.append(data);
  file += body;
  put_big_endian(file, crc32(body));
}

// A zlib stream that stores these bytes uncompressed.
inline std::string stored(std::string_view bytes) {
  if (bytes.size() > 0xffff) throw std::length_error{"png: the picture is too big for one block"};
  const auto size = static_cast<unsigned>(bytes.size());
  std::string stream{'\x78', '\x01', '\x01'};
  for (const unsigned value : {size, ~size}) {
    stream += static_cast<char>(value & 0xff);
    stream += static_cast<char>(value >> 8 & 0xff);
  }
  stream += bytes;
  put_big_endian(stream, adler32(bytes));
  return stream;
}

inline std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      three = three << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      result += i + k <= bytes.size() ? digits[three >> (18 - 6 * k) & 63] : '=';
    }
  }
  return result;
}

// The picture whose pixel is pixel(row, column), as "data:image/png;base64,...".
template <class Pixel>
std::string data_uri(std::uint32_t rows, std::uint32_t columns, Pixel pixel) {
  std::string header;
  put_big_endian(header, columns);
  put_big_endian(header, rows);
  header += std::string{"\x08\x06\0\0\0", 5};  // 8 bits, RGBA, deflate, no filter, not interlaced

  std::string data;
  for (std::uint32_t row = 0; row < rows; ++row) {
    data += '\0';  // this row is not filtered
    for (std::uint32_t column = 0; column < columns; ++column) {
      const colour c = pixel(row, column);
      for (const std::uint8_t byte : {c.red, c.green, c.blue, c.alpha}) {
        data += static_cast<char>(byte);
      }
    }
  }
  std::string file = "\x89PNG\r\n\x1a\n";
  put_chunk(file, "IHDR", header);
  put_chunk(file, "IDAT", stored(data));
  put_chunk(file, "IEND", "");
  return "data:image/png;base64," + base64(file);
}

}  // namespace fashion::png
