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

// Numbers that depend on the positions of one axis and take long to compute, such as
// position<key> % 7, are stored, one for each position, not computed again for each pair.
template <class T, std::size_t Nodes>
struct position_storage {
  schedule<T, Nodes>& p;
  readings<Nodes> readers{p.g};
  unsigned long long family[Nodes]{};  // of a node: that axis; 0: none, or more
  bool slow[Nodes]{};

  constexpr void find(int n) {
    const node_of_graph<T>& node = p.at(n);
    if (node.what == word::position) family[n] = node.family;
    if (!is_elementwise(node.what) || node.condition || !node.open || node.what >= word::where)
      return;
    for (std::size_t j = 0; j < node.operands; ++j) {
      const int from = node.from[j].node;
      if (p.at(from).what == word::number) continue;
      if (family[from] == 0 || (family[n] != 0 && family[n] != family[from])) {
        family[n] = 0;
        return;
      }
      family[n] = family[from];
      slow[n] = slow[n] || slow[from];
    }
    slow[n] = slow[n] || is_slow_word(node.what);
  }
  constexpr void store(int n) {
    bool is_last = false;
    for (std::size_t r = readers.first[n]; r < readers.first[n + 1]; ++r)
      is_last = is_last || family[readers.all[r].by] == 0;
    if (!slow[n] || family[n] == 0 || !is_last) return;
    const std::size_t size = size_where_used(p.g, n, family[n]);
    if (size == 0 || size == npos) return;
    node_of_graph<T>& node = p.g.nodes[n];
    node.open = false;
    node.axes = {};
    node.axes.push(family[n], size, 1);
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
