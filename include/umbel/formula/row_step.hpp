// SPDX-License-Identifier: BSL-1.0
// The step `rows` (score_rows.hpp): for each position of the outer axes and each block of queries,
// its parts one after another, by the steps that compute them elsewhere, on a schedule whose axes
// are those of a block. What parts write lies in scratch; an elementwise part and a softmax may
// write over what they read last.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/product.hpp>
#include <umbel/formula/score_rows.hpp>
#include <umbel/kernel/softmax.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// How many queries are a block, and where in scratch what is in between lies.
template <std::size_t Nodes>
struct row_blocks {
  unsigned long long query = 0, key = 0;
  axis_list outer;
  std::size_t queries = 0, keys = 0;
  std::size_t rows = 0;   // queries of a block, but for the last
  bool by_query = false;  // are keys of a query adjacent? Else queries of a key are.
  std::size_t slots = 0;  // as many blocks are there at a time
  std::size_t slot[Nodes]{};

  constexpr std::size_t count() const { return outer.count() * in_queries(); }
  constexpr std::size_t in_queries() const { return plan::divide_up(queries, rows); }
  constexpr std::size_t last() const { return queries - (in_queries() - 1) * rows; }
  constexpr std::size_t room() const { return plan::divide_up(rows * keys, 16) * 16; }
  constexpr axis_list block(std::size_t of_rows) const {
    axis_list axes;
    axes.push(query, of_rows, by_query ? keys : 1);
    axes.push(key, keys, by_query ? 1 : of_rows);
    return axes;
  }
  // What a block has of these axes.
  constexpr axis_list cut(const axis_list& from, std::size_t of_rows) const {
    axis_list axes;
    for (std::size_t i = 0; i < from.rank; ++i)
      if (!outer.has(from.family[i]))
        axes.push(from.family[i], from.family[i] == query ? of_rows : from.size[i], from.stride[i]);
    return axes;
  }
};

// Slots for what parts write, as few as can be.
template <class T, std::size_t Nodes>
constexpr void place_in_slots(row_blocks<Nodes>& blocks, const schedule<T, Nodes>& p,
                              const step& one) {
  for (std::size_t& slot : blocks.slot) slot = npos;
  std::size_t needed_until[Nodes]{};  // of a slot
  for (std::size_t i = 0; i < one.parts; ++i) {
    const step& part = p.steps[one.first_part + i];
    std::size_t until = i, slot = 0;
    for (std::size_t later = i + 1; later <= one.parts; ++later)
      if (later == one.parts ? part.root == one.attention.weights
                             : step_reads(p, p.steps[one.first_part + later], part.root))
        until = later;
    while (slot < blocks.slots && (part.kind == step_kind::product ? needed_until[slot] >= i
                                                                   : needed_until[slot] > i))
      ++slot;
    if (slot == blocks.slots) ++blocks.slots;
    needed_until[slot] = until;
    blocks.slot[part.root] = slot;
  }
}

// Of the other operands of elementwise parts: are keys adjacent, rather than queries?
template <class T, std::size_t Nodes>
constexpr bool keys_are_adjacent(const row_blocks<Nodes>& blocks, const schedule<T, Nodes>& p,
                                 const step& one) {
  std::size_t keys = 0, queries = 0;
  for (std::size_t i = 0; i < one.parts; ++i)
    for (int n = 0; n < p.g.count; ++n)
      for (std::size_t j = 0; j < p.at(n).operands; ++j) {
        const axis_list& axes = p.at(n).from[j].axes;
        if (!is_elementwise(p.at(n).what) || blocks.slot[p.at(n).from[j].node] != npos ||
            !p.computes(n, p.steps[one.first_part + i].root))
          continue;
        keys += axes.stride_of(blocks.key) == 1 && axes.stride_of(blocks.query) > 1;
        queries += axes.stride_of(blocks.query) == 1 && axes.stride_of(blocks.key) > 1;
      }
  return keys > queries;
}

template <class T, std::size_t Nodes>
constexpr row_blocks<Nodes> cut_in_rows(const schedule<T, Nodes>& p, const step& one) {
  row_blocks<Nodes> blocks;
  const axis_list& axes = p.at(one.attention.weights).axes;
  blocks.query = one.attention.query;
  blocks.key = one.attention.key;
  for (std::size_t i = 0; i < axes.rank; ++i)
    if (axes.family[i] != blocks.query && axes.family[i] != blocks.key)
      blocks.outer.push(axes.family[i], axes.size[i], axes.stride[i]);
  blocks.queries = axes.size_of(blocks.query);
  blocks.keys = axes.size_of(blocks.key);
  place_in_slots(blocks, p, one);
  blocks.by_query = keys_are_adjacent(blocks, p, one);
  // Two to four vectors of queries, in 32 KB where that can be: 16, 32, 64 of 128 queries with as
  // many keys and 32 features take 1.09, 1.03 and 1.00 times as long as all of them.
  constexpr std::size_t lanes = plan::lanes<T>(plan::native_target);
  constexpr std::size_t vector = lanes < 8 ? 8 : lanes;
  const std::size_t fitting = 32768 / (blocks.slots * blocks.keys * sizeof(T)) / vector;
  blocks.rows = (fitting < 2 ? 2 : fitting < 4 ? fitting : 4) * vector;
  if (blocks.rows > blocks.queries) blocks.rows = blocks.queries;
  return blocks;
}

