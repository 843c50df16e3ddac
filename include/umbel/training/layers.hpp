// SPDX-License-Identifier: BSL-1.0
// Gradients of the layers that are one step of a formula: norms, learned positions. (Attention:
// attention.hpp. Blocks, as their operations: blocks.hpp.)
//
// layer_gradient<layer_call<...>>::describe(node) returns for a call in the graph of a gradient the
// function that computes its gradient, how many of its operands have one, and its memory.
#pragma once

#include <umbel/block/embedding.hpp>
#include <umbel/block/layer_norm.hpp>
#include <umbel/block/positions.hpp>
#include <umbel/block/rms_norm.hpp>
#include <umbel/block/sinusoidal_positions.hpp>
#include <umbel/config.hpp>
#include <umbel/formula/along_axes.hpp>
#include <umbel/formula/node.hpp>
#include <umbel/kernel/backward/norm.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// x with these axes, which are its own, in their order, row-major.
template <class X, class... Axes>
constexpr auto in_order(const X& x, umbel::detail::shape<Axes...>) noexcept {
  using ordered = algebra::permute<layout_of<X>, typename Axes::family...>;
  const auto y = x.template reread<ordered>(0);
  if constexpr (ordered::contiguous)
    return y;
  else
    return y.contiguous();
}

template <class Norm>
inline constexpr bool is_layer_norm = false;
template <class T, class Axis, class... Options>
inline constexpr bool is_layer_norm<layer_norm<T, Axis, Options...>> = true;
template <class Norm>
inline constexpr bool is_norm = is_layer_norm<Norm>;
template <class T, class Axis>
inline constexpr bool is_norm<rms_norm<T, Axis>> = true;

// Parts of a norm: gamma, beta if there is one, epsilon.
template <class T, class Norm, class X, class View>
  requires is_norm<Norm>
struct layer_gradient<layer_call<T, operation_steps<Norm, X>, Norm, View>> {
  static constexpr std::size_t width = Norm::axis::size;
  static constexpr bool centered = is_layer_norm<Norm>;
  static constexpr kernel::norm_shape shape = {layout_of<X>::count / width, width, width, width,
                                               kept<T, Norm>::count == 3};

  static constexpr void describe(node_of_graph<T>& node) noexcept {
    node.run_gradient = run;
    node.gradient_scratch = 2 * width;
    node.differentiated = 1;
  }
  static constexpr void run(const captured<T>* parts, const captured<T>* gradients,
                            const operand_memory<T>* x, const T*, const T* dy, T* dx,
                            T* scratch) noexcept {
    const kernel::norm_gradients<shape, centered, T> of{
        x[0].numbers,
        parts[0].values,
        parts[kept<T, Norm>::count - 1].number,
        dy,
        dx,
        const_cast<T*>(gradients[0].values),
        shape.beta ? const_cast<T*>(gradients[1].values) : nullptr};
    if (__builtin_is_constant_evaluated())
      kernel::plain::norm_backward(of, scratch);
    else
      kernel::norm_backward(of, scratch);
  }
};

template <class T, class Position, class Hidden, class Pairs, std::size_t Base>
inline constexpr bool adds_a_constant<sinusoidal_positions<T, Position, Hidden, Pairs, Base>> =
    true;

// x + table: the gradient of the table is the sum over the axes that only x has.
template <class T, class Position, class Hidden, class X, class View>
struct layer_gradient<layer_call<T, operation_steps<learned_positions<T, Position, Hidden>, X>,
                                 learned_positions<T, Position, Hidden>, View>> {
  using layout = row_major<layout_of<X>>;
  using table = umbel::detail::layout<typename Position::plain, typename Hidden::plain>;

  static constexpr void describe(node_of_graph<T>& node) noexcept {
    node.run_gradient = run;
    node.gradient_scratch = table::count;
    node.differentiated = 1;
  }
  static constexpr void run(const captured<T>*, const captured<T>* gradients,
                            const operand_memory<T>*, const T*, const T* dy, T* dx,
                            T* scratch) noexcept {
    for (std::size_t i = 0; i < layout::count; ++i) dx[i] = dy[i];
    T* const to = const_cast<T*>(gradients[0].values);
    if (to == nullptr) return;
    for (std::size_t i = 0; i < table::count; ++i) scratch[i] = T{};
    add<0>(dy, scratch);
    for (std::size_t i = 0; i < table::count; ++i) to[i] = to[i] + scratch[i];
  }

 private:
  template <std::size_t Axis>
  static constexpr void add(const T* from, T* to) noexcept {
    if constexpr (Axis < layout::rank) {
      using family = typename layout::template axis_at<Axis>::family;
      for (std::size_t i = 0; i < layout::extents[Axis]; ++i)
        add<Axis + 1>(from + i * layout::strides[Axis], to + i * table::template stride_of<family>);
    } else {
      *to = *to + *from;
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas

namespace umbel::inline UMBEL_TARGET::detail {

// embed(ids): the rows of a table that is a part of an argument.
template <class T, class Vocabulary, class Hidden>
struct in_words<embedding<T, Vocabulary, Hidden>> {
  template <class Ids>
  static constexpr auto of(const embedding<T, Vocabulary, Hidden>& words, const Ids& ids) noexcept {
    return formulas::lookup(view<const T, Vocabulary, Hidden>(words.get_weights().data()), ids);
  }
};
// embed.logits(x): a contraction with the same bits.
template <class T, class Vocabulary, class Hidden>
struct in_words<logits_block<T, Vocabulary, Hidden>> {
  template <class Words, class X>
  static constexpr auto of(const Words& words, const X& x) noexcept {
    const view<const T, Vocabulary, Hidden> table(words.get_weights().data());
    using result = projected<layout_of<X>, linear_map<T, Hidden, Vocabulary, false>>;
    return formulas::in_order(x.template contract<typename Hidden::family>(x.as_node_like(table)),
                              typename result::axes{});
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
