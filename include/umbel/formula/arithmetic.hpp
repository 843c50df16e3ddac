// SPDX-License-Identifier: BSL-1.0
// Arithmetic, comparisons and functions in formulas: of nodes, numbers, positions along axes, and
// tensors that are parts of an argument. Axes are matched by name: an operand repeats along those
// that it lacks.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/operands.hpp>
#include <umbel/operation/number_function.hpp>
#include <umbel/operation/where.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/arithmetic.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// The operators assert their verdicts: a function in between costs three lines of clang's output.
template <class First, class... Rest>
using operands_fit =
    in_its_line<first_error<typename matched_operands<First, Rest...>::verdict,
                            typename elements_agree<void, typename with_elements<First>::type,
                                                    typename with_elements<Rest>::type...>::type>,
                First, Rest...>;

template <class R, word W, class Fit, class First, class... Nodes>
constexpr auto record_nodes(R* recorder, const First& first, const Nodes&... rest) noexcept {
  using T = typename R::value_type;
  using E = std::conditional_t<is_condition(W), bool, T>;
  node<R, E, typename Fit::layout, typename Fit::open> made{{}, recorder, 0, 0};
  if constexpr (R::makes_graph) {
    node_of_graph<T> entry;
    entry.what = W;
    entry.condition = is_condition(W);
    entry.open = !std::is_same_v<typename Fit::open, families<>>;
    entry.axes = axes_of_layout<typename Fit::layout>();
    if constexpr (R::describes) entry.shape = written_out<typename Fit::layout::axes>();
    entry.from[0] = first.as_operand();
    entry.operands = 1;
    ((entry.from[entry.operands++] = rest.as_operand()), ...);
    if (W == word::subtract && entry.from[0] == entry.from[1])
      recorder->subtracted_from_itself = true;
    made.number = recorder->add(entry);
  } else {
    made.number = recorder->add(first.number, rest.number...);
  }
  return made;
}
template <class R, word W, class... X>
constexpr auto record(R* recorder, const X&... x) noexcept {
  return record_nodes<R, W, matched_operands<X...>>(recorder, as_node(recorder, x)...);
}

template <class First, class... Rest>
constexpr auto recorder_of(const First& first, const Rest&... rest) noexcept {
  if constexpr (a_node<First>)
    return first.recorder;
  else
    return recorder_of(rest...);
}

template <word W, class Verdict, class... X>
constexpr decltype(auto) operation(const X&... x) noexcept {
  if constexpr (!Verdict::ok || one_is_invalid<X...>)
    return refusal<Verdict>();
  else if constexpr ((a_node<X> || ...))
    return record<std::remove_pointer_t<decltype(recorder_of(x...))>, W>(recorder_of(x...), x...);
  else
    return positional<W, decltype(held(x))...>{{}, held(x)...};
}

template <class A, class B>
  requires operands<A, B>
constexpr auto operator+(const A& a, const B& b) noexcept {
  using verdict = operands_fit<A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::add, verdict>(a, b);
}
template <class A, class B>
  requires operands<A, B>
constexpr auto operator-(const A& a, const B& b) noexcept {
  using verdict = operands_fit<A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::subtract, verdict>(a, b);
}
template <class A, class B>
  requires operands<A, B>
constexpr auto operator*(const A& a, const B& b) noexcept {
  using verdict = operands_fit<A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::multiply, verdict>(a, b);
}
template <class A, class B>
  requires operands<A, B>
constexpr auto operator/(const A& a, const B& b) noexcept {
  using verdict = operands_fit<A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::divide, verdict>(a, b);
}
template <class A, class B>
  requires operands<A, B>
constexpr auto operator%(const A& a, const B& b) noexcept {
  using verdict = operands_fit<A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::remainder, verdict>(a, b);
}
template <class A, class B>
  requires operands<A, B>
constexpr auto operator<(const A& a, const B& b) noexcept {
  using verdict = first_error<are_ordered<A, B>, operands_fit<A, B>>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::less, verdict>(a, b);
}
template <class A, class B>
  requires operands<A, B>
constexpr auto operator>(const A& a, const B& b) noexcept {
  using verdict = first_error<are_ordered<A, B>, operands_fit<A, B>>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::less, verdict>(b, a);
}
template <class A, class B>
  requires operands<A, B>
constexpr auto operator<=(const A& a, const B& b) noexcept {
  using verdict = first_error<are_ordered<A, B>, operands_fit<A, B>>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::less_or_equal, verdict>(a, b);
}
template <class A, class B>
  requires operands<A, B>
constexpr auto operator>=(const A& a, const B& b) noexcept {
  using verdict = first_error<are_ordered<A, B>, operands_fit<A, B>>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::less_or_equal, verdict>(b, a);
}
// (For tensors, == compares all elements to one bool.)
template <class A, class B>
  requires operands<A, B>
constexpr auto operator==(const A& a, const B& b) noexcept {
  using verdict = operands_fit<A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::equal, verdict>(a, b);
}
template <class A, class B>
  requires operands<A, B>
constexpr auto operator!=(const A& a, const B& b) noexcept {
  using verdict = operands_fit<A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::not_equal, verdict>(a, b);
}
template <class A, class B>
  requires operands<A, B>
constexpr auto operator&&(const A& a, const B& b) noexcept {
  using verdict = first_error<are_conditions<say::elementwise, A, B>, operands_fit<A, B>>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::logical_and, verdict>(a, b);
}
template <class A, class B>
  requires operands<A, B>
