// SPDX-License-Identifier: BSL-1.0
// A layout: axes in order, with strides. Plain axes are row-major; any other order in memory spells
// every axis as strided<Axis, Stride>. A layout has constants only. Lengths and strides count
// elements.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/verdict.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
// A fixed-capacity list of sizes, for computing layouts in constant expressions.
template <std::size_t Capacity>
struct size_list {
  std::size_t value[Capacity ? Capacity : 1]{};
  std::size_t count = 0;
  constexpr void push(std::size_t v) { value[count++] = v; }
  constexpr std::size_t operator[](std::size_t i) const { return value[i]; }
};

// Loops over arrays: code that is not a template is compiled once.
constexpr void fill_row_major(const std::size_t* extents, std::size_t rank, std::size_t* strides) {
  std::size_t step = 1;
  for (std::size_t i = rank; i-- > 0; step *= extents[i]) strides[i] = step;
}

constexpr bool is_row_major(const std::size_t* extents, std::size_t rank,
                            const std::size_t* strides) {
  std::size_t step = 1;
  for (std::size_t i = rank; i-- > 0; step *= extents[i])
    if (extents[i] != 1 && strides[i] != step) return false;
  return true;
}

constexpr std::size_t span_of(const std::size_t* extents, std::size_t rank,
                              const std::size_t* strides) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < rank; ++i) last += (extents[i] ? extents[i] - 1 : 0) * strides[i];
  return last + 1;
}

constexpr std::size_t find_family(const unsigned long long* families, std::size_t rank,
                                  unsigned long long family) {
  for (std::size_t i = 0; i < rank; ++i)
    if (families[i] == family) return i;
  return npos;
}

template <class... Axes>
constexpr auto strides_of() {
  size_list<sizeof...(Axes)> strides;
  if constexpr ((requires { Axes::stride; } && ...)) {
    (strides.push(Axes::stride), ...);
  } else {  // no axis has a stride: rules::well_formed
    const std::size_t extents[] = {Axes::size...};
    strides.count = sizeof...(Axes);
    fill_row_major(extents, sizeof...(Axes), strides.value);
  }
  return strides;
}

template <class... Axes>
struct layout {
  static constexpr std::size_t rank = sizeof...(Axes);
  static constexpr std::size_t extents[rank ? rank : 1] = {Axes::size...};
  static constexpr auto strides = detail::strides_of<Axes...>();
  static constexpr std::size_t count = (std::size_t{1} * ... * Axes::size);  // elements
  using axes = shape<typename Axes::plain...>;

  // The elements of memory from the first to the last, both included.
  static constexpr std::size_t span = detail::span_of(extents, rank, strides.value);

  // Are the elements adjacent, in row-major order? (Strides of axes of size 1 don't matter.)
  static constexpr bool contiguous = detail::is_row_major(extents, rank, strides.value);

  // Position, size and stride of an axis by family; npos, 0 and 0 if absent.
  static constexpr unsigned long long families[rank + 1] = {
      detail::family_id<typename Axes::family>..., 0};
  template <class Family>
  static constexpr std::size_t position =
      detail::find_family(families, rank, detail::family_id<Family>);
  template <class Family>
  static constexpr bool has = position<Family> != npos;
  template <class Family>
  static constexpr std::size_t size_of = has<Family> ? extents[position<Family>] : 0;
  template <class Family>
  static constexpr std::size_t stride_of = has<Family> ? strides.value[position<Family>] : 0;

  template <std::size_t Position>
  using axis_at = typename detail::nth<Position, Axes...>::plain;
};

// Of a tensor, a view or a reference to one.
template <class X>
using layout_of = typename std::remove_cvref_t<X>::layout;

// The axis of a family with its size in this layout, or the bare family if absent. Messages print
// "head_dim=20" or "head_dim".
template <class Layout, class Family>
struct axis_or_family {
  using type = typename Layout::template axis_at<Layout::template position<Family>>;
};
template <class Layout, class Family>
  requires(!Layout::template has<Family>)
struct axis_or_family<Layout, Family> {
  using type = Family;
};
template <class Layout, class Family>
using axis_of = typename detail::axis_or_family<Layout, Family>::type;

template <class Axes, const auto& Strides, class Sequence>
struct build_layout;
template <class... Axes, const auto& Strides, std::size_t... I>
struct build_layout<shape<Axes...>, Strides, std::index_sequence<I...>> {
  static constexpr std::size_t extents[sizeof...(Axes) + 1] = {Axes::size...};
  using type = std::conditional_t<is_row_major(extents, sizeof...(Axes), Strides.value),
                                  layout<Axes...>, layout<strided<Axes, Strides[I]>...>>;
};

// The layout of plain axes with given strides, row-major if the strides are, so that equal layouts
// are one type. Strides is a constexpr size_list with static storage.
template <class Axes, const auto& Strides>
using make_layout =
    typename detail::build_layout<Axes, Strides, std::make_index_sequence<Axes::rank>>::type;

// The row-major layout of given axes, and of the axes of a different layout.
template <class Axes>
struct row_major_layout;
template <class... Axes>
struct row_major_layout<shape<Axes...>> {
  using type = layout<Axes...>;
};
template <class Axes>
using layout_with_axes = typename detail::row_major_layout<Axes>::type;
template <class Layout>
using row_major = layout_with_axes<typename Layout::axes>;
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
