// SPDX-License-Identifier: BSL-1.0
// Masks hide keys from queries and add to scores. Pass one to a layer, alone or combined:
//
//   all_keys                      every key (the default)
//   lens                          a tensor of integers, (batch), (batch, query) ...: the first
//                                 lens keys
//   valid_rows(lens)              the same, and the call does no work for other rows
//   keep_mask(m), drop_mask(m)    a tensor of bool: true attends, true does not
//   score_bias(b)                 a tensor of the layer's type, added; -infinity hides
//   score_bias(f)                 f(batch, head, query, key), added
//   causal                        keys up to the query's position
//   causal_at(p)                  the same; the first query is at position p: a number, or a tensor
//                                 of integers, one per sequence
//   sliding_window<4, 0>          from 4 keys before the query's position to 0 after it
//   alibi                         a bias that falls with the distance, by head
//   dropout(0.1, seed)            drops weights after the softmax, as in training
//
//   attention{w}(x, y, y, lens & causal & score_bias(b))
//
// A & B: a query sees the keys that both keep, and both biases are added, A first. A + B is the
// same unless both are tensors, which are added as numbers. Memory is read by axis name from
// (batch, heads, query, key) and broadcast along axes that it lacks or has with size 1. It is not
// read for hidden keys: NaN stored there doesn't leak. A query that sees no key returns zeros (to
// change it: empty_rows in score.hpp). Lengths below 0 or above the number of keys are clamped. A
// mask made of a temporary tensor owns it; other masks borrow.
//
// This file has dropout, & and the conversion of a layer's argument; for other masks see
// mask/memory.hpp and mask/position.hpp. See mask/rules.hpp for rules, kernel/scores.hpp for how a
// kernel applies a mask, and observe.hpp for observation.
#pragma once

#include <umbel/config.hpp>
#include <umbel/mask/alibi.hpp>
#include <umbel/mask/memory.hpp>
#include <umbel/mask/position.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::portable {

struct dropout_mask : mask_base {
  static constexpr bool drops = true;
  double rate;
  std::uint64_t seed;
  UMBEL_SHARED constexpr dropout_mask(double of_weights, std::uint64_t the_seed) noexcept
      : rate(of_weights), seed(the_seed) {}
  template <class Layer, class Scores>
  using rule = detail::accepted;
  template <class Scores>
  constexpr auto policy(detail::mask_place place) const noexcept {
    using T = typename Scores::value_type;
    return detail::kernel::scores::dropout<T>(seed, place.batch * Scores::heads + place.head,
                                              static_cast<T>(rate));
  }
};

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET::detail {

using portable::dropout_mask;
}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::inline UMBEL_TARGET {

// dropout(rate, seed): drops weights at the rate and multiplies the others by 1 / (1 - rate), as
// layers do in training (Srivastava et al. 2014). Which weights are dropped depends on seed,
// sequence, head, query and key only, not on the machine (Philox 4x32-10): use a different seed for
// each step. A rate of 0 or less drops nothing, 1 or more everything; in a constant expression, a
// rate outside of 0 to 1 does not compile. A mask has at most one dropout.
template <class Rate, class Seed>
  requires(!detail::of_a_formula<Rate> && !detail::of_a_formula<Seed>)
constexpr detail::dropout_mask dropout(const Rate& rate, const Seed& seed) noexcept {
  using verdict = detail::rules::dropout_rate_and_seed<Rate, Seed>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) {
    if (__builtin_is_constant_evaluated() && !(rate >= 0 && rate <= 1))
      detail::is_not_a_constant<detail::rules::dropout_rate<(sizeof(Rate) == 0)>>();
    return {static_cast<double>(rate), static_cast<std::uint64_t>(seed)};
  } else {
    return {0, 0};
  }
}
// In a formula, with numbers that are arguments: refused, since a seed has more bits than a float.
template <class Rate, class Seed>
  requires(detail::of_a_formula<Rate> || detail::of_a_formula<Seed>)
constexpr detail::invalid dropout(const Rate&, const Seed&) noexcept {
  using verdict = detail::rules::no_mask_of_nodes<detail::say::dropout, sizeof(Rate) == 0>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}
template <class... Given>
  requires(sizeof...(Given) != 2)
