// SPDX-License-Identifier: BSL-1.0
// A formula's results: one tensor, or several as members of a std::tuple, a std::pair or your
// struct template,
//
//   template <class Context, class Weights>
//   struct attended { Context context; Weights weights; };
//
// whose arguments are its members' types, in order: nodes while the formula is traced, tensors in a
// call's result, tensors or references in its output (std::tie(a, b)).
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/node.hpp>
#include <umbel/layer/struct_members.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

namespace say {
struct but_out_has;
struct the_number_of_results_is;
}  // namespace say

namespace formulas {

template <class X>
concept one_result = a_node<X> || tensor_like<std::remove_cvref_t<X>> || one_is_invalid<X>;

template <class...>
struct list {};

// The types of X: itself, or its members.
template <class X>
struct members_of {
  using type = list<X>;
  static constexpr std::size_t count = 1;
};
template <class X>
  requires(!std::is_same_v<X, std::remove_cvref_t<X>>)
struct members_of<X> : members_of<std::remove_cvref_t<X>> {};
template <template <class...> class Several, class First, class... Rest>
  requires(sizeof...(Rest) != 0 && !one_result<Several<First, Rest...>> && one_result<First> &&
           (one_result<Rest> && ...))
struct members_of<Several<First, Rest...>> {
  using type = list<First, Rest...>;
  static constexpr std::size_t count = 1 + sizeof...(Rest);
  template <class... To>
  using of = Several<To...>;
};
template <class X>
concept several_results = (members_of<X>::count > 1);

template <class X, class F>
UMBEL_INLINE constexpr decltype(auto) with_members(X& x, F f) noexcept {
  constexpr std::size_t count = members_of<X>::count;
  static_assert(most_results <= most_members);
  if constexpr (count == 1)
    return f(x);
  else
    return detail::with_members<count>(x, f);
}

}  // namespace formulas

namespace rules {
template <std::size_t Results>
using not_too_many =
    verdict<(Results <= formulas::most_results), say::formula, say::the_number_of_results_is,
            number<Results>, struct but_the_maximum_is, number<formulas::most_results>>;
template <std::size_t Results, std::size_t Outs>
using one_out_for_each = verdict<Results == Outs, say::formula, say::the_number_of_results_is,
                                 number<Results>, say::but_out_has, number<Outs>>;

template <formulas::several_results Several>
struct gives_rule<Several> {
  template <class List>
  struct of_each;
  template <class... Result>
  struct of_each<formulas::list<Result...>> {
    using type = first_error<not_too_many<sizeof...(Result)>,
                             typename gives_rule<std::remove_cvref_t<Result>>::type...>;
  };
  using type = typename of_each<typename formulas::members_of<Several>::type>::type;
};
}  // namespace rules

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
