// SPDX-License-Identifier: BSL-1.0
// From the axes of a contraction, as numbers, to loops over pointers around one matrix product
// (contract.hpp): axes of both sides are loops, one of x alone becomes the rows, one of y alone the
// columns; neighbors with contiguous strides are joined. Of several summed axes the last is the
// depth; the others are loops that continue sums. Names of axes are unknown here.
#pragma once

#include <cstddef>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/kernel/float/contract.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/target.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// An axis of a contraction: strides in elements, 0 if an operand lacks it.
struct contract_axis {
  std::size_t extent, x, y, out;

  friend constexpr bool operator==(const contract_axis&, const contract_axis&) = default;
};

// Room: the capacity.
template <std::size_t Room>
struct contract_axes {
  contract_axis list[Room ? Room : 1]{};
  std::size_t count = 0;

  constexpr void push(const contract_axis& axis) noexcept { list[count++] = axis; }
  constexpr void remove(std::size_t at) noexcept {
    for (--count; at < count; ++at) list[at] = list[at + 1];
    list[count] = {};
  }
};

// The result of lower_contraction. As a template parameter it is `auto Loops`: with a class
// template's name there, clang 14 crashes with -Wc++98-compat.
template <std::size_t Room>
struct contract_loops {
  contract_axes<Room> each;  // loops over the product, outermost first
  contract_axes<Room> sums;  // and inside them, over summed axes
  contract_shape shape;
  // Positions of an axis adjacent in both sides and in out: in the lanes, if that costs less than a
  // matrix product for each. The shape is then one row and one column.
  std::size_t paired = 1;

  // Both kinds, outermost first.
  constexpr std::size_t count() const noexcept { return each.count + sums.count; }
  constexpr contract_axis loop(std::size_t i) const noexcept {
    return i < each.count ? each.list[i] : sums.list[i - each.count];
  }
};

namespace detail {

// Is a step of `outer` as long as all of `inner`?
constexpr bool make_one_run(const contract_axis& outer, const contract_axis& inner) noexcept {
  return outer.x == inner.x * inner.extent && outer.y == inner.y * inner.extent &&
         outer.out == inner.out * inner.extent;
}

// Joins two axes if possible. Ordered: only neighbors, to keep the order of the sums.
template <std::size_t Room>
constexpr bool merge_two(contract_axes<Room>& axes, bool ordered) noexcept {
  for (std::size_t i = 0; i < axes.count; ++i) {
    for (std::size_t j = 0; j < axes.count; ++j) {
      if (i == j || (ordered && j != i + 1) || !make_one_run(axes.list[i], axes.list[j])) continue;
      const std::size_t extent = axes.list[i].extent * axes.list[j].extent;
      axes.list[i] = axes.list[j];
      axes.list[i].extent = extent;
      axes.remove(j);
      return true;
    }
  }
  return false;
}

template <std::size_t Room>
constexpr contract_axes<Room> merged(const contract_axis* axes, std::size_t count,
                                     bool ordered) noexcept {
  contract_axes<Room> to;
  for (std::size_t i = 0; i < count; ++i)
    if (axes[i].extent != 1) to.push(axes[i]);
  while (merge_two(to, ordered)) continue;
  return to;
}

}  // namespace detail

// kept: the result's axes; summed: the others, in summation order, the last fastest.
template <class T, std::size_t Room>
constexpr contract_loops<Room> lower_contraction(
    const contract_axis* kept, std::size_t kept_count, const contract_axis* summed,
    std::size_t summed_count, plan::target machine = plan::native_target) noexcept {
  const contract_axes<Room> each = detail::merged<Room>(kept, kept_count, false);
  contract_axes<Room> sums = detail::merged<Room>(summed, summed_count, true);
  contract_axis depth{1, 1, 1, 0};
  if (sums.count != 0) {
    depth = sums.list[sums.count - 1];
    sums.remove(sums.count - 1);
  }
  // Finds the cheapest pair of rows and columns, including none. A call counts some steps.
  const std::size_t none = each.count;
  const auto shape_of = [&](std::size_t row, std::size_t column) {
    const contract_axis of_x = row != none ? each.list[row] : contract_axis{1, 0, 0, 0};
    const contract_axis of_y = column != none ? each.list[column] : contract_axis{1, 0, 1, 1};
    return contract_shape{of_x.extent, of_y.extent, depth.extent, of_x.x,  depth.x,
                          depth.y,     of_y.y,      of_x.out,     of_y.out};
  };
  std::size_t best_row = none, best_column = none, least = static_cast<std::size_t>(-1);
  for (std::size_t row = 0; row <= none; ++row) {
    if (row != none && each.list[row].y != 0) continue;
    for (std::size_t column = 0; column <= none; ++column) {
      if (column != none && (each.list[column].x != 0 || column == row)) continue;
      std::size_t cost = contract_cost<T>(shape_of(row, column), machine) + 16;
      for (std::size_t i = 0; i < each.count; ++i)
        if (i != row && i != column) cost *= each.list[i].extent;
      if (cost < least) best_row = row, best_column = column, least = cost;
    }
  }
  std::size_t best_paired = none;
  for (std::size_t i = 0; i < each.count; ++i) {
    const contract_axis& axis = each.list[i];
    if (axis.x != 1 || axis.y != 1 || axis.out != 1) continue;
    std::size_t cost =
        2 * depth.extent * plan::divide_up(axis.extent, plan::lanes<T>(machine)) + 16;
    for (std::size_t j = 0; j < each.count; ++j)
      if (j != i) cost *= each.list[j].extent;
    if (cost < least) best_paired = i, best_row = best_column = none, least = cost;
  }
  contract_loops<Room> loops{{}, sums, shape_of(best_row, best_column)};
  if (best_paired != none) loops.paired = each.list[best_paired].extent;
  for (std::size_t i = 0; i < each.count; ++i)
    if (i != best_row && i != best_column && i != best_paired) loops.each.push(each.list[i]);
  return loops;
}

