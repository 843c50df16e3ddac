// SPDX-License-Identifier: BSL-1.0
// Functions of the distance of two positions, such as log(1 + r * abs(position<query> -
// position<key>)), become tables: computed once for each distance, not for each pair, and read at
// the distance (gather.hpp). The numbers are the same, so are the bits. Not in steps of a cache,
// which do not know their first position.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/schedule.hpp>
#include <umbel/formula/stored_positions.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

inline constexpr unsigned long long distance_family = 1;  // the axis of a table

template <class T, std::size_t Nodes>
constexpr bool is_difference(const graph<T, Nodes>& g, int n) {
  const node_of_graph<T>& node = g.nodes[n];
  const auto position = [&](std::size_t j) -> const node_of_graph<T>& {
    return g.nodes[node.from[j].node];
  };
  return node.what == word::subtract && position(0).what == word::position &&
         position(1).what == word::position && position(0).family != position(1).family;
}

// Does it take longer than to read an element of a table?
constexpr bool is_slow_in_table(word w) {
  return w != word::relu && w != word::floor && is_slow_word(w);
}

template <class T, std::size_t Nodes>
struct distance_tables {
  const graph<T, Nodes>& g;  // products and sums are joined
  readings<Nodes> readers{g};
  int difference[Nodes]{};  // of positions, on which node n depends, and on nothing else of pairs
  bool slow[Nodes]{}, is_table[Nodes]{};
  std::size_t added = 0;  // nodes

  constexpr const node_of_graph<T>& at(int n) const { return g.nodes[n]; }
  // One of the two axes.
  constexpr unsigned long long axis(int of_difference, std::size_t j) const {
    return at(at(of_difference).from[j].node).family;
  }
  constexpr void find(int n) {
    const node_of_graph<T>& node = at(n);
    difference[n] = is_difference(g, n) ? n : -1;
    if (difference[n] >= 0 || !node.open || node.condition || !is_elementwise(node.what) ||
        node.what == word::copy || node.what >= word::where)
      return;
    int of = -1;
    bool is_slow = is_slow_in_table(node.what);
    for (std::size_t j = 0; j < node.operands; ++j) {
      const int from = node.from[j].node;
      if (at(from).what == word::number) continue;
      if (!at(from).open) continue;
      if (difference[from] < 0 || (of >= 0 && of != difference[from])) return;
      of = difference[from];
      is_slow = is_slow || slow[from];
    }
    for (std::size_t j = 0; of >= 0 && j < node.operands; ++j)
      if (node.from[j].axes.has(axis(of, 0)) || node.from[j].axes.has(axis(of, 1))) return;
    difference[n] = of;
    slow[n] = is_slow;
  }
  // The program of a table.
  struct part_list {
    bool has[Nodes]{};
  };
  constexpr part_list parts_of(int table) const {
    part_list parts;
    parts.has[table] = true;
    for (int n = table; n > difference[table]; --n)
      for (std::size_t j = 0; parts.has[n] && j < at(n).operands; ++j)
        if (const int from = at(n).from[j].node; difference[from] == difference[table])
          parts.has[from] = true;
    return parts;
  }
  constexpr void choose(int n) {
    if (difference[n] < 0 || !slow[n]) return;
    bool is_last = false;
    for (std::size_t r = readers.first[n]; r < readers.first[n + 1]; ++r) {
      const auto [by, j] = readers.all[r];
      if (at(by).what == word::gather && j == 1) return;  // a position is not a value
      is_last = is_last || difference[by] < 0;
    }
    const std::size_t sizes[] = {size_where_used(g, n, axis(difference[n], 0)),
                                 size_where_used(g, n, axis(difference[n], 1))};
    if (!is_last || sizes[0] == npos || sizes[1] == npos ||
        4 * (sizes[0] + sizes[1]) > sizes[0] * sizes[1] || at(n).axes.rank == most_axes)
      return;
    is_table[n] = true;
    added += 4;
    for (const bool is_part : parts_of(n).has) added += is_part;
  }
  constexpr void find_all() {
    for (int n = 0; n < g.count; ++n) find(n);
    for (int n = 0; n < g.count; ++n) choose(n);
  }
};

template <class T, std::size_t Nodes>
constexpr distance_tables<T, Nodes> find_tables(const graph<T, Nodes>& g) {
  distance_tables<T, Nodes> tables{g};
  tables.find_all();
  return tables;
}

// A graph with such tables.
template <class T, std::size_t Nodes, std::size_t All>
struct graph_with_tables {
  const distance_tables<T, Nodes>& tables;
  graph<T, All> made{};
  int now[Nodes]{};  // of the nodes before

