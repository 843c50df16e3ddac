// SPDX-License-Identifier: BSL-1.0
// feed_forward: the position-wise feed-forward network.
//
//   activation(x up) down                  Vaswani et al. 2017
//   (activation(x gate) * (x up)) down     gated<true>, Shazeer 2020: SwiGLU with silu (LLaMA),
//                                          GEGLU with gelu_tanh (T5 1.1, Gemma), ReGLU with relu
//
// activation<> and bias<> have no default: Vaswani et al. and PyTorch's layers use relu and biases,
// BERT and GPT-2 GELU and biases, LLaMA (gated) silu without biases.
//
// Positions are computed in runs along the axis before the features, in constant memory.
#pragma once

#include <umbel/block/layer_norm.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/borrowing.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/layer/packed_weights.hpp>
#include <umbel/layer/workspace_rules.hpp>
#include <umbel/operation/activation.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/other_calls.hpp>
#include <umbel/tensor/refusal.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// Option: is there a gate? gated<true> with silu is SwiGLU.
template <bool Value>
struct gated {
  using kind = detail::option::gated;
  static constexpr bool value = Value;
};
namespace detail {

UMBEL_SAYS(feed_forward, "feed_forward");
UMBEL_SAYS(expects_a_sequence_then_a_workspace, "expects a sequence, then a workspace");
UMBEL_SAYS(LLaMA_which_is_also_gated_has, "LLaMA, which also has gated<true>, has");
UMBEL_SAYS(torch_transformer_layers_have, "the transformer layers of torch have");

namespace rules {
// The usual options of a layer without a gate and of one with a gate.
template <class Torch>
struct usual_plain {
  using who = Torch;
  using norm_first = say::norm_first_false;
  using activation = say::activation_relu;
  using bias = say::bias_true;
};
struct usual_gated {
  using who = say::LLaMA_which_is_also_gated_has;
  using norm_first = say::norm_first_true;
  using activation = say::activation_silu;
  using bias = say::bias_false;
};
template <class Torch, class... Options>
using usual_options = std::conditional_t<option_or<option::gated, gated<false>, Options...>::value,
                                         usual_gated, usual_plain<Torch>>;
template <class Usual, class... Options>
using activation_to_say =
    option_to_say<is_said<option::activation, Options...>, say::activation_relu_or_another,
                  typename Usual::activation>;
template <class Usual, class... Options>
using bias_to_say =
    option_to_say<is_said<option::bias, Options...>, say::bias_true_or_false, typename Usual::bias>;
template <class Layer, class Usual, class... Options>
using network_said = options_said<Layer, typename Usual::who, activation_to_say<Usual, Options...>,
                                  bias_to_say<Usual, Options...>>;

template <class T, class Hidden, class FeedForward, class... Options>
using feed_forward = first_error<
    floating<say::feed_forward, T>, in_place<say::feed_forward, Hidden, axes::hidden>,
    in_place<say::feed_forward, FeedForward, axes::intermediate>,
    well_formed<detail::axis_or_none<Hidden>>, well_formed<detail::axis_or_none<FeedForward>>,
    names_each_once<
        say::feed_forward,
        shape<typename axis_or_none<Hidden>::plain, typename axis_or_none<FeedForward>::plain>,
        typename axis_or_none<Hidden>::family, typename axis_or_none<FeedForward>::family>,
    holds<detail::axis_or_none<Hidden>, detail::axis_or_none<FeedForward>>,
    options<say::feed_forward, option_kinds<option::bias, option::activation, option::gated>,
            Options...>,
    one_bias<say::feed_forward, Options...>,
    network_said<say::feed_forward, usual_options<say::torch_transformer_layers_have, Options...>,
                 Options...>>;
}  // namespace rules

// The axis of the rows of a layout whose last axis is the features.
template <class Layout>
struct rows_axis {
  using type = typename Layout::template axis_at<Layout::rank - 2>;
};
template <class Layout>
  requires(Layout::rank < 2)
struct rows_axis<Layout> {
  using type = axes::token<1>;
};

// operator() of the layer and of prepacked<layer>.
template <class Derived, class Layer>
struct feed_forward_calls
    : other_calls_and_into<say::feed_forward, say::expects_a_sequence_then_a_workspace> {
  using refused = other_calls_and_into<say::feed_forward, say::expects_a_sequence_then_a_workspace>;
  using refused::operator();
  using refused::into;
  using refused::workspace_of;

  // x: any axes with Hidden last; row-major. Returns a tensor with the same axes. work: a
  // Layer::workspace<the axis before Hidden>; without one, up to UMBEL_STACK_BUDGET bytes of stack.
  template <tensor_like X, workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, Workspace&& work = {}) const noexcept {
    return Layer::apply(self(), x, work, by_value{});
  }
  // In a formula.
  template <traced X>
  constexpr auto operator()(const X& x) const noexcept {
    using steps = typename Layer::template steps<view_of_node<X>>;
    using verdict = in_its_line<typename steps::verdict, X>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok)
      return call_with_weights<steps>(self(), x);
    else
      return refusal<verdict>();
  }
  // The same into a row-major tensor or view with the axes of x in their order. out may be x.
  template <tensor_like Out, tensor_like X, workspace_like Workspace = on_stack>
  constexpr void into(Out&& out, const X& x, Workspace&& work = {}) const noexcept {
    Layer::apply(self(), x, work, static_cast<Out&&>(out));
  }

  // See workspace_for.
  template <tensor_like X, class Of = Layer>
  static auto workspace_of(const X&) {
    using steps = typename Of::template steps<X>;
    static_assert(report<typename steps::verdict>::ok, "umbel: shapes do not fit");
    if constexpr (steps::verdict::ok)
      return of_type<typename Of::template workspace<typename steps::rows>>();
    else
      return invalid{};
  }

 private:
  constexpr const auto& self() const noexcept {
    return static_cast<const Derived*>(this)->get_weights();
  }
};

