// SPDX-License-Identifier: BSL-1.0
// decoder_layer: self-attention, attention to a memory (the output of an encoder) and a
// feed-forward network, each with a residual connection and a norm (Vaswani et al. 2017;
// torch.nn.TransformerDecoderLayer without dropout).
//
//   norm_first<true>     y = x + self_attention(norm1(x))
//                        z = y + cross_attention(norm2(y), memory)
//                        z + feed_forward(norm3(z))
//   norm_first<false>    y = norm1(x + self_attention(x))
//                        z = norm2(y + cross_attention(y, memory))
//                        norm3(z + feed_forward(z))
//
//   decoder{w}(x, memory, self_mask(causal))                no position of x sees a later one of x
//   decoder{w}(x, memory, lens, self_mask(causal & own))    lens: of the memory; own: of x
//
// The mask of x is required. PyTorch hides nothing without a tgt_mask, which is
// self_mask(all_keys); its tgt_is_causal with generate_square_subsequent_mask is self_mask(causal).
// A layer without a memory is encoder_layer. Sequences are computed in turn, in constant memory, or
// by several workers. See rows.hpp for one sequence, and decode/cache_of_blocks.hpp for steps.
#pragma once

#include <umbel/block/ready_made.hpp>
#include <umbel/config.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
struct decoder_style {
  using word = say::decoder_layer;
  template <class...>
  struct weights {
    template <class... Part>
    using parts = portable::decoder_parts<Part...>;
  };
};
template <class T, class Hidden, class Heads, class FeedForward, class... Options>
struct decoder_layer_types
    : transformer_block<
          transformer_parts<T, Hidden, Heads, FeedForward, Options...>, T, Hidden, decoder_style,
          option_list<Options...>,
          residual::list<block_parts::name::norm1,
                         made_part<block_parts::name::self_attention, residual::reads::sequence,
                                   typename transformer_parts<T, Hidden, Heads, FeedForward,
                                                              Options...>::attention::type>>,
          residual::list<block_parts::name::norm2,
                         made_part<block_parts::name::cross_attention, residual::reads::memory,
                                   typename transformer_parts<T, Hidden, Heads, FeedForward,
                                                              Options...>::memory_attention::type>>,
          residual::list<block_parts::name::norm3,
                         made_part<block_parts::name::feed_forward, residual::reads::row,
                                   typename transformer_parts<T, Hidden, Heads, FeedForward,
                                                              Options...>::feed_forward::type>>> {
  using parts = transformer_parts<T, Hidden, Heads, FeedForward, Options...>;
  using self_attention = typename parts::attention::type;
  using cross_attention = typename parts::memory_attention::type;
  using feed_forward = typename parts::feed_forward::type;
};

template <class T, class Hidden, class Heads, class FeedForward, class... Options>
using decoder_layer_types_of = std::conditional_t<
    rules::transformer_arguments<say::decoder_layer, T, Hidden, Heads, FeedForward>::ok,
    decoder_layer_types<T, Hidden, Heads, FeedForward, Options...>,
    decoder_layer_types<float, no_axis<1>, axes::heads<1>, axes::intermediate<1>>>;

}  // namespace detail

// A Transformer decoder layer (Vaswani et al. 2017). T: float or double. hidden<32>, heads<4>,
// intermediate<64>. Options: those of encoder_layer; rope<> rotates only in the self-attention.
template <class T, class Hidden, class Heads, class FeedForward = detail::nothing, class... Options>
UMBEL_EXPECTS(
    "decoder_layer: expects an element type, three axes, then options; write decoder_layer<float, "
    "hidden<64>, heads<8>, intermediate<128>, bias<true>>")
class decoder_layer
    : public detail::decoder_layer_types_of<T, Hidden, Heads, FeedForward, Options...>,
      public detail::block_calls<decoder_layer<T, Hidden, Heads, FeedForward, Options...>,
                                 decoder_layer<T, Hidden, Heads, FeedForward, Options...>,
                                 detail::say::decoder_layer, true>,
      public detail::borrowing<detail::say::decoder_layer,
                               decoder_layer<T, Hidden, Heads, FeedForward, Options...>,
                               typename detail::decoder_layer_types_of<
                                   T, Hidden, Heads, FeedForward, Options...>::weights_view> {
  using types = detail::decoder_layer_types_of<T, Hidden, Heads, FeedForward, Options...>;
  static_assert(detail::reported<detail::rules::decoder<T, Hidden, Heads, FeedForward,
                                                        typename types::parts, Options...>>::ok,
                "umbel: shapes do not fit");

 public:
  using typename types::word;
  template <class Derived>
  using calls = detail::block_calls<Derived, decoder_layer, detail::say::decoder_layer, true>;
  using detail::borrowing<detail::say::decoder_layer, decoder_layer,
                          typename types::weights_view>::borrowing;
};

namespace detail {
// Would a call compile? Generic code asks first: decodes<decoder, tokens, memory>.
template <class Layer, class X, class Memory>
inline constexpr bool decodes =
    rules::decode<X, Memory, typename Layer::value_type, typename Layer::hidden_axis>::ok;
}  // namespace detail

// Would layer(x, memory, self_mask(...)) of a decoder_layer compile?
template <class Layer, class X, class Memory>
concept decodes = detail::one_is_invalid<X, Memory> ||
                  detail::decodes<Layer, std::remove_cvref_t<X>, std::remove_cvref_t<Memory>>;

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
