// SPDX-License-Identifier: BSL-1.0
// A block of queries against the keys that a scores policy shows them (scores.hpp). Keys that no
// query of the block may see are neither read nor computed. The tiles of attend_block.hpp compute
// scores for all; a pass over them in the first-level cache then changes and selects, testing lanes
// only in tiles that some query doesn't see. See scores.hpp for the policies.
#pragma once

#include <cstddef>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/kernel/float/attend_block.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/kernel/tap.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/pack.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::detail {

// attend_tap.hpp.
template <attend_shape S, class T, plan::target Target, std::size_t Vectors, class Policy,
          class Tap>
struct tap_block;

template <attend_shape S, class T, plan::target Target, std::size_t Vectors, class Policy>
struct scores_block : attend_block<S, T, Target, Vectors, false> {
  using base = attend_block<S, T, Target, Vectors, false>;
  using V = typename base::V;
  using room = typename base::room;
  using softmax_state = typename base::softmax_state;
  static constexpr std::size_t lanes = base::lanes, width = base::width;

  // A hidden pair gets the score +infinity and then the weight -1: see take_weights.
  struct block {
    const Policy& policy;
    std::size_t first_query;
    room here;
    T* scores;

    UMBEL_INLINE auto over_vector(std::size_t i) const noexcept {
      const std::size_t first = i * lanes;
      const std::size_t rest = here.queries > first ? here.queries - first : 0;
      return policy.template over<V>(first_query + (rest != 0 ? first : 0),
                                     rest < lanes ? rest : lanes);
    }

    // Changes, selects and finds the maximum for keys begin..end. True if a pair is hidden.
    template <bool Selects>
    UMBEL_INLINE bool adjust(std::size_t first_key, std::size_t begin, std::size_t end,
                             V (&maximum)[Vectors]) const noexcept {
      V hidden{};
      for (std::size_t i = 0; i < Vectors; ++i) {
        auto over = over_vector(i);
        using over_type = decltype(over);
        T* const column = scores + i * lanes;
        V highest = maximum[i];
        const auto add_key = [&](std::size_t j, scores::mask_of<V> seen) UMBEL_LAMBDA_INLINE {
          V score = simd::load<V>(column + j * width);
          if constexpr (Policy::changes) score = over.change(score, first_key + j);
          if constexpr (Selects) {
            const V lowest = simd::broadcast<V>(simd::math_constants<T>::lowest);
            highest = simd::raised(highest, simd::select(seen, score, lowest));
            score =
                simd::select(seen, score, simd::broadcast<V>(simd::math_constants<T>::infinity));
            hidden = simd::select(seen, hidden, simd::broadcast<V>(T{1}));
          } else {
            highest = simd::raised(highest, score);
          }
          simd::store(column + j * width, score);
        };
        std::size_t j = begin;
        if constexpr (scores::detail::in_squares<over_type>) {
          while (j + lanes <= end) {
            V square[lanes];
            UMBEL_UNROLL(16)
            for (std::size_t r = 0; r < lanes; ++r)
              square[r] = simd::load<V>(column + (j + r) * width);
            if (scores::detail::change_square(over, square, first_key + j)) {
              UMBEL_UNROLL(16)
              for (std::size_t r = 0; r < lanes; ++r) {
                highest = simd::raised(highest, square[r]);
                simd::store(column + (j + r) * width, square[r]);
              }
              j += lanes;
            } else {
              over.prepare_square(first_key + j);
              for (std::size_t r = 0; r < lanes; ++r, ++j) {
                if constexpr (Selects)
                  add_key(j, over.sees(first_key + j));
                else
                  add_key(j, scores::mask_of<V>{});
              }
            }
          }
        }
        if constexpr (Selects && over_type::by_four) {
          for (; j + 4 <= end; j += 4) {
            scores::mask_of<V> seen[4];
            over.see_four(first_key + j, seen);
            UMBEL_UNROLL(4)
            for (std::size_t r = 0; r < 4; ++r) add_key(j + r, seen[r]);
          }
        }
        // After fours, at most three: written so that g++ sees how short the loop is.
        std::size_t most = Selects && over_type::by_four ? 3 : plan::key_block;
        for (; most > 0 && j < end; --most, ++j) {
          if constexpr (Selects)
            add_key(j, over.sees(first_key + j));
          else
            add_key(j, scores::mask_of<V>{});
        }
        maximum[i] = highest;
      }
      if constexpr (!Selects) return false;
      if constexpr (lanes == 1)
        return hidden != T{};
      else
        return !simd::all_lanes(simd::equal(hidden, V{}));
    }

    // After the sum: dropped weights become 0. Those below 0, of hidden pairs, stay.
    UMBEL_INLINE void drop(std::size_t first_key, std::size_t keys) const noexcept {
      for (std::size_t i = 0; i < Vectors; ++i) {
        const auto over = over_vector(i);
        T* const column = scores + i * lanes;
        // One draw serves four keys, starting at a multiple of four.
        for (std::size_t four = first_key - first_key % 4; four < first_key + keys; four += 4) {
          scores::mask_of<V> kept[4];
          over.keeps(four, kept);
          UMBEL_UNROLL(4)
          for (std::size_t r = 0; r < 4; ++r) {
            if (four + r < first_key || four + r >= first_key + keys) continue;
            T* const at = column + (four + r - first_key) * width;
            const V p = simd::load<V>(at);
            simd::store(at, simd::select(kept[r], p, simd::select(simd::less(V{}, p), V{}, p)));
          }
        }
      }
    }
  };

