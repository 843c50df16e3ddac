// SPDX-License-Identifier: BSL-1.0
// 64-bit FNV-1a (Fowler, Noll, Vo): the checksum of weights (umbel/weights/checksum.hpp).
#pragma once

#include <umbel/config.hpp>

#include <cstdint>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

class fnv1a {
 public:
  constexpr fnv1a() noexcept = default;
  constexpr explicit fnv1a(std::uint64_t before) noexcept : hash_(before) {}

  constexpr void add(unsigned char byte) noexcept { hash_ = (hash_ ^ byte) * prime; }
  // Four bytes, lowest first; compilers evaluate this four times as fast.
  constexpr void add_word(std::uint32_t word) noexcept {
    const std::uint64_t w = word;
    std::uint64_t hash = (hash_ ^ (w & 255)) * prime;
    hash = (hash ^ (w >> 8 & 255)) * prime;
    hash = (hash ^ (w >> 16 & 255)) * prime;
    hash_ = (hash ^ w >> 24) * prime;
  }
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return hash_; }

 private:
  static constexpr std::uint64_t prime = 1099511628211u;
  std::uint64_t hash_ = 14695981039346656037u;
};

// Files store the sum as 16 digits; i counts from the highest.
constexpr char hexadecimal_digit(std::uint64_t sum, unsigned i) noexcept {
  return "0123456789abcdef"[sum >> (60 - 4 * i) & 15];
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
