// SPDX-License-Identifier: BSL-1.0
// Philox against the known answers of its authors (Random123's kat_vectors: philox4x32, 10 rounds),
// in the compiler, for one counter and in every lane of packs.
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <umbel/simd/philox.hpp>

namespace {

using umbel::detail::simd::lanes_of;
using umbel::detail::simd::pack;

struct words {
  std::uint32_t word[4];
  friend constexpr bool operator==(const words&, const words&) = default;
};

constexpr words philox(words counter, std::uint32_t key_low, std::uint32_t key_high) {
  umbel::detail::simd::philox(counter.word, std::uint64_t{key_high} << 32 | key_low);
  return counter;
}

static_assert(philox({0, 0, 0, 0}, 0, 0) == words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffff, 0xffffffff) ==
              words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0) ==
              words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

template <std::size_t Lanes>
void check_lanes() {
  using W = pack<std::uint32_t, Lanes>;
  W counter[4] = {};
  words each[Lanes] = {};
  std::uint32_t state = 7;
  for (std::size_t c = 0; c < 4; ++c) {
    for (std::size_t i = 0; i < Lanes; ++i) {
      state = state * 1664525u + 1013904223u;
      counter[c][i] = each[i].word[c] = state ^ state << 13;
    }
  }
  umbel::detail::simd::philox(counter, 0x0123456789abcdefu);
  for (std::size_t i = 0; i < Lanes; ++i) {
    const words right = philox(each[i], 0x89abcdef, 0x01234567);
    for (std::size_t c = 0; c < 4; ++c) {
      const std::uint32_t got = counter[c][i];
      BOOST_TEST(got == right.word[c]);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(simd_philox)

BOOST_AUTO_TEST_CASE(known_answers_at_run_time) {
  volatile std::uint32_t zero = 0;
  const words got = philox({zero, zero, zero, zero}, zero, zero);
  BOOST_TEST((got == words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

BOOST_AUTO_TEST_CASE(every_lane_is_a_counter) {
  check_lanes<2>();
  check_lanes<4>();
  check_lanes<8>();
  check_lanes<16>();
}

BOOST_AUTO_TEST_SUITE_END()
