// SPDX-License-Identifier: BSL-1.0
// encoder_layer: self-attention and a feed-forward network, each with a residual connection and a
// norm (Vaswani et al. 2017; torch.nn.TransformerEncoderLayer without dropout).
//
//   norm_first<true>     y = x + attention(norm1(x));   y + feed_forward(norm2(y))
//   norm_first<false>    y = norm1(x + attention(x));   norm2(y + feed_forward(y))
//   feed_forward(x) = activation(x up) down      and other forms: feed_forward.hpp
//
// The norm order, the activation and whether there are biases must be stated. torch's layer without
// further arguments is norm_first<false>, activation<relu>, bias<true>.
//
// With norm_first<true>, norm_by<rms_norm>, gated<true>, activation<silu>, bias<false> and called
// with `causal` it is a layer of LLaMA; with rope<split_halves> for files of Hugging Face,
// rope<adjacent_pairs> for those of Meta and of llama2.c.
//
// Sequences are computed one after another, in a workspace of constant size, or by several workers.
#pragma once

#include <umbel/attention/forward_in_parts.hpp>
#include <umbel/block/encoder_rules.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/borrowing.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/layer/stacked.hpp>
#include <umbel/mask/in_formula.hpp>
#include <umbel/tensor/other_calls.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
// operator() of the layer and of prepacked<layer>.
template <class Derived, class Layer>
struct encoder_calls
    : other_calls_with_mask<
          say::encoder_layer,
          say::takes_a_sequence_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace> {
  using refused = other_calls_with_mask<
      say::encoder_layer,
      say::takes_a_sequence_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace>;
  using refused::operator();
  using refused::into;

  // x: (batch,) positions along an axis of any name, hidden; row-major. Gives a tensor of the same
  // axes. mask: lengths, causal ... (mask/combine.hpp); work: a Layer::workspace<positions axis>,
  // or several with an executor, parallel(executor, work) (layer/executor.hpp); without one,
  // scratch is on the stack, up to UMBEL_STACK_BUDGET bytes.
  template <tensor_like X, mask_like Mask = every_key, workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, const Mask& mask = {},
                            Workspace&& work = {}) const noexcept {
    return Layer::encode(self(), x, mask, work, by_value{});
  }
  // In a formula.
  template <traced X, mask_of_a_node Mask = every_key>
  constexpr auto operator()(const X& x, const Mask& mask = {}) const noexcept {
    using verdict = typename Layer::template verdict_in_formula<X, Mask>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok)
      return call_with_mask<typename Layer::template steps<view_of_node<X>>>(self(), mask, x);
    else
      return invalid{};
  }

  // The same, written into a row-major tensor or view of the axes of x in the same order. out may
  // be x.
  template <tensor_like Out, tensor_like X, mask_like Mask = every_key,
            workspace_like Workspace = on_stack>
  constexpr void into(Out&& out, const X& x, const Mask& mask = {},
                      Workspace&& work = {}) const noexcept {
    Layer::encode(self(), x, mask, work, static_cast<Out&&>(out));
  }

  // See workspace_for.
  template <tensor_like X, class Of = Layer>
  static typename Of::template workspace<
      axis_of<layout_of<X>, rules::sequence_family<layout_of<X>, typename Of::hidden_axis>>>
  workspace_of(const X&);

 private:
  constexpr const auto& self() const noexcept {
    return static_cast<const Derived*>(this)->get_weights();
  }
};

// What an encoder_layer has besides its calls: its parts, the types of its weights, the forward
// pass.
template <class T, class Hidden, class Heads, class FeedForward, class... Options>
struct encoder_layer_types {
  using parts = transformer_parts<T, Hidden, Heads, FeedForward, Options...>;

  static constexpr bool norms_first =
      option_or<option::norm_first, norm_first<true>, Options...>::value;
  static constexpr T epsilon = static_cast<T>(parts::epsilon_option::value);
  using value_type = T;
  using hidden_axis = typename parts::hidden;
  using attention = typename parts::attention::type;
  using feed_forward = typename parts::feed_forward::type;
  using activate = typename feed_forward::activate;
  using norm = typename parts::norm;

