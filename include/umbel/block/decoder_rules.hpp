// SPDX-License-Identifier: BSL-1.0
// self_mask, the mask of a decoder_layer's sequence, and verdicts on the layer and its arguments.
#pragma once

#include <umbel/block/transformer.hpp>
#include <umbel/config.hpp>
#include <umbel/mask/in_formula.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
// The result of self_mask: not a mask, to tell it from that of the memory.
template <class Mask>
struct self_attention_mask {
  Mask mask;
};
// In a formula, as an argument.
template <class Mask>
struct stands_for_mask<self_attention_mask<Mask>> {
  static constexpr self_attention_mask<given_mask<Mask>> at(
      const self_attention_mask<Mask>* to_self) noexcept {
    return {given_mask<Mask>(to_self == nullptr ? nullptr : &to_self->mask)};
  }
};
struct unsaid_mask : every_key {};
}  // namespace detail

// self_mask(mask): the part of itself that the sequence of a decoder_layer sees: causal, all_keys,
// causal & lens etc. It is causal only if you pass causal.
template <mask_like Mask>
constexpr auto self_mask(Mask&& mask) noexcept {
  return detail::self_attention_mask<decltype(detail::kept_mask<Mask>(mask))>{
      detail::kept_mask<Mask>(mask)};
}
// In a formula, for lengths.
template <detail::traced Lengths>
constexpr auto self_mask(const Lengths& lengths) noexcept {
  return detail::self_attention_mask<detail::mask_of<Lengths>>{detail::as_mask(lengths)};
}
namespace detail {
namespace say {
struct but_the_memories;
struct expects_a_sequence_and_a_memory_then_a_mask_of_the_memory_then_self_mask_then_a_workspace;
struct the_memory;
struct the_sequences;
}  // namespace say

UMBEL_SAYS(decoder_layer, "decoder_layer");
template <>
struct speak<
    say::
        expects_a_sequence_and_a_memory_then_a_mask_of_the_memory_then_self_mask_then_a_workspace> {
  static constexpr void to(sentence_buffer& out) {
    out.put("expects a sequence and a memory; then a mask of the memory; then a self_mask; ");
    out.put("then a workspace");
  }
};
UMBEL_SAYS(torch_nn_TransformerDecoderLayer_has, "torch.nn.TransformerDecoderLayer has");
UMBEL_SAYS(
    needs_a_self_mask_so_add_self_mask_causal_or_self_mask_all_keys_as_torch_has_without_tgt_mask,
    "needs a self_mask; add self_mask(causal), as torch has with tgt_is_causal or "
    "generate_square_subsequent_mask, or self_mask(all_keys), as torch has without tgt_mask");

namespace rules {
template <class T, class Hidden, class Heads, class FeedForward, class Parts, class... Options>
using decoder =
    first_error<transformer_arguments<say::decoder_layer, T, Hidden, Heads, FeedForward>,
                typename Parts::attention::verdict,
                transformer_options<say::decoder_layer, say::torch_nn_TransformerDecoderLayer_has,
                                    Parts, Options...>,
                typename Parts::feed_forward::verdict>;

// A sequence and a memory, (any, Hidden), or a batch of both, row-major.
template <class X, class Name, class T, class Hidden>
using decoder_argument =
    first_error<self_attend<say::decoder_layer, X, T, Hidden, Name>,
                rows_of<say::decoder_layer, X, T, Hidden>, batch_first<say::decoder_layer, X>>;
template <class X, class Memory, class T, class Hidden>
using decode = first_error<decoder_argument<X, say::the_sequence, T, Hidden>,
                           decoder_argument<Memory, say::the_memory, T, Hidden>,
                           same_size<say::decoder_layer, batch_family, layout_of<X>,
                                     say::the_sequences, layout_of<Memory>, say::but_the_memories>>;
}  // namespace rules

}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
