// SPDX-License-Identifier: BSL-1.0
// Base of the operations that compute a tensor from one tensor or view: f(x) returns it,
// f.into(out, x) writes it into the caller's memory. (For operations on views: tensor/pipe.hpp.)
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/layer/rules.hpp>
#include <umbel/tensor/other_calls.hpp>
#include <umbel/tensor/refusal.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// Name: the operation in sentences. The derived Operation has, for a tensor or view X,
//   rule<X>       its verdict
//   result<X>     the layout of its result, row-major, unless that has the axes of X
//   value<X>      its element type, unless that is the one of X
//   write(x, y)   computes y, a tensor or view with that layout
// and, if it has runs_along_several, of_value(x) for a value of a formula.
// Takes: names its arguments in a message.
template <class Operation, class Name, class Takes = say::expects_one_tensor_or_view>
struct computing : other_calls_and_into<Name, Takes> {
  using other_calls_and_into<Name, Takes>::operator();
  using other_calls_and_into<Name, Takes>::into;

  template <class X>
  using result = row_major<layout_of<X>>;
  template <class X>
  using value = typename X::value_type;
  template <class X, class Self = Operation>  // incomplete here
  using pipe_rule = typename Self::template rule<X>;

  // x: a tensor or view. Returns a new row-major tensor; x | f is the same.
  template <shaped X>
  constexpr auto operator()(const X& x) const noexcept {
    using verdict = in_its_line<typename Operation::template rule<X>, X>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok && traced<X> && requires { requires Operation::runs_along_several; })
      return self().of_value(x);
    else if constexpr (verdict::ok && traced<X>)
      return x.compute(self());
    else if constexpr (verdict::ok)
      return filled<
          tensor_of<typename Operation::template value<X>, typename Operation::template result<X>>>(
          [&](auto& y) { self().write(x, y); });
    else
      return refusal<verdict>();
  }
  // out: a tensor or view with the axes of the result in the same order, row-major.
  template <tensor_like Out, tensor_like X>
  constexpr void into(Out&& out, const X& x) const noexcept {
    using verdict = typename Operation::template rule<X>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using T = typename Operation::template value<X>;
      using wanted = typename Operation::template result<X>;
      using out_fits = rules::row_major_out<Name, Out, T, wanted>;
      static_assert(report<out_fits>::ok, "umbel: shapes do not fit");
      if constexpr (out_fits::ok) {
        view_of<T, wanted> y(out.data());
        self().write(x, y);
      }
    }
  }

 private:
  constexpr const Operation& self() const noexcept { return static_cast<const Operation&>(*this); }
};

// The operation of x, if the verdict, which the caller asserts, is right.
template <class Verdict, class Operation, class X>
constexpr decltype(auto) computed_where(const X& x) noexcept {
  if constexpr (Verdict::ok)
    return Operation{}(x);
  else
    return refusal<Verdict>();
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
