// SPDX-License-Identifier: BSL-1.0
// Attention whose weights are not just the softmax of a program of scores: a program after the
// softmax, two softmaxes, none. The steps from the scores to the product with the values become
// one, `rows`, which runs them in turn for a block of queries at a time:
//
//   contract<head_dim>(q, k)     scores, any number of them
//   elementwise programs
//   softmax<key>(...)
//   sum<key>(...), max<key>(...) and other reductions, kth_largest, and programs of their results
//   cumulative_sum<key>(...)
//   concat<key>(...)             of scores with others, such as the logit of no key
//   contract<key>(weights, v)    the last one
//
// Their results have the same axes, or these without the keys, and no other readers, so memory for
// one block is enough. Several products may read the same weights. Not here: how a block is
// computed (row_step.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/place_nodes.hpp>
#include <umbel/formula/schedule.hpp>
#include <umbel/formula/score_form.hpp>
#include <umbel/formula/stored_positions.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

template <class T, std::size_t Nodes>
struct row_finder {
  const schedule<T, Nodes>& p;
  const readings<Nodes>& readers;
  std::size_t last;  // the product with the values
  std::size_t all;   // steps: p.count of them, and the parts of others behind these
  int weights = -1;  // the node that it reads
  unsigned long long query = 0, key = 0;
  bool in[Nodes]{};              // the steps before it
  bool shares[Nodes]{};          // its step, and those of other products with the same weights
  bool later[Nodes]{};           // the steps that read their results
  std::size_t step_of[Nodes]{};  // by root; npos: it is a part of a step
  bool has_pairs = false;        // do they compute a number for each query and key?

  constexpr const node_of_graph<T>& context() const { return p.at(p.steps[last].product); }
  constexpr const axis_list& axes() const { return p.at(weights).axes; }
  // Finds products of the same weights that may run together with the last one; `later` steps then
  // come behind it. Its program and theirs may read such a result, if they read its own rows.
  constexpr void find_shared() {
    const auto& of_last = context().from;
    bool ok = false;  // is there one?
    for (std::size_t s = 0; s < last; ++s) {
      const step& other = p.steps[s];
      const node_of_graph<T>& product = p.at(other.product < 0 ? other.root : other.product);
      const bool second = product.from[0].node != weights;
      later[s] = false;
      shares[s] = other.kind == step_kind::product && other.to == other.root &&
                  product.what == word::contract && product.sums == 1 && product.family == key &&
                  product.from[!second].node != weights &&
                  product.from[second] == of_last[of_last[0].node != weights];
      ok = ok || shares[s];
    }
    shares[last] = true;
    for (std::size_t s = 0; s <= last && ok; ++s)
      for (std::size_t t = 0; t < s; ++t) {
        const int n = p.steps[t].root;
        if (!shares[t] && !later[t]) continue;
        for (std::size_t r = readers.first[n]; r < readers.first[n + 1]; ++r) {
          const auto [m, j] = readers.all[r];
          if (!p.computes(m, p.steps[s].root)) continue;
          later[s] = !shares[s];
          ok = ok && (later[s] || (!later[t] && is_elementwise(p.at(m).what) &&
                                   p.reads_as_is(p.at(m).from[j])));
        }
      }
    for (std::size_t s = 0; s < last && !ok; ++s) shares[s] = later[s] = false;
  }
  // Has n one number for each row?
  constexpr bool is_of_row(int n) const {
    const axis_list& of = p.at(n).axes;
    if (of.has(key) || of.rank + 1 != axes().rank) return false;
    for (std::size_t i = 0; i < of.rank; ++i)
      if (!axes().has(of.family[i])) return false;
    return true;
  }

