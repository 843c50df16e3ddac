// SPDX-License-Identifier: BSL-1.0
// x * w: the linear map y = x W + b of a tensor, with weights in any form (weights.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/layer/weights.hpp>
#include <umbel/tensor/pipe.hpp>
#include <umbel/tensor/refusal.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
namespace rules {
// Operation: its name in sentences.
template <class Operation, class Layout, class X, class Map>
using project = first_error<
    has_axis<Operation, Layout, typename Map::in::family>,
    verdict<Layout::template size_of<typename Map::in::family> == Map::in::size, Operation,
            say::the_input_has, axis_of<Layout, typename Map::in::family>,
            say::but_the_weights_expect, typename Map::in::plain>,
    is_new_axis<Operation, Layout, typename Map::out::family, typename Map::in::family>,
    verdict<std::is_same_v<X, typename Map::value_type>, Operation, say::the_input_has_type,
            element<X>, say::but_the_weights_have_type, element<typename Map::value_type>>>;
}  // namespace rules
}  // namespace detail

// Would x * w compile? projectable<queries, decltype(w.q)>.
template <class X, class Weights>
concept projectable = detail::one_is_invalid<X> ||
                      detail::rules::project<detail::say::x_times_weights, detail::layout_of<X>,
                                             typename std::remove_cvref_t<X>::value_type,
                                             typename std::remove_cvref_t<Weights>::map>::ok;

namespace detail {
// One kernel call for as many rows as lie evenly in memory, and a loop over the other axes.
template <class Parameters, class From, class To>
struct projection_loop {
  using map = typename Parameters::map;
  using T = typename map::value_type;
  using family = typename map::in::family;
  static constexpr std::size_t at = From::template position<family>;
  static constexpr bool even = From::contiguous && at + 1 == From::rank;
  static constexpr std::size_t row_axis = From::rank == 1        ? npos
                                          : at + 1 == From::rank ? From::rank - 2
                                                                 : From::rank - 1;

  template <std::size_t Axis>
  UMBEL_INLINE static constexpr void over_axes(const Parameters& w, const T* x, T* y) {
    if constexpr (even || From::rank == 1) {
      project<kernel::linear_shape{From::count / map::in::size, map::in::size, map::out::size,
                                   map::in::size, From::strides[at], map::out::size, 1,
                                   map::has_bias}>(w, x, y);
    } else if constexpr (Axis == From::rank) {
      project<kernel::linear_shape{From::extents[row_axis], map::in::size, map::out::size,
                                   From::strides[row_axis], From::strides[at],
                                   To::strides[row_axis], To::strides[at], map::has_bias}>(w, x, y);
    } else if constexpr (Axis == at || Axis == row_axis) {
      over_axes<Axis + 1>(w, x, y);
    } else {
      for (std::size_t i = 0; i < From::extents[Axis]; ++i)
        over_axes<Axis + 1>(w, x + i * From::strides[Axis], y + i * To::strides[Axis]);
    }
  }
};

// Owned weights as a view; other forms unchanged.
template <class T, class In, class Out, bool Bias>
constexpr portable::linear_view<T, In, Out, Bias> as_borrowed(
    const portable::linear_weights<T, In, Out, Bias>& w) {
  return w;
}
template <class Weights>
constexpr const Weights& as_borrowed(const Weights& w) {
  return w;
}

template <class Layout, class Map>
using projected = layout_with_axes<typename algebra::detail::replace_axes<
    Layout, Layout::template position<typename Map::in::family>, 1,
    shape<typename Map::out::plain>>::type>;

// y = x W + b, if the rule accepted it. y: row-major.
template <class X, class Weights, class Y>
constexpr void project_tensor(const X& x, const Weights& weights, Y& y) noexcept {
  const auto& w = as_borrowed(weights);
  using parameters = std::remove_cvref_t<decltype(w)>;
  projection_loop<parameters, layout_of<X>, layout_of<Y>>::template over_axes<0>(w, x.data(),
                                                                                 y.data());
}
}  // namespace detail

// x * w: replaces the axis In of x with Out and keeps the others. Returns a row-major tensor.
template <detail::shaped X, class Weights>
  requires(requires { typename Weights::map; } && !detail::has_its_weights<Weights>)
constexpr auto operator*(const X& x, const Weights& w) noexcept {
  using map = typename Weights::map;
  using verdict =
      detail::in_its_line<detail::rules::project<detail::say::x_times_weights, typename X::layout,
                                                 typename X::value_type, map>,
                          X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok && detail::traced<X>)
    return x.project(w);
  else if constexpr (verdict::ok)
    return detail::filled<
        detail::tensor_of<typename map::value_type, detail::projected<typename X::layout, map>>>(
        [&](auto& y) { detail::project_tensor(x, w, y); });
  else
    return detail::refusal<verdict>();
}
// w * x and x | w are not x * w: refused.
template <class Weights, detail::shaped X>
  requires requires { typename Weights::map; }
constexpr auto operator*(const Weights&, const X&) noexcept {
  using verdict =
      detail::in_its_line<detail::verdict<sizeof(X) == 0, detail::say::x_times_weights,
                                          detail::say::the_tensor_goes_on_the_left_of_its_weights>,
                          Weights, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}
template <detail::shaped X, class Weights>
  requires(!std::is_base_of_v<detail::operation, Weights> && requires { typename Weights::map; })
constexpr auto operator|(const X&, const Weights&) noexcept {
  using verdict = detail::in_its_line<detail::verdict<sizeof(X) == 0, detail::say::x_times_weights,
                                                      detail::say::needs_times_not_a_pipe>,
                                      X, Weights>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}
// x | w with the weights of a layer with parts: refused.
template <detail::shaped X, class Weights>
  requires(!std::is_base_of_v<detail::operation, Weights> &&
           requires { typename Weights::layer_name; })
constexpr auto operator|(const X&, const Weights&) noexcept {
  using verdict = detail::in_its_line<
      detail::verdict<sizeof(X) == 0, typename Weights::layer_name,
                      detail::say::got_its_weights_for_the_layer_so_write_x_pipe_layer_of_w>,
      X, Weights>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}
template <class Weights>
  requires requires { typename Weights::map; }
constexpr detail::invalid operator*(detail::invalid, const Weights&) noexcept {
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
