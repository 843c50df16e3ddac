// SPDX-License-Identifier: BSL-1.0
// A formula in integers, as a plan that the compiler makes from its graph: a step for each node,
// shared integers and units, 16-bit values, places in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/formula/run.hpp>
#include <umbel/kernel/integer_shapes.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::integers {

using formulas::axis_list;
using formulas::norm_form;
using formulas::operand;
using formulas::reduction;
using formulas::weights_form;
using formulas::word;

// The step of a node.
enum class integer_step : unsigned char {
  none,         // it has no integer form
  outside,      // a number, a position, a condition, an argument of bool or integers
  given,        // a float argument: integers in a call
  constant,     // a part of an argument: packed
  same,         // the integers of its operand, perhaps in a different unit
  copy,         // the same in a different order
  parts,        // the same in other places, or among zeros: padded, roll
  table,        // a function of one value
  sum,          // a + b, a - b
  product,      // a b
  hide,         // the operand's integers, or the smallest if the condition is true
  contraction,  // of two values
  context,      // of the weights of a softmax and values
  projection,
  softmax,
  norm,
  mean,     // or a sum
  extreme,  // the largest or smallest
};

constexpr bool moves(integer_step s) noexcept {
  return s == integer_step::copy || s == integer_step::parts;
}

inline constexpr int no_node = -1;

// Why a plan is refused: an operation has no integer form, or reads a value that only others can
// read.
enum class integer_refusal : unsigned char { operation, condition, softmax, hide, position };

// Row-major without gaps?
constexpr bool is_dense(const axis_list& axes) noexcept {
  std::size_t step = 1;
  for (std::size_t a = axes.rank; a-- > 0; step *= axes.size[a])
    if (axes.size[a] != 1 && axes.stride[a] != step) return false;
  return true;
}

template <class T, std::size_t Nodes>
struct integer_plan {
  formulas::graph<T, Nodes> g;
  integer_step step[Nodes]{};
  operand leaf[Nodes]{};  // of a function of one value: that value
  bool folds[Nodes]{};    // can a reader's table compute it?
  int root[Nodes]{};      // the node whose integers it has
  int group[Nodes]{};     // the node whose unit it has, `scale` times
  double scale[Nodes]{};
  bool used[Nodes]{};     // does the result depend on it?
  bool needed[Nodes]{};   // is it computed by itself?
  bool wide[Nodes]{};     // of a root: 16 bits
  int observed[Nodes]{};  // of a group: the node whose range sets the unit, or no_node
  int range[Nodes]{};     // of an observed node: the number of its range, or no_node
  int ranges = 0;
  std::size_t place[Nodes]{};  // of a root in the workspace, among those with as many bits
  std::size_t narrow_elements = 0, wide_elements = 0;
  std::size_t rows_in = 0, rows_out = 0;  // elements of products in the kernel's order
  bool of_block = false;                  // is it a part of a block?
  int refused = no_node;                  // a node that is refused
  integer_refusal why = integer_refusal::operation;
  int too_long = no_node;  // one with a sum of too many products

  constexpr const formulas::node_of_graph<T>& at(int n) const { return g.nodes[n]; }
  constexpr bool is_as_stored(const operand& by) const {
    return by.offset == 0 && by.axes == at(by.node).axes;
  }
  // Is it a number that packing knows: of the formula, a part of one element, of such numbers?
  constexpr bool is_number(int n) const {
    if (at(n).what == word::argument) return at(n).slot >= g.arguments && at(n).axes.count() == 1;
    if (!is_elementwise(at(n).what)) return at(n).what == word::number;
    bool all = at(n).what != word::hide && at(n).what != word::gather;
    for (std::size_t j = 0; j < at(n).operands; ++j) all = all && is_number(at(n).from[j].node);
    return all;
  }
  // The operand of an elementwise node that has numbers otherwise.
  constexpr operand variable(int n) const {
    for (std::size_t j = 0; j < at(n).operands; ++j)
      if (!is_number(at(n).from[j].node)) return at(n).from[j];
    return {};
  }
  // Which operand of a contraction is a softmax along the summed axis, or 2.
  constexpr std::size_t weights_of(int n) const {
    std::size_t j = 0;
    while (j < 2 && !(step[at(n).from[j].node] == integer_step::softmax && at(n).sums == 1 &&
                      at(at(n).from[j].node).family == at(n).family && is_as_stored(at(n).from[j])))
      ++j;
    return j;
  }

