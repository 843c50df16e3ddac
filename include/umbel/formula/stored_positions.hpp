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
    bool is_last = false;
    for (std::size_t r = readers.first[n]; r < readers.first[n + 1]; ++r)
      is_last = is_last || axes[readers.all[r].by] != axes[n];
    if (!slow[n] || !is_last || (axes[n].count == 2 && !is_of_summed_pairs(n))) return;
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

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
