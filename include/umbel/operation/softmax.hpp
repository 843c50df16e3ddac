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
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/copy.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct softmax;
}  // namespace say
UMBEL_SAYS(log_softmax, "log_softmax");

namespace rules {
// Along several axes: neighbors, in their order.
template <class Name, class X, class... Family>
struct softmax {
  using type = first_error<
      has_axis<Name, layout_of<X>, Family>..., floating<Name, typename X::value_type>,
      names_each_once<Name, shape<axis_of<layout_of<X>, Family>...>, Family...>,
      verdict<neighbours<layout_of<X>, Family...>(), Name, shape<axis_of<layout_of<X>, Family>...>,
              struct are_not_adjacent_in_this_order_in, typename layout_of<X>::axes>>;
};
template <class Name, class X, class Family>
struct softmax<Name, X, Family> {
  using type =
      first_error<has_axis<Name, layout_of<X>, Family>, floating<Name, typename X::value_type>>;
};
}  // namespace rules

// The rows of a row-major layout along neighbors.
template <class Layout, class... Family>
inline constexpr kernel::softmax_shape rows_along = [] {
  constexpr std::size_t width = (Layout::template size_of<Family> * ...);
  constexpr std::size_t inner = Layout::template stride_of<nth<sizeof...(Family) - 1, Family...>>;
  return kernel::softmax_shape{Layout::count / (width * inner), width, inner};
}();

// x: any axes; the result is a row-major tensor with the same. into(out, x): out may be x if that
// is row-major.
template <class Operation, class Name, class... Family>
struct softmax_along : detail::computing<Operation, Name> {
  template <class X>
  using rule = typename rules::softmax<Name, X, Family...>::type;

  static constexpr bool runs_along_several = sizeof...(Family) > 1;
  // Of a value of a formula, along several axes: along one axis, which is split again.
  template <traced X>
  constexpr auto of_value(const X& x) const noexcept {
    using from = layout_of<X>;
    if constexpr (algebra::mergeable_strides<from, Family...>()) {
      using last = nth<sizeof...(Family) - 1, Family...>;
      const auto y = typename Operation::template along_last<X>{}(
          reread<algebra::merge<from, last, Family...>>(x, 0));
      return reread<algebra::split<layout_of<decltype(y)>, last, axis_of<from, Family>...>>(y, 0);
    } else {
      return x.compute(static_cast<const Operation&>(*this));
    }
  }

  template <class X, class Y>
  static constexpr void write(const X& x, Y& y) noexcept {
    constexpr kernel::softmax_shape shape = rows_along<layout_of<Y>, Family...>;
    if constexpr (std::is_same_v<layout_of<X>, layout_of<Y>>) {
      Operation::template along<shape>(x.data(), y.data());
    } else {
      copy(x, y);
      Operation::template along<shape>(y.data(), y.data());
    }
  }
};

template <template <template <std::size_t> class...> class Operation,
          template <std::size_t> class First, template <std::size_t> class... Rest>
struct operation_along_last {
  using type = typename operation_along_last<Operation, Rest...>::type;
};
template <template <template <std::size_t> class...> class Operation,
          template <std::size_t> class Last>
struct operation_along_last<Operation, Last> {
  using type = Operation<Last>;
};

template <template <std::size_t> class... Axis>
struct softmax_operation
    : softmax_along<softmax_operation<Axis...>, say::softmax, detail::family_of<Axis>...> {
  template <class>
  using along_last = typename operation_along_last<detail::softmax_operation, Axis...>::type;
  template <kernel::softmax_shape Shape, class T>
  static constexpr void along(const T* x, T* y) noexcept {
    if (__builtin_is_constant_evaluated())
      kernel::plain::softmax<Shape>(x, y);
    else
      kernel::softmax<Shape>(x, y);
  }
};
template <template <std::size_t> class... Axis>
struct log_softmax_operation
    : softmax_along<log_softmax_operation<Axis...>, say::log_softmax, detail::family_of<Axis>...> {
  template <class>
  using along_last = typename operation_along_last<detail::log_softmax_operation, Axis...>::type;
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
// -infinity become zeros. softmax<row, column>(x): along several axes, neighbors in that order.
template <template <std::size_t> class Axis, template <std::size_t> class... Rest>
UMBEL_EXPECTS("softmax: expects the name of an axis; write softmax<key>(x)")
inline constexpr detail::softmax_operation<Axis, Rest...> softmax{};

// log_softmax<key>(x): the logarithm of the softmax, x - maximum - log(sum of e^(x - maximum)),
// along a named axis, or several neighbors. Rows of only -infinity stay.
template <template <std::size_t> class Axis, template <std::size_t> class... Rest>
UMBEL_EXPECTS("log_softmax: expects the name of an axis; write log_softmax<key>(x)")
inline constexpr detail::log_softmax_operation<Axis, Rest...> log_softmax{};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