  // Operand j has memory for integers and is read by n's step.
  constexpr bool reads(int n, std::size_t j) const {
    if (step[n] == integer_step::table) return false;  // reads its leaf
    return at(at(n).from[j].node).what != word::number &&
           !(step[n] == integer_step::hide && j == 1);
  }
  template <class F>
  constexpr void each_read(int n, F f) const {
    if (step[n] == integer_step::table) return f(leaf[n]);
    if (step[n] == integer_step::given || step[n] == integer_step::constant) return;
    for (std::size_t j = 0; j < at(n).operands; ++j)
      if (reads(n, j)) f(at(n).from[j]);
  }

  constexpr void share_unit(int n, int with, double factor) {
    group[n] = group[with];
    scale[n] = scale[with] * factor;
  }
  // The factor if it is a copy or a product with a number, else 0.
  constexpr double factor_of(int n) const {
    const formulas::node_of_graph<T>& node = at(n);
    if (node.what == word::copy) return 1;
    if (node.what != word::multiply && node.what != word::divide) return 0;
    const std::size_t other = at(node.from[1].node).what == word::number;
    const formulas::node_of_graph<T>& number = at(node.from[other].node);
    if (number.what != word::number || (node.what == word::divide && other == 0)) return 0;
    const auto v = static_cast<double>(number.number);
    return node.what == word::divide ? 1 / v : v;
  }
  constexpr void classify_elementwise(int n) {
    const formulas::node_of_graph<T>& node = at(n);
    if (node.what == word::gather) return;
    if (node.what == word::hide) {
      step[n] = integer_step::hide;
      return share_unit(n, node.from[0].node, 1);
    }
    // Does it depend on one value only?
    bool has_leaf = false, single = true;
    for (std::size_t j = 0; j < node.operands; ++j) {
      const operand& from = node.from[j];
      if (is_number(from.node)) continue;
      if (step[from.node] == integer_step::outside && !folds[from.node]) single = false;
      const operand& of = folds[from.node] && is_as_stored(from) ? leaf[from.node] : from;
      if (!has_leaf) leaf[n] = of;
      single = single && leaf[n] == of;
      has_leaf = true;
    }
    single = single && has_leaf;
    folds[n] = single && !node.has_label;
    if (node.condition || is_number(n)) {
      step[n] = integer_step::outside;
    } else if (single) {
      const operand from = variable(n);
      const double factor = factor_of(n);
      step[n] = integer_step::table;
      if (!(factor > 0 && factor < 1e30)) return;
      share_unit(n, from.node, factor);
      folds[n] = folds[n] || is_as_stored(from);
      step[n] = integer_step::copy;
      if (is_as_stored(from) && node.axes == from.axes) {
        step[n] = integer_step::same;
        root[n] = root[from.node];
      }
    } else if (node.what == word::add || node.what == word::subtract) {
      step[n] = integer_step::sum;
    } else if (node.what == word::multiply) {
      step[n] = integer_step::product;
    }
  }
  // Of one value and zeros only: others have different units.
  constexpr void classify_concat(int n) {
    const formulas::node_of_graph<T>& node = at(n);
    const int from = variable(n).node;
    bool moves_one = from >= 0;
    for (std::size_t j = 0; j < node.operands; ++j) {
      const formulas::node_of_graph<T>& of = at(node.from[j].node);
      const bool is_zero = of.what == word::number && of.number == T{};
      moves_one = moves_one && (is_zero || node.from[j].node == from);
    }
    if (!moves_one) return;
    step[n] = integer_step::parts;
    share_unit(n, from, 1);
  }
  constexpr void classify(int n, const bool* floats) {
    const formulas::node_of_graph<T>& node = at(n);
    root[n] = group[n] = n;
    scale[n] = 1;
    if (node.what == word::argument) {
      step[n] = node.slot >= g.arguments ? integer_step::constant
                : floats[node.slot]      ? integer_step::given
                                         : integer_step::outside;
    } else if (node.what == word::number || node.what == word::position) {
      step[n] = integer_step::outside;
    } else if (is_elementwise(node.what)) {
      classify_elementwise(n);
    } else if (node.what == word::contract) {
      const std::size_t weights = weights_of(n);
      step[n] = weights < 2 ? integer_step::context : integer_step::contraction;
      if (weights < 2) share_unit(n, node.from[1 - weights].node, 1);
    } else if (node.what == word::project && node.weights == weights_form::natural) {
      step[n] = integer_step::projection;
    } else if (node.what == word::concat) {
      classify_concat(n);
    } else if (node.what == word::softmax) {
      step[n] = integer_step::softmax;
    } else if (node.what == word::layer && node.norm != norm_form::none) {
      step[n] = integer_step::norm;
    } else if (node.what == word::reduce) {
      const bool adds = node.reduces_by == reduction::sum || node.reduces_by == reduction::mean;
      step[n] = adds ? integer_step::mean : integer_step::extreme;
      if (!adds) share_unit(n, node.from[0].node, 1);
    }
  }
  // Are conditions of positions, numbers and arguments of bool or integers?
  constexpr bool is_condition_outside(int n) const {
    if (at(n).what == word::argument) return step[n] == integer_step::outside;
    if (at(n).what == word::number || at(n).what == word::position) return true;
    if (!is_elementwise(at(n).what) || at(n).what >= word::hide) return false;
    for (std::size_t j = 0; j < at(n).operands; ++j) {
      const operand& from = at(n).from[j];
      const bool in_place = at(from.node).what == word::argument || is_as_stored(from) ||
                            at(from.node).open || at(from.node).what == word::number;
      if (!in_place || !is_condition_outside(from.node)) return false;
    }
    return true;
  }
  constexpr std::size_t longest_sum(int n) const {
    if (step[n] == integer_step::norm) return at(n).axes.size_of(at(n).family);
    std::size_t count = 1;
    for (std::size_t s = 0; s < at(n).sums; ++s)
      count *= at(n).from[0].axes.size_of(at(n).summed[s]);
    return count;
  }
  constexpr std::size_t most_products(int n) const {
    return n != no_node && step[n] == integer_step::norm ? kernel::longest_integer_norm
                                                         : kernel::most_input_products;
  }
  constexpr void find_needed() {
    needed[g.result[0].node] = used[g.result[0].node] = true;
    for (int n = g.count; n-- > 0;) {
      if (used[n])
        for (std::size_t j = 0; j < at(n).operands; ++j) used[at(n).from[j].node] = true;
      if (!needed[n]) continue;
      if (longest_sum(n) > most_products(n)) too_long = n;
      const auto refuse = [&](integer_refusal reason) { refused = n, why = reason; };
      if (step[n] == integer_step::none) refuse(integer_refusal::operation);
      if (step[n] == integer_step::hide && !is_condition_outside(at(n).from[1].node))
        refuse(integer_refusal::condition);
      each_read(n, [&](const operand& from) {
        const int m = from.node;
        needed[m] = true;
        const integer_step read = step[root[m]];
        if (step[n] == integer_step::none) return;
        if (read == integer_step::outside)
          refuse(integer_refusal::position);
        else if (read == integer_step::softmax &&
                 (step[n] != integer_step::context || &from != &at(n).from[weights_of(n)]))
          refuse(integer_refusal::softmax);
        else if (read == integer_step::hide && step[n] != integer_step::softmax &&
                 step[n] != integer_step::same)
          refuse(integer_refusal::hide);
      });
    }
    const integer_step last = step[root[g.result[0].node]];
    if (last != integer_step::softmax && last != integer_step::hide) return;
    refused = g.result[0].node;
    why = last == integer_step::softmax ? integer_refusal::softmax : integer_refusal::hide;
  }
  // 16 bits if only sums, norms and softmax read it, and for a result that is a sum. A block passes
  // its part 8 bits, and adds the result to its sums.
  constexpr void find_wide() {
    bool narrow[Nodes]{};
    const int result = g.result[0].node;
    int from = result;
    while (moves(step[from])) from = root[variable(from).node];
    if (step[from] != integer_step::sum && !of_block) narrow[root[result]] = true;
    for (int n = 0; n < g.count; ++n)
      if (step[n] == integer_step::given && of_block) narrow[n] = true;
    for (int n = g.count; n-- > 0;) {
      if (!needed[n]) continue;
      const integer_step by = step[n];
      if (by == integer_step::context || by == integer_step::softmax || by == integer_step::extreme)
        narrow[n] = true;
      const bool ok = by == integer_step::sum || by == integer_step::softmax ||
                      by == integer_step::norm || by == integer_step::hide ||
                      by == integer_step::same || (moves(by) && !narrow[n]);
      each_read(n, [&](const operand& o) {
        if (!ok) narrow[root[o.node]] = true;
      });
    }
    for (int n = 0; n < g.count; ++n)
      wide[n] = moves(step[n]) ? wide[root[variable(n).node]] : !narrow[n];
  }
  constexpr void number_ranges() {
    for (int n = 0; n < g.count; ++n) {
      const int of = group[n];
      if (n == of) observed[n] = no_node;
      const bool has_range = n == of && needed[n] && step[n] != integer_step::constant &&
                             step[n] != integer_step::outside && step[n] != integer_step::softmax;
      if (has_range) observed[n] = n;
      if (n != of && used[n] && at(n).has_label && observed[of] != no_node &&
          !at(observed[of]).has_label && (step[n] == integer_step::same || moves(step[n])))
        observed[of] = n;
    }
    for (int n = 0; n < g.count; ++n) range[n] = no_node;
    for (int n = 0; n < g.count; ++n)
      if (needed[n] && group[n] == n && observed[n] != no_node &&
          !(step[n] == integer_step::given && of_block))  // the block has that range
        range[observed[n]] = ranges++;
  }
  constexpr bool is_placed(int n) const {
    return needed[n] && root[n] == n && n != g.result[0].node && step[n] != integer_step::given &&
           step[n] != integer_step::constant;
  }
  constexpr void place_values() {
    int last[Nodes]{};
    for (int n = 0; n < g.count; ++n)
      if (needed[n]) each_read(n, [&](const operand& from) { last[root[from.node]] = n; });
    for (int n = 0; n < g.count; ++n) {
      if (!is_placed(n)) continue;
      const auto size = [&](int m) { return (at(m).axes.count() + 63) / 64 * 64; };
      std::size_t to = 0;
      for (int m = 0; m < n; ++m) {  // from the start again if moved: places are few
        if (!is_placed(m) || wide[m] != wide[n] || last[m] < n || place[m] + size(m) <= to ||
            to + size(n) <= place[m])
          continue;
        to = place[m] + size(m);
        m = -1;
      }
      place[n] = to;
      std::size_t& most = wide[n] ? wide_elements : narrow_elements;
      if (to + size(n) > most) most = to + size(n);
    }
  }

