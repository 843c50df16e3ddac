// SPDX-License-Identifier: BSL-1.0
// out = x y in SIMD, both sides run-time data with any strides: the register tiles of linear maps
// (linear_tile.hpp), with columns or rows in the lanes, whichever is cheaper. If y is not adjacent
// along the lanes, panels of it are packed into scratch of constant size, block by block of the
// depth; sums continue in out. The same bits as plain::contract for every target and stride. Writes
// only out, reads only x and y. See contract_loops.hpp for other axes.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/float/linear.hpp>
#include <umbel/kernel/float/transpose.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/row_ends.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

namespace detail {

// Lanes for these columns: a vector at most half full is halved.
template <class T>
constexpr std::size_t contract_lanes(std::size_t columns, plan::target machine) noexcept {
  std::size_t lanes = plan::lanes<T>(machine);
  while (lanes * sizeof(T) > 16 && columns * 2 <= lanes) lanes /= 2;
  return columns == 1 ? 1 : lanes;
}

// The cost with columns in the lanes, in vector multiply-adds. A transposed square of 16 by 16
// costs some 100 instructions, a non-adjacent result two per element.
template <class T>
constexpr std::size_t contract_cost_as_it_is(const contract_shape& s,
                                             plan::target machine) noexcept {
  const std::size_t lanes = contract_lanes<T>(s.columns, machine);
  const std::size_t vectors = plan::divide_up(s.columns, lanes);
  const bool loads = s.y_column == 1 || s.columns == 1;
  const std::size_t packing = loads ? 1 : s.y_depth == 1 && lanes > 1 ? 6 : 2 * lanes;
  const bool stores = s.out_column == 1 || lanes == 1;
  return (s.rows + packing) * s.depth * vectors + (stores ? 0 : 2 * s.rows * s.columns);
}

}  // namespace detail

// Are rows in the lanes?
template <class T>
constexpr bool contract_transposes(const contract_shape& s, plan::target machine) noexcept {
  return detail::contract_cost_as_it_is<T>(transposed(s), machine) <
         detail::contract_cost_as_it_is<T>(s, machine);
}

// In vector multiply-adds, to choose between shapes.
template <class T>
constexpr std::size_t contract_cost(const contract_shape& s, plan::target machine) noexcept {
  return detail::contract_cost_as_it_is<T>(contract_transposes<T>(s, machine) ? transposed(s) : s,
                                           machine);
}

namespace detail {

// Columns in the lanes. Continued: sums may start from out.
template <contract_shape S, class T, plan::target Machine, bool Continued>
struct contract_walk {
  static constexpr std::size_t lanes = contract_lanes<T>(S.columns, Machine);
  static constexpr plan::target target = [] {
    plan::target narrowed = Machine;
    narrowed.vector_bytes = lanes * sizeof(T);
    return narrowed;
  }();
  static constexpr plan::linear_plan plan =
      plan::plan_linear<T>(S.rows, S.depth, S.columns, target);
  // Packs columns that are not adjacent, and those of many rows that are far apart, which would
  // otherwise compete for a few cache sets while rows of x pass through.
  static constexpr bool packs =
      S.columns != 1 && (S.y_column != 1 || (lanes > 1 && !UMBEL_SMALL_CODE && S.rows >= 32 &&
                                             S.depth * S.y_depth * sizeof(T) > 64 * 1024));
  // Vectors of a panel; the last may be partial.
  static constexpr plan::split panels = plan::split_evenly(plan.vectors, plan.tile* plan.group);
  static constexpr std::size_t tail = S.columns - (plan.vectors - 1) * lanes;

  // Packed at a time: at most 256 vectors.
  static constexpr std::size_t width = panels.large * lanes;
  static constexpr std::size_t block = [] {
    if (!packs) return S.depth;
    const std::size_t most = 256 / panels.large / lanes * lanes;
    const std::size_t blocks = plan::divide_up(S.depth, most);
    const std::size_t each = plan::divide_up(S.depth, blocks);
    return blocks == 1 ? S.depth : plan::divide_up(each, lanes) * lanes;
  }();
  static constexpr std::size_t blocks = plan::divide_up(S.depth, block);
  static constexpr std::size_t last_block = S.depth - (blocks - 1) * block;
  static constexpr bool in_parts = Continued || blocks > 1;
  static constexpr std::size_t scratch = packs ? width * block : 0;

