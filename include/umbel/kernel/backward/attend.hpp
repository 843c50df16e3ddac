// SPDX-License-Identifier: BSL-1.0
// The gradients of one head of attention in SIMD, and the forward pass that keeps what they need.
// Method: attend_block.hpp. The same bits as plain::attend_backward on every target. It handles one
// head, without projections.
#pragma once

#include <cstddef>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/kernel/backward/attend_block.hpp>
#include <umbel/kernel/float/attend.hpp>
#include <umbel/kernel/float/row_walk.hpp>
#include <umbel/kernel/plain/attend_backward.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/kernel/tap.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/pack.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

namespace detail {

// A walk of attend_blocks that keeps the softmax's statistics.
template <class Policy, class T>
struct keeping {
  static constexpr bool of_few = !scores::drops<Policy>;
  const Policy& policy;
  softmax_tap<T> tap_of_few;

  template <attend_shape S, class, plan::target Target, std::size_t Vectors, class K, class Room>
  UMBEL_INLINE void attend_queries(const T* q, K k, const T* v, T factor, std::size_t first, T* o,
                                   T* scratch, Room here) const noexcept {
    const softmax_tap<T> tap{tap_of_few.maximum + first, tap_of_few.inverse + first};
    if constexpr (std::is_same_v<Policy, scores::every_key>)
      attend_block<S, T, Target, Vectors, true>::attend_queries(q, k, v, factor, S.keys, o, scratch,
                                                                here, tap);
    else
      scores_block<S, T, Target, Vectors, Policy>::attend_queries(q, k, v, factor, policy, first, o,
                                                                  scratch, here, tap);
  }
};

}  // namespace detail

// See plain::attend_kept. scratch: scratch_size elements without overlaps.
template <attend_shape S, class T, plan::target Target = plan::native_target>
struct attend_kept {
  static constexpr std::size_t scratch_size = attend_scratch<S, T, Target>;

  template <scores::policy Policy>
  UMBEL_INLINE static void run(const T* q, const T* k, const T* v, T scale, const Policy& policy,
                               T* o, T* maximum, T* inverse, T* scratch) noexcept {
    const detail::keeping<Policy, T> how{policy, {maximum, inverse}};
    detail::attend_blocks<S, T, Target>(q, k, v, exp2_factor(scale), how, o, scratch);
  }
};

// See plain::attend_backward. scratch: scratch_size elements without overlaps, in any state. Its
// size grows with keys and queries, not with pairs.
template <attend_backward_shape S, class T, plan::target Target = plan::native_target>
struct attend_backward {
  static constexpr std::size_t lanes = plan::lanes<T>(Target);
  static constexpr plan::split blocks = plan::plan_attend<T>(S.queries, S.keys, Target).queries;
  using room = detail::attend_backward_room<S, T, Target, blocks.large * lanes>;
  static constexpr std::size_t scratch_size =
      room::size + plan::divide_up(S.queries, lanes) * lanes;

  template <scores::policy Policy>
  static void run(const T* q, const T* k, const T* v, const T* o, const T* d_o, T scale,
                  const Policy& policy, const T* maximum, const T* inverse, T* dq, T* dk, T* dv,
                  T* dbias, T* scratch) noexcept {
    T* const minus_deltas = scratch + room::size;
    each_delta(o, d_o, [=](std::size_t i, T delta) { minus_deltas[i] = -delta; });
    if constexpr (!room::template writes<Policy>) room::start_sums(dk, dv, scratch);
    std::size_t first = 0;
    const auto block = [&]<std::size_t Vectors>() {
      using of_block = detail::attend_backward_block<S, T, Target, Vectors, room, Policy>;
      const std::size_t rest = S.queries - first;
      const of_block now{{policy, first, {rest < of_block::width ? rest : of_block::width, 0}},
                         q + first * S.q_row,
                         d_o + first * S.do_row,
                         k,
                         v,
                         scale,
                         dk,
                         dv,
                         dbias,
                         scratch};
      now.run(maximum + first, inverse + first, minus_deltas + first, dq + first * S.dq_row);
      first += of_block::width;
    };
    for (std::size_t b = 0; b < blocks.large_count; ++b) block.template operator()<blocks.large>();
    if constexpr (blocks.small_count > 0) {
      for (std::size_t b = 0; b < blocks.small_count; ++b)
        block.template operator()<blocks.smaller()>();
    }
    room::write_sums(scratch, dk, dv);
  }

  // See plain::attend_backward::gate.
  static T gate(const T* o, const T* d_o) noexcept {
    T sum{};
    each_delta(o, d_o, [&](std::size_t, T delta) { sum = sum + delta; });
    return sum;
  }

 private:
  // f(i, delta of query i), in order.
  template <class F>
  UMBEL_NOINLINE static void each_delta(const T* o, const T* d_o, const F& f) noexcept {
    using walk = detail::row_walk<S.value_dim, T, Target>;
    using V = typename walk::V;
    walk::template chain<S.queries, 1>(
        {V{}},
        [=](std::size_t i) UMBEL_LAMBDA_INLINE {
          return [a = d_o + i * S.do_row, b = o + i * S.o_row](std::size_t e, std::size_t count,
                                                               V(&sum)[1]) UMBEL_LAMBDA_INLINE {
            sum[0] = simd::fma(walk::load(a + e, count), walk::load(b + e, count), sum[0]);
          };
        },
        [&]<std::size_t Rows>(std::size_t first, V(&all)[1][Rows][walk::packs])
            UMBEL_LAMBDA_INLINE {
              T folded[walk::lanes];
              simd::store(folded, simd::fold_rows(all[0], walk::add));
              UMBEL_UNROLL(4)
              for (std::size_t r = 0; r < Rows; ++r) f(first + r, folded[r * walk::apart]);
            });
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
