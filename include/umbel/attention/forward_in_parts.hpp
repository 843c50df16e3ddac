// SPDX-License-Identifier: BSL-1.0
// The forward pass of multi-head attention by several workers (layer/executor.hpp): whole sequences
// in parallel, or one sequence in three rounds of parts: blocks of rows of the three projections,
// heads, blocks of rows of the last projection. One worker computes each element as in forward.hpp,
// so the bits are the same for any number of workers.
#pragma once

#include <umbel/attention/forward.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/executor.hpp>
#include <umbel/layer/workspace_rules.hpp>

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
  static void with_block(std::size_t index, const F& f) noexcept {
    if constexpr (last != rows) {
      if (index + 1 == count) return f(std::integral_constant<std::size_t, last>{}, index * rows);
    }
    f(std::integral_constant<std::size_t, rows>{}, index * rows);
  }
};

// The same for the first `present` rows, known at run time.
template <std::size_t Rows, std::size_t Blocks>
struct first_row_blocks {
  // Blocks after the first begin where each_first_rows can begin.
  static constexpr std::size_t any_row = Rows / 4 * 4;
  std::size_t present;
  std::size_t rows = round_up(plan::divide_up(present, Blocks), present > any_row ? 16 : 4);
  std::size_t count = present == 0 ? 0 : plan::divide_up(present, rows);

  template <class F>
  void with_block(std::size_t index, const F& f) const noexcept {
    const std::size_t end = (index + 1) * rows;
    each_first_rows<Rows>(present < end ? present : end, f, index * rows);
  }
};
template <std::size_t Rows, std::size_t Blocks>
constexpr row_blocks<Rows, Blocks> blocks_of(every_row) noexcept {
  return {};
}
template <std::size_t Rows, std::size_t Blocks>
constexpr first_row_blocks<Rows, Blocks> blocks_of(std::size_t present) noexcept {
  return {present};
}

// Steps: a multi_head_forward.
template <class Steps, std::size_t Workers>
struct forward_in_parts;
template <class T, head_sizes S, class Prepare, class Scoring, std::size_t Queries,
          std::size_t Keys, std::size_t Workers>
struct forward_in_parts<multi_head_forward<T, S, Prepare, Scoring, Queries, Keys>, Workers> {
  using steps = multi_head_forward<T, S, Prepare, Scoring, Queries, Keys>;
  using attention = typename steps::attention;
  // Blocks of rows of one map: more than workers, so that a late worker delays the others less.
  static constexpr std::size_t blocks = 4 * Workers;

  // One sequence. Its queries, keys, values and context are in the workspace of worker 0; the
  // others provide scratch. rows: all_rows or first_rows. For the other arguments see
  // multi_head_forward::forward.
  template <sequence_strides X, sequence_strides Y, sequence_strides Z, sequence_strides Out,
            class Weights, class Mask, class Given, class Rows>
  static void forward(const Weights& w, const T* x, const T* y, const T* z, const Mask& mask,
                      T* out, const Given& given, const Rows& rows) noexcept {
    constexpr bool all = std::is_same_v<Rows, all_rows>;
    auto& work = given.work[0];
    const auto of_queries = blocks_of<Queries, blocks>(rows.queries);
    const auto of_keys = blocks_of<Keys, blocks>(rows.keys);
    const auto to_queries = steps::template to_queries<X>(w, x, work, steps::prepare_queries(w));
    const auto to_keys = steps::template to_keys<Y>(w, y, work, steps::prepare_keys(w));
    const auto to_values = steps::template to_values<Z>(w, z, work);
    const auto to_result = steps::template to_result<Out>(w, work, out);

    given.hand_out(of_queries.count + 2 * of_keys.count,
                   [&](std::size_t index, std::size_t) noexcept {
                     if (index < of_queries.count) return of_queries.with_block(index, to_queries);
                     index -= of_queries.count;
                     if (index < of_keys.count) return of_keys.with_block(index, to_keys);
                     of_keys.with_block(index - of_keys.count, to_values);
                   });
    if constexpr (!all) steps::clear_after(rows.queries, work);
    if constexpr (all && attention::template together<Mask>) {
      attention::attend(work.q, work.k, work.v, work.context, work.scratch, mask);
    } else {
      given.hand_out(S.heads, [&](std::size_t head, std::size_t worker) noexcept {
        attend_head<Scoring>(attention::first_of_head(rows.queries, head, work.q, work.k, work.v,
                                                      work.context, given.work[worker].scratch),
                             mask(head));
      });
    }
    given.hand_out(of_queries.count, [&](std::size_t index, std::size_t) noexcept {
      of_queries.with_block(index, to_result);
    });
  }
};

