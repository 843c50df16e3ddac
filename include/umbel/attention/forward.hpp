// SPDX-License-Identifier: BSL-1.0
// The forward pass of multi-head attention over one sequence, on plain numbers, in a workspace
// whose layout is fixed by the sizes. See multi_head.hpp for axes, verdicts and batches.
#pragma once

#include <umbel/attention/attend_heads.hpp>
#include <umbel/attention/prepared_heads.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/weights.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// The sizes of a layer. heads / kv_heads query heads share each head of keys and values; head_dim
// is the width of a query and a key, value_dim of a value.
struct head_sizes {
  std::size_t hidden, key_hidden, value_hidden, output;
  std::size_t heads, kv_heads, head_dim, value_dim;
  bool q_bias, k_bias, v_bias, o_bias;

  constexpr std::size_t query_width() const { return heads * head_dim; }
  constexpr std::size_t key_width() const { return kv_heads * head_dim; }
  constexpr std::size_t value_width() const { return kv_heads * value_dim; }
  constexpr std::size_t context_width() const { return heads * value_dim; }
  // For the projections, and for all heads if `pairs` of a query and a key are seen.
  constexpr std::uint64_t flops(std::uint64_t queries, std::uint64_t keys,
                                std::uint64_t pairs) const {
    using kernel::product_flops;
    return product_flops(queries, hidden, query_width()) +
           product_flops(keys, key_hidden, key_width()) +
           product_flops(keys, value_hidden, value_width()) +
           product_flops(pairs, query_width() + context_width(), 1) +
           product_flops(queries, context_width(), output);
  }
  friend constexpr bool operator==(const head_sizes&, const head_sizes&) = default;
};

// The strides of a batch of sequences: elements from one sequence, position or feature to the next.
struct sequence_strides {
  std::size_t batch, position, feature;
};

template <class Layout, class Position, class Hidden>
inline constexpr sequence_strides strides_along = {Layout::template stride_of<rules::batch_family>,
                                                   Layout::template stride_of<Position>,
                                                   Layout::template stride_of<Hidden>};

constexpr std::size_t round_up(std::size_t value, std::size_t step) noexcept {
  return (value + step - 1) / step * step;
}

// The layout of the context of all heads in scratch: (feature, query), as it leaves the registers,
// or (query, feature) if there are too few queries to fill most lanes.
struct context_strides {
  std::size_t query, feature, room, size;  // room: queries that a feature has memory for
};
constexpr context_strides place_context(std::size_t queries, std::size_t width,
                                        std::size_t lanes) noexcept {
  const std::size_t room = round_up(queries, lanes), row = round_up(width, lanes);
  if (queries * 2 <= lanes) return {row, 1, queries, queries * row};
  return {1, room, room, width * room};
}

// f(rows, first row) for blocks of the first `count` of Rows rows; rows: an integral_constant. The
// last block may have up to 3 rows more. In constant expressions row by row: rows from count on may
// depend on memory without numbers. first: where to begin, a multiple of 16, or of 4 if count is at
// most Rows / 4 * 4.
template <std::size_t Rows, class F>
constexpr void each_first_rows(std::size_t count, const F& f, std::size_t first = 0) noexcept {
  const auto block_if = [&]<std::size_t Size>(std::integral_constant<std::size_t, Size> size,
                                              bool fits) {
    if constexpr (Size != 0 && Size <= Rows) {
      if (fits) f(size, first), first += Size;
    }
  };
  // Ends at `count` or after it, if that many rows exist.
  const auto last = [&]<std::size_t Size>(std::integral_constant<std::size_t, Size> size) {
    block_if(size, first < count && count <= first + Size && first + Size <= Rows);
  };
  if (__builtin_is_constant_evaluated()) {
    while (first < count) block_if(std::integral_constant<std::size_t, 1>{}, true);
  } else {
    while (first + 16 <= count) block_if(std::integral_constant<std::size_t, 16>{}, true);
    last(std::integral_constant<std::size_t, 4>{});
    last(std::integral_constant<std::size_t, 8>{});
    last(std::integral_constant<std::size_t, 12>{});
    last(std::integral_constant<std::size_t, 16>{});
    last(std::integral_constant<std::size_t, Rows % 16>{});
  }
}

