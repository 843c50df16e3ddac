// SPDX-License-Identifier: BSL-1.0
// Which nodes of a formula's graph can be computed for new positions only, and what must be kept of
// earlier ones. Determined from the graph with as many positions as the cache's capacity:
//
//   row     an axis of new positions: the first argument's, or renamed from that
//   fresh   such an axis, renamed to the keys' axis: computed for new positions, as rows are
//   kept    the keys' axis of cached nodes, or of what is made from them with rows: scores
//
// A sequence that is padded at its start is kept as it is: windows of it read earlier positions
// (a causal convolution).
//
// A sum up to each position (cumulative_sum) continues from the last one. The sums of all positions
// are kept, because a cache can forget its last positions. (Forgotten sums stay in memory: no step
// reads them.)
//
// A node with fresh keys that is read together with rows, or summed with scores, is kept.
// Operations along kept keys (a softmax, a sum, a contraction) must not see keys of later
// positions: their scores there are -infinity, or their weights 0, whatever those positions hold.
//
// Not here: scores at later keys (later_values.hpp), the graph of a step (next_positions.hpp), the
// cache (decode/cache_of_formula.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/later_values.hpp>
#include <umbel/formula/program.hpp>
#include <umbel/formula/schedule.hpp>
#include <umbel/formula/stored_positions.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// A kept node's memory: `outer` runs of keys, each `key_step` elements.
struct kept_memory {
  std::size_t place, outer, outer_step, key_step;
};

template <class T, std::size_t Nodes>
struct by_position : later_values<T, Nodes> {
  using base = later_values<T, Nodes>;
  using base::as_values, base::at, base::capacity, base::count_of, base::delay;
  using base::elementwise_later, base::g, base::in_integers;
  using base::goes_along, base::guard, base::guarded, base::has, base::has_function, base::is;
  using base::is_part, base::is_row, base::is_selected, base::keeps, base::keys, base::later;
  using base::of, base::queries, base::read_as, base::reads, base::reads_all_positions;
  using base::reads_kept, base::refuse, base::rows, base::scans, base::where, base::why;

  // Operand j of node n runs along kept keys: it must be `value` at later ones.
  constexpr void guard_later(int n, std::size_t j, T value) {
    const int from = at(n).from[j].node;
    if (count_of(from, role::row) != 1) return refuse(not_by_position::several_rows, n);
    if (!is(later[from], value)) return refuse(not_by_position::sees_later, n);
    if (in_integers || is_selected(from)) return;
    guarded[n] = static_cast<int>(j);
    guard[n] = value;
  }
  // Node n runs along the kept keys of an operand.
  constexpr void read_along_keys(int n) {
    const node_of_graph<T>& node = at(n);
    const T infinity = simd::math_constants<T>::infinity;
    if (node.what == word::softmax) {
      guard_later(n, 0, -infinity);
      later[n] = {true, T{0}};
    } else if (node.what == word::reduce) {
      if (node.sums != 1 || node.reduces_by == reduction::mean)
        return refuse(not_by_position::counts, n);
      guard_later(n, 0,
                  node.reduces_by == reduction::max       ? -infinity
                  : node.reduces_by == reduction::min     ? infinity
                  : node.reduces_by == reduction::product ? T{1}
                                                          : T{0});
    } else {
      // One side holds weights, which have rows.
      for (std::size_t j = 0; j < 2; ++j) {
        if (!reads(n, j, role::row) || !reads(n, j, role::kept)) continue;
        if (is(later[node.from[j].node], 0) || !reads(n, 1 - j, role::row))
          return guard_later(n, j, T{0});
      }
      refuse(not_by_position::mixes, n);
    }
  }

