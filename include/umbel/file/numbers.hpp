// SPDX-License-Identifier: BSL-1.0
// The element types of files: read from bytes at any address in either byte order, and converted:
// exactly if the requested type holds the number, else rounded once to nearest, ties to even.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/simd/half.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// The element type of a tensor in a file. other: listed but not readable.
enum class stored_type : unsigned char {
  other,
  boolean,
  uint8,
  int8,
  int16,
  int32,
  int64,
  float16,
  bfloat16,
  float32,
  float64
};

namespace detail {

// Types that elements may be read as.
template <class T>
concept readable_as = std::is_same_v<T, float> || std::is_same_v<T, double> || half<T> ||
                      std::is_same_v<T, std::int8_t> || std::is_same_v<T, std::int32_t>;

constexpr bool is_floating(stored_type type) { return type >= stored_type::float16; }

// Bytes per element; 0 if not readable.
constexpr std::size_t bytes_of(stored_type type) {
  switch (type) {
    case stored_type::other:
      return 0;
    case stored_type::boolean:
    case stored_type::uint8:
    case stored_type::int8:
      return 1;
    case stored_type::int16:
    case stored_type::float16:
    case stored_type::bfloat16:
      return 2;
    case stored_type::int32:
    case stored_type::float32:
      return 4;
    case stored_type::int64:
    case stored_type::float64:
      return 8;
  }
  return 0;
}

// A byte of a file that other programs may change: read once, however often the value is used.
constexpr unsigned char read_once(const unsigned char* from) {
  if (__builtin_is_constant_evaluated()) return *from;
  return *static_cast<const volatile unsigned char*>(from);
}
// An unsigned integer of a header, little-endian, at any address.
template <class U>
constexpr U load_integer(const unsigned char* from) {
  U value = 0;
  for (std::size_t i = 0; i < sizeof(U); ++i)
    value = static_cast<U>(value | static_cast<U>(static_cast<U>(read_once(from + i)) << 8 * i));
  return value;
}
// The same in one load instruction, for elements.
template <class U>
UMBEL_INLINE U load_bits(const unsigned char* from, bool swap) {
  U value;
  __builtin_memcpy(&value, from, sizeof(U));
  if constexpr (sizeof(U) == 2)
    return swap ? __builtin_bswap16(value) : value;
  else if constexpr (sizeof(U) == 4)
    return swap ? __builtin_bswap32(value) : value;
  else if constexpr (sizeof(U) == 8)
    return swap ? __builtin_bswap64(value) : value;
  else
    return value;
}

struct load_boolean {
  constexpr std::int8_t operator()(const unsigned char* from, bool) const { return *from != 0; }
};

// f(load): load(from, swap) returns an element of this type as its C++ type.
template <class F>
constexpr auto with_load(stored_type type, const F& f) {
  switch (type) {
    case stored_type::boolean:
      return f(load_boolean{});
    case stored_type::uint8:
      return f([](const unsigned char* from, bool) -> std::uint8_t { return *from; });
    case stored_type::int8:
      return f([](const unsigned char* from, bool) { return static_cast<std::int8_t>(*from); });
    case stored_type::int16:
      return f([](const unsigned char* from, bool swap) {
        return static_cast<std::int16_t>(load_bits<std::uint16_t>(from, swap));
      });
    case stored_type::int32:
      return f([](const unsigned char* from, bool swap) {
        return static_cast<std::int32_t>(load_bits<std::uint32_t>(from, swap));
      });
    case stored_type::int64:
      return f([](const unsigned char* from, bool swap) {
        return static_cast<std::int64_t>(load_bits<std::uint64_t>(from, swap));
      });
    case stored_type::float16:
      return f([](const unsigned char* from, bool swap) {
        return __builtin_bit_cast(float16, load_bits<std::uint16_t>(from, swap));
      });
    case stored_type::bfloat16:
      return f([](const unsigned char* from, bool swap) {
        return __builtin_bit_cast(bfloat16, load_bits<std::uint16_t>(from, swap));
      });
    case stored_type::float64:
      return f([](const unsigned char* from, bool swap) {
        return __builtin_bit_cast(double, load_bits<std::uint64_t>(from, swap));
      });
    case stored_type::float32:
    case stored_type::other:  // refused before
      break;
  }
  return f([](const unsigned char* from, bool swap) {
    return __builtin_bit_cast(float, load_bits<std::uint32_t>(from, swap));
  });
}

// The bits of the nearest 16-bit number, ties to even, with Fraction bits of fraction. Directly: a
// detour through float would round twice.
template <int Fraction>
constexpr std::uint16_t rounded_to_16_bits(double value) {
  constexpr int bias = (1 << (14 - Fraction)) - 1, most = 2 * bias + 1;  // of the exponent
  constexpr auto infinite = static_cast<unsigned>(most) << Fraction;
  const auto bits = __builtin_bit_cast(std::uint64_t, value);
  const auto sign = static_cast<unsigned>(bits >> 48) & 0x8000u;
  const std::uint64_t size = bits & ~(std::uint64_t{1} << 63);
  const int exponent = static_cast<int>(size >> 52) - 1023 + bias;
  const auto finish = [sign](unsigned rest) { return static_cast<std::uint16_t>(sign | rest); };
  if (size > std::uint64_t{0x7ff} << 52) {  // a NaN stays one, and becomes quiet
    const auto payload = static_cast<unsigned>(size >> (52 - Fraction)) & ((1u << Fraction) - 1);
    return finish(infinite | 1u << (Fraction - 1) | payload);
  }
  if (exponent >= most) return finish(infinite);
  if (exponent < -Fraction) return finish(0);  // less than half of the smallest
  // Below the smallest exponent, the leading one is explicit and fewer bits remain.
  const bool subnormal = exponent < 1;
  const std::uint64_t scaled =
      subnormal ? (size & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52
                : size - (static_cast<std::uint64_t>(1023 - bias) << 52);
  const int shift = 52 - Fraction + (subnormal ? 1 - exponent : 0);
  const std::uint64_t half_way = (std::uint64_t{1} << (shift - 1)) - 1 + (scaled >> shift & 1);
  return finish(
      static_cast<unsigned>((scaled + half_way) >> shift));  // may carry, even to infinity
}

// A double that later rounds like the integer: inexact values set its last bit.
constexpr double rounded_to_odd(std::int64_t value) {
  const bool negative = value < 0;
  auto size = negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  double unit = negative ? -1 : 1;
  for (; size >> 53 != 0; unit *= 2) size = size >> 1 | (size & 1);
  return static_cast<double>(size) * unit;
}

template <class From>
constexpr double as_double(From value) {
  if constexpr (sizeof(From) == 8 && std::is_integral_v<From>)
    return rounded_to_odd(value);
  else
    return to_double(value);
}

// To integers only if it fits (fits_in).
template <class T, class From>
UMBEL_INLINE constexpr T converted(From value) {
  if constexpr (std::is_same_v<T, From>)
    return value;  // also keeps the bits of a signaling NaN
  else if constexpr (std::is_same_v<T, bfloat16>)
    return __builtin_bit_cast(bfloat16, rounded_to_16_bits<7>(as_double(value)));
  else if constexpr (std::is_same_v<T, float16>)
    return __builtin_bit_cast(float16, rounded_to_16_bits<10>(as_double(value)));
  else if constexpr (half<From>)
    return static_cast<T>(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

template <class T, class From>
UMBEL_INLINE constexpr bool fits_in(From value) {
  return static_cast<std::int64_t>(static_cast<T>(value)) == static_cast<std::int64_t>(value);
}

// product *= factor; false on overflow.
constexpr bool multiply(std::uint64_t& product, std::uint64_t factor) {
  return !__builtin_mul_overflow(product, factor, &product);
}
constexpr bool add(std::uint64_t& sum, std::uint64_t more) {
  return !__builtin_add_overflow(sum, more, &sum);
}

}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
