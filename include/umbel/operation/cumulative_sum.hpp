// SPDX-License-Identifier: BSL-1.0
// cumulative_sum<token>(x): at each position of a named axis, the sum of all positions up to it;
// x | flip<token>: the positions in the opposite order.
//
// Each sum is one addition to the sum before it, so the result depends on neither the memory layout
// nor the target.
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/float/cumulative_sum.hpp>
#include <umbel/layer/computing.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/operation/reduce.hpp>
#include <umbel/operation/softmax.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/copy.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace option {
struct exclusive;
struct from_last;
}  // namespace option
}  // namespace detail

// Option of cumulative_sum: without the position itself, so the first sum is 0.
struct exclusive {
  using kind = detail::option::exclusive;
};
// Option of cumulative_sum: from the last position to the first.
struct from_last {
  using kind = detail::option::from_last;
};

namespace detail {
// x: any axes; the result is a row-major tensor with the same. into(out, x): out may be x if that
// is row-major.
template <class Family, class... Options>
struct cumulative_sum_operation
    : computing<cumulative_sum_operation<Family, Options...>, say::cumulative_sum> {
  template <class X>
  using rule =
      first_error<rules::has_axis<say::cumulative_sum, layout_of<X>, Family>,
                  verdict<rules::is_number<typename X::value_type>, say::cumulative_sum,
                          say::needs_numbers_not, option_word<typename X::value_type>>,
                  rules::options<say::cumulative_sum,
                                 option_kinds<option::exclusive, option::from_last>, Options...>>;
  static constexpr bool is_exclusive = (std::is_same_v<Options, exclusive> || ...);
  static constexpr bool is_reversed = (std::is_same_v<Options, from_last> || ...);

  // The gradient of x is the sum from the other end.
  static constexpr bool is_linear = true;
  template <bool Gradient = false, class X, class Y>
  static constexpr void write(const X& x, Y& y) noexcept {
    using T = typename Y::value_type;
    constexpr kernel::softmax_shape shape = rows_along<layout_of<Y>, Family>;
    constexpr bool from_the_end = is_reversed != Gradient;
    const T* from = y.data();
    if constexpr (std::is_same_v<layout_of<X>, layout_of<Y>>)
      from = x.data();
    else
      copy(x, y);
    if constexpr (std::is_floating_point_v<T>)
      if (!__builtin_is_constant_evaluated())
        return kernel::cumulative_sum<shape, is_exclusive, from_the_end>(from, y.data());
    kernel::plain_cumulative_sum<shape, is_exclusive, from_the_end>(from, y.data());
  }
};

template <class... Families>
struct flip_operation : computing<flip_operation<Families...>, say::flip> {
  template <class X>
  using rule = first_error<
      rules::has_axis<say::flip, layout_of<X>, Families>...,
      rules::names_each_once<say::flip, shape<axis_of<layout_of<X>, Families>...>, Families...>>;
  static constexpr bool is_linear = true;
  template <bool = false, class X, class Y>
  static constexpr void write(const X& x, Y& y) noexcept {
    copy(x, y);
    (flip_along<rows_along<layout_of<Y>, Families>>(y.data()), ...);
  }

 private:
  template <kernel::softmax_shape S, class T>
  static constexpr void flip_along(T* y) noexcept {
    constexpr std::size_t last = (S.width - 1) * S.inner;
    for (std::size_t o = 0; o < S.outer; ++o, y += S.width * S.inner)
      for (std::size_t p = 0; p < S.width / 2 * S.inner; p += S.inner)
        for (std::size_t i = 0; i < S.inner; ++i) {
          const T first = y[p + i];
          y[p + i] = y[last - p + i];
          y[last - p + i] = first;
        }
  }
};
}  // namespace detail

// cumulative_sum<token>(x): the sums of positions 0, 0 to 1, ... of a named axis, as a row-major
// tensor with the axes of x. cumulative_sum<token, exclusive> leaves out the position itself, and
// from_last starts from the last one. Sums of integers overflow as + does.
template <template <std::size_t> class Axis, class... Options>
UMBEL_EXPECTS(
    "cumulative_sum: expects the name of an axis, then options; write cumulative_sum<token>(x)")
inline constexpr detail::cumulative_sum_operation<detail::family_of<Axis>,
                                                  Options...> cumulative_sum{};

// x | flip<token>: the positions of a named axis in the opposite order; flip<row, column> of
// several axes. Returns a row-major tensor.
template <template <std::size_t> class Axis, template <std::size_t> class... Rest>
UMBEL_EXPECTS("flip: expects names of axes; write flip<token>(x)")
inline constexpr detail::flip_operation<detail::family_of<Axis>, detail::family_of<Rest>...> flip{};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