  // The axes of a product's operand and result as the kernel has them: rows, then inputs or
  // outputs.
  constexpr axis_list inputs_last(int n) const {
    const axis_list& from = at(n).from[0].axes;
    axis_list axes = formulas::without(from, at(n).summed[0]);
    axes.set(axes.rank, from, from.position(at(n).summed[0]));
    ++axes.rank;
    return axes;
  }
  constexpr axis_list outputs_last(int n) const {
    const axis_list rows = formulas::without(at(n).from[0].axes, at(n).summed[0]);
    const axis_list& node_axes = at(n).axes;
    axis_list axes;
    for (std::size_t a = 0; a < rows.rank; ++a)
      axes.set(axes.rank++, node_axes, node_axes.position(rows.family[a]));
    for (std::size_t a = 0; a < node_axes.rank; ++a)
      if (!rows.has(node_axes.family[a])) axes.set(axes.rank++, node_axes, a);
    return axes;
  }
  // Does a contraction's first operand have rows of adjacent inputs, at equal distances?
  constexpr bool has_rows(int n) const {
    const axis_list &from = at(n).from[0].axes, &other = at(n).from[1].axes;
    std::size_t rows = 0;
    for (std::size_t a = 0; a < from.rank; ++a) rows += !other.has(from.family[a]);
    return rows <= 1 && at(n).sums == 1 && from.stride_of(at(n).summed[0]) == 1;
  }
  constexpr void place_rows() {
    for (int n = 0; n < g.count; ++n) {
      if (!needed[n]) continue;
      const std::size_t in = at(n).from[0].axes.count(), out = at(n).axes.count();
      const bool projects = step[n] == integer_step::projection;
      const bool contracts =
          step[n] == integer_step::contraction || step[n] == integer_step::context;
      if ((projects && !is_dense(inputs_last(n))) || (contracts && !has_rows(n)))
        rows_in = in > rows_in ? in : rows_in;
      if (projects && !is_dense(outputs_last(n))) rows_out = out > rows_out ? out : rows_out;
      const bool widens = step[n] == integer_step::norm && !wide[root[at(n).from[0].node]];
      const std::size_t width = widens ? at(n).axes.size_of(at(n).family) : 0;
      rows_out = width > rows_out ? width : rows_out;
    }
  }
};

// floats: for each argument, is it a float tensor?
template <class T, std::size_t Nodes>
constexpr integer_plan<T, Nodes> make_integer_plan(const formulas::graph<T, Nodes>& g,
                                                   const bool* floats, bool of_block) {
  integer_plan<T, Nodes> p{};
  p.g = g;
  p.of_block = of_block;
  for (int n = 0; n < g.count; ++n) p.classify(n, floats);
  // The result has its own memory.
  const int result = g.result[0].node;
  if (p.step[result] == integer_step::same) {
    p.step[result] = integer_step::copy;
    p.root[result] = result;
  }
  p.find_needed();
  if (p.refused != no_node) return p;
  p.find_wide();
  p.number_ranges();
  p.place_values();
  p.place_rows();
  return p;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
