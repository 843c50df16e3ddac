// SPDX-License-Identifier: BSL-1.0
// From a graph to steps: what is computed together, what is stored and where, who writes a result.
// It depends only on graph and shapes, never on the target, so a formula rounds the same
// everywhere:
//
//   a * b + c               one multiply_add, if nothing else needs the product
//   softmax of a program    contract<key>(softmax<key>(f(contract<head_dim>(q, k))), v) is one
//     of scores             step, `attend`, for any elementwise program f
//   elementwise             one pass over everything between stored values, `each`
//     of one product        in place of it: `product`
//     of rows, reduced      computed as the reduction reads: `reduce`
//   of one axis's positions a step for the axis, if slow
//   a copy, permuted        strides of the step that writes it
//   the rest                a call
//
// Steps that run together on blocks of rows, `rows`, are found in score_rows.hpp.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/graph.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// The first four write results with any strides.
enum class step_kind : unsigned char { elementwise, attend, product, rows, reduce, call };

// The parts of an attention: nodes, and the families that have a role.
struct attention_parts {
  int scores = -1;   // the contraction of queries and keys
  int weights = -1;  // the softmax
  operand q, k, v;
  unsigned long long query = 0, key = 0, head_dim = 0, value_dim = 0;  // 0: none
};

struct step {
  step_kind kind{};
  int root = -1;     // the node that is computed
  int to = -1;       // the node in whose memory it is written
  int product = -1;  // of a product: its node, the root or the root's input
  attention_parts attention;
  // Of rows: the steps before the product, then `shared` other products with the same weights.
  std::size_t first_part = 0, parts = 0, shared = 0;

  constexpr std::size_t before() const noexcept { return parts - shared; }
};

inline constexpr int everywhere = -2;  // of a node: computed in each step that needs it
inline constexpr int nowhere = -1;     // not needed, or an argument

template <class T, std::size_t Nodes>
struct schedule {
  graph<T, Nodes> g;
  int root[Nodes]{};           // the step that computes a node, by its root
  bool stored[Nodes]{};        // does it have memory?
  int result[Nodes]{};         // its result number; -1: in the workspace
  std::size_t place[Nodes]{};  // in the workspace, in elements
  step steps[Nodes];           // `count` of them, then the parts of others
  std::size_t count = 0;
  std::size_t workspace = 0;  // elements

  constexpr const node_of_graph<T>& at(int n) const { return g.nodes[n]; }

  // Does `by` read its whole node, each element in its place?
  constexpr bool reads_as_is(const operand& by) const {
    const axis_list& node_axes = at(by.node).axes;
    if (by.offset != 0 || by.axes.rank != node_axes.rank) return false;
    for (std::size_t i = 0; i < node_axes.rank; ++i) {
      const std::size_t there = by.axes.position(node_axes.family[i]);
      if (there == npos || by.axes.size[there] != node_axes.size[i] ||
          by.axes.stride[there] != node_axes.stride[i])
        return false;
    }
    return true;
  }
  // Does `by` read each element of its node once, perhaps renamed and reordered?
  constexpr bool reads_all(const operand& by) const {
    const axis_list& node_axes = at(by.node).axes;
    if (by.offset != 0 || by.axes.count() != node_axes.count()) return false;
    for (std::size_t i = 0; i < node_axes.rank; ++i)
      if (node_axes.size[i] != 1 && by.axes.find(node_axes.size[i], node_axes.stride[i]) == npos)
        return false;
    return true;
  }
  // The axes of `by`'s node if the copy that reads it is written with the axes `to`.
  constexpr axis_list written_for(const operand& by, const axis_list& to) const {
    axis_list axes = at(by.node).axes;
    for (std::size_t i = 0; i < axes.rank; ++i) {
      const std::size_t from = by.axes.find(axes.size[i], axes.stride[i]);
      axes.stride[i] = axes.size[i] == 1 ? 0 : to.stride_of(by.axes.family[from]);
    }
    return axes;
  }
  constexpr std::size_t uses(int n) const {
    std::size_t found = 0;
    for (int i = 0; i < g.count; ++i)
      for (std::size_t j = 0; j < at(i).operands; ++j) found += at(i).from[j].node == n;
    for (std::size_t i = 0; i < g.results; ++i) found += g.result[i].node == n;
    return found;
  }
  static constexpr bool same_axes(const axis_list& a, const axis_list& b) {
    if (a.rank != b.rank) return false;
    for (std::size_t i = 0; i < a.rank; ++i)
      if (!b.has(a.family[i])) return false;
    return true;
  }

