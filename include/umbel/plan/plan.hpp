// SPDX-License-Identifier: BSL-1.0
// The planner: from extents and a target, at compile time, to register tiles and how to walk them.
// Plans decide speed and never a bit of the result (every output element is one chain, whatever
// the tile). Not here: strides, memory, code; a kernel reads a plan and obeys.
#pragma once

#include <cstddef>
#include <umbel/plan/target.hpp>

namespace umbel::plan {

constexpr std::size_t divide_up(std::size_t a, std::size_t b) noexcept { return (a + b - 1) / b; }

// `total` things in blocks of at most `limit`, as equal as can be: 16 by 6 is 5 + 5 + 6, never
// 6 + 6 + 4. First `small_count` blocks of `large` - 1, then `large_count` blocks of `large`.
struct split {
  std::size_t large, large_count, small_count;

  constexpr std::size_t small() const noexcept { return large - 1; }
  constexpr std::size_t count() const noexcept { return large_count + small_count; }
  // First thing of block `index`.
  constexpr std::size_t offset(std::size_t index) const noexcept {
    return index <= small_count ? index * small()
                                : small_count * small() + (index - small_count) * large;
  }
  constexpr std::size_t size(std::size_t index) const noexcept {
    return index < small_count ? small() : large;
  }
  friend constexpr bool operator==(const split&, const split&) = default;
};

constexpr split split_evenly(std::size_t total, std::size_t limit) noexcept {
  if (total == 0) return {1, 0, 0};
  const std::size_t count = divide_up(total, limit);
  const std::size_t large = divide_up(total, count);
  const std::size_t large_count = total - count * (large - 1);
  return {large, large_count, count - large_count};
}

// Rows of a tile that is `vectors` wide: accumulators, one row of the other operand and one
// broadcast fit the registers. At least 1, at most 24 (past that there is nothing to gain).
constexpr std::size_t tile_rows(target machine, std::size_t vectors) noexcept {
  if (machine.registers < 2 * vectors + 1) return 1;
  const std::size_t rows = (machine.registers - 1 - vectors) / vectors;
  return rows < 24 ? rows : 24;
}

// Widest useful tile: the one with the most multiply-adds for each value loaded, up to 4 vectors.
constexpr std::size_t tile_vectors(target machine) noexcept {
  std::size_t best = 1;
  for (std::size_t vectors = 2; vectors <= 4; ++vectors) {
    const std::size_t rows = tile_rows(machine, vectors), best_rows = tile_rows(machine, best);
    if (rows * vectors * (best_rows + best) > best_rows * best * (rows + vectors)) best = vectors;
  }
  return best;
}

// What lies in the lanes of y(rows, out) = x(rows, in) w(in, out). Rows can, where x is transposed
// already (the context of attention is): they are worth it when the features leave much of their
// last vector empty.
enum class orientation { features_in_lanes, rows_in_lanes };

// The cost of each in multiply-adds of whole vectors; results that leave transposed cost about two
// for each element. Rows in lanes read the weights of one panel only.
template <class T>
constexpr orientation choose_orientation(std::size_t rows, std::size_t in, std::size_t out,
                                         bool x_rows_adjacent, bool y_rows_adjacent,
                                         target machine) noexcept {
  const std::size_t width = lanes<T>(machine);
  if (!x_rows_adjacent || width == 1 || out > tile_vectors(machine) * width)
    return orientation::features_in_lanes;
  const std::size_t by_features = in * rows * divide_up(out, width);
  const std::size_t by_rows =
      in * out * divide_up(rows, width) + (y_rows_adjacent ? 0 : 2 * rows * out);
  return by_rows < by_features ? orientation::rows_in_lanes : orientation::features_in_lanes;
}

// Features in the lanes.
struct linear_plan {
  std::size_t lanes;
  std::size_t vectors;  // of features, the last one perhaps partial
  split panels;         // those vectors in panels, the last one in a large one; depends on out and
                        // the target only
  split rows;           // in tiles
  std::size_t group;    // panels that share a tile (few rows: more chains in flight)

  friend constexpr bool operator==(const linear_plan&, const linear_plan&) = default;
};

template <class T>
constexpr split plan_panels(std::size_t out, target machine) noexcept {
  return split_evenly(divide_up(out, lanes<T>(machine)), tile_vectors(machine));
}

template <class T>
constexpr linear_plan plan_linear(std::size_t rows, std::size_t out, target machine) noexcept {
  linear_plan plan{};
  plan.lanes = lanes<T>(machine);
  plan.vectors = divide_up(out, plan.lanes);
  plan.panels = plan_panels<T>(out, machine);
  plan.rows = split_evenly(rows, tile_rows(machine, plan.panels.large));
  // Two multiply-adds a cycle, four cycles each: under about 10 chains a tile waits for itself.
  const std::size_t room = machine.registers * 3 / 4;
  const std::size_t chains = plan.rows.large * plan.panels.large;
  plan.group = chains < 10 && chains != 0 ? room / chains : 1;
  if (plan.group < 1) plan.group = 1;
  if (plan.group > plan.panels.count()) plan.group = plan.panels.count();
  return plan;
}

// Keys of one block of the online softmax: a constant of the definition (kernel/plain.hpp), the
// same on every target, since it shows in the bits.
inline constexpr std::size_t key_block = 256;

// One head of attention: queries in the lanes.
struct attend_plan {
  std::size_t lanes;
  split queries;  // vectors of queries, in blocks that are worked on together

  friend constexpr bool operator==(const attend_plan&, const attend_plan&) = default;
};

// Wider blocks read keys and values fewer times, until their scores, which are passed over three
// times, leave the first-level cache. Measured on 32 registers of 64 bytes, percent of the
// multiply-add peak at 2, 3, 4 vectors: 128 keys of 32: 83, 83, 85; 512 keys of 64: 82, 84, 75.
template <class T>
constexpr attend_plan plan_attend(std::size_t queries, std::size_t keys, target machine) noexcept {
  constexpr std::size_t room_for_scores = 48 * 1024;  // bytes
  const std::size_t width = lanes<T>(machine);
  const std::size_t rows = keys < key_block ? keys : key_block;
  std::size_t vectors = machine.registers >= 32 ? 4 : 2;
  while (vectors > 1 && vectors * rows * width * sizeof(T) > room_for_scores) --vectors;
  return {width, split_evenly(divide_up(queries, width), vectors)};
}

}  // namespace umbel::plan