  using weights = portable::encoder_parts<typename norm::weights, typename attention::weights,
                                          typename norm::weights, typename feed_forward::weights>;
  using weights_view = view_of_weights<
      portable::encoder_parts<typename norm::weights_view, typename attention::weights_view,
                              typename norm::weights_view, typename feed_forward::weights_view>>;
  template <class Stored>
  using packed_weights =
      packed_weights_of<weights_view, portable::encoder_parts<
                                          typename norm::template packed_weights<>,
                                          typename attention::template packed_weights<Stored>,
                                          typename norm::template packed_weights<>,
                                          typename feed_forward::template packed_weights<Stored>>>;

  // Scratch for one call at a time; its contents between calls do not matter. It depends on the
  // number of positions, not on the name of their axis. AttentionWork: what the attention needs, in
  // a step of a cache (decode/cache_of_blocks.hpp) another one.
  template <std::size_t Positions,
            class AttentionWork = typename attention::template workspace<axes::query<Positions>>>
  struct scratch_for : workspace_base {
    using positions = std::index_sequence<Positions>;
    static constexpr std::size_t count = Positions * hidden_axis::size;
    alignas(64) T normed[count];
    alignas(64) T branch[count];  // what a residual connection adds
    union {                       // one after the other
      AttentionWork attention_work;
      typename feed_forward::template scratch_for<Positions> feed_forward_work;
    };
  };
  using widths =
      shape<hidden_axis, typename attention::template width<attention::sizes.query_width()>,
            typename feed_forward::wide_axis>;
  template <class... Positions>
  using workspace = scratch_for<rules::first_positions<widths, 1, Positions...>>;
  // The sizes of the scores of a call.
  template <class Layout, class Positions>
  using scores_for = scores_of<T, Layout::template size_of<rules::batch_family>, Heads::size,
                               Positions::size, Positions::size>;

  // Operations of its products (kernel/shapes.hpp) on one sequence; pairs: of a query and a key
  // that it sees.
  static constexpr std::uint64_t flops_of(std::uint64_t positions, std::uint64_t pairs) noexcept {
    return attention::sizes.flops(positions, positions, pairs) + feed_forward::flops_of(positions);
  }

  // A call in a formula of node X: its verdict, on shapes, then on the mask, and what it does.
  template <class Shapes, class X, class Mask>
  struct verdict_in_formula_rule {
    using type = Shapes;
  };
  template <class X, class Mask>
  struct verdict_in_formula_rule<accepted, X, Mask> {
    using positions = axis_of<layout_of<X>, rules::sequence_family<layout_of<X>, hidden_axis>>;
    using type = first_error<
        rules::mask_in_a_formula<say::encoder_layer, Mask>,
        rules::mask_fits<say::encoder_layer, mask_of<Mask>, scores_for<layout_of<X>, positions>>>;
  };
  template <class X, class Mask>
  using verdict_in_formula =
      typename verdict_in_formula_rule<rules::encode<X, T, hidden_axis>, X, Mask>::type;
  template <class X>
  struct steps {
    using block = encoder_layer_types;
    using layout = layout_of<X>;
    using positions = axis_of<layout, rules::sequence_family<layout, hidden_axis>>;
    using scratch = workspace<positions>;
    using result = row_major<layout>;
    static constexpr std::uint64_t flops =
        layout::count / (positions::size * hidden_axis::size) *
        flops_of(positions::size, std::uint64_t{positions::size} * positions::size);
    static constexpr std::size_t tables =
        attention::template forward_of<positions::size, positions::size>::tables;

    template <class Given, class Y, class... OfMask>
    static constexpr void run(const Given& given, Y& y, scratch& work, const X& x,
                              const OfMask&... of_mask) noexcept {
      sequences<positions>(given.weights(), x, given.mask(of_mask...), y, work);
    }
  };

