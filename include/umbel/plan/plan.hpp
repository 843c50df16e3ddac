// SPDX-License-Identifier: BSL-1.0
// The planner: at compile time, from extents and a target to register tiles and their order. Plans
// affect speed, never bits: every output element is one chain of additions in a fixed order,
// whatever the tile. A plan has no strides, memory or code; kernels follow their plans.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/plan/target.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::plan {

constexpr std::size_t divide_up(std::size_t a, std::size_t b) noexcept { return (a + b - 1) / b; }

// `total` things in blocks of at most `limit`, as equal as possible: 16 by 6 is 5 + 5 + 6, never 6
// + 6 + 4. First `small_count` blocks of `large` - `step`, then `large_count` blocks of `large`.
struct split {
  std::size_t large, large_count, small_count, step = 1;

  constexpr std::size_t smaller() const noexcept { return large - step; }
  constexpr std::size_t count() const noexcept { return large_count + small_count; }
  // The first thing of block `index`.
  constexpr std::size_t offset(std::size_t index) const noexcept {
    return index <= small_count ? index * smaller()
                                : small_count * smaller() + (index - small_count) * large;
  }
  constexpr std::size_t size(std::size_t index) const noexcept {
    return index < small_count ? smaller() : large;
  }
  constexpr std::size_t block_of(std::size_t thing) const noexcept {
    const std::size_t in_small = offset(small_count);
    return thing < in_small ? thing / smaller() : small_count + (thing - in_small) / large;
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

// Small code and cores without an FPU have few registers: code per kind of block hardly pays there.
constexpr bool has_few_registers(target machine) noexcept { return machine.registers < 8; }

// The limit of blocks; with few registers, a limit that makes all blocks one size, if it is more
// than half of the original.
constexpr std::size_t block_limit(std::size_t total, std::size_t limit, target machine) noexcept {
  if (has_few_registers(machine))
    for (std::size_t size = limit; 2 * size > limit; --size)
      if (total % size == 0) return size;
  return limit;
}

// As split_evenly, with an even total in pairs: 16 by 6 is 4 + 6 + 6.
constexpr split split_in_pairs(std::size_t total, std::size_t limit) noexcept {
  const split pairs = split_evenly(total / 2, limit / 2);
  return {pairs.large * 2, pairs.large_count, pairs.small_count, pairs.small_count != 0 ? 2u : 1u};
}

// The rows of a tile `vectors` wide that fit the registers: accumulators, one row of the other
// operand, one broadcast, and one product if it isn't fused.
constexpr std::size_t rows_that_fit(target machine, std::size_t vectors) noexcept {
  const std::size_t spread = machine.spreads ? 0 : 1;
  const std::size_t taken = vectors + spread + (machine.fused ? 0 : 1);
  return machine.registers < taken + vectors ? 1 : (machine.registers - taken) / vectors;
}

// Rows of such a tile. Sixteen accumulators hide an fma's latency, and fewer let the next tile
// overlap the end of this one; but at least 4 rows, if they fit, share loads. Measured (bench/plan)
// at 64 x 64 x 64: 6 rows of 4 vectors are 3.3 % slower than 4 of 4.
constexpr std::size_t tile_rows(target machine, std::size_t vectors) noexcept {
  const std::size_t fit = rows_that_fit(machine, vectors);
  const std::size_t wanted = vectors < 4 ? 16 / vectors : 4;
  const std::size_t most = machine.fixed.tile_rows != 0 ? machine.fixed.tile_rows : wanted;
  return fit < most ? fit : most;
}

// The widest useful tile: most multiply-adds per load. Without fusing (SSE2), a broadcast is a load
// and a shuffle: 4 vectors by 2 rows are 40 % faster than 3 by 4, which needs too many registers,
// and 1 to 10 % faster than 3 by 3 (g++, clang).
constexpr std::size_t tile_vectors(target machine) noexcept {
  if (machine.fixed.panel_vectors != 0) return machine.fixed.panel_vectors;
  machine.fixed.tile_rows = 0;  // panels don't depend on it
  std::size_t best = 1;
  for (std::size_t vectors = 2; vectors <= 6 && 2 * vectors + 1 <= machine.registers; ++vectors) {
    const std::size_t rows = tile_rows(machine, vectors), best_rows = tile_rows(machine, best);
    const std::size_t each = machine.fused ? 1 : 2;
    if (rows * vectors * (each * best_rows + best) >= best_rows * best * (each * rows + vectors))
      best = vectors;
  }
  return best;
}

// The most vectors of features in a panel of weights: with few inputs, wide tiles spend their time
// on starting and ending. Measured (bench/plan) at 12 x 22 x 77 and 65 x 37 x 89: 5 %.
constexpr std::size_t panel_vectors(std::size_t in, target machine) noexcept {
  const std::size_t widest = tile_vectors(machine);
  return machine.fixed.panel_vectors == 0 && in < 128 && widest > 4 ? 4 : widest;
}

// Do tiles of more than a few rows use two vectors of a panel at a time? 7 rows of 2 vectors end
// sooner than 4 rows of 4 to 6, so more of the next tile overlaps. Measured (bench/plan) on
// AVX-512, 32x64x64 to 128x256x256: 98.7 to 99.3 % of the peak instead of 97.7 to 98.6; on AVX2
// nothing.
constexpr bool tiles_of_pairs(target machine) noexcept {
  return machine.registers >= 32 && machine.vector_bytes >= 64 && machine.fixed.panel_vectors == 0;
}

// With few registers, blocks of one size; the last may be partly empty.
constexpr split of_one_size(split blocks, target machine) noexcept {
  return has_few_registers(machine) ? split{blocks.large, blocks.count(), 0} : blocks;
}

// The lanes' contents in y(rows, out) = x(rows, in) w(in, out). Rows are possible if x is already
// transposed (as attention's context is), and pay if the features leave much of their last vector
// empty.
enum class orientation { features_in_lanes, rows_in_lanes };

// The cost of each orientation in multiply-adds of whole vectors; transposed results cost about two
// per element. Rows in lanes read the weights of one panel only.
template <class T>
constexpr orientation choose_orientation(std::size_t rows, std::size_t in, std::size_t out,
                                         bool x_rows_adjacent, bool y_rows_adjacent,
                                         target machine) noexcept {
  const std::size_t width = lanes<T>(machine);
  if (!x_rows_adjacent || width == 1 || out > panel_vectors(in, machine) * width)
    return orientation::features_in_lanes;
  const std::size_t by_features = in * rows * divide_up(out, width);
  const std::size_t by_rows =
      in * out * divide_up(rows, width) + (y_rows_adjacent ? 0 : 2 * rows * out);
  return by_rows < by_features ? orientation::rows_in_lanes : orientation::features_in_lanes;
}

// Without vectors, tiles of one size, which is less code: the last tile computes rows of the one
// before again. A step of a tile is its multiply-adds and loads; tiles of two sizes are only
// planned if they save 3 % of these, or 5 % with few registers.
constexpr split rows_of_one_size(std::size_t rows, std::size_t vectors, split two_sizes,
                                 target machine) noexcept {
  if (two_sizes.small_count == 0) return two_sizes;
  const auto steps = [&](std::size_t size) { return size * vectors + size + vectors + 1; };
  const std::size_t fit = rows_that_fit(machine, vectors);
  std::size_t best = two_sizes.large;
  for (std::size_t size = best + 1; size <= fit && size <= rows; ++size) {
    if (divide_up(rows, size) * steps(size) < divide_up(rows, best) * steps(best)) best = size;
  }
  const split one_size{best, divide_up(rows, best), 0};
  const std::size_t of_two = two_sizes.large_count * steps(two_sizes.large) +
                             two_sizes.small_count * steps(two_sizes.smaller());
  const std::size_t most = has_few_registers(machine) ? 105 : 103;  // percent
  return 100 * one_size.count() * steps(best) <= most * of_two ? one_size : two_sizes;
}

struct linear_plan {
  std::size_t lanes;
  std::size_t vectors;  // of features, the last may be partial
  split panels;         // vectors in panels, the last panel is large; independent of rows
  std::size_t tile;     // vectors of a panel in a tile: all, or a divisor of them
  split rows;           // in tiles; the last may overlap the one before
  std::size_t group;    // panels that share a tile (few rows: more chains in flight)

  friend constexpr bool operator==(const linear_plan&, const linear_plan&) = default;
};

template <class T>
constexpr split plan_panels(std::size_t in, std::size_t out, target machine) noexcept {
  const std::size_t vectors = divide_up(out, lanes<T>(machine));
  return tiles_of_pairs(machine) && vectors % 2 == 0
             ? split_in_pairs(vectors, tile_vectors(machine))
             : split_evenly(vectors, panel_vectors(in, machine));
}

template <class T>
constexpr linear_plan plan_linear(std::size_t rows, std::size_t in, std::size_t out,
                                  target machine) noexcept {
  linear_plan plan{};
  plan.lanes = lanes<T>(machine);
  plan.vectors = divide_up(out, plan.lanes);
  plan.panels = plan_panels<T>(in, out, machine);
  // Rows share a last vector that is half empty (kernel/float/linear_tile.hpp): it hardly counts.
  const std::size_t in_last = out % plan.lanes;
  const bool shares = plan.panels.count() == 1 && in_last != 0 && in_last * 2 <= plan.lanes;
  const bool few = rows <= rows_that_fit(machine, plan.panels.large);
  const bool pairs = tiles_of_pairs(machine) && plan.vectors % 2 == 0 && !few && !shares;
  plan.tile = pairs ? 2 : plan.panels.large;
  std::size_t together = tile_rows(machine, plan.tile);
  if (machine.fixed.tile_rows == 0 && in >= 32) {
    if (shares && plan.vectors == 3) together = tile_rows(machine, 2);
    // Tiles of two vectors end before the next ones fill the core: 6 or 7 rows are 2 to 3 % faster
    // than 8, and 8 faster than 5, unless inputs are few.
    const bool of_two = plan.tile == 2 && together == 8;
    if (of_two && (in < 64 || rows >= 6 * divide_up(rows, 7))) together = 7;
    // All rows at once read the weights once.
    const std::size_t most = of_two ? 11 : rows_that_fit(machine, plan.tile);
    if (rows <= 24 && rows <= most) together = rows;
  }
  plan.rows = split_evenly(rows, together);
  if (machine.vector_bytes == 0 && machine.fixed.tile_rows == 0)
    plan.rows = rows_of_one_size(rows, plan.tile, plan.rows, machine);
  // Two multiply-adds per cycle, four cycles each: eight chains, or a tile waits for itself; with
  // several rows, twice as many hide the start and end of tiles. One row reads weights once: from
  // the second cache, four chains keep up and one stream is enough; if the first cache nearly holds
  // them, several are up to a fifth faster.
  const std::size_t chains = plan.rows.large * plan.tile;
  const std::size_t each = chains + (plan.rows.large > 1 ? plan.tile : 0);
  const bool one = plan.rows.large == 1;
  const std::size_t bytes = in * out * sizeof(T);
  const std::size_t least = !one ? 12 : bytes > 64 * 1024 ? 3 : bytes > 32 * 1024 ? 16 : 8;
  plan.group = chains < least && chains != 0 ? divide_up(one ? least : 16, chains) : 1;
  if (machine.fixed.panel_group != 0) plan.group = machine.fixed.panel_group;
  while (plan.group > 1 && plan.group * each + 1 > machine.registers) --plan.group;
  if (plan.group > plan.panels.count()) plan.group = plan.panels.count();
  plan.group = block_limit(plan.panels.count(), plan.group, machine);
  if (plan.tile != plan.panels.large) plan.group = 1;
  return plan;
}

// Keys per block of the online softmax: part of the definition (kernel/plain/floats.hpp), the same
// on every target, since it affects bits.
inline constexpr std::size_t key_block = 256;

// One head of attention: queries in the lanes.
struct attend_plan {
  std::size_t lanes;
  split queries;      // vectors of queries, in blocks computed together
  std::size_t alone;  // queries after them, one at a time with keys in the lanes
  split keys;         // of one softmax block, in tiles

  friend constexpr bool operator==(const attend_plan&, const attend_plan&) = default;
};

// Keys (score tile) and values (context tile) by `vectors` of queries: as tile_rows, with the
// queries' maxima also in registers, unless that leaves too few for the sums.
constexpr std::size_t attend_rows(target machine, std::size_t vectors) noexcept {
  const std::size_t rows = tile_rows(machine, vectors), taken = 2 * vectors + 1;
  if (machine.spreads) return rows;
  const std::size_t fit =
      machine.registers > taken + vectors ? (machine.registers - taken) / vectors : 1;
  return rows < fit ? rows : fit;
}

// The number of keys whose exponentials run ahead of the context's sums for `vectors` of queries;
// 0: all before the sums. An exponential takes some 40 cycles, a key's sums few.
constexpr std::size_t keys_ahead(target machine, std::size_t vectors) noexcept {
  if (machine.registers < 16) return 0;
  return vectors == 1 ? 8 : 4;
}

// The most queries computed alone, keys in the lanes (kernel/float/attend_few.hpp): their sums for
// two vectors of keys take half of the registers.
constexpr std::size_t few_queries(target machine) noexcept {
  return machine.registers < 8 ? 1 : machine.registers / 4;
}

// The number of queries in a last vector that are cheaper alone, since a partial vector costs as
// much as a full one. Fitted to measurements of 17 to 512 keys of 8 to 64 features.
template <class T>
constexpr std::size_t queries_alone(std::size_t queries, std::size_t keys, std::size_t head_dim,
                                    std::size_t value_dim, target machine) noexcept {
  const std::size_t width = lanes<T>(machine), rest = queries % width, dims = head_dim + value_dim;
  if (width == 1) return 0;
  if (queries == 1) return 1;
  if (rest > few_queries(machine) || width < 8 || machine.registers < 8) return 0;
  const std::size_t of_vector = keys * (dims / 2 + 4);
  const std::size_t products_a_cycle = machine.registers >= 32 ? 2 * width : width;
  const std::size_t of_each = 20 + keys * dims / products_a_cycle + keys * 2 / 5;
  const std::size_t of_few = 100 + keys * dims / 12 + rest * of_each;
  return of_few * 10 < of_vector * 9 ? rest : 0;
}

// Few queries: do several heads share a vector (kernel/float/attend_heads.hpp), or is each computed
// alone? Measured at 2 to 8 queries, 6 to 256 keys, 8 to 64 features: the difference is up to a
// third either way.
template <class T>
constexpr bool heads_share_lanes(std::size_t queries, std::size_t keys, std::size_t head_dim,
                                 std::size_t value_dim, target machine) noexcept {
  const bool by_itself = queries < few_queries(machine) &&
                         queries_alone<T>(queries, keys, head_dim, value_dim, machine) == queries;
  return !by_itself || keys * (head_dim + value_dim) <= 3500;
}

// Heads of one query vector: two at a time (kernel/float/attend_pairs.hpp)? No gain from 32 keys
// on.
template <class T>
constexpr bool heads_go_in_pairs(std::size_t queries, std::size_t keys, target machine) noexcept {
  const std::size_t width = lanes<T>(machine);
  return width >= 8 && machine.registers >= 16 && queries > 1 && queries <= width &&
         keys <= 2 * width - 8;
}

// Queries in twos, with a three if odd, or in threes if keys are few. Without vectors, in blocks of
// one size, since each size is a kernel: threes need 9 % fewer instructions per query on RISC-V (28
// registers), but 1 % on a Cortex-M4F, with twice the code. Wider blocks read keys and values less
// often, but their scores, which are read three times, leave the first-level cache. Measured
// (bench/plan) at 512 queries and keys of 64: 2 vectors by 8 keys are 2 % faster than 3 by 9, 12 %
// faster than 4 by 6.
template <class T>
constexpr attend_plan plan_attend(std::size_t queries, std::size_t keys, target machine,
                                  std::size_t alone = 0) noexcept {
  const std::size_t width = lanes<T>(machine), total = divide_up(queries - alone, width);
  const bool a_three = width > 1 && total % 2 == 1 && total > 1 && machine.registers >= 32;
  split blocks = a_three ? split{3, 1, total / 2 - 1} : split_evenly(total, 2);
  const bool in_threes = keys < 16 || (width == 1 && machine.registers < 32);
  if (machine.registers >= 28 && in_threes) blocks = split_evenly(total, 3);
  if (has_few_registers(machine) && width == 1) blocks = split_evenly(total, 1);
  if (machine.fixed.query_vectors != 0) blocks = split_evenly(total, machine.fixed.query_vectors);
  blocks = of_one_size(blocks, machine);
  if (width == 1 && total >= 32 && machine.registers >= 28)
    blocks = {blocks.large, blocks.count(), 0};
  const std::size_t of_block = keys < key_block ? keys : key_block;
  return {width, blocks, alone, split_evenly(of_block, attend_rows(machine, blocks.large))};
}

}  // namespace umbel::inline UMBEL_TARGET::detail::plan
UMBEL_WARNINGS_POP
