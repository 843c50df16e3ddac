// SPDX-License-Identifier: BSL-1.0
// The parts of a block in integers, one struct per kind: its numbers, the names of its ranges, its
// scratch, packing and observation. See block_numbers.hpp for the block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/block/residual_block.hpp>
#include <umbel/config.hpp>
#include <umbel/quantized/attention_numbers.hpp>
#include <umbel/quantized/attention_observed.hpp>
#include <umbel/quantized/feed_forward.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::integers {
namespace range_names = portable::range_names;

// x, rows (batch,) positions, hidden, with its positions along a different axis.
template <template <std::size_t> class Position, class Hidden, class X>
constexpr auto along(const X& x) noexcept {
  using T = typename X::value_type;
  constexpr std::size_t batch = layout_of<X>::template size_of<rules::batch_family>;
  constexpr std::size_t rows = layout_of<X>::count / Hidden::size;
  if constexpr (batch == 0)
    return view<const T, Position<rows>, Hidden>(x.data());
  else
    return view<const T, axes::batch<batch>, Position<rows / batch>, Hidden>(x.data());
}

// Units of a part: its input, the keys and values of attention, its result with the factors of it.
template <class T>
struct units_of_part {
  double input, keys, output;
  factors_of_features<T> factors;
};
struct no_scratch {};
// In the list of a part's names: the ranges of its formula.
template <class Model>
struct values_of_formula;
template <class Model, class Range>
struct formula_ranges;

// Weight: the type of the weights of attention.
template <class Layer, class Weight>
struct part_in_integers;

template <class T, class Hidden, class Heads, class... Options, class Weight>
struct part_in_integers<multi_head_attention<T, Hidden, Heads, Options...>, Weight> {
  using layer = multi_head_attention<T, Hidden, Heads, Options...>;
  using numbers = attention_numbers<layer, Weight>;
  using verdict = attention_has_integers<layer>;
  using names =
      std::conditional_t<numbers::prepare::normed,
                         residual::list<range_names::projected_q, range_names::projected_k,
                                        range_names::q, range_names::k, range_names::v>,
                         residual::list<range_names::q, range_names::k, range_names::v>>;
  template <std::size_t N, std::size_t M>
  using scratch = typename numbers::template projections<N, M>;
  template <std::size_t N, std::size_t M>
  using head = typename numbers::template head_scratch<N, M>;
  template <std::size_t N, std::size_t M>
  static constexpr std::size_t tables =
      numbers::template table_bytes<N> + (N == M ? 0 : numbers::template table_bytes<M>);

  template <class View, class Seen>
  static constexpr void pack(numbers& to, const View& w, const Seen& seen,
                             const units_of_part<T>& u) noexcept {
    to.pack_attention(w, numbers::units_of(seen, u.input, u.keys, u.keys, u.output), u.factors);
  }
  template <class Seen, class View, class X, class Mask>
  static constexpr auto calibrate(Seen& seen, const View& w, const X& x,
                                  const Mask& mask) noexcept {
    observe_projections<layer>(seen, w, x, x, x);
    return layer{w}(x, mask);
  }
  // For a memory, whose axis of positions may have any name.
  template <class Seen, class View, class X, class Memory, class Mask>
  static constexpr auto calibrate(Seen& seen, const View& w, const X& x, const Memory& memory,
                                  const Mask& mask) noexcept {
    observe_projections<layer>(seen, w, x, memory, memory);
    using hidden = typename layer::hidden_axis;
    const auto keys = along<axes::key, hidden>(memory);
    const auto y = layer{w}(along<axes::query, hidden>(x), keys, keys, mask);
    auto result = x;  // with the axes of x
    for (std::size_t i = 0; i < result.size(); ++i) result.data()[i] = y.data()[i];
    return result;
  }
};

template <class T, class Hidden, class Wide, class... Options, class Weight>
struct part_in_integers<feed_forward<T, Hidden, Wide, Options...>, Weight> {
  using layer = feed_forward<T, Hidden, Wide, Options...>;
  using numbers = feed_forward_numbers<layer>;
  using verdict = rules::inputs_fit<typename layer::wide_axis>;
  using names = std::conditional_t<layer::is_gated,
                                   residual::list<range_names::gate, range_names::up,
                                                  range_names::activated, range_names::product>,
                                   residual::list<range_names::up, range_names::activated>>;
  template <std::size_t N, std::size_t M>
  using scratch = typename numbers::template scratch_for<N>;

  template <class View, class Seen>
  static constexpr void pack(numbers& to, const View& w, const Seen& seen,
                             const units_of_part<T>& u) noexcept {
    to.pack_network(w, units_of_feed_forward<layer::is_gated>(seen, u.input, u.output), u.factors);
  }
  template <class Seen, class View, class X>
  static constexpr auto calibrate(Seen& seen, const View& w, const X& x) noexcept {
    return observe_network<layer>(seen, w, x);
  }
};

template <class T, class Hidden, class... Options, class Weight>
struct part_in_integers<linear<T, Hidden, Hidden, Options...>, Weight> {
  using layer = linear<T, Hidden, Hidden, Options...>;
  using numbers = linear_numbers<layer>;
  using verdict = rules::inputs_fit<Hidden>;
  using names = residual::list<>;
  template <std::size_t N, std::size_t M>
  using scratch = no_scratch;

  template <class View, class Seen>
  static constexpr void pack(numbers& to, const View& w, const Seen&,
                             const units_of_part<T>& u) noexcept {
    pack_map(to, w, u.input, u.output, u.factors);
  }
  template <class Seen, class View, class X>
  static constexpr auto calibrate(Seen&, const View& w, const X& x) noexcept {
    return layer{w}(x);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