  // The same axes, except that `a` may lack some of size 1?
  static constexpr bool fills(const axis_list& a, const axis_list& b) {
    for (std::size_t i = 0; i < a.rank; ++i)
      if (!b.has(a.family[i])) return false;
    return a.count() == b.count();
  }

  // Does reduction n read rows as stored, each to one number?
  constexpr bool reduces_rows(int n) const {
    const operand& from = at(n).from[0];
    const axis_list& node_axes = at(from.node).axes;
    return at(n).what == word::reduce && at(n).sums == 1 && from.offset == 0 &&
           from.axes == node_axes && node_axes.rank != 0 &&
           node_axes.family[node_axes.rank - 1] == at(n).summed[0] &&
           node_axes.size[node_axes.rank - 1] != 1;
  }
  // Is n in an elementwise program over these axes, in that root's step?
  constexpr bool is_over(int n, int of_root, const axis_list& axes) const {
    if (!is_elementwise(at(n).what)) return false;
    if (at(of_root).what == word::reduce) return fills(axes, at(at(of_root).from[0].node).axes);
    return is_elementwise(at(of_root).what) && fills(axes, at(of_root).axes);
  }

  // Is node n computed in this step?
  constexpr bool is_in(int n, int of_root) const {
    return root[n] == of_root || root[n] == everywhere;
  }
  // Is it computed there because the step needs it?
  constexpr bool computes(int n, int of_root) const {
    if (root[n] != everywhere) return root[n] == of_root;
    for (int m = n + 1; m < g.count; ++m)
      for (std::size_t j = 0; j < at(m).operands; ++j)
        if (at(m).from[j].node == n && computes(m, of_root)) return true;
    return false;
  }
};

template <class T, std::size_t Nodes>
constexpr void join_multiplications(schedule<T, Nodes>& p) {
  std::size_t uses[Nodes]{};
  for (int n = 0; n < p.g.count; ++n)
    for (std::size_t j = 0; j < p.at(n).operands; ++j) ++uses[p.at(n).from[j].node];
  for (std::size_t i = 0; i < p.g.results; ++i) ++uses[p.g.result[i].node];
  for (int n = 0; n < p.g.count; ++n) {
    node_of_graph<T>& sum = p.g.nodes[n];
    if (sum.what != word::add) continue;
    for (std::size_t j = 0; j < 2; ++j) {
      const operand product = sum.from[j], other = sum.from[1 - j];
      const node_of_graph<T>& by = p.at(product.node);
      if (by.what != word::multiply || uses[product.node] != 1 || !p.reads_as_is(product)) continue;
      // Scores, perhaps scaled: additions to them stay additions.
      const node_of_graph<T>& to = p.at(other.node);
      const bool scaled =
          to.what == word::multiply && (p.at(to.from[0].node).what == word::contract ||
                                        p.at(to.from[1].node).what == word::contract);
      if (to.what == word::contract || (scaled && j == 0)) continue;
      sum.what = word::multiply_add;
      sum.from[0] = by.from[0];
      sum.from[1] = by.from[1];
      sum.from[2] = other;
      sum.operands = 3;
      --uses[product.node];
      ++uses[by.from[0].node];
      ++uses[by.from[1].node];
      break;
    }
  }
}

// The program between a softmax and the contraction that produces its scores.
template <class T, std::size_t Nodes>
struct score_program {
  const schedule<T, Nodes>& p;
  const axis_list& axes;  // of the scores
  bool in[Nodes]{};       // its nodes
  bool seen[Nodes]{};
  int scores = -1;
  bool ok = true;

