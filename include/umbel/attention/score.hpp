// SPDX-License-Identifier: BSL-1.0
// Options of how a score comes about and what a query without keys gives:
//
//   score_scale<1, 8>    scores are q k^T / 8; 1 / sqrt(head_dim) when not given
//   softcap<50>          50 tanh(score / 50) (Gemma 2, 2024; ONNX Attention), before any mask and
//                        bias
//   empty_rows<uniform>  a query that sees no key gives the mean of all values, as a large negative
//                        fill does ("Dive into Deep Learning", Haiku); without it, zeros
//
// What is added to scores and which keys count is a mask (mask/combine.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/attend_each.hpp>
#include <umbel/kernel/attend_heads.hpp>
#include <umbel/kernel/attend_pairs.hpp>
#include <umbel/layer/options.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// Numbers are Numerator / Denominator.
template <std::size_t Numerator, std::size_t Denominator = 1>
struct score_scale {
  using kind = detail::option::score_scale;
  static constexpr std::size_t numerator = Numerator, denominator = Denominator;
};
template <std::size_t Numerator, std::size_t Denominator = 1>
struct softcap {
  using kind = detail::option::softcap;
  static constexpr std::size_t numerator = Numerator, denominator = Denominator;
};

struct zeros {};
struct uniform {};
template <class What>
struct empty_rows {
  using kind = detail::option::empty_rows;
  using what = What;
};
namespace detail {
struct default_scale {
  using kind = option::score_scale;
  static constexpr std::size_t numerator = 0, denominator = 0;
};
struct no_softcap {
  using kind = option::softcap;
  static constexpr std::size_t numerator = 0, denominator = 0;
};

namespace say {
struct are_neither_zeros_nor_uniform;
struct empty_rows_of;
struct is_no_positive_number;
struct over_;
struct score_scale;
struct softcap;
}  // namespace say

template <>
inline constexpr const char* spoken<say::score_scale> = "score_scale";
template <>
inline constexpr const char* spoken<say::empty_rows_of> = "empty_rows of";

namespace rules {
template <class Layer, class Name, class Option>
using positive = verdict<Option::numerator != 0 && Option::denominator != 0, Layer, Name,
                         number<Option::numerator>, say::over_, number<Option::denominator>,
                         say::is_no_positive_number>;
template <class Layer, class Option>
struct given_number {
  using type = accepted;
};
template <class Layer, std::size_t N, std::size_t D>
struct given_number<Layer, umbel::score_scale<N, D>> {
  using type = positive<Layer, say::score_scale, umbel::score_scale<N, D>>;
};
template <class Layer, std::size_t N, std::size_t D>
struct given_number<Layer, umbel::softcap<N, D>> {
  using type = positive<Layer, say::softcap, umbel::softcap<N, D>>;
};
template <class What>
inline constexpr bool fills_rows = std::is_same_v<What, zeros> || std::is_same_v<What, uniform>;
template <class Layer, class Scoring>
using scoring =
    first_error<typename given_number<Layer, typename Scoring::scale_option>::type,
                typename given_number<Layer, typename Scoring::softcap_option>::type,
                verdict<fills_rows<typename Scoring::empty>, Layer, say::empty_rows_of,
                        element<typename Scoring::empty>, say::are_neither_zeros_nor_uniform>>;
}  // namespace rules

// What the options come to.
template <class... Options>
struct scoring {
  using scale_option = option_or<option::score_scale, default_scale, Options...>;
  using softcap_option = option_or<option::softcap, no_softcap, Options...>;
  using empty = typename option_or<option::empty_rows, empty_rows<zeros>, Options...>::what;

  template <class Option>
  static constexpr double value_of =
      static_cast<double>(Option::numerator) /
      static_cast<double>(Option::denominator ? Option::denominator : 1);

  template <class T>
  static constexpr T scale(std::size_t head_dim) noexcept {
    if constexpr (std::is_same_v<scale_option, default_scale>)
      return static_cast<T>(1 / simd::sqrt(static_cast<double>(head_dim)));
    else
      return static_cast<T>(value_of<scale_option>);
  }

  // Are scores only scaled, and hidden, if at all, past a length that all heads share? Mask: a
  // sequence_mask.
  template <class Mask>
  static constexpr bool is_plain = std::is_same_v<softcap_option, no_softcap> &&
                                   std::is_same_v<empty, zeros> && Mask::same_length_for_heads;

  // Are scores only scaled, and does a query see one run of keys? On: a head_mask.
  template <class On>
  static constexpr bool sees_a_run =
      std::is_same_v<softcap_option, no_softcap> && std::is_same_v<empty, zeros> &&
      !requires { decltype(On::observer)::is_capped; } &&
      (std::is_same_v<decltype(On::policy), kernel::scores::first_keys> ||
       std::is_same_v<decltype(On::policy), kernel::scores::window>);

  // The policy of a mask with the options before it.
  template <class T, class Policy>
  static constexpr auto with(const Policy& mask) noexcept {
    if constexpr (std::is_same_v<softcap_option, no_softcap>) {
      return mask;
    } else {
      constexpr kernel::scores::softcap<T> cap{static_cast<T>(value_of<softcap_option>)};
      if constexpr (std::is_same_v<Policy, kernel::scores::every_key>)
        return cap;
      else
        return kernel::scores::all_of(cap, mask);
    }
  }