  constexpr int add(const node_of_graph<T>& node) {
    made.nodes[made.count] = node;
    return made.count++;
  }
  constexpr int add_number(double number) {
    node_of_graph<T> node;
    node.what = word::number;
    node.number = static_cast<T>(number);
    return add(node);
  }
  constexpr int add_sum(int a, int b) {
    node_of_graph<T> node;
    node.what = word::add;
    node.open = true;
    node.from[0].node = a;
    node.from[1].node = b;
    node.operands = 2;
    return add(node);
  }
  constexpr int add_copy(node_of_graph<T> node, const int* of) {
    for (std::size_t j = 0; j < node.operands; ++j) node.from[j].node = of[node.from[j].node];
    return add(node);
  }
  constexpr int add_table(int n) {
    const int difference = tables.difference[n];
    const std::size_t queries = size_where_used(tables.g, n, tables.axis(difference, 0));
    const std::size_t keys = size_where_used(tables.g, n, tables.axis(difference, 1));
    node_of_graph<T> position;
    position.what = word::position;
    position.family = distance_family;
    position.open = true;
    int inside[Nodes]{};
    for (int m = 0; m < n; ++m) inside[m] = now[m];
    inside[difference] = add_sum(add(position), add_number(1 - static_cast<double>(keys)));
    const auto parts = tables.parts_of(n);
    for (int m = difference + 1; m <= n; ++m)
      if (parts.has[m]) inside[m] = add_copy(tables.at(m), inside);
    node_of_graph<T>& table = made.nodes[inside[n]];
    node_of_graph<T> read = tables.at(n);
    const std::size_t size = queries + keys - 1;
    read.from[0] = {inside[n], 0, read.axes};
    table.open = false;
    table.axes = {};
    for (std::size_t i = 0; i < read.axes.rank; ++i) {
      read.from[0].axes.stride[i] *= size;
      table.axes.set(table.axes.rank++, read.from[0].axes, i);
    }
    table.axes.push(distance_family, size, 1);
    const int at = add_sum(now[difference], add_number(static_cast<double>(keys) - 1));
    read.what = word::gather;
    read.family = distance_family;
    read.gathered = size;
    read.gathered_stride = 1;
    read.from[1] = {at, 0, {}};
    read.operands = 2;
    return add(read);
  }
  constexpr void make() {
    const graph<T, Nodes>& g = tables.g;
    for (int n = 0; n < g.count; ++n)
      now[n] = tables.is_table[n] ? add_table(n) : add_copy(g.nodes[n], now);
    made.arguments = g.arguments;
    made.slots = g.slots;
    made.results = g.results;
    made.direct = g.direct;
    for (std::size_t r = 0; r < g.results; ++r) {
      made.result[r] = g.result[r];
      made.result[r].node = now[g.result[r].node];
    }
    leave_unneeded();
  }
  // Programs that only tables need have no readers.
  constexpr void leave_unneeded() {
    bool needed[All]{};
    for (std::size_t r = 0; r < made.results; ++r) needed[made.result[r].node] = true;
    for (int n = made.count; n-- > 0;) {
      node_of_graph<T>& node = made.nodes[n];
      if (!needed[n] && node.open) node.operands = 0;
      for (std::size_t j = 0; j < node.operands; ++j) needed[node.from[j].node] = true;
    }
  }
};

template <class Made, class Traced>
constexpr const auto& graph_or(const Made& made, const Traced& traced) {
  if constexpr (std::is_same_v<Made, int>)
    return traced;
  else
    return made;
}

// Traced: a graph. With tables, its products and sums are joined.
template <const auto& Traced>
struct tabulated {
  static constexpr std::size_t nodes = sizeof(Traced.nodes) / sizeof(Traced.nodes[0]);
  using T = std::remove_cvref_t<decltype(Traced.nodes[0].number)>;
  static constexpr bool may_have_tables = [] {
    bool differs = false;
    for (int n = 0; n < Traced.count; ++n) {
      differs = differs || is_difference(Traced, n);
      if (differs && Traced.nodes[n].open && is_slow_in_table(Traced.nodes[n].what)) return true;
    }
    return false;
  }();
  static constexpr auto joined = [] {
    if constexpr (may_have_tables) {
      schedule<T, nodes> p{};
      p.g = Traced;
      join_multiplications(p);
      return p.g;
    } else {
      return 0;
    }
  }();
  static constexpr std::size_t added = [] {
    if constexpr (may_have_tables)
      return find_tables(joined).added;
    else
      return std::size_t{0};
  }();
  static constexpr auto made = [] {
    if constexpr (added != 0) {
      const auto tables = find_tables(joined);
      graph_with_tables<T, nodes, nodes + added> with{tables};
      with.make();
      return with.made;
    } else {
      return 0;
    }
  }();
  static constexpr const auto& value = graph_or(made, Traced);
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