// The members of feed_forward except its calls: the types of its weights, the forward pass.
template <class T, class Hidden, class FeedForward, class... Options>
struct feed_forward_types {
  using narrow_axis = typename axis_or_none<Hidden>::plain;
  using wide_axis = typename axis_or_none<FeedForward>::plain;

  static constexpr bool has_bias = option_or<option::bias, bias<false>, Options...>::q;
  static constexpr bool is_gated = option_or<option::gated, gated<false>, Options...>::value;
  using value_type = T;
  using hidden_axis = narrow_axis;
  using activate = typename option_or<option::activation, activation<relu>, Options...>::function;

  template <class Up, class Down>
  struct parts_of {
    using type = portable::feed_forward_parts<Up, Down>;
  };
  template <class Up, class Down>
    requires is_gated
  struct parts_of<Up, Down> {
    using type = portable::gated_feed_forward_parts<Up, Up, Down>;
  };
  template <template <class, class, class, bool> class Linear>
  using parts_in = typename parts_of<Linear<T, narrow_axis, wide_axis, has_bias>,
                                     Linear<T, wide_axis, narrow_axis, has_bias>>::type;
  using weights = parts_in<portable::linear_weights>;
  using weights_view = view_of_weights<parts_in<portable::linear_view>>;
  template <class Stored>
  using packed_weights =
      packed_weights_of<weights_view, parts_in<packed_as<Stored>::template linear>>;

  // Scratch for one call at a time; its contents don't matter between calls.
  template <std::size_t Rows>
  struct scratch_for : workspace_base {
    using positions = std::index_sequence<Rows>;
    static constexpr std::size_t line = 64 / sizeof(T);
    static constexpr std::size_t count = plan::divide_up(Rows * wide_axis::size, line) * line;
    alignas(64) T expanded[(is_gated ? 2 : 1) * count];
  };
  template <class... Rows>
  using workspace = scratch_for<rules::first_positions<shape<wide_axis>, 1, Rows...>()>;

  // Operations of its products (kernel/shapes.hpp) for this many positions.
  static constexpr std::uint64_t flops_of(std::uint64_t rows) noexcept {
    return (is_gated ? 3 : 2) * kernel::product_flops(rows, narrow_axis::size, wide_axis::size);
  }

  // One call with a tensor or view.
  template <class X>
  struct steps {
    using block = feed_forward_types;
    static constexpr bool by_rows = true;  // in a formula
    using layout = layout_of<X>;
    using verdict = rules::rows_of<say::feed_forward, X, T, narrow_axis>;
    using rows = typename rows_axis<layout>::type;
    using scratch = workspace<rows>;
    using result = row_major<layout>;
    static constexpr std::uint64_t flops = flops_of(layout::count / narrow_axis::size);

    template <class Weights, class Y>
    static constexpr void run(const Weights& w, Y& y, scratch& work, const X& x) noexcept {
      constexpr std::size_t sequence_size = rows::size * narrow_axis::size;
      for (std::size_t b = 0; b < layout::count / sequence_size; ++b)
        feed_rows<rows::size>(w, x.data() + b * sequence_size, work, y.data() + b * sequence_size);
    }
  };

