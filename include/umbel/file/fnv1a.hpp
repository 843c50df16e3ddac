// SPDX-License-Identifier: BSL-1.0
// 64-bit FNV-1a (Fowler, Noll, Vo): the checksum of weights (umbel/weights/checksum.hpp).
#pragma once

#include <umbel/config.hpp>

#include <cstdint>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// Of bytes, one after another.
class fnv1a {
 public:
  constexpr void add(unsigned char byte) noexcept { hash_ = (hash_ ^ byte) * 1099511628211u; }
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return hash_; }

 private:
  std::uint64_t hash_ = 14695981039346656037u;
};

// A file has the sum as 16 digits: digit i, the highest first.
constexpr char hexadecimal_digit(std::uint64_t sum, unsigned i) noexcept {
  return "0123456789abcdef"[sum >> (60 - 4 * i) & 15];
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
