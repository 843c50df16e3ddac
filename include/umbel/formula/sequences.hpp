// SPDX-License-Identifier: BSL-1.0
// One sequence of a batch at a time: if the data between steps don't fit the caches for a whole
// batch, and no step mixes its sequences, all steps run for one sequence, then for the next, on the
// schedule of a graph without that axis, as in layers. Heads of one sequence count too. Otherwise a
// multi-head attention of 8 sequences of 128 tokens of 256 features took 1.12 of the layer's time
// (Zen 4).
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/score_rows.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

template <std::size_t Nodes>
struct sequence_axis {
  unsigned long long family = 0;  // 0: none
  std::size_t count = 1;
  std::size_t stride[Nodes]{};  // of an argument
};

// The first axis that is longer than 1: sequences, or heads of one sequence.
constexpr std::size_t outermost(const axis_list& axes) noexcept {
  std::size_t at = 0;
  while (axes.rank > at && axes.size[at] == 1) ++at;
  return at;
}

template <class T, std::size_t Nodes>
struct sequence_finder {
  // Smaller data are as fast all at once: they stay in the second-level cache.
  static constexpr std::size_t least_of_all = 1 << 20, least_of_one = 1 << 16;  // bytes

  const schedule<T, Nodes>& p;
  sequence_axis<Nodes> found;
  bool seen[Nodes]{};  // arguments

  constexpr bool is_outermost(int n) const {
    const axis_list& axes = p.at(n).axes;
    const std::size_t at = outermost(axes);
    return at != axes.rank && axes.family[at] == found.family && axes.size[at] == found.count;
  }
  constexpr bool reads_apart(const operand& from) {
    const node_of_graph<T>& of = p.at(from.node);
    const bool has = from.axes.has(found.family);
    const std::size_t stride = from.axes.stride_of(found.family);
    if (has && from.axes.size_of(found.family) != found.count) return false;
    if (of.what != word::argument)
      return has == of.axes.has(found.family) && stride == of.axes.stride_of(found.family);
    if (seen[from.node] && found.stride[from.node] != stride) return false;
    seen[from.node] = true;
    found.stride[from.node] = stride;
    return true;
  }
  constexpr bool goes_along(const node_of_graph<T>& node) const {
    for (std::size_t i = 0; i < node.sums; ++i)
      if (node.summed[i] == found.family) return true;
    return node.family == found.family;
  }
  constexpr bool find() {
    const std::size_t bytes = p.workspace * sizeof(T);
    const axis_list& axes = p.at(p.steps[0].root).axes;
    const std::size_t at = outermost(axes);
    if ((p.count) < 2 || at == axes.rank) return false;
    found.family = axes.family[at];
    found.count = axes.size[at];
    if (bytes < least_of_all || least_of_one > bytes / found.count) return false;
    for (std::size_t s = 0; s < p.count; ++s) {
      const step& this_step = p.steps[s];
      const word what = p.at(this_step.root).what;
      const bool has_axes = what == word::softmax || what == word::reduce;  // not only a function
      if ((this_step.kind == step_kind::call && !has_axes) || !is_outermost(this_step.root) ||
          !is_outermost(this_step.to))
        return false;
    }
    for (int n = 0; n < p.g.count; ++n) {
      const node_of_graph<T>& node = p.at(n);
      if (p.root[n] == nowhere) continue;
      if (goes_along(node) || (p.stored[n] && !is_outermost(n))) return false;
      for (std::size_t j = 0; j < node.operands; ++j)
        if (!reads_apart(node.from[j])) return false;
    }
    return true;
  }
};
template <class T, std::size_t Nodes>
constexpr sequence_axis<Nodes> find_sequences(const schedule<T, Nodes>& p) {
  sequence_finder<T, Nodes> finder{p, {}};
  return finder.find() ? finder.found : sequence_axis<Nodes>{};
}

constexpr axis_list without(const axis_list& from, unsigned long long family) {
  axis_list axes;
  for (std::size_t i = 0; i < from.rank; ++i)
    if (from.family[i] != family) axes.push(from.family[i], from.size[i], from.stride[i]);
  return axes;
}
template <class T, std::size_t Nodes>
constexpr graph<T, Nodes> of_one_sequence(graph<T, Nodes> g,
                                          const sequence_axis<Nodes>& sequences) {
  for (int n = 0; n < g.count; ++n) {
    node_of_graph<T>& node = g.nodes[n];
    node.axes = without(node.axes, sequences.family);
    node.by_axes = true;
    for (std::size_t j = 0; j < node.operands; ++j)
      node.from[j].axes = without(node.from[j].axes, sequences.family);
  }
  for (std::size_t r = 0; r < g.results; ++r)
    g.result[r].axes = without(g.result[r].axes, sequences.family);
  return g;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
