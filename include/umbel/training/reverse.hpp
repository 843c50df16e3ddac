// SPDX-License-Identifier: BSL-1.0
// The graph of a formula, reversed: behind the nodes that compute its first result come those that
// compute the gradient of that result, a number, by every value that it depends on, in reverse
// order (reverse-mode differentiation, Linnainmaa 1970). They are words of the language, so the
// graph is lowered by the rules of any formula (formula/schedule.hpp). Of what is asked for, add_to
// nodes are the end: each adds a gradient to what the caller has.
//
// Not here: how gradients of layers are computed (layers.hpp), what a call is (gradient.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/graph.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// Families of axes that no axis of a user's has.
inline constexpr unsigned long long family_in = 1, family_out = 2, family_elements = 3;

constexpr axis_list without_strides(axis_list axes) noexcept {
  std::size_t stride = 1;
  for (std::size_t i = axes.rank; i-- > 0;) {
    axes.stride[i] = stride;
    stride *= axes.size[i];
  }
  return axes;
}

// Of a slot, an argument or a part of one: the argument whose gradient is asked for that it is of,
// or npos; of the weights of a product also the same of their bias.
struct wanted_gradient {
  std::size_t values = npos, bias = npos;
};

struct reversed_count {
  std::size_t nodes;
  bool complete;  // was there room, and does every word have a gradient?
  bool is_mask;   // is a tensor in a mask differentiated?
};

// Nodes: room for so many.
template <class T, std::size_t Nodes>
struct reversed_graph {
  graph<T, Nodes> g;
  operand gradient[Nodes];  // of a node's value, over all its axes; of none: node is -1
  bool varies[Nodes]{};     // does it depend on what is differentiated?
  bool is_mask = false, complete = true;

  constexpr reversed_count counted() const {
    return {static_cast<std::size_t>(g.count), complete, is_mask};
  }

  // ---- nodes ------------------------------------------------------------------------------------
  constexpr int add(const node_of_graph<T>& one) {
    if (g.count == static_cast<int>(Nodes)) {
      complete = false;
      return 0;
    }
    g.nodes[g.count] = one;
    return g.count++;
  }
  constexpr operand whole(int n) const { return {n, 0, g.nodes[n].axes}; }
  constexpr operand number(T value) {
    node_of_graph<T> one;
    one.what = word::number;
    one.number = value;
    for (int n = 0; n < g.count; ++n)
      if (is_same_node(g.nodes[n], one)) return whole(n);
    return whole(add(one));
  }
  constexpr bool is_number(const operand& x, T value) const {
    return x.node >= 0 && g.nodes[x.node].what == word::number && g.nodes[x.node].number == value;
  }
  // An operation on elements that are matched by name, over these axes.
  template <class... X>
  constexpr operand each(word what, const axis_list& over, const X&... x) {
    node_of_graph<T> one;
    one.what = what;
    one.condition = is_condition(what);
    one.axes = without_strides(over);
    ((one.from[one.operands++] = x), ...);
    return whole(add(one));
  }
  constexpr operand times(const axis_list& over, const operand& a, const operand& b) {
    if (is_number(a, 1)) return repeated(b, over);
    if (is_number(b, 1)) return repeated(a, over);
    return each(word::multiply, over, a, b);
  }
  // x, repeated along those of the axes that it does not have.
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
  // x in the order of these axes, which are its own, one element after another.
  constexpr operand in_order(operand x, const axis_list& order) {
    axis_list axes = order;
    for (std::size_t i = 0; i < axes.rank; ++i) axes.stride[i] = x.axes.stride_of(axes.family[i]);
    x.axes = axes;
    return is_row_major(axes) ? x : each(word::copy, axes, x);
  }
  static constexpr operand renamed(operand x, unsigned long long from, unsigned long long to) {
    const std::size_t at = x.axes.position(from);
    if (at != npos) x.axes.family[at] = to;
    return x;
  }
  // The axes of x in their order, but for those of one list.
  static constexpr axis_list only(const axis_list& axes, const axis_list& kept, bool in) {
    axis_list left;
    for (std::size_t i = 0; i < axes.rank; ++i)
      if (kept.has(axes.family[i]) == in) left.push(axes.family[i], axes.size[i], 0);
    return left;
  }
  // x, summed over those of its axes that are none of `kept`, one chain for each element.
  constexpr operand sum_to(const operand& x, const axis_list& kept) {
    const axis_list summed = only(x.axes, kept, false);
    if (summed.count() == 1) return x;
    return contraction(x, number(1), only(x.axes, kept, true), summed);
  }
  // The sum over `summed` of a b, of these axes.
  constexpr operand contraction(const operand& a, const operand& b, const axis_list& kept,
                                const axis_list& summed) {
    node_of_graph<T> one;
    one.what = word::contract;
    one.name = "contraction";
    one.axes = without_strides(kept);
    for (std::size_t i = 0; i < summed.rank; ++i) one.summed[one.sums++] = summed.family[i];
    if (one.sums == 1) one.family = one.summed[0];
    one.from[0] = a;
    one.from[1] = b;
    one.operands = 2;
    return whole(add(one));
  }

