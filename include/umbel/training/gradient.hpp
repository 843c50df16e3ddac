// SPDX-License-Identifier: BSL-1.0
// gradient: what a formula gives, a number first, and the gradients of that number, added to memory
// of the caller's. A gradient has the type of what it is the gradient of:
//
//   constexpr formula loss = [](auto x, auto label, const auto& w) { ... };
//   constexpr auto learn = gradient(loss);
//
//   static model::weights w, g;                        // g begins with zeros
//   learn(x, label, with_gradient(w, g));              // the loss; d loss / d w is added to g
//   learn(with_gradient(x, dx), label, w);             // d loss / d x is added to dx; w is frozen
//
// The formula is reversed at compile time (reverse.hpp), so memory is a constant: what lies between
// forward and backward is in the workspace, workspace_for<decltype(learn), X, Label,
// weights_with_gradient>. Nothing is allocated.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/formula.hpp>
#include <umbel/training/blocks.hpp>
#include <umbel/training/gradient_rules.hpp>
#include <umbel/training/gradient_steps.hpp>
#include <umbel/training/layers.hpp>
#include <umbel/training/residual_block.hpp>
#include <umbel/training/reverse.hpp>
#include <umbel/training/slopes.hpp>
#include <umbel/weights/parameters.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::formulas {

// Of an argument of a call: what it is for the formula, and whether its gradient is asked for.
template <class X>
struct plain_argument {
  using type = X;
  static constexpr bool is_wanted = false;
  static constexpr const X& value(const X& x) noexcept { return x; }
};
template <class X>
struct plain_argument<portable::differentiated<X>> {
  using type = X;
  static constexpr bool is_wanted = true;
  static constexpr const X& value(const portable::differentiated<X>& x) noexcept { return x.value; }
};
template <class X>
using plain_argument_of = typename plain_argument<X>::type;

// Is p an address in that parameter? In constant expressions, where addresses in different objects
// have no order.
template <class T, class X>
constexpr bool is_in_parameter(const T* p, const X& x) {
  if constexpr (std::is_same_v<typename X::value_type, T>) {
    const T* const begin = x.data();
    if (__builtin_constant_p(begin <= p)) return begin <= p && p < begin + x.size();
  }
  return false;
}

// (Under its sanitizers, an address is no constant for g++ that may be compared with null.)
template <class T>
constexpr bool is_null(const T* p) {
  if (__builtin_constant_p(p == nullptr)) return p == nullptr;
  return false;
}

template <bool... Wanted>
struct wanted_arguments {};
// f(parameter) for each of argument I, if it is an object whose gradient is asked for.
template <std::size_t I, bool Wanted, class Argument>
struct each_wanted {
  static constexpr void parameter(const auto&) noexcept {}
};
template <std::size_t I, class X>
struct each_wanted<I, true, object_argument<X>> {
  static constexpr void parameter(const auto& f) noexcept {
    const auto without_path = [&](const parameter_path&, const auto& x) { f(x); };
    visit_parameters(parameter_path{}, stands_for<X, I>::never_made.object, without_path);
  }
};

// Which gradients are asked for, by slot: of tensors that are arguments, of parts of others.
template <class Traced, bool... Wanted, class... Argument, std::size_t... I>
constexpr auto find_wanted(const Traced& traced, wanted_arguments<Wanted...>, list<Argument...>,
                           std::index_sequence<I...>) {
  struct {
    wanted_gradient of[sizeof(traced.parts.of) / sizeof(traced.parts.of[0]) + sizeof...(I)];
    // A layer that was refused, by a sentence of its own, has weights that are nowhere.
    bool one_is_nowhere = false;
  } wanted;
  for (std::size_t part = 0; part < traced.g.slots - sizeof...(I); ++part) {
    const auto& one = traced.parts.of[part];
    if (is_null(one.values) && is_null(one.bias) && is_null(one.object) && is_null(one.mask))
      wanted.one_is_nowhere = true;
  }
  ((wanted.of[I].values = Wanted ? I : npos), ...);
  // (Once through the parameters, not for each part: their paths take long to make.)
  const auto look_in = [&](const auto& x, std::size_t argument) {
    for (std::size_t slot = sizeof...(I); slot < traced.g.slots; ++slot) {
      const auto& part = traced.parts.of[slot - sizeof...(I)];
      if (is_in_parameter(part.values, x)) wanted.of[slot].values = argument;
      if (is_in_parameter(part.bias, x)) wanted.of[slot].bias = argument;
    }
  };
  (each_wanted<I, Wanted, Argument>::parameter([&](const auto& x) { look_in(x, I); }), ...);
  return wanted;
}