  static constexpr linear_shape as_linear = {S.rows,    S.depth,   S.columns,    S.x_row,
                                             S.x_depth, S.out_row, S.out_column, false};

  template <std::size_t Vectors, std::size_t OfLast>
  static constexpr linear_tile tile = {
      .rows = 0,
      .panels = 1,
      .vectors = Vectors,
      .lanes = lanes,
      .tail = OfLast,
      .w_in = packs ? Vectors * lanes : S.y_depth,
      .w_panel = 0,
      .padded = packs,
      .tail_group = OfLast != lanes && !in_parts
                        ? shared_tail_group<T>(as_linear, plan.rows.large, Vectors, lanes, OfLast,
                                               packs, target)
                        : 0,
      .prefetched = false};

  template <std::size_t Vectors, std::size_t OfLast, std::size_t Depth>
  UMBEL_NOINLINE static void pack(const T* y, T* to) noexcept {
    constexpr std::size_t whole = OfLast == lanes ? Vectors : Vectors - 1;
    for (std::size_t v = 0; v < whole; ++v) {
      gather_columns<Depth, lanes, S.y_column, S.y_depth>(
          y + v * lanes * S.y_column, lanes, no_factor{}, to + v * lanes, Vectors * lanes);
    }
    if constexpr (whole != Vectors) {
      gather_columns<Depth, lanes, S.y_column, S.y_depth>(
          y + whole * lanes * S.y_column, OfLast, no_factor{}, to + whole * lanes, Vectors * lanes);
    }
  }

  template <std::size_t Vectors, std::size_t OfLast>
  UMBEL_INLINE static void panel(const T* x, const T* y, T* out, T* scratch, bool go_on,
                                 [[maybe_unused]] std::size_t depth) noexcept {
    const auto rows = [&](const T* from, const T* w, std::size_t part,
                          bool further) UMBEL_LAMBDA_INLINE {
      constexpr T* no_bias = nullptr;
      if constexpr (in_parts) {
        run_linear_rows<as_linear, T, tile<Vectors, OfLast>, plan.rows>(
            from, w, no_bias, out, part_of_sums{part, further});
      } else {
        run_linear_rows<as_linear, T, tile<Vectors, OfLast>, plan.rows>(from, w, no_bias, out);
      }
    };
    if constexpr (!packs) {
      rows(x, y, depth, go_on);
    } else {
      for (std::size_t b = 0; b + 1 < blocks; ++b) {
        pack<Vectors, OfLast, block>(y + b * block * S.y_depth, scratch);
        rows(x + b * block * S.x_depth, scratch, block, go_on || b != 0);
      }
      constexpr std::size_t at = (blocks - 1) * block;
      pack<Vectors, OfLast, last_block>(y + at * S.y_depth, scratch);
      rows(x + at * S.x_depth, scratch, last_block, go_on || at != 0);
    }
  }