constexpr detail::dropout_mask dropout(const Given&...) noexcept {
  static_assert(detail::report<detail::rules::dropout_of<Given...>>::ok,
                "umbel: shapes do not fit");
  return {0, 0};
}

}  // namespace umbel::inline UMBEL_TARGET

namespace umbel::portable {

template <class A, class B>
struct both_masks : mask_base {
  A first;
  B second;
  UMBEL_SHARED constexpr both_masks(const A& a, const B& b) noexcept : first(a), second(b) {}
  static constexpr bool observes = A::observes || B::observes, drops = A::drops || B::drops;
  static constexpr bool by_position = A::by_position && B::by_position;
  static constexpr bool has_length = A::has_length || B::has_length;
  static constexpr bool counts_rows = A::counts_rows || B::counts_rows;
  using to_last_key = std::conditional_t<std::is_void_v<typename A::to_last_key>,
                                         typename B::to_last_key, typename A::to_last_key>;
  template <class Layer, class Scores>
  using rule = detail::first_error<
      typename A::template rule<Layer, Scores>, typename B::template rule<Layer, Scores>,
      detail::rules::one_last_key<Layer, has_length, counts_rows, to_last_key>,
      detail::rules::observes_all_rows<Layer, !(counts_rows && observes)>,
      detail::rules::given_once<Layer, detail::say::observe, A::observes && B::observes>,
      detail::rules::given_once<Layer, detail::say::valid_rows, A::counts_rows && B::counts_rows>,
      detail::rules::given_once<Layer, detail::say::dropout, A::drops && B::drops>>;

  UMBEL_SHARED constexpr std::size_t rows(std::size_t batch, std::size_t most) const noexcept
    requires counts_rows
  {
    if constexpr (A::counts_rows)
      return first.rows(batch, most);
    else
      return second.rows(batch, most);
  }
  template <class Scores>
  constexpr auto observer(detail::mask_place place) const noexcept {
    if constexpr (A::observes)
      return first.template observer<Scores>(place);
    else
      return second.template observer<Scores>(place);
  }

