// SPDX-License-Identifier: BSL-1.0
// mean<token>(x): the mean over a named axis, which disappears (mean pooling). Each element is one
// sum in increasing position, divided by the size of the axis.
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/elementwise.hpp>
#include <umbel/kernel/plain.hpp>
#include <umbel/layer/computing.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct mean;
}  // namespace say

namespace rules {
template <class Layout, class T, class Family>
using mean = first_error<has_axis<say::mean, Layout, Family>, floating<say::mean, T>,
                         verdict<Layout::contiguous, say::mean, typename Layout::axes,
                                 say::is_not_row_major_in_memory_so_pass_contiguous_of_x>>;
}  // namespace rules

// x: row-major, any axes with Axis. Gives a row-major tensor of the others; into(out, x): out must
// not overlap x.
template <template <std::size_t> class Axis>
struct mean_operation : detail::computing<mean_operation<Axis>, say::mean> {
  template <class X>
  using rule = rules::mean<layout_of<X>, typename X::value_type, detail::family_of<Axis>>;
  template <class X>
  using result = row_major<algebra::select<row_major<layout_of<X>>, detail::family_of<Axis>>>;

  template <class X, class Y>
  static constexpr void write(const X& x, Y& y) noexcept {
    using from = row_major<layout_of<X>>;  // strides of axes of size 1 do not matter
    constexpr std::size_t size = from::template size_of<detail::family_of<Axis>>;
    constexpr std::size_t inner = from::template stride_of<detail::family_of<Axis>>;
    for (std::size_t i = 0; i < from::count / (size * inner); ++i) {
      const auto* const rows = x.data() + i * size * inner;
      if (std::is_constant_evaluated())
        kernel::plain::mean_rows<size, inner, inner>(rows, y.data() + i * inner);
      else
        kernel::mean_rows<size, inner, inner>(rows, y.data() + i * inner);
    }
  }
};
}  // namespace detail

// mean<token>(x): the mean over a named axis, which disappears. x: row-major.
template <template <std::size_t> class Axis>
inline constexpr detail::mean_operation<Axis> mean{};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
