// SPDX-License-Identifier: BSL-1.0
// for_each: a loop nest over one shape's axes, with the elements of several tensors or views in
// step; a single loop if all are contiguous. Sizes and strides are constants, so it compiles to the
// handwritten nest.
#pragma once

#include <umbel/config.hpp>
#include <umbel/tensor/view.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct for_each;
}  // namespace say

UMBEL_SAYS(expects_a_function_then_tensors_or_views, "expects a function, then tensors or views");

template <std::size_t Axis, class... Layouts>
struct loop_over {
  using first = nth<0, Layouts...>;
  template <class F, class... T>
  UMBEL_INLINE static constexpr void each(F& f, T*... at) {
    if constexpr (Axis == first::rank) {
      f(*at...);
    } else if constexpr (Axis == 0 && (Layouts::contiguous && ...)) {
      for (std::size_t i = 0; i < first::count; ++i) f(at[i]...);
    } else {
      for (std::size_t i = 0; i < first::extents[Axis]; ++i)
        loop_over<Axis + 1, Layouts...>::each(f, at + i * Layouts::strides[Axis]...);
    }
  }
};

}  // namespace detail

// for_each(f, x, y...): calls f(x_element, y_element...) for every position, the last axis fastest.
// x, y... have the same axes in the same order ("elementwise: ... have different axes").
template <class F, detail::tensor_like X, detail::tensor_like... Y>
UMBEL_INLINE constexpr void for_each(F&& f, X&& x, Y&&... y) {
  using verdict =
      detail::first_error<detail::rules::same_shape<detail::say::elementwise, detail::layout_of<X>,
                                                    detail::layout_of<Y>>...,
                          detail::accepted>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) {
    UMBEL_HAS_EFFECTS();
    detail::loop_over<0, detail::layout_of<X>, detail::layout_of<Y>...>::each(f, x.data(),
                                                                              y.data()...);
  }
}
template <class F, class... X>
  requires detail::one_is_invalid<X...>
constexpr void for_each(F&&, X&&...) {}
// The function last, as in the standard library: refused.
template <detail::tensor_like X, class... Rest>
  requires(!(detail::tensor_like<Rest> && ...) && !detail::one_is_invalid<Rest...>)
constexpr void for_each(X&&, Rest&&...) {
  using verdict = detail::verdict<(sizeof(detail::layout_of<X>) == 0), detail::say::for_each,
                                  detail::say::expects_a_function_then_tensors_or_views>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
