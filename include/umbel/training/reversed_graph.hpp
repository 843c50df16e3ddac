// SPDX-License-Identifier: BSL-1.0
// The graph of a gradient while it is built: nodes after those of a formula, and for each node the
// gradient so far. See reverse.hpp for the gradients of operations.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/graph.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// Families of axes that no user's axis has.
inline constexpr unsigned long long family_in = 1, family_out = 2, family_elements = 3;

constexpr axis_list without_strides(axis_list axes) noexcept {
  std::size_t stride = 1;
  for (std::size_t i = axes.rank; i-- > 0;) {
    axes.stride[i] = stride;
    stride *= axes.size[i];
  }
  return axes;
}

// For a slot, an argument or a part of one: the argument whose gradient is asked for, or npos; for
// the weights of a product also that of their bias.
struct wanted_gradient {
  std::size_t values = npos, bias = npos;
};

struct reversed_count {
  std::size_t nodes;
  bool complete;       // was the capacity enough, and does every operation have a gradient?
  bool is_two_biases;  // of one call?
  bool adds;           // to any gradient that is asked for?
};

template <class T, std::size_t Nodes>
struct reversed_graph {
  graph<T, Nodes> g;
  operand gradient[Nodes];  // of a node's value, over all its axes; none: node is -1
  bool varies[Nodes]{};     // does it depend on a differentiated argument?
  bool is_two_biases = false, complete = true, adds = false;

  constexpr reversed_count counted() const {
    return {static_cast<std::size_t>(g.count), complete, is_two_biases, adds};
  }

  // ---- nodes
  constexpr int add(const node_of_graph<T>& node) {
    if (g.count == static_cast<int>(Nodes)) {
      complete = false;
      return 0;
    }
    g.nodes[g.count] = node;
    return g.count++;
  }
  constexpr operand whole(int n) const { return {n, 0, g.nodes[n].axes}; }
  constexpr operand number(T value) {
    node_of_graph<T> node;
    node.what = word::number;
    node.number = value;
    const int same = find_same(g.nodes, g.count, node);
    return whole(same >= 0 ? same : add(node));
  }
  constexpr bool is_number(const operand& x, T value) const {
    return x.node >= 0 && g.nodes[x.node].what == word::number && g.nodes[x.node].number == value;
  }
  // An operation on elements that are matched by name, over these axes.
  template <class... X>
  constexpr operand elementwise(word what, const axis_list& over, const X&... x) {
    node_of_graph<T> node;
    node.what = what;
    node.condition = is_condition(what);
    node.axes = without_strides(over);
    ((node.from[node.operands++] = x), ...);
    return whole(add(node));
  }
  constexpr operand times(const axis_list& over, const operand& a, const operand& b) {
    if (is_number(a, 1)) return repeated(b, over);
    if (is_number(b, 1)) return repeated(a, over);
    return elementwise(word::multiply, over, a, b);
  }
  // x, repeated along those of the axes that it lacks.
  static constexpr operand repeated(operand x, const axis_list& over) {
    for (std::size_t i = 0; i < over.rank; ++i)
      if (!x.axes.has(over.family[i])) x.axes.push(over.family[i], over.size[i], 0);
    return x;
  }
  static constexpr bool is_row_major(const axis_list& axes) {
    const axis_list dense = without_strides(axes);
    for (std::size_t i = 0; i < axes.rank; ++i)
      if (axes.size[i] != 1 && axes.stride[i] != dense.stride[i]) return false;
    return true;
  }
  // x in the order of these axes, which are its own, dense.
  constexpr operand in_order(operand x, const axis_list& order) {
    axis_list axes = order;
    for (std::size_t i = 0; i < axes.rank; ++i) axes.stride[i] = x.axes.stride_of(axes.family[i]);
    x.axes = axes;
    return is_row_major(axes) ? x : elementwise(word::copy, axes, x);
  }
  static constexpr operand renamed(operand x, unsigned long long from, unsigned long long to) {
    const std::size_t at = x.axes.position(from);
    if (at != npos) x.axes.family[at] = to;
    return x;
  }
  // The axes of x in their order, in the list or not in it.
  static constexpr axis_list only(const axis_list& axes, const axis_list& kept, bool in) {
    axis_list left;
    for (std::size_t i = 0; i < axes.rank; ++i)
      if (kept.has(axes.family[i]) == in) left.push(axes.family[i], axes.size[i], 0);
    return left;
  }
  // x, summed over its axes that are not in `kept`, one chain per element.
  constexpr operand sum_to(const operand& x, const axis_list& kept) {
    const axis_list summed = only(x.axes, kept, false);
    if (summed.count() == 1) return x;
    return contraction(x, number(1), only(x.axes, kept, true), summed);
  }
  // The sum over `summed` of a b, with the axes `kept`.
  constexpr operand contraction(const operand& a, const operand& b, const axis_list& kept,
                                const axis_list& summed) {
    node_of_graph<T> node;
    node.what = word::contract;
    node.name = "contraction";
    node.axes = without_strides(kept);
    for (std::size_t i = 0; i < summed.rank; ++i) node.summed[node.sums++] = summed.family[i];
    if (node.sums == 1) node.family = node.summed[0];
    node.from[0] = a;
    node.from[1] = b;
    node.operands = 2;
    return whole(add(node));
  }

