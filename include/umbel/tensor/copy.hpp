// SPDX-License-Identifier: BSL-1.0
// Operations that move elements, always by name: contiguous, transposed, copy. Nothing else copies
// a tensor, except re-reading a temporary (pipe.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/pipe.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct contiguous;
}  // namespace say

struct contiguous_operation : detail::other_calls<say::contiguous> {
  using detail::other_calls<say::contiguous>::operator();
  template <shaped X>
  constexpr auto operator()(const X& x) const noexcept {
    if constexpr (traced<X>)
      return x.contiguous();
    else
      return tensor_of<typename X::value_type, row_major<typename X::layout>>(x);
  }
};
}  // namespace detail

// x | contiguous: a row-major copy with the same axes in the same order.
inline constexpr detail::contiguous_operation contiguous{};
namespace detail {
// The families of Axes with First and Second exchanged.
template <class First, class Second, class Axes>
struct exchange;
template <class First, class Second, class... Axes>
struct exchange<First, Second, shape<Axes...>> {
  template <class Family>
  using of = std::conditional_t<std::is_same_v<Family, First>, Second,
                                std::conditional_t<std::is_same_v<Family, Second>, First, Family>>;
  template <class Layout>
  using result = algebra::permute<Layout, of<typename Axes::family>...>;
};

template <template <std::size_t> class First, template <std::size_t> class Second>
struct transposed_operation : detail::other_calls<say::transposed> {
  using detail::other_calls<say::transposed>::operator();
  template <class X>
  using pipe_rule =
      rules::transposed<layout_of<X>, detail::family_of<First>, detail::family_of<Second>>;
  template <tensor_like X>
  constexpr auto operator()(const X& x) const noexcept {
    using from = typename X::layout;
    using verdict = pipe_rule<X>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok)
      return contiguous(
          detail::reread<
              typename detail::exchange<detail::family_of<First>, detail::family_of<Second>,
                                        typename from::axes>::template result<from>>(x));
    else
      return invalid{};
  }
};
}  // namespace detail

// x | transposed<hidden, classes>: a row-major copy with the two axes exchanged.
template <template <std::size_t> class First, template <std::size_t> class Second>
UMBEL_EXPECTS("transposed: expects the names of two axes; write transposed<query, key>(x)")
inline constexpr detail::transposed_operation<First, Second> transposed{};

// copy(from, to): copies elements between tensors or views with the same axes in the same order,
// each cast to the element type of `to`. Every element of `to` needs its own memory location. The
// two must not overlap, unless they are the same elements in the same places.
template <detail::tensor_like From, detail::tensor_like To>
constexpr void copy(const From& from, To&& to) noexcept {
  using verdict = detail::first_error<
      detail::rules::same_shape<detail::say::copy, detail::layout_of<From>, detail::layout_of<To>>,
      detail::rules::writable<detail::say::copy, detail::say::the_target, To>>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    for_each(
        [](const auto& source, auto& target) {
          target = static_cast<std::remove_cvref_t<decltype(target)>>(source);
        },
        from, to);
}
// To the weights of a map: refused, since their memory does not name its axes.
template <detail::tensor_like From, class To>
  requires requires { typename std::remove_cvref_t<To>::map; }
constexpr void copy(const From&, To&&) noexcept {
  static_assert(detail::report<detail::rules::copied_to_weights<detail::layout_of<From>>>::ok,
                "umbel: shapes do not fit");
}
template <class From, class To>
  requires detail::one_is_invalid<From, To>
constexpr void copy(const From&, To&&) noexcept {}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
