// SPDX-License-Identifier: BSL-1.0
// The elementwise part of a step as straight-line code over packs: each node once, in graph order.
// On scalars it defines the result; on packs it does the same lane by lane. Not here: where
// operands are (each.hpp, attend.hpp provide a Place).
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/functions.hpp>
#include <umbel/formula/schedule.hpp>
#include <umbel/kernel/scores_common.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/pack.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// A rounded product: an fma, so that no compiler fuses it into a sum. (x + -0 is x.)
template <class V>
UMBEL_INLINE constexpr V product(V a, V b) noexcept {
  return simd::fma(a, b, simd::broadcast<V>(-simd::element_of<V>{}));
}

template <word W, class V, class... Other>
UMBEL_INLINE constexpr V number_of(V a, Other... other) noexcept {
  if constexpr (is_function(W)) return function_of<W>::type::of(a, other...);
  if constexpr (W == word::copy) return a;
  if constexpr (W == word::add || W == word::add_to) return (a + ... + other);
  if constexpr (W == word::subtract) return (a - ... - other);
  if constexpr (W == word::multiply) return product(a, other...);
  if constexpr (W == word::multiply_add) return simd::fma(a, other...);
  if constexpr (W == word::divide) return (a / ... / other);
}

template <std::size_t Nodes>
struct node_list {
  int nodes[Nodes]{};
  std::size_t count = 0;

  constexpr std::size_t index(int n) const noexcept {
    for (std::size_t i = 0; i < count; ++i)
      if (nodes[i] == n) return i;
    return npos;
  }
};

// Operand J of a node.
struct place_of_operand {
  int node = -1;
  std::size_t j = 0;
};

// The nodes that root's step computes for these operands, without `known`, in order.
template <class T, std::size_t Nodes>
constexpr node_list<Nodes> program_for(const schedule<T, Nodes>& p, const place_of_operand* wanted,
                                       std::size_t count, int root, int known) {
  bool needed[Nodes]{};
  for (std::size_t i = 0; i < count; ++i)
    needed[p.at(wanted[i].node).from[wanted[i].j].node] = true;
  node_list<Nodes> list;
  for (int n = p.g.count; n-- > 0;) {
    if (needed[n] && (n == known || !p.is_in(n, root))) needed[n] = false;
    for (std::size_t j = 0; needed[n] && j < p.at(n).operands; ++j)
      needed[p.at(n).from[j].node] = true;
  }
  for (int n = 0; n < p.g.count; ++n)
    if (needed[n]) list.nodes[list.count++] = n;
  return list;
}
// The nodes for the root itself, or for a reduction's operand.
template <class T, std::size_t Nodes>
constexpr node_list<Nodes> program_of(const schedule<T, Nodes>& p, int root, int known) {
  place_of_operand all[most_operands];
  const std::size_t count = p.at(root).operands;
  for (std::size_t j = 0; j < count; ++j) all[j] = {root, j};
  node_list<Nodes> list = program_for(p, all, count, root, known);
  if (p.at(root).what != word::reduce) list.nodes[list.count++] = root;
  return list;
}

// Plan: a class with `static constexpr schedule<T> value`. List: a node_list with static storage.
// Known: the node whose value the caller has, or -1.
template <class Plan, const auto& List, int Known, class V>
struct program {
  using M = kernel::scores::mask_of<V>;
  V numbers[List.count + 1]{};
  M conditions[List.count + 1]{};

  // place.load<N, J>(): operand J of node N; place.gather<N>(positions): elements of operand 0 of
  // node N; place.position<Family>(); known: the value of Known.
  template <class Place>
  UMBEL_INLINE constexpr program(const Place& place, V known) noexcept {
    run(place, known, std::make_index_sequence<List.count>{});
  }

  UMBEL_INLINE constexpr V last() const noexcept {
    if constexpr (Plan::value.at(List.nodes[List.count - 1]).condition)
      return as_number(conditions[List.count - 1]);
    else
      return numbers[List.count - 1];
  }

