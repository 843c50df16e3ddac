// SPDX-License-Identifier: BSL-1.0
// The graph of a formula, reversed: the nodes that compute its first result, a number, are followed
// by those that compute the gradient of that number by every value that it depends on, in reverse
// order (reverse-mode differentiation, Linnainmaa 1970). They are operations of the language, so
// the graph is lowered like any formula (formula/schedule.hpp). It ends in add_to nodes for the
// gradients asked for: each adds a gradient to the caller's memory.
//
// See reversed_graph.hpp for nodes, layers.hpp for gradients of layers, and gradient.hpp for calls.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/graph.hpp>
#include <umbel/training/reverse_elementwise.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

template <class T, std::size_t Nodes>
struct reversal : elementwise_reversal<T, Nodes> {
  using base = elementwise_reversal<T, Nodes>;
  using base::add, base::whole, base::number, base::elementwise, base::times, base::repeated,
      base::in_order, base::renamed, base::only, base::sum_to, base::contraction, base::give,
      base::add_to_gradient, base::reverse_elementwise;
  using base::g, base::gradient, base::varies, base::complete, base::is_two_biases;

  // y(kept) = sum of a b: for a, the sum over the axes that only b has.
  constexpr void reverse_contraction(int n, const operand& d) {
    const node_of_graph<T> node = g.nodes[n];
    for (std::size_t j = 0; j < 2; ++j) {
      const operand to = node.from[j], other = node.from[1 - j];
      if (!varies[to.node]) continue;
      const axis_list summed = only(node.axes, to.axes, false);
      give(to, summed.rank != 0 ? contraction(d, other, to.axes, summed)
                                : elementwise(word::multiply, to.axes, d, other));
    }
  }

  // y(out) = sum of x(in) w(in, out), plus a bias. Slots of gradients follow those of parts.
  constexpr void reverse_projection(int n, const operand& d, std::size_t slots_of_parts,
                                    const wanted_gradient* wanted) {
    const node_of_graph<T> node = g.nodes[n];
    const operand x = node.from[0];
    const std::size_t at = x.axes.position(node.summed[0]);
    const operand d_out = renamed(d, node.axes.family[at], family_out);
    axis_list features, rows;
    features.push(family_in, x.axes.size[at], node.axes.size[at]);
    features.push(family_out, node.axes.size[at], 1);
    for (std::size_t i = 0; i < x.axes.rank; ++i)
      if (i != at) rows.push(x.axes.family[i], x.axes.size[i], 0);
    axis_list only_out;
    only_out.push(family_out, node.axes.size[at], 0);
    if (varies[x.node]) {
      node_of_graph<T> w;
      w.what = word::argument;
      w.slot = node.slot;
      w.axes = features;
      const operand weights = renamed(whole(add(w)), family_in, node.summed[0]);
      give(x, contraction(d_out, weights, x.axes, only_out));
    }
    if (wanted[node.slot].values != npos)
      add_to_gradient(contraction(renamed(x, node.summed[0], family_in), d_out, features, rows),
                      node.slot + slots_of_parts);
    if (wanted[node.slot].bias != npos)
      add_to_gradient(sum_to(d_out, only_out), node.slot + 2 * slots_of_parts);
  }

