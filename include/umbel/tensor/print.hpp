// SPDX-License-Identifier: BSL-1.0
// out << x prints the axes of a tensor or view, then its elements, one row of the last axis per
// line:
//
//   [query=2, key=3]
//   1 2 3
//   4 5 6
//
// A blank line separates rows that differ in axes before the last two. out is a standard stream, or
// any type with its << for numbers and text; no stream is included here. Nothing follows the last
// element.
#pragma once

#include <umbel/config.hpp>
#include <umbel/tensor/view.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
template <class Layout>
inline constexpr sentence_buffer axes_as_text = [] {
  sentence_buffer out;
  speak<typename Layout::axes>::to(out);
  return out;
}();

// Booleans and characters print as numbers; types without <<, such as 16-bit floats, print as
// float.
template <class Stream, class T>
void print_element(Stream& out, const T& element) {
  if constexpr (std::is_arithmetic_v<T>)
    out << +element;
  else if constexpr (requires { out << element; })
    out << element;
  else
    out << static_cast<float>(element);
}

template <std::size_t Axis, class Layout, class Stream, class T>
void print_axis(Stream& out, const T* at) {
  if constexpr (Axis == Layout::rank) {
    print_element(out, *at);
  } else {
    constexpr const char* between = Axis + 1 == Layout::rank   ? " "
                                    : Axis + 2 == Layout::rank ? "\n"
                                                               : "\n\n";
    for (std::size_t i = 0; i < Layout::extents[Axis]; ++i) {
      if (i != 0) out << between;
      print_axis<Axis + 1, Layout>(out, at + i * Layout::strides[Axis]);
    }
  }
}

template <class Stream>
concept text_stream = !tensor_like<Stream> && requires(Stream& out) {
  out << "text";
  out << 1;
};

namespace say {
struct print;
}  // namespace say
UMBEL_SAYS(cannot_be_printed_so_print_a_view_of_their_memory_view_as,
           "cannot be printed; print view_as<...>(w.q.weight), a view of their memory");

// The name of weights or of a layer with weights in the message: a map's axes, or the layer.
template <class W>
struct name_of_weights {};
template <class W>
  requires requires { typename W::map; }
struct name_of_weights<W> {
  using type = shape<typename W::map::in, typename W::map::out>;
};
template <class W>
  requires requires { typename W::layer_name; }
struct name_of_weights<W> {
  using type = typename W::layer_name;
};
template <class W>
  requires requires { typename W::word; }
struct name_of_weights<W> {
  using type = typename W::word;
};

// How to print types that have no text.
template <class X>
struct print_of {};
UMBEL_SAYS(is_on_the_left_of_a_stream_operator,
           "is on the left of <<; write a list, {1, 2, 3}, or std::cout << x");
UMBEL_SAYS(has_no_text_so_print_its_error, "cannot be printed; print its error()");
UMBEL_SAYS(has_no_text_so_print_its_c_str, "cannot be printed; print its c_str()");
UMBEL_SAYS(has_no_text_so_copy_it, "cannot be printed; print a copy, made by copy_to");
UMBEL_SAYS(has_no_text_so_print_its_largest,
           "cannot be printed; print its largest and its path.c_str()");
UMBEL_SAYS(has_no_text_so_print_its_norm,
           "cannot be printed; print its norm and whether it is true");

}  // namespace detail

template <class Stream, detail::tensor_like X>
  requires detail::text_stream<Stream>
Stream& operator<<(Stream& out, const X& x) {
  out << detail::axes_as_text<detail::layout_of<X>>.chars << "\n";
  detail::print_axis<0, detail::layout_of<X>>(out, x.data());
  return out;
}
// Weights are not a tensor.
template <class Stream, class W>
  requires(requires { typename detail::name_of_weights<W>::type; } && detail::text_stream<Stream>)
Stream& operator<<(Stream& out, const W&) {
  using verdict =
      detail::verdict<sizeof(W) == 0, detail::say::print, detail::say::the_weights_of,
                      typename detail::name_of_weights<W>::type,
                      detail::say::cannot_be_printed_so_print_a_view_of_their_memory_view_as>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return out;
}
// Results and names are refused: see print_of.
template <class Stream, class X>
  requires(requires { typename detail::print_of<X>::instead; } && detail::text_stream<Stream>)
Stream& operator<<(Stream& out, const X&) {
  using verdict = detail::verdict<sizeof(X) == 0, detail::say::print, detail::element<X>,
                                  typename detail::print_of<X>::instead>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return out;
}
template <class Stream, class X>
  requires(detail::one_is_invalid<X> && detail::text_stream<Stream>)
Stream& operator<<(Stream& out, const X&) {
  return out;
}

// x << 1, 2, 3 as in Eigen: refused.
namespace detail {
struct refused_list : invalid {
  template <class Element>
  constexpr refused_list operator,(const Element&) const noexcept {
    return {};
  }
};
}  // namespace detail
template <detail::tensor_like X, class Element>
  requires std::is_arithmetic_v<Element>
constexpr detail::refused_list operator<<(const X&, const Element&) noexcept {
  using verdict =
      detail::verdict<sizeof(X) == 0, detail::say::tensor, typename detail::layout_of<X>::axes,
                      detail::say::is_on_the_left_of_a_stream_operator>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