  // Does n depend on the scores through elementwise operations?
  constexpr bool collect(int n) {
    if (seen[n]) return in[n] || n == scores;
    seen[n] = true;
    const node_of_graph<T>& node = p.at(n);
    if (node.what == word::contract && p.same_axes(node.axes, axes)) {
      if (scores != -1) return false;  // of two, the first; the other is stored and read
      scores = n;
      return true;
    }
    if (!is_elementwise(node.what)) return false;
    bool depends = false;
    for (std::size_t j = 0; j < node.operands; ++j)
      if (collect(node.from[j].node)) {
        depends = true;
        if (!p.reads_as_is(node.from[j])) ok = false;
      }
    if (depends && !p.same_axes(node.axes, axes)) ok = false;
    return in[n] = depends;
  }
  // Does nothing else need this program's values?
  constexpr bool is_alone(int weights) const {
    for (int n = 0; n < p.g.count; ++n) {
      if (in[n] || n == weights || p.root[n] == nowhere) continue;
      for (std::size_t j = 0; j < p.at(n).operands; ++j) {
        const int from = p.at(n).from[j].node;
        if (in[from] || from == scores) return false;
      }
    }
    for (std::size_t i = 0; i < p.g.results; ++i)
      if (in[p.g.result[i].node] || p.g.result[i].node == scores) return false;
    return true;
  }
};

// Is the contraction n of a softmax the end of an attention?
template <class T, std::size_t Nodes>
constexpr bool find_attention(const schedule<T, Nodes>& p, int n, step& found,
                              score_program<T, Nodes>& program) {
  const node_of_graph<T>& context = p.at(n);
  for (std::size_t j = 0; j < 2; ++j) {
    const int w = context.from[j].node;
    const node_of_graph<T>& weights = p.at(w);
    if (weights.what != word::softmax || weights.family != context.family || p.uses(w) != 1 ||
        !p.reads_as_is(context.from[j]) || !p.reads_as_is(weights.from[0]))
      continue;
    if (!program.collect(weights.from[0].node) || !program.ok || !program.is_alone(w)) return false;
    attention_parts parts;
    parts.scores = program.scores;
    parts.weights = w;
    parts.key = weights.family;
    const node_of_graph<T>& scores = p.at(program.scores);
    parts.head_dim = scores.family;
    if (parts.head_dim == 0) return false;  // several
    const bool key_is_left = scores.from[0].axes.has(parts.key);
    parts.q = scores.from[key_is_left];
    parts.k = scores.from[!key_is_left];
    parts.v = context.from[1 - j];
    if (parts.q.axes.has(parts.key) || !parts.k.axes.has(parts.key)) return false;
    for (std::size_t i = 0; i < parts.v.axes.rank; ++i) {
      const unsigned long long family = parts.v.axes.family[i];
      if (family == parts.key || scores.axes.has(family)) continue;
      if (parts.value_dim != 0) return false;  // two widths
      parts.value_dim = family;
    }
    std::size_t most = 0;
    for (std::size_t i = 0; i < scores.axes.rank; ++i) {
      const unsigned long long family = scores.axes.family[i];
      if (family == parts.key || parts.k.axes.has(family) || parts.v.axes.has(family)) continue;
      if (scores.axes.size[i] > most) parts.query = family, most = scores.axes.size[i];
    }
    found.attention = parts;
    return true;
  }
  return false;
}

// Are all that read node n in one step, `with`, over the same elements? A condition is a part of
// the steps that read it. attentions: by root.
template <class T, std::size_t Nodes>
constexpr bool is_read_together(const schedule<T, Nodes>& p, const readings<Nodes>& readers,
                                const attention_parts* attentions, int n, int& with) {
  const axis_list& axes = p.at(n).axes;
  const bool fixed = is_product(p.at(n).what);  // its axes are those of the result
  for (std::size_t i = 0; i < p.g.results; ++i)
    if (p.g.result[i].node == n) return false;
  for (std::size_t r = readers.first[n]; r < readers.first[n + 1]; ++r) {
    const auto [i, j] = readers.all[r];
    const int root = p.root[i];
    if (root == nowhere) continue;
    if (!p.reads_as_is(p.at(i).from[j]) || (fixed && !p.same_axes(axes, p.at(i).axes)))
      return false;
    if (root == everywhere) {
      if (!p.at(i).condition || !p.fills(axes, p.at(i).axes) ||
          !is_read_together(p, readers, attentions, i, with))
        return false;
      continue;
    }
    const bool in_program = attentions[root].scores >= 0 && is_elementwise(p.at(i).what);
    if ((with != nowhere && with != root) ||
        !(in_program ? p.fills(axes, p.at(i).axes) : p.reduces_rows(i) || p.is_over(i, root, axes)))
      return false;
    with = root;
  }
  return true;
}

