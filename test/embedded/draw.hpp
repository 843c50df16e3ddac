// SPDX-License-Identifier: BSL-1.0
// Numbers for inputs and weights, without double: the generator of the other tests.
#pragma once

#include "../support/random.hpp"

namespace embedded {

using umbel_test::lcg;

// Every element, in row-major order, times a power of two: exact on every target.
template <class Numbers>
constexpr void draw(lcg& next, Numbers& to, float scale = 1) noexcept {
  for (auto& element : to) element = next() * scale;
}
template <class Numbers>
constexpr Numbers drawn(std::uint32_t seed, float scale = 1) noexcept {
  Numbers numbers{};
  lcg next{seed};
  draw(next, numbers, scale);
  return numbers;
}

}  // namespace embedded
