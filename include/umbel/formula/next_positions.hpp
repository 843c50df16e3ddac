// SPDX-License-Identifier: BSL-1.0
// The graph of a step: new positions only, with a cache's memory for the kept keys (positions.hpp
// finds them), and a run of it.
//
//   rows, fresh keys    as many as there are new positions
//   kept nodes          an `append`: after what is kept already, read as memory of all keys
//   sums of positions   an `append` that adds each row to the one before it
//   padded sequence     an `append` after its first positions, read from the new positions on
//   along kept keys     guarded: reads -infinity or 0 at keys later than the query, whatever their
//                       memory holds, even if unused
//
// Functions of nodes (layers, lookup) come from the graph with the step's number of rows.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/positions.hpp>
#include <umbel/formula/run.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

template <class T, std::size_t Nodes>
struct graph_of_step {
  graph<T, Nodes> g;
  role of[Nodes][most_axes]{};
  int origin[Nodes]{};         // the node of the whole pass whose values it has
  std::size_t place[Nodes]{};  // of an append: in the cache
  // Of an append to a padded sequence: elements of one position, and of those before the first.
  std::size_t step[Nodes]{}, before[Nodes]{};

  constexpr role role_of(int n, unsigned long long family) const {
    const std::size_t i = g.nodes[n].axes.position(family);
    return i == npos ? role::other : of[n][i];
  }
};

// For a formula with these numbers of nodes, kept and guarded ones.
template <class T, std::size_t Nodes, std::size_t All>
struct step_maker {
  const by_position<T, Nodes>& from;
  std::size_t positions;
  graph_of_step<T, All> made{};
  int now[Nodes]{}, kept[Nodes]{};

  constexpr std::size_t size_of(role r, std::size_t size) const {
    return r == role::row || r == role::fresh ? positions : size;
  }
  constexpr int add(const node_of_graph<T>& node) {
    made.g.nodes[made.g.count] = node;
    return made.g.count++;
  }
  static constexpr void fill_row_major(axis_list& axes) {
    std::size_t step = 1;
    for (std::size_t i = axes.rank; i-- > 0; step *= axes.size[i]) axes.stride[i] = step;
  }

  // Operand j of node n in the new graph.
  constexpr operand read(int n, std::size_t j) const {
    const operand& before = from.at(n).from[j];
    const axis_list& old = from.at(before.node).axes;
    operand now_read = before;
    now_read.node = from.reads_kept[n][j] ? kept[before.node] : now[before.node];
    const axis_list& node_axes = made.g.nodes[now_read.node].axes;
    std::size_t left = before.offset, widest[most_axes]{};
    if (from.delay[before.node] != 0)
      for (std::size_t i = 0; i < before.axes.rank; ++i)
        now_read.axes.size[i] = size_of(from.read_as(n, j, i), before.axes.size[i]);
    if (node_axes == old) return now_read;
    for (std::size_t i = 0; i < before.axes.rank; ++i) {
      const std::size_t a = from.axis_of_node(before, i);
      now_read.axes.size[i] = size_of(from.read_as(n, j, i), before.axes.size[i]);
      if (a == npos || before.axes.stride[i] == 0) continue;
      now_read.axes.stride[i] = before.axes.stride[i] / old.stride[a] * node_axes.stride[a];
    }
    // The offset, from the axis with the largest stride on.
    for (std::size_t i = 0; i < old.rank; ++i) {
      std::size_t at = i;
      for (; at > 0 && old.stride[widest[at - 1]] < old.stride[i]; --at)
        widest[at] = widest[at - 1];
      widest[at] = i;
    }
    now_read.offset = 0;
    for (std::size_t i = 0; i < old.rank && left != 0; ++i) {
      const std::size_t a = widest[i];
      now_read.offset += left / old.stride[a] * node_axes.stride[a];
      left %= old.stride[a];
    }
    return now_read;
  }
  constexpr operand whole(int n) const { return {n, 0, made.g.nodes[n].axes}; }