struct then_nothing {
  template <class Size, class T>
  constexpr void operator()(Size, T*, std::size_t) const noexcept {}
};
// y = map(x) for a block of the rows of S, called as f(rows, first row); then(rows, y, first row).
template <kernel::linear_shape S, class Map, class T, class Then>
struct project_block {
  const Map& map;
  const T* x;
  T* y;
  Then then;
  template <std::size_t Rows>
  constexpr void operator()(std::integral_constant<std::size_t, Rows> size,
                            std::size_t first) const noexcept {
    constexpr kernel::linear_shape some = [] {
      kernel::linear_shape shape = S;
      shape.rows = Rows;
      return shape;
    }();
    project<some>(map, x + first * S.x_row, y + first * S.y_row);
    then(size, y + first * S.y_row, first);
  }
};
template <kernel::linear_shape S, class Map, class T, class Then = then_nothing>
constexpr project_block<S, Map, T, Then> blocks_through(const Map& map, const T* x, T* y,
                                                        const Then& then = {}) noexcept {
  return {map, x, y, then};
}

// Zeros for the rows of each sequence from rows(sequence) on.
template <std::size_t Sequences, std::size_t Rows, std::size_t Width, sequence_strides Y,
          class Count, class T>
constexpr void clear_rest(T* y, const Count& rows) noexcept {
  for (std::size_t b = 0; b < Sequences; ++b)
    for (std::size_t i = rows(b); i < Rows; ++i)
      for (std::size_t j = 0; j < Width; ++j) y[b * Y.batch + i * Y.position + j * Y.feature] = T{};
}
template <std::size_t Rows, std::size_t Width>
inline constexpr sequence_strides adjacent_rows = {Rows * Width, Width, 1};

// Prepare: prepared_heads. Scoring: scale, softcap, rows without keys.
template <class T, head_sizes S, class Prepare, class Scoring, std::size_t Queries,
          std::size_t Keys>
struct multi_head_forward {
  static constexpr std::size_t lanes = plan::lanes<T>(plan::native_target);
  static constexpr std::size_t query_row = round_up(S.query_width(), lanes);
  static constexpr std::size_t key_row = round_up(S.key_width(), lanes);
  static constexpr std::size_t value_row = round_up(S.value_width(), lanes);
  static constexpr context_strides of_context = place_context(Queries, S.context_width(), lanes);
  static constexpr kernel::attend_shape head = {.queries = Queries,
                                                .keys = Keys,
                                                .head_dim = S.head_dim,
                                                .value_dim = S.value_dim,
                                                .q_row = query_row,
                                                .q_dim = 1,
                                                .k_row = key_row,
                                                .k_dim = 1,
                                                .v_row = value_row,
                                                .v_dim = 1,
                                                .o_row = of_context.query,
                                                .o_dim = of_context.feature,
                                                .o_room = of_context.room};
  static constexpr kernel::heads_shape all_heads = {.heads = S.heads,
                                                    .share = S.heads / S.kv_heads,
                                                    .q_head = S.head_dim,
                                                    .k_head = S.head_dim,
                                                    .v_head = S.value_dim,
                                                    .o_head = S.value_dim * of_context.feature};

  static constexpr std::size_t tables =
      Prepare::template table_bytes<T, Queries, S.head_dim> +
      (Keys == Queries ? 0 : Prepare::template table_bytes<T, Keys, S.head_dim>);

  struct workspace : workspace_base {
    using positions = std::index_sequence<Queries, Keys>;
    alignas(64) T q[Queries * query_row];
    alignas(64) T k[Keys * key_row];
    alignas(64) T v[Keys * value_row];
    alignas(64) T context[of_context.size];
    alignas(64) T scratch[kernel::attend_scratch<head, T>];
  };

  template <std::size_t Rows, std::size_t In, std::size_t Out, std::size_t Row, bool Bias,
            sequence_strides From>
  static constexpr kernel::linear_shape project_in = {Rows,         In,  Out, From.position,
                                                      From.feature, Row, 1,   Bias};
  template <sequence_strides To>
  static constexpr kernel::linear_shape project_out = {
      Queries,     S.context_width(), S.output, of_context.query, of_context.feature,
      To.position, To.feature,        S.o_bias};

  // Can it leave out rows? The mean of all values needs them.
  static constexpr bool by_rows = !std::is_same_v<typename Scoring::empty, uniform_weights>;

