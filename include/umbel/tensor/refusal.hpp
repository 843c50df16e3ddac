// SPDX-License-Identifier: BSL-1.0
// The verdict on an operation with operands X, in_its_line, and the result of a refused operation,
// refusal().
#pragma once

#include <umbel/config.hpp>
#include <umbel/tensor/view.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// To report no second error: has one been refused? Noted by note_refusal<void>, whose argument
// depends on that of a template.
struct some_refusal {
  friend constexpr auto is_noted(some_refusal);
};
template <class>
struct note_refusal {
  friend constexpr auto is_noted(some_refusal) { return true; }
  static constexpr bool noted = true;
};
// F: asked for it.
template <class F>
inline constexpr bool one_was_refused =
    requires { is_noted(std::conditional_t < sizeof(F*) != 0, some_refusal, F > {}); };

#if UMBEL_CLANG
// clang prints three lines for each function between an assertion and your file: for a formula, 15
// lines in all. So in a formula an operation doesn't assert its verdict; it returns a
// refused_operation, whose destructor does. The destructor isn't constexpr, so clang instantiates
// it last, and prints it with the line in the formula alone: the first that destroys such an
// object. The library's functions never do, since they return one by reference until the last,
// which copies it.
// A function that uses one isn't constexpr.
template <class Verdict>
struct said_in_its_line : note_refusal<std::enable_if_t<sizeof(Verdict*) != 0>> {
  using is_said_in_its_line = Verdict;
  static constexpr bool ok = false;
  static constexpr const auto& message = Verdict::message;
};
template <class Verdict>
struct verdict_to_report<said_in_its_line<Verdict>> {
  using type = accepted;
};
struct said_when_destroyed : invalid {
  using invalid::operator=;
  constexpr said_when_destroyed(const said_when_destroyed&) noexcept {}
  template <class T>
  constexpr invalid operator==(const T&) const noexcept {
    return {};
  }
  template <class T>
  constexpr invalid operator!=(const T&) const noexcept {
    return {};
  }
};
template <class Verdict>
struct refused_operation : said_when_destroyed {
  using is_refused_operation = refused_operation;
  ~refused_operation() { static_assert(report<Verdict>::ok, "umbel: shapes do not fit"); }
};
// The result of a refused function without arguments, for x | max<key<6>>.
template <class Refused>
struct refused_operator {};
template <bool InFormula>
struct verdict_in_place {
  template <class Verdict>
  using type = Verdict;
};
template <>
struct verdict_in_place<true> {
  template <class Verdict>
  using type = said_in_its_line<Verdict>;
};
template <class Verdict>
inline constexpr bool is_said_here = !Verdict::ok && !portable::names_no_axis(Verdict::message);
template <class Verdict>
inline constexpr bool is_said_here<said_in_its_line<Verdict>> = false;
template <class Verdict, class... X>
using in_its_line = typename verdict_in_place<((of_a_formula<X> || ...) &&
                                               is_said_here<Verdict>)>::template type<Verdict>;

// The same if the operands don't show whether it is in a formula.
template <class Verdict>
using anywhere_in_its_line =
    typename verdict_in_place<is_said_here<Verdict>>::template type<Verdict>;

template <class Verdict>
constexpr invalid refusal() noexcept {
  return {};
}
template <class Verdict>
  requires requires { typename Verdict::is_said_in_its_line; }
const refused_operation<typename Verdict::is_said_in_its_line>& refusal() noexcept;

// For x | f in a formula: call() returns f(x), perhaps such an object.
template <class Result>
concept refused_result = requires { typename Result::is_refused_operation; };
template <refused_result Result, class Call>
const Result& passed_on(Call) noexcept;
template <class Result, class Call>
constexpr Result passed_on(Call call) noexcept {
  return call();
}
#else
template <class Verdict, class... X>
using in_its_line = Verdict;
template <class Verdict>
using anywhere_in_its_line = Verdict;
template <class Verdict>
constexpr invalid refusal() noexcept {
  return {};
}
#endif

}  // namespace umbel::inline UMBEL_TARGET::detail

#if UMBEL_CLANG
template <class Verdict>
struct std::tuple_size<umbel::detail::refused_operation<Verdict>>
    : std::tuple_size<umbel::detail::invalid> {};
template <std::size_t Index, class Verdict>
struct std::tuple_element<Index, umbel::detail::refused_operation<Verdict>>
    : std::tuple_element<Index, umbel::detail::invalid> {};
#endif
UMBEL_WARNINGS_POP