template <class F, class Wanted, class... Argument>
struct scheduled_gradient {
  using T = typename computed_type<Argument...>::type;
  using recorder = tracer<T, false, true>;
  static constexpr auto forward() {
    return formulas::trace<F, recorder, true, Argument...>(std::index_sequence_for<Argument...>{});
  }
  // Room for the nodes of the gradient: few operations have more than a handful, and some are
  // recomputed.
  static constexpr std::size_t room = 9 * static_cast<std::size_t>(forward().g.count) + 32;
  static constexpr auto wanted =
      find_wanted(forward(), Wanted{}, list<Argument...>{}, std::index_sequence_for<Argument...>{});
  static constexpr auto reversed_in_room() {
    return formulas::reversed<room>(forward().g, wanted.of);
  }
  static constexpr reversed_count counted = reversed_in_room().counted();
  // What the formula writes, the same twice too, which is one node of the graph.
  static constexpr std::size_t bound = sizeof(forward().g.nodes) / sizeof(node_of_graph<T>);
  static_assert(counted.complete);
  static constexpr std::size_t nodes = counted.nodes;
  static constexpr auto traced = graph_of_size<nodes>(reversed_in_room().g);
  static constexpr sequence_axis<nodes> sequences{};
  // Blocks of rows (score_rows.hpp) are not looked for: what they would not store is read by the
  // gradient.
  static constexpr auto value = [] {
    schedule<T, nodes> p{};
    p.g = traced;
    join_multiplications(p);
    choose_steps(p);
    place_nodes(p);
    return p;
  }();
};

// What F is given for an argument X of a call, and what it gives: nodes.
template <class T, class X>
struct traced_to_differentiate_rule {
  using type = decltype(formulas::traced_argument(
      static_cast<tracer<T, false, true>*>(nullptr), argument_number<0>{},
      std::declval<typename argument_of<plain_argument_of<X>>::type>()));
};
template <class T, class X>
  requires(is_no_argument<X> || one_is_invalid<X>)
struct traced_to_differentiate_rule<T, X> {};
template <class T, class X>
using traced_to_differentiate = typename traced_to_differentiate_rule<T, X>::type;
template <class F, class... X>
using gradient_nodes = std::remove_cvref_t<decltype(std::declval<const F&>()(
    std::declval<traced_to_differentiate<computed_from<plain_argument_of<X>...>, X>>()...))>;

// Does F take nodes of such arguments?
template <class F, class... X>
concept differentiable_with = requires { typename gradient_nodes<F, std::remove_cvref_t<X>...>; };

// One call.
template <class F, class... X>
struct gradient_call {
  using T = computed_from<plain_argument_of<X>...>;
  using result_nodes = gradient_nodes<F, X...>;
  using rows = row_major_layouts<result_nodes>;
  using result = typename given_rule<result_nodes>::type;
  using run = run_by<scheduled_gradient<F, wanted_arguments<plain_argument<X>::is_wanted...>,
                                        typename argument_of<plain_argument_of<X>>::type...>,
                     rows, true, typename argument_of<plain_argument_of<X>>::type...>;
  using workspace = run_workspace<run>;

  template <bool Plain>
  static constexpr void into(result& out, workspace& work, const X&... x) noexcept {
    captured<T> parts[3 * run::parts + sizeof...(X) + 1]{};
    if constexpr (run::parts != 0) bind(parts, plain_argument<X>::value(x)...);
    std::size_t argument = 0;
    (find_gradients(parts, argument++, x), ...);
    T numbers[sizeof...(X) + 1]{};
    std::size_t next = 0;
    const argument_pointers<
        std::index_sequence_for<X...>,
        typename element_of_argument<T, typename argument_of<plain_argument_of<X>>::type>::type...>
        pointers{formula_call<false, F, plain_argument_of<X>...>::template pointer_to<
            typename argument_of<plain_argument_of<X>>::type>(plain_argument<X>::value(x),
                                                              numbers[next++])...};
    with_members(out, [&](auto&... one) {
      const run all{{}, pointers, parts, {one.data()...}, work.memory};
      all.template all_steps<Plain>();
    });
  }

