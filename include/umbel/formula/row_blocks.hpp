// SPDX-License-Identifier: BSL-1.0
// The plan of a step `rows` (score_rows.hpp): how many queries a block has, how many keys a chunk,
// and where the output of each part lies in scratch.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/place_nodes.hpp>
#include <umbel/formula/score_form.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/plan.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// The number of queries in a block, and the places of intermediate results in scratch.
template <std::size_t Nodes>
struct row_blocks {
  // Of a node: a block, or, for an operand of a concat, some keys of one. keys: of the whole block;
  // 0 for one number for each query.
  struct place {
    std::size_t slot = npos, first_key = 0, keys = 0;
  };
  unsigned long long query = 0, key = 0;
  axis_list outer;
  std::size_t queries = 0, keys = 0;  // keys: the most of any node
  std::size_t rows = 0;               // queries of a block; the last may have fewer
  bool by_query = false;              // are a query's keys adjacent? Else a key's queries are
  std::size_t slots = 0;              // blocks that exist at the same time
  std::size_t row_slots = 0;          // the same of one number for each query
  std::size_t chunk = 0;              // keys at a time; 0: all, as there is no range
  std::size_t whole = 0;              // of chunks: the parts up to the last that goes along keys
  bool ranged = false;                // do these parts need a range of keys only?
  bool chunked[Nodes]{};              // does part i run for a chunk at a time?
  place of[Nodes];

  constexpr std::size_t count() const { return outer.count() * in_queries(); }
  constexpr std::size_t in_queries() const { return plan::divide_up(queries, rows); }
  constexpr std::size_t last() const { return queries - (in_queries() - 1) * rows; }
  constexpr std::size_t room() const { return plan::divide_up(rows * keys, 16) * 16; }
  constexpr std::size_t row_room() const { return plan::divide_up(rows, 16) * 16; }
  constexpr std::size_t scratch() const { return slots * room() + row_slots * row_room(); }
  constexpr std::size_t key_stride(std::size_t of_rows) const { return by_query ? 1 : of_rows; }
  constexpr bool has(int n) const { return of[n].slot != npos; }
  constexpr bool is_of_row(int n) const { return of[n].keys == 0; }
  // Is there scratch for one chunk only?
  constexpr bool keeps_chunk() const { return chunk != 0 && whole == 0; }
  // The end of the parts from i on that run for a chunk, in turn; i if it does not.
  constexpr std::size_t end_of_chunked(std::size_t i, std::size_t parts) const {
    while (i < parts && chunked[i]) ++i;
    return i;
  }
  // The first key of the chunk that has key `from`, of `all` keys.
  constexpr std::size_t first_key(std::size_t from, std::size_t all) const {
    return all - from < chunk ? all - chunk : from;
  }
  // The keys of all chunks from key `begin` to `end`, for functions of some positions.
  constexpr kernel::some_positions in_chunks(std::size_t begin, std::size_t end,
                                             std::size_t all) const {
    begin = first_key(begin, all) / chunk * chunk;
    while (begin % kernel::plain::sum_chains != 0) begin -= chunk;
    end = plan::divide_up(end, chunk) * chunk;
    return {begin, end < all ? end : all};
  }
  // Of a node with that many in all.
  constexpr std::size_t keys_kept(std::size_t of_keys) const {
    return keeps_chunk() ? chunk : of_keys;
  }