  // Operand J of node N, which may be outside the list.
  template <int N, std::size_t J, class Place>
  UMBEL_INLINE constexpr V number(const Place& place, [[maybe_unused]] V known) const noexcept {
    constexpr int from = Plan::value.at(N).from[J].node;
    constexpr std::size_t at = List.index(from);
    if constexpr (from == Known)
      return known;
    else if constexpr (at != npos && Plan::value.at(from).condition)
      return as_number(conditions[at]);
    else if constexpr (at != npos)
      return numbers[at];
    else {
      V value = place.template load<N, J>();
      if constexpr (Plan::value.at(N).what == word::where && sizeof(V) >= 16 &&
                    sizeof(V) <= UMBEL_VECTOR_BYTES)
        UMBEL_LOADED(value);
      return value;
    }
  }
  template <int N, std::size_t J, class Place>
  UMBEL_INLINE constexpr M condition(const Place& place) const noexcept {
    constexpr int from = Plan::value.at(N).from[J].node;
    constexpr std::size_t at = List.index(from);
    if constexpr (at != npos && Plan::value.at(from).condition)
      return conditions[at];
    else if constexpr (at != npos)
      return simd::not_equal(numbers[at], V{});
    else  // an argument of bool, or a stored condition
      return simd::not_equal(place.template load<N, J>(), V{});
  }

 private:
  // True is 1, false is 0.
  UMBEL_INLINE static constexpr V as_number(M condition) noexcept {
    return simd::select(condition, simd::broadcast<V>(simd::element_of<V>{1}), V{});
  }

  template <class Place, std::size_t... I>
  UMBEL_INLINE constexpr void run(const Place& place, [[maybe_unused]] V known,
                                  std::index_sequence<I...>) noexcept {
    (compute<I>(place, known, std::make_index_sequence<Plan::value.at(List.nodes[I]).operands>{}),
     ...);
  }

  // J: its operands, instantiated only where they are read: most of a formula's compile time.
  template <std::size_t I, class Place, std::size_t... J>
  UMBEL_INLINE constexpr void compute(const Place& place, [[maybe_unused]] V known,
                                      std::index_sequence<J...>) noexcept {
    constexpr int n = List.nodes[I];
    constexpr word w = Plan::value.at(n).what;
    using T = simd::element_of<V>;
    if constexpr (w == word::number)
      numbers[I] = simd::broadcast<V>(Plan::value.at(n).number);
    else if constexpr (w == word::position)
      numbers[I] = place.template position<Plan::value.at(n).family>();
    else if constexpr (w == word::less)
      conditions[I] = simd::less(number<n, J>(place, known)...);
    else if constexpr (w == word::less_or_equal)
      conditions[I] = simd::less_equal(number<n, J>(place, known)...);
    else if constexpr (w == word::equal)
      conditions[I] = simd::equal(number<n, J>(place, known)...);
    else if constexpr (w == word::not_equal)
      conditions[I] = simd::not_equal(number<n, J>(place, known)...);
    else if constexpr (w == word::logical_not)
      conditions[I] = !condition<n, 0>(place);
    else if constexpr (w == word::logical_and || w == word::logical_or) {
      const M left = condition<n, 0>(place), right = condition<n, 1>(place);
      conditions[I] = w == word::logical_and ? left & right : left | right;
    } else if constexpr (w == word::where)
      numbers[I] = simd::select(condition<n, 0>(place), number<n, 1>(place, known),
                                number<n, 2>(place, known));
    else if constexpr (w == word::hide)
      numbers[I] = simd::select(condition<n, 1>(place),
                                simd::broadcast<V>(-simd::math_constants<T>::infinity),
                                number<n, 0>(place, known));
    else if constexpr (w == word::gather)
      numbers[I] = place.template gather<n>(number<n, 1>(place, known));
    else
      numbers[I] = number_of<w>(number<n, J>(place, known)...);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