// Apart: each node that is computed has its own step and memory, so that all values can be seen.
template <class T, std::size_t Nodes>
constexpr void choose_steps(schedule<T, Nodes>& p, bool apart = false) {
  bool needed[Nodes]{};
  attention_parts attentions[Nodes]{};
  int products[Nodes]{};  // of a root: the product that begins its step
  for (int& n : products) n = -1;
  for (std::size_t i = 0; i < p.g.results; ++i) needed[p.g.result[i].node] = true;
  for (int n = p.g.count; n-- > 0;) {
    if (writes_gradients(p.at(n).what)) needed[n] = true;
    if (!needed[n]) continue;
    for (std::size_t j = 0; j < p.at(n).operands; ++j) needed[p.at(n).from[j].node] = true;
  }
  for (int n = 0; n < p.g.count; ++n)
    p.root[n] = needed[n] && p.at(n).what != word::argument ? n : nowhere;

  const readings<Nodes> readers{p.g};
  for (int n = p.g.count; n-- > 0;) {
    const node_of_graph<T>& node = p.at(n);
    if (p.root[n] != n) continue;
    const std::size_t first = readers.first[n], last = readers.first[n + 1];
    if (node.what == word::contract && !apart) {
      step found;
      score_program<T, Nodes> program{
          p, p.at(node.from[p.at(node.from[0].node).what != word::softmax].node).axes};
      if (find_attention(p, n, found, program)) {
        attentions[n] = found.attention;
        p.root[found.attention.scores] = p.root[found.attention.weights] = n;
        for (int i = 0; i < n; ++i)
          if (program.in[i]) p.root[i] = n;
        continue;
      }
    }
    // A condition read under different axes is stored, as 1 or 0.
    bool as_is = true;
    for (std::size_t r = first; node.condition && r < last; ++r) {
      const auto [i, j] = readers.all[r];
      if (p.root[i] != nowhere) as_is = as_is && p.reads_as_is(p.at(i).from[j]);
    }
    if (node.what == word::number || node.what == word::position || node.open ||
        (node.condition && as_is)) {
      p.root[n] = everywhere;
      continue;
    }
    if (node.condition) continue;
    if (!is_elementwise(node.what) && !is_product(node.what)) continue;
    if (is_product(node.what)) products[n] = n;
    // With its readers, if all are in one step over the same elements, with at most one product.
    int with = nowhere;
    if (apart || !is_read_together(p, readers, attentions, n, with) || with == nowhere) continue;
    if (is_product(node.what)) {
      // (A product is written where its program is; a gradient is written where it is added to.)
      if (!is_elementwise(p.at(with).what) || p.at(with).what == word::add_to ||
          products[with] != -1 || !p.same_axes(node.axes, p.at(with).axes))
        continue;
      products[with] = n;
    }
    p.root[n] = with;
  }

  // Steps, in the order of their roots. A step read only by a reordering copy writes for it.
  for (int n = 0; n < p.g.count; ++n) {
    if (p.root[n] != n) continue;
    const node_of_graph<T>& node = p.at(n);
    if (node.what == word::copy && p.root[n] == n) {
      const int from = node.from[0].node;
      if (p.root[from] == from && attentions[from].scores >= 0 && p.uses(from) == 1 &&
          p.reads_all(node.from[0])) {
        for (std::size_t i = 0; i < p.count; ++i)
          if (p.steps[i].root == from) p.steps[i].to = n;
        p.stored[from] = false;
        p.stored[n] = true;
        continue;
      }
    }
    step& next = p.steps[p.count++];
    next.root = next.to = n;
    next.attention = attentions[n];
    next.product = products[n];
    next.kind = attentions[n].scores >= 0   ? step_kind::attend
                : products[n] >= 0          ? step_kind::product
                : is_elementwise(node.what) ? step_kind::elementwise
                : node.what == word::reduce && p.root[node.from[0].node] == n ? step_kind::reduce
                                                                              : step_kind::call;
    p.stored[n] = true;
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