  // For finish_block: drops weights of a block's keys.
  struct dropping {
    const block& of;
    std::size_t first_key, keys;
    T kept_scale;
    UMBEL_INLINE void operator()() const noexcept { of.drop(first_key, keys); }
  };

  // Scores of `keys` keys from k on. The maximum is taken over the tiles between full_begin and
  // full_end, which move to those tiles' ends.
  template <class K>
  UMBEL_INLINE static void score(K k, const T* q, std::size_t keys, T* scores, bordered_keys& full,
                                 V (&maximum)[Vectors]) noexcept {
    std::size_t begin = keys, end = keys;  // of the full tiles seen so far
    std::size_t j = 0;
    const auto tile = [&]<std::size_t Rows>(
                          std::integral_constant<std::size_t, Rows>) UMBEL_LAMBDA_INLINE {
      V with_these[Vectors];
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i) with_these[i] = maximum[i];
      base::template score_tile<Rows>(from_row(k, j, S.k_row), q, scores + j * width, with_these);
      if (j >= full.full_begin && j + Rows <= full.full_end) {
        UMBEL_UNROLL(4)
        for (std::size_t i = 0; i < Vectors; ++i) maximum[i] = with_these[i];
        if (begin == keys) begin = j;
        end = j + Rows;
      }
      j += Rows;
    };
    constexpr std::size_t rows = base::template score_rows<K>;
    while (j + rows <= keys) tile(std::integral_constant<std::size_t, rows>{});
    if constexpr (rows > 4) {
      while (j + 4 <= keys) tile(std::integral_constant<std::size_t, 4>{});
    }
    // Written so that the compiler sees that they are few.
    constexpr std::size_t step = rows > 4 ? 4 : rows;
    for (std::size_t most = step; most > 1 && j < keys; --most) {
      tile(std::integral_constant<std::size_t, 1>{});
    }
    full = {keys, begin, end};
  }

  // The keys of one block of the online softmax: those of `range` from first_key on.
  template <class K, class Y>
  UMBEL_INLINE static std::size_t key_block(K k, Y v, const Policy& policy, std::size_t first_query,
                                            scores::key_range range, std::size_t first_key,
                                            softmax_state& state, T* o, T* scratch,
                                            room here) noexcept {
    const std::size_t end = scores::block_end(first_key, range.end), keys = end - first_key;
    const bool is_first = first_key == range.begin, is_last = end == range.end;
    const auto inside = [=](std::size_t j) {
      return j < first_key ? 0 : (j < end ? j - first_key : keys);
    };
    bordered_keys full{keys, inside(range.full_begin), inside(range.full_end)};
    const block here_and_now{policy, first_query, here, scratch + base::scores_at};
    V maximum[Vectors], not_yet[Vectors];
    UMBEL_UNROLL(4)
    for (std::size_t i = 0; i < Vectors; ++i) maximum[i] = not_yet[i] = state.maximum[i];
    const auto finish = [&](auto which) UMBEL_LAMBDA_INLINE {
      const auto with = [&](const auto& drop) UMBEL_LAMBDA_INLINE {
        base::finish_block(from_row(v, first_key, S.v_row), which, maximum, is_first, is_last,
                           state, o, scratch, here, drop);
      };
      if constexpr (scores::drops<Policy>) {
        with(dropping{here_and_now, first_key, keys, policy.kept_scale()});
      } else {
        with(no_drop{});
      }
    };
    // Changed scores need their maximum after the change.
    score(from_row(k, first_key, S.k_row), scratch, keys, scratch + base::scores_at, full,
          Policy::changes ? not_yet : maximum);
    if constexpr (Policy::selects) {
      bool is_border[2] = {};
      for (std::size_t side = 0; side < 2; ++side) {
        is_border[side] = here_and_now.template adjust<true>(
            first_key, side == 0 ? 0 : full.full_end, side == 0 ? full.full_begin : keys, maximum);
      }
      if constexpr (Policy::changes) {
        here_and_now.template adjust<false>(first_key, full.full_begin, full.full_end, maximum);
      }
      // Tested, and nothing was hidden: not a border.
      if (!is_border[0]) full.full_begin = 0;
      if (!is_border[1]) full.full_end = keys;
      finish(full);
    } else {
      if constexpr (Policy::changes) {
        here_and_now.template adjust<false>(first_key, 0, keys, maximum);
      }
      finish(keys);
    }
    return end;
  }

  // The queries from first_query on, at q. A tap of the softmax is for these queries.
  template <class K, class Y, class Tap>
  UMBEL_NOINLINE static void attend_queries(const T* q, K k, Y v, T factor, const Policy& policy,
                                            std::size_t first_query, T* o, T* scratch, room here,
                                            Tap tap) noexcept {
    softmax_state state;
    base::start(q, factor, scratch, here, state);
    const scores::key_range range = policy.range(first_query, here.queries, S.keys);
    std::size_t first_key = range.begin;
    do {  // at least once: with nothing to see, the context is zeros
      first_key = key_block(k, v, policy, first_query, range, first_key, state, o, scratch, here);
    } while (first_key < range.end);
    base::write(o, scratch, here);
    if constexpr (Tap::stage == tap_stage::softmax) {
      base::leave(state, here, tap);
    } else if constexpr (Tap::stage != tap_stage::none) {
      tap_block<S, T, Target, Vectors, Policy, Tap>::write(k, policy, first_query, scratch, here,
                                                           state, tap);
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::detail
UMBEL_WARNINGS_POP