 private:
  static constexpr void bind(captured<T>* parts, const plain_argument_of<X>&... x) noexcept {
    bound_node<T> nodes[run::bound]{};
    captured<T> all[run::parts]{}, found[run::parts]{};
    binder<T, true> recorder{nodes, all};
    const auto given =
        F{}(formula_call<false, F, plain_argument_of<X>...>::template bound<plain_argument_of<X>>(
            recorder, x)...);
    with_members(given, [&](const auto&... one) {
      captured<T>* to = found;
      ((to = recorder.collect(one.number, to)), ...);
    });
    for (std::size_t i = 0; i < run::order.count; ++i)
      parts[run::order.slot[i] - run::value.g.arguments] = found[i];
  }
  // Where gradients are: of a tensor; of an object at the same places in an object of its type.
  template <class Y>
  static constexpr void find_gradients(captured<T>*, std::size_t, const Y&) noexcept {}
  template <class Y>
  static constexpr void find_gradients(captured<T>* parts, std::size_t argument,
                                       const portable::differentiated<Y>& x) noexcept {
    if constexpr (tensor_like<Y>)
      parts[3 * run::parts + argument].values = x.gradient.data();
    else
      at_the_same_places(parts, argument, x.value, x.gradient);
  }
  template <class Y>
  static void at_the_same_places(captured<T>* parts, std::size_t argument, const Y& value,
                                 Y& gradient) noexcept {
    const auto* const begin = reinterpret_cast<const unsigned char*>(&value);
    auto* const to = reinterpret_cast<unsigned char*>(&gradient);
    const auto same_place = [&](const T* part) -> const T* {
      return reinterpret_cast<const T*>(to +
                                        (reinterpret_cast<const unsigned char*>(part) - begin));
    };
    for (std::size_t i = 0; i < run::parts; ++i) {
      const wanted_gradient& wanted = run::wanted.of[sizeof...(X) + i];
      if (wanted.values == argument) parts[run::parts + i].values = same_place(parts[i].values);
      if (wanted.bias != argument) continue;
      parts[run::parts + i].bias = parts[2 * run::parts + i].values = same_place(parts[i].bias);
    }
  }
};

template <class List>
struct first_of_list;
template <class First, class... Rest>
struct first_of_list<list<First, Rest...>> {
  using type = std::remove_cvref_t<First>;
};
template <class F, class... X>
using first_result =
    typename first_of_list<typename members_of<gradient_nodes<F, X...>>::type>::type;
// What a call comes to, and its verdict: what the formula gives, a number first, a gradient that is
// asked for, the workspace. Work: what is given, or workspace_base where it is asked for
// (workspace_for).
template <class F, class Work, class... X>
struct gradient_fits_rule {
  static constexpr bool ok = false, has_result = false;
  using verdict = first_error<rules::is_differentiable<first_result<F, X...>>,
                              rules::gives<gradient_nodes<F, X...>>>;
};
template <class F, class... X>
using graph_of_gradient =
    rules::has_graph<nodes_of<F, tracer<computed_from<plain_argument_of<X>...>, false, true>,
                              typename argument_of<plain_argument_of<X>>::type...>>;
template <class F, class Work, class... X>
  requires(gives_nodes<F, gradient_nodes<F, X...>> && !graph_of_gradient<F, X...>::ok)
struct gradient_fits_rule<F, Work, X...> {
  static constexpr bool ok = false, has_result = false;
  using verdict = graph_of_gradient<F, X...>;
};
template <class F, class... X>
using gradient_is_asked =
    first_error<rules::asks_for_a_gradient<(plain_argument<X>::is_wanted || ...)>,
                rules::is_one_number<layout_of<first_result<F, X...>>>>;