  constexpr int add_open(word what, unsigned long long family, T number, int a = -1, int b = -1) {
    node_of_graph<T> node;
    node.what = what;
    node.family = family;
    node.number = number;
    node.open = what != word::number;
    node.condition = is_condition(what);
    if (a >= 0) node.from[node.operands++] = whole(a);
    if (b >= 0) node.from[node.operands++] = whole(b);
    return add(node);
  }
  // The same values, except at keys later than the query.
  constexpr operand guarded(const operand& scores, int n) {
    unsigned long long query = 0;
    const int of_scores = from.at(n).from[from.guarded[n]].node;
    for (std::size_t i = 0; i < from.at(of_scores).axes.rank; ++i)
      if (from.of[of_scores][i] == role::row) query = from.at(of_scores).axes.family[i];
    const int later = add_open(word::less, 0, {}, add_open(word::position, query, {}),
                               add_open(word::position, from.keys, {}));
    node_of_graph<T> node;
    node.axes = made.g.nodes[scores.node].axes;
    if (from.guard[n] == -simd::math_constants<T>::infinity) {
      node.what = word::hide;  // leaves the rest of an attention's scores unchanged
      node.from[0] = whole(scores.node);
      node.from[1] = whole(later);
      node.operands = 2;
    } else {
      node.what = word::where;
      node.from[0] = whole(later);
      node.from[1] = whole(add_open(word::number, 0, from.guard[n]));
      node.from[2] = whole(scores.node);
      node.operands = 3;
    }
    const int at = add(node);
    for (std::size_t i = 0; i < node.axes.rank; ++i) made.of[at][i] = made.of[scores.node][i];
    return {at, scores.offset, scores.axes};
  }

  constexpr void keep_padded(int n) {
    const std::size_t last = from.at(n).operands - 1;
    node_of_graph<T> appended;
    appended.what = word::append;
    appended.axes = from.kept_axes(n);
    appended.from[0] = read(n, last);
    appended.operands = 1;
    now[n] = add(appended);
    made.origin[now[n]] = n;
    made.place[now[n]] = from.place_of(n);
    made.step[now[n]] = appended.axes.stride_of(from.at(n).family);
    made.before[now[n]] = from.delay[n] * made.step[now[n]];
  }

  // A copy of the sums at the new positions.
  constexpr node_of_graph<T> continue_sums(int n) {
    node_of_graph<T> sums, copied;
    const std::size_t along = from.key_of_kept(n);
    sums.what = word::append;
    sums.scan = from.at(n).scan;
    sums.axes = from.axes_of_sums(n);
    sums.from[0] = read(n, 0);
    sums.operands = 1;
    const int kept_sums = add(sums);
    made.place[kept_sums] = from.place_of_sums(n);
    made.step[kept_sums] = made.before[kept_sums] = sums.axes.stride[along];
    copied.what = word::copy;
    copied.from[0] = whole(kept_sums);
    copied.from[0].axes.size[along] = positions;
    if (sums.scan == scan_form::inclusive) copied.from[0].offset = sums.axes.stride[along];
    copied.operands = 1;
    copied.axes = copied.from[0].axes;
    fill_row_major(copied.axes);
    return copied;
  }

  // actual: the axes of arguments. functions: the nodes of the graph with that many rows.
  template <std::size_t Rows>
  constexpr void add_node(int n, const graph<T, Rows>& functions, const axis_list* actual) {
    node_of_graph<T> node = from.at(n);
    if (from.delay[n] != 0) return keep_padded(n);
    if (node.what == word::argument) {
      if (!from.is_part(node)) node.axes = actual[node.slot];
    } else if (from.scans[n]) {
      node = continue_sums(n);
    } else {
      if (n < functions.count) {
        const node_of_graph<T>& function_node = functions.nodes[n];
        node.run = function_node.run;
        node.run_plainly = function_node.run_plainly;
        node.run_layer = function_node.run_layer;
        node.scratch = function_node.scratch;
      }
      for (std::size_t j = 0; j < node.operands; ++j) node.from[j] = read(n, j);
      if (from.guarded[n] >= 0) {
        const auto j = static_cast<std::size_t>(from.guarded[n]);
        node.from[j] = guarded(node.from[j], n);
      }
      for (std::size_t i = 0; i < node.axes.rank; ++i)
        node.axes.size[i] = size_of(from.of[n][i], node.axes.size[i]);
      fill_row_major(node.axes);
      if (node.what == word::softmax || node.what == word::reduce)
        node.by_axes = from.reads(n, role::kept) || from.delay[from.at(n).from[0].node] != 0;
    }
    now[n] = add(node);
    made.origin[now[n]] = n;
    for (std::size_t i = 0; i < node.axes.rank; ++i) made.of[now[n]][i] = from.of[n][i];
    if (from.keeps[n]) keep(n);
  }
  // Keeps it as numbers, also conditions and integers.
  constexpr void keep(int n) {
    int source = now[n];
    if (from.at(n).what == word::argument || from.at(n).condition) {
      node_of_graph<T> copied;
      copied.what = word::copy;
      copied.axes = made.g.nodes[source].axes;
      fill_row_major(copied.axes);
      copied.from[0] = whole(source);
      copied.operands = 1;
      source = add(copied);
      made.origin[source] = n;
      for (std::size_t i = 0; i < copied.axes.rank; ++i) made.of[source][i] = from.of[n][i];
    }
    node_of_graph<T> appended;
    appended.what = word::append;
    appended.axes = from.kept_axes(n);
    appended.from[0] = whole(source);
    appended.operands = 1;
    kept[n] = add(appended);
    made.origin[kept[n]] = n;
    made.place[kept[n]] = from.place_of(n);
    for (std::size_t i = 0; i < appended.axes.rank; ++i)
      made.of[kept[n]][i] = from.of[n][i] == role::other ? role::other : role::kept;
  }
  template <std::size_t Rows>
  constexpr void make(const graph<T, Rows>& functions, const axis_list* actual) {
    for (int n = 0; n < from.g.count; ++n) add_node(n, functions, actual);
    made.g.arguments = from.g.arguments;
    made.g.slots = from.g.slots;
    made.g.direct = from.g.direct;
    made.g.results = from.g.results;
    for (std::size_t r = 0; r < from.g.results; ++r)
      made.g.result[r] = whole(now[from.g.result[r].node]);
  }
};

