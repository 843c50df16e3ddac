// SPDX-License-Identifier: BSL-1.0
// concat<token>(a, b, ...) joins tensors along an axis that they have, stack<batch>(a, b, ...)
// along a new one in front; x | roll<token, 3> moves positions in a circle. All copy.
#pragma once

#include <initializer_list>
#include <umbel/config.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/operation/elementwise_function.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/copy.hpp>
#include <umbel/tensor/reshape.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct concat;
struct roll;
struct stack;
struct expects_tensors_or_views;
}  // namespace say

UMBEL_SAYS(expects_each_tensor_or_view_as_an_argument_so_write_f_of_a_and_b,
           "expects each tensor or view as an argument; write (a, b) instead of a list");

namespace rules {
template <class Name, class... X>
using not_in_a_list =
    verdict<one_is_invalid<X...>, Name,
            say::expects_each_tensor_or_view_as_an_argument_so_write_f_of_a_and_b>;
template <class Layout, class Family>
using other_axes = typename algebra::slice<row_major<Layout>, Family, 1>::axes;

template <class First, class Layout, class Family,
          bool HaveIt = First::template has<Family> && Layout::template has<Family>>
struct concat_pair_rule {
  using type = accepted;  // has_axis reports it
};
template <class First, class Layout, class Family>
struct concat_pair_rule<First, Layout, Family, true> {
  using type = verdict<std::is_same_v<other_axes<First, Family>, other_axes<Layout, Family>>,
                       say::concat, typename First::axes, say::and_, typename Layout::axes,
                       struct differ_in_more_than_the_axis, Family>;
};

template <class Family, class... X>
struct concat_rule {
  using type = verdict<one_is_invalid<X...>, say::concat, say::expects_tensors_or_views>;
};
template <class Family, shaped First, shaped... X>
struct concat_rule<Family, First, X...> {
  using type =
      first_error<has_axis<say::concat, layout_of<First>, Family>,
                  has_axis<say::concat, layout_of<X>, Family>...,
                  typename concat_pair_rule<layout_of<First>, layout_of<X>, Family>::type...,
                  same_element<say::concat, typename First::value_type, typename X::value_type>...,
                  accepted>;
};
template <class Family, class... X>
using concat = typename concat_rule<Family, std::remove_cvref_t<X>...>::type;

template <class Family, class... X>
struct stack_rule {
  using type = verdict<one_is_invalid<X...>, say::stack, say::expects_tensors_or_views>;
};
template <class Family, shaped First, shaped... X>
struct stack_rule<Family, First, X...> {
  using type =
      first_error<is_new_axis<say::stack, layout_of<First>, Family>,
                  same_shape<say::stack, layout_of<First>, layout_of<X>>...,
                  same_element<say::stack, typename First::value_type, typename X::value_type>...,
                  accepted>;
};
template <class Family, class... X>
using stack = typename stack_rule<Family, std::remove_cvref_t<X>...>::type;
}  // namespace rules

template <class Layout, class Family, std::size_t Size>
using resized = row_major<algebra::slice<row_major<Layout>, Family, Size>>;
template <class Axis, class Axes>
struct axis_in_front;
template <class Axis, class... Axes>
struct axis_in_front<Axis, shape<Axes...>> {
  using type = layout<Axis, Axes...>;
};

// Outside formulas: none of them is a node.
template <class... X>
concept tensors_to_join = (elements<X> || ...) && !(traced<X> || ...);

}  // namespace detail

// Would concat<Axis>(x...) compile? concatenable<token, X, Y>.
template <template <std::size_t> class Axis, class... X>
concept concatenable = detail::fits<detail::rules::concat<detail::family_of<Axis>, X...>>;
// Would stack<Axis>(x...) compile? stackable<batch, X, Y>.
template <template <std::size_t> class Axis, class... X>
concept stackable = detail::fits<detail::rules::stack<detail::family_of<Axis>, X...>>;

// concat<token>(a, b, c): one after another along a named axis, whose sizes add up. All have the
// same axes in the same order and, except along this axis, the same sizes. Returns a row-major
// tensor.
template <template <std::size_t> class Axis, class First, class... X>
  requires detail::tensors_to_join<First, X...>
constexpr auto concat(const First& first, const X&... x) noexcept {
  using family = detail::family_of<Axis>;
  using verdict = detail::rules::concat<family, First, X...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok && !detail::one_is_invalid<First, X...>) {
    constexpr std::size_t size = (First::template extent<Axis> + ... + X::template extent<Axis>);
    using T = typename First::value_type;
    using result = detail::resized<detail::layout_of<First>, family, size>;
    return detail::filled<detail::tensor_of<T, result>>([&](auto& out) {
      T* to = out.data();
      const auto put = [&]<class Part>(const Part& part) {
        constexpr std::size_t positions = Part::template extent<Axis>;
        copy(part, detail::view_of<T, detail::algebra::slice<result, family, positions>>(to));
        to += positions * result::template stride_of<family>;
      };
      put(first);
      (put(x), ...);
    });
  } else {
    return detail::invalid{};
  }
}