constexpr auto operator||(const A& a, const B& b) noexcept {
  using verdict = first_error<are_conditions<say::elementwise, A, B>, operands_fit<A, B>>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::logical_or, verdict>(a, b);
}
template <symbolic A>
constexpr auto operator!(const A& a) noexcept {
  using verdict = are_conditions<say::elementwise, A>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::logical_not, verdict>(a);
}
template <symbolic A>
constexpr auto operator-(const A& a) noexcept {
  return operation<word::negate, accepted>(a);
}
#define UMBEL_FUNCTION_OF_NODES(name, what)    \
  template <symbolic A>                        \
  constexpr auto(name)(const A& a) noexcept {  \
    return operation<word::what, accepted>(a); \
  }
UMBEL_FUNCTION_OF_NODES(exp, exp)
UMBEL_FUNCTION_OF_NODES(log, log)
UMBEL_FUNCTION_OF_NODES(sqrt, sqrt)
UMBEL_FUNCTION_OF_NODES(rsqrt, rsqrt)
UMBEL_FUNCTION_OF_NODES(tanh, tanh)
UMBEL_FUNCTION_OF_NODES(sigmoid, sigmoid)
UMBEL_FUNCTION_OF_NODES(sin, sin)
UMBEL_FUNCTION_OF_NODES(cos, cos)
UMBEL_FUNCTION_OF_NODES(erf, erf)
UMBEL_FUNCTION_OF_NODES(floor, floor)
UMBEL_FUNCTION_OF_NODES(abs, absolute)
#undef UMBEL_FUNCTION_OF_NODES
template <class A, class B>
  requires operands<A, B>
constexpr auto maximum(const A& a, const B& b) noexcept {
  using verdict = operands_fit<A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::maximum, verdict>(a, b);
}
template <class A, class B>
  requires operands<A, B>
constexpr auto minimum(const A& a, const B& b) noexcept {
  using verdict = operands_fit<A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::minimum, verdict>(a, b);
}
template <class A, class B>
  requires operands<A, B>
constexpr auto pow(const A& a, const B& b) noexcept {
  using verdict = operands_fit<A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::pow, verdict>(a, b);
}
// The elements of an operand; bool for a condition of positions, which has none yet.
template <class X>
struct numbers_of {
  using type = X;
};
template <word W, class A, class B, class C>
  requires(is_condition(W))
struct numbers_of<positional<W, A, B, C>> {
  using type = bool;
};
template <class A, class Low, class High>
  requires operands<A, Low, High>
constexpr auto clamp(const A& a, const Low& low, const High& high) noexcept {
  using verdict = in_its_line<first_error<rules::clamps_numbers<typename numbers_of<A>::type,
                                                                typename numbers_of<Low>::type,
                                                                typename numbers_of<High>::type>,
                                          operands_fit<A, Low, High>>,
                              A, Low, High>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::clamp, verdict>(a, low, high);
}
// where(condition, a, b): a if the condition is true, else b, at each position.
template <class Condition, class A, class B>
  requires operands<Condition, A, B>
constexpr auto where(const Condition& condition, const A& a, const B& b) noexcept {
  using verdict = first_error<are_conditions<say::where, Condition>, operands_fit<Condition, A, B>>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::where, verdict>(condition, a, b);
}
// hide(score, condition): -infinity if the condition is true, a score that a softmax ignores.
template <class Score, class Condition>
  requires operands<Score, Condition>
constexpr auto hide(const Score& score, const Condition& condition) noexcept {
  using verdict = first_error<are_conditions<say::hide, Condition>, operands_fit<Score, Condition>>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return operation<word::hide, verdict>(score, condition);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas

namespace umbel::inline UMBEL_TARGET::detail {
template <class Function, class X>
struct function_of_positions {
  static constexpr auto of(const X& x) noexcept {
    return formulas::operation<formulas::word_of<Function>, accepted>(x);
  }
};
}  // namespace umbel::inline UMBEL_TARGET::detail

// For umbel::exp(x): a qualified name is looked up only here.
namespace umbel::inline UMBEL_TARGET {

using detail::formulas::abs;
using detail::formulas::clamp;
using detail::formulas::cos;
using detail::formulas::erf;
using detail::formulas::exp;
using detail::formulas::floor;
using detail::formulas::hide;
using detail::formulas::log;
using detail::formulas::maximum;
using detail::formulas::minimum;
using detail::formulas::pow;
using detail::formulas::rsqrt;
using detail::formulas::sigmoid;
using detail::formulas::sin;
using detail::formulas::sqrt;
using detail::formulas::tanh;
using detail::formulas::where;

// In a formula, 0, 1, 2 ... along an axis of the other operand: position<key> > position<query>.
template <template <std::size_t> class Axis>
UMBEL_EXPECTS("position: expects the name of an axis; write position<key>")
inline constexpr detail::formulas::axis_position<detail::family_of<Axis>> position{};
// In a formula, 0, 1, 2 ... along an axis that the other operand need not have:
// w.slopes * positions_along<offset<64>> has the axes offset, heads.
template <class Axis>
UMBEL_EXPECTS("positions_along: expects an axis with its size; write positions_along<key<64>>")
inline constexpr detail::formulas::sized_positions<Axis> positions_along{};

namespace detail {
// mean<token>(x, lengths), with the bits of the operation.
template <class Family>
struct mean_of_nodes<Family> {
  template <class X, class Lengths>
  static constexpr auto of(const X& x, const Lengths& lengths) noexcept {
    using T = typename X::value_type;
    constexpr std::size_t size = layout_of<X>::template size_of<Family>;
    const auto sum = formulas::where(formulas::axis_position<Family>{} < lengths, x, T{})
                         .template reduce<say::sum, kernel::plain::sum_of, Family>();
    if constexpr (shaped<Lengths>) {
      using L = typename Lengths::value_type;
      return sum / formulas::clamp(lengths, static_cast<L>(1), static_cast<L>(size));
    } else {
      return sum / static_cast<T>(lengths < 1 ? 1 : positions_within<size>(lengths));
    }
  }
};
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
