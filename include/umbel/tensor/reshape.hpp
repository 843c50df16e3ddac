// SPDX-License-Identifier: BSL-1.0
// Operations that re-read the same memory with other axes: split, merge, permute, rename_axis,
// reshape, select_at, slice, broadcast. f(x) and x | f are the same. No element moves (a temporary
// becomes a tensor: pipe.hpp). If strides don't allow it, the message asks for `contiguous`.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/pipe.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
template <template <std::size_t> class Axis, class Outer, template <std::size_t> class Inner>
struct split_operation : rereading<split_operation<Axis, Outer, Inner>, say::split> {
  template <class Layout>
  using rule = rules::split<Layout, detail::family_of<Axis>, Outer, Inner>;
  template <class Layout>
  using result =
      algebra::split<Layout, detail::family_of<Axis>, typename Outer::plain,
                     Inner<Layout::template size_of<detail::family_of<Axis>> / Outer::size>>;
};

template <template <std::size_t> class Axis, class... Parts>
struct split_into_operation : rereading<split_into_operation<Axis, Parts...>, say::split> {
  template <class Layout>
  using rule = rules::split_into<Layout, detail::family_of<Axis>, Parts...>;
  template <class Layout>
  using result = algebra::split<Layout, detail::family_of<Axis>, Parts...>;
};

template <template <std::size_t> class... Axes>
struct merge_operation : rereading<merge_operation<Axes...>, say::merge> {
  template <class Layout>
  using rule = rules::merge_into_last<Layout, detail::family_of<Axes>...>;
  template <class Layout>
  using result = algebra::merge_into_last<Layout, detail::family_of<Axes>...>;
};

template <template <std::size_t> class... Axes>
struct permute_operation : rereading<permute_operation<Axes...>, say::permute> {
  template <class Layout>
  using rule = rules::permute<Layout, detail::family_of<Axes>...>;
  template <class Layout>
  using result = algebra::permute<Layout, detail::family_of<Axes>...>;
};

template <template <std::size_t> class From, template <std::size_t> class To>
struct rename_operation : rereading<rename_operation<From, To>, say::rename_axis> {
  template <class Layout>
  using rule = rules::rename<Layout, detail::family_of<From>, detail::family_of<To>>;
  template <class Layout>
  using result = algebra::rename<Layout, detail::family_of<From>, To>;
};

template <class... Axes>
struct reshape_operation : rereading<reshape_operation<Axes...>, say::reshape> {
  template <class Layout>
  using rule = rules::reshape<Layout, Axes...>;
  template <class Layout>
  using result = layout<typename detail::axis_or_none<Axes>::plain...>;
};

template <template <std::size_t> class Axis, std::size_t First, std::size_t Count>
struct slice_operation : rereading<slice_operation<Axis, First, Count>, say::slice> {
  template <class Layout>
  using rule = rules::slice<Layout, detail::family_of<Axis>, First, Count>;
  template <class Layout>
  using result = algebra::slice<Layout, detail::family_of<Axis>, Count>;
  template <class Layout>
  static constexpr std::size_t offset() {
    return First * Layout::template stride_of<detail::family_of<Axis>>;
  }
};

template <class... Axes>
struct broadcast_operation : rereading<broadcast_operation<Axes...>, say::broadcast> {
  template <class Layout>
  using rule = rules::broadcast<Layout, Axes...>;
  template <class Layout>
  using result = algebra::broadcast<Layout, Axes...>;
};

template <template <std::size_t> class Axis, std::size_t... Position>
struct select_operation;

template <template <std::size_t> class Axis, std::size_t Position>
struct select_operation<Axis, Position>
    : rereading<select_operation<Axis, Position>, say::select_at> {
  template <class Layout>
  using rule = rules::select_at<Layout, detail::family_of<Axis>, Position>;
  template <class Layout>
  using result = algebra::select<Layout, detail::family_of<Axis>>;
  template <class Layout>
  static constexpr std::size_t offset() {
    return Position * Layout::template stride_of<detail::family_of<Axis>>;
  }
};

template <template <std::size_t> class Axis>
struct select_position : rereading<select_position<Axis>, say::select_at> {
  std::size_t position;
  constexpr explicit select_position(std::size_t at) noexcept : position(at) {}
  template <class Layout>
  using rule = rules::select<Layout, detail::family_of<Axis>>;
  template <class Layout>
  using result = algebra::select<Layout, detail::family_of<Axis>>;
  template <class Layout>
  UMBEL_SHARED constexpr std::size_t offset() const {
    return offset_along<axis_of<Layout, detail::family_of<Axis>>,
                        Layout::template stride_of<detail::family_of<Axis>>>("select_at", position);
  }
};

