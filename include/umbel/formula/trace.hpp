// SPDX-License-Identifier: BSL-1.0
// The graph of a formula for argument types: its function runs to count nodes, then to record them.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/along_axes.hpp>
#include <umbel/formula/refused_operators.hpp>
#include <umbel/formula/results.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// An argument while a formula is traced: a tensor or view of elements E, a number, or an object
// with parts, such as a layer's weights.
template <class E, class Layout>
struct tensor_argument {
  using element = E;
};
struct number_argument {};
template <class X>
struct object_argument {};
template <class X>
struct mask_argument {};

template <class Argument>
inline constexpr bool is_object = false;
template <class X>
inline constexpr bool is_object<object_argument<X>> = true;

template <class X>
struct argument_of {
  using type = object_argument<X>;
};
template <tensor_like X>
struct argument_of<X> {
  using type = tensor_argument<typename X::value_type, layout_of<X>>;
};
template <scalar X>
struct argument_of<X> {
  using type = number_argument;
};
template <class X>
  requires(!tensor_like<X> && !scalar<X> && argument_with_mask<X>)
struct argument_of<X> {
  using type = mask_argument<X>;
};

// The numbers in an object: 1 float, 2 double, 3 both, 0 neither.
template <class X>
constexpr unsigned numbers_in();
struct numbers_in_members {
  template <class... Part>
  constexpr auto operator()(Part&...) const {
    return std::integral_constant<unsigned, (numbers_in<std::remove_const_t<Part>>() | ... | 0u)>{};
  }
};
template <class X>
constexpr unsigned numbers_in() {
  if constexpr (std::is_floating_point_v<X>)
    return std::is_same_v<X, float> ? 1 : std::is_same_v<X, double> ? 2 : 0;
  else if constexpr (std::is_array_v<X>)
    return numbers_in<std::remove_cv_t<std::remove_all_extents_t<X>>>();
  else if constexpr (requires { typename X::value_type; })
    return numbers_in<std::remove_cv_t<typename X::value_type>>();
  else if constexpr (requires { typename X::map::value_type; })
    return numbers_in<std::remove_cv_t<typename X::map::value_type>>();
  else if constexpr (of_several_layers<X>)
    return numbers_in<std::remove_cvref_t<decltype(std::declval<const X&>().layers[0])>>();
  else if constexpr (requires { X::part_names[0]; })
    return decltype(umbel::detail::with_members<sizeof(X::part_names) / sizeof(X::part_names[0])>(
        std::declval<X&>(), numbers_in_members{}))::value;
  else if constexpr (requires { typename X::layer; })  // prepacked
    return numbers_in<typename X::layer>();
  else
    return 0;
}
template <class Argument>
inline constexpr unsigned numbers_of_argument = 0;
template <class X>
inline constexpr unsigned numbers_of_argument<object_argument<X>> = numbers_in<X>();

// The type that a formula computes in: that of the first tensor of float or double, or without one,
// of the weights; float if these have both or neither.
template <class All, class... Argument>
struct computed_type_rule;
template <class... All>
struct computed_type_rule<list<All...>> {
  using type = std::conditional_t<(numbers_of_argument<All> | ... | 0u) == 2, double, float>;
};
template <class All, class First, class... Rest>
struct computed_type_rule<All, First, Rest...> : computed_type_rule<All, Rest...> {};
template <class All, class E, class Layout, class... Rest>
  requires std::is_floating_point_v<E>
struct computed_type_rule<All, tensor_argument<E, Layout>, Rest...> {
  using type = E;
};
template <class... Argument>
using computed_type = computed_type_rule<list<Argument...>, Argument...>;

// Nothing converts: an argument of the other type has no use in the formula, which gets `invalid`
// for it. (Numbers convert.)
template <class T, class E>
inline constexpr bool is_other_float = std::is_floating_point_v<E> && !std::is_same_v<T, E>;
template <class T, std::size_t Number, class... Argument>
struct arguments_agree {
  using type = accepted;
};
template <class T, std::size_t Number, class First, class... Rest>
struct arguments_agree<T, Number, First, Rest...> : arguments_agree<T, Number + 1, Rest...> {};
template <class T, std::size_t Number, class E, class Layout, class... Rest>
  requires is_other_float<T, E>