  // The entry of a call, from the layer and from prepacked<layer>.
  template <class Weights, class X, class Workspace, class Out>
  static constexpr auto apply(const Weights& w, const X& x, Workspace& work, Out&& out) noexcept {
    using layout = typename X::layout;
    using call = steps<X>;
    using verdict = first_error<typename call::verdict,
                                rules::row_major_out<say::feed_forward, Out, T, layout>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using scratch = typename call::scratch;
      using fit =
          rules::scratch_fits<say::feed_forward, Workspace, scratch, shape<typename call::rows>>;
      static_assert(report<fit>::ok, "umbel: shapes do not fit");
      if constexpr (fit::ok)
        return computed<tensor_of<T, row_major<layout>>, scratch>(
            out, work,
            [&](auto& y, scratch& buffers) UMBEL_LAMBDA_INLINE { call::run(w, y, buffers, x); });
      else
        return invalid{};
    } else {
      return invalid{};
    }
  }

  // Adjacent rows of hidden_axis::size elements. y may be x. Work: scratch for as many rows.
  template <std::size_t Rows, class Weights, class Work>
  static constexpr void feed_rows(const Weights& w, const T* x, Work& work, T* y) noexcept {
    constexpr std::size_t wide = wide_axis::size, narrow = narrow_axis::size;
    constexpr kernel::linear_shape widen = {Rows, narrow, wide, narrow, 1, wide, 1, has_bias};
    constexpr kernel::linear_shape reduce = {Rows, wide, narrow, wide, 1, narrow, 1, has_bias};
    T* const up = work.expanded;
    project<widen>(w.up, x, up);
    if constexpr (is_gated) {
      T* const gate = work.expanded + work.count;
      project<widen>(w.gate, x, gate);
      if (__builtin_is_constant_evaluated())
        kernel::plain::gated<activate, Rows * wide>(gate, up, up);
      else
        kernel::gated<activate, Rows * wide>(gate, up, up);
    } else {
      activate::template apply<Rows * wide>(up, up);
    }
    project<reduce>(w.down, up, y);
  }
};

template <class T, class Hidden, class FeedForward, class... Options>
using feed_forward_types_of =
    rules::types_or_none<rules::floating<say::feed_forward, T>,
                         rules::in_place<say::feed_forward, Hidden, axes::hidden>,
                         rules::in_place<say::feed_forward, FeedForward, axes::intermediate>,
                         feed_forward_types<T, Hidden, FeedForward, Options...>,
                         feed_forward_types<float, no_axis<1>, axes::intermediate<1>>>;

}  // namespace detail

// The position-wise feed-forward network (Vaswani et al. 2017; gated: Shazeer 2020). T: float or
// double. hidden<32>, intermediate<64>. Options, in any order:
//   bias<true|false>     of all projections; required
//   activation<relu>     or <gelu_exact>, <gelu_tanh>, <silu>, or a custom one; required
//   gated<true|false>    default false
template <class T, class Hidden, class FeedForward = detail::nothing, class... Options>
UMBEL_EXPECTS(
    "feed_forward: expects an element type, two axes, then options; write feed_forward<float, "
    "hidden<64>, intermediate<128>, bias<true>>")
class feed_forward
    : public detail::feed_forward_types_of<T, Hidden, FeedForward, Options...>,
      public detail::feed_forward_calls<feed_forward<T, Hidden, FeedForward, Options...>,
                                        feed_forward<T, Hidden, FeedForward, Options...>>,
      public detail::borrowing<detail::say::feed_forward,
                               feed_forward<T, Hidden, FeedForward, Options...>,
                               typename detail::feed_forward_types_of<T, Hidden, FeedForward,
                                                                      Options...>::weights_view> {
  using types = detail::feed_forward_types_of<T, Hidden, FeedForward, Options...>;
  static_assert(
      detail::reported<detail::rules::feed_forward<T, Hidden, FeedForward, Options...>>::ok,
      "umbel: shapes do not fit");

 public:
  template <class Derived>
  using calls = detail::feed_forward_calls<Derived, feed_forward>;
  using detail::borrowing<detail::say::feed_forward, feed_forward,
                          typename types::weights_view>::borrowing;
};

namespace detail {
// Would a call compile? Generic code asks first: feeds_forward<network, tokens>.
template <class Layer, class X>
inline constexpr bool feeds_forward =
    rules::rows_of<say::feed_forward, X, typename Layer::value_type,
                   typename Layer::hidden_axis>::ok;
}  // namespace detail

// Would layer(x) of a feed_forward compile?
template <class Layer, class X>
concept feeds_forward =
    detail::one_is_invalid<X> || detail::feeds_forward<Layer, std::remove_cvref_t<X>>;

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
