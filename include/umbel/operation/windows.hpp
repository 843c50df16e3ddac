// SPDX-License-Identifier: BSL-1.0
// windows<token, kernel_size<3>>(x): neighboring positions of a named axis, as overlapping views of
// the same memory; padded<token, before<1>, after<1>>(x): more positions at either end. A
// convolution is a product of both (docs/how-to/convolutions.md):
//
//   x (token, hidden), weight (kernel_size, hidden, out_features)
//   contract<kernel_size, hidden>(x | windows<token, kernel_size<3>>, weight)
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/operation/concat.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/reshape.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace option {
struct stride;
struct dilation;
struct before;
struct after;
}  // namespace option
}  // namespace detail

// Option of windows: positions from one window to the next, 1 by default.
template <std::size_t Positions>
struct stride {
  using kind = detail::option::stride;
  static constexpr std::size_t positions = Positions;
};
// Option of windows: positions from one element of a window to the next, 1 by default.
template <std::size_t Positions>
struct dilation {
  using kind = detail::option::dilation;
  static constexpr std::size_t positions = Positions;
};
// Option of padded: the number of positions before the first, 0 by default.
template <std::size_t Positions>
struct before {
  using kind = detail::option::before;
  static constexpr std::size_t positions = Positions;
};
// Option of padded: the number of positions after the last, 0 by default.
template <std::size_t Positions>
struct after {
  using kind = detail::option::after;
  static constexpr std::size_t positions = Positions;
};

namespace detail {
UMBEL_SAYS(expects_one_tensor_or_view_then_a_number, "expects one tensor or view, then a number");
UMBEL_SAYS(so_write_before_or_after, "; write padded<token, before<1>, after<1>>");
UMBEL_SAYS(expects_two_axes_and_two_sizes_so_for_a_stride_write_windows,
           "expects two axes and two sizes, and patches lie side by side; for a stride write "
           "windows<row, kernel_row<3>, stride<2>>, then windows of column");
UMBEL_SAYS(positions_but_the_axis_is, "positions, but the axis is");
UMBEL_SAYS(expects_the_size_of_a_patch_as_two_axes,
           "expects the size of a patch as two axes; write patches<row, column, kernel_row<4>, "
           "kernel_column<4>>");
UMBEL_SAYS(expects_the_size_of_a_window_as_an_axis_so_write_windows,
           "expects the size of a window as an axis; write windows<token, kernel_size<3>>");

// The options of windows and of padded.
template <class... Options>
struct window_steps {
  using of_windows = option_or<option::stride, stride<1>, Options...>;
  using in_windows = option_or<option::dilation, dilation<1>, Options...>;
};
template <class... Options>
struct padding {
  static constexpr std::size_t first = option_or<option::before, before<0>, Options...>::positions;
  static constexpr std::size_t last = option_or<option::after, after<0>, Options...>::positions;
};

namespace rules {
template <class Layout, class Family, class Size, std::size_t Span>
using window_fits = first_error<
    well_formed<Size>, is_new_axis<say::windows, Layout, typename Size::family>,
    verdict<(Span <= Layout::template size_of<Family>), say::windows, typename Size::plain,
            struct spans, number<Span>, say::positions_but_the_axis_is, axis_of<Layout, Family>>>;
template <class Layout, class Family, class Size, class... Options>
struct windows_rule {
  using type = verdict<never<Size>, say::windows,
                       say::expects_the_size_of_a_window_as_an_axis_so_write_windows>;
};
template <class Layout, class Family, axis_like Size, class... Options>
struct windows_rule<Layout, Family, Size, Options...> {
  using steps = typename window_steps<Options...>::of_windows;
  using spread = typename window_steps<Options...>::in_windows;
  using options_fit =
      first_error<options<say::windows, option_kinds<option::stride, option::dilation>, Options...>,
                  verdict<steps::positions != 0, say::windows, steps, struct must_be_1_or_more>,
                  verdict<spread::positions != 0, say::windows, spread, struct must_be_1_or_more>>;
  using type =
      first_error<has_axis<say::windows, Layout, Family>, options_fit,
                  window_fits<Layout, Family, Size, algebra::window_span<Size, spread::positions>>>;
};

// Windows that cover an axis, side by side.
template <class Layout, class Family, class Size>
using covers = first_error<
    has_axis<say::patches, Layout, Family>, well_formed<Size>,
    is_new_axis<say::patches, Layout, typename Size::family>,
    verdict<Size::size <= Layout::template size_of<Family>, say::patches, typename Size::plain,
            struct is_larger_than, axis_of<Layout, Family>>,
    verdict<Layout::template size_of<Family> % (Size::size ? Size::size : 1) == 0, say::patches,
            axis_of<Layout, Family>, say::into, typename Size::plain, say::leaves_a_remainder_of,
            number<Layout::template size_of<Family> % (Size::size ? Size::size : 1)>>>;
template <class Layout, class Row, class Column, class Height, class Width, class... More>
struct patches_rule {
  using type = verdict<never<Height>, say::patches, say::expects_the_size_of_a_patch_as_two_axes>;
};
template <class Layout, class Row, class Column, class Height, class Width, class First,
          class... More>
struct patches_rule<Layout, Row, Column, Height, Width, First, More...> {
  using type = verdict<never<First>, say::patches,
                       say::expects_two_axes_and_two_sizes_so_for_a_stride_write_windows>;
};
template <class Layout, class Row, class Column, axis_like Height, axis_like Width>
struct patches_rule<Layout, Row, Column, Height, Width> {
  using type = first_error<names_each_once<say::patches, shape<Height, Width>,
                                           typename Height::family, typename Width::family>,
                           names_each_once<say::patches, typename Layout::axes, Row, Column>,
                           covers<Layout, Row, Height>, covers<Layout, Column, Width>>;
};

template <class Layout, class Family, class... Options>
using padded = first_error<
    has_axis<say::padded, Layout, Family>,
    verdict<sizeof...(Options) != 0, say::padded, struct adds_nothing_to, axis_of<Layout, Family>,
            say::so_write_before_or_after>,
    options<say::padded, option_kinds<option::before, option::after>, Options...>,
    holds<typename Family::template sized<Layout::template size_of<Family> +
                                          padding<Options...>::first + padding<Options...>::last>>>;
}  // namespace rules

template <template <std::size_t> class Axis, class Size, class... Options>
struct windows_operation : rereading<windows_operation<Axis, Size, Options...>, say::windows> {
  template <class Layout>
  using rule = typename rules::windows_rule<Layout, family_of<Axis>, Size, Options...>::type;
  template <class Layout>
  using result = algebra::windows<Layout, family_of<Axis>, axis_or_none<Size>,
                                  window_steps<Options...>::of_windows::positions,
                                  window_steps<Options...>::in_windows::positions>;
};

template <template <std::size_t> class Row, template <std::size_t> class Column, class Height,
          class Width, class... More>
struct patches_operation
    : rereading<patches_operation<Row, Column, Height, Width, More...>, say::patches> {
  template <class Layout>
  using rule = typename rules::patches_rule<Layout, family_of<Row>, family_of<Column>, Height,
                                            Width, More...>::type;
  template <class Layout>
  using result = algebra::windows<
      algebra::windows<Layout, family_of<Row>, axis_or_none<Height>, axis_or_none<Height>::size, 1>,
      family_of<Column>, axis_or_none<Width>, axis_or_none<Width>::size, 1>;
};

template <template <std::size_t> class Axis, class... Options>
struct padded_operation : other_calls<say::padded, say::expects_one_tensor_or_view_then_a_number> {
  using other_calls<say::padded, say::expects_one_tensor_or_view_then_a_number>::operator();
  static constexpr std::size_t first = padding<Options...>::first, last = padding<Options...>::last;

