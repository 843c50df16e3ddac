// SPDX-License-Identifier: BSL-1.0
// encoder_layer: self-attention and a feed-forward network, each with a residual connection and a
// norm (Vaswani et al. 2017; torch.nn.TransformerEncoderLayer without dropout).
//
//   norm_first<true>     y = x + attention(norm1(x));   y + feed_forward(norm2(y))
//   norm_first<false>    y = norm1(x + attention(x));   norm2(y + feed_forward(y))
//   feed_forward(x) = activation(x up) down      and other forms: feed_forward.hpp
//
// The norm order, the activation and biases have no default. PyTorch's defaults are
// norm_first<false>, activation<relu>, bias<true>.
//
// With norm_first<true>, norm_by<rms_norm>, gated<true>, activation<silu>, bias<false> and called
// with `causal` it is a layer of LLaMA; with rope<split_halves> for files of Hugging Face,
// rope<adjacent_pairs> for those of Meta and llama2.c. Add query_key_norm<rms_norm> for Qwen3.
//
// Sequences are computed in turn, in a workspace of constant size, or by several workers.
#pragma once

#include <umbel/block/ready_made.hpp>
#include <umbel/config.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
struct encoder_style {
  using word = say::encoder_layer;
  template <class...>
  struct weights {
    template <class... Part>
    using parts = portable::encoder_parts<Part...>;
  };
};
template <class T, class Hidden, class Heads, class FeedForward, class... Options>
struct encoder_layer_types
    : transformer_block<
          transformer_parts<T, Hidden, Heads, FeedForward, Options...>, T, Hidden, encoder_style,
          option_list<Options...>,
          residual::list<block_parts::name::norm1,
                         made_part<block_parts::name::attention, residual::reads::sequence,
                                   typename transformer_parts<T, Hidden, Heads, FeedForward,
                                                              Options...>::attention::type>>,
          residual::list<block_parts::name::norm2,
                         made_part<block_parts::name::feed_forward, residual::reads::row,
                                   typename transformer_parts<T, Hidden, Heads, FeedForward,
                                                              Options...>::feed_forward::type>>> {
  using parts = transformer_parts<T, Hidden, Heads, FeedForward, Options...>;
  using attention = typename parts::attention::type;
  using feed_forward = typename parts::feed_forward::type;
  using activate = typename feed_forward::activate;
};

template <class T, class Hidden, class Heads, class FeedForward, class... Options>
using encoder_layer_types_of = std::conditional_t<
    rules::transformer_arguments<say::encoder_layer, T, Hidden, Heads, FeedForward>::ok,
    encoder_layer_types<T, Hidden, Heads, FeedForward, Options...>,
    encoder_layer_types<float, no_axis<1>, axes::heads<1>, axes::intermediate<1>>>;

}  // namespace detail

// A Transformer encoder layer (Vaswani et al. 2017). T: float or double. hidden<32>, heads<4>,
// intermediate<64>. Options, in any order:
//   norm_first<true|false>            required
//   activation<>                      of the feed-forward network (feed_forward.hpp); required
//   bias<true|false>                  of all projections; required, or
//   bias_on<'q', 'k', 'v'>            of those of attention, with feed_forward_bias<>
//   feed_forward_bias<true|false>     of the feed-forward network; default: as bias<>
//   gated<true|false>                 of the feed-forward network; default false
//   norm_by<layer_norm|rms_norm>      default layer_norm
//   norm_bias<true|false>             do layer_norms have a beta? default true
//   norm_epsilon<1, 100'000>          default 1e-5; required for rms_norm
//   kv_heads<>, head_dim<>, value_dim<>, query_key_norm<>, rope<>, score_scale<>, softcap<>,
//   empty_rows<>                      of attention (attention/multi_head.hpp)
template <class T, class Hidden, class Heads, class FeedForward = detail::nothing, class... Options>
UMBEL_EXPECTS(
    "encoder_layer: expects an element type, three axes, then options; write encoder_layer<float, "
    "hidden<64>, heads<8>, intermediate<128>, bias<true>>")
class encoder_layer
    : public detail::encoder_layer_types_of<T, Hidden, Heads, FeedForward, Options...>,
      public detail::block_calls<encoder_layer<T, Hidden, Heads, FeedForward, Options...>,
                                 encoder_layer<T, Hidden, Heads, FeedForward, Options...>,
                                 detail::say::encoder_layer>,
      public detail::borrowing<detail::say::encoder_layer,
                               encoder_layer<T, Hidden, Heads, FeedForward, Options...>,
                               typename detail::encoder_layer_types_of<
                                   T, Hidden, Heads, FeedForward, Options...>::weights_view> {
  using types = detail::encoder_layer_types_of<T, Hidden, Heads, FeedForward, Options...>;
  static_assert(detail::reported<detail::rules::encoder<T, Hidden, Heads, FeedForward,
                                                        typename types::parts, Options...>>::ok,
                "umbel: shapes do not fit");

 public:
  using typename types::word;
  template <class Derived>
  using calls = detail::block_calls<Derived, encoder_layer, detail::say::encoder_layer>;
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
concept encodes = detail::one_is_invalid<X> || detail::encodes<Layer, std::remove_cvref_t<X>>;

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
