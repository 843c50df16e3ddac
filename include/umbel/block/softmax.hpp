// SPDX-License-Identifier: BSL-1.0
// softmax<key>(x): exp(x) over its sum along a named axis, row by row. The readable form, for
// attention written by hand and for drawings; the layers use the fused kernel (kernel/attend.hpp).
//
// Scores of -infinity weigh 0; a row of nothing else gives zeros. NaN spoils its own row only. The
// sum is taken in 16 parts (kernel/plain.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/softmax.hpp>
#include <umbel/layer/computing.hpp>
#include <umbel/tensor/copy.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct softmax;
}  // namespace say

// x: any axes; a row-major tensor of the same. into(out, x): out may be x where that is row-major.
template <template <std::size_t> class Axis>
struct softmax_operation : detail::computing<softmax_operation<Axis>, say::softmax> {
  template <class X>
  using rule = first_error<rules::has_axis<say::softmax, layout_of<X>, detail::family_of<Axis>>,
                           rules::floating<say::softmax, typename X::value_type>>;

  template <class X, class Y>
  static constexpr void write(const X& x, Y& y) noexcept {
    if constexpr (std::is_same_v<layout_of<X>, layout_of<Y>>) {
      along<layout_of<Y>>(x.data(), y.data());
    } else {
      copy(x, y);
      along<layout_of<Y>>(y.data(), y.data());
    }
  }

 private:
  template <class Layout, class T>
  static constexpr void along(const T* x, T* y) noexcept {
    constexpr std::size_t width = Layout::template size_of<detail::family_of<Axis>>;
    constexpr std::size_t inner = Layout::template stride_of<detail::family_of<Axis>>;
    constexpr kernel::softmax_shape shape = {Layout::count / (width * inner), width, inner};
    if (std::is_constant_evaluated())
      kernel::plain::softmax<shape>(x, y);
    else
      kernel::softmax<shape>(x, y);
  }
};
}  // namespace detail

// softmax<key>(x): exp(x) over its sum along a named axis, of x with any axes; rows of -infinity
// only become zeros.
template <template <std::size_t> class Axis>
inline constexpr detail::softmax_operation<Axis> softmax{};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
