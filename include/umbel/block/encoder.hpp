// SPDX-License-Identifier: BSL-1.0
// encoder_layer: self-attention and a feed-forward network, each with a residual connection and a
// layer norm (Vaswani et al. 2017; torch.nn.TransformerEncoderLayer without dropout).
//
//   norm_first<true>     y = x + attention(norm1(x));   y + feed_forward(norm2(y))
//   norm_first<false>    y = norm1(x + attention(x));   norm2(y + feed_forward(y))
//   feed_forward(x) = activation(x up) down      and other forms: feed_forward.hpp
//
// Which of them, the activation and whether there are biases must be said. As torch's layer is without
// further arguments: norm_first<false>, activation<relu>, bias<true>.
//
// With norm_first<true>, norm_by<rms_norm>, gated<true>, activation<silu>, bias<false> and called with
// `causal` it is a layer of LLaMA; with rope<split_halves> for files of Hugging Face, rope<adjacent_pairs>
// for those of Meta and of llama2.c.
//
// Sequences are worked on one by one, each in a workspace of known size.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/block/transformer.hpp>
#include <umbel/tensor/other_calls.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct encoder_layer;
struct takes_a_sequence_then_a_mask_then_a_workspace;
struct torch_nn_TransformerEncoderLayer_has;
}  // namespace say

template <>
struct speak<say::encoder_layer> : speak_as_written<say::encoder_layer> {};
template <>
inline constexpr const char* spoken<say::takes_a_sequence_then_a_mask_then_a_workspace> =
    "takes a sequence; then a mask such as lengths, causal or all_keys; then a workspace";
template <>
inline constexpr const char* spoken<say::torch_nn_TransformerEncoderLayer_has> =
    "torch.nn.TransformerEncoderLayer has";

namespace rules {
template <class Parts, class... Options>
using encoder = first_error<typename Parts::attention::verdict,
                            transformer_options<say::encoder_layer,
                                                say::torch_nn_TransformerEncoderLayer_has, Parts,
                                                Options...>,
                            typename Parts::feed_forward::verdict>;

// One sequence of (Position, Hidden), or a batch of them, row-major.
template <class X, class T, class Hidden>
using encode =
    first_error<self_attend<say::encoder_layer, X, T, Hidden>,
                rows_of<say::encoder_layer, X, T, Hidden>, batch_first<say::encoder_layer, X>>;
}  // namespace rules

// operator() of the layer and of prepacked<layer>.
template <class Derived, class Layer>
struct encoder_calls
    : other_calls_and_into<say::encoder_layer, say::takes_a_sequence_then_a_mask_then_a_workspace> {
  using refused =
      other_calls_and_into<say::encoder_layer, say::takes_a_sequence_then_a_mask_then_a_workspace>;
  using refused::operator();
  using refused::into;

  // x: (batch,) positions along an axis of any name, hidden; row-major. Gives a tensor of the same
  // axes. mask: lengths, causal ... (mask/combine.hpp); work: a Layer::workspace<positions axis>; without
  // one, scratch is on the stack, up to UMBEL_STACK_BUDGET bytes.
  template <tensor_like X, mask_like Mask = every_key, workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, const Mask& mask = {},
                            Workspace&& work = {}) const noexcept {
    return Layer::encode(self(), x, mask, work, by_value{});
  }

  // The same, written into a row-major tensor or view of the axes of x in the same order. out must
  // not overlap x.
  template <tensor_like Out, tensor_like X, mask_like Mask = every_key,
            workspace_like Workspace = on_stack>
  constexpr void into(Out&& out, const X& x, const Mask& mask = {},
                      Workspace&& work = {}) const noexcept {
    Layer::encode(self(), x, mask, work, static_cast<Out&&>(out));
  }

 private:
  constexpr const auto& self() const noexcept {
    return static_cast<const Derived*>(this)->parameters();
  }
};

}  // namespace detail

