// SPDX-License-Identifier: BSL-1.0
// The step `rows` (score_rows.hpp): for each position of the outer axes and each block of queries
// (row_blocks.hpp), its parts in turn, by their usual steps, on a schedule with a block's axes.
// Parts write to scratch; an elementwise part and a softmax may overwrite what they read last.
//
// If weights are zero outside of a range of keys, all after the last function along keys runs for
// chunks of keys, without those that no query of the block needs. The product adds for each query
// the keys of its range and no others, so that neither their values nor the sizes of blocks and
// chunks show in the result (decision 029). If the functions along keys have a range too, all
// before them runs for its chunks (decision 030).
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/key_ranges.hpp>
#include <umbel/formula/product.hpp>
#include <umbel/formula/reduce.hpp>
#include <umbel/formula/row_blocks.hpp>
#include <umbel/formula/score_rows.hpp>
#include <umbel/kernel/float/cumulative_sum.hpp>
#include <umbel/kernel/float/kth_largest.hpp>
#include <umbel/kernel/float/softmax.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

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
      for (std::size_t i = 0; i < this_step.before(); ++i)
        if (p.root[n] == p.steps[this_step.first_part + i].root) written_as = p.root[n];
      const std::size_t keys = node.axes.size_of(Blocks.key);
      if (written_as < 0)
        node.axes = Blocks.cut(node.axes, Rows, Keys);
      else if (Blocks.is_of_row(written_as) && node.axes.has(Blocks.key))
        node.axes = Blocks.block_of(keys, keys, Rows);  // a reduction's program
      else
        node.axes = Blocks.block(written_as, keys < Keys ? keys : Keys, Rows);
    }
    return p;
  }();

  Run run;
  T* scratch;
  std::size_t first;
  std::size_t index[Blocks.outer.rank + 1];  // of the outer axes
  std::size_t first_key = 0;
  kernel::some_positions needed{};  // keys, by functions along them
  // A single row is not adjacent to others.
  static constexpr bool ranged = Blocks.ranged && Rows != 1;

  // The keys, of `Extent`, that a function along them reads.
  template <std::size_t Extent>
  constexpr auto needed_of() const noexcept {
    if constexpr (ranged)
      return needed;
    else
      return kernel::every_position<Extent>{};
  }
  constexpr std::size_t offset(const axis_list& axes) const noexcept {
    std::size_t at = first * axes.stride_of(Blocks.query);
    if (axes.size_of(Blocks.key) != 1) at += first_key * axes.stride_of(Blocks.key);
    for (std::size_t i = 0; i < Blocks.outer.rank; ++i)
      at += index[i] * axes.stride_of(Blocks.outer.family[i]);
    return at;
  }
  template <int N>
  constexpr T* written() const noexcept {
    const std::size_t key = Blocks.keeps_chunk() || Blocks.is_of_row(N) ? 0 : first_key;
    return scratch + Blocks.begin(N, Rows) + key * Blocks.key_stride(Rows);
  }
  template <int N>
  static constexpr axis_list axes_of() {
    return Run::value.stored[N] ? Blocks.cut(Run::template axes_of<N>(), Rows, Keys)
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
    } else if constexpr (part.kind == step_kind::reduce) {
      using reduce = reduce_step<block_run, part.root>;
      reduce::template write<Plain>(*this, out, needed_of<reduce::width>());
    } else if constexpr (value.at(part.root).what == word::concat) {
      put_together<part.root>(out);
    } else if constexpr (value.at(part.root).what == word::reduce) {
      using operation = operation_of<value.at(part.root).reduces_by>;
      using walk = kernel::axes_walk<1>;
      constexpr axis_list from = value.at(part.root).from[0].axes;
      constexpr walk kept{1, {Rows}, {from.stride_of(Blocks.query)}};
      constexpr walk reduced{1, {from.size_of(Blocks.key)}, {from.stride_of(Blocks.key)}};
      if (Plain || __builtin_is_constant_evaluated())
        kernel::plain::reduce<operation, kept, reduced>(begin<part.root, 0>(), out);
      else
        kernel::reduce<operation, kept, reduced>(begin<part.root, 0>(), out,
                                                 needed_of<reduced.last_extent()>());
    } else {
      take_function<Plain, part.root>(begin<part.root, 0>(), out);
    }
  }
  // A softmax, or a call that the plan knows, of the rows of a block.
  template <bool Plain, int N>
  UMBEL_INLINE constexpr void take_function(const T* x, T* out) const noexcept {
    constexpr const node_of_graph<T>& node = value.at(N);
    constexpr std::size_t keys = value.at(node.from[0].node).axes.size_of(Blocks.key);
    constexpr kernel::softmax_shape shape = Blocks.by_query ? kernel::softmax_shape{Rows, keys, 1}
                                                            : kernel::softmax_shape{1, keys, Rows};
    constexpr bool exclusive = node.scan == scan_form::exclusive, from_last = node.from_last;
    if (Plain || __builtin_is_constant_evaluated()) {
      if constexpr (node.what == word::softmax)
        kernel::plain::softmax<shape>(x, out);
      else if constexpr (node.scan != scan_form::none)
        kernel::plain_cumulative_sum<shape, exclusive, from_last>(x, out);
      else
        kernel::plain_kth_largest<shape, node.kth>(x, out);
    } else {
      if constexpr (node.what == word::softmax)
        kernel::softmax<shape>(x, out, needed_of<keys>());
      else if constexpr (node.scan != scan_form::none)
        kernel::cumulative_sum<shape, exclusive, from_last>(x, out, needed_of<keys>());
      else
        kernel::kth_largest<shape, node.kth>(x, out, needed_of<keys>());
    }
  }
  // Parts from First on.
  template <bool Plain, std::size_t First, std::size_t... I>
  UMBEL_INLINE constexpr void take(std::index_sequence<I...>) const noexcept {
    (take_part<Plain, First + I>(), ...);
  }

  // Product I with the values: others with the same weights, then that of the step.
  template <std::size_t I>
  struct product {
    static constexpr step of = I == this_step.shared
                                   ? this_step
                                   : value.steps[this_step.first_part + this_step.before() + I];
    using context = product_step<block_run, of.root, of.to, of.product>;
    const block_run& block;

    constexpr T* to() const noexcept {
      return block.run.template written<of.to>() + block.offset(Run::template axes_of<of.to>());
    }
    template <bool Plain>
    constexpr void write() const noexcept {
      context::template write<Plain>(block, to());
    }
    // Its program, if it has one, after the sums of all chunks.
    template <bool Plain>
    constexpr void change() const noexcept {
      if constexpr (context::has_program) {
        if (Plain || __builtin_is_constant_evaluated())
          context::elementwise::plainly(block, to());
        else
          context::elementwise::fast(block, to());
      }
    }
    // Adds the keys of a chunk to the block's sums. further: there are sums of other chunks.
    template <bool Plain>
    constexpr void add(bool further) const noexcept {
      constexpr auto loops = context::contraction();
      const T* const x = block.template begin<of.product, 0>();
      const T* const y = block.template begin<of.product, 1>();
      if (Plain || __builtin_is_constant_evaluated())
        kernel::plain::contract_all<loops>(x, y, to(), further);
      else
        context::template contract_by<loops, true>(x, y, to(), further);
    }
    // Adds for Count queries from query i on so many keys from `key` on.
    template <bool Plain, std::size_t Count>
    constexpr void add_keys(std::size_t i, std::size_t key, std::size_t keys,
                            bool further) const noexcept {
      constexpr auto loops = context::contraction(Blocks.query, Count);
      constexpr const auto& operands = value.at(of.product).from;
      const auto place = [i, at = keys != 0 ? key - block.first_key : 0](const axis_list& axes) {
        return i * axes.stride_of(Blocks.query) + at * axes.stride_of(Blocks.key);
      };
      const T* const x = block.template begin<of.product, 0>() + place(operands[0].axes);
      const T* const y = block.template begin<of.product, 1>() + place(operands[1].axes);
      T* const out = to() + i * axes_of<of.to>().stride_of(Blocks.query);
      if (Plain || __builtin_is_constant_evaluated())
        kernel::plain::contract_all_some<loops>(x, y, out, keys, further);
      else
        kernel::contract_all_some<loops>(x, y, out, keys, further);
    }
    // Adds for each of `count` queries the keys of its range that are in from..end.
    template <bool Plain, class Ranges>
    constexpr void add_rows(const Ranges& ranges, std::size_t i, std::size_t count,
                            std::size_t from, std::size_t end, bool further) const noexcept {
      for (const std::size_t last = i + count; i < last; ++i) {
        const kernel::scores::key_range seen = ranges.range(block.first + i, 1, end);
        const std::size_t key = seen.begin > from ? seen.begin : from;
        const std::size_t keys = seen.end > key ? seen.end - key : 0;
        if (keys != 0 || !further) add_keys<Plain, 1>(i, key, keys, further);
      }
    }
    // The same for all. Neighbors add the keys that all of them see together.
    template <bool Plain, class Ranges>
    constexpr void add_some(const Ranges& ranges, std::size_t from, std::size_t end,
                            bool further) const noexcept {
      std::size_t i = 0;
      constexpr std::size_t neighbors = 8;
      if constexpr (!Plain && !UMBEL_SMALL_CODE && Rows >= neighbors)
        if (!__builtin_is_constant_evaluated())
          for (; i + neighbors <= Rows; i += neighbors) {
            const kernel::scores::key_range seen = ranges.range(block.first + i, neighbors, end);
            const std::size_t first = seen.full_begin > from ? seen.full_begin : from;
            const std::size_t last = seen.full_end;
            if (last <= first) {
              add_rows<Plain>(ranges, i, neighbors, from, end, further);
              continue;
            }
            const bool has_earlier = from < first && first > seen.begin;
            if (has_earlier) add_rows<Plain>(ranges, i, neighbors, from, first, further);
            add_keys<Plain, neighbors>(i, first, last - first, further || has_earlier);
            add_rows<Plain>(ranges, i, neighbors, last, end, true);
          }
      add_rows<Plain>(ranges, i, Rows - i, from, end, further);
    }
  };
  // f(product) for each.
  template <class F, std::size_t... I>
  UMBEL_INLINE constexpr void for_products(F f, std::index_sequence<I...>) const noexcept {
    (f(product<I>{*this}), ...);
  }
  template <class F>
  UMBEL_INLINE constexpr void for_products(F f) const noexcept {
    for_products(f, std::make_index_sequence<this_step.shared + 1>{});
  }
};

