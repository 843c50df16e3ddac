// SPDX-License-Identifier: BSL-1.0
// The forward pass of multi-head attention by several workers (layer/executor.hpp): whole sequences
// in parallel, or one sequence in three rounds of parts: blocks of rows of the three projections,
// heads, blocks of rows of the last projection. One worker computes each element as in forward.hpp,
// so the bits are the same for any number of workers.
#pragma once

#include <umbel/attention/forward.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/executor.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// Splits Rows into at most Blocks blocks of 4 or more rows, which share weights; at most two sizes.
template <std::size_t Rows, std::size_t Blocks>
struct row_blocks {
  static constexpr std::size_t wanted = round_up(plan::divide_up(Rows, Blocks), 4);
  static constexpr std::size_t rows = wanted < Rows ? wanted : Rows;
  static constexpr std::size_t count = plan::divide_up(Rows, rows);
  static constexpr std::size_t last = Rows - (count - 1) * rows;

  // Calls f(rows, first row) for block `index`; rows: an integral_constant.
  template <class F>
  static void with_block(std::size_t index, F f) noexcept {
    if constexpr (last != rows) {
      if (index + 1 == count) return f(std::integral_constant<std::size_t, last>{}, index * rows);
    }
    f(std::integral_constant<std::size_t, rows>{}, index * rows);
  }
};

template <class T, kernel::linear_shape S, std::size_t Blocks>
struct linear_blocks : row_blocks<S.rows, Blocks> {
  template <std::size_t Rows>
  static constexpr kernel::linear_shape with_rows = [] {
    kernel::linear_shape shape = S;
    shape.rows = Rows;
    return shape;
  }();

  // Block `index` of y = map(x); then calls then(rows, y, first row) on the result.
  template <class Map, class Then>
  static void project_block(const Map& map, const T* x, T* y, std::size_t index,
                            Then then) noexcept {
    linear_blocks::with_block(
        index,
        [&]<std::size_t Rows>(std::integral_constant<std::size_t, Rows> size, std::size_t first) {
          project<with_rows<Rows>>(map, x + first * S.x_row, y + first * S.y_row);
          then(size, y + first * S.y_row, first);
        });
  }
};

// Steps: a multi_head_forward.
template <class Steps, std::size_t Workers>
struct forward_in_parts;
template <class T, head_sizes S, class Prepare, class Scoring, std::size_t Queries,
          std::size_t Keys, std::size_t Workers>
struct forward_in_parts<multi_head_forward<T, S, Prepare, Scoring, Queries, Keys>, Workers> {
  using steps = multi_head_forward<T, S, Prepare, Scoring, Queries, Keys>;
  // Blocks of rows of one map: more than workers, so that a late worker delays the others less.
  static constexpr std::size_t blocks = 4 * Workers;

  template <std::size_t Rows, std::size_t In, std::size_t Out, std::size_t Row, bool Bias,
            sequence_strides From>
  using blocks_in =
      linear_blocks<T, steps::template project_in<Rows, In, Out, Row, Bias, From>, blocks>;

  // One sequence. Its queries, keys, values and context are in the workspace of worker 0; the
  // others provide scratch. For the arguments see multi_head_forward::forward.
  template <sequence_strides X, sequence_strides Y, sequence_strides Z, sequence_strides Out,
            class Weights, class Mask, class Given>
  static void forward(const Weights& w, const T* x, const T* y, const T* z, const Mask& mask,
                      T* out, const Given& given) noexcept {
    using to_queries = blocks_in<Queries, S.hidden, S.query_width(), steps::query_row, S.q_bias, X>;
    using to_keys = blocks_in<Keys, S.key_hidden, S.key_width(), steps::key_row, S.k_bias, Y>;
    using to_values =
        blocks_in<Keys, S.value_hidden, S.value_width(), steps::value_row, S.v_bias, Z>;
    using to_result = linear_blocks<T, steps::template project_out<Out>, blocks>;
    using attention = heads_of_sequence<steps::head, steps::all_heads, T, Scoring>;
    auto& work = given.work[0];
    const auto prepare_queries = [&]<std::size_t Rows>(std::integral_constant<std::size_t, Rows>,
                                                       T* rows, std::size_t first) {
      Prepare::template queries<Rows, S.heads, S.head_dim, steps::query_row, Queries>(w, rows,
                                                                                      first);
    };
    const auto prepare_keys = [&]<std::size_t Rows>(std::integral_constant<std::size_t, Rows>,
                                                    T* rows, std::size_t first) {
      Prepare::template keys<Rows, S.kv_heads, S.head_dim, steps::key_row, Keys>(w, rows, first);
    };

    given.hand_out(to_queries::count + to_keys::count + to_values::count,
                   [&](std::size_t index, std::size_t) noexcept {
                     if (index < to_queries::count)
                       return to_queries::project_block(w.q, x, work.q, index, prepare_queries);
                     index -= to_queries::count;
                     if (index < to_keys::count)
                       return to_keys::project_block(w.k, y, work.k, index, prepare_keys);
                     to_values::project_block(w.v, z, work.v, index - to_keys::count,
                                              then_nothing{});
                   });
    if constexpr (attention::template together<Mask>) {
      attention::attend(work.q, work.k, work.v, work.context, work.scratch, mask);
    } else {
      given.hand_out(S.heads, [&](std::size_t head, std::size_t worker) noexcept {
        attend_head<Scoring>(
            attention::head(head, work.q, work.k, work.v, work.context, given.work[worker].scratch),
            mask(head));
      });
    }
    given.hand_out(to_result::count, [&](std::size_t index, std::size_t) noexcept {
      to_result::project_block(w.o, work.context, out, index, then_nothing{});
    });
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
