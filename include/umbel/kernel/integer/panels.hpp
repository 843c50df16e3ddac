// SPDX-License-Identifier: BSL-1.0
// 8-bit weights of a linear map as this target's kernels read them: panels of `wide` outputs; in
// each, the words of four inputs in order; in each of these, the outputs' words. On a core without
// vectors a panel is one output with its inputs in order. See quantized/pack.hpp for conversion
// from floats, and linear.hpp for the products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/integer_shapes.hpp>
#include <umbel/simd/dot.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// Outputs per panel, a multiple of the lanes: as many vectors, up to four (or two with few
// registers), as leave no panel partly empty.
template <std::size_t Out>
inline constexpr std::size_t integer_panel = [] {
  constexpr std::size_t lanes = simd::dot_lanes, vectors = (Out + lanes - 1) / lanes;
  if (lanes == 1) return std::size_t{1};
  std::size_t most = UMBEL_VECTOR_REGISTERS >= 32 ? 4 : 2;
  while (vectors % most != 0) --most;
  return most * lanes;
}();

template <std::size_t In, std::size_t Out>
struct integer_panels {
  static constexpr std::size_t in = In, out = Out;
  static constexpr std::size_t words = in_words(In) / 4, wide = integer_panel<Out>;
  static constexpr std::size_t panels = (Out + wide - 1) / wide, outputs = panels * wide;
  // The offset that the product instruction needs on inputs; `starts` corrects for it.
  static constexpr std::int32_t moved = simd::dot_moved;

  alignas(simd::dot_alignment) std::int8_t weights[panels * words * wide * 4]{};
  // The start of a sum: the bias, half of 2^before, minus the effect of `moved`.
  alignas(simd::dot_alignment) std::int32_t starts[outputs]{};
  alignas(simd::dot_alignment) std::int16_t multiplier[outputs]{};
  std::uint8_t before = 0, after = 0;

  static constexpr std::size_t place(std::size_t o, std::size_t i) noexcept {
    return ((o / wide * words + i / 4) * wide + o % wide) * 4 + i % 4;
  }
  constexpr std::int8_t weight(std::size_t o, std::size_t i) const noexcept {
    return weights[place(o, i)];
  }
  constexpr std::int32_t start(std::size_t o) const noexcept { return starts[o]; }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