struct arguments_agree<T, Number, tensor_argument<E, Layout>, Rest...> {
  using type = verdict<false, say::formula, say::argument, number<Number>, say::holds, element<E>,
                       say::but_the_formula_computes_in, element<T>>;
};
template <class... X>
using arguments_of_one_type =
    typename arguments_agree<typename computed_type<typename argument_of<X>::type...>::type, 1,
                             typename argument_of<X>::type...>::type;

// An argument with parts is not copied: its parts would die with the copy. Borrowed weights may be.
template <class X>
inline constexpr bool is_borrowed = false;
template <class T, class In, class Out, bool Bias>
inline constexpr bool is_borrowed<portable::linear_view<T, In, Out, Bias>> = true;
template <template <class...> class Parts, class... View>
inline constexpr bool is_borrowed<portable::weights_view<Parts, View...>> = true;

// An object that is never made, for the addresses of its parts, one per argument. Only declared: in
// constant expressions its members may be called, but it can't be read or copied.
template <class X, std::size_t Argument>
struct stands_for {
  X object;
  static const stands_for never_made;
};
template <std::size_t Argument>
using argument_number = std::integral_constant<std::size_t, Argument>;

template <class R, class E, class Layout>
  requires is_other_float<typename R::value_type, E>
constexpr invalid traced_argument(R*, std::size_t, tensor_argument<E, Layout>) {
  return {};
}
template <class R, class E, class Layout>
constexpr auto traced_argument(R* recorder, std::size_t slot, tensor_argument<E, Layout>) {
  node<R, E, Layout> made{{}, recorder, -1, 0};
  if constexpr (R::makes_graph) {
    node_of_graph<typename R::value_type> entry;
    entry.what = word::argument;
    entry.axes = axes_of_layout<Layout>();
    if constexpr (R::describes) entry.shape = written_out<typename Layout::axes>();
    entry.slot = slot;
    made.number = recorder->add(entry);
    recorder->arguments = recorder->count;
  }
  return made;
}
template <class R>
constexpr auto traced_argument(R* recorder, std::size_t slot, number_argument) {
  return formulas::traced_argument(recorder, slot,
                                   tensor_argument<typename R::value_type, layout<>>{});
}
template <class R, class X, std::size_t Argument>
constexpr const X& traced_argument(R*, argument_number<Argument>, object_argument<X>) {
  return stands_for<X, Argument>::never_made.object;
}
template <class R, class X, std::size_t Argument>
  requires is_borrowed<X>
constexpr X traced_argument(R*, argument_number<Argument>, object_argument<X>) {
  return no_weights<X>();
}

template <class R, class X>
constexpr auto traced_argument(R*, std::size_t, mask_argument<X>) {
  return stands_for_mask<X>::at(nullptr);
}

template <class... X>
using computed_from = typename computed_type<typename argument_of<X>::type...>::type;
template <class T, class X>
struct traced_as_rule {
  using type =
      decltype(formulas::traced_argument(static_cast<tracer<T>*>(nullptr), argument_number<0>{},
                                         std::declval<typename argument_of<X>::type>()));
};
template <class X>
struct traced_as_rule<void, X> {
  using type = const X&;
};
// Used instead of a workspace: several, or a pointer to one.
template <class X>
inline constexpr bool is_array_of_workspaces = false;
template <class X, std::size_t Count>
inline constexpr bool is_array_of_workspaces<X[Count]> = workspace_like<X>;
template <class X>
  requires(!tensor_like<X> && requires(X& x) { requires workspace_like<decltype(*x.data())>; })
inline constexpr bool is_array_of_workspaces<X> = true;
template <class X>
concept pointer_to_workspace =
    std::is_pointer_v<X> && workspace_like<std::remove_cv_t<std::remove_pointer_t<X>>>;
// Nothing: clang 14 asks for F's result before it asks whether the last argument is one.
template <class X>
concept is_no_argument =
    !tensor_like<X> && (workspace_like<X> || is_array_of_workspaces<X> || pointer_to_workspace<X>);
template <class T, class X>
  requires is_no_argument<X>
struct traced_as_rule<T, X> {};
template <class T, class X>
using traced_as = typename traced_as_rule<T, X>::type;
// The same in a call; void inside a different formula, where arguments stay as they are.
template <class... X>
using traced_for = std::conditional_t<(a_node<X> || ...), void, computed_from<X...>>;
// F's result for arguments X: a node.
template <class F, class... X>
using traced_result = decltype(std::declval<const F&>()(
    std::declval<
        traced_as<typename computed_type<typename argument_of<X>::type...>::type, X>>()...));