// stack<batch>(a, b, c): along a new axis in front, with one position per argument; all have the
// same axes. Returns a row-major tensor.
template <template <std::size_t> class Axis, class First, class... X>
  requires detail::tensors_to_join<First, X...>
constexpr auto stack(const First& first, const X&... x) noexcept {
  using verdict = detail::rules::stack<detail::family_of<Axis>, First, X...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok && !detail::one_is_invalid<First, X...>) {
    using T = typename First::value_type;
    using one = detail::row_major<detail::layout_of<First>>;
    using result = typename detail::axis_in_front<Axis<1 + sizeof...(X)>, typename one::axes>::type;
    return detail::filled<detail::tensor_of<T, result>>([&](auto& out) {
      T* to = out.data();
      const auto put = [&](const auto& part) {
        copy(part, detail::view_of<T, one>(to));
        to += one::count;
      };
      put(first);
      (put(x), ...);
    });
  } else {
    return detail::invalid{};
  }
}

// A list of tensors, numbers or nothing: refused.
template <template <std::size_t> class Axis, class... X>
  requires(!(... || detail::shaped<X>))
constexpr detail::invalid concat(const X&...) noexcept {
  static_assert(detail::report<detail::rules::not_in_a_list<detail::say::concat, X...>>::ok,
                "umbel: shapes do not fit");
  return {};
}
template <template <std::size_t> class Axis, class X>
constexpr detail::invalid concat(std::initializer_list<X>) noexcept {
  static_assert(detail::report<detail::rules::not_in_a_list<detail::say::concat, X>>::ok,
                "umbel: shapes do not fit");
  return {};
}
template <template <std::size_t> class Axis, class X>
constexpr detail::invalid stack(std::initializer_list<X>) noexcept {
  static_assert(detail::report<detail::rules::not_in_a_list<detail::say::stack, X>>::ok,
                "umbel: shapes do not fit");
  return {};
}
template <template <std::size_t> class Axis, class... X>
  requires(!(... || detail::shaped<X>))
constexpr detail::invalid stack(const X&...) noexcept {
  static_assert(detail::report<detail::rules::not_in_a_list<detail::say::stack, X...>>::ok,
                "umbel: shapes do not fit");
  return {};
}
// With other template arguments: refused.
#define UMBEL_INSTEAD                                                                          \
  "expects the name of one axis; write concat<token>(a, b) along an axis, stack<batch>(a, b) " \
  "along a new one"
UMBEL_REFUSED_RESULT(concat, UMBEL_INSTEAD)
UMBEL_REFUSES_NUMBERS_OF_TENSOR(concat, UMBEL_INSTEAD)
UMBEL_REFUSES_OF_TENSOR(concat, UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSES_OF_TENSOR(concat, UMBEL_INSTEAD, UMBEL_TWO_NAMES)
UMBEL_REFUSED_RESULT(stack, UMBEL_INSTEAD)
UMBEL_REFUSES_NUMBERS_OF_TENSOR(stack, UMBEL_INSTEAD)
UMBEL_REFUSES_OF_TENSOR(stack, UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSES_OF_TENSOR(stack, UMBEL_INSTEAD, UMBEL_TWO_NAMES)
#undef UMBEL_INSTEAD

namespace detail {
inline constexpr long no_positions = -__LONG_MAX__ - 1;
template <template <std::size_t> class Axis, long By>
struct roll_operation : other_calls<say::roll> {
  using other_calls<say::roll>::operator();
  template <class X>
  using pipe_rule =
      first_error<rules::has_axis<say::roll, layout_of<X>, family_of<Axis>>,
                  verdict<By != no_positions, say::roll, struct needs_a_number_of_positions_along,
                          axis_of<layout_of<X>, family_of<Axis>>>>;
  template <shaped X>
  constexpr auto operator()(const X& x) const noexcept {
    using verdict = pipe_rule<X>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      constexpr auto size = static_cast<long>(layout_of<X>::template size_of<family_of<Axis>>);
      constexpr auto by = static_cast<std::size_t>((By % size + size) % size);
      if constexpr (by == 0) {
        return contiguous(x);
      } else {
        constexpr std::size_t others = static_cast<std::size_t>(size) - by;
        return concat<Axis>(x | slice<Axis, from<others>, extent<by>>,
                            x | slice<Axis, from<0>, extent<others>>);
      }
    } else {
      return invalid{};
    }
  }
};
}  // namespace detail

// x | roll<token, 3>: each position moves 3 further, the last to the start, as numpy's roll. A
// negative number moves them back. Returns a row-major tensor.
template <template <std::size_t> class Axis, long By = detail::no_positions>
UMBEL_EXPECTS("roll: expects an axis, then a number of positions; write roll<token, 1>")
inline constexpr detail::roll_operation<Axis, By> roll{};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