// A block of Rows queries as a run of its own.
template <class Run, std::size_t S, const auto& Blocks, std::size_t Rows>
struct block_run {
  using value_type = typename Run::value_type;
  using T = value_type;
  static constexpr step one = Run::value.steps[S];
  static constexpr auto value = [] {
    auto p = Run::value;
    for (int n = 0; n < p.g.count; ++n) {
      auto& node = p.g.nodes[n];
      for (std::size_t j = 0; j < node.operands; ++j) {
        operand& from = node.from[j];
        const bool in_block = Blocks.slot[from.node] != npos;
        from.axes = in_block ? Blocks.block(Rows) : Blocks.cut(from.axes, Rows);
      }
      bool in_part = false;
      for (std::size_t i = 0; i < one.parts; ++i)
        in_part = in_part || p.root[n] == p.steps[one.first_part + i].root;
      node.axes = in_part ? Blocks.block(Rows) : Blocks.cut(node.axes, Rows);
    }
    return p;
  }();

  Run run;
  T* blocks;
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
    return blocks + Blocks.slot[N] * Blocks.room();
  }
  template <int N>
  static constexpr axis_list axes_of() {
    return N == one.to ? Blocks.cut(Run::template axes_of<N>(), Rows) : value.at(N).axes;
  }
  template <int N, std::size_t J>
  UMBEL_INLINE constexpr auto begin() const noexcept {
    constexpr operand from = Run::value.at(N).from[J];
    if constexpr (Blocks.slot[from.node] != npos)
      return static_cast<const T*>(written<from.node>());
    else
      return run.template begin<N, J>() + offset(from.axes);
  }
  template <unsigned long long Family>
  UMBEL_INLINE constexpr std::size_t first_position() const noexcept {
    constexpr std::size_t at = Blocks.outer.position(Family);
    if constexpr (at != npos)
      return index[at];
    else
      return Family == Blocks.query ? first : 0;
  }

  template <bool Plain, std::size_t I>
  UMBEL_INLINE constexpr void take_part() const noexcept {
    constexpr step part = value.steps[one.first_part + I];
    T* const out = written<part.root>();
    if constexpr (part.kind == step_kind::product) {
      product_step<block_run, part.root, part.root, part.product>::template write<Plain>(*this,
                                                                                         out);
    } else if constexpr (part.kind == step_kind::each) {
      using each = each_step<block_run, part.root, part.root>;
      if (Plain || std::is_constant_evaluated())
        each::plainly(*this, out);
      else
        each::fast(*this, out);
    } else {
      constexpr kernel::softmax_shape shape = Blocks.by_query
                                                  ? kernel::softmax_shape{Rows, Blocks.keys, 1}
                                                  : kernel::softmax_shape{1, Blocks.keys, Rows};
      if (Plain || std::is_constant_evaluated())
        kernel::plain::softmax<shape>(begin<part.root, 0>(), out);
      else
        kernel::softmax<shape>(begin<part.root, 0>(), out);
    }
  }
  template <bool Plain, std::size_t... I>
  UMBEL_INLINE constexpr void take(std::index_sequence<I...>) const noexcept {
    (take_part<Plain, I>(), ...);
    product_step<block_run, one.root, one.to, one.product>::template write<Plain>(*this, to);
  }
};

template <class Run, std::size_t S>
struct row_step {
  using T = typename Run::value_type;
  static constexpr step one = Run::value.steps[S];
  static constexpr auto blocks = cut_in_rows(Run::value, one);
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
    block_run<Run, S, blocks, Rows> own{run, room, to, i % blocks.in_queries() * blocks.rows, {}};
    i /= blocks.in_queries();
    for (std::size_t axis = blocks.outer.rank; axis-- > 0; i /= blocks.outer.size[axis])
      own.index[axis] = i % blocks.outer.size[axis];
    own.to += own.offset(Run::template axes_of<one.to>());
    own.template take<Plain>(std::make_index_sequence<one.parts>{});
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