// For key_ranges, as attention_of: of the weights, or of all that a block needs. The weights have
// the positions of scores.
template <class Run, std::size_t S, const auto& Blocks, bool All = false>
struct weights_of_rows {
  static constexpr attention_parts parts = [] {
    attention_parts found = Run::value.steps[S].attention;
    found.scores = found.weights;
    return found;
  }();
  static constexpr auto form = All ? keys_of_block(Run::value, Run::value.steps[S])
                                   : read_weights(Run::value, Run::value.steps[S].product, parts);
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
  static constexpr std::size_t scratch = blocks.scratch();
  static constexpr std::size_t count = blocks.count();
  using of = weights_of_rows<Run, S, blocks>;
  using of_block = weights_of_rows<Run, S, blocks, true>;

  // Piece i of `count`.
  template <bool Plain>
  UMBEL_INLINE static constexpr void take(const Run& run, T* room, std::size_t i) noexcept {
    const std::size_t first = i % blocks.in_queries();
    if constexpr (blocks.last() != blocks.rows) {
      if (first + 1 == blocks.in_queries()) return block<Plain, blocks.last()>(run, room, i);
    }
    block<Plain, blocks.rows>(run, room, i);
  }

 private:
  template <bool Plain, std::size_t Rows>
  static constexpr void block(const Run& run, T* room, std::size_t i) noexcept {
    block_run<Run, S, blocks, Rows> rows_run{run, room, i % blocks.in_queries() * blocks.rows, {}};
    i /= blocks.in_queries();
    for (std::size_t axis = blocks.outer.rank; axis-- > 0; i /= blocks.outer.size[axis])
      rows_run.index[axis] = i % blocks.outer.size[axis];
    if constexpr (blocks.chunk != 0) {
      chunks<Plain, Rows>(rows_run);
    } else {
      rows_run.template take<Plain, 0>(std::make_index_sequence<this_step.before()>{});
      rows_run.for_products([](auto product) { product.template write<Plain>(); });
    }
  }
  // Parts from I on that functions along keys need, or are.
  template <bool Plain, std::size_t I, class Block, class Chunk>
  static constexpr void prepare(const Block& block, Chunk& part) noexcept {
    if constexpr (I < blocks.whole) {
      constexpr std::size_t end = blocks.end_of_chunked(I, blocks.whole);
      if constexpr (end == I) {
        block.template take<Plain, I>(std::index_sequence<0>{});
      } else {
        for (std::size_t key = block.needed.begin; key < block.needed.end; key += blocks.chunk) {
          part.first_key = blocks.first_key(key, of::keys);
          part.template take<Plain, I>(std::make_index_sequence<end - I>{});
        }
      }
      prepare<Plain, end == I ? I + 1 : end>(block, part);
    }
  }
  template <bool Plain, std::size_t Rows, class Block>
  static constexpr void chunks(Block& block) noexcept {
    using chunk_run = block_run<Run, S, blocks, Rows, blocks.chunk>;
    chunk_run part{block.run, block.scratch, block.first, {}, 0};
    for (std::size_t axis = 0; axis < blocks.outer.rank; ++axis)
      part.index[axis] = block.index[axis];
    // Plainly all, which proves that the others are neutral.
    block.needed = {0, of::keys};
    if constexpr (Block::ranged && !Plain)
      if (!__builtin_is_constant_evaluated()) {
        const kernel::scores::key_range all =
            key_ranges<Run, of_block>{block.run, block.index}.with().range(block.first, Rows,
                                                                           of::keys);
        block.needed = blocks.in_chunks(all.begin, all.end, of::keys);
      }
    prepare<Plain, 0>(block, part);
    const auto ranges = key_ranges<Run, of>{part.run, part.index}.with();
    const kernel::scores::key_range seen = ranges.range(part.first, Rows, of::keys);
    bool further = false;
    for (std::size_t key = seen.begin / blocks.chunk * blocks.chunk; key < seen.end || !further;
         key += blocks.chunk) {
      const std::size_t left = of::keys - key;
      const std::size_t count = left < blocks.chunk ? left : blocks.chunk;
      part.first_key = blocks.first_key(key, of::keys);
      if (key < seen.end)
        part.template take<Plain, blocks.whole>(
            std::make_index_sequence<this_step.before() - blocks.whole>{});
      const bool is_full =
          count == blocks.chunk && seen.full_begin <= key && key + count <= seen.full_end;
      part.for_products([&](auto product) {
        if (is_full)
          product.template add<Plain>(further);
        else
          product.template add_some<Plain>(ranges, key, key + count, further);
      });
      further = true;
    }
    part.for_products([](auto product) { product.template change<Plain>(); });
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
