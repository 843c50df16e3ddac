// SPDX-License-Identifier: BSL-1.0
// cumulative_sum<token>(x): at each position of a named axis, the sum of all positions up to it;
// x | flip<token>: the positions in the opposite order.
//
// Each sum is one addition to the sum before it, so the result depends on neither the memory layout
// nor the target.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/computing.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/operation/reduce.hpp>
#include <umbel/tensor/copy.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace option {
struct exclusive;
struct reversed;
}  // namespace option
}  // namespace detail

// Option of cumulative_sum: without the position itself, so the first sum is 0.
struct exclusive {
  using kind = detail::option::exclusive;
};
// Option of cumulative_sum: from the last position to the first.
struct reversed {
  using kind = detail::option::reversed;
};

namespace detail {
// The rows of a row-major layout along an axis: element p of row i of `inner` neighbors is at
// (outer * width + p) * inner + i.
template <class Layout, class Family>
struct rows_along {
  static constexpr std::size_t width = Layout::template size_of<Family>;
  static constexpr std::size_t inner = Layout::template stride_of<Family>;
  static constexpr std::size_t outer = Layout::count / (width * inner);
  // Several rows at a time, which the compiler adds side by side.
  static constexpr std::size_t at_once = 16;
  // Between the rows of a block.
  static constexpr std::size_t step = inner == 1 ? width : 1;
  static constexpr std::size_t rows = inner == 1 ? outer : inner;

  template <bool Exclusive, bool Reversed, std::size_t Rows, class T>
  static constexpr void add_up(T* y) noexcept {
    T sums[Rows]{};
    for (std::size_t i = 0; i < width; ++i) {
      T* const at = y + (Reversed ? width - 1 - i : i) * inner;
      for (std::size_t r = 0; r < Rows; ++r) {
        const T before = sums[r];
        sums[r] = before + at[r * step];
        at[r * step] = Exclusive ? before : sums[r];
      }
    }
  }
  template <bool Exclusive, bool Reversed, class T>
  static constexpr void add_up_all(T* y) noexcept {
    for (std::size_t o = 0; o < (inner == 1 ? 1 : outer); ++o, y += width * inner) {
      constexpr std::size_t whole = rows / at_once * at_once;
      for (std::size_t r = 0; r < whole; r += at_once)
        add_up<Exclusive, Reversed, at_once>(y + r * step);
      if constexpr (rows != whole) add_up<Exclusive, Reversed, rows - whole>(y + whole * step);
    }
  }
  template <class T>
  static constexpr void flip(T* y) noexcept {
    for (std::size_t o = 0; o < outer; ++o, y += width * inner)
      for (std::size_t p = 0; p < width / 2; ++p)
        for (std::size_t i = 0; i < inner; ++i) {
          const T first = y[p * inner + i];
          y[p * inner + i] = y[(width - 1 - p) * inner + i];
          y[(width - 1 - p) * inner + i] = first;
        }
  }
};

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
                                 option_kinds<option::exclusive, option::reversed>, Options...>>;
  static constexpr bool is_exclusive = (std::is_same_v<Options, exclusive> || ...);
  static constexpr bool is_reversed = (std::is_same_v<Options, reversed> || ...);

  // The gradient of x is the sum from the other end.
  static constexpr bool is_linear = true;
  template <bool Gradient = false, class X, class Y>
  static constexpr void write(const X& x, Y& y) noexcept {
    copy(x, y);
    rows_along<layout_of<Y>, Family>::template add_up_all<is_exclusive, is_reversed != Gradient>(
        y.data());
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
    (rows_along<layout_of<Y>, Families>::flip(y.data()), ...);
  }
};
}  // namespace detail

// cumulative_sum<token>(x): the sums of positions 0, 0 to 1, ... of a named axis, as a row-major
// tensor with the axes of x. cumulative_sum<token, exclusive> leaves out the position itself, and
// reversed starts from the last one. Sums of integers overflow as + does.
template <template <std::size_t> class Axis, class... Options>
inline constexpr detail::cumulative_sum_operation<detail::family_of<Axis>, Options...>
    cumulative_sum{};

// x | flip<token>: the positions of a named axis in the opposite order; flip<row, column> of
// several axes. Returns a row-major tensor.
template <template <std::size_t> class Axis, template <std::size_t> class... Rest>
inline constexpr detail::flip_operation<detail::family_of<Axis>, detail::family_of<Rest>...> flip{};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