  constexpr std::size_t begin(int n, std::size_t of_rows) const {
    if (is_of_row(n)) return slots * room() + of[n].slot * row_room();
    return of[n].slot * room() + of[n].first_key * key_stride(of_rows);
  }
  // That many keys of node n.
  constexpr axis_list block(int n, std::size_t of_keys, std::size_t of_rows) const {
    if (!is_of_row(n)) return block_of(of[n].keys, of_keys, of_rows);
    axis_list axes;
    axes.push(query, of_rows, 1);
    return axes;
  }
  // Of a block of `all` keys.
  constexpr axis_list block_of(std::size_t all, std::size_t of_keys, std::size_t of_rows) const {
    axis_list axes;
    axes.push(query, of_rows, by_query ? all : 1);
    axes.push(key, of_keys, key_stride(of_rows));
    return axes;
  }
  // A block's part of the axes of other memory. of_keys: of a chunk, or npos.
  constexpr axis_list cut(const axis_list& from, std::size_t of_rows, std::size_t of_keys) const {
    axis_list axes;
    for (std::size_t i = 0; i < from.rank; ++i) {
      if (outer.has(from.family[i])) continue;
      std::size_t size = from.family[i] == query ? of_rows : from.size[i];
      if (from.family[i] == key && size > of_keys) size = of_keys;
      axes.push(from.family[i], size, from.stride[i]);
    }
    return axes;
  }
  // For an operand; whole_axes: of its node.
  constexpr operand cut(operand from, const axis_list& whole_axes, std::size_t of_rows,
                        std::size_t of_keys) const {
    if (!has(from.node)) {
      from.axes = cut(from.axes, of_rows, of_keys);
    } else {
      const std::size_t all = from.axes.size_of(key);
      from.axes = block(from.node, all < of_keys ? all : of_keys, of_rows);
      if (from.offset != 0)
        from.offset = from.offset / whole_axes.stride_of(key) * key_stride(of_rows);
    }
    return from;
  }
};

// Places for the parts' output, in as few slots as possible.
template <class T, std::size_t Nodes>
struct slot_finder {
  const schedule<T, Nodes>& p;
  const step& this_step;
  row_blocks<Nodes>& blocks;
  std::size_t needed_until[2][Nodes]{};  // of a slot, or row slot: the last part that reads it

  constexpr const step& part(std::size_t i) const { return p.steps[this_step.first_part + i]; }
  constexpr bool reads(std::size_t i, int n) const {
    if (i < this_step.before()) return step_reads(p, part(i), n);
    step last = this_step;  // the products with the values, and their programs
    last.first_part += last.before();
    last.parts = last.shared;
    return step_reads(p, last, n);
  }
  constexpr std::size_t last_reader(std::size_t i) const {
    std::size_t last = i;
    for (std::size_t later = i + 1; later <= this_step.before(); ++later)
      if (reads(later, part(i).root)) last = later;
    // Every chunk reads it.
    const std::size_t end = blocks.end_of_chunked(last, this_step.before());
    return blocks.end_of_chunked(i, this_step.before()) == end ? last : end;
  }
  // May part i overwrite its last input? If it reads each element in its place.
  constexpr bool in_place(std::size_t i) const {
    const word last = p.at(part(i).root).what;
    bool as_is = last == word::softmax || p.at(part(i).root).scan != scan_form::none ||
                 part(i).kind == step_kind::elementwise;
    for (int n = 0; n < p.g.count; ++n)
      for (std::size_t j = 0; j < p.at(n).operands; ++j)
        if (blocks.has(p.at(n).from[j].node) && p.computes(n, part(i).root))
          as_is = as_is && p.reads_as_is(p.at(n).from[j]);
    return as_is;
  }
  // A slot for the output of part i, from part `now` on. Over: it may be the last input of part i.
  constexpr void take_slot(std::size_t i, std::size_t now, bool over) {
    const int n = part(i).root;
    const axis_list& axes = p.at(n).axes;
    const bool of_row = !axes.has(blocks.key);
    std::size_t& slots = of_row ? blocks.row_slots : blocks.slots;
    std::size_t* const until = needed_until[of_row];
    std::size_t slot = 0;
    while (slot < slots && until[slot] + (over ? 0 : 1) > now) ++slot;
    if (slot == slots) ++slots;
    until[slot] = last_reader(i);
    blocks.of[n] = {slot, 0, of_row ? 0 : blocks.keys_kept(axes.size_of(blocks.key))};
  }
  constexpr void place(std::size_t i) {
    const int n = part(i).root;
    const std::size_t by = last_reader(i);
    if (blocks.has(n)) return;
    if (by == this_step.before() || p.at(part(by).root).what != word::concat || p.uses(n) != 1 ||
        part(i).kind == step_kind::call)
      return take_slot(i, i, in_place(i));
    // An operand read only by a concat is written where the concat has it.
    const node_of_graph<T>& whole = p.at(part(by).root);
    if (!blocks.has(part(by).root)) take_slot(by, i, false);
    blocks.of[n] = blocks.of[part(by).root];
    for (std::size_t j = 0; whole.from[j].node != n; ++j)
      blocks.of[n].first_key += whole.from[j].axes.size_of(blocks.key);
  }
};

