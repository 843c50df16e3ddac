// SPDX-License-Identifier: BSL-1.0
// The step `rows` (score_rows.hpp): for each position of the outer axes and each block of queries,
// its parts in turn, by their usual steps, on a schedule with a block's axes. Parts write to
// scratch; an elementwise part and a softmax may overwrite what they read last.
#pragma once

#include <umbel/config.hpp>
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
  place of[Nodes];

  constexpr std::size_t count() const { return outer.count() * in_queries(); }
  constexpr std::size_t in_queries() const { return plan::divide_up(queries, rows); }
  constexpr std::size_t last() const { return queries - (in_queries() - 1) * rows; }
  constexpr std::size_t room() const { return plan::divide_up(rows * keys, 16) * 16; }
  constexpr std::size_t key_stride(std::size_t of_rows) const { return by_query ? 1 : of_rows; }
  constexpr bool has(int n) const { return of[n].slot != npos; }

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
  // A block's part of the axes of other memory.
  constexpr axis_list cut(const axis_list& from, std::size_t of_rows) const {
    axis_list axes;
    for (std::size_t i = 0; i < from.rank; ++i)
      if (!outer.has(from.family[i]))
        axes.push(from.family[i], from.family[i] == query ? of_rows : from.size[i], from.stride[i]);
    return axes;
  }
  // For an operand; whole: the axes of its node.
  constexpr operand cut(operand from, const axis_list& whole, std::size_t of_rows) const {
    if (!has(from.node)) {
      from.axes = cut(from.axes, of_rows);
    } else {
      from.axes = block(from.node, from.axes.size_of(key), of_rows);
      if (from.offset != 0) from.offset = from.offset / whole.stride_of(key) * key_stride(of_rows);
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
    return last;
  }
  // May part i overwrite its input? If it reads each element in its place.
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
    blocks.of[n] = {slot, 0, p.at(n).axes.size_of(blocks.key)};
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
  slot_finder<T, Nodes> slots{p, this_step, blocks};
  for (std::size_t i = 0; i < this_step.parts; ++i) {
    slots.place(i);
    const std::size_t keys = p.at(p.steps[this_step.first_part + i].root).axes.size_of(blocks.key);
    if (keys > blocks.keys) blocks.keys = keys;
  }
  blocks.by_query = keys_are_adjacent(blocks, p, this_step);
  // Two to four vectors of queries, in 64 kB if possible. Each block reads all keys and values
  // again: more if these have many features, as a network's weights do.
  constexpr std::size_t lanes = plan::lanes<T>(plan::native_target);
  constexpr std::size_t vector = lanes < 8 ? 8 : lanes;
  const std::size_t fitting = 65536 / (blocks.slots * blocks.keys * sizeof(T)) / vector;
  const std::size_t least = plan::divide_up(features_of(p, this_step, blocks), 4 * vector);
  const std::size_t vectors = fitting < 2 ? 2 : fitting < 4 ? fitting : 4;
  blocks.rows = (least > vectors ? least : vectors) * vector;
  if (blocks.rows > blocks.queries) blocks.rows = blocks.queries;
  return blocks;
}

// A block of Rows queries as a run.
template <class Run, std::size_t S, const auto& Blocks, std::size_t Rows>
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
        from = Blocks.cut(from, Run::value.at(from.node).axes, Rows);
      }
      int written_as = -1;
      for (std::size_t i = 0; i < this_step.parts; ++i)
        if (p.root[n] == p.steps[this_step.first_part + i].root) written_as = p.root[n];
      node.axes = written_as < 0 ? Blocks.cut(node.axes, Rows)
                                 : Blocks.block(written_as, node.axes.size_of(Blocks.key), Rows);
    }
    return p;
  }();

  Run run;
  T* scratch;
  T* to;
  std::size_t first;
  std::size_t index[Blocks.outer.rank + 1];  // of the outer axes

  constexpr std::size_t offset(const axis_list& axes) const noexcept {
    std::size_t at = first * axes.stride_of(Blocks.query);
    for (std::size_t i = 0; i < Blocks.outer.rank; ++i)
      at += index[i] * axes.stride_of(Blocks.outer.family[i]);
    return at;
  }
  template <int N>
  constexpr T* written() const noexcept {
    return scratch + Blocks.begin(N, Rows);
  }
  template <int N>
  static constexpr axis_list axes_of() {
    return N == this_step.to ? Blocks.cut(Run::template axes_of<N>(), Rows) : value.at(N).axes;
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
      return Family == Blocks.query ? begin + first : begin;
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
  template <bool Plain, std::size_t... I>
  UMBEL_INLINE constexpr void take(std::index_sequence<I...>) const noexcept {
    (take_part<Plain, I>(), ...);
    product_step<block_run, this_step.root, this_step.to, this_step.product>::template write<Plain>(
        *this, to);
  }
};

template <class Run, std::size_t S>
struct row_step {
  using T = typename Run::value_type;
  static constexpr step this_step = Run::value.steps[S];
  static constexpr auto blocks = cut_in_rows(Run::value, this_step);
  static constexpr std::size_t scratch = blocks.slots * blocks.room();
  static constexpr std::size_t count = blocks.count();

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
    rows_run.template take<Plain>(std::make_index_sequence<this_step.parts>{});
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
