// SPDX-License-Identifier: BSL-1.0
// Blocks in the graph of a gradient, as the operations that they consist of. A block has the bits
// of its operations (docs/language.md), so training and inference agree.
#pragma once

#include <umbel/block/decoder.hpp>
#include <umbel/block/encoder.hpp>
#include <umbel/block/feed_forward.hpp>
#include <umbel/config.hpp>
#include <umbel/formula/arithmetic.hpp>
#include <umbel/formula/results.hpp>
#include <umbel/training/additive.hpp>
#include <umbel/training/attention.hpp>
#include <umbel/training/recompute.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// Calls f(layer, x) for one layer or each of a stack.
template <class W, class X, class F>
constexpr auto through_layers(const W& w, const X& x, const F& f) noexcept {
  if constexpr (of_several_layers<W>) {
    auto y = f(w.layers[0], x);
    for (std::size_t i = 1; i < w.size(); ++i) {
      formulas::next_recomputed(x);
      y = f(w.layers[i], y);
    }
    return y;
  } else {
    return f(w, x);
  }
}

// Those of these families that the layout has, in its order: as variance reads them.
template <class Layout, class Found, class Axes, class... Families>
struct families_in_order;
template <class Layout, class... Found, class... Families>
struct families_in_order<Layout, formulas::list<Found...>, shape<>, Families...> {
  template <class X>
  static constexpr auto squares(const X& x) noexcept {
    return x.template contract<Found...>(x);
  }
};
template <class Layout, class... Found, class First, class... Rest, class... Families>
struct families_in_order<Layout, formulas::list<Found...>, shape<First, Rest...>, Families...>
    : families_in_order<
          Layout,
          std::conditional_t<(std::is_same_v<typename First::family, Families> || ...),
                             formulas::list<Found..., typename First::family>,
                             formulas::list<Found...>>,
          shape<Rest...>, Families...> {};
template <template <std::size_t> class... Axes>
struct in_words<variance_operation<Axes...>> {
  template <class X>
  static constexpr auto of(const variance_operation<Axes...>&, const X& x) noexcept {
    using from = layout_of<X>;
    using result = reduced_layout<from, family_of<Axes>...>;
    using summed =
        families_in_order<from, formulas::list<>, typename from::axes, family_of<Axes>...>;
    return summed::squares(x - mean<Axes...>(x)) /
           static_cast<typename X::T>(from::count / result::count);
  }
};

template <class Layer>
struct in_words<multi_head_block<Layer>> {
  template <class W, class Mask, class X>
  static constexpr auto of(const W& w, const Mask& mask, const X& x) noexcept {
    using sequence = rules::sequence_family<layout_of<X>, typename Layer::hidden_axis>;
    return attend<sequence, sequence>(w, mask, x, x, x);
  }
  template <class W, class Mask, class X, class Y, class Z>
  static constexpr auto of(const W& w, const Mask& mask, const X& x, const Y& y,
                           const Z& z) noexcept {
    return attend<rules::query_family, rules::key_family>(w, mask, x, y, z);
  }
  // From x to a second sequence, for any names of their axes.
  template <class W, class Mask, class X, class Y>
  static constexpr auto to_memory(const W& w, const Mask& mask, const X& x, const Y& y) noexcept {
    using family = typename Layer::hidden_axis;
    return attend<rules::sequence_family<layout_of<X>, family>,
                  rules::sequence_family<layout_of<Y>, family>>(w, mask, x, y, y);
  }

 private:
  // Each head's row of a projection, which is row-major, through its norm, if there is one.
  template <class X, class W, class NormIn>
  static constexpr auto normed(const X& x, const W& w, const NormIn& norm_in) noexcept {
    using norm = typename Layer::norm_of_heads;
    if constexpr (std::is_void_v<typename norm::layer>) {
      return x;
    } else {
      constexpr std::size_t head_dim = Layer::sizes.head_dim;
      using rows = layout<axes::token<layout_of<X>::count / head_dim>, axes::head_dim<head_dim>>;
      return typename norm::layer(norm_in(w), norm::epsilon)(x.template reread<rows>(0))
          .template reread<layout_of<X>>(0);
    }
  }
  template <class QueryAxis, class KeyAxis, class W, class Mask, class X, class Y, class Z>
  static constexpr auto attend(const W& w, const Mask& mask, const X& x, const Y& y,
                               const Z& z) noexcept {
    using family = typename Layer::hidden_axis::family;
    const auto q = normed(formulas::features_last<QueryAxis, family>(x).project(w.q), w,
                          [](const auto& of) -> const auto& { return of.q_norm; });
    const auto k = normed(formulas::features_last<KeyAxis, family>(y).project(w.k), w,
                          [](const auto& of) -> const auto& { return of.k_norm; });
    const auto v = formulas::features_last<KeyAxis, family>(z).project(w.v);
    using steps = formulas::attend_steps<Layer, QueryAxis, KeyAxis, view_of_node<decltype(q)>,
                                         view_of_node<decltype(k)>, view_of_node<decltype(v)>>;
    const auto context = mask_in_formula<Mask>::with_nodes(x, mask, [&](const auto&... of_mask) {
      return q.template call<steps>(
          weights_and_mask<formulas::without_weights, Mask>{formulas::without_weights{}, mask}, k,
          v, of_mask...);
    });
    return formulas::in_order(context.project(w.o), typename layout_of<X>::axes{});
  }
};

template <class T, class Hidden, class FeedForward, class... Options>
struct in_words<feed_forward_types<T, Hidden, FeedForward, Options...>> {
  using types = feed_forward_types<T, Hidden, FeedForward, Options...>;
  template <class W, class X>
  static constexpr auto of(const W& w, const X& x) noexcept {
    const typename types::activate activate{};
    if constexpr (types::is_gated)
      return (activate(x.project(w.gate)) * x.project(w.up)).project(w.down);
    else
      return activate(x.project(w.up)).project(w.down);
  }
};

template <class T, class Hidden, class FeedForward, class... Options>
struct in_words<feed_forward<T, Hidden, FeedForward, Options...>>
    : in_words<feed_forward_types<T, Hidden, FeedForward, Options...>> {};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
