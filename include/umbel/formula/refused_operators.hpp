// SPDX-License-Identifier: BSL-1.0
// Operators that formulas refuse with a message: those that change a value, and numpy's. (Those of
// formulas are in arithmetic.hpp.)
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/arithmetic.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// A formula's values are immutable. (For tensors, x += y changes x.)
template <class A, class B>
  requires operands<A, B>
constexpr auto operator+=(A&&, const B&) noexcept {
  using verdict = in_its_line<rules::stays_as_it_is<std::remove_cvref_t<A>, B>, A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return refusal<verdict>();
}
template <class A, class B>
  requires operands<A, B>
constexpr auto operator-=(A&&, const B&) noexcept {
  using verdict = in_its_line<rules::stays_as_it_is<std::remove_cvref_t<A>, B>, A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return refusal<verdict>();
}
template <class A, class B>
  requires operands<A, B>
constexpr auto operator*=(A&&, const B&) noexcept {
  using verdict = in_its_line<rules::stays_as_it_is<std::remove_cvref_t<A>, B>, A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return refusal<verdict>();
}
template <class A, class B>
  requires operands<A, B>
constexpr auto operator/=(A&&, const B&) noexcept {
  using verdict = in_its_line<rules::stays_as_it_is<std::remove_cvref_t<A>, B>, A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return refusal<verdict>();
}
template <symbolic A>
constexpr auto operator++(A&&) noexcept {
  using verdict = in_its_line<rules::stays_as_it_is<std::remove_cvref_t<A>>, A>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return refusal<verdict>();
}
template <symbolic A>
constexpr auto operator++(A&&, int) noexcept {
  using verdict = in_its_line<rules::stays_as_it_is<std::remove_cvref_t<A>>, A>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return refusal<verdict>();
}
template <symbolic A>
constexpr auto operator--(A&&) noexcept {
  using verdict = in_its_line<rules::stays_as_it_is<std::remove_cvref_t<A>>, A>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return refusal<verdict>();
}
template <symbolic A>
constexpr auto operator--(A&&, int) noexcept {
  using verdict = in_its_line<rules::stays_as_it_is<std::remove_cvref_t<A>>, A>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return refusal<verdict>();
}
// numpy's operators. (They return an operand: `invalid` == 0 would be bool, (x & 1) == 0 two
// errors.)
template <class Verdict, class A, class B>
constexpr decltype(auto) symbolic_of(const A& a, const B& b) noexcept {
  if constexpr (!std::is_same_v<decltype(refusal<Verdict>()), invalid>)
    return refusal<Verdict>();
  else if constexpr (symbolic<A>)
    return A(a);
  else
    return B(b);
}
template <class A, class B>
  requires(operands<A, B> && !derived_from_mask<A> && !derived_from_mask<B>)
constexpr auto operator&(const A& a, const B& b) noexcept {
  using verdict = in_its_line<rules::has_operator<A, B>, A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return formulas::symbolic_of<verdict>(a, b);
}
template <class A, class B>
  requires symbolic<A> && (symbolic<B> || one_is_invalid<B>)
constexpr auto operator|(const A& a, const B& b) noexcept {
  using verdict = in_its_line<rules::has_operator<A, B>, A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return formulas::symbolic_of<verdict>(a, b);
}
template <class A, class B>
  requires(operands<A, B> && !derived_from_mask<A> && !derived_from_mask<B>)
constexpr auto operator^(const A& a, const B& b) noexcept {
  using verdict = in_its_line<rules::has_operator<A, B>, A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return formulas::symbolic_of<verdict>(a, b);
}
template <symbolic A, class B>
  requires operands<A, B>
constexpr auto operator<<(const A& a, const B& b) noexcept {
  using verdict = in_its_line<rules::has_operator<A, B>, A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return formulas::symbolic_of<verdict>(a, b);
}
template <symbolic A, class B>
  requires operands<A, B>
constexpr auto operator>>(const A& a, const B& b) noexcept {
  using verdict = in_its_line<rules::has_operator<A, B>, A, B>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return formulas::symbolic_of<verdict>(a, b);
}
template <symbolic A>
constexpr auto operator~(const A& a) noexcept {
  using verdict = in_its_line<rules::has_operator<A>, A>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return formulas::symbolic_of<verdict>(a, a);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
