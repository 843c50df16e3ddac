// SPDX-License-Identifier: BSL-1.0
// Elements chosen by a condition, a tensor or view of bool (tensor/compare.hpp): where(condition,
// a, b), and hide(scores, condition), whose hidden scores get no weight from a softmax.
#pragma once

#include <umbel/config.hpp>
#include <umbel/operation/elementwise_function.hpp>
#include <umbel/tensor/compare.hpp>
#include <umbel/tensor/contract.hpp>
#include <umbel/tensor/refusal.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
UMBEL_SAYS(expects_a_condition_then_two_tensors_views_or_numbers,
           "expects a condition, then two tensors, views or numbers");

template <class A>
struct element_of_operand {
  using type = A;
};
template <tensor_like A>
struct element_of_operand<A> {
  using type = typename A::value_type;
};

namespace rules {
template <class C, class A>
struct choice_rule {
  using type = accepted;
};
template <class C, tensor_like A>
struct choice_rule<C, A> {
  using type = same_shape<say::where, layout_of<C>, layout_of<A>>;
};
// A number converts to the element type of the other choice.
template <class A, class B>
struct choices_rule {
  using type = same_element<say::where, typename element_of_operand<A>::type,
                            typename element_of_operand<B>::type>;
};
template <tensor_like A, scalar B>
struct choices_rule<A, B> {
  using type = keeps_fractions<B, typename A::value_type, say::where>;
};
template <scalar A, tensor_like B>
struct choices_rule<A, B> : choices_rule<B, A> {};

template <class... X>
struct where_rule {
  using type = verdict<one_is_invalid<X...>, say::where,
                       say::expects_a_condition_then_two_tensors_views_or_numbers>;
};
template <tensor_like C, operand A, operand B>
struct where_rule<C, A, B> {
  using type = first_error<condition<say::where, C>, typename choice_rule<C, A>::type,
                           typename choice_rule<C, B>::type, typename choices_rule<A, B>::type>;
};
template <class... X>
using where = typename where_rule<X...>::type;

template <class... X>
struct hide_rule {
  using type = verdict<one_is_invalid<X...>, say::hide, struct expects_scores_and_a_condition>;
};
template <tensor_like Scores, tensor_like C>
struct hide_rule<Scores, C> {
  using type =
      first_error<floating<say::hide, typename Scores::value_type>, condition<say::hide, C>,
                  same_shape<say::hide, layout_of<Scores>, layout_of<C>>>;
};
template <class... X>
using hide = typename hide_rule<X...>::type;
}  // namespace rules

// where(true, 1.0f, 2.0f): C++ has ?: for numbers.
template <class... X>
inline constexpr bool are_numbers = false;
template <scalar A, scalar B>
inline constexpr bool are_numbers<bool, A, B> = true;

// A number repeated along Axes, or the tensor or view itself.
template <class Axes>
struct one_number;
template <class... Axes>
struct one_number<shape<Axes...>> {
  using type = algebra::broadcast<layout<>, Axes...>;
};
template <class Axes, class T>
struct repeated_number {
  T value;
  constexpr auto view() const noexcept {
    return view_of<const T, typename one_number<Axes>::type>(&value);
  }
};
template <class Axes, class T, class A>
constexpr auto chosen_from(const A& a) noexcept {
  return repeated_number<Axes, T>{static_cast<T>(a)};
}
template <class X>
struct tensor_to_view {
  const X& x;
  constexpr const X& view() const noexcept { return x; }
};
template <class Axes, class T, tensor_like A>
constexpr auto chosen_from(const A& a) noexcept {
  return tensor_to_view<A>{a};
}

}  // namespace detail

// Would where(condition, a, b) compile? choosable<Condition, A, B>.
template <class C, class A, class B>
concept choosable = detail::fits<
    detail::rules::where<std::remove_cvref_t<C>, std::remove_cvref_t<A>, std::remove_cvref_t<B>>>;
// Would hide(scores, condition) compile? hideable<Scores, Condition>.
template <class Scores, class C>
concept hideable =
    detail::fits<detail::rules::hide<std::remove_cvref_t<Scores>, std::remove_cvref_t<C>>>;

// where(condition, a, b): a if the condition is true, else b; tensors or views with its axes, or
// numbers. Returns a row-major tensor. A NaN that isn't chosen doesn't matter.
template <class C, class A, class B>
  requires((detail::elements<C> || detail::elements<A> || detail::elements<B>) &&
           !(detail::of_a_formula<C> || detail::of_a_formula<A> || detail::of_a_formula<B>))
constexpr auto where(const C& condition, const A& a, const B& b) noexcept {
  using verdict = detail::rules::where<C, A, B>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok && !detail::one_is_invalid<C, A, B>) {
    using axes = typename detail::layout_of<C>::axes;
    using T = typename detail::element_of_operand<
        std::conditional_t<tensor_like<A> || !tensor_like<B>, A, B>>::type;
    const auto from_a = detail::chosen_from<axes, T>(a);
    const auto from_b = detail::chosen_from<axes, T>(b);
    return detail::each_position<verdict, T>(
        [](bool chosen, const T& one, const T& other) {
          return detail::simd::select(chosen, one, other);
        },
        condition, from_a.view(), from_b.view());
  } else {
    return detail::invalid{};
  }
}

template <class... X>
  requires(detail::are_other_than<3, X...> || detail::are_numbers<X...>)
constexpr auto where(const X&...) noexcept {
  using verdict = detail::in_its_line<detail::rules::where<X...>, X...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}

// hide(scores, condition): the scores, with -infinity at positions where the condition is true; the
// softmax gives these a weight of 0. condition: a tensor or view of bool with the same axes.
template <class Scores, class C>
  requires((detail::elements<Scores> || detail::elements<C>) &&
           !(detail::of_a_formula<Scores> || detail::of_a_formula<C>))
constexpr auto hide(const Scores& scores, const C& condition) noexcept {
  using verdict = detail::rules::hide<Scores, C>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok && !detail::one_is_invalid<Scores, C>) {
    using T = typename Scores::value_type;
    return detail::each_position<verdict, T>(
        [](T score, bool hidden) {
          return detail::simd::select(hidden, -detail::simd::math_constants<T>::infinity, score);
        },
        scores, condition);
  } else {
    return detail::invalid{};
  }
}

template <class... X>
  requires detail::are_other_than<2, X...>
constexpr auto hide(const X&...) noexcept {
  using verdict = detail::in_its_line<detail::rules::hide<X...>, X...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
