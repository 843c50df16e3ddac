// SPDX-License-Identifier: BSL-1.0
// One head of attention in SIMD: attend, and tap_scores. Method: attend_block.hpp; masks and score
// changes: attend_scores.hpp; taps of scores and probabilities: attend_tap.hpp. It handles one
// head, without projections.
#pragma once

#include <cstddef>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/kernel/float/attend_block.hpp>
#include <umbel/kernel/float/attend_few.hpp>
#include <umbel/kernel/float/attend_scores.hpp>
#include <umbel/kernel/float/attend_tap.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/kernel/scaled_rows.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/kernel/tap.hpp>
#include <umbel/plan/plan.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

namespace detail {

// Walks over blocks of queries. How: keys_known, keys_counted or by_policy.
struct keys_known {
  static constexpr bool of_few = true;  // also by attend_few, with this tap
  static constexpr no_tap tap_of_few{};
  static constexpr scores::every_key policy{};
};
struct keys_counted {
  scores::first_keys policy;
  static constexpr bool of_few = true;
  static constexpr no_tap tap_of_few{};
};
// A scores policy, with a tap; with TapOnly, only that tap of scores is computed.
template <class Policy, class Tap, bool TapOnly = false>
struct by_policy {
  const Policy& policy;
  UMBEL_NO_UNIQUE_ADDRESS Tap tap;
  static constexpr no_tap tap_of_few{};
  static constexpr bool of_few = !TapOnly && !scores::drops<Policy> && std::is_same_v<Tap, no_tap>;

  template <attend_shape S, class T, plan::target Target, std::size_t Vectors, class K, class Y,
            class Room>
  UMBEL_INLINE void attend_queries(const T* q, K k, Y v, T factor, std::size_t first, T* o,
                                   T* scratch, Room here) const noexcept {
    if constexpr (TapOnly) {
      tap_block<S, T, Target, Vectors, Policy, Tap>::tap_queries(q, k, factor, policy, first,
                                                                 scratch, here, tap);
    } else {
      scores_block<S, T, Target, Vectors, Policy>::attend_queries(q, k, v, factor, policy, first, o,
                                                                  scratch, here, tap);
    }
  }
};

// The number of queries after the blocks that are computed alone.
template <attend_shape S, class T, plan::target Target, class K = const T*, class How = keys_known>
inline constexpr std::size_t queries_alone =
    (stored_rows<K> && How::of_few && keys_fit_lanes(S))
        ? plan::queries_alone<T>(S.queries, S.keys, S.head_dim, S.value_dim, Target)
        : 0;

// present: nothing, or how many of the first queries are wanted. Others aren't read, except the
// last few (`alone`).
template <attend_shape S, class T, plan::target Target, class K, class Y, class How,
          class... Present>
UMBEL_INLINE void attend_blocks(const T* q, K k, Y v, T factor, const How& how, T* o, T* scratch,
                                Present... present) noexcept {
  constexpr bool counts = sizeof...(Present) != 0;
  static_assert(S.o_row != 1 || S.o_room >= S.queries, "umbel: o_room is less than queries");
  constexpr std::size_t alone = queries_alone<S, T, Target, K, How>;
  constexpr plan::split blocks = plan::plan_attend<T>(S.queries, S.keys, Target, alone).queries;
  constexpr std::size_t lanes = plan::lanes<T>(Target);
  std::size_t first = 0;
  const auto block = [&]<std::size_t Vectors>(std::integral_constant<std::size_t, Vectors>) {
    const std::size_t all = S.queries - alone - first;
    const std::size_t rest = (all + ... + (present - first < all ? present - first - all : 0));
    const std::size_t writable = S.o_row == 1 ? S.o_room - first : rest;
    const T* const from = q + first * S.q_row;
    T* const to = o + first * S.o_row;
    const std::size_t queries = rest < Vectors * lanes ? rest : Vectors * lanes;
    if constexpr (std::is_same_v<How, keys_known>) {
      attend_block<S, T, Target, Vectors, true>::attend_queries(from, k, v, factor, S.keys, to,
                                                                scratch, {queries, writable});
    } else if constexpr (std::is_same_v<How, keys_counted>) {
      attend_block<S, T, Target, Vectors, false>::attend_queries(
          from, k, v, factor, how.policy.count, to, scratch, {queries, writable});
    } else {
      using room = typename attend_block<S, T, Target, Vectors, false>::room;
      how.template attend_queries<S, T, Target, Vectors>(from, k, v, factor, first, to, scratch,
                                                         room{queries, writable});
    }
    first += Vectors * lanes;
  };
  if constexpr (blocks.large_count > 0) {
    for (std::size_t b = 0; b < blocks.large_count; ++b) {
      if constexpr (counts) {
        if ((... + present) <= first) return;
      }
      block(std::integral_constant<std::size_t, blocks.large>{});
    }
  }
  if constexpr (blocks.small_count > 0) {
    for (std::size_t b = 0; b < blocks.small_count; ++b) {
      if constexpr (counts) {
        if ((... + present) <= first) return;
      }
      block(std::integral_constant<std::size_t, blocks.smaller()>{});
    }
  }
  if constexpr (alone > 0) {
    if constexpr (counts) {
      if ((... + present) <= first) return;
    }
    attend_few<few_of(S, alone), T, Target>::attend_queries(q + first * S.q_row, k, v, factor,
                                                            how.policy, first, o + first * S.o_row,
                                                            scratch, how.tap_of_few);
  }
}

// See attend_pairs.hpp.
template <attend_shape S, class T, plan::target Target>
inline constexpr bool pairs_fit =
    plan::heads_go_in_pairs<T>(S.queries, S.keys, Target) && queries_alone<S, T, Target> == 0;

}  // namespace detail

