// SPDX-License-Identifier: BSL-1.0
// What a planner has to know of a machine: the bytes of a vector register and how many there are.
// A target is a value, so one program can hold kernels planned for several of them (the tests run
// 1, 4, 8 and 16 lanes on one machine); native_target is what this build is compiled for. Not
// here: which instructions exist (config.hpp), nor any plan (plan.hpp).
#pragma once

#include <cstddef>
#include <umbel/config.hpp>

namespace umbel::plan {

struct target {
  std::size_t vector_bytes;  // 0: no vector unit, one lane
  std::size_t registers;     // vector registers, or floating-point registers when one lane

  friend constexpr bool operator==(const target&, const target&) = default;
};

// Six registers are the least that a tile needs to be worth the name.
inline constexpr target native_target{UMBEL_VECTOR_BYTES,
                                      UMBEL_SMALL_CODE ? 6 : UMBEL_VECTOR_REGISTERS};

// Elements of T in one register: 1 where the target has no vector of them.
template <class T>
constexpr std::size_t lanes(target machine) noexcept {
  return machine.vector_bytes > sizeof(T) ? machine.vector_bytes / sizeof(T) : 1;
}

}  // namespace umbel::plan
