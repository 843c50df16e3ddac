// SPDX-License-Identifier: BSL-1.0
// The recorder behind a formula's function: a tracer, which records the graph of its operations, or
// a binder, which finds the parts of arguments in a call.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/graph.hpp>
#include <umbel/formula/parts.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// "[heads=3, query=17]", "layer_norm": characters with static storage.
template <class Word>
struct text_of_word {
  static constexpr sentence_buffer buffer = [] {
    sentence_buffer made;
    speak<Word>::to(made);
    made.put('\0');
    return made;
  }();
};
template <class Word>
constexpr const char* written_out() noexcept {
  return text_of_word<Word>::buffer.chars;
}

// A formula's function runs twice: at compile time to make its graph, and, if it uses parts of an
// argument (w.q), again in each call to find their addresses.
// Describes: the record is for reading, not for running. Differentiates: for a gradient's graph
// (training/), in which blocks become their operations. Positions: for the graph of a cache with
// that capacity, else 0; then rotary positions follow from their axis.
template <class T, bool Describes = false, bool Differentiates = false, std::size_t Positions = 0>
struct tracer {
  static constexpr bool makes_graph = true;
  static constexpr std::size_t positions = Positions;
  static constexpr bool describes = Describes;
  static constexpr bool differentiates = Differentiates;
  using value_type = T;
  node_of_graph<T>* nodes;  // null: only counted
  std::size_t slots;
  captured<T>* parts;  // parts with known memory, to check that it outlives the formula; or null
  int count = 0, arguments = 0;  // arguments: the first nodes
  // Is an operand a tensor outside the arguments? Is a mask made of conditions outside them?
  bool made_a_tensor = false, made_a_mask = false;
  bool subtracted_from_itself = false;
  // Not 0: what is recorded now is recomputed for the gradient (training/recompute.hpp), together
  // with other nodes of this number. numbers: how many there are.
  int recomputed = 0, numbers = 0;

  // The number of this node, which may already exist.
  constexpr int add(const node_of_graph<T>& node) noexcept {
    if (nodes == nullptr) return count++;
    if (const int same = find_same(nodes, count, node); same >= 0) return same;
    nodes[count] = node;
    nodes[count].recomputed = recomputed;
    return count++;
  }
  // Parts have no readable value here; what has one won't exist when the steps run.
  constexpr std::size_t capture(const captured<T>& part) noexcept {
    if (__builtin_constant_p(*part.values)) made_a_tensor = true;
    if (parts != nullptr) *parts++ = part;
    return slots++;
  }
};
// Compilers choose the evaluation order of a + b, differently at run time and in constant
// expressions. So parts are identified by their place in the formula, not by order of arrival.
template <class T>
struct bound_node {
  static_assert(most_operands == 8);
  int from[most_operands] = {-1, -1, -1, -1, -1, -1, -1, -1};
  std::size_t first_part = 0, parts = 0;
  std::size_t asked = 0;  // for collect: its operands so far, and who asks
  int asked_by = -1;
  bool seen = false;
};
template <class T, bool Differentiates = false, std::size_t Positions = 0>
struct binder {
  static constexpr bool makes_graph = false;
  static constexpr std::size_t positions = Positions;
  static constexpr bool describes = false;
  static constexpr bool differentiates = Differentiates;
  using value_type = T;
  bound_node<T>* nodes;
  captured<T>* parts;
  int count = 0;
  std::size_t captured_parts = 0;

  template <class... From>
  constexpr int add(From... from) noexcept {
    std::size_t operands = 0;
    ((nodes[count].from[operands++] = from), ...);
    return count++;
  }
  // For the next node.
  constexpr std::size_t capture(const captured<T>& part) noexcept {
    if (nodes[count].parts++ == 0) nodes[count].first_part = captured_parts;
    parts[captured_parts++] = part;
    return 0;
  }
  // The parts of node n: those of its operands from left to right, then its own, each once. It runs
  // at run time, so without recursion: the stack depth is known.
  constexpr captured<T>* collect(int n, captured<T>* to) noexcept {
    if (n < 0 || nodes[n].seen) return to;
    nodes[n].seen = true;
    while (n >= 0) {
      bound_node<T>& node = nodes[n];
      const int from = most_operands > node.asked ? node.from[node.asked++] : -1;
      if (from >= 0) {
        if (nodes[from].seen) continue;
        nodes[from].seen = true;
        nodes[from].asked_by = n;
        n = from;
      } else if (node.asked == most_operands) {
        for (std::size_t i = 0; i < node.parts; ++i) *to++ = parts[node.first_part + i];
        n = node.asked_by;
      }
    }
    return to;
  }
};
// The slots of a graph in the same order.
template <class T, std::size_t Nodes, std::size_t Parts>
struct slots_in_order {
  std::size_t slot[Parts + 1]{};
  std::size_t count = 0;
  bool seen[Nodes]{};

  constexpr void collect(const graph<T, Nodes>& g, int n) {
    if (seen[n]) return;
    seen[n] = true;
    for (std::size_t j = 0; j < g.nodes[n].operands; ++j) collect(g, g.nodes[n].from[j].node);
    if (g.nodes[n].slot != npos && g.nodes[n].slot >= g.arguments)
      for (std::size_t i = 0; i < g.nodes[n].parts; ++i) slot[count++] = g.nodes[n].slot + i;
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
