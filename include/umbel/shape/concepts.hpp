// SPDX-License-Identifier: BSL-1.0
// The rules of shapes as concepts over tensors and views, for generic code that asks first:
//
//   static_assert(!splittable<queries, hidden, heads<7>>);
//
// Each holds for the result of a refused operation, so a function that asks adds no second error.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/computing_rules.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// Has X this axis, of any size? has_axis<X, hidden>.
template <class X, template <std::size_t> class Axis>
concept has_axis =
    detail::layout_of<X>::template has<detail::family_of<Axis>> || detail::one_is_invalid<X>;
namespace detail {
// splittable<X, hidden, heads<5>>: the inner part's name matters only if x has it already.
template <std::size_t N>
struct unnamed : axis<unnamed, N> {};
}  // namespace detail

// Would split<Axis, Outer, Inner>(x) compile? splittable<X, hidden, heads<5>>: without Inner, any
// name that X does not have.
template <class X, template <std::size_t> class Axis, class Outer,
          template <std::size_t> class Inner = detail::unnamed>
concept splittable =
    detail::fits<detail::rules::split<detail::layout_of<X>, detail::family_of<Axis>, Outer, Inner>>;

// Would split_into<Axis, Parts...>(x) compile? splittable_into<X, hidden, heads<5>, head_dim<20>>.
template <class X, template <std::size_t> class Axis, class... Parts>
concept splittable_into = detail::fits<
    detail::rules::split_into<detail::layout_of<X>, detail::family_of<Axis>, Parts...>>;

// Would merge<Axes...>(x) compile? The last axis is the result: mergeable<X, heads, head_dim,
// hidden>.
template <class X, template <std::size_t> class... Axes>
concept mergeable =
    detail::fits<detail::rules::merge_into_last<detail::layout_of<X>, detail::family_of<Axes>...>>;

// Would permute<Axes...>(x) compile? permutable<X, heads, query, head_dim>.
template <class X, template <std::size_t> class... Axes>
concept permutable =
    detail::fits<detail::rules::permute<detail::layout_of<X>, detail::family_of<Axes>...>>;

// Would transposed<First, Second>(x) compile? transposable<X, query, hidden>.
template <class X, template <std::size_t> class First, template <std::size_t> class Second>
concept transposable =
    detail::fits<detail::rules::transposed<detail::layout_of<X>, detail::family_of<First>,
                                           detail::family_of<Second>>>;

// Would rename_axis<From, To>(x) compile? renamable<X, query, key>.
template <class X, template <std::size_t> class From, template <std::size_t> class To>
concept renamable = detail::fits<
    detail::rules::rename<detail::layout_of<X>, detail::family_of<From>, detail::family_of<To>>>;

// Would reshape<Axes...>(x) compile? reshapable<X, batch<8>, hidden<100>>.
template <class X, class... Axes>
concept reshapable = detail::fits<detail::rules::reshape<detail::layout_of<X>, Axes...>>;

// Would select_at<Axis, Position>(x) compile? selectable<X, heads, 2>.
template <class X, template <std::size_t> class Axis, std::size_t Position>
concept selectable =
    detail::fits<detail::rules::select_at<detail::layout_of<X>, detail::family_of<Axis>, Position>>;

// Would slice<Axis, From, Extent>(x) compile? sliceable<X, key, from<2>, extent<3>>.
template <class X, template <std::size_t> class Axis, class From, class Extent>
concept sliceable = detail::fits<detail::rules::slice<detail::layout_of<X>, detail::family_of<Axis>,
                                                      From::position, Extent::size>>;

// Would broadcast<Axes...>(x) compile? broadcastable<X, batch<2>, query<4>>.
template <class X, class... Axes>
concept broadcastable = detail::fits<detail::rules::broadcast<detail::layout_of<X>, Axes...>>;

// Would contract<Axes...>(left, right) compile? contractible<Left, Right, head_dim>.
template <class Left, class Right, template <std::size_t> class Axis,
          template <std::size_t> class... Axes>
concept contractible =
    detail::fits<detail::rules::contract<detail::layout_of<Left>, detail::layout_of<Right>,
                                         detail::family_of<Axis>, detail::family_of<Axes>...>> &&
    (std::is_same_v<typename std::remove_cvref_t<Left>::value_type,
                    typename std::remove_cvref_t<Right>::value_type> ||
     detail::one_is_invalid<Left, Right>);

// Has X these axes, as sum<Axes...>(x), max, min and mean require? reducible<X, query, key>.
template <class X, template <std::size_t> class... Axes>
concept reducible = detail::fits<
    detail::rules::reduce<detail::say::reduce, detail::layout_of<X>, detail::family_of<Axes>...>>;

// Do both have the same axes and sizes in the same order, as arithmetic and assignment require?
template <class Left, class Right>
concept same_shape =
    detail::fits<detail::rules::same_shape<detail::say::elementwise, detail::layout_of<Left>,
                                           detail::layout_of<Right>>>;

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
