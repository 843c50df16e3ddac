// SPDX-License-Identifier: BSL-1.0
// mean<token>(x): the mean over a named axis, which disappears (mean pooling). Each element is one
// chain of additions in increasing position, divided by the size of the axis.
#pragma once

#include <umbel/attention/filled.hpp>
#include <umbel/attention/rules.hpp>
#include <umbel/kernel/elementwise.hpp>
#include <umbel/kernel/plain.hpp>
#include <umbel/tensor/pipe.hpp>

namespace umbel {

namespace say {
struct mean;
}

namespace rules {
template <class Layout, class T, class Family>
using mean = first_error<has_axis<say::mean, Layout, Family>, floating<say::mean, T>,
                         verdict<Layout::contiguous, say::mean, typename Layout::axes,
                                 say::is_not_row_major_in_memory_so_pass_contiguous>>;
}  // namespace rules

template <template <std::size_t> class Axis>
struct mean_operation : operation {
  // x: row-major, any axes with Axis. Gives a row-major tensor of the others.
  template <tensor_like X>
  constexpr auto operator()(const X& x) const noexcept {
    using from = row_major<typename X::layout>;  // strides of axes of size 1 do not matter
    using verdict = rules::mean<typename X::layout, typename X::value_type, axis_family<Axis>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using T = typename X::value_type;
      constexpr std::size_t size = from::template size_of<axis_family<Axis>>;
      constexpr std::size_t inner = from::template stride_of<axis_family<Axis>>;
      constexpr std::size_t outer = from::count / (size * inner);
      return detail::filled<tensor_of<T, row_major<algebra::select<from, axis_family<Axis>>>>>(
          [&](auto& y) {
            for (std::size_t i = 0; i < outer; ++i) {
              const T* const rows = x.data() + i * size * inner;
              if (std::is_constant_evaluated())
                kernel::plain::mean_rows<size, inner, inner>(rows, y.data() + i * inner);
              else
                kernel::mean_rows<size, inner, inner>(rows, y.data() + i * inner);
            }
          });
    } else {
      return invalid{};
    }
  }
  constexpr invalid operator()(invalid) const { return {}; }
};
template <template <std::size_t> class Axis>
inline constexpr mean_operation<Axis> mean{};

}  // namespace umbel
