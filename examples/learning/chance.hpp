// SPDX-License-Identifier: BSL-1.0
// Counter-based random numbers: a function of the seed, the purpose and the step, so the same for
// any thread and after an interruption.
#pragma once

#include <cstdint>

namespace learning {

// SplitMix64 (Steele et al. 2014), of a counter.
constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// Numbers for one purpose.
class draws {
 public:
  constexpr draws(std::uint64_t seed, std::uint64_t purpose) noexcept
      : key_(mixed(mixed(seed) ^ purpose)) {}
  // Number `counter`, from 0 to n - 1.
  constexpr std::uint32_t below(std::uint32_t n, std::uint64_t counter) const noexcept {
    return static_cast<std::uint32_t>((mixed(key_ ^ counter) >> 32) * n >> 32);
  }

 private:
  std::uint64_t key_;
};

}  // namespace learning
