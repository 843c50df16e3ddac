// SPDX-License-Identifier: BSL-1.0
// formula: a function of tensors with named axes, written once with the library's operations,
// checked step by step and compiled to the fused kernels:
//
//   constexpr formula attend = [](auto q, auto k, auto v) {
//     auto scores = contract<head_dim>(q, k) * 0.125f;
//     return contract<key>(softmax<key>(hide(scores, position<key> > position<query>)), v);
//   };
//   auto out = attend(q, k, v);          // one pass: no scores in memory, hidden keys are not read
//   attend.into(out, q, k, v, work);     // workspace_for<decltype(attend), Q, K, V> work
//
// Not here: what is computed together (schedule.hpp), and how (each.hpp, attend.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/call_rules.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/layer/rules.hpp>
#include <umbel/tensor/print.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::formulas {

template <bool Plain, class F, class... X>
struct formula_call {
  using T = typename computed_type<typename argument_of<X>::type...>::type;
  using pointers =
      argument_pointers<std::index_sequence_for<X...>,
                        typename element_of_argument<T, typename argument_of<X>::type>::type...>;
  // Rows: the row-major layouts.
  template <class Rows, class Out, class Work>
  static constexpr void into(Out& out, Work& work, const X&... x) noexcept {
    constexpr bool direct = std::is_same_v<Rows, out_layouts<Out>>;
    using runs = run_of<F, out_layouts<Out>, direct, typename argument_of<X>::type...>;
    captured<T> parts[runs::parts + 1]{};
    if constexpr (runs::parts != 0)
      bind<runs, binder<T>>(parts, list<typename argument_of<X>::type...>{}, x...);
    T numbers[sizeof...(X) + 1]{};
    std::size_t next = 0;
    const pointers arguments{pointer_to<typename argument_of<X>::type>(x, numbers[next++])...};
    T* const memory = [&] {
      if constexpr (rules::is_for_workers<Work>)
        return work.work[0].memory;
      else
        return work.memory;
    }();
    runs all{{}, arguments, parts, {}, memory};
    with_members(out, all.writes_to());
    if constexpr (rules::is_for_workers<Work> && !Plain)
      run_in_parts<runs, std::remove_const_t<Work>>::all(all, work);
    else if constexpr (runs::sequences.count != 1)
      all.template all_sequences<Plain>();
    else
      all.template all_steps<Plain>(typename runs::steps{});
  }
  // A step of a cache. Binder, Traced: the types for which its graph was traced.
  template <class Runs, class Binder, class Traced, class Out>
  static constexpr void step(const typename Runs::base& of_cache, Out& out, T* work,
                             const X&... x) noexcept {
    captured<T> parts[Runs::parts + 1]{};
    if constexpr (Runs::parts != 0) bind<Runs, Binder>(parts, Traced{}, x...);
    T numbers[sizeof...(X) + 1]{};
    std::size_t next = 0;
    const pointers arguments{pointer_to<typename argument_of<X>::type>(x, numbers[next++])...};
    Runs all{of_cache, arguments, parts, {}, work};
    with_members(out, all.writes_to());
    all.template all_steps<false>(typename Runs::steps{});
  }
  // (Also for gradients: training/gradient.hpp.)
  template <class Argument, class Y>
  static constexpr auto pointer_to(const Y& y, T& number) noexcept {
    if constexpr (tensor_like<Y>) {
      return argument_pointer_of(y.data());
    } else if constexpr (scalar<Y>) {
      number = static_cast<T>(y);
      return argument_pointer_of(static_cast<const T*>(&number));
    } else {
      return argument_pointer_of(static_cast<const T*>(nullptr));
    }
  }
  template <class E>
  struct any_pointer {
    const E* pointer;
    template <std::size_t I>
    constexpr operator argument_pointer<I, E>() const noexcept {
      return {pointer};
    }
  };
  template <class E>
  static constexpr any_pointer<std::remove_const_t<E>> argument_pointer_of(E* pointer) noexcept {
    return {pointer};
  }

  // Collects the parts of arguments for a call. Nodes: of the formula's graph.
  template <class Runs, class Binder, std::size_t Nodes = Runs::nodes, class... Argument>
  static constexpr void bind(captured<T>* parts, list<Argument...>, const X&... x) noexcept {
    bound_node<T> nodes[Nodes]{};
    captured<T> all[Runs::parts]{}, found[Runs::parts]{};
    Binder recorder{nodes, all};
    const auto returned = F{}(bound<Argument>(recorder, x)...);
    with_members(returned, [&](const auto&... result) {
      captured<T>* to = found;
      ((to = recorder.collect(result.number, to)), ...);
    });
    for (std::size_t i = 0; i < Runs::order.count; ++i)
      parts[Runs::order.slot[i] - Runs::value.g.arguments] = found[i];
  }
  template <class Argument, class Recorder, class Y>
  static constexpr decltype(auto) bound(Recorder& recorder, const Y& y) noexcept {
    if constexpr (tensor_like<Y> || scalar<Y>)
      return traced_argument(&recorder, 0, Argument{});
    else if constexpr (argument_with_mask<Y>)
      return stands_for_mask<Y>::at(&y);
    else
      return (y);
  }
};