  // Does `by` read some neighboring keys of all rows?
  constexpr bool reads_keys(operand by) const {
    const axis_list& node_axes = p.at(by.node).axes;
    const std::size_t at = by.axes.position(key), stride = node_axes.stride_of(key);
    if (at == npos || !node_axes.has(key) || by.offset % stride != 0 ||
        by.offset / stride + by.axes.size[at] > node_axes.size_of(key))
      return false;
    by.offset = 0;
    by.axes.size[at] = node_axes.size_of(key);
    by.axes.stride[at] = by.axes.size[at] == 1 ? stride : by.axes.stride[at];
    return p.reads_as_is(by);
  }
  // May node m of step s read node n, which has one block of its rows?
  constexpr bool may_read(std::size_t s, int m, int n) const {
    const node_of_graph<T>& node = p.at(m);
    const bool is_context = shares[s] && m == p.steps[s].product;
    for (std::size_t j = 0; j < node.operands; ++j)
      if (node.from[j].node == n && !((is_context || is_elementwise(node.what)) && !is_of_row(n)
                                          ? reads_keys(node.from[j])
                                          : p.reads_as_is(node.from[j])))
        return false;
    if (is_context) return n == weights && node.from[0].node != node.from[1].node;
    if (shares[s]) return is_of_row(n) && is_elementwise(node.what);
    return in[s] && (is_elementwise(node.what) || goes_along_keys(node));
  }
  constexpr bool goes_along_keys(const node_of_graph<T>& node) const {
    if (node.what == word::reduce || is_known_call(node))
      return node.sums == 1 && node.summed[0] == key;
    return (node.what == word::softmax || node.what == word::concat) && node.family == key;
  }
  constexpr bool is_read_inside(int n) const {
    for (std::size_t r = 0; r < p.g.results; ++r)
      if (p.g.result[r].node == n) return false;
    for (std::size_t r = readers.first[n]; r < readers.first[n + 1]; ++r) {
      const int m = readers.all[r].by, root = p.root[m];
      if (root >= 0 && (step_of[root] == npos || !may_read(step_of[root], m, n))) return false;
      for (std::size_t s = 0; root == everywhere && s < all; ++s)
        if (p.computes(m, p.steps[s].root) && (s >= p.count || !may_read(s, m, n))) return false;
    }
    return true;
  }
  constexpr bool takes(std::size_t s) const {
    const step& this_step = p.steps[s];
    const node_of_graph<T>& root = p.at(this_step.root);
    const bool of_row = is_of_row(this_step.root);
    if (this_step.to != this_step.root || !(of_row || p.same_axes(root.axes, axes())) ||
        !is_read_inside(this_step.root))
      return false;
    if (of_row)
      return this_step.kind == step_kind::elementwise ||
             (goes_along_keys(root) && p.same_axes(p.at(root.from[0].node).axes, axes()));
    if (this_step.kind == step_kind::product) {
      const node_of_graph<T>& product = p.at(this_step.product);
      return product.what == word::contract &&
             product.from[0].axes.has(key) != product.from[1].axes.has(key);
    }
    // A softmax over everything, in order.
    return this_step.kind == step_kind::elementwise ||
           (goes_along_keys(root) && (root.what == word::concat || p.reads_as_is(root.from[0])));
  }
  // A function along keys of something stored stays a separate step.
  constexpr void leave_functions_of_stored() {
    for (std::size_t s = 0; s < last; ++s) {
      const node_of_graph<T>& root = p.at(p.steps[s].root);
      if (!in[s] || (root.what != word::softmax && !is_known_call(root))) continue;
      const int from = p.root[root.from[0].node];
      in[s] = from >= 0 && step_of[from] != npos && in[step_of[from]];
    }
  }
  // Is this an axis of weights only, not of keys or values?
  constexpr bool is_of_rows(unsigned long long family) const {
    bool is_row_axis = family != key;
    for (std::size_t s = 0; s <= last; ++s) {
      const node_of_graph<T>& product = p.at(shares[s] ? p.steps[s].product : weights);
      if (shares[s])
        is_row_axis =
            is_row_axis && product.from[0].axes.has(family) != product.from[1].axes.has(family);
      if (!in[s] || p.steps[s].kind != step_kind::product) continue;
      for (const operand& from : p.at(p.steps[s].product).from)
        is_row_axis = is_row_axis && !(from.axes.has(key) && from.axes.has(family));
    }
    return is_row_axis;
  }
  // Does step s compute all pairs from less?
  constexpr bool is_outer(std::size_t s) const {
    for (int n = 0; n < p.g.count; ++n) {
      if (!p.computes(n, p.steps[s].root)) continue;
      for (std::size_t j = 0; j < p.at(n).operands; ++j) {
        const operand& from = p.at(n).from[j];
        if (p.is_in(from.node, p.steps[s].root)) continue;
        bool has_all = true;
        for (std::size_t i = 0; i < axes().rank; ++i)
          has_all = has_all && (axes().size[i] == 1 || from.axes.stride_of(axes().family[i]) != 0);
        if (has_all) return false;
      }
    }
    return true;
  }
  // Do they compute pairs: scores and a program of them, a program and a function of its rows, or a
  // program of less than pairs? Or a program for several products, which are smaller?
  constexpr bool changes_pairs() const {
    bool has_all = false, has_scores = false, has_program = false, has_function = false,
         outer = false;
    for (std::size_t s = 0; s < last; ++s) {
      const step& this_step = p.steps[s];
      if (!in[s]) continue;
      const bool of_row = is_of_row(this_step.root);
      has_all = has_all || !of_row;
      has_scores = has_scores || this_step.kind == step_kind::product;
      has_program = has_program || this_step.root != this_step.product;
      if (this_step.kind == step_kind::elementwise && !of_row)
        outer = outer || is_outer(s);
      else
        has_function = has_function || this_step.kind != step_kind::product;
    }
    for (std::size_t s = 0; s < last; ++s)
      outer = outer || (shares[s] && axes().count() > context().axes.count());
    return has_all && has_program && (has_scores || has_function || outer);
  }
  // If this axis is the queries.
  constexpr score_form<T> range_of(unsigned long long family) const {
    attention_parts parts;
    parts.weights = weights;
    parts.query = family;
    parts.key = key;
    return read_weights(p, p.steps[last].product, parts);
  }
  // The queries are the longest axis that has a range of keys, even one of size 1, since the keys
  // that are left out must not depend on sizes. Else the longest of all.
  constexpr bool find() {
    if (context().what != word::contract || context().sums != 1) return false;
    key = context().family;
    for (std::size_t& s : step_of) s = npos;
    for (std::size_t s = 0; s < p.count; ++s) step_of[p.steps[s].root] = s;
    for (std::size_t j = 0; j < 2 && !has_pairs; ++j) {
      weights = context().from[j].node;
      find_shared();
      for (std::size_t s = last; s-- > 0;) in[s] = !later[s] && takes(s);
      leave_functions_of_stored();
      has_pairs = changes_pairs();
    }
    if (!has_pairs) return false;
    std::size_t most = 1;
    bool is_in_range = false;
    for (std::size_t i = 0; i < axes().rank; ++i) {
      const unsigned long long family = axes().family[i];
      if (!is_of_rows(family)) continue;
      const bool has_range = range_of(family).has_range();
      if (has_range == is_in_range ? axes().size[i] <= most : is_in_range) continue;
      query = family, most = axes().size[i], is_in_range = has_range;
    }
    return query != 0;
  }
};

