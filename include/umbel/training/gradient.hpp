// SPDX-License-Identifier: BSL-1.0
// gradient: returns the result of a formula, whose first one is a number, and adds the gradients of
// that number to the caller's memory. A gradient has the type of its argument:
//
//   constexpr formula loss = [](auto x, auto label, const auto& w) { ... };
//   constexpr auto learn = gradient(loss);
//
//   static model::weights w, g;                        // g starts as zeros
//   learn(x, label, with_gradient(w, g));              // the loss; d loss / d w is added to g
//   learn(with_gradient(x, dx), label, w);             // d loss / d x is added to dx; w is frozen
//
// The formula is reversed at compile time (reverse.hpp), so memory is a constant: values between
// forward and backward are in the workspace, workspace_for<decltype(learn), X, Label,
// weights_with_gradient>. Nothing is allocated.
#pragma once

#include <umbel/config.hpp>
#include <umbel/tensor/refusal.hpp>
#include <umbel/training/gradient_call.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::formulas {

template <class List>
struct first_of_list;
template <class First, class... Rest>
struct first_of_list<list<First, Rest...>> {
  using type = std::remove_cvref_t<First>;
};
template <class F, class... X>
using first_result =
    typename first_of_list<typename members_of<gradient_nodes<F, X...>>::type>::type;
// A call and its verdict: the formula returns a number first, a gradient is asked for, the
// workspace fits. Work: the one given, or workspace_base for workspace_for.
template <class F, class Work, class... X>
struct gradient_fits_rule {
  static constexpr bool ok = false, has_result = false;
  using verdict = first_error<arguments_of_one_type<plain_argument_of<X>...>,
                              rules::is_differentiable<first_result<F, X...>>,
                              rules::gives<gradient_nodes<F, X...>>>;
};
template <class F, class... X>
using graph_of_gradient =
    rules::has_graph<nodes_of<F, tracer<computed_from<plain_argument_of<X>...>, false, true>,
                              typename argument_of<plain_argument_of<X>>::type...>>;
template <class F, class Work, class... X>
  requires(gives_nodes<F, gradient_nodes<F, X...>> &&
           arguments_of_one_type<plain_argument_of<X>...>::ok && !graph_of_gradient<F, X...>::ok)
struct gradient_fits_rule<F, Work, X...> {
  static constexpr bool ok = false, has_result = false;
  using verdict = std::conditional_t<one_was_refused<F>, accepted, graph_of_gradient<F, X...>>;
};
template <class F, class... X>
using gradient_is_asked =
    first_error<rules::asks_for_a_gradient<(plain_argument<X>::is_wanted || ...)>,
                rules::is_one_number<layout_of<first_result<F, X...>>>>;
template <class F, class Work, class... X>
  requires(gives_nodes<F, gradient_nodes<F, X...>> &&
           arguments_of_one_type<plain_argument_of<X>...>::ok && graph_of_gradient<F, X...>::ok)
struct gradient_fits_rule<F, Work, X...> {
  template <class Verdict, class Call>
  struct where_asked {
    static constexpr bool ok = false;
    using verdict = Verdict;
  };
  template <class Call>
  struct where_asked<accepted, Call> {
    using needed = typename Call::workspace;
    using passed_workspace = std::conditional_t<std::is_same_v<Work, workspace_base>, needed, Work>;
    using verdict = first_error<rules::one_bias_varies<!Call::run::counted.is_two_biases>,
                                rules::depends_on_what_is_asked<Call::run::counted.adds ||
                                                                Call::run::wanted.one_is_nowhere>,
                                rules::scratch_fits<say::gradient, passed_workspace, needed,
                                                    say::these_arguments_by_workspace_for>>;
    static constexpr bool ok = verdict::ok;
  };
  using found = where_asked<gradient_is_asked<F, X...>, gradient_call<F, X...>>;
  using verdict = typename found::verdict;
  static constexpr bool ok = found::ok, has_result = ok;
  struct needed {
    using type = typename gradient_call<F, X...>::workspace;
  };
  using scratch = typename std::conditional_t<ok, needed, std::type_identity<invalid>>::type;
};

// Nodes: the result of F for these arguments, if it accepts them.
template <class Nodes, class F, class... X>
using workspace_of_gradient = workspace_of_call<gradient_fits_rule<F, workspace_base, X...>>;

// The result of a call. Not a tensor, if the call is refused because it has axes: a tensor is
// nodiscard, and the warning would come before the error.
template <class Result, class Given = given_by<false, Result>>
struct given_loss {
  using type = Given;
};
template <class Result, tensor_like Given>
  requires(Given::rank != 0)
struct given_loss<Result, Given> {
  using type = invalid;
};