template <std::size_t I, class X>
struct reference {
  X& to;
};
template <class Sequence, class... X>
struct references;
template <std::size_t... I, class... X>
struct references<std::index_sequence<I...>, X...> : reference<I, X>... {};
template <std::size_t I, class X>
constexpr X& reference_at(const reference<I, X>& argument) noexcept {
  return argument.to;
}

// The calls of a formula. Plain: use readable loops.
template <class F, bool Plain>
struct formula_calls {
  static constexpr bool traceable = std::is_empty_v<F> && std::is_default_constructible_v<F>;

  // See workspace_for.
  template <class... X, bool Accepted = accepts<F, X...>>
    requires Accepted
  static auto workspace_of(const X&...) {
    using fits = call_fits_rule<F, traced_result<F, X...>, by_value, workspace_base, X...>;
    if constexpr (fits::has_result) {
      return of_type<typename fits::scratch>();
    } else {
      static_assert(report<typename fits::verdict>::ok, "umbel: shapes do not fit");
      return invalid{};
    }
  }
  template <class... X, bool Accepted = accepts<F, X...>>
    requires(!Accepted)
  static auto workspace_of(const X&...) {
    static_assert(report<takes_these<!traceable, F, X...>>::ok, "umbel: shapes do not fit");
    return invalid{};
  }
  static invalid workspace_of(portable::any_argument, ...);  // the body of F has an error

  // Returns a row-major tensor. The last argument may be a workspace, or parallel(pool, works).
  template <class... X, bool Accepted = accepts<F, X...>>
    requires(!last_is_workspace<X...> && !last_is_refused<X...> && Accepted)
  constexpr auto operator()(const X&... x) const noexcept
      -> given_by<(a_node<X> || ...), decltype(std::declval<const F&>()(
                                          std::declval<traced_as<traced_for<X...>, X>>()...))> {
    // The return type calls F: a function in between would add six lines to clang's output.
    if constexpr ((a_node<X> || ...)) {  // inside a different formula: part of it
      return F{}(x...);
    } else {
      using verdict = typename call_fits<F, by_value, on_stack, X...>::verdict;
      static_assert(report<verdict>::ok, "umbel: shapes do not fit");
      return compute<verdict>(by_value{}, on_stack{}, x...);
    }
  }
  template <class... X>
    requires last_is_workspace<X...>
  constexpr auto operator()(X&&... x) const noexcept {
    return workspace_first(std::make_index_sequence<sizeof...(X) - 1>{}, by_value{}, x...);
  }
  // The same, written into a tensor or view with the result's axes; several results into
  // std::tie(a, b) or an object like the one that a call returns. No output may overlap an
  // argument.
  template <memory_of_results Out, class... X, bool Accepted = accepts<F, X...>>
    requires(!last_is_workspace<X...> && !last_is_refused<X...> && Accepted)
  constexpr auto into(Out&& out, const X&... x) const noexcept -> nothing_by<
      decltype(std::declval<const F&>()(std::declval<traced_as<computed_from<X...>, X>>()...))> {
    using verdict = typename call_fits<F, Out, on_stack, X...>::verdict;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    compute<verdict>(static_cast<Out&&>(out), on_stack{}, x...);
  }
  template <memory_of_results Out, class... X>
    requires last_is_workspace<X...>
  constexpr void into(Out&& out, X&&... x) const noexcept {
    workspace_first(std::make_index_sequence<sizeof...(X) - 1>{}, static_cast<Out&&>(out), x...);
  }
  template <class... X>
    requires last_is_refused<X...>
  constexpr invalid operator()(X&&...) const noexcept {
    static_assert(report<last_is_one_workspace<X...>>::ok, "umbel: shapes do not fit");
    return {};
  }
  template <class... X>
    requires last_is_refused<X...>
  constexpr void into(X&&...) const noexcept {
    static_assert(report<last_is_one_workspace<X...>>::ok, "umbel: shapes do not fit");
  }
  // into(a, b, x) with two results.
  template <memory_of_results Out, tensor_like Second, class... X>
    requires(!last_is_workspace<X...> && !last_is_refused<X...> && !takes<F, Second, X...> &&
             gives_several<F, X...>)
  constexpr void into(Out&&, const Second&, const X&...) const noexcept {
    static_assert(report<rules::results_tied<(sizeof(Out) == 0)>>::ok, "umbel: shapes do not fit");
  }
  // into(std::tie(out), x)
  template <class Tie, class... X>
    requires(is_tie_of_one<Tie> && !last_is_refused<X...>)
  constexpr void into(const Tie&, const X&...) const noexcept {
    static_assert(report<rules::one_out_untied<never<Tie>>>::ok, "umbel: shapes do not fit");
  }
  // Arguments for which F has no parameters.
  template <class... X, bool Accepted = accepts<F, X...>>
    requires(!last_is_workspace<X...> && !last_is_refused<X...> && !Accepted)
  constexpr invalid operator()(const X&...) const noexcept {
    static_assert(report<takes_these<!traceable, F, X...>>::ok, "umbel: shapes do not fit");
    return {};
  }
  template <class Out, class... X, bool Accepted = accepts<F, X...>>
    requires(!last_is_workspace<X...> && !last_is_refused<X...> && !is_tie_of_one<Out> &&
             !(memory_of_results<Out> && Accepted))
  constexpr void into(const Out&, const X&...) const noexcept {
    static_assert(report<takes_these<!traceable, F, X...>>::ok, "umbel: shapes do not fit");
  }
  template <class Out = by_value>
  constexpr void into() const noexcept {
    static_assert(report<takes_these<never<Out>, F>>::ok, "umbel: shapes do not fit");
  }
  // The body of F has an error, which the compiler has reported. (Not for a call without arguments,
  // which would be accepted.)
  constexpr invalid operator()(portable::any_argument, ...) const noexcept { return {}; }
  constexpr void into(portable::any_argument, ...) const noexcept {}

