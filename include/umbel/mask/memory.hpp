// SPDX-License-Identifier: BSL-1.0
// Masks that read memory, a tensor or view with some of the axes (batch, heads, query, key):
// lengths, keep_mask, drop_mask, score_bias; and score_bias of a function.
#pragma once

#include <umbel/config.hpp>
#include <umbel/mask/base.hpp>
#include <umbel/tensor/other_calls.hpp>
#include <umbel/tensor/tensor.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// The step along an axis of broadcast memory: 0 if all share one element.
template <class Layout, class Family>
inline constexpr std::size_t broadcast_step =
    Layout::template size_of<Family> > 1 ? Layout::template stride_of<Family> : 0;

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::portable {

// A mask in memory: X is a view, a temporary tensor or a placeholder. of_memory<Y>: the same of Y.
template <class X>
struct mask_memory : mask_base {
  using memory_layout = typename X::layout;
  X memory;

  UMBEL_SHARED constexpr explicit mask_memory(const X& x) noexcept : memory(x) {}
  template <class Family>
  static constexpr std::size_t step = detail::broadcast_step<memory_layout, Family>;
  constexpr const typename X::value_type* at(detail::mask_place place) const noexcept {
    return memory.data() + place.batch * step<detail::rules::batch_family> +
           place.head * step<detail::rules::heads_family>;
  }
};

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET::detail {

using portable::mask_memory;

template <class X>
struct kept_memory {
  using type = view_of<const typename std::remove_cvref_t<X>::value_type, layout_of<X>>;
};
template <class X>
  requires(temporary_tensor<X> || traced<X>)
struct kept_memory<X> {
  using type = std::remove_cvref_t<X>;
};
// X: a forwarding reference's type.
template <class X>
using memory_of = typename kept_memory<X>::type;
template <class X>
constexpr memory_of<X> as_memory(const std::remove_cvref_t<X>& x) noexcept {
  if constexpr (std::is_same_v<memory_of<X>, std::remove_cvref_t<X>>)
    return x;
  else
    return memory_of<X>(x.data());
}

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::portable {

template <class X>
struct length_mask : mask_memory<X> {
  UMBEL_SHARED constexpr explicit length_mask(const X& x) noexcept : mask_memory<X>(x) {}
  template <class Y>
  using of_memory = length_mask<Y>;
  static constexpr bool by_head = length_mask::template step<detail::rules::heads_family> != 0;
  static constexpr bool has_length = length_mask::template step<detail::rules::query_family> == 0;
  template <class Layer, class Scores>
  using rule = detail::rules::length_mask<Layer, X, Scores>;

  template <class Scores>
  constexpr auto policy(detail::mask_place place) const noexcept {
    using integer = typename X::value_type;
    using lengths = detail::kernel::scores::lengths<integer>;
    const integer* const from = this->at(place);
    constexpr std::size_t query_step = length_mask::template step<detail::rules::query_family>;
    if constexpr (query_step == 0)
      return detail::kernel::scores::first_keys(lengths::clamp(*from, Scores::keys));
    else
      return lengths(from, query_step);
  }
};

template <class X>
struct row_mask : length_mask<X> {
  UMBEL_SHARED constexpr explicit row_mask(const X& x) noexcept : length_mask<X>(x) {}
  template <class Y>
  using of_memory = row_mask<Y>;
  static constexpr bool counts_rows = true;
  template <class Layer, class Scores>
  using rule = detail::rules::row_mask<Layer, X, Scores>;
  UMBEL_SHARED constexpr std::size_t rows(std::size_t batch, std::size_t most) const noexcept {
    return detail::kernel::scores::lengths<typename X::value_type>::clamp(
        this->memory.data()[batch * row_mask::template step<detail::rules::batch_family>], most);
  }
};

template <class X, bool Keeps>
struct flag_mask : mask_memory<X> {
  UMBEL_SHARED constexpr explicit flag_mask(const X& x) noexcept : mask_memory<X>(x) {}
  template <class Y>
  using of_memory = flag_mask<Y, Keeps>;
  template <class Layer, class Scores>
  using rule = detail::rules::flag_mask<
      Layer, std::conditional_t<Keeps, detail::say::keep_mask, detail::say::drop_mask>, X, Scores>;

  template <class Scores>
  constexpr auto policy(detail::mask_place place) const noexcept {
    return detail::kernel::scores::kept<typename X::value_type, Keeps>(
        this->at(place), flag_mask::template step<detail::rules::query_family>,
        flag_mask::template step<detail::rules::key_family>);
  }
};

template <class X>
struct bias_mask : mask_memory<X> {
  UMBEL_SHARED constexpr explicit bias_mask(const X& x) noexcept : mask_memory<X>(x) {}
  template <class Y>
  using of_memory = bias_mask<Y>;
  template <class Layer, class Scores>
  using rule = detail::rules::bias_mask<Layer, X, Scores>;

  template <class Scores>
  constexpr auto policy(detail::mask_place place) const noexcept {
    return detail::kernel::scores::added<typename X::value_type>(
        this->at(place), bias_mask::template step<detail::rules::query_family>,
        bias_mask::template step<detail::rules::key_family>);
  }
};

template <class X>
struct unclear_mask : mask_base {
  template <class Layer, class Scores>
  using rule = detail::rules::unclear_mask<Layer, X>;
};

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET::detail {

using portable::bias_mask;
using portable::flag_mask;
using portable::length_mask;
using portable::row_mask;
using portable::unclear_mask;

// f at one head: the kernel calls it with a query and a key.
template <class F>
struct bias_at {
  F f;
  std::size_t batch, head;
  constexpr auto operator()(std::size_t query, std::size_t key) const noexcept {
    return f(batch, head, query, key);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::portable {

template <class F>
struct generated_bias : mask_base {
  F f;
  UMBEL_SHARED constexpr explicit generated_bias(const F& generator) noexcept : f(generator) {}
  template <class Layer, class Scores>
  using rule = detail::rules::generated_bias<Layer, F, Scores>;

  template <class Scores>
  constexpr auto policy(detail::mask_place place) const noexcept {
    using T = typename Scores::value_type;
    return detail::kernel::scores::generated<T, detail::bias_at<F>>({f, place.batch, place.head});
  }
};

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET::detail {

using portable::generated_bias;

UMBEL_SAYS(expects_a_tensor_or_view_or_a_function_object,
           "expects a tensor or view, or a function object");

// A refused argument counts as every key; in a formula as nothing, to be refused only once.
template <class... X>
using no_mask_of = std::conditional_t<(of_a_formula<X> || ...), invalid, every_key>;
template <class Name, class X, class Takes = say::expects_one_tensor_or_view>
constexpr no_mask_of<X> no_mask() noexcept {
  static_assert(report<rules::mask_of<Name, Takes, X>>::ok, "umbel: shapes do not fit");
  return {};
}

// An argument of valid_rows.
template <class X>
inline constexpr bool one_count = shaped<X> || rules::is_length<X>;

template <class F>
concept function_object = !shaped<F> && !of_a_formula<F> && !one_is_invalid<F> &&
                          (std::is_class_v<F> || std::is_function_v<std::remove_pointer_t<F>>);

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::inline UMBEL_TARGET {

// keep_mask(m): m is a tensor of bool in which true means that the query attends to the key. m: any
// of the axes batch, heads, query and key, in any order, with the scores' sizes or 1.
template <detail::shaped X>
constexpr auto keep_mask(X&& x) noexcept {
  return detail::flag_mask<detail::memory_of<X>, true>(detail::as_memory<X>(x));
}
template <class X>
  requires detail::is_tensor<std::remove_const_t<X>>
constexpr auto keep_mask(X& x UMBEL_LIFETIMEBOUND) noexcept {
  return detail::flag_mask<detail::memory_of<X&>, true>(detail::as_memory<X&>(x));
}
template <class X>
  requires(!detail::shaped<X>)
constexpr detail::no_mask_of<X> keep_mask(const X&) noexcept {
  return detail::no_mask<detail::say::keep_mask, X>();
}
template <class... X>
  requires(sizeof...(X) != 1)
constexpr detail::no_mask_of<X...> keep_mask(const X&...) noexcept {
  using verdict = detail::rules::arguments<detail::say::keep_mask,
                                           detail::say::expects_one_tensor_or_view, X...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}
// drop_mask(m): m is a tensor of bool in which true means that the query doesn't attend to the key
// (PyTorch's key_padding_mask and attn_mask). m: axes as for keep_mask.
template <detail::shaped X>
constexpr auto drop_mask(X&& x) noexcept {
  return detail::flag_mask<detail::memory_of<X>, false>(detail::as_memory<X>(x));
}
template <class X>
  requires detail::is_tensor<std::remove_const_t<X>>
constexpr auto drop_mask(X& x UMBEL_LIFETIMEBOUND) noexcept {
  return detail::flag_mask<detail::memory_of<X&>, false>(detail::as_memory<X&>(x));
}
template <class X>
  requires(!detail::shaped<X>)
constexpr detail::no_mask_of<X> drop_mask(const X&) noexcept {
  return detail::no_mask<detail::say::drop_mask, X>();
}
template <class... X>
  requires(sizeof...(X) != 1)
constexpr detail::no_mask_of<X...> drop_mask(const X&...) noexcept {
  using verdict = detail::rules::arguments<detail::say::drop_mask,
                                           detail::say::expects_one_tensor_or_view, X...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}
// score_bias(b): a tensor of the layer's type, added to the scores after scale and softcap, in
// natural units. -infinity hides; +infinity is an error and makes NaN. b: axes as for keep_mask.
template <detail::shaped X>
constexpr auto score_bias(X&& x) noexcept {
  return detail::bias_mask<detail::memory_of<X>>(detail::as_memory<X>(x));
}
template <class X>
  requires detail::is_tensor<std::remove_const_t<X>>
constexpr auto score_bias(X& x UMBEL_LIFETIMEBOUND) noexcept {
  return detail::bias_mask<detail::memory_of<X&>>(detail::as_memory<X&>(x));
}
// score_bias(f): f(batch, head, query, key), of the layer's type. It must not throw and must return
// the same result for the same arguments: it is called more than once per pair.
template <detail::function_object F>
constexpr auto score_bias(const F& f) noexcept {
  return detail::generated_bias<std::decay_t<F>>(f);
}
template <class X>
  requires(!detail::shaped<X> && !detail::function_object<X>)
constexpr detail::no_mask_of<X> score_bias(const X&) noexcept {
  return detail::no_mask<detail::say::score_bias, X,
                         detail::say::expects_a_tensor_or_view_or_a_function_object>();
}
template <class... X>
  requires(sizeof...(X) != 1)
constexpr detail::no_mask_of<X...> score_bias(const X&...) noexcept {
  using verdict =
      detail::rules::arguments<detail::say::score_bias,
                               detail::say::expects_a_tensor_or_view_or_a_function_object, X...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}

// valid_rows(n): n rows of each sequence exist, an integer or a tensor of integers by batch,
// clamped as lengths are. Keys from n on are hidden, as lengths hide them. In addition the call
// does no work for rows from n on: their results are zeros, and the others have the bits of a call
// with lengths.
template <class Length>
  requires detail::rules::is_length<Length>
constexpr detail::row_mask<tensor<Length>> valid_rows(const Length& count) noexcept {
  return detail::row_mask<tensor<Length>>(tensor<Length>{count});
}
template <detail::shaped X>
constexpr auto valid_rows(X&& counts) noexcept {
  return detail::row_mask<detail::memory_of<X>>(detail::as_memory<X>(counts));
}
template <class X>
  requires detail::is_tensor<std::remove_const_t<X>>
constexpr auto valid_rows(X& counts UMBEL_LIFETIMEBOUND) noexcept {
  return detail::row_mask<detail::memory_of<X&>>(detail::as_memory<X&>(counts));
}
template <class... X>
  requires(!(detail::one_count<X> && ... && (sizeof...(X) == 1)))
constexpr detail::no_mask_of<X...> valid_rows(const X&...) noexcept {
  using verdict = detail::rules::position_of<detail::say::valid_rows, X...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