template <class T, std::size_t Nodes>
constexpr std::size_t nodes_of_step(const by_position<T, Nodes>& p) {
  std::size_t count = static_cast<std::size_t>(p.g.count);
  for (int n = 0; n < p.g.count; ++n)
    count += 2 * p.keeps[n] + p.scans[n] + 5 * (p.guarded[n] >= 0);
  return count;
}
template <std::size_t All, class T, std::size_t Nodes, std::size_t Rows>
constexpr graph_of_step<T, All> make_step(const by_position<T, Nodes>& p, std::size_t positions,
                                          const graph<T, Rows>& functions,
                                          const axis_list* actual) {
  step_maker<T, Nodes, All> maker{p, positions};
  maker.make(functions, actual);
  return maker.made;
}

// Have both the same attentions, with scores rounded alike?
template <class T, std::size_t A, std::size_t B>
constexpr bool same_attentions(const schedule<T, A>& a, const schedule<T, B>& b) {
  std::size_t at = 0;
  const auto next = [&at](const auto& p) {
    for (; at < p.count; ++at)
      if (p.steps[at].kind == step_kind::attend) return true;
    return false;
  };
  std::size_t in_a = 0, in_b = 0;
  for (;;) {
    at = in_a;
    const bool is_in_a = next(a);
    in_a = at + 1;
    at = in_b;
    const bool is_in_b = next(b);
    in_b = at + 1;
    if (!is_in_a || !is_in_b) return is_in_a == is_in_b;
    const score_form<T> x = read_scores(a, a.steps[in_a - 1].attention);
    const score_form<T> y = read_scores(b, b.steps[in_b - 1].attention);
    if (x.general != y.general || x.additions != y.additions || x.factor != y.factor) return false;
  }
}

// Never inlined: a product that wrote x could fuse into the addition.
template <const axis_list& From, const axis_list& To, std::size_t Back, class T>
UMBEL_NOINLINE constexpr void add_to_sums(const T* x, T* sums) noexcept {
  copy_axes<From, To, Back>(x, sums);
}

// Writes the new rows of an append after the `position` kept ones.
template <class Run, int Root>
struct append_step {
  using T = typename Run::value_type;
  static constexpr axis_list from = Run::value.at(Root).from[0].axes;
  static constexpr axis_list to = Run::value.at(Root).axes;
  static constexpr std::size_t key_step = [] {
    for (std::size_t i = 0; i < to.rank; ++i)
      if (Run::roles.of[Root][i] == role::kept) return to.stride[i];
    return Run::roles.step[Root];
  }();

  static constexpr void write(const Run& run, T* kept) noexcept {
    const T* const x = run.template begin<Root, 0>();
    T* const first = kept + Run::roles.before[Root] + run.position * key_step;
    if constexpr (Run::value.at(Root).scan != scan_form::none)
      add_to_sums<from, to, key_step>(x, first);
    else
      copy_axes<from, to>(x, first);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