  // y (d - s), s the sum over the family of d y. Hidden elements, whose y is 0, get 0 for any d.
  constexpr void reverse_softmax(int n, const operand& d) {
    const node_of_graph<T> node = g.nodes[n];
    const operand y = whole(n), none = number(0);
    const operand is_seen = elementwise(word::not_equal, node.axes, y, none);
    const operand seen = elementwise(word::where, node.axes, is_seen, d, none);
    axis_list along, others;
    for (std::size_t i = 0; i < node.axes.rank; ++i)
      (node.axes.family[i] == node.family ? along : others)
          .push(node.axes.family[i], node.axes.size[i], 0);
    const operand sum = contraction(seen, y, others, along);
    give(node.from[0], times(node.axes, y, elementwise(word::subtract, node.axes, seen, sum)));
  }
  // d - softmax(x) sum of d.
  constexpr void reverse_log_softmax(int n, const operand& d) {
    const node_of_graph<T> node = g.nodes[n];
    axis_list others;
    for (std::size_t i = 0; i < node.axes.rank; ++i)
      if (node.axes.family[i] != node.family)
        others.push(node.axes.family[i], node.axes.size[i], 0);
    const operand sum = sum_to(d, others), p = elementwise(word::exp, node.axes, whole(n));
    give(node.from[0], elementwise(word::subtract, node.axes, d, times(node.axes, p, sum)));
  }
  constexpr void reverse_reduction(int n, const operand& d) {
    const node_of_graph<T> node = g.nodes[n];
    const operand x = node.from[0];
    std::size_t elements = 1;
    axis_list over = x.axes, summed;
    for (std::size_t i = 0; i < node.sums; ++i) {
      elements *= x.axes.size_of(node.summed[i]);
      summed.push(node.summed[i], x.axes.size_of(node.summed[i]), 0);
    }
    if (node.reduces_by == reduction::sum) {
      give(x, repeated(d, over));
    } else if (node.reduces_by == reduction::mean) {
      give(x, repeated(elementwise(word::divide, node.axes, d, number(static_cast<T>(elements))),
                       over));
    } else if (node.reduces_by == reduction::product) {
      node_of_graph<T> others = node;
      others.what = word::call;
      others.axes = without_strides(over);
      others.from[0] = in_order(x, others.axes);
      others.from[1] = in_order(d, node.axes);
      others.operands = 2;
      others.run = others.run_plainly = node.run_back;
      give(x, whole(add(others)));
    } else {
      // Equal parts for all that are the largest.
      const operand is_it = elementwise(word::equal, over, x, whole(n));
      const operand found = elementwise(word::where, over, is_it, number(1), number(0));
      const operand count = sum_to(found, only(over, summed, false));
      give(x, times(over, found, elementwise(word::divide, node.axes, d, count)));
    }
  }
  constexpr void reverse_concat(int n, const operand& d) {
    const node_of_graph<T> node = g.nodes[n];
    std::size_t first = 0;
    for (std::size_t j = 0; j < node.operands; ++j) {
      const std::size_t size = node.from[j].axes.size_of(node.family);
      operand part = d;
      part.offset += first * d.axes.stride_of(node.family);
      part.axes.size[part.axes.position(node.family)] = size;
      first += size;
      give(node.from[j], part);
    }
  }
  constexpr void reverse_rotation(int n, const operand& d) {
    node_of_graph<T> node = g.nodes[n];
    const operand x = node.from[0], sine = node.from[2];
    node.axes = without_strides(node.axes);
    node.from[0] = in_order(d, node.axes);
    if (node.operands == 3)  // by given angles
      node.from[2] = elementwise(word::negate, without_strides(sine.axes), sine);
    node.run = node.run_plainly = node.run_back;
    give(x, whole(add(node)));
  }
  constexpr void reverse_layer(int n, const operand& d) {
    node_of_graph<T> node = g.nodes[n];
    const std::size_t operands = node.operands;
    operand from[most_operands];
    for (std::size_t j = 0; j < operands; ++j) from[j] = node.from[j];
    std::size_t elements = 0;
    std::size_t bias = npos;
    for (std::size_t j = 0; j < operands; ++j) {
      if (j >= node.differentiated && !varies[from[j].node]) continue;
      elements += from[j].axes.count();
      if (j < node.differentiated) continue;
      std::size_t found = 0;
      while (found < node.also && node.also_differentiated[found].operand != j) ++found;
      if (found == node.also)
        complete = false;
      else if (bias != npos)
        is_two_biases = true;
      else
        bias = found;
    }
    if (!complete || is_two_biases) return;
    node.what = word::layer_gradient;
    node.kept = 0;
    if (bias != npos) {
      node.run_gradient = node.also_differentiated[bias].run;
      node.gradient_scratch = node.also_differentiated[bias].scratch;
    }
    node.from[node.operands++] = whole(n);
    node.from[node.operands++] = in_order(d, node.axes);
    node.axes = {};
    node.axes.push(family_elements, elements, 1);
    const int made = add(node);
    std::size_t first = 0;
    for (std::size_t j = 0; j < node.differentiated; ++j) {
      give(from[j], {made, first, without_strides(from[j].axes)});
      first += from[j].axes.count();
    }
    if (bias != npos) {
      const std::size_t j = node.also_differentiated[bias].operand;
      give(from[j], {made, first, without_strides(from[j].axes)});
    }
  }

