// SPDX-License-Identifier: BSL-1.0
// Places a schedule's nodes in the workspace.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/schedule.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// Does step s read node n? (A node that is computed everywhere counts only in steps that need it.)
template <class T, std::size_t Nodes>
constexpr bool step_reads(const schedule<T, Nodes>& p, const step& s, int n) {
  for (std::size_t i = 0; i < s.parts; ++i)
    if (step_reads(p, p.steps[s.first_part + i], n)) return true;
  for (int i = 0; i < p.g.count; ++i) {
    if (i != s.root && !p.is_in(i, s.root)) continue;
    for (std::size_t j = 0; j < p.at(i).operands; ++j)
      if (p.at(i).from[j].node == n && (i == s.root || p.computes(i, s.root))) return true;
  }
  return false;
}

// Does step s write node n?
template <class T, std::size_t Nodes>
constexpr bool step_writes(const schedule<T, Nodes>& p, const step& s, int n) {
  bool writes = s.to == n;
  for (std::size_t i = s.before(); i < s.parts; ++i)
    writes = writes || p.steps[s.first_part + i].to == n;
  return writes;
}

// Memory for stored nodes that are not results: nodes that are not alive at the same time share it.
template <class T, std::size_t Nodes>
constexpr void place_nodes(schedule<T, Nodes>& p) {
  std::size_t first[Nodes]{}, last[Nodes]{}, step_of[Nodes]{}, room[Nodes]{};
  int placed[Nodes]{};  // in the order of their places
  std::size_t count = 0;
  for (std::size_t s = 0; s < p.count; ++s) {
    step_of[p.steps[s].root] = first[p.steps[s].to] = last[p.steps[s].to] = s;
    for (std::size_t i = 0; i < p.steps[s].parts; ++i) {
      const int part = p.steps[p.steps[s].first_part + i].root;
      step_of[part] = first[part] = last[part] = s;
    }
  }
  // Readers come after a node. What is computed in each step that needs it reads its operands as
  // late as the last of these.
  for (int n = p.g.count; n-- > 0;) {
    p.result[n] = -1;
    if (p.root[n] == nowhere) continue;
    const std::size_t when = p.root[n] == everywhere ? last[n] : step_of[p.root[n]];
    for (std::size_t j = 0; j < p.at(n).operands; ++j) {
      std::size_t& of = last[p.at(n).from[j].node];
      if (of < when) of = when;
    }
  }
  for (std::size_t r = 0; r < p.g.results; ++r)
    if (p.stored[p.g.result[r].node]) p.result[p.g.result[r].node] = static_cast<int>(r);
  for (int n = 0; n < p.g.count; ++n) {
    if (!p.stored[n] || p.result[n] >= 0 || p.at(n).what == word::add_to ||
        p.at(n).what == word::append)
      continue;
    room[n] = (p.at(n).axes.count() + p.at(n).kept + 15) / 16 * 16;
    std::size_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const int m = placed[i];
      if (p.place[m] >= at + room[n]) break;
      if (last[m] < first[n] || last[n] < first[m] || p.place[m] + room[m] <= at) continue;
      at = p.place[m] + room[m];
    }
    p.place[n] = at;
    std::size_t i = count++;
    for (; i > 0 && p.place[placed[i - 1]] > at; --i) placed[i] = placed[i - 1];
    placed[i] = n;
    if (at + room[n] > p.workspace) p.workspace = at + room[n];
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
