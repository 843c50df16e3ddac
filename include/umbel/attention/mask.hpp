// SPDX-License-Identifier: BSL-1.0
// Which keys a query attends to, and what is added to its scores: values that a layer takes as one
// argument, alone or put together.
//
//   all_keys                        every key (the default)
//   lens                            a tensor of integers: the first lens keys; (batch), (batch, query) ...
//   keep_mask(m) from_drop_mask(m)  a tensor of bool: true attends; true does not
//   score_bias(b)                   a tensor of the layer's type, added; -infinity hides
//   score_bias_from(f)              f(batch, head, query, key), added
//   causal                          keys up to the query's own position
//   sliding_window<4, 0>            from 4 keys before the query's position to 0 after it
//   alibi                           a bias that falls with the distance, by head
//   dropout(0.1, seed)              drops weights after the softmax, as in training
//
//   attention{w}(x, y, y, lens & causal & score_bias(b))
//
// A & B, or A + B: what both let see, with what each adds, in this order. Memory is read by axis name
// from (batch, heads, query, key): axes that a mask lacks, or has of size 1, are the same for all.
// What a query does not see is never read for it: NaN stored there does not leak. A query that sees
// nothing gives zeros (another choice: empty_rows in score.hpp). Lengths below 0 and above the number
// of keys are clamped. A mask of a temporary tensor owns it, any other borrows.
//
// Not here: rules (mask_rules.hpp), how a kernel does it (kernel/scores.hpp), what is only looked at
// (observe.hpp).
#pragma once

#include <umbel/attention/mask_rules.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/tensor/tensor.hpp>

namespace umbel {

namespace detail {
// Nobody looks at the scores.
struct no_observer {};
}  // namespace detail

// Base of all masks. A mask has
//   rule<Layer, Scores>         its verdict on scores (detail::scores_of)
//   policy<Scores>(place)       the kernel's policy for one head of one sequence
//   observer<Scores>(place)     who is shown what happens there (observe.hpp)
//   by_position                 does it know nothing but distances between queries and keys
struct mask_base {
  static constexpr bool observes = false;
  static constexpr bool by_position = false;
  template <class Scores>
  static constexpr detail::no_observer observer(auto) noexcept {
    return {};
  }
};

// What a layer takes as a mask.
template <class M>
concept mask_like = tensor_like<M> || std::derived_from<std::remove_cvref_t<M>, mask_base>;

namespace detail {

// The head and the sequence of the batch that a policy is for; where query 0 stands among the keys,
// on top of what the mask says.
struct mask_place {
  std::size_t batch, head;
  std::ptrdiff_t first_position = 0;
};

// Elements from one of a family to the next in memory that is broadcast: 0 where all share one.
template <class Layout, class Family>
inline constexpr std::size_t broadcast_step =
    Layout::template size_of<Family> > 1 ? Layout::template stride_of<Family> : 0;

// A mask in memory: X is a view or, of a temporary, the tensor.
template <class X>
struct mask_memory : mask_base {
  using memory_layout = typename X::layout;
  X memory;

  constexpr explicit mask_memory(const X& x) noexcept : memory(x) {}
  template <class Family>
  static constexpr std::size_t step = broadcast_step<memory_layout, Family>;
  constexpr const typename X::value_type* at(mask_place place) const noexcept {
    return memory.data() + place.batch * step<rules::batch_family> +
           place.head * step<rules::heads_family>;
  }
};

template <class X>
struct kept_memory {
  using type = view_of<const typename std::remove_cvref_t<X>::value_type, layout_of<X>>;
};
template <class X>
requires temporary_tensor<X>
struct kept_memory<X> {
  using type = std::remove_cvref_t<X>;
};
// Of a forwarding reference.
template <class X>
using memory_of = typename kept_memory<X>::type;
template <class X>
constexpr memory_of<X> as_memory(const std::remove_cvref_t<X>& x) noexcept {
  if constexpr (std::is_same_v<memory_of<X>, X>)
    return x;
  else
    return memory_of<X>(x.data());
}

template <class X>
struct length_mask : mask_memory<X> {
  using mask_memory<X>::mask_memory;
  template <class Layer, class Scores>
  using rule = rules::length_mask<Layer, X, Scores>;

  template <class Scores>
  constexpr auto policy(mask_place place) const noexcept {
    using integer = typename X::value_type;
    using lengths = kernel::scores::lengths<integer>;
    const integer* const from = this->at(place);
    constexpr std::size_t query_step = length_mask::template step<rules::query_family>;
    if constexpr (query_step == 0)
      return kernel::scores::first_keys(lengths::clamp(*from, Scores::keys));
    else
      return lengths(from, query_step);
  }
};

template <class X, bool Keeps>
struct flag_mask : mask_memory<X> {
  using mask_memory<X>::mask_memory;
  template <class Layer, class Scores>
  using rule =
      rules::flag_mask<Layer, std::conditional_t<Keeps, say::keep_mask, say::from_drop_mask>, X,
                       Scores>;