 private:
  template <std::size_t... I, class Out, class... X>
  static constexpr auto workspace_first(std::index_sequence<I...>, Out&& out, X&... x) noexcept {
    const references<std::index_sequence_for<X...>, X...> all{{x}...};
    return with_workspace(static_cast<Out&&>(out), reference_at<sizeof...(I)>(all),
                          reference_at<I>(all)...);
  }
  template <class Out, class Work, class... X>
  static constexpr auto with_workspace(Out&& out, Work& work, const X&... x) noexcept {
    if constexpr (accepts<F, X...> && takes<F, X...>) {
      using verdict = typename call_fits<F, Out, Work, X...>::verdict;
      static_assert(report<verdict>::ok, "umbel: shapes do not fit");
      return compute<verdict>(static_cast<Out&&>(out), work, x...);
    } else {
      using verdict = typename other_arguments_rule<std::is_same_v<Out, by_value>, F, X...>::type;
      static_assert(report<verdict>::ok, "umbel: shapes do not fit");
      if constexpr (std::is_same_v<Out, by_value>) return invalid{};
    }
  }
  template <class Verdict, class Out, class Work, class... X>
  static constexpr auto compute(Out&& out, Work&& work, const X&... x) noexcept {
    using fits = call_fits<F, Out, std::remove_reference_t<Work>, X...>;
    if constexpr (Verdict::ok && fits::has_result)
      return computed<
          typename fits::result,
          typename given_workspaces<std::remove_reference_t<Work>, typename fits::scratch>::all>(
          out, work, [&](auto& y, auto& scratch) UMBEL_LAMBDA_INLINE {
            formula_call<Plain, F, X...>::template into<typename fits::layouts>(y, scratch, x...);
          });
    else if constexpr (std::is_same_v<std::remove_cvref_t<Out>, by_value>)
      return given_by<false, typename fits::gives>{};
  }
};

}  // namespace detail::formulas

// A captureless function of tensors, views, numbers, layers and objects with weights, compiled to
// fused kernels.
template <class F>
struct formula : detail::formulas::formula_calls<F, false> {
  static_assert(detail::report<detail::rules::captures_nothing<formula::traceable>>::ok,
                "umbel: shapes do not fit");
  constexpr formula(F) noexcept {}

  // plain(f)(x...): the same formula with loops that take one element after another, which define
  // its value: f(x...) has the same bits. Layers in it run as in f. (Found by its argument, so the
  // name stays free.)
  friend constexpr detail::formulas::formula_calls<F, true> plain(const formula&) noexcept {
    return {};
  }
};

template <class Stream, class F>
  requires detail::text_stream<Stream>
Stream& operator<<(Stream& out, const formula<F>&) {
  static_assert(detail::report<detail::rules::printed<sizeof(F) == 0>>::ok,
                "umbel: shapes do not fit");
  return out;
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
