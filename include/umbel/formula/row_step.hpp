// SPDX-License-Identifier: BSL-1.0
// The step `rows` (score_rows.hpp): for each position of the outer axes and each block of queries,
// its parts in turn, by their usual steps, on a schedule with a block's axes. Parts write to
// scratch; an elementwise part and a softmax may overwrite what they read last.
//
// If weights are zero outside of a range of keys, all after the last softmax runs for chunks of
// keys, without those that no query of the block needs. The product adds for each query the keys of
// its range and no others, so that neither their values nor the sizes of blocks and chunks show in
// the result (decision 029).
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/key_ranges.hpp>
#include <umbel/formula/place_nodes.hpp>
#include <umbel/formula/product.hpp>
#include <umbel/formula/score_rows.hpp>
#include <umbel/kernel/float/softmax.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// The number of queries in a block, and the places of intermediate results in scratch.
template <std::size_t Nodes>
struct row_blocks {
  // Of a node: a block, or, for an operand of a concat, some keys of one.
  struct place {
    std::size_t slot = npos, first_key = 0, keys = 0;  // keys: of the whole block
  };
  unsigned long long query = 0, key = 0;
  axis_list outer;
  std::size_t queries = 0, keys = 0;  // keys: the most of any node
  std::size_t rows = 0;               // queries of a block; the last may have fewer
  bool by_query = false;              // are a query's keys adjacent? Else a key's queries are
  std::size_t slots = 0;              // blocks that exist at the same time
  std::size_t chunk = 0;              // keys at a time; 0: all, as there is no range
  std::size_t whole = 0;              // of chunks: the parts before that need all keys
  place of[Nodes];

  constexpr std::size_t count() const { return outer.count() * in_queries(); }
  constexpr std::size_t in_queries() const { return plan::divide_up(queries, rows); }
  constexpr std::size_t last() const { return queries - (in_queries() - 1) * rows; }
  constexpr std::size_t room() const { return plan::divide_up(rows * keys, 16) * 16; }
  constexpr std::size_t key_stride(std::size_t of_rows) const { return by_query ? 1 : of_rows; }
  constexpr bool has(int n) const { return of[n].slot != npos; }
  // Is there scratch for one chunk only?
  constexpr bool keeps_chunk() const { return chunk != 0 && whole == 0; }
  // Of a node with that many in all.
  constexpr std::size_t keys_kept(std::size_t of_keys) const {
    return keeps_chunk() ? chunk : of_keys;
  }

