// SPDX-License-Identifier: BSL-1.0
// From queries, keys and values in scratch to the context of one head, and of all heads of a
// sequence: turns masks and options into a policy of the kernels, and runs the form that
// plan::choose_attend chose. On plain numbers; in constant expressions by the readable loops. Not
// here: projections (forward.hpp), options (score.hpp), masks (mask/).
#pragma once

#include <umbel/attention/score.hpp>
#include <umbel/config.hpp>
#include <umbel/kernel/float/attend_form.hpp>
#include <umbel/kernel/plain/attend.hpp>
#include <umbel/mask/base.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// One head. Head: dot_product_head or similar, which computes scores; On: a head_mask.
template <class Scoring, class Head, class On>
UMBEL_INLINE constexpr void attend_head(const Head& head, const On& on) noexcept {
  using T = typename Head::value_type;
  const auto policy = Scoring::template with<T>(on.policy);
  using observer = decltype(On::observer);
  constexpr bool observes = requires { observer::is_capped; };
  if constexpr (!observes) {
    head.attend(policy, kernel::no_tap{});
  } else if constexpr (observer::is_capped) {
    // Cap and mask are one policy, so observed capped scores are computed separately.
    head.tap_scores(Scoring::template with<T>(kernel::scores::every_key{}), on.observer.tap());
    head.attend(policy, kernel::no_tap{});
  } else {
    head.attend(policy, on.observer.tap());
  }
  if constexpr (std::is_same_v<typename Scoring::empty, uniform_weights> &&
                !std::is_same_v<decltype(On::policy), kernel::scores::every_key>) {
    kernel::plain::mean_where_empty<Head::shape>(head.v, policy, on.stored, head.o);
    if constexpr (observes)
      kernel::plain::uniform_where_empty<Head::shape>(policy, on.stored, on.observer.tap());
  }
}

// Attention of one head by scaled dot products. K, Y: pointers or kernel::scaled_rows.
template <kernel::attend_shape S, class T, class Scoring, class K = const T*, class Y = K>
struct dot_product_head {
  using value_type = T;
  static constexpr kernel::attend_shape shape = S;
  static constexpr T factor = Scoring::template scale<T>(S.head_dim);
  const T* q;
  K k;
  Y v;
  T* o;
  T* scratch;

  template <class Policy, class Tap>
  UMBEL_INLINE constexpr void attend(const Policy& policy, Tap tap) const noexcept {
    if (__builtin_is_constant_evaluated())
      kernel::plain::attend<S>(q, k, v, factor, policy, o, tap);
    else
      kernel::detail::attend_blocks<S, T, plan::native_target>(
          q, k, v, kernel::exp2_factor(factor), kernel::detail::walk_for(policy, tap, S.keys), o,
          scratch);
  }
  template <class Policy, class Tap>
  constexpr void tap_scores(const Policy& policy, Tap tap) const noexcept {
    if (__builtin_is_constant_evaluated())
      kernel::plain::tap_scores<S>(q, k, factor, policy, tap);
    else
      kernel::tap_scores<S>(q, k, factor, policy, scratch, tap);
  }
};
// The same for the first `present` queries.
template <class Head>
struct first_queries_of : Head {
  std::size_t present;

  template <class Policy, class Tap>
  UMBEL_INLINE constexpr void attend(const Policy& policy, Tap tap) const noexcept {
    constexpr kernel::attend_shape S = Head::shape;
    using T = typename Head::value_type;
    if (__builtin_is_constant_evaluated())
      kernel::plain::attend<S>(this->q, this->k, this->v, Head::factor, policy, this->o, tap,
                               present);
    else
      kernel::detail::attend_blocks<S, T, plan::native_target>(
          this->q, this->k, this->v, kernel::exp2_factor(Head::factor),
          kernel::detail::walk_for(policy, tap, S.keys), this->o, this->scratch, present);
  }
};

// The keys that the queries of all heads see. Mask: a sequence_mask, or a function from each head
// to a head_mask; if the first of these sees a run of keys, the others see the same run.
template <class Scoring, class Mask>
constexpr plan::seen_keys seen_keys_of() noexcept {
  using kernel::scores::every_key, kernel::scores::first_keys, kernel::scores::window;
  using on = decltype(std::declval<const Mask&>()(0));
  using policy = std::remove_cvref_t<decltype(on::policy)>;
  if constexpr (requires { decltype(on::observer)::is_capped; } || !Scoring::only_scales)
    return plan::seen_keys::any;
  else if constexpr (requires { requires !Mask::same_length_for_heads; })
    return plan::seen_keys::any;
  else if constexpr (std::is_same_v<policy, every_key>)
    return plan::seen_keys::all;
  else if constexpr (std::is_same_v<policy, first_keys>)
    return plan::seen_keys::first;
  else if constexpr (std::is_same_v<policy, window>)
    return plan::seen_keys::run;
  else
    return plan::seen_keys::any;
}