  // Fresh keys that are read together with rows become kept ones.
  constexpr void keep_operands(int n) {
    const node_of_graph<T>& node = at(n);
    const bool mixed = reads(n, role::row) || reads(n, role::kept) || node.open;
    for (std::size_t j = 0; mixed && j < node.operands; ++j) {
      if (!reads(n, j, role::fresh)) continue;
      reads_kept[n][j] = keeps[node.from[j].node] = true;
      if (is_product(node.what) && goes_along(node, keys)) as_values[node.from[j].node] = true;
    }
  }
  constexpr bool is_padded(int n) const {
    bool has_number = false;
    for (std::size_t j = 0; j < at(n).operands; ++j)
      has_number = has_number || at(at(n).from[j].node).what == word::number;
    return at(n).what == word::concat && has_number;
  }
  // A concat of numbers, then the sequence: its number of positions before the first, else 0.
  constexpr std::size_t positions_before(int n) const {
    const node_of_graph<T>& node = at(n);
    if (node.what != word::concat || node.family == keys) return 0;
    const std::size_t last = node.operands - 1;
    std::size_t before = 0;
    for (std::size_t j = 0; j < last; ++j) {
      const node_of_graph<T>& number = at(node.from[j].node);
      // Unused memory has 0, not -0.
      if (number.what != word::number || simd::detail::bits_of(number.number) != 0) return 0;
      before += node.from[j].axes.size_of(node.family);
    }
    std::size_t of_rows = 0;
    for (std::size_t i = 0; i < node.from[last].axes.rank; ++i)
      of_rows += read_as(n, last, i) != role::other;
    const bool is_sequence = of_rows == 1 && read_as(n, last, node.family) == role::row &&
                             reads_all_positions(node.from[last]);
    return is_sequence ? before : 0;
  }
  constexpr void find_roles(int n) {
    const node_of_graph<T>& node = at(n);
    for (std::size_t i = 0; i < node.axes.rank; ++i) {
      const unsigned long long family = node.axes.family[i];
      role found = role::other;
      bool is_read = false;
      for (std::size_t j = 0; j < node.operands; ++j) {
        is_read = is_read || node.from[j].axes.has(family);
        const role r = read_as(n, j, family);
        if (r > found) found = r;
      }
      if (!is_read && node.axes.size[i] == capacity)
        found = family == keys ? role::fresh : is_row(family) ? role::row : role::other;
      of[n][i] = found;
    }
    // Elements at pairs of positions, as scores have them: of all keys.
    if (node.what != word::gather || !has(n, role::row)) return;
    for (std::size_t i = 0; i < node.axes.rank; ++i)
      if (of[n][i] == role::fresh) of[n][i] = role::kept;
  }
  constexpr void read(int n) {
    const node_of_graph<T>& node = at(n);
    guarded[n] = -1;
    if (node.what == word::argument) {
      for (std::size_t i = 0; i < node.axes.rank && !is_part(node); ++i) {
        const unsigned long long family = node.axes.family[i];
        if (node.axes.size[i] != capacity) continue;
        of[n][i] = family == keys                        ? role::kept
                   : family == rows || family == queries ? role::row
                                                         : role::other;
      }
      return;
    }
    if (node.what == word::number) {
      later[n] = {!in_integers || node.number == T{}, node.number};
      return;
    }
    if (node.what == word::position) return;
    delay[n] = positions_before(n);
    keeps[n] = delay[n] != 0;
    if (keeps[n]) return;
    for (std::size_t j = 0; j < node.operands; ++j)
      if (!reads_all_positions(node.from[j]))
        return refuse(delay[node.from[j].node] != 0 ? not_by_position::padding
                                                    : not_by_position::part_of_rows,
                      n);
    keep_operands(n);
    find_roles(n);
    if (count_of(n, role::row) + count_of(n, role::fresh) > 1)
      return refuse(not_by_position::several_rows, n);
    const bool of_positions = reads(n, role::row) || reads(n, role::fresh) || reads(n, role::kept);
    if (has_function(node.what) && of_positions) {
      for (std::size_t j = 0; j < node.operands; ++j)
        if (delay[node.from[j].node] != 0) return refuse(not_by_position::padding, n);
      if ((node.what == word::call || node.what == word::layer) && !node.by_rows)
        return refuse(not_by_position::layer, n);
      if (reads(n, role::kept)) return refuse(not_by_position::function_of_scores, n);
    }
    for (std::size_t j = 0; j < node.operands; ++j)
      for (std::size_t i = 0; i < node.from[j].axes.rank; ++i) {
        if (!goes_along(node, node.from[j].axes.family[i])) continue;
        const role r = read_as(n, j, i);
        if (r == role::row || r == role::fresh) {
          scans[n] = node.scan != scan_form::none && !node.from_last;
          if (scans[n]) continue;
          return refuse(is_padded(n) ? not_by_position::padding : not_by_position::mixes, n);
        }
        if (r == role::kept) {
          if (node.what == word::project) return refuse(not_by_position::mixes, n);
          return read_along_keys(n);
        }
      }
    if (is_elementwise(node.what)) {
      later[n] = elementwise_later(n);
      if (in_integers && !node.condition && node.what != word::hide && later[n].value != T{})
        later[n].known = false;
    } else if (node.what == word::contract) {
      for (std::size_t j = 0; j < 2; ++j)
        if (reads(n, j, role::kept) && is(later[node.from[j].node], 0)) later[n] = {true, T{0}};
    } else if (node.what == word::project && !node.has_bias) {
      if (is(later[node.from[0].node], 0)) later[n] = {true, T{0}};
    }
  }

