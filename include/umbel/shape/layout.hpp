// SPDX-License-Identifier: BSL-1.0
// A layout: axes in order, with strides. Plain axes are row-major; any other order of the elements
// in memory spells every axis as strided<Axis, Stride>. All facts are constants: a layout has no
// state. Lengths and strides count elements.
#pragma once

#include <umbel/shape/verdict.hpp>

namespace umbel {

// A fixed-capacity list of sizes, for computing layouts in constant expressions.
template <std::size_t Capacity>
struct size_list {
  std::size_t value[Capacity ? Capacity : 1]{};
  std::size_t count = 0;
  constexpr void push(std::size_t v) { value[count++] = v; }
  constexpr std::size_t operator[](std::size_t i) const { return value[i]; }
};

namespace detail {

template <class... Axes>
constexpr auto row_major_strides() {
  size_list<sizeof...(Axes)> strides;
  const std::size_t extents[sizeof...(Axes) + 1] = {Axes::size..., 1};
  strides.count = sizeof...(Axes);
  std::size_t step = 1;
  for (std::size_t i = sizeof...(Axes); i-- > 0; step *= extents[i]) strides.value[i] = step;
  return strides;
}

template <class... Axes>
constexpr auto strides_of() {
  if constexpr ((requires { Axes::stride; } && ...)) {
    size_list<sizeof...(Axes)> strides;
    (strides.push(Axes::stride), ...);
    return strides;
  } else {
    return row_major_strides<Axes...>();  // none has a stride: rules::well_formed
  }
}

}  // namespace detail

template <class... Axes>
struct layout {
  static constexpr std::size_t rank = sizeof...(Axes);
  static constexpr std::size_t extents[rank ? rank : 1] = {Axes::size...};
  static constexpr auto strides = detail::strides_of<Axes...>();
  static constexpr std::size_t count = (std::size_t{1} * ... * Axes::size);  // elements
  using axes = shape<typename Axes::plain...>;

  // The elements of memory from the first to the last, both included.
  static constexpr std::size_t span = [] {
    std::size_t last = 0;
    for (std::size_t i = 0; i < rank; ++i) last += (extents[i] ? extents[i] - 1 : 0) * strides[i];
    return last + 1;
  }();

  // Are the elements next to each other, in row-major order? (The stride of an axis of size 1 does
  // not matter.)
  static constexpr bool contiguous = [] {
    std::size_t step = 1;
    for (std::size_t i = rank; i-- > 0; step *= extents[i])
      if (extents[i] != 1 && strides[i] != step) return false;
    return true;
  }();

  // Position, size and stride of an axis by family. An absent axis has position npos, size 0 and
  // stride 0.
  template <class Family>
  static constexpr std::size_t position = position_of<Family, Axes...>();
  template <class Family>
  static constexpr bool has = position<Family> != npos;
  template <class Family>
  static constexpr std::size_t size_of =
      (std::size_t{0} + ... + (std::is_same_v<Family, typename Axes::family> ? Axes::size : 0));
  template <class Family>
  static constexpr std::size_t stride_of = [] {
    if constexpr (has<Family>)
      return strides[position<Family>];
    else
      return std::size_t{0};
  }();

  template <std::size_t Position>
  using axis_at = typename detail::nth<Position, Axes...>::plain;
};

// The axis of a family with its size in this layout; the bare family where there is none. What a
// sentence shows: "head_dim=20", or "head_dim".
namespace detail {
template <class Layout, class Family>
struct axis_or_family {
  using type = typename Layout::template axis_at<Layout::template position<Family>>;
};
template <class Layout, class Family>
  requires(!Layout::template has<Family>)
struct axis_or_family<Layout, Family> {
  using type = Family;
};
}  // namespace detail
template <class Layout, class Family>
using axis_of = typename detail::axis_or_family<Layout, Family>::type;

namespace detail {

template <class Axes, const auto& Strides, class Sequence>
struct build_layout;
template <class... Axes, const auto& Strides, std::size_t... I>
struct build_layout<shape<Axes...>, Strides, std::index_sequence<I...>> {
  using type = std::conditional_t<layout<strided<Axes, Strides[I]>...>::contiguous, layout<Axes...>,
                                  layout<strided<Axes, Strides[I]>...>>;
};

}  // namespace detail

// The layout of plain axes with given strides: row-major where the strides say so, so that equal
// layouts are one type. Strides is a constexpr size_list with static storage.
template <class Axes, const auto& Strides>
using make_layout =
    typename detail::build_layout<Axes, Strides, std::make_index_sequence<Axes::rank>>::type;

// The row-major layout of given axes, and of the axes of another layout.
namespace detail {
template <class Axes>
struct row_major_layout;
template <class... Axes>
struct row_major_layout<shape<Axes...>> {
  using type = layout<Axes...>;
};
}  // namespace detail
template <class Axes>
using layout_with_axes = typename detail::row_major_layout<Axes>::type;
template <class Layout>
using row_major = layout_with_axes<typename Layout::axes>;

}  // namespace umbel