// All heads of one sequence; q, k, v, o are those of head 0.
template <kernel::attend_shape S, kernel::heads_shape H, class T, class Scoring, class K = const T*,
          class Y = K>
struct heads_of_sequence {
  template <class Mask>
  static constexpr plan::attend_form form =
      kernel::attend_form_of<S, H, T, seen_keys_of<Scoring, Mask>()>;
  // Heads computed together can't be distributed head by head.
  template <class Mask>
  static constexpr bool together = form<Mask> == plan::attend_form::heads_in_lanes ||
                                   form<Mask> == plan::attend_form::keys_in_lanes;
  static constexpr T scale = Scoring::template scale<T>(S.head_dim);
  static constexpr kernel::attend_shape last = kernel::few_of(S, 1);

  // Head h. Of: its queries.
  template <kernel::attend_shape Of = S>
  UMBEL_INLINE static constexpr dot_product_head<Of, T, Scoring, K, Y> head(std::size_t h,
                                                                            const T* q, K k, Y v,
                                                                            T* o,
                                                                            T* scratch) noexcept {
    return {q + h * H.q_head, kernel::of_head(k, h / H.share, H.k_head),
            kernel::of_head(v, h / H.share, H.v_head), o + h * H.o_head, scratch};
  }

  template <class Mask>
  static constexpr void attend(const T* q, K k, Y v, T* o, T* scratch, const Mask& mask) noexcept {
    if (!__builtin_is_constant_evaluated()) {
      if constexpr (form<Mask> == plan::attend_form::heads_in_lanes) {
        const std::size_t keys = mask(0).policy.range(0, S.queries, S.keys).end;
        return kernel::attend_heads<S, H>(q, k, v, scale, keys, o, scratch);
      } else if constexpr (form<Mask> == plan::attend_form::keys_in_lanes) {
        const kernel::scores::key_range seen = mask(0).policy.range(0, S.queries, S.keys);
        return kernel::attend_each<S, H>(q, k, v, scale, seen.begin, seen.end, o, scratch);
      } else if constexpr (form<Mask> == plan::attend_form::heads_in_pairs) {
        return kernel::attend_pairs<S, H>(q, k, v, scale, o, scratch);
      } else if constexpr (form<Mask> == plan::attend_form::last_query_by_keys) {
        constexpr std::size_t at = S.queries - 1;
        for (std::size_t h = 0; h < H.heads; ++h)
          attend_head<Scoring>(head<kernel::first_of(S, at)>(h, q, k, v, o, scratch), mask(h));
        const kernel::scores::key_range seen = mask(0).policy.range(at, 1, S.keys);
        return kernel::attend_each<last, H>(q + at * S.q_row, k, v, scale, seen.begin, seen.end,
                                            o + at * S.o_row, scratch);
      }
    }
    for (std::size_t h = 0; h < H.heads; ++h)
      attend_head<Scoring>(head(h, q, k, v, o, scratch), mask(h));
  }
  // The same for the first `present` queries.
  template <class Mask>
  static constexpr void attend_first(const T* q, K k, Y v, T* o, T* scratch, const Mask& mask,
                                     std::size_t present) noexcept {
    for (std::size_t h = 0; h < H.heads; ++h)
      attend_head<Scoring>(first_of_head(present, h, q, k, v, o, scratch), mask(h));
  }
  // Head h, of its first `present` queries or of every row.
  UMBEL_INLINE static constexpr auto first_of_head(std::size_t present, std::size_t h, const T* q,
                                                   K k, Y v, T* o, T* scratch) noexcept {
    using whole = dot_product_head<S, T, Scoring, K, Y>;
    return first_queries_of<whole>{head(h, q, k, v, o, scratch), present};
  }
  UMBEL_INLINE static constexpr auto first_of_head(every_row, std::size_t h, const T* q, K k, Y v,
                                                   T* o, T* scratch) noexcept {
    return head(h, q, k, v, o, scratch);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