template <template <std::size_t> class Axis>
struct select_operation<Axis>
    : detail::other_calls<say::select_at, say::expects_one_tensor_or_view_then_an_integer> {
  using detail::other_calls<say::select_at,
                            say::expects_one_tensor_or_view_then_an_integer>::operator();
  template <detail::integer_index I>
  constexpr auto operator()(I position) const {
    return select_position<Axis>(static_cast<std::size_t>(position));
  }
  template <class X, detail::integer_index I>
  UMBEL_SHARED constexpr auto operator()(X&& x, I position) const {
    return select_position<Axis>(static_cast<std::size_t>(position))(static_cast<X&&>(x));
  }
  template <tensor_like X>
  constexpr invalid operator()(const X&) const {
    static_assert(report<rules::select_where<detail::family_of<Axis>, (sizeof(X) == 0)>>::ok,
                  "umbel: shapes do not fit");
    return {};
  }
};
}  // namespace detail

// split<hidden, heads<5>, head_dim>: hidden=100 becomes heads=5, head_dim=20 in its place. The
// inner part varies fastest; its size is computed. The outer size must divide the whole.
template <template <std::size_t> class Axis, class Outer, template <std::size_t> class Inner>
UMBEL_EXPECTS(
    "split: expects an axis, a part with its size, and the other part; write split<hidden, "
    "heads<5>, head_dim>")
inline constexpr detail::split_operation<Axis, Outer, Inner> split{};

// split_into<hidden, groups<2>, heads<5>, head_dim<10>>: any number of parts with explicit sizes,
// whose product must be the size of the whole.
template <template <std::size_t> class Axis, class... Parts>
UMBEL_EXPECTS(
    "split_into: expects an axis, then parts with their sizes; write split_into<hidden, heads<5>, "
    "head_dim<20>>")
inline constexpr detail::split_into_operation<Axis, Parts...> split_into{};

// merge<heads, head_dim, hidden>: the neighboring axes heads and head_dim (two or more) become
// hidden in their place. Their elements must be evenly spaced in memory.
template <template <std::size_t> class... Axes>
UMBEL_EXPECTS(
    "merge: expects names of axes, then that of the result; write merge<heads, head_dim, hidden>")
inline constexpr detail::merge_operation<Axes...> merge{};

// permute<batch, heads, query, head_dim>: all axes, in this order.
template <template <std::size_t> class... Axes>
UMBEL_EXPECTS(
    "permute: expects names of axes in their new order; write permute<heads, query, head_dim>")
inline constexpr detail::permute_operation<Axes...> permute{};

// rename_axis<query, key>: the axis keeps its place and size. (Not `rename`, which <cstdio> has:
// docs/decisions/002.)
template <template <std::size_t> class From, template <std::size_t> class To>
UMBEL_EXPECTS(
    "rename_axis: expects the names of two axes, and keeps the size; write rename_axis<query, key>")
inline constexpr detail::rename_operation<From, To> rename_axis{};

// reshape<batch<8>, hidden<100>>: the same elements in row-major order with entirely new axes. It
// can't check names: prefer split, merge and rename_axis.
template <class... Axes>
inline constexpr detail::reshape_operation<Axes...> reshape{};

// The first position of a slice, from<2>.
template <std::size_t Position>
struct from {
  static constexpr std::size_t position = Position;
};
// The number of positions of a slice, extent<3>.
template <std::size_t Size>
struct extent {
  static constexpr std::size_t size = Size;
};
// slice<key, from<2>, extent<3>>: three positions of key, starting at 2. A slice past the end of
// the axis does not compile.
template <template <std::size_t> class Axis, class From, class Extent>
UMBEL_EXPECTS(
    "slice: expects an axis, where to begin and how many; write slice<key, from<2>, extent<3>>")
inline constexpr detail::slice_operation<Axis, From::position, Extent::size> slice{};

// broadcast<batch<2>, heads<5>, query<4>, key<6>>: matches axes by name and repeats x along those
// that it lacks or has with size 1 (stride 0).
template <class... Axes>
inline constexpr detail::broadcast_operation<Axes...> broadcast{};

// select_at<heads, 2>: position 2 of heads, which must exist; the axis disappears. A run-time
// position is an argument, select_at<heads>(x, i) or x | select_at<heads>(i), checked only with
// UMBEL_CHECK=1 (check.hpp). (Not `select`, which <cstdlib> has.)
template <template <std::size_t> class Axis, std::size_t... Position>
UMBEL_EXPECTS("select_at: expects the name of an axis, then a position; write select_at<query, 0>")
inline constexpr detail::select_operation<Axis, Position...> select_at{};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