// A result: a stored node, row-major.
template <class Recorder, class E, class Layout, class Open>
constexpr operand as_result(Recorder& recorder, const node<Recorder, E, Layout, Open>& from,
                            const operand* others, std::size_t count, bool row_major_out) {
  using T = typename Recorder::value_type;
  operand result = from.as_operand();
  bool as_is = false;
  if (recorder.nodes != nullptr && row_major_out) {
    const node_of_graph<T>& entry = recorder.nodes[from.number];
    as_is = entry.what > word::position && !entry.condition && !entry.open && from.offset == 0 &&
            Layout::contiguous && Layout::count == entry.axes.count();
    for (std::size_t r = 0; r < count; ++r) as_is = as_is && others[r].node != from.number;
  }
  if (!as_is) {
    node_of_graph<T> copied;
    copied.what = word::copy;
    copied.from[0] = result;
    copied.operands = 1;
    copied.axes = axes_of_layout<row_major<Layout>>();
    if constexpr (Recorder::describes) copied.shape = written_out<typename Layout::axes>();
    if (recorder.nodes != nullptr) recorder.nodes[recorder.count] = copied;
    result.node = recorder.count++;
    result.offset = 0;
  }
  result.axes = axes_of_layout<row_major<Layout>>();
  return result;
}

// F runs once to count its nodes, once to record them.
template <class F, class Recorder, class... Argument, std::size_t... I>
constexpr auto count_nodes(std::index_sequence<I...>) {
  struct counted {
    std::size_t nodes, parts;
  };
  Recorder recorder{nullptr, sizeof...(I), nullptr};
  const auto returned =
      F{}(formulas::traced_argument(&recorder, argument_number<I>{}, Argument{})...);
  with_members(returned, [&](const auto&... result) {
    (as_result(recorder, result, nullptr, 0, false), ...);
  });
  return counted{recorder.made_a_tensor            ? npos
                 : recorder.made_a_mask            ? npos - 1
                 : recorder.subtracted_from_itself ? npos - 2
                                                   : static_cast<std::size_t>(recorder.count),
                 recorder.slots - sizeof...(I)};
}
template <class F, class Recorder, class... Argument>
std::integral_constant<
    std::size_t,
    count_nodes<F, Recorder, Argument...>(std::index_sequence_for<Argument...>{}).nodes>
counted(int);
template <class F, class Recorder, class... Argument>
std::integral_constant<std::size_t, 0> counted(...);
// None if F reads a value that doesn't exist yet, which isn't constant; npos if it makes a tensor,
// npos - 1 for a mask of conditions, npos - 2 if a value is subtracted from itself.
template <class F, class Recorder, class... Argument>
inline constexpr std::size_t nodes_of =
    decltype(formulas::counted<F, Recorder, Argument...>(0))::value;

template <class T, std::size_t Nodes, std::size_t Parts>
struct traced_graph {
  graph<T, Nodes> g;
  struct {
    captured<T> of[Parts + 1]{};
  } parts;
};
// Direct: are results written row-major, without a copy?
template <class F, class Recorder, bool Direct, class... Argument, std::size_t... I>
constexpr auto trace(std::index_sequence<I...> all) {
  constexpr auto counted = count_nodes<F, Recorder, Argument...>(all);
  traced_graph<typename Recorder::value_type, counted.nodes, counted.parts> traced;
  auto& made = traced.g;
  Recorder recorder{made.nodes, sizeof...(I), traced.parts.of};
  const auto returned =
      F{}(formulas::traced_argument(&recorder, argument_number<I>{}, Argument{})...);
  made.direct = Direct;
  with_members(returned, [&](const auto&... result) {
    ((made.result[made.results] = as_result(recorder, result, made.result, made.results, Direct),
      ++made.results),
     ...);
  });
  made.count = recorder.count;
  made.arguments = sizeof...(I);
  made.slots = recorder.slots;
  return traced;
}
// Weights made inside a formula would die with it: a constant can't hold their addresses.
template <class F, class Recorder, bool Direct, class... Argument>
constexpr auto graph_of() {
  constexpr std::index_sequence_for<Argument...> all{};
  [[maybe_unused]] constexpr auto memory_of_parts_outlives_the_formula =
      formulas::trace<F, Recorder, Direct, Argument...>(all).parts;
  return formulas::trace<F, Recorder, Direct, Argument...>(all).g;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
