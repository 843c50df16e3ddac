// SPDX-License-Identifier: BSL-1.0
// What the rules of shapes say, as concepts over tensors and views, for generic code that wants to ask
// first:
//
//   static_assert(!splittable<queries, hidden, heads<7>>);
#pragma once

#include <umbel/shape/rules.hpp>

namespace umbel {

template <class X, template <std::size_t> class Axis>
concept has_axis = layout_of<X>::template has<axis_family<Axis>>;

// splittable<X, hidden, heads<5>>; the name of the inner part only matters where it is taken already.
namespace detail {
template <std::size_t N>
struct unnamed : axis<unnamed, N> {};
}  // namespace detail
template <class X, template <std::size_t> class Axis, class Outer,
          template <std::size_t> class Inner = detail::unnamed>
concept splittable = rules::split<layout_of<X>, axis_family<Axis>, Outer, Inner>::ok;

template <class X, template <std::size_t> class Axis, class... Parts>
concept splittable_into = rules::split_into<layout_of<X>, axis_family<Axis>, Parts...>::ok;

// The last axis is the result: mergeable<X, heads, head_dim, hidden>.
template <class X, template <std::size_t> class... Axes>
concept mergeable = rules::merge_into_last<layout_of<X>, axis_family<Axes>...>::ok;

template <class X, template <std::size_t> class... Axes>
concept permutable = rules::permute<layout_of<X>, axis_family<Axes>...>::ok;

template <class X, template <std::size_t> class First, template <std::size_t> class Second>
concept transposable =
    rules::transposed<layout_of<X>, axis_family<First>, axis_family<Second>>::ok;

template <class X, template <std::size_t> class From, template <std::size_t> class To>
concept renamable = rules::rename<layout_of<X>, axis_family<From>, axis_family<To>>::ok;

template <class X, class... Axes>
concept reshapable = rules::reshape<layout_of<X>, Axes...>::ok;

template <class X, template <std::size_t> class Axis, std::size_t Position>
concept selectable = rules::select_at<layout_of<X>, axis_family<Axis>, Position>::ok;

template <class X, template <std::size_t> class Axis, std::size_t First, std::size_t Count>
concept sliceable = rules::slice<layout_of<X>, axis_family<Axis>, First, Count>::ok;

template <class X, class... Axes>
concept broadcastable = rules::broadcast<layout_of<X>, Axes...>::ok;

template <class Left, class Right, template <std::size_t> class Axis>
concept contractible =
    rules::contract<layout_of<Left>, layout_of<Right>, axis_family<Axis>>::ok &&
    std::is_same_v<typename std::remove_cvref_t<Left>::value_type,
                   typename std::remove_cvref_t<Right>::value_type>;

// Elementwise arithmetic and assignment.
template <class Left, class Right>
concept same_shape =
    rules::same_shape<say::elementwise, layout_of<Left>, layout_of<Right>>::ok;

}  // namespace umbel
