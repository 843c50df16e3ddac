// SPDX-License-Identifier: BSL-1.0
// A formula in integers, as a plan that the compiler makes from its graph: which of its nodes are
// computed, 16-bit values, ranges, places in memory.
#pragma once

#include <umbel/config.hpp>
#include <umbel/quantized/formula_steps_of_nodes.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::integers {

// Why a plan is refused: an operation has no integer form, or reads a value that only others can
// read.
enum class integer_refusal : unsigned char {
  operation,
  condition,
  softmax,
  hide,
  position,
  flag,
  lookup
};

// Row-major without gaps?
constexpr bool is_dense(const axis_list& axes) noexcept {
  std::size_t step = 1;
  for (std::size_t a = axes.rank; a-- > 0; step *= axes.size[a])
    if (axes.size[a] != 1 && axes.stride[a] != step) return false;
  return true;
}

template <class T, std::size_t Nodes>
struct integer_plan : integer_steps<T, Nodes> {
  using base = integer_steps<T, Nodes>;
  using base::at, base::classify, base::condition_of, base::each_read, base::g, base::group,
      base::is_as_stored, base::is_outside;
  using base::root, base::step, base::variable, base::weights_of;

  bool used[Nodes]{};     // does a result depend on it?
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
  constexpr std::size_t number_of_result(int n) const {
    std::size_t r = 0;
    while (r < g.results && g.result[r].node != n) ++r;
    return r;
  }
  constexpr bool is_result(int n) const { return number_of_result(n) < g.results; }
  constexpr void find_needed() {
    for (int n = 0; n < g.count; ++n) needed[n] = used[n] = is_result(n);
    for (int n = g.count; n-- > 0;) {
      if (used[n])
        for (std::size_t j = 0; j < at(n).operands; ++j) used[at(n).from[j].node] = true;
      if (!needed[n]) continue;
      if (longest_sum(n) > most_products(n)) too_long = n;
      const auto refuse = [&](integer_refusal reason) { refused = n, why = reason; };
      if (step[n] == integer_step::none)
        refuse(at(n).what == word::gather ? integer_refusal::lookup : integer_refusal::operation);
      if (const std::size_t j = condition_of(n); j != npos && !is_outside(at(n).from[j].node))
        refuse(integer_refusal::condition);
      each_read(n, [&](const operand& from) {
        const int m = from.node;
        needed[m] = true;
        const integer_step read = step[root[m]];
        if (step[n] == integer_step::none) return;
        if (read == integer_step::outside)
          refuse(at(m).what == word::argument ? integer_refusal::flag : integer_refusal::position);
        else if (read == integer_step::softmax &&
                 (step[n] != integer_step::context || &from != &at(n).from[weights_of(n)]))
          refuse(integer_refusal::softmax);
        else if (read == integer_step::hide && step[n] != integer_step::softmax &&
                 step[n] != integer_step::same)
          refuse(integer_refusal::hide);
      });
    }
    for (int n = 0; n < g.count; ++n) {
      const integer_step last = step[root[n]];
      if (!is_result(n) || (last != integer_step::softmax && last != integer_step::hide)) continue;
      refused = n;
      why = last == integer_step::softmax ? integer_refusal::softmax : integer_refusal::hide;
    }
  }
  // 16 bits if only sums, choices, joins, norms and softmax read it, and for results that are sums.
  // A block passes its part 8 bits, and adds the result to its sums.
  constexpr void find_wide() {
    bool narrow[Nodes]{};
    for (int n = 0; n < g.count; ++n) {
      if (step[n] == integer_step::given && of_block) narrow[n] = true;
      if (!is_result(n) || of_block) continue;
      int from = n;
      while (moves(step[from])) from = root[variable(from).node];
      if (step[from] != integer_step::sum) narrow[root[n]] = true;
    }
    for (int n = g.count; n-- > 0;) {
      if (!needed[n]) continue;
      const integer_step by = step[n];
      if (by == integer_step::context || by == integer_step::softmax || by == integer_step::extreme)
        narrow[n] = true;
      const bool ok = by == integer_step::sum || by == integer_step::softmax ||
                      by == integer_step::choice || by == integer_step::joined ||
                      by == integer_step::norm || by == integer_step::hide ||
                      by == integer_step::same || (moves(by) && !narrow[n]);
      each_read(n, [&](const operand& o) {
        if (!ok) narrow[root[o.node]] = true;
      });
    }
    for (int n = 0; n < g.count; ++n)
      wide[n] = moves(step[n]) ? wide[root[variable(n).node]] : !narrow[n];
  }
  // A constant has the range of its numbers, which a result in its unit must tell.
  constexpr bool sets_unit_of_result(int n) const {
    for (std::size_t r = 0; r < g.results; ++r)
      if (!of_block && group[g.result[r].node] == n) return true;
    return false;
  }
  constexpr void number_ranges() {
    for (int n = 0; n < g.count; ++n) {
      const int of = group[n];
      if (n == of) observed[n] = no_node;
      const bool has_range = n == of && needed[n] &&
                             (step[n] != integer_step::constant || sets_unit_of_result(n)) &&
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
    return needed[n] && root[n] == n && !is_result(n) && step[n] != integer_step::given &&
           step[n] != integer_step::constant && step[n] != integer_step::append;
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
constexpr integer_plan<T, Nodes> begin_integer_plan(const formulas::graph<T, Nodes>& g,
                                                    const bool* floats, bool of_block) {
  integer_plan<T, Nodes> p{};
  p.g = g;
  p.of_block = of_block;
  for (int n = 0; n < g.count; ++n) p.classify(n, floats);
  for (int n = 0; n < g.count; ++n)  // a result has separate memory
    if (p.is_result(n) && p.step[n] == integer_step::same) {
      p.step[n] = integer_step::copy;
      p.root[n] = n;
    }
  p.find_needed();
  return p;
}
template <class T, std::size_t Nodes>
constexpr integer_plan<T, Nodes> make_integer_plan(const formulas::graph<T, Nodes>& g,
                                                   const bool* floats, bool of_block) {
  integer_plan<T, Nodes> p = begin_integer_plan(g, floats, of_block);
  if (p.refused != no_node) return p;
  p.find_wide();
  p.number_ranges();
  p.place_values();
  p.place_rows();
  return p;
}
// Of a step of a cache. whole: of the whole sequence; origin: for each node, that of the whole
// sequence whose values it has.
template <class T, std::size_t Nodes, std::size_t All>
constexpr integer_plan<T, All> make_integer_step(const formulas::graph<T, All>& g,
                                                 const bool* floats,
                                                 const integer_plan<T, Nodes>& whole,
                                                 const int* origin) {
  integer_plan<T, All> p = begin_integer_plan(g, floats, false);
  for (int n = 0; n < g.count; ++n) p.wide[n] = whole.wide[whole.root[origin[n]]];
  p.place_values();
  p.place_rows();
  return p;
}
// Do both compute each value alike, with the same integers of 8 and 16 bits?
template <class T, std::size_t A, std::size_t B>
constexpr bool are_equal(const integer_plan<T, A>& a, const integer_plan<T, B>& b, int n) {
  return a.step[n] == b.step[n] && a.needed[n] == b.needed[n] && a.wide[n] == b.wide[n] &&
         a.group[n] == b.group[n] && a.range[n] == b.range[n];
}

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
