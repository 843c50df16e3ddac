// SPDX-License-Identifier: BSL-1.0
// The layout that each operation produces, meaningful only if its rule (rules.hpp) is accepted. All
// but contraction and reduction only re-read memory: they produce a layout and, for select and
// slice, an offset in elements.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/layout.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::algebra {

namespace detail {

// The axes of a layout with Removed axes from position First on replaced by With. If First is past
// the end, With alone: this is instantiated before a rule refuses it, and compilers would count to
// npos.
template <class Layout, std::size_t First, std::size_t Removed, class With>
struct replace_axes {
  template <class Sequence, class List>
  struct head;
  template <std::size_t... I, class... New>
  struct head<std::index_sequence<I...>, shape<New...>> {
    using type = shape<typename Layout::template axis_at<I>..., New...>;
  };
  template <class Sequence, class List>
  struct tail;
  template <std::size_t... I, class... All>
  struct tail<std::index_sequence<I...>, shape<All...>> {
    using type = shape<All..., typename Layout::template axis_at<First + Removed + I>...>;
  };
  static constexpr bool there = First < Layout::rank && Removed <= Layout::rank - First;
  using before = std::make_index_sequence<there ? First : 0>;
  using after = std::make_index_sequence<there ? Layout::rank - First - Removed : 0>;
  using type = typename tail<after, typename head<before, With>::type>::type;
};

template <class Layout, class With, std::size_t First, std::size_t Removed, std::size_t Added>
constexpr auto replace_strides(const std::size_t (&added)[Added]) {
  size_list<Layout::rank - Removed + Added> out;
  for (std::size_t i = 0; i < First; ++i) out.push(Layout::strides[i]);
  for (std::size_t i = 0; i < Added; ++i) out.push(added[i]);
  for (std::size_t i = First + Removed; i < Layout::rank; ++i) out.push(Layout::strides[i]);
  return out;
}

}  // namespace detail

// ---- split: one axis into parts, the last part varying fastest ----------------------------------
template <class Layout, class Family, class... Parts>
struct split_layout {
  static constexpr std::size_t at = Layout::template position<Family>;
  static constexpr auto strides = [] {
    const std::size_t sizes[] = {Parts::size...};
    std::size_t inner[sizeof...(Parts)], added[sizeof...(Parts)];
    umbel::detail::fill_row_major(sizes, sizeof...(Parts), inner);
    for (std::size_t i = 0; i < sizeof...(Parts); ++i) added[i] = inner[i] * Layout::strides[at];
    return detail::replace_strides<Layout, shape<Parts...>, at, 1>(added);
  }();
  using type =
      make_layout<typename detail::replace_axes<Layout, at, 1, shape<Parts...>>::type, strides>;
};
template <class Layout, class Family, class... Parts>
using split = typename split_layout<Layout, Family, Parts...>::type;

// ---- merge: neighboring axes into one ----------------------------------------------------------
template <class Layout, class Result, class First, class... Rest>
struct merge_layout {
  static constexpr std::size_t at = Layout::template position<First>;
  static constexpr std::size_t merged = 1 + sizeof...(Rest);
  using axis = typename Result::template sized<(Layout::template size_of<First> * ... *
                                                Layout::template size_of<Rest>)>;
  static constexpr auto strides = [] {
    // The stride of the innermost part with more than one position.
    std::size_t innermost = at + merged - 1;
    while (innermost > at && Layout::extents[innermost] == 1) --innermost;
    const std::size_t added[1] = {Layout::strides[innermost]};
    return detail::replace_strides<Layout, shape<axis>, at, merged>(added);
  }();
  using type =
      make_layout<typename detail::replace_axes<Layout, at, merged, shape<axis>>::type, strides>;
};
template <class Layout, class Result, class... Families>
using merge = typename merge_layout<Layout, Result, Families...>::type;

// The last family is the result.
template <class Layout, class Sequence, class... Families>
struct merge_into_last_layout;
template <class Layout, std::size_t... I, class... Families>
struct merge_into_last_layout<Layout, std::index_sequence<I...>, Families...> {
  using type = merge<Layout, umbel::detail::nth<sizeof...(I), Families...>,
                     umbel::detail::nth<I, Families...>...>;
};
template <class Layout, class... Families>
using merge_into_last = typename merge_into_last_layout<
    Layout, std::make_index_sequence<sizeof...(Families) ? sizeof...(Families) - 1 : 0>,
    Families...>::type;

// Do the strides of neighboring axes merge into one? (Axes of size 1 don't matter.)
template <class Layout, class... Families>
constexpr bool mergeable_strides() {
  const std::size_t positions[] = {Layout::template position<Families>...};
  if (!(Layout::template has<Families> && ...)) return false;
  std::size_t next = npos;  // stride required of the next outer axis; npos: any
  for (std::size_t i = sizeof...(Families); i-- > 0;) {
    const std::size_t extent = Layout::extents[positions[i]],
                      stride = Layout::strides[positions[i]];
    if (extent == 1) continue;
    if (next != npos && stride != next) return false;
    next = stride * extent;
  }
  return true;
}

// ---- permute: the same axes in a different order ------------------------------------------------
template <class Layout, class... Families>
struct permute_layout {
  static constexpr size_list<sizeof...(Families)> strides = {
      {Layout::template stride_of<Families>...}, sizeof...(Families)};
  using type =
      make_layout<shape<typename Layout::template axis_at<Layout::template position<Families>>...>,
                  strides>;
};
template <class Layout, class... Families>
using permute = typename permute_layout<Layout, Families...>::type;

