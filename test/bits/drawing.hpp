// SPDX-License-Identifier: BSL-1.0
// The numbers of drawn layers in integers, the same on every target. Not here: layers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace integers_test {

struct drawing {
  std::uint32_t state;

  constexpr std::uint32_t operator()() noexcept {
    return (state = state * 1664525u + 1013904223u) >> 8;
  }
  constexpr std::size_t size(std::size_t low, std::size_t high) noexcept {
    return low + (*this)() % (high - low + 1);
  }
  // One in four is an end, where the kernels' tricks are.
  constexpr std::int32_t between(std::int32_t low, std::int32_t high) noexcept {
    const std::uint32_t number = (*this)();
    if (number % 8 == 0) return low;
    if (number % 8 == 1) return high;
    return low + static_cast<std::int32_t>(number / 8 % static_cast<std::uint32_t>(high - low + 1));
  }
  // Floats that every target has exactly: weights, and ranges that no sample was seen for.
  constexpr float weight() noexcept { return static_cast<float>(between(-255, 255)) * 0x1p-9F; }
  constexpr float range() noexcept {
    const float fraction = static_cast<float>(64 + (*this)() % 64) / 64;
    return fraction * static_cast<float>(1 << (*this)() % 4);
  }
};
// The size `which` of layer Seed.
template <std::uint32_t Seed>
constexpr std::size_t drawn_size(std::uint32_t which, std::size_t low, std::size_t high) noexcept {
  drawing next{Seed * 7919 + which * 104729};
  next(), next();
  return next.size(low, high);
}

}  // namespace integers_test