namespace detail {

// product(x, y, out, go_on) for every position of the loops.
template <auto Loops, std::size_t Axis, class T, class Product>
UMBEL_INLINE constexpr void contract_each(const T* x, const T* y, T* out, bool go_on,
                                          const Product& product) {
  if constexpr (Axis == Loops.count()) {
    product(x, y, out, go_on);
  } else {
    constexpr contract_axis axis = Loops.loop(Axis);
    for (std::size_t i = 0; i < axis.extent; ++i) {
      contract_each<Loops, Axis + 1>(x + i * axis.x, y + i * axis.y, out + i * axis.out,
                                     go_on || (Axis >= Loops.each.count && i != 0), product);
    }
  }
}

}  // namespace detail

namespace plain {
// further: the sums continue from out.
template <auto Loops, class T>
constexpr void contract_all(const T* x, const T* y, T* out, bool further = false) noexcept {
  kernel::detail::contract_each<Loops, 0>(
      x, y, out, further, [](const T* from, const T* other, T* to, bool go_on) {
        for (std::size_t i = 0; i < Loops.paired; ++i)
          contract<Loops.shape>(from + i, other + i, to + i, go_on);
      });
}
// Only the first `depth` of each sum, which is over one axis.
template <auto Loops, class T>
constexpr void contract_all_some(const T* x, const T* y, T* out, std::size_t depth,
                                 bool further) noexcept {
  kernel::detail::contract_each<Loops, 0>(
      x, y, out, further, [depth](const T* from, const T* other, T* to, bool go_on) {
        for (std::size_t i = 0; i < Loops.paired; ++i)
          contract_some<Loops.shape>(from + i, other + i, to + i, depth, go_on);
      });
}
}  // namespace plain

// At most 256 vectors.
template <auto Loops, class T, plan::target Target = plan::native_target>
inline constexpr std::size_t contract_all_scratch =
    contract_scratch<Loops.shape, T, Target, (Loops.sums.count > 0)>;

// See plain::contract_all. For one element at a time, the plain loop. Continued: `further` may be
// true.
template <auto Loops, class T, plan::target Target = plan::native_target, bool Continued = false>
UMBEL_INLINE void contract_all(const T* x, const T* y, T* out, T* scratch,
                               bool further = false) noexcept {
  detail::contract_each<Loops, 0>(
      x, y, out, further,
      [&](const T* from, const T* other, T* to, bool go_on) UMBEL_LAMBDA_INLINE {
        if constexpr (Loops.paired != 1)
          contract_paired<Loops.shape, Loops.paired, T, Target>(from, other, to, go_on);
        else if constexpr (Loops.shape.rows == 1 && Loops.shape.columns == 1)
          plain::contract<Loops.shape>(from, other, to, go_on);
        else
          contract<Loops.shape, T, Target, (Continued || Loops.sums.count > 0)>(from, other, to,
                                                                                scratch, go_on);
      });
}
// See plain::contract_all_some.
template <auto Loops, class T>
UMBEL_INLINE void contract_all_some(const T* x, const T* y, T* out, std::size_t depth,
                                    bool further) noexcept {
  if constexpr (Loops.paired != 1)
    plain::contract_all_some<Loops>(x, y, out, depth, further);
  else
    detail::contract_each<Loops, 0>(
        x, y, out, further,
        [depth](const T* from, const T* other, T* to, bool go_on)
            UMBEL_LAMBDA_INLINE { contract_some<Loops.shape>(from, other, to, depth, go_on); });
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