  // ---- gradients --------------------------------------------------------------------------------
  // d: the gradient of what `to` reads.
  constexpr void give(const operand& to, operand d) {
    if (!varies[to.node]) return;
    const axis_list own = g.nodes[to.node].axes;
    if (!g.nodes[to.node].open) {
      // Elements that `to` repeats have one gradient, the sum of those of all places.
      axis_list read = to.axes;
      for (std::size_t i = 0; i < read.rank; ++i)
        if (read.stride[i] == 0 && read.size[i] != 1) read.family[i] = 0;
      d = of_memory(to, repeated(sum_to(repeated(d, to.axes), read), read), own);
    }
    operand& sum = gradient[to.node];
    if (sum.node < 0)
      sum = d;
    else if (g.nodes[to.node].open)
      sum = each(word::add, wider(sum.axes, d.axes), sum, d);
    else
      sum = repeated(each(word::add, own, sum, d), own);
  }
  static constexpr const axis_list& wider(const axis_list& a, const axis_list& b) {
    return a.rank < b.rank ? b : a;
  }
  // The same of the memory that `to` reads, by the axes `own`.
  constexpr operand of_memory(const operand& to, const operand& d, const axis_list& own) {
    // Each element once, by other names or in another order?
    bool renames = to.offset == 0;
    std::size_t count = 1;
    operand named{d.node, d.offset, own};
    for (std::size_t i = 0; i < to.axes.rank; ++i)
      if (to.axes.stride[i] != 0) count *= to.axes.size[i];
    renames = renames && count == own.count();
    for (std::size_t i = 0; i < own.rank; ++i) {
      named.axes.stride[i] = 0;
      if (own.size[i] == 1) continue;
      const std::size_t at = to.axes.find(own.size[i], own.stride[i]);
      renames = renames && at != npos;
      if (at != npos) named.axes.stride[i] = d.axes.stride_of(to.axes.family[at]);
    }
    if (renames) return named;
    // A merged or split axis of what lies one element after another?
    if (to.offset == 0 && count == own.count() && is_row_major(to.axes) && is_row_major(own)) {
      operand dense = in_order(d, to.axes);
      dense.axes = without_strides(own);
      return dense;
    }
    // A part: zeros elsewhere. place has the memory's elements as they lie, from the first to the
    // last.
    std::size_t elements = 1;
    for (std::size_t i = 0; i < own.rank; ++i) elements += (own.size[i] - 1) * own.stride[i];
    node_of_graph<T> one;
    one.what = word::place;
    one.axes.push(family_elements, elements, 1);
    one.from[0] = d;
    one.from[1] = to;  // no operand: where it is put
    one.from[1].node = -1;
    one.operands = 1;
    return {add(one), 0, own};
  }

  // What nodes depend on what is differentiated: arguments are marked already.
  constexpr void find_what_varies(int count, const wanted_gradient* wanted) {
    for (int n = 0; n < count; ++n) {
      const node_of_graph<T>& one = g.nodes[n];
      if (one.slot != npos)
        for (std::size_t i = 0; i < one.parts; ++i)
          varies[n] =
              varies[n] || wanted[one.slot + i].values != npos || wanted[one.slot + i].bias != npos;
      for (std::size_t j = 0; j < one.operands; ++j)
        varies[n] = varies[n] || varies[one.from[j].node];
      if (one.condition || one.what == word::number || one.what == word::position)
        varies[n] = false;
    }
  }