  template <class Scores>
  constexpr auto policy(mask_place place) const noexcept {
    return kernel::scores::kept<typename X::value_type, Keeps>(
        this->at(place), flag_mask::template step<rules::query_family>,
        flag_mask::template step<rules::key_family>);
  }
};

template <class X>
struct bias_mask : mask_memory<X> {
  using mask_memory<X>::mask_memory;
  template <class Layer, class Scores>
  using rule = rules::bias_mask<Layer, X, Scores>;

  template <class Scores>
  constexpr auto policy(mask_place place) const noexcept {
    return kernel::scores::added<typename X::value_type>(
        this->at(place), bias_mask::template step<rules::query_family>,
        bias_mask::template step<rules::key_family>);
  }
};

// A tensor that does not say what it means: refused.
template <class X>
struct unclear_mask : mask_base {
  template <class Layer, class Scores>
  using rule = rules::unclear_mask<Layer, X>;
};

// f at one head: what the kernel calls with a query and a key.
template <class F>
struct bias_at {
  F f;
  std::size_t batch, head;
  constexpr auto operator()(std::size_t query, std::size_t key) const noexcept {
    return f(batch, head, query, key);
  }
};

template <class F>
struct generated_bias : mask_base {
  F f;
  constexpr explicit generated_bias(const F& generator) noexcept : f(generator) {}
  template <class Layer, class Scores>
  using rule = rules::generated_bias<Layer, F, Scores>;

  template <class Scores>
  constexpr auto policy(mask_place place) const noexcept {
    using T = typename Scores::value_type;
    return kernel::scores::generated<T, bias_at<F>>({f, place.batch, place.head});
  }
};

template <class A, class B>
struct both_masks : mask_base {
  A first;
  B second;
  constexpr both_masks(const A& a, const B& b) noexcept : first(a), second(b) {}
  static constexpr bool observes = A::observes || B::observes;
  static constexpr bool by_position = A::by_position && B::by_position;
  template <class Layer, class Scores>
  using rule = first_error<typename A::template rule<Layer, Scores>,
                           typename B::template rule<Layer, Scores>,
                           rules::one_observer<Layer, A::observes && B::observes>>;

  template <class Scores>
  constexpr auto observer(mask_place place) const noexcept {
    if constexpr (A::observes)
      return first.template observer<Scores>(place);
    else
      return second.template observer<Scores>(place);
  }

  template <class Scores>
  constexpr auto policy(mask_place place) const noexcept {
    const auto a = first.template policy<Scores>(place);
    const auto b = second.template policy<Scores>(place);
    if constexpr (std::is_same_v<decltype(a), const kernel::scores::every_key>)
      return b;
    else if constexpr (std::is_same_v<decltype(b), const kernel::scores::every_key>)
      return a;
    else
      return kernel::scores::all_of(a, b);
  }
};

// Where the queries of a mask by position stand: nowhere said, so as many as keys; query 0 at key 0;
// the last at the last key; at an offset given.
enum class alignment { equal, top_left, bottom_right, given };

template <alignment Alignment>
struct positioned : mask_base {
  static constexpr bool by_position = true;
  std::ptrdiff_t offset = 0;
  constexpr explicit positioned(std::ptrdiff_t of_query_0 = 0) noexcept : offset(of_query_0) {}

