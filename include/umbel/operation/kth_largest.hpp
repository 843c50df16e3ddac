// SPDX-License-Identifier: BSL-1.0
// kth_largest<8, key>(x): the 8th largest element along a named axis. In a formula, to keep the
// largest scores: hide(scores, scores < kth_largest<8, key>(scores)).
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/float/kth_largest.hpp>
#include <umbel/operation/reduce.hpp>
#include <umbel/operation/softmax.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace rules {
template <std::size_t K, class Layout, class Family, bool HasIt = Layout::template has<Family>>
struct kth_of_axis_rule {
  using type = accepted;  // has_axis reports it
};
template <std::size_t K, class Layout, class Family>
struct kth_of_axis_rule<K, Layout, Family, true> {
  using type = verdict<K != 0 && K <= Layout::template size_of<Family>, say::kth_largest, number<K>,
                       struct is_not_in_1_to, axis_of<Layout, Family>>;
};
}  // namespace rules

template <std::size_t K, class Family>
struct kth_largest_operation : computing<kth_largest_operation<K, Family>, say::kth_largest> {
  template <class X>
  using rule = first_error<rules::has_axis<say::kth_largest, layout_of<X>, Family>,
                           typename rules::kth_of_axis_rule<K, layout_of<X>, Family>::type,
                           verdict<rules::is_number<typename X::value_type>, say::kth_largest,
                                   say::needs_numbers_not, option_word<typename X::value_type>>>;
  template <class X>
  using result = reduced_layout<layout_of<X>, Family>;

  template <class X, class Y>
  static constexpr void write(const X& x, Y& y) noexcept {
    using T = typename Y::value_type;
    using from = layout_of<X>;
    if constexpr (std::is_floating_point_v<T> && std::is_same_v<from, row_major<from>>)
      if (!__builtin_is_constant_evaluated())
        return kernel::kth_largest<rows_along<from, Family>, K>(x.data(), y.data());
    using firsts = algebra::slice<from, Family, 1>;
    using repeated = algebra::broadcast_to<result<X>, typename firsts::axes>;
    for_each(
        [](const T& first, T& found) {
          found = kernel::plain_kth_largest<K, from::template size_of<Family>>(
              &first, from::template stride_of<Family>);
        },
        view_of<const T, firsts>(x.data()), view_of<T, repeated>(y.data()));
  }
};
}  // namespace detail

// kth_largest<8, key>(x): the 8th largest element along a named axis, which disappears; equal
// elements count each. NaN if one is NaN, as for max; a zero is +0. Its gradient is divided equally
// among the elements that are equal to it.
template <std::size_t K, template <std::size_t> class Axis>
UMBEL_EXPECTS(
    "kth_largest: expects a number, then the name of an axis; write kth_largest<8, key>(x)")
inline constexpr detail::kth_largest_operation<K, detail::family_of<Axis>> kth_largest{};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
