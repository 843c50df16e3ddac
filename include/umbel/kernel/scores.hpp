// SPDX-License-Identifier: BSL-1.0
// The path of a score from q k^T to the softmax: hidden keys (counts, lengths, causal, window,
// flags) and changes (bias, ALiBi, soft cap); and of a weight after it (dropout). A policy is a
// small value of integers, pointers and strides. Query i and key j are indices into attend's shape;
// an `offset` is the position of query 0 among the keys. Scores are in units of log2: the natural
// score times log2(e). A policy doesn't know axes and batches, nor whether true in a caller's mask
// means keep or drop.
//
// A policy P has
//   P::changes, P::selects             does it change scores; does it hide single pairs of a query
//                                      and a key
//   range(first_query, queries, keys)  the keys that those queries may see: none outside begin..end
//                                      is computed, none inside full_begin..full_end is tested
//   over<V>(first_query, count)        for the queries in the lanes of V, of which `count` exist
//     .change(score, key)              the new score
//     bends                            absent or true: the derivative of change is not 1
//     .derivative(score, key)          that derivative: of the new score by the old one
//     adds_bias                        absent or true: a bias is added, which may have a gradient;
//                                      for all_of the first one
//     .sees(key)                       mask: the lanes that attend to the key
//     in_squares                       absent or true: the next two, for a square of the keys from
//                                      `key` on, one per lane
//     .change_square(scores, key)      the new scores; false if a pair is hidden
//     .prepare_square(key)             before change and sees of each of its keys
// and if it drops weights (P::drops, otherwise absent)
//   kept_scale()                       the factor of kept weights
//   over<V>(..).keeps(key, kept)       masks: the lanes that keep their weights of the keys key to
//                                      key + 3, key a multiple of 4
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/scores_changed.hpp>
#include <umbel/kernel/scores_common.hpp>
#include <umbel/kernel/scores_dropped.hpp>
#include <umbel/kernel/scores_seen.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::scores {

// All of them: changes apply in this order; a pair must be visible to each.
template <class... P>
struct all_of;

template <policy P>
struct all_of<P> : P {
  constexpr explicit all_of(const P& one) noexcept : P(one) {}
};

template <policy P, policy... Rest>
struct all_of<P, Rest...> {
  static constexpr bool changes = P::changes || all_of<Rest...>::changes;
  static constexpr bool selects = P::selects || all_of<Rest...>::selects;
  static constexpr bool drops = scores::drops<P> || scores::drops<all_of<Rest...>>;
  P first;
  all_of<Rest...> rest;

  constexpr explicit all_of(const P& one, const Rest&... others) noexcept
      : first(one), rest(others...) {}

  constexpr key_range range(std::size_t first_query, std::size_t queries,
                            std::size_t keys) const noexcept {
    return detail::both(first.range(first_query, queries, keys),
                        rest.range(first_query, queries, keys));
  }
  constexpr auto kept_scale() const noexcept {
    if constexpr (scores::drops<P> && scores::drops<all_of<Rest...>>)
      return first.kept_scale() * rest.kept_scale();
    else if constexpr (scores::drops<P>)
      return first.kept_scale();
    else if constexpr (scores::drops<all_of<Rest...>>)
      return rest.kept_scale();
  }
  template <class V>
  struct lanes {
    using A = decltype(std::declval<const P&>().template over<V>(0, 0));
    using B = decltype(std::declval<const all_of<Rest...>&>().template over<V>(0, 0));
    static constexpr bool by_four = A::by_four || B::by_four;
    static constexpr bool in_squares = detail::in_squares<A> || detail::in_squares<B>;
    static constexpr bool bends = detail::bends<A> || detail::bends<B>;
    static constexpr bool adds_bias = detail::adds_bias<A> || detail::adds_bias<B>;
    A a;
    B b;
    UMBEL_INLINE void prepare_square(std::size_t key) noexcept {
      detail::prepare_square(a, key);
      detail::prepare_square(b, key);
    }
    UMBEL_INLINE bool change_square(V (&square)[simd::lanes_of<V>],
                                    std::size_t key) const noexcept {
      return detail::change_square(a, square, key) && detail::change_square(b, square, key);
    }
    UMBEL_INLINE constexpr V change(V score, std::size_t key) const noexcept {
      return b.change(a.change(score, key), key);
    }
    UMBEL_INLINE constexpr V derivative(V score, std::size_t key) const noexcept {
      if constexpr (!detail::bends<A>)
        return detail::derivative(b, a.change(score, key), key);
      else if constexpr (!detail::bends<B>)
        return a.derivative(score, key);
      else
        return b.derivative(a.change(score, key), key) * a.derivative(score, key);
    }
    UMBEL_INLINE constexpr V bias_derivative(V score, std::size_t key) const noexcept {
      if constexpr (!detail::adds_bias<A>)
        return detail::bias_derivative(b, a.change(score, key), key);
      else
        return detail::derivative(b, a.change(score, key), key);
    }
    UMBEL_INLINE constexpr mask_of<V> sees(std::size_t key) const noexcept {
      return detail::and_masks(a.sees(key), b.sees(key));
    }
    UMBEL_INLINE constexpr void see_four(std::size_t key, mask_of<V> (&seen)[4]) const noexcept {
      mask_of<V> also[4];
      detail::see_four<V>(a, key, seen);
      detail::see_four<V>(b, key, also);
      UMBEL_UNROLL(4)
      for (std::size_t r = 0; r < 4; ++r) seen[r] = detail::and_masks(seen[r], also[r]);
    }
    UMBEL_INLINE constexpr void keeps(std::size_t key, mask_of<V> (&kept)[4]) const noexcept {
      if constexpr (!scores::drops<P>) {
        b.keeps(key, kept);
      } else {
        a.keeps(key, kept);
        if constexpr (scores::drops<all_of<Rest...>>) {
          mask_of<V> also[4];
          b.keeps(key, also);
          for (std::size_t r = 0; r < 4; ++r) kept[r] = detail::and_masks(kept[r], also[r]);
        }
      }
    }
  };
  template <class V>
  UMBEL_INLINE constexpr lanes<V> over(std::size_t first_query, std::size_t count) const noexcept {
    return {first.template over<V>(first_query, count), rest.template over<V>(first_query, count)};
  }
};
template <class... P>
all_of(const P&...) -> all_of<P...>;

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::scores
UMBEL_WARNINGS_POP
