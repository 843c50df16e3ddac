// SPDX-License-Identifier: BSL-1.0
// What a planner must know of a machine: the bytes of a vector register and how many there are. A
// target is a value, so one program can hold kernels planned for several of them (the tests run 1,
// 4, 8 and 16 lanes on one machine); native_target is what this build is compiled for. Not here:
// which instructions exist (config.hpp), nor any plan (plan.hpp).
#pragma once

#include <cstddef>
#include <umbel/config.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::plan {

// What an experiment fixes of the plans (bench/plan); 0 leaves it to the planner. Speed changes,
// bits do not. Weights must be packed and used with the same panel_vectors.
struct overrides {
  std::size_t panel_vectors = 0;  // vectors of features in a panel of weights, at most; 1 to 6
  std::size_t tile_rows = 0;      // rows of a register tile, at most
  std::size_t panel_group = 0;    // panels that share a tile
  std::size_t query_vectors = 0;  // vectors of queries in a block, at most; 1 to 4

  friend constexpr bool operator==(const overrides&, const overrides&) = default;
};

struct target {
  std::size_t vector_bytes;  // 0: no vector unit, one lane
  std::size_t registers;     // vector registers, or floating-point registers when one lane
  overrides fixed = {};
  bool fused = true;  // is a multiply-add one instruction, or does its product take a register
  bool fetch_ahead = true;  // is what lies beyond the caches asked for before its turn
  // Does a multiply-add of vectors take a factor that is the same in every lane from a general
  // register? Else its broadcast takes a vector register.
  bool spreads = false;
  std::size_t element_bytes = 8;  // of what vectors hold, at most

  friend constexpr bool operator==(const target&, const target&) = default;
};

// Six registers are the least that a tile needs to be worth the name.
inline constexpr target native_target{UMBEL_VECTOR_BYTES,
                                      UMBEL_SMALL_CODE ? 6 : UMBEL_VECTOR_REGISTERS,
                                      {},
                                      UMBEL_FMA == 1,
                                      UMBEL_FETCH_AHEAD == 1,
                                      UMBEL_MVE == 1,
                                      UMBEL_MVE == 1 ? 4 : 8};

// Elements of T in one register: 1 where the target has no vector of them.
template <class T>
constexpr std::size_t lanes(target machine) noexcept {
  const bool has_vectors = machine.vector_bytes > sizeof(T) && sizeof(T) <= machine.element_bytes;
  return has_vectors ? machine.vector_bytes / sizeof(T) : 1;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::plan
UMBEL_WARNINGS_POP
