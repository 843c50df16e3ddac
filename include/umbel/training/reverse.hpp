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
  using base::add, base::whole, base::number, base::each, base::times, base::repeated,
      base::in_order, base::renamed, base::only, base::sum_to, base::contraction, base::give,
      base::add_to_gradient, base::reverse_elementwise;
  using base::g, base::gradient, base::varies, base::complete, base::is_two_biases;

  // y(kept) = sum of a b: for a, the sum over the axes that only b has.
  constexpr void reverse_contraction(int n, const operand& d) {
    const node_of_graph<T> one = g.nodes[n];
    for (std::size_t j = 0; j < 2; ++j) {
      const operand to = one.from[j], other = one.from[1 - j];
      if (!varies[to.node]) continue;
      const axis_list summed = only(one.axes, to.axes, false);
      give(to, summed.rank != 0 ? contraction(d, other, to.axes, summed)
                                : each(word::multiply, to.axes, d, other));
    }
  }

  // y(out) = sum of x(in) w(in, out), plus a bias. Slots of gradients follow those of parts.
  constexpr void reverse_projection(int n, const operand& d, std::size_t slots_of_parts,
                                    const wanted_gradient* wanted) {
    const node_of_graph<T> one = g.nodes[n];
    const operand x = one.from[0];
    const std::size_t at = x.axes.position(one.summed[0]);
    const operand d_out = renamed(d, one.axes.family[at], family_out);
    axis_list features, rows;
    features.push(family_in, x.axes.size[at], one.axes.size[at]);
    features.push(family_out, one.axes.size[at], 1);
    for (std::size_t i = 0; i < x.axes.rank; ++i)
      if (i != at) rows.push(x.axes.family[i], x.axes.size[i], 0);
    axis_list only_out;
    only_out.push(family_out, one.axes.size[at], 0);
    if (varies[x.node]) {
      node_of_graph<T> w;
      w.what = word::argument;
      w.slot = one.slot;
      w.axes = features;
      const operand weights = renamed(whole(add(w)), family_in, one.summed[0]);
      give(x, contraction(d_out, weights, x.axes, only_out));
    }
    if (wanted[one.slot].values != npos)
      add_to_gradient(contraction(renamed(x, one.summed[0], family_in), d_out, features, rows),
                      one.slot + slots_of_parts);
    if (wanted[one.slot].bias != npos)
      add_to_gradient(sum_to(d_out, only_out), one.slot + 2 * slots_of_parts);
  }

  // y (d - s), s the sum over the family of d y. Hidden elements, whose y is 0, get 0 for any d.
  constexpr void reverse_softmax(int n, const operand& d) {
    const node_of_graph<T> one = g.nodes[n];
    const operand y = whole(n), none = number(0);
    const operand is_seen = each(word::not_equal, one.axes, y, none);
    const operand seen = each(word::where, one.axes, is_seen, d, none);
    axis_list along, others;
    for (std::size_t i = 0; i < one.axes.rank; ++i)
      (one.axes.family[i] == one.family ? along : others)
          .push(one.axes.family[i], one.axes.size[i], 0);
    const operand sum = contraction(seen, y, others, along);
    give(one.from[0], times(one.axes, y, each(word::subtract, one.axes, seen, sum)));
  }
  // d - softmax(x) sum of d.
  constexpr void reverse_log_softmax(int n, const operand& d) {
    const node_of_graph<T> one = g.nodes[n];
    axis_list others;
    for (std::size_t i = 0; i < one.axes.rank; ++i)
      if (one.axes.family[i] != one.family) others.push(one.axes.family[i], one.axes.size[i], 0);
    const operand sum = sum_to(d, others), p = each(word::exp, one.axes, whole(n));
    give(one.from[0], each(word::subtract, one.axes, d, times(one.axes, p, sum)));
  }
  constexpr void reverse_reduction(int n, const operand& d) {
    const node_of_graph<T> one = g.nodes[n];
    const operand x = one.from[0];
    std::size_t elements = 1;
    axis_list over = x.axes, summed;
    for (std::size_t i = 0; i < one.sums; ++i) {
      elements *= x.axes.size_of(one.summed[i]);
      summed.push(one.summed[i], x.axes.size_of(one.summed[i]), 0);
    }
    if (one.reduces_by == reduction::sum) {
      give(x, repeated(d, over));
    } else if (one.reduces_by == reduction::mean) {
      give(x, repeated(each(word::divide, one.axes, d, number(static_cast<T>(elements))), over));
    } else {
      // Equal parts for all that are the largest.
      const operand is_it = each(word::equal, over, x, whole(n));
      const operand found = each(word::where, over, is_it, number(1), number(0));
      const operand count = sum_to(found, only(over, summed, false));
      give(x, times(over, found, each(word::divide, one.axes, d, count)));
    }
  }
  constexpr void reverse_concat(int n, const operand& d) {
    const node_of_graph<T> one = g.nodes[n];
    std::size_t first = 0;
    for (std::size_t j = 0; j < one.operands; ++j) {
      const std::size_t size = one.from[j].axes.size_of(one.family);
      operand part = d;
      part.offset += first * d.axes.stride_of(one.family);
      part.axes.size[part.axes.position(one.family)] = size;
      first += size;
      give(one.from[j], part);
    }
  }
  // Rows of a table by integers: each is added to the row that it came from.
  constexpr void reverse_lookup(int n, const operand& d) {
    const node_of_graph<T> one = g.nodes[n];
    const axis_list table = one.from[0].axes;
    node_of_graph<T> rows;
    rows.what = word::add_rows;
    rows.axes = without_strides(table);
    rows.from[0] = in_order(d, one.axes);
    rows.from[1] = one.from[1];
    rows.operands = 2;
    give(one.from[0], {add(rows), 0, without_strides(table)});
  }
  constexpr void reverse_rotation(int n, const operand& d) {
    node_of_graph<T> one = g.nodes[n];
    const operand x = one.from[0], sine = one.from[2];
    one.axes = without_strides(one.axes);
    one.from[0] = in_order(d, one.axes);
    if (one.operands == 3)  // by given angles
      one.from[2] = each(word::negate, without_strides(sine.axes), sine);
    one.run = one.run_plainly = one.run_back;
    give(x, whole(add(one)));
  }
  constexpr void reverse_layer(int n, const operand& d) {
    node_of_graph<T> one = g.nodes[n];
    const std::size_t operands = one.operands;
    operand from[most_operands];
    for (std::size_t j = 0; j < operands; ++j) from[j] = one.from[j];
    std::size_t elements = 0;
    std::size_t bias = npos;
    for (std::size_t j = 0; j < operands; ++j) {
      if (j >= one.differentiated && !varies[from[j].node]) continue;
      elements += from[j].axes.count();
      if (j < one.differentiated) continue;
      std::size_t found = 0;
      while (found < one.also && one.also_differentiated[found].operand != j) ++found;
      if (found == one.also)
        complete = false;
      else if (bias != npos)
        is_two_biases = true;
      else
        bias = found;
    }
    if (!complete || is_two_biases) return;
    one.what = word::layer_gradient;
    one.kept = 0;
    if (bias != npos) {
      one.run_gradient = one.also_differentiated[bias].run;
      one.gradient_scratch = one.also_differentiated[bias].scratch;
    }
    one.from[one.operands++] = whole(n);
    one.from[one.operands++] = in_order(d, one.axes);
    one.axes = {};
    one.axes.push(family_elements, elements, 1);
    const int made = add(one);
    std::size_t first = 0;
    for (std::size_t j = 0; j < one.differentiated; ++j) {
      give(from[j], {made, first, without_strides(from[j].axes)});
      first += from[j].axes.count();
    }
    if (bias != npos) {
      const std::size_t j = one.also_differentiated[bias].operand;
      give(from[j], {made, first, without_strides(from[j].axes)});
    }
  }

  // Nodes first..last, whose values are not kept, are copied; the copies have the gradients.
  constexpr void reverse_again(int first, int last, const wanted_gradient* wanted) {
    int copy[Nodes]{};
    for (int n = first; n <= last; ++n) {
      node_of_graph<T> one = g.nodes[n];
      copy[n] = n;
      if (one.what == word::argument || one.what == word::number || one.what == word::position)
        continue;
      one.recomputed = 0;
      for (std::size_t j = 0; j < one.operands; ++j)
        if (one.from[j].node >= first) one.from[j].node = copy[one.from[j].node];
      copy[n] = add(one);
      varies[copy[n]] = varies[n];
      gradient[copy[n]] = gradient[n];
    }
    for (int n = last; n >= first; --n)
      if (gradient[copy[n]].node >= 0) reverse_node(copy[n], wanted);
  }

  constexpr void reverse_node(int n, const wanted_gradient* wanted) {
    const node_of_graph<T>& one = g.nodes[n];
    operand d = gradient[n];
    if (!one.open) d = repeated(d, one.axes);
    const word what = one.what;
    if (what == word::argument) {
      // Each copy of an element repeated by a view has the whole gradient: one of them is added.
      axis_list once, of_d;
      for (std::size_t i = 0; i < one.axes.rank; ++i) {
        const unsigned long long family = one.axes.family[i];
        if (one.axes.stride[i] == 0 && one.axes.size[i] != 1) continue;
        once.push(family, one.axes.size[i], one.axes.stride[i]);
        of_d.push(family, one.axes.size[i], d.axes.stride_of(family));
      }
      const std::size_t parts = g.slots - g.arguments;
      add_to_gradient({d.node, d.offset, of_d},
                      one.slot + (one.slot < g.arguments ? 3 * parts + g.arguments : parts), once);
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
    } else if (what == word::reduce) {
      reverse_reduction(n, d);
    } else if (what == word::concat) {
      reverse_concat(n, d);
    } else if (what == word::lookup) {
      reverse_lookup(n, d);
    } else if (what == word::rotate) {
      reverse_rotation(n, d);
    } else if (what == word::call && one.differentiated == 1) {
      give(one.from[0], d);  // x and a constant
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