  // mask: a sequence_mask (mask/base.hpp).
  template <sequence_strides X, sequence_strides Y, sequence_strides Z, sequence_strides Out,
            class Weights, class Mask>
  static constexpr void forward(const Weights& w, const T* x, const T* y, const T* z,
                                const Mask& mask, T* out, workspace& work) noexcept {
    project<project_in<Queries, S.hidden, S.query_width(), query_row, S.q_bias, X>>(w.q, x, work.q);
    project<project_in<Keys, S.key_hidden, S.key_width(), key_row, S.k_bias, Y>>(w.k, y, work.k);
    project<project_in<Keys, S.value_hidden, S.value_width(), value_row, S.v_bias, Z>>(w.v, z,
                                                                                       work.v);
    Prepare::template queries<Queries, S.heads, S.head_dim, query_row>(w, work.q);
    Prepare::template keys<Keys, S.kv_heads, S.head_dim, key_row>(w, work.k);
    heads_of_sequence<head, all_heads, T, Scoring>::attend(work.q, work.k, work.v, work.context,
                                                           work.scratch, mask);
    project<project_out<Out>>(w.o, work.context, out);
  }

  // The same for the first rows of each. Of the rows after them, out has at most 3, of any numbers.
  template <sequence_strides X, sequence_strides Y, sequence_strides Z, sequence_strides Out,
            class Weights, class Mask>
  static constexpr void forward(const Weights& w, const T* x, const T* y, const T* z,
                                const Mask& mask, T* out, workspace& work,
                                const first_rows& rows) noexcept {
    each_first_rows<Queries>(rows.queries, to_queries<X>(w, x, work, prepare_queries(w)));
    each_first_rows<Keys>(rows.keys, to_keys<Y>(w, y, work, prepare_keys(w)));
    each_first_rows<Keys>(rows.keys, to_values<Z>(w, z, work));
    clear_after(rows.queries, work);
    attention::attend_first(work.q, work.k, work.v, work.context, work.scratch, mask, rows.queries);
    each_first_rows<Queries>(rows.queries, to_result<Out>(w, work, out));
  }

  // The blocks of rows of a projection; then: the next step on each block.
  using attention = heads_of_sequence<head, all_heads, T, Scoring>;
  template <sequence_strides X, class Weights, class Then>
  static constexpr auto to_queries(const Weights& w, const T* x, workspace& work,
                                   const Then& then) noexcept {
    return blocks_through<project_in<Queries, S.hidden, S.query_width(), query_row, S.q_bias, X>>(
        w.q, x, work.q, then);
  }
  template <sequence_strides Y, class Weights, class Then>
  static constexpr auto to_keys(const Weights& w, const T* y, workspace& work,
                                const Then& then) noexcept {
    return blocks_through<project_in<Keys, S.key_hidden, S.key_width(), key_row, S.k_bias, Y>>(
        w.k, y, work.k, then);
  }
  template <sequence_strides Z, class Weights>
  static constexpr auto to_values(const Weights& w, const T* z, workspace& work) noexcept {
    return blocks_through<
        project_in<Keys, S.value_hidden, S.value_width(), value_row, S.v_bias, Z>>(w.v, z, work.v);
  }
  template <sequence_strides Out, class Weights>
  static constexpr auto to_result(const Weights& w, const workspace& work, T* out) noexcept {
    return blocks_through<project_out<Out>>(w.o, static_cast<const T*>(work.context), out);
  }
  template <class Weights>
  static constexpr auto prepare_queries(const Weights& w) noexcept {
    return
        [&w]<std::size_t Rows>(std::integral_constant<std::size_t, Rows>, T* q, std::size_t first) {
          Prepare::template queries<Rows, S.heads, S.head_dim, query_row, Queries>(w, q, first);
        };
  }
  template <class Weights>
  static constexpr auto prepare_keys(const Weights& w) noexcept {
    return
        [&w]<std::size_t Rows>(std::integral_constant<std::size_t, Rows>, T* k, std::size_t first) {
          Prepare::template keys<Rows, S.kv_heads, S.head_dim, key_row, Keys>(w, k, first);
        };
  }
  // Some queries that are left out, and their context, are read: ordinary numbers raise nothing.
  static constexpr void clear_after(std::size_t queries, workspace& work) noexcept {
    for (std::size_t i = queries; i < Queries && i < queries + 8; ++i) {
      for (std::size_t j = 0; j < S.query_width(); ++j) work.q[i * query_row + j] = T{};
      for (std::size_t j = 0; j < S.context_width(); ++j)
        work.context[i * of_context.query + j * of_context.feature] = T{};
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