  // ---- gradients
  //
  // d: the gradient of the value that `to` reads.
  constexpr void give(const operand& to, operand d) {
    if (!varies[to.node]) return;
    const axis_list node_axes = g.nodes[to.node].axes;
    if (!g.nodes[to.node].open) {
      // An element that `to` repeats has one gradient, the sum over all places.
      axis_list read = to.axes;
      for (std::size_t i = 0; i < read.rank; ++i)
        if (read.stride[i] == 0 && read.size[i] != 1) read.family[i] = 0;
      d = of_memory(to, repeated(sum_to(repeated(d, to.axes), read), read), node_axes);
    }
    operand& sum = gradient[to.node];
    if (sum.node < 0)
      sum = d;
    else if (g.nodes[to.node].open)
      sum = elementwise(word::add, wider(sum.axes, d.axes), sum, d);
    else
      sum = repeated(elementwise(word::add, node_axes, sum, d), node_axes);
  }
  static constexpr const axis_list& wider(const axis_list& a, const axis_list& b) {
    return a.rank < b.rank ? b : a;
  }
  // The same for the memory that `to` reads, with the axes `own`.
  constexpr operand of_memory(const operand& to, const operand& d, const axis_list& node_axes) {
    // Each element once, by other names or in a different order?
    bool renames = to.offset == 0;
    std::size_t count = 1;
    operand named{d.node, d.offset, node_axes};
    for (std::size_t i = 0; i < to.axes.rank; ++i)
      if (to.axes.stride[i] != 0) count *= to.axes.size[i];
    renames = renames && count == node_axes.count();
    for (std::size_t i = 0; i < node_axes.rank; ++i) {
      named.axes.stride[i] = 0;
      if (node_axes.size[i] == 1) continue;
      const std::size_t at = to.axes.find(node_axes.size[i], node_axes.stride[i]);
      renames = renames && at != npos;
      if (at != npos) named.axes.stride[i] = d.axes.stride_of(to.axes.family[at]);
    }
    if (renames) return named;
    // A merged or split axis of dense memory?
    if (to.offset == 0 && count == node_axes.count() && is_row_major(to.axes) &&
        is_row_major(node_axes)) {
      operand dense = in_order(d, to.axes);
      dense.axes = without_strides(node_axes);
      return dense;
    }
    // A part: zeros elsewhere. place has the memory's elements from the first to the last.
    std::size_t elements = 1;
    for (std::size_t i = 0; i < node_axes.rank; ++i)
      elements += (node_axes.size[i] - 1) * node_axes.stride[i];
    node_of_graph<T> node;
    node.what = word::place;
    node.axes.push(family_elements, elements, 1);
    node.from[0] = d;
    node.from[1] = to;  // not an operand: the destination
    node.from[1].node = -1;
    node.operands = 1;
    return {add(node), 0, node_axes};
  }

  // Finds the nodes that depend on differentiated arguments, which are already marked.
  constexpr void find_what_varies(int count, const wanted_gradient* wanted) {
    for (int n = 0; n < count; ++n) {
      const node_of_graph<T>& node = g.nodes[n];
      if (node.slot != npos)
        for (std::size_t i = 0; i < node.parts; ++i)
          varies[n] = varies[n] || wanted[node.slot + i].values != npos ||
                      wanted[node.slot + i].bias != npos;
      for (std::size_t j = 0; j < node.operands; ++j)
        varies[n] = varies[n] || varies[node.from[j].node];
      if (node.condition || node.is_position || node.what == word::number ||
          node.what == word::position)
        varies[n] = false;
    }
  }

  // Adds d to the gradient of that slot, which is row-major with d's axes.
  constexpr void add_to_gradient(const operand& d, std::size_t slot) {
    add_to_gradient(d, slot, without_strides(d.axes));
  }
  constexpr void add_to_gradient(const operand& d, std::size_t slot, const axis_list& axes) {
    node_of_graph<T> sum;
    sum.what = word::argument;
    sum.slot = slot;
    sum.axes = axes;
    const operand before = whole(add(sum));
    node_of_graph<T> node;
    node.what = word::add_to;
    node.axes = axes;
    node.from[0] = before;
    node.from[1] = d;
    node.operands = 2;
    add(node);
    adds = true;
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