  // depth: may be less if Continued and nothing is packed.
  UMBEL_INLINE static void all(const T* x, const T* y, T* out, T* scratch, bool go_on,
                               std::size_t depth = S.depth) noexcept {
    std::size_t column = 0;
    const auto next = [&]<std::size_t Vectors, std::size_t OfLast>() UMBEL_LAMBDA_INLINE {
      panel<Vectors, OfLast>(x, y + column * S.y_column, out + column * S.out_column, scratch,
                             go_on, depth);
      column += Vectors * lanes;
    };
    if constexpr (panels.small_count > 0) {
      for (std::size_t i = 0; i < panels.small_count; ++i)
        next.template operator()<panels.smaller(), lanes>();
    }
    constexpr std::size_t whole = panels.large_count - (tail != lanes ? 1 : 0);
    if constexpr (whole > 0) {
      for (std::size_t i = 0; i < whole; ++i) next.template operator()<panels.large, lanes>();
    }
    if constexpr (tail != lanes) next.template operator()<panels.large, tail>();
  }
};

// Vectors of positions of contract_paired; the last has `Count` elements.
template <contract_shape S, std::size_t Vectors, std::size_t Lanes, std::size_t Count, class T>
UMBEL_INLINE void contract_paired_block(const T* x, const T* y, T* out, bool go_on) noexcept {
  using V = simd::pack<T, Lanes>;
  const auto load = [](const T* from, std::size_t v) UMBEL_LAMBDA_INLINE {
    return v + 1 == Vectors && Count != Lanes ? simd::load_first<V>(from + v * Lanes, Count)
                                              : simd::load<V>(from + v * Lanes);
  };
  V sum[Vectors];
  UMBEL_UNROLL(4)
  for (std::size_t v = 0; v < Vectors; ++v) sum[v] = go_on ? load(out, v) : V{};
  for (std::size_t k = 0; k < S.depth; ++k) {
    UMBEL_UNROLL(4)
    for (std::size_t v = 0; v < Vectors; ++v)
      sum[v] = simd::fma(load(x + k * S.x_depth, v), load(y + k * S.y_depth, v), sum[v]);
  }
  UMBEL_UNROLL(4)
  for (std::size_t v = 0; v < Vectors; ++v) {
    if (v + 1 == Vectors && Count != Lanes)
      simd::store_first(out + v * Lanes, sum[v], Count);
    else
      simd::store(out + v * Lanes, sum[v]);
  }
}

template <contract_shape S, class T, plan::target Target, bool Continued>
using contract_walk_of =
    contract_walk<contract_transposes<T>(S, Target) ? transposed(S) : S, T, Target, Continued>;

}  // namespace detail

// Elements of scratch that contract needs: at most 256 vectors.
template <contract_shape S, class T, plan::target Target = plan::native_target,
          bool Continued = false>
inline constexpr std::size_t contract_scratch =
    detail::contract_walk_of<S, T, Target, Continued>::scratch;

// See plain::contract. Continued: sums continue from out if go_on is true.
template <contract_shape S, class T, plan::target Target = plan::native_target,
          bool Continued = false>
UMBEL_INLINE void contract(const T* x, const T* y, T* out, T* scratch,
                           bool go_on = false) noexcept {
  using walk = detail::contract_walk_of<S, T, Target, Continued>;
  if constexpr (contract_transposes<T>(S, Target))
    walk::all(y, x, out, scratch, go_on);
  else
    walk::all(x, y, out, scratch, go_on);
}

// Only the first `depth` of each sum. See plain::contract_some.
template <contract_shape S, class T, plan::target Target = plan::native_target>
UMBEL_INLINE void contract_some(const T* x, const T* y, T* out, std::size_t depth,
                                bool go_on) noexcept {
  using walk = detail::contract_walk_of<S, T, Target, true>;
  if constexpr (walk::packs || (S.rows == 1 && S.columns == 1))
    plain::contract_some<S>(x, y, out, depth, go_on);
  else if constexpr (contract_transposes<T>(S, Target))
    walk::all(y, x, out, nullptr, go_on, depth);
  else
    walk::all(x, y, out, nullptr, go_on, depth);
}

// out(p) = sum over depth of x(k, p) y(k, p), for positions adjacent in x, y and out, in the lanes.
// S has one row and one column.
template <contract_shape S, std::size_t Positions, class T,
          plan::target Target = plan::native_target>
UMBEL_INLINE void contract_paired(const T* x, const T* y, T* out, bool go_on) noexcept {
  constexpr std::size_t lanes = detail::contract_lanes<T>(Positions, Target), together = 4 * lanes;
  std::size_t at = 0;
  for (; at + together <= Positions; at += together)
    detail::contract_paired_block<S, 4, lanes, lanes>(x + at, y + at, out + at, go_on);
  constexpr std::size_t rest = Positions % together;
  if constexpr (rest != 0) {
    constexpr std::size_t vectors = plan::divide_up(rest, lanes);
    detail::contract_paired_block<S, vectors, lanes, rest - (vectors - 1) * lanes>(x + at, y + at,
                                                                                   out + at, go_on);
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