// Moves steps that are parts of others after all that are not.
template <class T, std::size_t Nodes>
constexpr void join_rows(schedule<T, Nodes>& p) {
  const std::size_t all = p.count;
  const readings<Nodes> readers{p.g};
  for (std::size_t last = p.count; last-- > 0;) {
    if (p.steps[last].kind != step_kind::product) continue;
    row_finder<T, Nodes> found{p, readers, last, all};
    if (!found.find()) continue;
    std::size_t parts = 0, shared = 0;
    for (std::size_t pass = 0; pass < 2; ++pass)
      for (std::size_t s = 0; s < last; ++s) {
        const bool of_shared = pass != 0;
        if (!(of_shared ? found.shares[s] : found.in[s])) continue;
        std::size_t at = s;
        for (std::size_t i = 0; i < s; ++i) at -= found.in[i] || (of_shared && found.shares[i]);
        const step part = p.steps[at];
        if (!of_shared) p.stored[part.to] = false;
        for (std::size_t i = at; i + 1 < all; ++i) p.steps[i] = p.steps[i + 1];
        p.steps[all - 1] = part;
        ++parts;
        shared += of_shared;
      }
    p.count -= parts;
    for (std::size_t s = last + 1 - parts; s < p.count; ++s)
      if (p.steps[s].parts != 0) p.steps[s].first_part -= parts;
    step& rows = p.steps[last - parts];
    rows.kind = step_kind::rows;
    rows.first_part = all - parts;
    rows.parts = parts;
    rows.shared = shared;
    rows.attention.weights = found.weights;
    rows.attention.query = found.query;
    rows.attention.key = found.key;
    // Steps that read the results of shared products.
    for (std::size_t s = 0, at = 0; s < last; ++s) {
      if (found.in[s] || found.shares[s]) continue;
      if (!found.later[s]) {
        ++at;
        continue;
      }
      const step moved = p.steps[at];
      for (std::size_t i = at; i < last - parts; ++i) p.steps[i] = p.steps[i + 1];
      p.steps[last - parts] = moved;
    }
    last -= parts;
    if (shared != 0) ++last;
  }
}

template <class T, std::size_t Nodes>
constexpr schedule<T, Nodes> make_schedule(const graph<T, Nodes>& g, bool joined = false,
                                           bool of_cache = false) {
  schedule<T, Nodes> p{};
  p.g = g;
  if (!joined) join_multiplications(p);
  if (!of_cache) position_storage<T, Nodes>{p}.store_all();
  choose_steps(p);
  join_rows(p);
  place_nodes(p);
  return p;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
