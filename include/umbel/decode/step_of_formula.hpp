// SPDX-License-Identifier: BSL-1.0
// A formula as each step of a cache calls it: its arguments, the graph and the schedule of a step.
// call_of_formula.hpp has the refusals and a call of step.
#pragma once

#include <umbel/config.hpp>
#include <umbel/decode/cache.hpp>
#include <umbel/formula/formula.hpp>
#include <umbel/formula/next_positions.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::option {
struct called_with;
}  // namespace detail::option

// Option of a formula's cache: the types of a step's arguments, the new positions first. Their
// number of positions doesn't matter.
template <class... X>
struct called_with {
  using kind = detail::option::called_with;
};

namespace detail {
template <class F>
inline constexpr bool decodes_as_formula<formula<F>> = true;
template <class F>
inline constexpr bool decodes_as_formula<const formula<F>> = true;

namespace formulas {
template <class>
struct arguments_of_option;
template <class... X>
struct arguments_of_option<called_with<X...>> {
  using type = list<std::remove_cvref_t<X>...>;
};

// The number of new positions in a call: those of its first tensor.
template <class... X>
inline constexpr std::size_t new_positions = 0;
template <class First, class... Rest>
inline constexpr std::size_t new_positions<First, Rest...> = new_positions<Rest...>;
template <tensor_like First, class... Rest>
inline constexpr std::size_t new_positions<First, Rest...> =
    layout_of<First>::template size_of<axis_family<axes::token>>;

// The sizes of an argument: `rows` instead of `given`, `keys` instead of `capacity`.
struct other_sizes {
  std::size_t given, rows, capacity, keys;
  template <class Axis>
  constexpr std::size_t of() const noexcept {
    using family = typename Axis::family;
    if (std::is_same_v<family, axis_family<axes::key>>)
      return Axis::size == capacity ? keys : Axis::size;
    const bool is_row = std::is_same_v<family, axis_family<axes::token>> ||
                        std::is_same_v<family, axis_family<axes::query>>;
    return is_row && Axis::size == given ? rows : Axis::size;
  }
};
template <other_sizes Sizes, class Axes>
struct resized_axes;
template <other_sizes Sizes, class... Axes>
struct resized_axes<Sizes, shape<Axes...>> {
  static constexpr bool same = ((Sizes.of<Axes>() == Axes::size) && ...);
  using type = layout<typename Axes::family::template sized<Sizes.of<Axes>()>...>;
};
template <class Argument, other_sizes Sizes>
struct resized_argument {
  using type = Argument;
};
template <class E, class Layout, other_sizes Sizes>
struct resized_argument<tensor_argument<E, Layout>, Sizes> {
  using sized = resized_axes<Sizes, typename Layout::axes>;
  using type = tensor_argument<E, std::conditional_t<sized::same, Layout, typename sized::type>>;
};
template <class Argument>
struct axes_of_argument {
  static constexpr axis_list value{};
};
template <class E, class Layout>
struct axes_of_argument<tensor_argument<E, Layout>> {
  static constexpr axis_list value = axes_of_layout<Layout>();
};

// A call with the whole sequence. Argument: for Capacity positions. (Apart from its graph, which a
// refused call does not have.)
template <class F, std::size_t Capacity, class... Argument>
struct call_of_sequence {
  using T = typename computed_type<Argument...>::type;
  using recorder = tracer<T, false, false, Capacity>;
  using result = decltype(std::declval<const F&>()(formulas::traced_argument(
      static_cast<recorder*>(nullptr), argument_number<0>{}, Argument{})...));
  static constexpr std::size_t nodes = nodes_of<F, recorder, Argument...>;
};
// Its graph, and the values that it keeps, in floats or in integers.
template <bool InIntegers, class F, std::size_t Capacity, class... Argument>
struct whole_sequence : call_of_sequence<F, Capacity, Argument...> {
  using recorder = typename call_of_sequence<F, Capacity, Argument...>::recorder;
  static constexpr auto traced = graph_of<F, recorder, true, Argument...>();
  static constexpr auto read = read_positions(traced, Capacity, family_id<axis_family<axes::token>>,
                                              family_id<axis_family<axes::query>>,
                                              family_id<axis_family<axes::key>>, InIntegers);
  static constexpr std::size_t count_of_kept = [] {
    std::size_t count = 0;
    for (int n = 0; n < read.g.count; ++n) count += read.keeps[n];
    return count;
  }();
  struct memories_of_kept {
    kept_memory of[count_of_kept + 1];
  };
  static constexpr memories_of_kept memories = [] {
    memories_of_kept found{};
    std::size_t count = 0;
    for (int n = 0; n < read.g.count; ++n)
      if (read.keeps[n]) found.of[count++] = read.memory_of(n);
    return found;
  }();
};

// The graph of a step of Positions positions. Whole: the same formula and arguments for the whole
// sequence. Traced: arguments with as many keys as new positions; Argument: as they are.
template <class F, class Whole, std::size_t Positions, class Traced, class... Argument>
struct traced_step;
template <class F, class Whole, std::size_t Positions, class... Traced, class... Argument>
struct traced_step<F, Whole, Positions, list<Traced...>, Argument...> {
  using T = typename Whole::T;
  static constexpr std::size_t positions = Positions;
  static constexpr auto traced = graph_of<F, typename Whole::recorder, true, Traced...>();
  static constexpr std::size_t nodes = sizeof(traced.nodes) / sizeof(traced.nodes[0]);
  static constexpr bool is_the_same = same_words(Whole::traced, traced);
  static constexpr axis_list actual[] = {axes_of_argument<Argument>::value...};
  static constexpr auto roles =
      make_step<nodes_of_step(Whole::read)>(Whole::read, Positions, traced, actual);

  // The elements that the step of that root covers.
  static constexpr role role_in(int root, unsigned long long family) {
    const node_of_graph<T>& node = roles.g.nodes[root];
    return roles.role_of(node.what == word::reduce ? node.from[0].node : root, family);
  }
  template <unsigned long long Family, int Root>
  static constexpr bool is_new =
      role_in(Root, Family) == role::row || role_in(Root, Family) == role::fresh;
  // Where append N goes.
  template <int N>
  static constexpr std::size_t place_of = roles.place[N];
  template <unsigned long long Family, int Root>
  static constexpr bool is_kept = role_in(Root, Family) == role::kept;
};
template <class F, class Whole, std::size_t Positions, class Traced, class... Argument>
struct scheduled_step : traced_step<F, Whole, Positions, Traced, Argument...> {
  using base = traced_step<F, Whole, Positions, Traced, Argument...>;
  using T = typename base::T;
  static constexpr sequence_axis<nodes_of_step(Whole::read)> sequences{};
  static constexpr auto value = make_schedule(base::roles.g, true, true);
  static_assert(!base::is_the_same ||
                    same_attentions(make_schedule(Whole::read.g, true, true), value),
                "umbel: key_value_cache: a step would round otherwise than the whole pass");

  T* kept;
  std::size_t position;
};
}  // namespace formulas
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
