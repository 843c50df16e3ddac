// SPDX-License-Identifier: BSL-1.0
// kth_largest<8, key>(x): the 8th largest element along a named axis, to keep the largest scores:
// hide(scores, scores < kth_largest<8, key>(scores)).
#pragma once

#include <umbel/config.hpp>
#include <umbel/operation/reduce.hpp>

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

  // NaN counts as the largest, as in torch.
  template <class T>
  static constexpr bool is_below(const T& a, const T& b) noexcept {
    return a < b || (b != b && a == a);
  }
  template <class T>
  static constexpr T of_row(const T* x, std::size_t step, std::size_t width) noexcept {
    T largest[K]{};  // the smallest of them first
    std::size_t count = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const T value = x[i * step];
      std::size_t at = 0;
      if (count < K) {
        for (at = count++; at > 0; --at) largest[at] = largest[at - 1];
      } else if (!is_below(largest[0], value)) {
        continue;
      }
      for (; at + 1 < count && is_below(largest[at + 1], value); ++at)
        largest[at] = largest[at + 1];
      largest[at] = value;
    }
    return largest[0];
  }
  template <class X, class Y>
  static constexpr void write(const X& x, Y& y) noexcept {
    using from = layout_of<X>;
    using repeated =
        algebra::broadcast_to<result<X>, typename algebra::slice<from, Family, 1>::axes>;
    for_each(
        [](const auto& first, auto& found) {
          found = of_row(&first, from::template stride_of<Family>, from::template size_of<Family>);
        },
        view_of<const typename X::value_type, algebra::slice<from, Family, 1>>(x.data()),
        view_of<typename Y::value_type, repeated>(y.data()));
  }
};
}  // namespace detail

// kth_largest<8, key>(x): the 8th largest element along a named axis, which disappears; equal
// elements count each. NaN counts as the largest, as in torch's topk. Its gradient is divided
// equally among the elements that are equal to it.
template <std::size_t K, template <std::size_t> class Axis>
inline constexpr detail::kth_largest_operation<K, detail::family_of<Axis>> kth_largest{};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
