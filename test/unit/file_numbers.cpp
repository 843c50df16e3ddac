// SPDX-License-Identifier: BSL-1.0
// Numbers of files: every type read as every type, exactly or rounded once to nearest, ties to
// even, and the CRC-32 of archives.
#include <boost/test/unit_test.hpp>
#include <umbel/files.hpp>
#include <umbel/umbel.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "../golden/data/files.hpp"

namespace {

using namespace umbel;
using umbel::detail::converted;

std::uint16_t as_half(double value) { return converted<float16>(value).bits; }
std::uint16_t as_bfloat16(double value) { return converted<bfloat16>(value).bits; }

// The value of 16 bits with an exponent of e and a fraction of f bits, by its definition.
double value_of(unsigned bits, int e, int f) {
  const int bias = (1 << (e - 1)) - 1, exponent = static_cast<int>(bits >> f) & ((1 << e) - 1);
  const double fraction = (bits & ((1u << f) - 1)) / std::ldexp(1.0, f);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias)
                               : std::ldexp(1 + fraction, exponent - bias));
}

// Every number of 16 bits is itself, and half way to its neighbour goes to the even one; just
// beside, to the nearer one.
template <class T>
void check_rounding(int e, int f) {
  const unsigned infinite = ((1u << e) - 1) << f;
  for (unsigned bits = 0; bits < infinite; ++bits) {
    const double value = value_of(bits, e, f);
    // The neighbour of the largest is where infinity would be.
    const double next =
        bits + 1 < infinite ? value_of(bits + 1, e, f) : std::ldexp(1.0, 1 << (e - 1));
    const double middle = (value + next) / 2;
    const unsigned even = bits % 2 == 0 ? bits : bits + 1;
    const auto of = [](double x) { return static_cast<unsigned>(converted<T>(x).bits); };
    if (of(value) != bits || of(-value) != (bits | 0x8000) || of(middle) != even ||
        of(std::nextafter(middle, 0)) != bits || of(std::nextafter(middle, next)) != bits + 1)
      BOOST_TEST_CONTEXT("bits " << bits) {
        BOOST_TEST(of(value) == bits);
        BOOST_TEST(of(-value) == (bits | 0x8000));
        BOOST_TEST(of(middle) == even);
        BOOST_TEST(of(std::nextafter(middle, 0)) == bits);
        BOOST_TEST(of(std::nextafter(middle, next)) == bits + 1);
      }
  }
}

BOOST_AUTO_TEST_SUITE(file_numbers)

BOOST_AUTO_TEST_CASE(every_float16_and_its_neighbours) { check_rounding<float16>(5, 10); }
BOOST_AUTO_TEST_CASE(every_bfloat16_and_its_neighbours) { check_rounding<bfloat16>(8, 7); }

BOOST_AUTO_TEST_CASE(beyond_the_range) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  BOOST_TEST(as_half(1e300) == 0x7c00);
  BOOST_TEST(as_half(-infinity) == 0xfc00);
  BOOST_TEST(as_half(1e-300) == 0);
  BOOST_TEST(as_half(-1e-300) == 0x8000);
  BOOST_TEST(as_half(std::numeric_limits<double>::denorm_min()) == 0);
  BOOST_TEST(as_bfloat16(1e39) == 0x7f80);
  BOOST_TEST(as_bfloat16(-1e-300) == 0x8000);
  BOOST_TEST(converted<float>(1e39) == std::numeric_limits<float>::infinity());
}

