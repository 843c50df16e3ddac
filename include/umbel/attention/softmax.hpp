// SPDX-License-Identifier: BSL-1.0
// softmax<key>(x): exp(x) over its sum along a named axis, row by row. The readable form, for one's
// own attention and for drawings; the layers use the fused kernel (kernel/attend.hpp).
//
// Scores of -infinity weigh 0; a row of nothing else gives zeros. NaN spoils its own row only. The
// sum runs in 16 chains (kernel/plain.hpp).
#pragma once

#include <umbel/attention/filled.hpp>
#include <umbel/attention/rules.hpp>
#include <umbel/kernel/softmax.hpp>
#include <umbel/tensor/copy.hpp>

namespace umbel {

namespace say {
struct softmax;
}

template <template <std::size_t> class Axis>
struct softmax_operation : operation {
  // x: any axes; a row-major tensor of the same.
  template <tensor_like X>
  constexpr auto operator()(const X& x) const noexcept {
    using verdict =
        first_error<rules::has_axis<say::softmax, typename X::layout, axis_family<Axis>>,
                    rules::floating<say::softmax, typename X::value_type>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using T = typename X::value_type;
      using result = row_major<typename X::layout>;
      return detail::filled<tensor_of<T, result>>([&](auto& out) {
        if constexpr (std::is_same_v<typename X::layout, result>) {
          run<result>(x.data(), out.data());
        } else {
          copy(x, out);
          run<result>(out.data(), out.data());
        }
      });
    } else {
      return invalid{};
    }
  }
  constexpr invalid operator()(invalid) const { return {}; }

 private:
  template <class Layout, class T>
  static constexpr void run(const T* x, T* y) noexcept {
    constexpr std::size_t width = Layout::template size_of<axis_family<Axis>>;
    constexpr std::size_t inner = Layout::template stride_of<axis_family<Axis>>;
    constexpr kernel::softmax_shape shape = {Layout::count / (width * inner), width, inner};
    if (std::is_constant_evaluated())
      kernel::plain::softmax<shape>(x, y);
    else
      kernel::softmax<shape>(x, y);
  }
};
template <template <std::size_t> class Axis>
inline constexpr softmax_operation<Axis> softmax{};

}  // namespace umbel