// Elements of scratch for attend: a block's queries, scores and context; two blocks' if heads go in
// pairs. Aligning it to a vector is faster, but optional.
template <attend_shape S, class T, plan::target Target = plan::native_target>
inline constexpr std::size_t attend_scratch = [] {
  constexpr std::size_t alone = detail::queries_alone<S, T, Target>;
  constexpr std::size_t vectors = plan::plan_attend<T>(S.queries, S.keys, Target).queries.large;
  constexpr std::size_t but_alone =
      plan::plan_attend<T>(S.queries, S.keys, Target, alone).queries.large;
  constexpr std::size_t most = vectors < but_alone ? but_alone : vectors;
  constexpr std::size_t of_blocks = detail::attend_block<S, T, Target, most, true>::scratch_size *
                                    (detail::pairs_fit<S, T, Target> ? 2 : 1);
  if constexpr (alone != 0) {
    constexpr std::size_t of_few = detail::attend_few<few_of(S, alone), T, Target>::scratch_size;
    return of_few > of_blocks ? of_few : of_blocks;
  } else {
    return of_blocks;
  }
}();

// The walk over blocks of queries for a policy and a tap.
namespace detail {
template <class Policy, class Tap>
UMBEL_INLINE constexpr auto walk_for(const Policy& policy, const Tap& tap,
                                     [[maybe_unused]] std::size_t keys) noexcept {
  if constexpr (!std::is_same_v<Tap, no_tap>)
    return by_policy<Policy, Tap>{policy, tap};
  else if constexpr (std::is_same_v<Policy, scores::every_key>)
    return keys_known{};
  else if constexpr (std::is_same_v<Policy, scores::first_keys>)
    return keys_counted{scores::first_keys(keys > policy.count ? policy.count : keys)};
  else
    return by_policy<Policy, no_tap>{policy, {}};
}
}  // namespace detail

// softmax(scale q k^T) v: see plain::attend. policy (scores.hpp): which keys are seen, what is
// added to a score; memory it points to must not be written during the call. every_key, which the
// compiler knows, is fastest. tap (tap.hpp): an observed intermediate; the bits of o don't change.
// scratch: attend_scratch elements without overlaps, in any state. K, Y, here and below: pointers
// to keys and values of T, bfloat16 or float16, or scaled_rows.
template <attend_shape S, class T, plan::target Target = plan::native_target, scores::policy Policy,
          tap_like Tap = no_tap, stored_rows K, stored_rows Y>
UMBEL_INLINE void attend(const T* q, K k, Y v, T scale, const Policy& policy, T* o, T* scratch,
                         Tap tap = {}) noexcept {
  detail::attend_blocks<S, T, Target>(q, k, v, exp2_factor(scale),
                                      detail::walk_for(policy, tap, S.keys), o, scratch);
}

// A tap of scores only, with any policy: see plain::tap_scores.
template <attend_shape S, class T, plan::target Target = plan::native_target, scores::policy Policy,
          score_tap Tap, stored_rows K>
UMBEL_INLINE void tap_scores(const T* q, K k, T scale, const Policy& policy, T* scratch,
                             Tap tap) noexcept {
  const detail::by_policy<Policy, Tap, true> how{policy, tap};
  detail::attend_blocks<S, T, Target>(q, k, q, exp2_factor(scale), how, scratch, scratch);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