template <class F, bool Plain>
struct gradient_calls {
  // See workspace_for. (F's result is also asked for in a call: an alias adds to clang's output.)
  template <class... X, bool Accepted = accepts<F, plain_argument_of<X>...>>
    requires Accepted
  static typename workspace_of_gradient<
      decltype(std::declval<const F&>()(
          std::declval<traced_to_differentiate<computed_from<plain_argument_of<X>...>, X>>()...)),
      F, X...>::type
  workspace_of(const X&...);
  template <class... X, bool Accepted = accepts<F, plain_argument_of<X>...>>
    requires(!Accepted)
  static auto workspace_of(const X&...) {
    static_assert(report<rules::takes<never<F>>>::ok, "umbel: shapes do not fit");
    return invalid{};
  }
  static invalid workspace_of(portable::any_argument, ...);  // the body of F has an error

  // Returns the result of the formula. Arguments: those of the formula, some with a gradient,
  // with_gradient(w, g); the last may be a workspace.
  template <class... X, bool Accepted = accepts<F, plain_argument_of<X>...>>
    requires(!last_is_workspace<X...> && !one_is_invalid<X...> && Accepted)
  constexpr auto operator()(const X&... x) const noexcept ->
      typename given_loss<decltype(std::declval<const F&>()(
          std::declval<traced_to_differentiate<computed_from<plain_argument_of<X>...>, X>>()...))>::
          type {
    using fits = gradient_fits_rule<F, on_stack, X...>;
    static_assert(report<typename fits::verdict>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      typename gradient_call<F, X...>::workspace work;
      return compute(work, x...);
    } else {
      return {};
    }
  }
  template <class... X>
    requires(last_is_workspace<X...> && !one_is_invalid<X...>)
  constexpr auto operator()(X&&... x) const noexcept {
    const references<std::index_sequence_for<X...>, X...> all{{x}...};
    return with_workspace(all, std::make_index_sequence<sizeof...(X) - 1>{});
  }
  template <class... X>
    requires one_is_invalid<X...>
  constexpr invalid operator()(X&&...) const noexcept {
    return {};
  }
  // Arguments for which F has no parameters.
  template <class... X, bool Accepted = accepts<F, plain_argument_of<X>...>>
    requires(!last_is_workspace<X...> && !one_is_invalid<X...> && !Accepted)
  constexpr invalid operator()(const X&...) const noexcept {
    static_assert(report<rules::takes<never<F>>>::ok, "umbel: shapes do not fit");
    return {};
  }
  // The body of F has an error, which the compiler has reported.
  constexpr invalid operator()(portable::any_argument, ...) const noexcept { return {}; }

 private:
  template <class All, std::size_t... I>
  static constexpr auto with_workspace(const All& all, std::index_sequence<I...>) noexcept {
    auto& work = reference_at<sizeof...(I)>(all);
    constexpr bool accepted =
        accepts<F, plain_argument_of<std::remove_cvref_t<decltype(reference_at<I>(all))>>...>;
    if constexpr (accepted && differentiable_with<F, decltype(reference_at<I>(all))...>) {
      using fits = gradient_fits_rule<F, std::remove_reference_t<decltype(work)>,
                                      std::remove_cvref_t<decltype(reference_at<I>(all))>...>;
      static_assert(report<typename fits::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (fits::ok)
        return compute(work, reference_at<I>(all)...);
      else
        return invalid{};
    } else {
      static_assert(report<rules::takes<accepted>>::ok, "umbel: shapes do not fit");
      return invalid{};
    }
  }
  template <class Work, class... X>
  static constexpr auto compute(Work& work, const X&... x) noexcept {
    using call = gradient_call<F, X...>;
    typename call::result out;
    call::template into<Plain>(out, work, x...);
    return out;
  }
};

}  // namespace detail::formulas

// The result of with_gradient: an argument x, and the memory that its gradient is added to.
template <class X>
using differentiated = portable::differentiated<X>;

// x with the tensor or weights, of its type, to which its gradient is added:
//   learn(x, label, with_gradient(w, g))
//   "umbel: with_gradient: the gradient must have the same type as w; ..."
template <class X, class G>
[[nodiscard]] constexpr auto with_gradient(const X& x, G& gradient) noexcept {
  using verdict = detail::rules::gradient_is_of_its_type<X, G>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return differentiated<X>{x, gradient};
  else
    return detail::invalid{};
}
template <class... Given>
  requires(detail::given_weights<Given...> && !detail::are_argument_and_variable<Given...>)
constexpr detail::invalid with_gradient(Given&&...) noexcept {
  using namespace detail;
  using takes = say::expects_an_argument_and_a_variable_that_its_gradient_is_added_to;
  static_assert(report<other_arguments<say::with_gradient, takes, Given...>>::ok,
                "umbel: shapes do not fit");
  return {};
}

// The gradient of a formula, or of the function that one is made of; see above. It is a value
// without members: constexpr auto learn = gradient(loss). plain(learn)(...) is its definition in
// readable loops, with the same bits.
template <class F>
struct gradient : detail::formulas::gradient_calls<F, false> {
  constexpr explicit gradient(const formula<F>&) noexcept {}
  constexpr explicit gradient(F) noexcept { static_cast<void>(sizeof(formula<F>)); }
  friend constexpr detail::formulas::gradient_calls<F, true> plain(const gradient&) noexcept {
    return {};
  }
};
template <class F>
gradient(const formula<F>&) -> gradient<F>;
template <class F>
gradient(F) -> gradient<F>;

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
