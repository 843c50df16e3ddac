// SPDX-License-Identifier: BSL-1.0
// The hash of a name, to compare names that may be long and many.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>
#include <umbel/file/text.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// SipHash-1-3 with a zero key (Aumasson, Bernstein: SipHash, 2012), of whole words and then the
// remaining bytes. Two names of one file collide by chance once in 2^37 files of 16384 tensors.
class sip_hash {
 public:
  constexpr void add(std::uint64_t word) noexcept {
    d_ ^= word;
    mix();
    a_ ^= word;
  }
  // last: the bytes after the words, and the total number of bytes in the highest byte.
  constexpr std::uint64_t value(std::uint64_t last) noexcept {
    add(last);
    c_ ^= 0xff;
    for (int i = 0; i < 3; ++i) mix();
    return a_ ^ b_ ^ c_ ^ d_;
  }

 private:
  static constexpr std::uint64_t turned(std::uint64_t x, int bits) noexcept {
    return x << bits | x >> (64 - bits);
  }
  constexpr void mix() noexcept {
    a_ += b_;
    b_ = turned(b_, 13) ^ a_;
    a_ = turned(a_, 32);
    c_ += d_;
    d_ = turned(d_, 16) ^ c_;
    a_ += d_;
    d_ = turned(d_, 21) ^ a_;
    c_ += b_;
    b_ = turned(b_, 17) ^ c_;
    c_ = turned(c_, 32);
  }
  std::uint64_t a_ = 0x736f6d6570736575, b_ = 0x646f72616e646f6d, c_ = 0x6c7967656e657261,
                d_ = 0x7465646279746573;
};

// The hash of a name; equal ones clash.
struct name_hash {
  std::uint64_t hash = 0;
  friend constexpr bool operator<(name_hash a, name_hash b) noexcept { return a.hash < b.hash; }
  constexpr bool begins_within(name_hash x) const noexcept { return hash <= x.hash; }
  constexpr bool clashes_with(name_hash x) const noexcept { return hash == x.hash; }
};

[[gnu::flatten]] UMBEL_NOINLINE inline name_hash hash_of(const tensor_name& name) noexcept {
  text_reader from = name.reader();
  sip_hash sum;
  std::uint64_t last = 0, size = 0;
  for (;;) {
    const auto place = size % 8;
    for (std::uint64_t bytes = 0; place == 0 && from.next_8(bytes); size += 8) sum.add(bytes);
    const int c = from.next();
    if (c < 0) return {sum.value(last | size << 56)};
    last |= static_cast<std::uint64_t>(c) << 8 * place;
    ++size;
    if (place != 7) continue;
    sum.add(last);
    last = 0;
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