  // One head, also in a constant expression. Head: dot_product_head or its like, which knows how a
  // score comes about; On: a detail::head_mask.
  template <class Head, class On>
  static constexpr void attend(const Head& head, const On& on) noexcept {
    using T = typename Head::value_type;
    const auto policy = with<T>(on.policy);
    using mask = decltype(On::policy);
    using observer = decltype(On::observer);
    constexpr bool observes = requires { observer::is_capped; };
    if constexpr (observes) {
      if constexpr (observer::is_capped) {
        // What stands between the cap and the rest is another policy's: looked at by itself.
        head.tap_scores(with<T>(kernel::scores::every_key{}), on.observer.tap());
        head.attend(policy, kernel::no_tap{});
      } else {
        head.attend(policy, on.observer.tap());
      }
    } else {
      head.attend(policy, kernel::no_tap{});
    }
    if constexpr (std::is_same_v<empty, uniform> &&
                  !std::is_same_v<mask, kernel::scores::every_key>) {
      kernel::plain::mean_where_empty<Head::shape>(head.v, policy, on.stored, head.o);
      if constexpr (observes)
        kernel::plain::uniform_where_empty<Head::shape>(policy, on.stored, on.observer.tap());
    }
  }
};

// Attention of one head by scaled dot products. scratch: kernel::attend_scratch. Stored: what keys
// and values are stored as.
template <kernel::attend_shape S, class T, class Scoring, class Stored = T>
struct dot_product_head {
  using value_type = T;
  static constexpr kernel::attend_shape shape = S;
  static constexpr T factor = Scoring::template scale<T>(S.head_dim);
  const T* q;
  const Stored* k;
  const Stored* v;
  T* o;
  T* scratch;

  template <class Policy, class Tap>
  constexpr void attend(const Policy& policy, Tap tap) const noexcept {
    if (std::is_constant_evaluated()) {
      kernel::plain::attend<S>(q, k, v, factor, policy, o, tap);
    } else {
      if constexpr (std::is_same_v<Tap, kernel::no_tap>)
        kernel::attend<S>(q, k, v, factor, policy, o, scratch);
      else
        kernel::attend<S>(q, k, v, factor, policy, o, scratch, tap);
    }
  }
  template <class Policy, class Tap>
  constexpr void tap_scores(const Policy& policy, Tap tap) const noexcept {
    if (std::is_constant_evaluated())
      kernel::plain::tap_scores<S>(q, k, factor, policy, tap);
    else
      kernel::tap_scores<S>(q, k, factor, policy, scratch, tap);
  }
};

// All heads of one sequence. Few queries are computed several heads at a time where the mask is at
// most a length that they share. mask(h): a head_mask.
template <kernel::attend_shape S, kernel::heads_shape H, class T, class Scoring>
struct dot_product_heads {
  template <class Mask>
  static constexpr bool at_once =
      (kernel::heads_fit_lanes<S, H, T> || kernel::each_fits_lanes<S, H, T>) &&
      Scoring::template is_plain<Mask>;

  // Does one query of each head go by itself, after those in whole vectors? Those of all heads
  // together then.
  static constexpr kernel::attend_shape last = kernel::few_of(S, 1);
  template <class Mask>
  static constexpr bool last_together = [] {
    if constexpr (S.queries > 1 && kernel::detail::queries_alone<S, T, plan::native_target> == 1)
      return kernel::each_fits_lanes<last, H, T> && Scoring::template is_plain<Mask>;
    else
      return false;
  }();

  // Two heads at a time, of every key.
  template <class Mask>
  static constexpr bool in_pairs = [] {
    using policy = std::remove_cvref_t<decltype(std::declval<const Mask&>()(0).policy)>;
    return Scoring::template is_plain<Mask> && kernel::pairs_fit_heads<S, H, T> &&
           std::is_same_v<policy, kernel::scores::every_key>;
  }();

  template <class Mask>
  static constexpr void attend(const T* q, const T* k, const T* v, T* o, T* scratch,
                               const Mask& mask) noexcept {
    if constexpr (at_once<Mask>) {
      if (!std::is_constant_evaluated()) {
        constexpr T scale = Scoring::template scale<T>(S.head_dim);
        const std::size_t keys = mask(0).policy.range(0, S.queries, S.keys).end;
        if constexpr (kernel::heads_fit_lanes<S, H, T>)
          kernel::attend_heads<S, H>(q, k, v, scale, keys, o, scratch);
        else
          kernel::attend_each<S, H>(q, k, v, scale, 0, keys, o, scratch);
        return;
      }
    }
    if constexpr (in_pairs<Mask>) {
      if (!std::is_constant_evaluated()) {
        constexpr T scale = Scoring::template scale<T>(S.head_dim);
        return kernel::attend_pairs<S, H>(q, k, v, scale, o, scratch);
      }
    }
    if constexpr (last_together<Mask>) {
      if (!std::is_constant_evaluated()) {
        constexpr std::size_t at = S.queries - 1;
        for (std::size_t h = 0; h < H.heads; ++h)
          attend_one<kernel::first_of(S, at)>(h, q, k, v, o, scratch, mask);
        const std::size_t keys = mask(0).policy.range(at, 1, S.keys).end;
        return kernel::attend_each<last, H>(q + at * S.q_row, k, v,
                                            Scoring::template scale<T>(S.head_dim), 0, keys,
                                            o + at * S.o_row, scratch);
      }
    }
    for (std::size_t h = 0; h < H.heads; ++h) attend_one(h, q, k, v, o, scratch, mask);
  }

  // Head h; the pointers are those of head 0. Of: its queries.
  template <kernel::attend_shape Of = S, class Mask>
  UMBEL_INLINE static constexpr void attend_one(std::size_t h, const T* q, const T* k, const T* v,
                                                T* o, T* scratch, const Mask& mask) noexcept {
    Scoring::attend(
        dot_product_head<Of, T, Scoring>{q + h * H.q_head, k + h / H.share * H.k_head,
                                         v + h / H.share * H.v_head, o + h * H.o_head, scratch},
        mask(h));
  }
};

}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