  template <class Scores>
  constexpr std::ptrdiff_t first(mask_place place) const noexcept {
    constexpr std::ptrdiff_t last =
        static_cast<std::ptrdiff_t>(Scores::keys) - static_cast<std::ptrdiff_t>(Scores::queries);
    return (Alignment == alignment::bottom_right ? last : offset) + place.first_position;
  }
  template <class Layer, class Name, class Scores>
  using rule_of = rules::positions_known<Layer, Name, (Alignment != alignment::equal), Scores>;
};

}  // namespace detail

// Every key, as it is.
struct every_key : mask_base {
  static constexpr bool by_position = true;
  template <class Layer, class Scores>
  using rule = accepted;
  template <class Scores>
  constexpr kernel::scores::every_key policy(detail::mask_place) const noexcept {
    return {};
  }
};
inline constexpr every_key all_keys{};

// Keys up to the query's own position. Where queries and keys differ in number, `causal` does not
// compile: say which end they share, or where query 0 stands. (PyTorch's is_causal is top_left, and so
// is ONNX's without a cache; FlashAttention's is bottom_right, and so is ONNX's with one.)
template <detail::alignment Alignment>
struct causal_mask : detail::positioned<Alignment> {
  using detail::positioned<Alignment>::positioned;
  template <class Layer, class Scores>
  using rule = typename causal_mask::template rule_of<Layer, say::causal, Scores>;
  template <class Scores>
  constexpr kernel::scores::causal policy(detail::mask_place place) const noexcept {
    return {this->template first<Scores>(place)};
  }
};
inline constexpr causal_mask<detail::alignment::equal> causal{};
inline constexpr causal_mask<detail::alignment::top_left> causal_top_left{};
inline constexpr causal_mask<detail::alignment::bottom_right> causal_bottom_right{};
constexpr causal_mask<detail::alignment::given> causal_from(std::ptrdiff_t position_of_query_0) {
  return causal_mask<detail::alignment::given>(position_of_query_0);
}

// Keys from Left before the query's position to Right after it. npos: as far as there are keys.
template <std::size_t Left, std::size_t Right, detail::alignment Alignment>
struct window_mask : detail::positioned<Alignment> {
  using detail::positioned<Alignment>::positioned;
  template <class Layer, class Scores>
  using rule = typename window_mask::template rule_of<Layer, say::sliding_window, Scores>;
  template <class Scores>
  constexpr kernel::scores::window policy(detail::mask_place place) const noexcept {
    return {Left, Right, this->template first<Scores>(place)};
  }
};
template <std::size_t Left, std::size_t Right = 0>
inline constexpr window_mask<Left, Right, detail::alignment::equal> sliding_window{};
template <std::size_t Left, std::size_t Right = 0>
inline constexpr window_mask<Left, Right, detail::alignment::top_left> sliding_window_top_left{};
template <std::size_t Left, std::size_t Right = 0>
inline constexpr window_mask<Left, Right, detail::alignment::bottom_right>
    sliding_window_bottom_right{};
template <std::size_t Left, std::size_t Right = 0>
constexpr window_mask<Left, Right, detail::alignment::given> sliding_window_from(
    std::ptrdiff_t position_of_query_0) {
  return window_mask<Left, Right, detail::alignment::given>(position_of_query_0);
}

namespace detail {
// 2^(-8 (head + 1) / heads); for a number of heads that is no power of two, those of the next power
// below and then every other one of the next above (Press, Smith and Lewis 2022, their code).
constexpr double alibi_slope(std::size_t head, std::size_t heads) noexcept {
  std::size_t power = 1;
  while (power * 2 <= heads) power *= 2;
  const bool is_extra = head >= power;
  const double steps = static_cast<double>(is_extra ? 2 * (head - power) + 1 : head + 1);
  return simd::exp(-8 * 0.693147180559945309417 * steps /
                   static_cast<double>(is_extra ? 2 * power : power));
}
template <class T, std::size_t Heads>
struct alibi_slopes {
  T of_head[Heads]{};
  constexpr alibi_slopes() noexcept {
    for (std::size_t h = 0; h < Heads; ++h) of_head[h] = static_cast<T>(alibi_slope(h, Heads));
  }
};
template <class T, std::size_t Heads>
inline constexpr alibi_slopes<T, Heads> slopes_of_heads{};
}  // namespace detail

// slope (key - position of the query), the slope by head: Press, Smith and Lewis 2022, "Train Short,
// Test Long", who use it with causal. Without causal, keys after the query are favoured.
template <detail::alignment Alignment>
struct alibi_bias : detail::positioned<Alignment> {
  using detail::positioned<Alignment>::positioned;
  template <class Layer, class Scores>
  using rule = typename alibi_bias::template rule_of<Layer, say::alibi, Scores>;
  template <class Scores>
  constexpr auto policy(detail::mask_place place) const noexcept {
    using T = typename Scores::value_type;
    return kernel::scores::alibi<T>{detail::slopes_of_heads<T, Scores::heads>.of_head[place.head],
                                    this->template first<Scores>(place)};
  }
};
inline constexpr alibi_bias<detail::alignment::equal> alibi{};
inline constexpr alibi_bias<detail::alignment::top_left> alibi_top_left{};
inline constexpr alibi_bias<detail::alignment::bottom_right> alibi_bottom_right{};
constexpr alibi_bias<detail::alignment::given> alibi_from(std::ptrdiff_t position_of_query_0) {
  return alibi_bias<detail::alignment::given>(position_of_query_0);
}

namespace detail {
struct dropout_mask : mask_base {
  double rate;
  std::uint64_t seed;
  constexpr dropout_mask(double of_weights, std::uint64_t the_seed) noexcept
      : rate(of_weights), seed(the_seed) {}
  template <class Layer, class Scores>
  using rule = accepted;
  template <class Scores>
  constexpr auto policy(mask_place place) const noexcept {
    using T = typename Scores::value_type;
    return kernel::scores::dropout<T>(seed, place.batch * Scores::heads + place.head,
                                      static_cast<T>(rate));
  }
};
}  // namespace detail

// Drops weights at the rate and multiplies the others by 1 / (1 - rate), as a layer does in training
// (Srivastava et al. 2014). Which are dropped depends on seed, sequence, head, query and key only, not on
// the machine (Philox 4x32-10): take another seed for each step. A rate of 0 or less drops nothing, of 1
// or more everything. Say it once.
constexpr detail::dropout_mask dropout(double rate, std::uint64_t seed) noexcept {
  return {rate, seed};
}

// A tensor of bool; true: this key is attended to.
template <tensor_like X>
constexpr auto keep_mask(X&& x) noexcept {
  return detail::flag_mask<detail::memory_of<X>, true>(detail::as_memory<X>(x));
}
// A tensor of bool; true: this key is not attended to (PyTorch's key_padding_mask and attn_mask).
template <tensor_like X>
constexpr auto from_drop_mask(X&& x) noexcept {
  return detail::flag_mask<detail::memory_of<X>, false>(detail::as_memory<X>(x));
}
// Added to the scores after scale and softcap, in natural units. -infinity hides; +infinity is the
// caller's error and gives NaN.
template <tensor_like X>
constexpr auto score_bias(X&& x) noexcept {
  return detail::bias_mask<detail::memory_of<X>>(detail::as_memory<X>(x));
}
// The same from a function f(batch, head, query, key), which gives the layer's type, may not throw,
// and must give the same for the same arguments: it is called more than once.
template <class F>
constexpr auto score_bias_from(const F& f) noexcept {
  return detail::generated_bias<F>(f);
}

namespace detail {

// What a layer was given, as a mask: a tensor of integers is one of lengths.
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
template <class M>
using mask_of = std::remove_cvref_t<decltype(as_mask(std::declval<const M&>()))>;

template <class A, class B>
inline constexpr bool are_masks = mask_like<A>&& mask_like<B> &&
                                  (std::derived_from<std::remove_cvref_t<A>, mask_base> ||
                                   std::derived_from<std::remove_cvref_t<B>, mask_base>);

// A mask at one head of one sequence.
template <class Policy, class Observer>
struct head_mask {
  Policy policy;
  Observer observer;
};
template <class Scores, class Mask>
constexpr auto at_head(const Mask& mask, mask_place place) noexcept {
  using policy = decltype(mask.template policy<Scores>(place));
  using observer = decltype(mask.template observer<Scores>(place));
  return head_mask<policy, observer>{mask.template policy<Scores>(place),
                                     mask.template observer<Scores>(place)};
}

// What else is seen, a policy, and a head_mask.
template <class Policy, class Mask, class Observer>
constexpr auto and_seen(const Policy& policy, const head_mask<Mask, Observer>& given) noexcept {
  if constexpr (std::is_same_v<Mask, kernel::scores::every_key>) {
    return head_mask<Policy, Observer>{policy, given.observer};
  } else {
    using both = kernel::scores::all_of<Policy, Mask>;
    return head_mask<both, Observer>{both(policy, given.policy), given.observer};
  }
}

// To be kept in a mask that outlives this expression: a temporary tensor of lengths is owned. M: of a
// forwarding reference.
template <class M>
constexpr auto kept_mask(const std::remove_cvref_t<M>& mask) noexcept {
  using plain = std::remove_cvref_t<M>;
  if constexpr (!tensor_like<plain>)
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

}  // namespace detail

template <class A, class B>
requires detail::are_masks<A, B>
constexpr auto operator&(A&& a, B&& b) noexcept { return detail::both<A, B>(a, b); }
template <class A, class B>
requires detail::are_masks<A, B>
constexpr auto operator+(A&& a, B&& b) noexcept { return detail::both<A, B>(a, b); }

// May Mask be used for scores of these axes? Batch, Heads ... are axes with their sizes:
// fits_as_mask<decltype(causal), float, batch<2>, heads<5>, query<4>, key<6>>.
template <class Mask, class T, class Batch, class Heads, class Query, class Key>
concept fits_as_mask =
    rules::mask_fits<say::attention, detail::mask_of<std::remove_cvref_t<Mask>>,
                     detail::scores_of<T, Batch::size, Heads::size, Query::size, Key::size>>::ok;

}  // namespace umbel