  template <class X>
  using pipe_rule = rules::padded<layout_of<X>, family_of<Axis>, Options...>;

  template <shaped X, class V = int>
    requires std::is_arithmetic_v<V>
  [[nodiscard]] constexpr auto operator()(const X& x, V number = 0) const noexcept {
    using verdict = in_its_line<pipe_rule<X>, X>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok && becomes_numbers<X>()) {
      auto y = (*this)(x.in_numbers(), number);
      if constexpr (std::is_same_v<typename X::value_type, bool>)
        return y.as_conditions();
      else
        return y;
    } else if constexpr (verdict::ok) {
      const auto value = static_cast<typename X::value_type>(number);
      if constexpr (first != 0 && last != 0)
        return concat<Axis>(repeated<first>(x, value), x, repeated<last>(x, value));
      else if constexpr (first != 0)
        return concat<Axis>(repeated<first>(x, value), x);
      else if constexpr (last != 0)
        return concat<Axis>(x, repeated<last>(x, value));
      else
        return contiguous(x);
    } else {
      return refusal<verdict>();
    }
  }

 private:
  // Conditions and integers become numbers of the formula.
  template <class X>
  static constexpr bool becomes_numbers() noexcept {
    if constexpr (traced<X>)
      return !std::is_same_v<typename X::value_type, typename X::T>;
    else
      return false;
  }
  // One number, read at every position.
  template <std::size_t Positions, class X, class T>
  static constexpr auto repeated(const X& x, const T& value) noexcept {
    using like = resized<layout_of<X>, family_of<Axis>, Positions>;
    using of_one = algebra::broadcast_to<layout<>, typename like::axes>;
    if constexpr (traced<X>)
      return x.as_node_like(value).template reread<of_one>(0);
    else
      return view_of<const T, of_one>(&value);
  }
};
}  // namespace detail

// windows<token, kernel_size<3>>(x): token=8 becomes token=6, the windows, and after it
// kernel_size=3, the positions of each. stride<2> starts every second window, dilation<2> reads
// every second position; positions after the last whole window are left out. Windows overlap: a
// view of the same memory, to read from. For images, one axis after the other:
// x | windows<row, kernel_row<3>> | windows<column, kernel_column<3>>.
template <template <std::size_t> class Axis, class Size = void, class... Options>
UMBEL_EXPECTS(
    "windows: expects one axis, then the size of a window; write windows<token, kernel_size<3>>")
inline constexpr detail::windows_operation<Axis, Size, Options...> windows{};

// patches<row, column, kernel_row<4>, kernel_column<4>>(x): row=32, column=32 become row=8,
// kernel_row=4, column=8, kernel_column=4, the patches of an image as a vision transformer has
// them. A view of the same memory. Sizes that leave a remainder do not compile.
template <template <std::size_t> class Row, template <std::size_t> class Column,
          class Height = void, class Width = void, class... More>
UMBEL_EXPECTS(
    "patches: expects two axes and the sizes of a patch; write patches<row, column, kernel_row<4>, "
    "kernel_column<4>>")
inline constexpr detail::patches_operation<Row, Column, Height, Width, More...> patches{};

// padded<token, before<1>, after<1>>(x): token=8 becomes token=10; the new positions are 0, or the
// number of padded<token, before<1>>(x, -1.0f), converted to the element type. Returns a row-major
// tensor.
template <template <std::size_t> class Axis, class... Options>
UMBEL_EXPECTS(
    "padded: expects an axis, then numbers of positions; write padded<token, before<1>, after<1>>")
inline constexpr detail::padded_operation<Axis, Options...> padded{};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