// For the other operands of elementwise parts: are keys adjacent, rather than queries?
template <class T, std::size_t Nodes>
constexpr bool keys_are_adjacent(const row_blocks<Nodes>& blocks, const schedule<T, Nodes>& p,
                                 const step& this_step) {
  std::size_t keys = 0, queries = 0;
  const auto root = [&](std::size_t i) { return p.steps[this_step.first_part + i].root; };
  for (std::size_t i = 0; i < this_step.parts; ++i)
    for (int n = 0; n < p.g.count; ++n)
      for (std::size_t j = 0; j < p.at(n).operands; ++j) {
        if (!is_elementwise(p.at(n).what) || !p.computes(n, root(i))) continue;
        const operand& from = p.at(n).from[j];
        bool is_inside = p.computes(from.node, root(i));
        for (std::size_t k = 0; k < this_step.parts; ++k) is_inside |= from.node == root(k);
        if (is_inside) continue;
        keys += from.axes.stride_of(blocks.key) == 1 && from.axes.stride_of(blocks.query) > 1;
        queries += from.axes.stride_of(blocks.query) == 1 && from.axes.stride_of(blocks.key) > 1;
      }
  return keys > queries;
}

template <class T, std::size_t Nodes>
constexpr std::size_t features_of(const schedule<T, Nodes>& p, const step& this_step,
                                  const row_blocks<Nodes>& blocks) {
  std::size_t all = p.at(this_step.product).axes.count() / (blocks.outer.count() * blocks.queries);
  for (std::size_t i = 0; i < this_step.parts; ++i) {
    const step& part = p.steps[this_step.first_part + i];
    if (part.kind != step_kind::product) continue;
    const node_of_graph<T>& scores = p.at(part.product);
    std::size_t depth = 1;
    if (i >= this_step.before()) {
      all += scores.axes.count() / (blocks.outer.count() * blocks.queries);
      continue;
    }
    for (std::size_t j = 0; j < scores.sums; ++j)
      depth *= scores.from[0].axes.size_of(scores.summed[j]);
    all += depth;
  }
  return all;
}

// The keys of a chunk, and the queries that see one: the fewer, the fewer pairs at the border of a
// range are computed in vain.
inline constexpr std::size_t most_of_chunk = 32;

// A divisor of the number of keys, if 24 is one; else the last chunk overlaps.
constexpr std::size_t chunk_of_keys(std::size_t keys) {
  if (keys <= most_of_chunk) return keys;
  return keys % most_of_chunk != 0 && keys % 24 == 0 ? 24 : most_of_chunk;
}

// The keys that a block needs: those of the weights, and those that functions along keys read. The
// others are neutral elements of these: -infinity for a maximum, 0 for a sum. A cumulative sum does
// not depend on later elements.
template <class T, std::size_t Nodes>
constexpr score_form<T> keys_of_block(const schedule<T, Nodes>& p, const step& this_step) {
  score_form<T> form = read_weights(p, this_step.product, this_step.attention);
  for (std::size_t i = 0; i < this_step.parts; ++i) {
    const node_of_graph<T>& node = p.at(p.steps[this_step.first_part + i].root);
    const bool is_reduced = node.what == word::reduce, scans = node.scan != scan_form::none;
    if (node.what == word::concat) return {};
    if (!is_reduced && node.what != word::softmax && node.what != word::call) continue;
    constexpr T infinity = simd::math_constants<T>::infinity;
    const std::size_t keys = p.at(node.from[0].node).axes.size_of(this_step.attention.key);
    if (node.kth > keys - node.kth + 1) return {};  // the smallest are sorted
    const bool sums =
        scans ||
        (is_reduced && (node.reduces_by == reduction::sum || node.reduces_by == reduction::mean));
    const T neutral = sums                                                  ? T{0}
                      : is_reduced && node.reduces_by == reduction::min     ? infinity
                      : is_reduced && node.reduces_by == reduction::product ? T{1}
                                                                            : -infinity;
    const score_form<T> read = read_range(p, node.from[0], neutral, this_step.attention);
    if (!scans || !node.from_last) form.include_first(read);
    if (!scans || node.from_last) form.include_last(read);
  }
  return form;
}