  constexpr void read_all() {
    for (int n = 0; n < g.count && why == not_by_position::nothing; ++n) read(n);
    if (why != not_by_position::nothing) return;
    bool any = false;
    for (int n = 0; n < g.count; ++n) any = any || keeps[n] || scans[n];
    for (std::size_t r = 0; r < g.results; ++r)
      if (has(g.result[r].node, role::kept)) refuse(not_by_position::gives_keys, g.result[r].node);
    if (!any) refuse(not_by_position::keeps_nothing, 0);
  }

  constexpr std::size_t key_of_kept(int n) const {
    std::size_t key = npos;
    for (std::size_t i = 0; i < at(n).axes.rank; ++i)
      if (of[n][i] != role::other) key = i;
    return key;
  }
  constexpr bool has_adjacent_features(int n) const { return in_integers || as_values[n]; }
  // The memory kept for node n: its axes, with room for all keys. Inputs of scores have adjacent
  // keys, inputs of sums along keys adjacent features, as all have in integers.
  constexpr axis_list kept_axes(int n) const {
    axis_list axes = at(n).axes;
    if (delay[n] != 0) return axes;
    const std::size_t key = key_of_kept(n);
    std::size_t step = 1;
    axes.family[key] = keys;
    axes.size[key] = capacity;
    if (!has_adjacent_features(n)) {
      axes.stride[key] = 1;
      step = (capacity + 15) / 16 * 16;
    }
    for (std::size_t i = axes.rank; i-- > 0;) {
      if (i == key && !has_adjacent_features(n)) continue;
      axes.stride[i] = step;
      step *= axes.size[i];
    }
    return axes;
  }
  // The sums of a scan after 0, row-major.
  constexpr axis_list axes_of_sums(int n) const {
    axis_list axes = at(n).axes;
    ++axes.size[key_of_kept(n)];
    std::size_t step = 1;
    for (std::size_t i = axes.rank; i-- > 0; step *= axes.size[i]) axes.stride[i] = step;
    return axes;
  }
  static constexpr std::size_t room_of(const axis_list& axes) {
    std::size_t last = 1;
    for (std::size_t i = 0; i < axes.rank; ++i) last += (axes.size[i] - 1) * axes.stride[i];
    return (last + 15) / 16 * 16;
  }
  constexpr kept_memory memory_of(int n) const {
    const axis_list axes = kept_axes(n);
    if (delay[n] != 0) {
      const std::size_t step = axes.stride_of(at(n).family);
      const std::size_t whole = step * axes.size_of(at(n).family);
      return {place_of(n) + delay[n] * step, axes.count() / whole, whole, step};
    }
    const std::size_t key = key_of_kept(n), others = axes.count() / axes.size[key];
    const std::size_t key_step = axes.stride[key];
    const bool by_key = has_adjacent_features(n);
    return {place_of(n), by_key ? others / key_step : others,
            by_key ? key_step * capacity : (capacity + 15) / 16 * 16, key_step};
  }
  // The number of cache elements kept before node n.
  constexpr std::size_t place_of(int n) const {
    std::size_t place = 0;
    for (int i = 0; i < n; ++i)
      if (keeps[i]) place += room_of(kept_axes(i));
    return place;
  }
  constexpr std::size_t place_of_sums(int n) const {
    std::size_t place = place_of(g.count);
    for (int i = 0; i < n; ++i)
      if (scans[i]) place += room_of(axes_of_sums(i));
    return place;
  }
  constexpr std::size_t room() const { return place_of_sums(g.count); }
};

// From the graph with `capacity` positions. in_integers: products and sums are not joined, and
// lookups are stored.
template <class T, std::size_t Nodes>
constexpr by_position<T, Nodes> read_positions(const graph<T, Nodes>& g, std::size_t capacity,
                                               unsigned long long rows, unsigned long long queries,
                                               unsigned long long keys, bool in_integers) {
  by_position<T, Nodes> found{};
  schedule<T, Nodes> joined{};
  joined.g = in_integers ? with_stored_lookups(g) : g;
  if (!in_integers) join_multiplications(joined);
  found.g = joined.g;
  found.in_integers = in_integers;
  found.capacity = capacity;
  found.rows = rows;
  found.queries = queries;
  found.keys = keys;
  found.read_all();
  return found;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
