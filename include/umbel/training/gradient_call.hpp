// SPDX-License-Identifier: BSL-1.0
// A call of a gradient: its arguments for the formula, which gradients are asked for, the reversed
// graph and its steps. Rules of its arguments: gradient.hpp.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/formula.hpp>
#include <umbel/formula/place_nodes.hpp>
#include <umbel/parameters/parameters.hpp>
#include <umbel/training/blocks.hpp>
#include <umbel/training/gradient_rules.hpp>
#include <umbel/training/gradient_steps.hpp>
#include <umbel/training/layers.hpp>
#include <umbel/training/residual_block.hpp>
#include <umbel/training/reverse.hpp>
#include <umbel/training/slopes.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::formulas {

// An argument for the formula, and whether its gradient is asked for.
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

// Is p in that parameter? Addresses in different objects have no order in constant expressions.
template <class T, class X>
constexpr bool is_in_parameter(const T* p, const X& x) {
  if constexpr (std::is_same_v<typename X::value_type, T>) {
    const T *const begin = x.data(), *const end = begin + x.size();
    // (In this form clang folds an unspecified comparison: the order of members of two bases.)
    return __builtin_constant_p(begin <= p && p < end) ? begin <= p && p < end : false;
  } else {
    return false;
  }
}

// (With g++'s sanitizers, comparing an address with null is not a constant expression.)
template <class T>
constexpr bool is_null(const T* p) {
  if (__builtin_constant_p(p == nullptr)) return p == nullptr;
  return false;
}

template <bool... Wanted>
struct wanted_arguments {};
// Calls f(parameter) for each of argument I, if it is an object whose gradient is asked for.
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

// The gradients asked for, by slot: of tensors that are arguments, and of parts of others.
template <class Traced, bool... Wanted, class... Argument, std::size_t... I>
constexpr auto find_wanted(const Traced& traced, wanted_arguments<Wanted...>, list<Argument...>,
                           std::index_sequence<I...>) {
  struct {
    wanted_gradient of[sizeof(traced.parts.of) / sizeof(traced.parts.of[0]) + sizeof...(I)];
    // A refused layer, with its own error, has weights that are in no argument.
    bool one_is_nowhere = false;
  } wanted;
  for (std::size_t part = 0; part < traced.g.slots - sizeof...(I); ++part) {
    const auto& weights_part = traced.parts.of[part];
    if (is_null(weights_part.values) && is_null(weights_part.bias) &&
        is_null(weights_part.object) && is_null(weights_part.mask))
      wanted.one_is_nowhere = true;
  }
  ((wanted.of[I].values = Wanted ? I : npos), ...);
  // (Once through the parameters, not for each part: their paths are slow to make.)
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
  // Room for the gradient's nodes: most operations have a handful, and some are recomputed.
  static constexpr std::size_t room = 9 * static_cast<std::size_t>(forward().g.count) + 32;
  static constexpr auto wanted =
      find_wanted(forward(), Wanted{}, list<Argument...>{}, std::index_sequence_for<Argument...>{});
  static constexpr auto reversed_in_room() {
    return formulas::reversed<room>(forward().g, wanted.of);
  }
  static constexpr reversed_count counted = reversed_in_room().counted();
  // The nodes as written, including duplicates, which become one node of the graph.
  static constexpr std::size_t bound = sizeof(forward().g.nodes) / sizeof(node_of_graph<T>);
  static_assert(counted.complete);
  static constexpr std::size_t nodes = counted.nodes;
  static constexpr auto traced = graph_of_size<nodes>(reversed_in_room().g);
  static constexpr sequence_axis<nodes> sequences{};
  // Without blocks of rows (score_rows.hpp): the gradient reads values that they would not store.
  static constexpr auto value = [] {
    schedule<T, nodes> p{};
    p.g = traced;
    join_multiplications(p);
    choose_steps(p);
    place_nodes(p);
    return p;
  }();
};

// F's argument for an argument X of a call, and its result: nodes.
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

template <class F, class... X>
concept differentiable_with = requires { typename gradient_nodes<F, std::remove_cvref_t<X>...>; };

template <class F, class... X>
struct gradient_call {
  using T = computed_from<plain_argument_of<X>...>;
  using call = formula_call<false, F, plain_argument_of<X>...>;
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
    if constexpr (run::parts != 0)
      call::template bind<run, binder<T, true>, run::bound>(
          parts, list<typename argument_of<plain_argument_of<X>>::type...>{},
          plain_argument<X>::value(x)...);
    std::size_t argument = 0;
    (find_gradients(parts, argument++, x), ...);
    T numbers[sizeof...(X) + 1]{};
    std::size_t next = 0;
    const typename call::pointers pointers{
        call::template pointer_to<typename argument_of<plain_argument_of<X>>::type>(
            plain_argument<X>::value(x), numbers[next++])...};
    run all{{}, pointers, parts, {}, work.memory};
    with_members(out, all.writes_to());
    all.template all_steps<Plain>(typename run::steps{});
  }

 private:
  // The memory of gradients: for an object, at the same places in an object of its type.
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

}  // namespace detail::formulas
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