  // How a call comes in, from the layer and from prepacked<layer> alike. Of: what computes it.
  template <class Of = encoder_layer_types, class Weights, class X, class Mask, class Workspace,
            class Out>
  static constexpr auto encode(const Weights& w, const X& x, const Mask& mask, Workspace& work,
                               Out&& out) noexcept {
    using layout = typename X::layout;
    using verdict = first_error<rules::encode<X, T, hidden_axis>,
                                rules::row_major_out<say::encoder_layer, Out, T, layout_of<X>>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using sequence = rules::sequence_family<layout, hidden_axis>;
      using positions = axis_of<layout, sequence>;
      using scratch = typename Of::template workspace<positions>;
      using scores = scores_for<layout, positions>;
      using given = given_workspaces<Workspace, scratch>;
      using fit = first_error<
          rules::mask_fits<say::encoder_layer, mask_of<Mask>, scores>,
          rules::scratch_fits<say::encoder_layer, typename given::each, scratch, shape<positions>>>;
      static_assert(report<fit>::ok, "umbel: shapes do not fit");
      if constexpr (fit::ok)
        return computed<tensor_of<T, row_major<layout>>, typename given::all>(
            out, work, [&](auto& y, auto& own) {
              Of::template sequences<positions>(w, x, as_mask(mask), y, own);
            });
      else
        return invalid{};
    } else {
      return invalid{};
    }
  }

  // All sequences of x, row-major, into y, which may be x, through one layer or a stack of them.
  // mask: as_mask of the argument. Work: a workspace, or what parallel() gives.
  template <class Positions, class Weights, class X, class Mask, class Y, class Work>
  static constexpr void sequences(const Weights& w, const X& x, const Mask& mask, Y& y,
                                  Work& work) noexcept {
    if constexpr (of_several_layers<Weights>) {
      sequences<Positions>(w.layers[0], x, mask, y, work);
      for (std::size_t i = 1; i < w.size(); ++i)
        sequences<Positions>(w.layers[i], y, mask, y, work);
    } else {
      constexpr std::size_t one = Positions::size * hidden_axis::size;
      using scores = scores_for<typename X::layout, Positions>;
      each_sequence<X::layout::count / one>(
          work,
          [&](std::size_t b, auto& own) {
            sequence<Positions>(w, x.data() + b * one, at_sequence<scores>(mask, b),
                                y.data() + b * one, own);
          },
          [&](std::size_t b, const auto& given) {
            sequence_in_parts<Positions>(w, x.data() + b * one, at_sequence<scores>(mask, b),
                                         y.data() + b * one, given);
          });
    }
  }

  // y = the layer's result for N rows, of which attend(from, to) computes the attention, in
  // work.attention_work. Work: a scratch_for. y may be x.
  template <std::size_t N, class Weights, class Work, class Attend>
  static constexpr void rows_of_sequence(const Weights& w, const T* x, T* y, Work& work,
                                         const Attend& attend) noexcept {
    // In constant expressions: the one of the union that lives.
    if constexpr (norms_first) norm::template normalise_rows<N>(w.norm1, epsilon, x, work.normed);
    if (__builtin_is_constant_evaluated()) work.attention_work = {};
    attend(norms_first ? work.normed : x, work.branch);
    if (__builtin_is_constant_evaluated()) work.feed_forward_work = {};
    after_attention<encoder_layer_types, N>(w.norm1, w.norm2, w.feed_forward, x, work.branch,
                                            work.normed, y, work.feed_forward_work);
  }

 private:
  static constexpr sequence_strides row_strides = {0, hidden_axis::size, 1};
  template <class Positions>
  using attention_of = typename attention::template forward_of<Positions::size, Positions::size>;

  // mask: a sequence_mask (mask/base.hpp).
  template <class Positions, class Weights, class Mask>
  static constexpr void sequence(const Weights& w, const T* x, const Mask& mask, T* y,
                                 workspace<Positions>& work) noexcept {
    rows_of_sequence<Positions::size>(w, x, y, work, [&](const T* from, T* to) {
      attention_of<Positions>::template forward<row_strides, row_strides, row_strides, row_strides>(
          w.attention, from, from, from, mask, to, work.attention_work);
    });
  }

  // One sequence by several workers, in blocks of rows before and after the attention, which has
  // parts of its own. Rows between these rounds are in the workspace of worker 0.
  template <class Positions, class Weights, class Mask, class Given>
  static void sequence_in_parts(const Weights& w, const T* x, const Mask& mask, T* y,
                                const Given& given) noexcept {
    constexpr std::size_t n = Positions::size, width = hidden_axis::size;
    auto& shared = given.work[0];
    const T* from = x;
    if constexpr (norms_first) {
      from = shared.normed;
      each_block_of_rows<n, width>(
          given, [&]<std::size_t N>(std::integral_constant<std::size_t, N>, std::size_t at, auto&) {
            norm::template normalise_rows<N>(w.norm1, epsilon, x + at, shared.normed + at);
          });
    }
    forward_in_parts<attention_of<Positions>, Given::workers>::template forward<
        row_strides, row_strides, row_strides, row_strides>(
        w.attention, from, from, from, mask, shared.branch,
        workers_with<&workspace<Positions>::attention_work, Given>{given});
    each_block_of_rows<n, width>(given, [&]<std::size_t N>(std::integral_constant<std::size_t, N>,
                                                           std::size_t at, auto& own) {
      after_attention<encoder_layer_types, N>(w.norm1, w.norm2, w.feed_forward, x + at,
                                              shared.branch + at, shared.normed + at, y + at,
                                              own.feed_forward_work);
    });
  }
};