// ---- rename: the same axis under a different name -----------------------------------------------
template <class Layout, class From, template <std::size_t> class To>
struct rename_layout {
  static constexpr std::size_t at = Layout::template position<From>;
  static constexpr auto strides = Layout::strides;
  using type = make_layout<
      typename detail::replace_axes<Layout, at, 1, shape<To<Layout::extents[at]>>>::type, strides>;
};
template <class Layout, class From, template <std::size_t> class To>
using rename = typename rename_layout<Layout, From, To>::type;

// ---- select: one position of an axis, which disappears ------------------------------------------
template <class Layout, class Family>
struct select_layout {
  static constexpr std::size_t at = Layout::template position<Family>;
  static constexpr auto strides = [] {
    size_list<Layout::rank - 1> out;
    for (std::size_t i = 0; i < Layout::rank; ++i)
      if (i != at) out.push(Layout::strides[i]);
    return out;
  }();
  using type = make_layout<typename detail::replace_axes<Layout, at, 1, shape<>>::type, strides>;
};
template <class Layout, class Family>
using select = typename select_layout<Layout, Family>::type;

// ---- reduce: several axes that disappear --------------------------------------------------------
template <class Layout, class... Families>
struct reduce_layout {
  using type = Layout;
};
template <class Layout, class First, class... Rest>
struct reduce_layout<Layout, First, Rest...> : reduce_layout<select<Layout, First>, Rest...> {};
template <class Layout, class... Families>
using reduce = typename reduce_layout<Layout, Families...>::type;

// ---- slice: some neighboring positions of an axis ----------------------------------------------
template <class Layout, class Family, std::size_t Count>
struct slice_layout {
  static constexpr std::size_t at = Layout::template position<Family>;
  static constexpr auto strides = Layout::strides;
  using type = make_layout<typename detail::replace_axes<
                               Layout, at, 1, shape<typename Family::template sized<Count>>>::type,
                           strides>;
};
template <class Layout, class Family, std::size_t Count>
using slice = typename slice_layout<Layout, Family, Count>::type;

// ---- windows: neighboring positions of an axis, on a new axis after it --------------------------
// The positions from the first to the last of a window; npos if they are more than can be counted.
template <class Size, std::size_t Dilation>
inline constexpr std::size_t window_span = Size::size > 1 &&
                                                   Dilation > (npos - 1) / (Size::size - 1)
                                               ? npos
                                               : (Size::size - 1) * Dilation + 1;
template <class Layout, class Family, class Size, std::size_t Stride, std::size_t Dilation>
struct windows_layout {
  static constexpr std::size_t at = Layout::template position<Family>;
  static constexpr std::size_t count =
      (Layout::template size_of<Family> - window_span<Size, Dilation>) / Stride + 1;
  static constexpr auto strides = [] {
    const std::size_t added[2] = {Layout::strides[at] * Stride, Layout::strides[at] * Dilation};
    return detail::replace_strides<Layout, shape<Size, Size>, at, 1>(added);
  }();
  using type =
      make_layout<typename detail::replace_axes<
                      Layout, at, 1, shape<typename Family::template sized<count>, Size>>::type,
                  strides>;
};
template <class Layout, class Family, class Size, std::size_t Stride, std::size_t Dilation>
using windows = typename windows_layout<Layout, Family, Size, Stride, Dilation>::type;

// ---- broadcast: to given axes; missing ones, or of size 1, repeat (stride 0) --------------------
template <class Layout, class Axis>
constexpr std::size_t broadcast_stride() {
  using family = typename Axis::family;
  const bool repeats = Layout::template size_of<family> == 1 && Axis::size != 1;
  return repeats ? 0 : Layout::template stride_of<family>;
}
template <class Layout, class... Axes>
struct broadcast_layout {
  static constexpr size_list<sizeof...(Axes)> strides = {{broadcast_stride<Layout, Axes>()...},
                                                         sizeof...(Axes)};
  using type = make_layout<shape<typename Axes::plain...>, strides>;
};
template <class Layout, class... Axes>
using broadcast = typename broadcast_layout<Layout, Axes...>::type;
// The same, to a list of axes.
template <class Layout, class Axes>
struct broadcast_to_list;
template <class Layout, class... Axes>
struct broadcast_to_list<Layout, shape<Axes...>> : broadcast_layout<Layout, Axes...> {};
template <class Layout, class Axes>
using broadcast_to = typename broadcast_to_list<Layout, Axes>::type;

// ---- contract: the axes of left, then the new ones of right, without the contracted ones --------
template <class Left, class Right, class... Families>
struct contract_layout {
  // Positions among the axes of left, then of right.
  static constexpr auto kept = [] {
    size_list<Left::rank + Right::rank> out;
    for (std::size_t i = 0; i < Left::rank; ++i)
      if (((i != Left::template position<Families>) && ...)) out.push(i);
    for (std::size_t i = 0; i < Right::rank; ++i)
      if (umbel::detail::find_family(Left::families, Left::rank, Right::families[i]) == npos)
        out.push(Left::rank + i);
    return out;
  }();
  template <class LeftAxes, class RightAxes, class Sequence>
  struct result;
  template <class... L, class... R, std::size_t... I>
  struct result<shape<L...>, shape<R...>, std::index_sequence<I...>> {
    using type = layout<umbel::detail::nth<kept[I], L..., R...>...>;
  };
  using type = typename result<typename Left::axes, typename Right::axes,
                               std::make_index_sequence<kept.count>>::type;
};
template <class Left, class Right, class... Families>
using contract = typename contract_layout<Left, Right, Families...>::type;

}  // namespace umbel::inline UMBEL_TARGET::detail::algebra
UMBEL_WARNINGS_POP