  template <class Scores>
  constexpr auto policy(detail::mask_place place) const noexcept {
    const auto a = first.template policy<Scores>(place);
    const auto b = second.template policy<Scores>(place);
    if constexpr (std::is_same_v<decltype(a), const detail::kernel::scores::every_key>)
      return b;
    else if constexpr (std::is_same_v<decltype(b), const detail::kernel::scores::every_key>)
      return a;
    else
      return detail::kernel::scores::all_of(a, b);
  }
};

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET::detail {

using portable::both_masks;

// The argument of a layer as a mask: a tensor of integers means lengths, an integer the length of
// all sequences.
template <class M>
constexpr const M& as_mask(const M& mask) noexcept {
  return mask;
}
template <tensor_like X>
constexpr auto as_mask(const X& x) noexcept {
  if constexpr (rules::is_length<typename X::value_type>)
    return length_mask<memory_of<const X&>>(as_memory<const X&>(x));
  else
    return unclear_mask<X>{};
}
template <class Length>
  requires rules::is_length<Length>
constexpr auto as_mask(const Length& length) noexcept {
  using memory = tensor<Length>;
  return length_mask<memory>(memory{length});
}
template <traced X>  // in a formula
constexpr auto as_mask(const X& x) noexcept {
  if constexpr (rules::holds_integers<X>)
    return length_mask<X>(x);
  else
    return unclear_mask<X>{};
}
template <class M>
using mask_of = std::remove_cvref_t<decltype(as_mask(std::declval<const M&>()))>;

// Two tensors alone are added as numbers.
template <class A, class B>
inline constexpr bool are_masks_to_add =
    mask_like<A> && mask_like<B> && (derived_from_mask<A> || derived_from_mask<B>) &&
    !rules::is_length<std::remove_cvref_t<A>> && !rules::is_length<std::remove_cvref_t<B>>;
// In a formula, lengths and a second mask.
template <class A, class B>
inline constexpr bool are_lengths_and_mask =
    (traced<A> && derived_from_mask<B>) || (derived_from_mask<A> && traced<B>);

// A mask to keep beyond this expression: owns a temporary tensor. M: a forwarding reference's type.
template <class M>
constexpr auto kept_mask(const std::remove_cvref_t<M>& mask) noexcept {
  using plain = std::remove_cvref_t<M>;
  if constexpr (traced<plain> || rules::is_length<plain>)
    return as_mask(mask);
  else if constexpr (!tensor_like<plain>)
    return plain(mask);
  else if constexpr (rules::is_length<typename plain::value_type>)
    return length_mask<memory_of<M>>(as_memory<M>(mask));
  else
    return unclear_mask<plain>{};
}

template <class A, class B>
constexpr auto both(const std::remove_cvref_t<A>& a, const std::remove_cvref_t<B>& b) noexcept {
  using left = decltype(kept_mask<A>(a));
  using right = decltype(kept_mask<B>(b));
  if constexpr (std::is_same_v<left, every_key>)
    return kept_mask<B>(b);
  else if constexpr (std::is_same_v<right, every_key>)
    return kept_mask<A>(a);
  else
    return both_masks<left, right>(kept_mask<A>(a), kept_mask<B>(b));
}

// A mask and something else: a number, a pointer, a vector, a position along an axis; or the result
// of a refused operation, which adds no second error.
template <class A, class B>
inline constexpr bool is_mask_beside =
    derived_from_mask<A> && (one_is_invalid<B> || (of_a_formula<B> && !traced<B>) ||
                             rules::is_foreign<void, std::remove_cvref_t<B>>);
template <class A, class B>
concept one_is_mask = derived_from_mask<A> || derived_from_mask<B>;
template <class A, class B>
inline constexpr bool one_is_no_mask = is_mask_beside<A, B> || is_mask_beside<B, A>;
template <class A, class B>
inline constexpr bool one_is_a_number =
    one_is_no_mask<A, B> && !of_a_formula<A> && !of_a_formula<B>;
template <class A, class B>
inline constexpr bool are_masks_or_one =
    are_masks_to_add<A, B> || are_lengths_and_mask<A, B> || one_is_no_mask<A, B>;

template <class Mask>
inline constexpr bool of_second_run = traced_before<Mask>;
template <class Mask>
  requires requires { Mask::memory; }
inline constexpr bool of_second_run<Mask> = traced_before<decltype(Mask::memory)>;
template <class A, class B>
inline constexpr bool of_second_run<both_masks<A, B>> = of_second_run<A> || of_second_run<B>;
template <class... M>
using combined_by_and = rules::put_together_by_and<(one_is_invalid<M...> || ... ||
                                                    of_second_run<std::remove_cvref_t<M>>)>;

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::inline UMBEL_TARGET {

template <mask_like A, mask_like B>
constexpr auto operator&(A&& a, B&& b) noexcept {
  return detail::both<A, B>(a, b);
}
template <class A, class B>
  requires detail::are_lengths_and_mask<A, B>
constexpr auto operator&(A&& a, B&& b) noexcept {
  return detail::both<A, B>(a, b);
}
template <class A, class B>
  requires detail::are_masks_to_add<A, B>
constexpr auto operator+(A&& a, B&& b) noexcept {
  return detail::both<A, B>(a, b);
}

// A key is seen if all masks keep it: masks can't be combined in other ways, or with other things.
// (Each asserts its verdict itself: a function in between would add three lines to clang's output.)
template <class A, class B>
  requires detail::one_is_mask<A, B> && detail::one_is_no_mask<A, B> &&
           (!(mask_like<A> && mask_like<B>))
constexpr detail::every_key operator&(A&&, B&&) noexcept {
  static_assert(detail::report<detail::combined_by_and<A, B>>::ok, "umbel: shapes do not fit");
  return {};
}
template <class A, class B>
  requires detail::one_is_mask<A, B> && detail::one_is_a_number<A, B>
constexpr detail::every_key operator+(A&&, B&&) noexcept {
  static_assert(detail::report<detail::combined_by_and<A, B>>::ok, "umbel: shapes do not fit");
  return {};
}
template <class A, class B>
  requires detail::one_is_mask<A, B> && detail::are_masks_or_one<A, B>
constexpr detail::every_key operator|(A&&, B&&) noexcept {
  static_assert(detail::report<detail::combined_by_and<A, B>>::ok, "umbel: shapes do not fit");
  return {};
}
template <class A, class B>
  requires detail::one_is_mask<A, B> && detail::are_masks_or_one<A, B>
constexpr detail::every_key operator^(A&&, B&&) noexcept {
  static_assert(detail::report<detail::combined_by_and<A, B>>::ok, "umbel: shapes do not fit");
  return {};
}
template <class A, class B>
  requires detail::one_is_mask<A, B> &&
           (detail::are_masks_to_add<A, B> || detail::one_is_a_number<A, B>)
constexpr detail::every_key operator&&(A&&, B&&) noexcept {
  static_assert(detail::report<detail::combined_by_and<A, B>>::ok, "umbel: shapes do not fit");
  return {};
}
template <class A, class B>
  requires detail::one_is_mask<A, B> &&
           (detail::are_masks_to_add<A, B> || detail::one_is_a_number<A, B>)
constexpr detail::every_key operator||(A&&, B&&) noexcept {
  static_assert(detail::report<detail::combined_by_and<A, B>>::ok, "umbel: shapes do not fit");
  return {};
}
template <class A, class B>
  requires detail::one_is_mask<A, B> &&
           (detail::are_masks_to_add<A, B> || detail::one_is_a_number<A, B>)
constexpr detail::every_key operator*(A&&, B&&) noexcept {
  static_assert(detail::report<detail::combined_by_and<A, B>>::ok, "umbel: shapes do not fit");
  return {};
}
template <class A, class B>
  requires detail::one_is_mask<A, B> &&
           (detail::are_masks_to_add<A, B> || detail::one_is_a_number<A, B>)
constexpr detail::every_key operator-(A&&, B&&) noexcept {
  static_assert(detail::report<detail::combined_by_and<A, B>>::ok, "umbel: shapes do not fit");
  return {};
}
template <class A, class B>
  requires detail::one_is_mask<A, B> &&
           (detail::are_masks_to_add<A, B> || detail::one_is_a_number<A, B>)
constexpr detail::every_key operator/(A&&, B&&) noexcept {
  static_assert(detail::report<detail::combined_by_and<A, B>>::ok, "umbel: shapes do not fit");
  return {};
}
template <class A>
  requires detail::derived_from_mask<A>
constexpr detail::every_key operator!(const A&) noexcept {
  static_assert(detail::report<detail::combined_by_and<A>>::ok, "umbel: shapes do not fit");
  return {};
}
template <class A>
  requires detail::derived_from_mask<A>
constexpr detail::every_key operator~(const A&) noexcept {
  static_assert(detail::report<detail::combined_by_and<A>>::ok, "umbel: shapes do not fit");
  return {};
}
// Combining changes the type, so &= is refused.
template <class A, class B>
  requires detail::derived_from_mask<A>
constexpr A& operator&=(A& a, const B&) noexcept {
  using verdict =
      detail::rules::combined_by_assignment<detail::one_is_invalid<B> || detail::of_second_run<A>>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return a;
}
template <class A, class B>
  requires detail::derived_from_mask<A>
constexpr A& operator+=(A& a, const B&) noexcept {
  using verdict =
      detail::rules::combined_by_assignment<detail::one_is_invalid<B> || detail::of_second_run<A>>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return a;
}
template <class A, class B>
  requires detail::derived_from_mask<A>
constexpr A& operator|=(A& a, const B&) noexcept {
  using verdict =
      detail::rules::combined_by_assignment<detail::one_is_invalid<B> || detail::of_second_run<A>>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return a;
}

// Would Mask fit scores with these axes? fits_as_mask<decltype(causal), float, batch<2>, heads<5>,
// query<4>, key<6>>: axes with their sizes.
template <class Mask, class T, class Batch, class Heads, class Query, class Key>
concept fits_as_mask = detail::rules::mask_fits<
    detail::say::mask, detail::mask_of<std::remove_cvref_t<Mask>>,
    detail::scores_of<T, Batch::size, Heads::size, Query::size, Key::size>>::ok;

}  // namespace umbel::inline UMBEL_TARGET

// Masks are types of this namespace, so this makes their operators visible without `using namespace
// umbel`.
namespace umbel::portable {
using umbel::operator&;
using umbel::operator|;
using umbel::operator&&;
using umbel::operator||;
using umbel::operator!;
using umbel::operator&=;
using umbel::operator|=;
}  // namespace umbel::portable
UMBEL_WARNINGS_POP