template <class F, class Work, class... X>
  requires(gives_nodes<F, gradient_nodes<F, X...>> && graph_of_gradient<F, X...>::ok)
struct gradient_fits_rule<F, Work, X...> {
  template <class Verdict, class Call>
  struct where_asked {
    static constexpr bool ok = false;
    using verdict = Verdict;
  };
  template <class Call>
  struct where_asked<accepted, Call> {
    using needed = typename Call::workspace;
    using given = std::conditional_t<std::is_same_v<Work, workspace_base>, needed, Work>;
    using verdict =
        first_error<rules::one_bias_varies<!Call::run::counted.is_two_biases>,
                    rules::depends_on_what_is_asked<Call::run::counted.adds ||
                                                    Call::run::wanted.one_is_nowhere>,
                    rules::scratch_fits<say::gradient, given, needed,
                                        say::these_arguments_as_workspace_for_declares_it>>;
    static constexpr bool ok = verdict::ok;
  };
  using found = where_asked<gradient_is_asked<F, X...>, gradient_call<F, X...>>;
  using verdict = typename found::verdict;
  static constexpr bool ok = found::ok, has_result = ok;
  // Of workspace_for, where that is so.
  struct needed {
    using type = typename gradient_call<F, X...>::workspace;
  };
  using scratch = typename std::conditional_t<ok, needed, std::type_identity<invalid>>::type;
};

// Nodes: what F gives of these arguments, where it takes them.
template <class Nodes, class F, class... X>
using workspace_of_gradient = workspace_of_call<gradient_fits_rule<F, workspace_base, X...>>;

template <class F, bool Plain>
struct gradient_calls {
  // See workspace_for. (What F gives is asked here, and in a call, because an alias in between
  // would be more of clang's output.)
  template <class... X>
  static typename workspace_of_gradient<
      decltype(std::declval<const F&>()(
          std::declval<traced_to_differentiate<computed_from<plain_argument_of<X>...>, X>>()...)),
      F, X...>::type
  workspace_of(const X&...);
  template <class Name = F>
  static auto workspace_of(...) {
    static_assert(report<rules::takes<(sizeof(Name) == 0)>>::ok, "umbel: shapes do not fit");
    return invalid{};
  }

  // Gives what the formula gives. Arguments: those of the formula, of which some have a gradient,
  // with_gradient(w, g); the last may be a workspace.
  template <class... X>
    requires(!last_is_workspace<X...> && !one_is_invalid<X...>)
  constexpr auto operator()(const X&... x) const noexcept -> given_by<
      false,
      decltype(std::declval<const F&>()(
          std::declval<traced_to_differentiate<computed_from<plain_argument_of<X>...>, X>>()...))> {
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
  template <class Name = F>
  constexpr invalid operator()(...) const noexcept {
    static_assert(report<rules::takes<(sizeof(Name) == 0)>>::ok, "umbel: shapes do not fit");
    return {};
  }

 private:
  template <class All, std::size_t... I>
  static constexpr auto with_workspace(const All& all, std::index_sequence<I...>) noexcept {
    auto& work = reference_at<sizeof...(I)>(all);
    if constexpr (differentiable_with<F, decltype(reference_at<I>(all))...>) {
      using fits = gradient_fits_rule<F, std::remove_reference_t<decltype(work)>,
                                      std::remove_cvref_t<decltype(reference_at<I>(all))>...>;
      static_assert(report<typename fits::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (fits::ok)
        return compute(work, reference_at<I>(all)...);
      else
        return invalid{};
    } else {
      static_assert(report<rules::takes<never<F>>>::ok, "umbel: shapes do not fit");
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

// What with_gradient gives: an argument of a call of a gradient, x, and what the gradient by it is
// added to.
template <class X>
using differentiated = portable::differentiated<X>;

// x, with the tensor or the weights that its gradient is added to, which are of its type:
//   learn(x, label, with_gradient(w, g))
//   "umbel: with_gradient: the gradient is of another type than what it is the gradient of; ..."
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
  using takes = say::takes_an_argument_and_a_variable_that_its_gradient_is_added_to;
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
  constexpr explicit gradient(F f) noexcept : gradient(formula<F>(f)) {}
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