// The order of the sequences of a batch: first those that all workers compute together, then those
// for one worker each, the longest first. Together: sequences that don't divide evenly, and
// those with over 5/4 of a worker's share of the rows, which would leave the others without work;
// below that, waiting for each other costs more. rows(sequence): first_rows.
template <std::size_t Count, std::size_t Workers>
struct sequences_by_rows {
  std::uint16_t order[Count];
  std::size_t together = 0, present = 0;  // before these: in parts; from here on: without rows

  template <class Rows>
  constexpr explicit sequences_by_rows(const Rows& rows) noexcept {
    std::size_t rest = 0;
    for (std::size_t b = 0; b < Count; ++b) {
      const std::size_t size = rows_of(rows(b));
      std::size_t at = b;
      for (; at > 0 && rows_of(rows(order[at - 1])) < size; --at) order[at] = order[at - 1];
      order[at] = static_cast<std::uint16_t>(b);
      rest += size;
      if (size > 0) ++present;
    }
    for (; together < present; ++together) {
      const std::size_t size = rows_of(rows(order[together]));
      if ((present - together) % Workers == 0 && size * Workers * 4 <= rest * 5) break;
      rest -= size;
    }
  }

 private:
  static constexpr std::size_t rows_of(const first_rows& rows) noexcept {
    return rows.queries == 0 ? 0 : rows.queries + rows.keys;
  }
};

// Calls whole(b, workspace) for each of Count sequences; with several workers, for as many as
// divide evenly, and in_parts(b, work) for the others. rows(b): all_rows or first_rows of one;
// sequences without rows are left out. Work: a workspace or parallel().
template <std::size_t Count, class Work, class Rows, class Whole, class InParts>
constexpr void each_sequence(Work& work, const Rows& rows, const Whole& whole,
                             const InParts& in_parts) noexcept {
  constexpr bool all = std::is_same_v<decltype(rows(0)), all_rows>;
  if constexpr (!rules::is_for_workers<Work>) {
    for (std::size_t b = 0; b < Count; ++b) {
      if constexpr (!all)
        if (rows(b).queries == 0) continue;
      whole(b, work);
    }
  } else if constexpr (all) {
    constexpr std::size_t evenly = Count / Work::workers * Work::workers;
    if constexpr (evenly > 0)
      work.hand_out(
          evenly, [&](std::size_t b, std::size_t worker) noexcept { whole(b, work.work[worker]); });
    if constexpr (evenly < Count)
      for (std::size_t b = evenly; b < Count; ++b) in_parts(b, work);
  } else if constexpr (Count > 256) {
    // So many that the order hardly matters.
    work.hand_out(Count, [&](std::size_t b, std::size_t worker) noexcept {
      if (rows(b).queries > 0) whole(b, work.work[worker]);
    });
  } else {
    const sequences_by_rows<Count, Work::workers> by_rows(rows);
    for (std::size_t i = 0; i < by_rows.together; ++i) in_parts(by_rows.order[i], work);
    if (by_rows.present > by_rows.together)
      work.hand_out(by_rows.present - by_rows.together,
                    [&](std::size_t i, std::size_t worker) noexcept {
                      whole(by_rows.order[by_rows.together + i], work.work[worker]);
                    });
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
