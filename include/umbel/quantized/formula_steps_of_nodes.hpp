// SPDX-License-Identifier: BSL-1.0
// The integer step of each node of a formula, and which nodes share integers and units. The nodes
// that are computed, their bits and places: formula_plan.hpp.
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
  lookup,       // some of the integers of its operand, at computed positions, or 0
  table,        // a function of one value
  sum,          // a + b, a - b, the larger, the smaller
  product,      // a b
  hide,         // the operand's integers, or the smallest if the condition is true
  choice,       // of two values, or of a value and a number, by a condition
  joined,       // several values, or numbers, in a row
  contraction,  // of two values
  context,      // of the weights of a softmax and values
  projection,
  softmax,
  norm,
  mean,     // or a sum
  extreme,  // the largest or smallest
  append,   // the operand's integers, after those of earlier positions in a cache
};

constexpr bool moves(integer_step s) noexcept {
  return s == integer_step::copy || s == integer_step::parts || s == integer_step::lookup;
}

inline constexpr int no_node = -1;

template <class T, std::size_t Nodes>
struct integer_steps {
  formulas::graph<T, Nodes> g;
  integer_step step[Nodes]{};
  operand leaf[Nodes]{};  // of a function of one value: that value
  bool folds[Nodes]{};    // can a reader's table compute it?
  int root[Nodes]{};      // the node whose integers it has
  int group[Nodes]{};     // the node whose unit it has, `scale` times
  double scale[Nodes]{};

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
    if (step[n] == integer_step::lookup) return at(n).from[0];
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
    return at(at(n).from[j].node).what != word::number && j != condition_of(n) &&
           !(takes_numbers(n) && is_number(at(n).from[j].node));
  }
  constexpr bool takes_numbers(int n) const {
    return step[n] == integer_step::choice || step[n] == integer_step::joined;
  }
  // The operand that is a condition, or the position of a lookup, or npos.
  constexpr std::size_t condition_of(int n) const {
    if (step[n] == integer_step::choice) return 0;
    return step[n] == integer_step::hide || step[n] == integer_step::lookup ? 1 : npos;
  }
  template <class F>
  constexpr void each_read(int n, F f) const {
    if (step[n] == integer_step::table) return f(leaf[n]);
    if (step[n] == integer_step::given || step[n] == integer_step::constant) return;
    for (std::size_t j = 0; j < at(n).operands; ++j)
      if (reads(n, j)) f(at(n).from[j]);
  }

  // Is it of positions, numbers and arguments of bool or integers? Conditions and the positions of
  // lookups are.
  constexpr bool is_outside(int n) const {
    const word what = at(n).what;
    if (what == word::argument) return step[n] == integer_step::outside;
    if (what == word::number || what == word::position) return true;
    if (!formulas::is_elementwise(what) || what == word::hide || what == word::add_to) return false;
    for (std::size_t j = 0; j < at(n).operands; ++j) {
      const operand& from = at(n).from[j];
      const bool in_place = at(from.node).what == word::argument || is_as_stored(from) ||
                            at(from.node).open || at(from.node).what == word::number;
      if (!in_place || !is_outside(from.node)) return false;
    }
    return true;
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
    if (node.what == word::gather) {
      step[n] = step[node.from[0].node] == integer_step::outside ? integer_step::outside
                : is_outside(node.from[1].node)                  ? integer_step::lookup
                                                                 : integer_step::none;
      if (step[n] == integer_step::lookup) share_unit(n, node.from[0].node, 1);
      return;
    }
    if (node.what == word::copy && at(node.from[0].node).what == word::position) {
      step[n] = integer_step::outside;  // positions_along
      return;
    }
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
    } else if (node.what == word::add || node.what == word::subtract ||
               node.what == word::maximum || node.what == word::minimum) {
      step[n] = integer_step::sum;
    } else if (node.what == word::multiply) {
      step[n] = integer_step::product;
    } else if (node.what == word::where) {
      step[n] = integer_step::choice;
    }
  }
  // One value among zeros keeps its unit.
  constexpr void classify_concat(int n) {
    const formulas::node_of_graph<T>& node = at(n);
    const int from = variable(n).node;
    bool moves_one = from >= 0;
    for (std::size_t j = 0; j < node.operands; ++j) {
      const formulas::node_of_graph<T>& of = at(node.from[j].node);
      const bool is_zero = of.what == word::number && of.number == T{};
      moves_one = moves_one && (is_zero || node.from[j].node == from);
    }
    step[n] = moves_one ? integer_step::parts : integer_step::joined;
    if (moves_one) share_unit(n, from, 1);
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
    } else if (node.what == word::append) {
      step[n] = integer_step::append;
      share_unit(n, node.from[0].node, 1);
    } else if (node.what == word::softmax) {
      step[n] = integer_step::softmax;
    } else if (node.what == word::layer && node.norm != norm_form::none) {
      step[n] = integer_step::norm;
    } else if (node.what == word::reduce && node.reduces_by != reduction::product) {
      const bool adds = node.reduces_by == reduction::sum || node.reduces_by == reduction::mean;
      step[n] = adds ? integer_step::mean : integer_step::extreme;
      if (!adds) share_unit(n, node.from[0].node, 1);
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
