// SPDX-License-Identifier: BSL-1.0
// What a formula's function is given while it is run through: a tracer, which records the graph of
// its operations, or a binder, which finds the parts of arguments in a call.
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

// A formula is run through twice: at compile time, to make its graph, and, where it uses parts of
// an argument (w.q), once more in each call, to learn where they are.
// Describes: what is recorded is for reading, not for running. Differentiates: for the graph of a
// gradient (training/), in which blocks are the words that they are made of. Positions: for that of
// a cache with room for so many, 0 elsewhere; then rotary positions follow from their axis.
template <class T, bool Describes = false, bool Differentiates = false, std::size_t Positions = 0>
struct tracer {
  static constexpr bool makes_graph = true;
  static constexpr std::size_t positions = Positions;
  static constexpr bool describes = Describes;
  static constexpr bool differentiates = Differentiates;
  using value_type = T;
  node_of_graph<T>* nodes;  // null: they are only counted
  std::size_t slots;
  captured<T>*
      parts;  // those that memory is known of, to see that it outlives the formula; or null
  int count = 0, arguments = 0;  // arguments: the first so many nodes
  // Is an operand a tensor that is no part of an argument? Is a mask made of conditions that are
  // not in an argument?
  bool made_a_tensor = false, made_a_mask = false;
  // What is recorded now is computed again for the gradient (training/recompute.hpp), not 0: with
  // what else has this number, of so many.
  int recomputed = 0, numbers = 0;

  // The number of this node, which may be there already.
  constexpr int add(const node_of_graph<T>& one) noexcept {
    if (nodes == nullptr) return count++;
    for (int i = 0; i < count; ++i)
      if (is_same_node(nodes[i], one)) return i;
    nodes[count] = one;
    nodes[count].recomputed = recomputed;
    return count++;
  }
  // Parts have no value that can be read here; what has will be gone when the steps are run.
  constexpr std::size_t capture(const captured<T>& part) noexcept {
    if (__builtin_constant_p(*part.values)) made_a_tensor = true;
    if (parts != nullptr) *parts++ = part;
    return slots++;
  }
};
// Compilers choose in which order the operands of a + b are evaluated, at run time not as in
// constant expressions: so parts are known by their place in the formula, not by when they come.
template <class T>
struct bound_node {
  static_assert(most_operands == 8);
  int from[most_operands] = {-1, -1, -1, -1, -1, -1, -1, -1};
  std::size_t first_part = 0, parts = 0;
  std::size_t asked = 0;  // by collect: so many of its operands, and who asks for it
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
  // Of the next node.
  constexpr std::size_t capture(const captured<T>& part) noexcept {
    if (nodes[count].parts++ == 0) nodes[count].first_part = captured_parts;
    parts[captured_parts++] = part;
    return 0;
  }
  // The parts of node n: those of its operands, from left to right, then its own; each once. At run
  // time, so there is no recursion: the depth of the stack is known.
  constexpr captured<T>* collect(int n, captured<T>* to) noexcept {
    if (n < 0 || nodes[n].seen) return to;
    nodes[n].seen = true;
    while (n >= 0) {
      bound_node<T>& node = nodes[n];
      const int from = node.asked < most_operands ? node.from[node.asked++] : -1;
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
// In the same order, the slots of a graph.
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
