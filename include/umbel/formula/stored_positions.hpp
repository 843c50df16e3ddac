// SPDX-License-Identifier: BSL-1.0
// Which numbers of positions a formula stores, before its steps are chosen (schedule.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/schedule.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// Does it take longer than other arithmetic?
constexpr bool is_slow_word(word w) {
  return w == word::divide || (is_function(w) && w != word::negate && w != word::absolute &&
                               w != word::maximum && w != word::minimum && w != word::clamp);
}

struct axes_of_positions {
  unsigned long long family[2]{};
  std::size_t count = 0;  // 0: it depends on something else, or on more axes
  friend constexpr bool operator==(const axes_of_positions&, const axes_of_positions&) = default;
};

// Numbers that depend on positions only and take long to compute are stored. Those of one axis,
// such as position<key> % 7, are not computed again for each pair. Those of two axes are stored if
// a product or a sum of pairs has a further axis: not computed again for each of its elements.
template <class T, std::size_t Nodes>
struct position_storage {
  schedule<T, Nodes>& p;
  readings<Nodes> readers{p.g};
  axes_of_positions axes[Nodes]{};  // of a node
  bool slow[Nodes]{};

  constexpr void find(int n) {
    const node_of_graph<T>& node = p.at(n);
    axes_of_positions found;
    if (node.what == word::position) axes[n] = {{node.family}, 1};
    if (!is_elementwise(node.what) || node.condition || !node.open ||
        (node.what >= word::where && node.what != word::gather))
      return;
    for (std::size_t j = 0; j < node.operands; ++j) {
      const int from = node.from[j].node;
      const node_of_graph<T>& of = p.at(from);
      if (of.what == word::number) continue;
      if (!of.open && !of.condition && node.from[j].axes.rank == 0) continue;  // for all positions
      if (axes[from].count == 0) return;
      for (std::size_t i = 0; i < axes[from].count; ++i) {
        const unsigned long long family = axes[from].family[i];
        if (found.count != 0 && (found.family[0] == family || found.family[1] == family)) continue;
        if (found.count == 2) return;
        found.family[found.count++] = family;
      }
      slow[n] = slow[n] || slow[from];
    }
    axes[n] = found;
    slow[n] = slow[n] || is_slow_word(node.what);
  }
  // Is it a part of a product or a sum that has both axes?
  constexpr bool is_of_summed_pairs(int n) const {
    bool depends[Nodes]{};
    depends[n] = true;
    for (int by = n + 1; by < p.g.count; ++by) {
      const node_of_graph<T>& node = p.at(by);
      for (std::size_t j = 0; j < node.operands && !depends[by]; ++j)
        depends[by] = depends[node.from[j].node];
      if (!depends[by] || is_elementwise(node.what)) continue;
      depends[by] = false;
      if ((node.what == word::contract || node.what == word::reduce) &&
          node.axes.has(axes[n].family[0]) && node.axes.has(axes[n].family[1]))
        return true;
    }
    return false;
  }
  constexpr void store(int n) {
    if (!slow[n]) return;
    bool is_last = false;
    for (std::size_t r = readers.first[n]; r < readers.first[n + 1]; ++r)
      is_last = is_last || axes[readers.all[r].by] != axes[n];
    if (!is_last || (axes[n].count == 2 && !is_of_summed_pairs(n))) return;
    axis_list stored;
    for (std::size_t i = 0; i < axes[n].count; ++i) {
      const std::size_t size = size_where_used(p.g, n, axes[n].family[i]);
      if (size == 0 || size == npos) return;
      for (std::size_t outer = 0; outer < i; ++outer) stored.stride[outer] *= size;
      stored.push(axes[n].family[i], size, 1);
    }
    if (stored.rank == 0) return;
    node_of_graph<T>& node = p.g.nodes[n];
    node.open = false;
    node.axes = stored;
    for (std::size_t r = readers.first[n]; r < readers.first[n + 1]; ++r)
      p.g.nodes[readers.all[r].by].from[readers.all[r].operand].axes = node.axes;
  }
  constexpr void store_all() {
    for (int n = 0; n < p.g.count; ++n) find(n);
    for (int n = p.g.count; n-- > 0;) store(n);
  }
};

// In integers each value is stored: elements at positions along axes that they lack, and values
// computed from them, get these axes, in the order of a reader's.
template <class T, std::size_t Nodes>
struct lookup_storage {
  graph<T, Nodes> g;
  readings<Nodes> readers{g};
  bool has_lookup[Nodes]{};
  axis_list axes[Nodes]{};  // of an open node: also those that it lacks, in any order

  constexpr void add_axes(int n, const axis_list& from) {
    for (std::size_t i = 0; i < from.rank; ++i)
      if (!axes[n].has(from.family[i])) axes[n].set(axes[n].rank++, from, i);
  }
  constexpr void find(int n) {
    const node_of_graph<T>& node = g.nodes[n];
    if (node.what == word::position) axes[n].push(node.family, 1, 0);
    if (!node.open || !is_elementwise(node.what)) return;
    add_axes(n, node.axes);
    has_lookup[n] = node.what == word::gather;
    for (std::size_t j = 0; j < node.operands; ++j) {
      add_axes(n, axes[node.from[j].node]);
      has_lookup[n] = has_lookup[n] || has_lookup[node.from[j].node];
    }
  }
  // The first node that reads the numbers of node n and isn't open, or -1.
  constexpr int reader_of(int n) const {
    for (std::size_t r = readers.first[n]; r < readers.first[n + 1]; ++r) {
      const node_of_graph<T>& by = g.nodes[readers.all[r].by];
      const bool as_number = !by.condition && !(by.what == word::gather && readers.all[r].operand);
      if (as_number && !by.open) return readers.all[r].by;
    }
    return -1;
  }
  constexpr void store(int n) {
    node_of_graph<T>& node = g.nodes[n];
    const int by = has_lookup[n] && !node.condition ? reader_of(n) : -1;
    if (by < 0) return;
    const axis_list& order = g.nodes[by].axes;
    node.open = false;
    node.axes = {};
    for (std::size_t i = 0; i < order.rank; ++i)
      if (axes[n].has(order.family[i])) node.axes.set(node.axes.rank++, order, i);
    std::size_t step = 1;
    for (std::size_t i = node.axes.rank; i-- > 0; step *= node.axes.size[i])
      node.axes.stride[i] = step;
    for (std::size_t r = readers.first[n]; r < readers.first[n + 1]; ++r)
      g.nodes[readers.all[r].by].from[readers.all[r].operand].axes = node.axes;
  }
};
template <class T, std::size_t Nodes>
constexpr graph<T, Nodes> with_stored_lookups(const graph<T, Nodes>& g) {
  lookup_storage<T, Nodes> stored{g};
  for (int n = 0; n < g.count; ++n) stored.find(n);
  for (int n = g.count; n-- > 0;) stored.store(n);
  return stored.g;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