  // Nodes first..last, whose values are not kept, are copied; the copies have the gradients.
  constexpr void reverse_again(int first, int last, const wanted_gradient* wanted) {
    int copy[Nodes]{};
    for (int n = first; n <= last; ++n) {
      node_of_graph<T> node = g.nodes[n];
      copy[n] = n;
      if (node.what == word::argument || node.what == word::number || node.what == word::position)
        continue;
      node.recomputed = 0;
      for (std::size_t j = 0; j < node.operands; ++j)
        if (node.from[j].node >= first) node.from[j].node = copy[node.from[j].node];
      copy[n] = add(node);
      varies[copy[n]] = varies[n];
      gradient[copy[n]] = gradient[n];
    }
    for (int n = last; n >= first; --n)
      if (gradient[copy[n]].node >= 0) reverse_node(copy[n], wanted);
  }

  constexpr void reverse_node(int n, const wanted_gradient* wanted) {
    const node_of_graph<T>& node = g.nodes[n];
    operand d = gradient[n];
    if (!node.open) d = repeated(d, node.axes);
    const word what = node.what;
    if (what == word::argument) {
      // Each copy of an element repeated by a view has the whole gradient: one of them is added.
      axis_list once, of_d;
      for (std::size_t i = 0; i < node.axes.rank; ++i) {
        const unsigned long long family = node.axes.family[i];
        if (node.axes.stride[i] == 0 && node.axes.size[i] != 1) continue;
        once.push(family, node.axes.size[i], node.axes.stride[i]);
        of_d.push(family, node.axes.size[i], d.axes.stride_of(family));
      }
      const std::size_t parts = g.slots - g.arguments;
      add_to_gradient({d.node, d.offset, of_d},
                      node.slot + (g.arguments > node.slot ? 3 * parts + g.arguments : parts),
                      once);
    } else if (is_elementwise(what)) {
      reverse_elementwise(n, d);
    } else if (what == word::contract) {
      reverse_contraction(n, d);
    } else if (what == word::project) {
      reverse_projection(n, d, g.slots - g.arguments, wanted);
    } else if (what == word::softmax) {
      reverse_softmax(n, d);
    } else if (what == word::log_softmax) {
      reverse_log_softmax(n, d);
    } else if (what == word::reduce || (what == word::call && node.reduces_by == reduction::max)) {
      reverse_reduction(n, d);
    } else if (what == word::concat) {
      reverse_concat(n, d);
    } else if (what == word::rotate) {
      reverse_rotation(n, d);
    } else if (what == word::call && node.differentiated == 1) {
      give(node.from[0], d);  // x and a constant
    } else if (what == word::layer) {
      reverse_layer(n, d);
    } else {
      complete = false;
    }
  }
};

// The same graph in less memory.
template <std::size_t Nodes, class T, std::size_t Room>
constexpr graph<T, Nodes> graph_of_size(const graph<T, Room>& g) {
  graph<T, Nodes> made;
  for (std::size_t n = 0; n < Nodes; ++n) made.nodes[n] = g.nodes[n];
  made.count = g.count;
  made.arguments = g.arguments;
  made.slots = g.slots;
  made.results = g.results;
  made.direct = g.direct;
  for (std::size_t i = 0; i < g.results; ++i) made.result[i] = g.result[i];
  return made;
}

// wanted: by slot, for arguments and parts.
template <std::size_t Nodes, class T, std::size_t Forward>
constexpr auto reversed(const graph<T, Forward>& forward, const wanted_gradient* wanted) {
  reversal<T, Nodes> r;
  for (int n = 0; n < forward.count; ++n) r.g.nodes[n] = forward.nodes[n];
  r.g.count = forward.count;
  r.g.arguments = forward.arguments;
  r.g.slots = forward.slots;
  r.g.results = forward.results;
  r.g.direct = forward.direct;
  for (std::size_t i = 0; i < forward.results; ++i) r.g.result[i] = forward.result[i];
  r.find_what_varies(forward.count, wanted);
  r.give(forward.result[0], r.number(1));
  for (int n = forward.count; n-- > 0;) {
    const int last = n, number = r.g.nodes[n].recomputed;
    bool is_needed = r.gradient[n].node >= 0;
    if (number == 0) {
      if (is_needed) r.reverse_node(n, wanted);
      continue;
    }
    for (; n > 0 && r.g.nodes[n - 1].recomputed == number; --n)
      is_needed = is_needed || r.gradient[n - 1].node >= 0;
    if (is_needed) r.reverse_again(n, last, wanted);
  }
  return r;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