template <class T, class Hidden, class Heads, class FeedForward, class... Options>
using encoder_layer_types_of = std::conditional_t<
    rules::transformer_arguments<say::encoder_layer, T, Hidden, Heads, FeedForward>::ok,
    encoder_layer_types<T, Hidden, Heads, FeedForward, Options...>,
    encoder_layer_types<float, no_axis<1>, axes::heads<1>, axes::intermediate<1>>>;

}  // namespace detail

// A Transformer encoder layer (Vaswani et al. 2017). T: float or double. hidden<32>, heads<4>,
// intermediate<64>. Options, in any order:
//   norm_first<true|false>            must be stated
//   activation<>                      of the feed-forward network (feed_forward.hpp); must be
//                                     stated
//   bias<true|false>                  of all projections; must be stated, or
//   bias_on<'q', 'k', 'v'>            of those of attention, with feed_forward_bias<>
//   feed_forward_bias<true|false>     of the feed-forward network; without it as bias<> says
//   gated<true|false>                 of the feed-forward network; without it false
//   norm_by<layer_norm|rms_norm>      without it layer_norm
//   norm_bias<true|false>             do layer_norms have a beta? without it true
//   norm_epsilon<1, 100'000>          without it 1e-5; rms_norm needs it
//   kv_heads<>, head_dim<>, value_dim<>, rope<>, score_scale<>, softcap<>, empty_rows<>
//                                     of attention (attention/multi_head.hpp)
template <class T, class Hidden, class Heads, class FeedForward = detail::nothing, class... Options>
class encoder_layer
    : public detail::encoder_layer_types_of<T, Hidden, Heads, FeedForward, Options...>,
      public detail::encoder_calls<encoder_layer<T, Hidden, Heads, FeedForward, Options...>,
                                   encoder_layer<T, Hidden, Heads, FeedForward, Options...>>,
      public detail::borrowing<detail::say::encoder_layer,
                               encoder_layer<T, Hidden, Heads, FeedForward, Options...>,
                               typename detail::encoder_layer_types_of<
                                   T, Hidden, Heads, FeedForward, Options...>::weights_view> {
  using types = detail::encoder_layer_types_of<T, Hidden, Heads, FeedForward, Options...>;
  static_assert(detail::reported<detail::rules::encoder<T, Hidden, Heads, FeedForward,
                                                        typename types::parts, Options...>>::ok,
                "umbel: shapes do not fit");

 public:
  template <class Derived>
  using calls = detail::encoder_calls<Derived, encoder_layer>;
  using detail::borrowing<detail::say::encoder_layer, encoder_layer,
                          typename types::weights_view>::borrowing;
};

namespace detail {
// Would a call compile? Generic code asks first: encodes<encoder, tokens>.
template <class Layer, class X>
inline constexpr bool encodes =
    rules::encode<X, typename Layer::value_type, typename Layer::hidden_axis>::ok;
}  // namespace detail

// Would layer(x) of an encoder_layer compile?
template <class Layer, class X>
concept encodes = detail::encodes<Layer, std::remove_cvref_t<X>>;

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