  constexpr void reverse_elementwise(int n, const operand& d) {
    const node_of_graph<T> one = g.nodes[n];
    const axis_list over = one.open ? d.axes : one.axes;
    const operand a = one.from[0], b = one.from[1], c = one.from[2], y = whole(n);
    const auto make = [&](word what, const auto&... x) { return each(what, over, x...); };
    const auto product = [&](const operand& x, const operand& z) { return times(over, x, z); };
    switch (one.what) {
      case word::copy:
        give(a, d);
        break;
      case word::add:
        give(a, d);
        give(b, d);
        break;
      case word::subtract:
        give(a, d);
        if (varies[b.node]) give(b, make(word::negate, d));
        break;
      case word::multiply:
        if (varies[a.node]) give(a, product(d, b));
        if (varies[b.node]) give(b, product(d, a));
        break;
      case word::divide:
        if (varies[a.node]) give(a, make(word::divide, d, b));
        if (varies[b.node]) give(b, make(word::negate, make(word::divide, product(d, y), b)));
        break;
      case word::negate:
        give(a, make(word::negate, d));
        break;
      case word::exp:
        give(a, product(d, y));
        break;
      case word::log:
        give(a, make(word::divide, d, a));
        break;
      case word::sqrt:
        give(a, make(word::divide, product(d, number(T(0.5))), y));
        break;
      case word::rsqrt:
        give(a, product(product(d, number(T(-0.5))), product(y, product(y, y))));
        break;
      case word::tanh:
        give(a, product(d, make(word::subtract, number(1), product(y, y))));
        break;
      case word::sigmoid:
        give(a, product(d, product(y, make(word::subtract, number(1), y))));
        break;
      case word::absolute:
        give(a, make(word::where, make(word::less, number(0), a), d,
                     make(word::where, make(word::less, a, number(0)), make(word::negate, d),
                          number(0))));
        break;
      case word::gelu_exact:
        give(a, product(d, make(word::gelu_exact_slope, a)));
        break;
      case word::gelu_tanh:
        give(a, product(d, make(word::gelu_tanh_slope, a)));
        break;
      case word::silu: {
        const operand s = make(word::sigmoid, a);
        give(a, product(d, make(word::add, s, product(y, make(word::subtract, number(1), s)))));
        break;
      }
      case word::relu:
        give(a, make(word::where, make(word::less, number(0), a), d, number(0)));
        break;
      case word::maximum:
      case word::minimum: {
        // Of two that are equal half each.
        const operand is_a =
            one.what == word::maximum ? make(word::less, b, a) : make(word::less, a, b);
        const operand is_b =
            one.what == word::maximum ? make(word::less, a, b) : make(word::less, b, a);
        const operand half = product(d, number(T(0.5)));
        if (varies[a.node])
          give(a, make(word::where, is_a, d, make(word::where, is_b, number(0), half)));
        if (varies[b.node])
          give(b, make(word::where, is_b, d, make(word::where, is_a, number(0), half)));
        break;
      }
      case word::where:
        if (varies[b.node]) give(b, make(word::where, a, d, number(0)));
        if (varies[c.node]) give(c, make(word::where, a, number(0), d));
        break;
      case word::hide:
        give(a, make(word::where, b, number(0), d));
        break;
      default:
        complete = false;
    }
  }

  // y(kept) = sum of a b: of a the sum over the axes that only b has.
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

  // y(out) = sum of x(in) w(in, out), plus a bias. Slots of gradients are behind those of parts.
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

  // Adds d to the gradient of that slot, which lies as d's axes, row-major, do.
  constexpr void add_to_gradient(const operand& d, std::size_t slot) {
    add_to_gradient(d, slot, without_strides(d.axes));
  }
  constexpr void add_to_gradient(const operand& d, std::size_t slot, const axis_list& axes) {
    node_of_graph<T> sum;
    sum.what = word::argument;
    sum.slot = slot;
    sum.axes = axes;
    const operand before = whole(add(sum));
    node_of_graph<T> one;
    one.what = word::add_to;
    one.axes = axes;
    one.from[0] = before;
    one.from[1] = d;
    one.operands = 2;
    add(one);
  }

  // With x = softmax's y, and s the sum over the family of d y: y (d - s). What was hidden, whose y
  // is 0, gets 0 and adds nothing, whatever d is there.
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
      // All that are the largest, in equal parts.
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
  // By the opposite angle.
  constexpr void reverse_rotation(int n, const operand& d) {
    node_of_graph<T> one = g.nodes[n];
    const operand x = one.from[0], sine = one.from[2];
    const axis_list rows = without_strides(sine.axes);
    one.axes = without_strides(one.axes);
    one.from[0] = in_order(d, one.axes);
    one.from[2] = each(word::negate, rows, sine);
    one.run = one.run_plainly = one.run_back;
    give(x, whole(add(one)));
  }
  constexpr void reverse_layer(int n, const operand& d) {
    node_of_graph<T> one = g.nodes[n];
    const std::size_t operands = one.operands;
    operand from[most_operands];
    for (std::size_t j = 0; j < operands; ++j) from[j] = one.from[j];
    std::size_t elements = 0;
    for (std::size_t j = 0; j < operands; ++j) {
      if (j < one.differentiated)
        elements += from[j].axes.count();
      else if (varies[from[j].node])
        is_mask = true;
    }
    one.what = word::layer_gradient;
    one.kept = 0;
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
  }

  constexpr void reverse_node(int n, const wanted_gradient* wanted) {
    const node_of_graph<T>& one = g.nodes[n];
    operand d = gradient[n];
    if (!one.open) d = repeated(d, one.axes);
    const word what = one.what;
    if (what == word::argument) {
      // Of what a view repeats each place has the whole gradient: one of them is added.
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

// The same graph in less room.
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

// wanted: by slot, of arguments and of parts.
template <std::size_t Nodes, class T, std::size_t Forward>
constexpr auto reversed(const graph<T, Forward>& forward, const wanted_gradient* wanted) {
  reversed_graph<T, Nodes> r;
  for (int n = 0; n < forward.count; ++n) r.g.nodes[n] = forward.nodes[n];
  r.g.count = forward.count;
  r.g.arguments = forward.arguments;
  r.g.slots = forward.slots;
  r.g.results = forward.results;
  r.g.direct = forward.direct;
  for (std::size_t i = 0; i < forward.results; ++i) r.g.result[i] = forward.result[i];
  r.find_what_varies(forward.count, wanted);
  r.give(forward.result[0], r.number(1));
  for (int n = forward.count; n-- > 0;)
    if (r.gradient[n].node >= 0) r.reverse_node(n, wanted);
  return r;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
