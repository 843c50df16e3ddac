// SPDX-License-Identifier: BSL-1.0
// softmax<key>(x): exp(x) divided by its sum along a named axis, and log_softmax<key>(x), its
// logarithm. The readable form, for handwritten attention and for drawings; layers use the fused
// kernel (kernel/float/attend.hpp).
//
// A score of -infinity weighs 0; a row with nothing else becomes zeros. NaN spoils only its row.
// The sum has 16 parts (kernel/plain/floats.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/float/log_softmax.hpp>
#include <umbel/kernel/float/softmax.hpp>
#include <umbel/layer/computing.hpp>
#include <umbel/tensor/copy.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct softmax;
}  // namespace say
UMBEL_SAYS(log_softmax, "log_softmax");

// x: any axes; the result is a row-major tensor with the same. into(out, x): out may be x if that
// is row-major.
template <class Operation, class Name, class Family>
struct softmax_along_axis : detail::computing<Operation, Name> {
  template <class X>
  using rule = first_error<rules::has_axis<Name, layout_of<X>, Family>,
                           rules::floating<Name, typename X::value_type>>;

  template <class X, class Y>
  static constexpr void write(const X& x, Y& y) noexcept {
    constexpr kernel::softmax_shape shape = shape_of<layout_of<Y>>();
    if constexpr (std::is_same_v<layout_of<X>, layout_of<Y>>) {
      Operation::template along<shape>(x.data(), y.data());
    } else {
      copy(x, y);
      Operation::template along<shape>(y.data(), y.data());
    }
  }

 private:
  template <class Layout>
  static constexpr kernel::softmax_shape shape_of() noexcept {
    constexpr std::size_t width = Layout::template size_of<Family>;
    constexpr std::size_t inner = Layout::template stride_of<Family>;
    return {Layout::count / (width * inner), width, inner};
  }
};

template <template <std::size_t> class Axis>
struct softmax_operation
    : softmax_along_axis<softmax_operation<Axis>, say::softmax, detail::family_of<Axis>> {
  template <kernel::softmax_shape Shape, class T>
  static constexpr void along(const T* x, T* y) noexcept {
    if (__builtin_is_constant_evaluated())
      kernel::plain::softmax<Shape>(x, y);
    else
      kernel::softmax<Shape>(x, y);
  }
};
template <template <std::size_t> class Axis>
struct log_softmax_operation
    : softmax_along_axis<log_softmax_operation<Axis>, say::log_softmax, detail::family_of<Axis>> {
  template <kernel::softmax_shape Shape, class T>
  static constexpr void along(const T* x, T* y) noexcept {
    if (__builtin_is_constant_evaluated())
      kernel::plain::log_softmax<Shape>(x, y);
    else
      kernel::log_softmax<Shape>(x, y);
  }
};
}  // namespace detail

// softmax<key>(x): exp(x) divided by its sum along a named axis, for x with any axes. Rows of only
// -infinity become zeros.
template <template <std::size_t> class Axis>
inline constexpr detail::softmax_operation<Axis> softmax{};

// log_softmax<key>(x): the logarithm of the softmax, x - maximum - log(sum of e^(x - maximum)),
// along a named axis. Rows of only -infinity stay.
template <template <std::size_t> class Axis>
inline constexpr detail::log_softmax_operation<Axis> log_softmax{};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