// By way of float these would be rounded twice, up.
BOOST_AUTO_TEST_CASE(rounded_once) {
  const double just_below_a_tie = 1 + std::ldexp(1.0, -11) - std::ldexp(1.0, -40);
  BOOST_TEST(as_half(just_below_a_tie) == 0x3c00);
  BOOST_TEST(as_half(1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40)) == 0x3c01);
  BOOST_TEST(as_bfloat16(1 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40)) == 0x3f81);
  // 2^62 + 2^54 + 1 is just above the tie of two bfloat16.
  constexpr std::int64_t above = (std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1;
  BOOST_TEST(converted<bfloat16>(above).bits == 0x5e81);
  BOOST_TEST(converted<bfloat16>(above - 1).bits == 0x5e80);
  BOOST_TEST(converted<bfloat16>(std::numeric_limits<std::int64_t>::min()).bits == 0xdf00);
  BOOST_TEST(converted<float>((std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1) ==
             std::ldexp(1.0f, 60) + std::ldexp(1.0f, 37));
}

BOOST_AUTO_TEST_CASE(nan_stays_nan) {
  const auto signalling = __builtin_bit_cast(double, std::uint64_t{0x7ff0000000000001});
  BOOST_TEST(as_half(signalling) == 0x7e00);
  BOOST_TEST(as_bfloat16(-std::numeric_limits<double>::quiet_NaN()) == 0xffc0);
  BOOST_TEST(std::isnan(converted<float>(signalling)));
  BOOST_TEST(std::isnan(converted<double>(__builtin_bit_cast(float16, std::uint16_t{0x7c01}))));
}

// A number of each type, in a file of one element.
template <class Stored>
stored_tensor one(const Stored& value, stored_type type) {
  stored_tensor x;
  x.type = type;
  x.data = reinterpret_cast<const unsigned char*>(&value);
  x.big_endian = UMBEL_LITTLE_ENDIAN == 0;
  x.bytes = sizeof(value);
  return x;
}
template <class T>
T read_as(const stored_tensor& x) {
  T value[1];
  BOOST_TEST(!!x.read(value));
  return value[0];
}

BOOST_AUTO_TEST_CASE(the_same_type_keeps_every_bit) {
  for (const std::uint32_t bits : {0x7f800001u, 0xffffffffu, 1u, 0x80000000u}) {
    const auto value = __builtin_bit_cast(float, bits);
    BOOST_TEST(__builtin_bit_cast(std::uint32_t,
                                  read_as<float>(one(value, stored_type::float32))) == bits);
  }
  for (const std::uint16_t bits : {std::uint16_t{0x7c01}, std::uint16_t{0xffff}}) {
    BOOST_TEST(read_as<float16>(one(bits, stored_type::float16)).bits == bits);
    BOOST_TEST(read_as<bfloat16>(one(bits, stored_type::bfloat16)).bits == bits);
  }
}

BOOST_AUTO_TEST_CASE(integers_as_numbers) {
  const std::int32_t large = 16777217;  // 2^24 + 1
  BOOST_TEST(read_as<double>(one(large, stored_type::int32)) == 16777217);
  BOOST_TEST(read_as<float>(one(large, stored_type::int32)) == 16777216);
  const std::int64_t larger = -9007199254740993;  // -2^53 - 1
  BOOST_TEST(read_as<double>(one(larger, stored_type::int64)) == -9007199254740992.0);
  const std::int8_t small = -128;
  BOOST_TEST(static_cast<float>(read_as<float16>(one(small, stored_type::int8))) == -128);
  const std::uint8_t byte = 200;
  BOOST_TEST(read_as<std::int32_t>(one(byte, stored_type::uint8)) == 200);
  const std::uint8_t truth = 2;  // as numpy reads it, whatever the bit
  BOOST_TEST(read_as<std::int8_t>(one(truth, stored_type::boolean)) == 1);
}

BOOST_AUTO_TEST_CASE(integers_that_do_not_fit) {
  const std::int64_t values[] = {1, 2147483648};
  stored_tensor x = one(values, stored_type::int64);
  x.rank = 1;
  x.extents[0] = 2;
  std::int32_t out[2] = {7, 8};
  BOOST_TEST((x.read(out).code() == file_error::wrong_value));
  BOOST_TEST(out[0] == 7);  // nothing has changed
  const std::uint8_t byte = 128;
  std::int8_t least[1] = {5};
  BOOST_TEST((one(byte, stored_type::uint8).read(least).code() == file_error::wrong_value));
  BOOST_TEST(least[0] == 5);
  const float fraction = 1;
  BOOST_TEST((one(fraction, stored_type::float32).read(least).code() == file_error::wrong_type));
}

BOOST_AUTO_TEST_CASE(crc32_of_archives) {
  const auto of = [](const char* text) {
    return umbel::detail::crc32(reinterpret_cast<const unsigned char*>(text), std::strlen(text));
  };
  BOOST_TEST(of("") == 0U);
  BOOST_TEST(of("123456789") == 0xcbf43926U);  // the check value of the catalogue of CRCs
  BOOST_TEST(of("The quick brown fox jumps over the lazy dog") == 0x414fa339U);
  const auto* const begin = reinterpret_cast<const unsigned char*>("123456789");
  const std::uint32_t first = umbel::detail::crc32(begin, 5);
  BOOST_TEST(umbel::detail::crc32(begin + 5, 4, first) == 0xcbf43926U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
