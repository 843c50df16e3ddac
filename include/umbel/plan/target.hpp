// SPDX-License-Identifier: BSL-1.0
// A machine, as a planner sees it: the bytes of a vector register and the number of registers. A
// target is a value, so one program can hold kernels planned for several (tests run 1, 4, 8 and 16
// lanes on one machine); native_target is this build's. See config.hpp for the instructions that
// exist, and plan.hpp for the plans.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::plan {

// Plan parameters fixed by an experiment (bench/plan); 0 leaves it to the planner. They affect
// speed, not bits. Pack and use weights with the same panel_vectors.
struct overrides {
  std::size_t panel_vectors = 0;  // most vectors of features in a panel of weights; 1 to 6
  std::size_t tile_rows = 0;      // most rows of a register tile
  std::size_t panel_group = 0;    // panels that share a tile
  std::size_t query_vectors = 0;  // most vectors of queries in a block; 1 to 4

  friend constexpr bool operator==(const overrides&, const overrides&) = default;
};

struct target {
  std::size_t vector_bytes;  // 0: no vector unit, one lane
  std::size_t registers;     // vector registers, or with one lane floating-point registers
  overrides fixed = {};
  bool fused = true;        // is a multiply-add one instruction? Else its product takes a register
  bool fetch_ahead = true;  // prefetch what lies beyond the caches?
  // Can a vector multiply-add read its broadcast factor from a general register? Else the broadcast
  // takes a vector register.
  bool spreads = false;
  std::size_t element_bytes = 8;  // most bytes per element of a vector

  friend constexpr bool operator==(const target&, const target&) = default;
};

// A tile needs at least six registers.
inline constexpr target native_target{UMBEL_VECTOR_BYTES,
                                      UMBEL_SMALL_CODE ? 6 : UMBEL_VECTOR_REGISTERS,
                                      {},
                                      UMBEL_FMA == 1,
                                      UMBEL_FETCH_AHEAD == 1,
                                      UMBEL_MVE == 1,
                                      UMBEL_MVE == 1 ? 4 : 8};

// Elements of T per register; 1 if the target has no vectors of them.
template <class T>
constexpr std::size_t lanes(target machine) noexcept {
  const bool has_vectors = machine.vector_bytes > sizeof(T) && sizeof(T) <= machine.element_bytes;
  return has_vectors ? machine.vector_bytes / sizeof(T) : 1;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::plan
UMBEL_WARNINGS_POP