template <class T, std::size_t Nodes>
constexpr void cut_in_chunks(row_blocks<Nodes>& blocks, const schedule<T, Nodes>& p,
                             const step& this_step) {
  if (!read_weights(p, this_step.product, this_step.attention).has_range()) return;
  const auto root = [&](std::size_t i) -> const node_of_graph<T>& {
    return p.at(p.steps[this_step.first_part + i].root);
  };
  const auto goes_along_keys = [&](std::size_t i) {
    return root(i).what == word::softmax || root(i).what == word::concat ||
           root(i).what == word::call || !root(i).axes.has(blocks.key);
  };
  for (std::size_t i = 0; i < this_step.before(); ++i)
    if (goes_along_keys(i)) blocks.whole = i + 1;
  const std::size_t keys = p.at(this_step.attention.weights).axes.size_of(blocks.key);
  bool same_keys = true;
  for (std::size_t i = this_step.before(); i-- > 0;) {
    const axis_list& axes = root(i).axes;
    same_keys = same_keys && (!axes.has(blocks.key) || axes.size_of(blocks.key) == keys);
    if (i == blocks.whole && !same_keys) return;
  }
  blocks.chunk = chunk_of_keys(keys);
  // Functions along keys have ranges if rows are adjacent.
  blocks.ranged = blocks.whole != 0 && same_keys && !blocks.by_query && blocks.queries != 1 &&
                  keys_of_block(p, this_step).has_range();
  for (std::size_t i = 0; i < this_step.parts; ++i)
    blocks.chunked[i] = i >= blocks.whole || (blocks.ranged && !goes_along_keys(i));
}

template <class T, std::size_t Nodes>
constexpr row_blocks<Nodes> cut_in_rows(const schedule<T, Nodes>& p, const step& this_step) {
  row_blocks<Nodes> blocks;
  const axis_list& axes = p.at(this_step.attention.weights).axes;
  blocks.query = this_step.attention.query;
  blocks.key = this_step.attention.key;
  for (std::size_t i = 0; i < axes.rank; ++i)
    if (axes.family[i] != blocks.query && axes.family[i] != blocks.key)
      blocks.outer.push(axes.family[i], axes.size[i], axes.stride[i]);
  blocks.queries = axes.size_of(blocks.query);
  blocks.by_query = keys_are_adjacent(blocks, p, this_step);
  cut_in_chunks(blocks, p, this_step);
  slot_finder<T, Nodes> slots{p, this_step, blocks};
  for (std::size_t i = 0; i < this_step.before(); ++i) {
    slots.place(i);
    const axis_list& written = p.at(p.steps[this_step.first_part + i].root).axes;
    const std::size_t keys = blocks.keys_kept(written.size_of(blocks.key));
    if (keys > blocks.keys) blocks.keys = keys;
  }
  // Two to four vectors of queries, in 64 kB if possible. Each block reads all keys and values
  // again: more if these have many features, as a network's weights do, or if there are several.
  constexpr std::size_t lanes = plan::lanes<T>(plan::native_target);
  constexpr std::size_t vector = lanes < 8 ? 8 : lanes;
  const std::size_t fitting = 65536 / (blocks.slots * blocks.keys * sizeof(T)) / vector;
  const std::size_t features = features_of(p, this_step, blocks);
  const std::size_t least = plan::divide_up(
      this_step.shared != 0 && blocks.chunk == 0 ? 4 * features : features, 4 * vector);
  const std::size_t vectors = blocks.keeps_chunk() || blocks.ranged
                                  ? plan::divide_up(most_of_chunk, vector)
                              : fitting < 2 ? 2
                              : fitting < 4 ? fitting
                                            : 4;
  blocks.rows = (least > vectors ? least : vectors) * vector;
  if (blocks.rows > blocks.queries) blocks.rows = blocks.queries;
  return blocks;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