  constexpr std::size_t begin(int n, std::size_t of_rows) const {
    return of[n].slot * room() + of[n].first_key * key_stride(of_rows);
  }
  // That many keys of node n.
  constexpr axis_list block(int n, std::size_t of_keys, std::size_t of_rows) const {
    axis_list axes;
    axes.push(query, of_rows, by_query ? of[n].keys : 1);
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
  std::size_t needed_until[Nodes]{};  // of a slot: the last part that reads it

  constexpr const step& part(std::size_t i) const { return p.steps[this_step.first_part + i]; }
  constexpr bool reads(std::size_t i, int n) const {
    return i == this_step.parts ? n == this_step.attention.weights : step_reads(p, part(i), n);
  }
  constexpr std::size_t last_reader(std::size_t i) const {
    std::size_t last = i;
    for (std::size_t later = i + 1; later <= this_step.parts; ++later)
      if (reads(later, part(i).root)) last = later;
    // Every chunk reads it.
    return i < blocks.whole && last >= blocks.whole ? this_step.parts : last;
  }
  // May part i overwrite its last input? If it reads each element in its place.
  constexpr bool in_place(std::size_t i) const {
    const word last = p.at(part(i).root).what;
    bool as_is = last == word::softmax || part(i).kind == step_kind::elementwise;
    for (int n = 0; n < p.g.count; ++n)
      for (std::size_t j = 0; j < p.at(n).operands; ++j)
        if (blocks.has(p.at(n).from[j].node) && p.computes(n, part(i).root))
          as_is = as_is && p.reads_as_is(p.at(n).from[j]);
    return as_is;
  }
  // A slot for the output of part i, from part `now` on. Over: it may be the last input of part i.
  constexpr void take_slot(std::size_t i, std::size_t now, bool over) {
    const int n = part(i).root;
    std::size_t slot = 0;
    while (slot < blocks.slots && needed_until[slot] + (over ? 0 : 1) > now) ++slot;
    if (slot == blocks.slots) ++blocks.slots;
    needed_until[slot] = last_reader(i);
    blocks.of[n] = {slot, 0, blocks.keys_kept(p.at(n).axes.size_of(blocks.key))};
  }
  constexpr void place(std::size_t i) {
    const int n = part(i).root;
    const std::size_t by = last_reader(i);
    if (blocks.has(n)) return;
    if (by == this_step.parts || p.at(part(by).root).what != word::concat || p.uses(n) != 1)
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
  for (std::size_t i = 0; i < this_step.parts; ++i)
    for (int n = 0; n < p.g.count; ++n)
      for (std::size_t j = 0; j < p.at(n).operands; ++j) {
        const axis_list& axes = p.at(n).from[j].axes;
        if (!is_elementwise(p.at(n).what) || blocks.has(p.at(n).from[j].node) ||
            !p.computes(n, p.steps[this_step.first_part + i].root))
          continue;
        keys += axes.stride_of(blocks.key) == 1 && axes.stride_of(blocks.query) > 1;
        queries += axes.stride_of(blocks.query) == 1 && axes.stride_of(blocks.key) > 1;
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

template <class T, std::size_t Nodes>
constexpr void cut_in_chunks(row_blocks<Nodes>& blocks, const schedule<T, Nodes>& p,
                             const step& this_step) {
  if (!read_weights(p, this_step.product, this_step.attention).has_range()) return;
  const auto root = [&](std::size_t i) -> const node_of_graph<T>& {
    return p.at(p.steps[this_step.first_part + i].root);
  };
  for (std::size_t i = 0; i < this_step.parts; ++i)
    if (root(i).what == word::softmax || root(i).what == word::concat) blocks.whole = i + 1;
  const std::size_t keys = p.at(this_step.attention.weights).axes.size_of(blocks.key);
  for (std::size_t i = blocks.whole; i < this_step.parts; ++i)
    if (root(i).axes.size_of(blocks.key) != keys) return;
  blocks.chunk = chunk_of_keys(keys);
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
  cut_in_chunks(blocks, p, this_step);
  slot_finder<T, Nodes> slots{p, this_step, blocks};
  for (std::size_t i = 0; i < this_step.parts; ++i) {
    slots.place(i);
    const axis_list& written = p.at(p.steps[this_step.first_part + i].root).axes;
    const std::size_t keys = blocks.keys_kept(written.size_of(blocks.key));
    if (keys > blocks.keys) blocks.keys = keys;
  }
  blocks.by_query = keys_are_adjacent(blocks, p, this_step);
  // Two to four vectors of queries, in 64 kB if possible. Each block reads all keys and values
  // again: more if these have many features, as a network's weights do.
  constexpr std::size_t lanes = plan::lanes<T>(plan::native_target);
  constexpr std::size_t vector = lanes < 8 ? 8 : lanes;
  const std::size_t fitting = 65536 / (blocks.slots * blocks.keys * sizeof(T)) / vector;
  const std::size_t least = plan::divide_up(features_of(p, this_step, blocks), 4 * vector);
  const std::size_t vectors = blocks.keeps_chunk() ? plan::divide_up(most_of_chunk, vector)
                              : fitting < 2        ? 2
                              : fitting < 4        ? fitting
                                                   : 4;
  blocks.rows = (least > vectors ? least : vectors) * vector;
  if (blocks.rows > blocks.queries) blocks.rows = blocks.queries;
  return blocks;
}

// A block of Rows queries as a run. Keys: of a chunk, or npos.
template <class Run, std::size_t S, const auto& Blocks, std::size_t Rows, std::size_t Keys = npos>
struct block_run {
  using value_type = typename Run::value_type;
  using T = value_type;
  static constexpr step this_step = Run::value.steps[S];
  static constexpr auto value = [] {
    auto p = Run::value;
    for (int n = 0; n < p.g.count; ++n) {
      auto& node = p.g.nodes[n];
      for (std::size_t j = 0; j < node.operands; ++j) {
        operand& from = node.from[j];
        from = Blocks.cut(from, Run::value.at(from.node).axes, Rows, Keys);
      }
      int written_as = -1;
      for (std::size_t i = 0; i < this_step.parts; ++i)
        if (p.root[n] == p.steps[this_step.first_part + i].root) written_as = p.root[n];
      const std::size_t keys = node.axes.size_of(Blocks.key);
      node.axes = written_as < 0 ? Blocks.cut(node.axes, Rows, Keys)
                                 : Blocks.block(written_as, keys < Keys ? keys : Keys, Rows);
    }
    return p;
  }();

  Run run;
  T* scratch;
  T* to;
  std::size_t first;
  std::size_t index[Blocks.outer.rank + 1];  // of the outer axes
  std::size_t first_key = 0;

  constexpr std::size_t offset(const axis_list& axes) const noexcept {
    std::size_t at = first * axes.stride_of(Blocks.query);
    if (axes.size_of(Blocks.key) != 1) at += first_key * axes.stride_of(Blocks.key);
    for (std::size_t i = 0; i < Blocks.outer.rank; ++i)
      at += index[i] * axes.stride_of(Blocks.outer.family[i]);
    return at;
  }
  template <int N>
  constexpr T* written() const noexcept {
    const std::size_t key = Blocks.keeps_chunk() ? 0 : first_key;
    return scratch + Blocks.begin(N, Rows) + key * Blocks.key_stride(Rows);
  }
  template <int N>
  static constexpr axis_list axes_of() {
    return N == this_step.to ? Blocks.cut(Run::template axes_of<N>(), Rows, Keys)
                             : value.at(N).axes;
  }
  template <int N, std::size_t J>
  UMBEL_INLINE constexpr auto begin() const noexcept {
    constexpr operand from = Run::value.at(N).from[J];
    if constexpr (Blocks.has(from.node))
      return static_cast<const T*>(written<from.node>() + value.at(N).from[J].offset);
    else
      return run.template begin<N, J>() + offset(from.axes);
  }
  template <unsigned long long Family, int Root>
  UMBEL_INLINE constexpr std::size_t first_position() const noexcept {
    constexpr std::size_t at = Blocks.outer.position(Family);
    const std::size_t begin = run.template first_position<Family, Root>();
    if constexpr (at != npos)
      return begin + index[at];
    else
      return begin + (Family == Blocks.query ? first : Family == Blocks.key ? first_key : 0);
  }

  // Copies those operands of a concat that are elsewhere, one after another.
  template <int N, std::size_t J = 0>
  constexpr void put_together(T* out) const noexcept {
    if constexpr (J < value.at(N).operands) {
      constexpr operand from = value.at(N).from[J];
      constexpr std::size_t keys = from.axes.size_of(Blocks.key);
      constexpr axis_list to = value.at(N).axes;
      if (const T* const x = begin<N, J>(); x != out)
        for (std::size_t r = 0; r < Rows; ++r)
          for (std::size_t k = 0; k < keys; ++k)
            out[r * to.stride_of(Blocks.query) + k * to.stride_of(Blocks.key)] =
                x[r * from.axes.stride_of(Blocks.query) + k * from.axes.stride_of(Blocks.key)];
      put_together<N, J + 1>(out + keys * to.stride_of(Blocks.key));
    }
  }
  template <bool Plain, std::size_t I>
  UMBEL_INLINE constexpr void take_part() const noexcept {
    constexpr step part = value.steps[this_step.first_part + I];
    T* const out = written<part.root>();
    if constexpr (part.kind == step_kind::product) {
      product_step<block_run, part.root, part.root, part.product>::template write<Plain>(*this,
                                                                                         out);
    } else if constexpr (part.kind == step_kind::elementwise) {
      using elementwise = elementwise_step<block_run, part.root, part.root>;
      if (Plain || __builtin_is_constant_evaluated())
        elementwise::plainly(*this, out);
      else
        elementwise::fast(*this, out);
    } else if constexpr (value.at(part.root).what == word::concat) {
      put_together<part.root>(out);
    } else {
      constexpr std::size_t keys = value.at(part.root).axes.size_of(Blocks.key);
      constexpr kernel::softmax_shape shape = Blocks.by_query
                                                  ? kernel::softmax_shape{Rows, keys, 1}
                                                  : kernel::softmax_shape{1, keys, Rows};
      if (Plain || __builtin_is_constant_evaluated())
        kernel::plain::softmax<shape>(begin<part.root, 0>(), out);
      else
        kernel::softmax<shape>(begin<part.root, 0>(), out);
    }
  }
  // Parts from First on.
  template <bool Plain, std::size_t First, std::size_t... I>
  UMBEL_INLINE constexpr void take(std::index_sequence<I...>) const noexcept {
    (take_part<Plain, First + I>(), ...);
  }

  // The product with the values.
  using context = product_step<block_run, this_step.root, this_step.to, this_step.product>;
  // Adds the keys of a chunk to the block's sums. further: there are sums of other chunks.
  template <bool Plain>
  constexpr void add(bool further) const noexcept {
    constexpr auto loops = context::contraction();
    const T *const x = begin<this_step.product, 0>(), *const y = begin<this_step.product, 1>();
    if (Plain || __builtin_is_constant_evaluated())
      kernel::plain::contract_all<loops>(x, y, to, further);
    else
      context::template contract_by<loops, true>(x, y, to, further);
  }
  // Adds for each query the keys of its range that are among `count` from key `from` on.
  template <bool Plain, class Ranges>
  constexpr void add_some(const Ranges& ranges, std::size_t from, std::size_t count,
                          bool further) const noexcept {
    constexpr auto loops = context::contraction(Blocks.query);
    constexpr const auto& operands = value.at(this_step.product).from;
    const auto place = [](const axis_list& axes, std::size_t query, std::size_t key) {
      return query * axes.stride_of(Blocks.query) + key * axes.stride_of(Blocks.key);
    };
    for (std::size_t i = 0; i < Rows; ++i) {
      const kernel::scores::key_range seen = ranges.range(first + i, 1, from + count);
      const std::size_t key = seen.begin > from ? seen.begin : from;
      const std::size_t keys = seen.end > key ? seen.end - key : 0;
      const std::size_t at = keys != 0 ? key - first_key : 0;
      const T* const x = begin<this_step.product, 0>() + place(operands[0].axes, i, at);
      const T* const y = begin<this_step.product, 1>() + place(operands[1].axes, i, at);
      T* const out = to + place(axes_of<this_step.to>(), i, 0);
      if (Plain || __builtin_is_constant_evaluated())
        kernel::plain::contract_all_some<loops>(x, y, out, keys, further);
      else
        kernel::contract_all_some<loops>(x, y, out, keys, further);
    }
  }
};

// For key_ranges, as attention_of. The weights have the positions of scores.
template <class Run, std::size_t S, const auto& Blocks>
struct weights_of_rows {
  static constexpr attention_parts parts = [] {
    attention_parts found = Run::value.steps[S].attention;
    found.scores = found.weights;
    return found;
  }();
  static constexpr auto form = read_weights(Run::value, Run::value.steps[S].product, parts);
  static constexpr operand length =
      form.has_length() ? Run::value.at(form.length.node).from[form.length.j] : operand{};
  static constexpr axis_list loops = Blocks.outer;
  static constexpr std::size_t queries = Blocks.queries;
  static constexpr std::size_t keys = Run::value.at(parts.weights).axes.size_of(parts.key);
};

template <class Run, std::size_t S>
struct row_step {
  using T = typename Run::value_type;
  static constexpr step this_step = Run::value.steps[S];
  static constexpr auto blocks = cut_in_rows(Run::value, this_step);
  static constexpr std::size_t scratch = blocks.slots * blocks.room();
  static constexpr std::size_t count = blocks.count();
  using of = weights_of_rows<Run, S, blocks>;

  // Piece i of `count`.
  template <bool Plain>
  UMBEL_INLINE static constexpr void take(const Run& run, T* to, T* room, std::size_t i) noexcept {
    const std::size_t first = i % blocks.in_queries();
    if constexpr (blocks.last() != blocks.rows) {
      if (first + 1 == blocks.in_queries()) return block<Plain, blocks.last()>(run, to, room, i);
    }
    block<Plain, blocks.rows>(run, to, room, i);
  }

 private:
  template <bool Plain, std::size_t Rows>
  static constexpr void block(const Run& run, T* to, T* room, std::size_t i) noexcept {
    block_run<Run, S, blocks, Rows> rows_run{
        run, room, to, i % blocks.in_queries() * blocks.rows, {}};
    i /= blocks.in_queries();
    for (std::size_t axis = blocks.outer.rank; axis-- > 0; i /= blocks.outer.size[axis])
      rows_run.index[axis] = i % blocks.outer.size[axis];
    rows_run.to += rows_run.offset(Run::template axes_of<this_step.to>());
    if constexpr (blocks.chunk != 0) {
      rows_run.template take<Plain, 0>(std::make_index_sequence<blocks.whole>{});
      chunks<Plain, Rows>(rows_run);
    } else {
      rows_run.template take<Plain, 0>(std::make_index_sequence<this_step.parts>{});
      decltype(rows_run)::context::template write<Plain>(rows_run, rows_run.to);
    }
  }
  template <bool Plain, std::size_t Rows, class Block>
  static constexpr void chunks(const Block& block) noexcept {
    using chunk_run = block_run<Run, S, blocks, Rows, blocks.chunk>;
    using context = typename chunk_run::context;
    chunk_run part{block.run, block.scratch, block.to, block.first, {}, 0};
    for (std::size_t axis = 0; axis < blocks.outer.rank; ++axis)
      part.index[axis] = block.index[axis];
    const auto ranges = key_ranges<Run, of>{part.run, part.index}.with();
    const kernel::scores::key_range seen = ranges.range(part.first, Rows, of::keys);
    bool further = false;
    for (std::size_t key = seen.begin / blocks.chunk * blocks.chunk; key < seen.end || !further;
         key += blocks.chunk) {
      const std::size_t left = of::keys - key;
      const std::size_t count = left < blocks.chunk ? left : blocks.chunk;
      part.first_key = key + count - blocks.chunk;
      if (key < seen.end)
        part.template take<Plain, blocks.whole>(
            std::make_index_sequence<this_step.parts - blocks.whole>{});
      if (count == blocks.chunk && seen.full_begin <= key && key + count <= seen.full_end)
        part.template add<Plain>(further);
      else
        part.template add_some<Plain>(ranges, key, count, further);
      further = true;
    }
    if constexpr (context::has_program) {
      if (Plain || __builtin_is_constant_evaluated())
        context::elementwise::plainly(part, part.to);
      else
        context::elementwise::fast(part, part.to);
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