// T: float or double. hidden<32>, heads<4>, feed_forward<64>. Options, in any order:
//   norm_first<true|false>                must be said
//   activation<>                          of the feed-forward network (feed_forward.hpp); must be said
//   bias<true|false>                      of all projections; must be said
//   gated<true|false>                     of the feed-forward network; false unless told
//   norm_by<layer_norm|rms_norm>, epsilon_1e<-5>    which norm (layer_norm unless told) and its epsilon
//                                         (1e-5 unless told; rms_norm must be told)
//   kv_heads<>, head_dim<>, value_dim<>, rope<>, score_scale<>, softcap<>, empty_rows<>
//                                         of attention (multi_head.hpp)
template <class T, class Hidden, class Heads, class FeedForward = detail::nothing, class... Options>
class encoder_layer
    : public detail::encoder_calls<encoder_layer<T, Hidden, Heads, FeedForward, Options...>,
                                   encoder_layer<T, Hidden, Heads, FeedForward, Options...>> {
  using parts = detail::transformer_parts<T, Hidden, Heads, FeedForward, Options...>;
  static_assert(detail::reported<detail::rules::encoder<parts, Options...>>, "umbel: shapes do not fit");

 public:
  static constexpr bool has_bias = parts::bias::value;
  static constexpr bool norms_first =
      detail::option_or<detail::option::norm_first, norm_first<true>, Options...>::value;
  static constexpr T epsilon = static_cast<T>(parts::epsilon_option::value);
  using value_type = T;
  using hidden_axis = typename parts::hidden;
  using attention = typename parts::attention::type;
  using feed_forward = typename parts::feed_forward::type;
  using activate = typename feed_forward::activate;
  using norm = typename parts::norm;
  template <class Derived>
  using calls = detail::encoder_calls<Derived, encoder_layer>;

  // Parameters in one of the forms of projection.hpp, in the order of the forward pass.
  template <class Norm, class Attention, class FeedForwardNetwork>
  struct parameters_of {
    Norm norm1;
    Attention attention;
    Norm norm2;
    FeedForwardNetwork feed_forward;
  };
  using weights = parameters_of<typename norm::weights, typename attention::weights,
                                typename feed_forward::weights>;
  struct weights_view : parameters_of<typename norm::weights_view, typename attention::weights_view,
                                      typename feed_forward::weights_view> {
    using base = parameters_of<typename norm::weights_view, typename attention::weights_view,
                               typename feed_forward::weights_view>;
    constexpr weights_view(const decltype(base::norm1)& of_norm1,
                           const decltype(base::attention)& of_attention,
                           const decltype(base::norm2)& of_norm2,
                           const decltype(base::feed_forward)& of_feed_forward) noexcept
        : base{of_norm1, of_attention, of_norm2, of_feed_forward} {}
    using wanted = detail::parts_list<decltype(base::norm1), decltype(base::attention),
                                      decltype(base::norm2), decltype(base::feed_forward)>;
    template <class... Other>
    requires detail::foreign_parts<wanted, Other...>
    constexpr weights_view(const Other&...) noexcept : base(detail::no_weights<base>()) {
      static_assert(detail::report<detail::rules::parts_of_weights<detail::say::encoder_layer, wanted, Other...>>::ok,
                    "umbel: shapes do not fit");
    }
    constexpr weights_view(const weights& w) noexcept
        : weights_view(w.norm1, w.attention, w.norm2, w.feed_forward) {}
    constexpr weights_view(const weights&& w) noexcept : weights_view(w) {
      static_assert(detail::report<detail::rules::weights_with_a_name<detail::say::encoder_layer, (sizeof(T) == 0)>>::ok,
                    "umbel: shapes do not fit");
    }
  };
  template <class Stored>
  using panels = parameters_of<typename norm::packed_weights,
                               typename attention::template packed_weights<Stored>,
                               typename feed_forward::template packed_weights<Stored>>;
  template <class Stored>
  struct packed_weights : panels<Stored> {
    using base = panels<Stored>;
    constexpr explicit packed_weights(const weights_view& w) noexcept
        : base{decltype(base::norm1)(w.norm1), decltype(base::attention)(w.attention),
               decltype(base::norm2)(w.norm2), decltype(base::feed_forward)(w.feed_forward)} {}
  };

  // Scratch for one call at a time; its contents between calls do not matter. It is a matter of the
  // number of positions, not of the name of their axis.
  template <std::size_t Positions>
  struct scratch_for : detail::workspace_base {
    static constexpr std::size_t count = Positions * hidden_axis::size;
    alignas(64) T normed[count];
    alignas(64) T branch[count];  // what a residual connection adds
    union {                       // one after the other
      typename attention::template workspace<axes::query<Positions>> attention_work;
      typename feed_forward::template scratch_for<Positions> feed_forward_work;
    };
  };
  template <class Positions>
  using workspace = scratch_for<Positions::size>;

  // The weights are borrowed: they must outlive the layer.
  constexpr explicit encoder_layer(const weights_view& w) noexcept : parameters_(w) {}
  template <class... Given>
  requires detail::not_its_weights<weights_view, encoder_layer, Given...>
  constexpr explicit(sizeof...(Given) == 1) encoder_layer(const Given&...) noexcept
      : parameters_(detail::no_weights<weights_view>()) {
    static_assert(detail::report<detail::rules::weights_of_this_layer<detail::say::encoder_layer, sizeof...(Given)>>::ok,
                  "umbel: shapes do not fit");
  }
  [[nodiscard]] constexpr const weights_view& parameters() const noexcept { return parameters_; }

  // How a call comes in, from the layer and from prepacked<layer> alike.
  template <class Parameters, class X, class Mask, class Workspace, class Out>
  static constexpr auto encode(const Parameters& p, const X& x, const Mask& mask, Workspace& work,
                               Out&& out) noexcept {
    using layout = typename X::layout;
    using verdict = detail::first_error<detail::rules::encode<X, T, hidden_axis>,
                                detail::rules::row_major_out<detail::say::encoder_layer, Out, T, detail::layout_of<X>>>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using sequence = detail::rules::sequence_family<layout, hidden_axis>;
      using positions = detail::axis_of<layout, sequence>;
      using scratch = workspace<positions>;
      using scores = scores_for<layout, positions>;
      using fit = detail::first_error<
          detail::rules::mask_fits<detail::say::encoder_layer, detail::mask_of<Mask>, scores>,
          detail::rules::scratch_fits<detail::say::encoder_layer, Workspace, scratch, detail::shape<positions>>>;
      static_assert(detail::report<fit>::ok, "umbel: shapes do not fit");
      if constexpr (fit::ok)
        return detail::computed<detail::tensor_of<T, detail::row_major<layout>>, scratch>(
            out, work, [&](auto& y, scratch& own) {
              sequences<positions>(p, x, detail::as_mask(mask), y, own);
            });
      else
        return detail::invalid{};
    } else {
      return detail::invalid{};
    }
  }

 private:
  template <class Layout, class Positions>
  using scores_for = detail::scores_of<T, Layout::template size_of<detail::rules::batch_family>,
                                       Heads::size, Positions::size, Positions::size>;

  template <class Positions, class Parameters, class X, class Mask, class Y>
  static constexpr void sequences(const Parameters& p, const X& x, const Mask& mask, Y& y,
                                  workspace<Positions>& work) noexcept {
    constexpr std::size_t one = Positions::size * hidden_axis::size;
    using scores = scores_for<typename X::layout, Positions>;
    for (std::size_t b = 0; b < X::layout::count / one; ++b)
      sequence<Positions>(p, x.data() + b * one, detail::at_sequence<scores>(mask, b),
                          y.data() + b * one, work);
  }

  // mask: a sequence_mask (mask/base.hpp).
  template <class Positions, class Parameters, class Mask>
  static constexpr void sequence(const Parameters& p, const T* x, const Mask& mask, T* y,
                                 workspace<Positions>& work) noexcept {
    constexpr std::size_t n = Positions::size, one = n * hidden_axis::size;
    if constexpr (norms_first) {
      norm::template run<n>(p.norm1, epsilon, x, work.normed);
      attend<Positions>(p, work.normed, mask, work);
      detail::add_residual<one>(x, work.branch, y);
      norm::template run<n>(p.norm2, epsilon, y, work.normed);
      feed_forward_of_normed<n>(p, work);
      detail::add_residual<one>(y, work.branch, y);
    } else {
      attend<Positions>(p, x, mask, work);
      detail::add_residual<one>(x, work.branch, work.branch);
      norm::template run<n>(p.norm1, epsilon, work.branch, work.normed);
      feed_forward_of_normed<n>(p, work);
      detail::add_residual<one>(work.normed, work.branch, work.branch);
      norm::template run<n>(p.norm2, epsilon, work.branch, y);
    }
  }

  // branch = feed_forward(normed)
  template <std::size_t Rows, class Parameters, class Work>
  static constexpr void feed_forward_of_normed(const Parameters& p, Work& work) noexcept {
    if (std::is_constant_evaluated()) work.feed_forward_work = {};
    feed_forward::template run<Rows>(p.feed_forward, work.normed, work.feed_forward_work,
                                     work.branch);
  }

  // branch = attention(x)
  template <class Positions, class Parameters, class Mask>
  static constexpr void attend(const Parameters& p, const T* x, const Mask& mask,
                               workspace<Positions>& work) noexcept {
    constexpr detail::sequence_strides rows = {0, hidden_axis::size, 1};
    if (std::is_constant_evaluated()) work.attention_work = {};  // the one of the union that lives
    attention::template forward<Positions::size, Positions::size>::template run<rows, rows, rows,
                                                                                rows>(
        p.attention, x, x, x, mask, work.branch, work.attention_work);
  }

  weights_view parameters_;
};
namespace detail {
// Would a call compile? Generic code asks first: encodes<encoder, tokens>.
template <class Layer, class X>
inline constexpr bool encodes =
    rules::encode<X, typename Layer::value_type, typename Layer::hidden_axis>::ok;
}  // namespace detail

template <class Layer, class X>
concept encodes = detail::encodes<Layer, std::remove_cvref_t<X>>;

}  // namespace umbel
UMBEL_WARNINGS_POP
