// SPDX-License-Identifier: BSL-1.0
// Verdicts on an encoder_layer and its arguments.
#pragma once

#include <umbel/block/transformer.hpp>
#include <umbel/config.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

UMBEL_SAYS(encoder_layer, "encoder_layer");
UMBEL_SAYS(takes_a_sequence_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace,
           "takes a sequence; then a mask such as lengths, causal or all_keys; then a workspace");
template <>
inline constexpr bool rules::takes_a_mask<
    say::takes_a_sequence_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace> = true;
UMBEL_SAYS(torch_nn_TransformerEncoderLayer_has, "torch.nn.TransformerEncoderLayer has");

namespace rules {
template <class T, class Hidden, class Heads, class FeedForward, class Parts, class... Options>
using encoder =
    first_error<transformer_arguments<say::encoder_layer, T, Hidden, Heads, FeedForward>,
                typename Parts::attention::verdict,
                transformer_options<say::encoder_layer, say::torch_nn_TransformerEncoderLayer_has,
                                    Parts, Options...>,
                typename Parts::feed_forward::verdict>;

// One sequence (Position, Hidden), or a batch of them, row-major.
template <class X, class T, class Hidden>
using encode =
    first_error<self_attend<say::encoder_layer, X, T, Hidden>,
                rows_of<say::encoder_layer, X, T, Hidden>, batch_first<say::encoder_layer, X>>;
}  // namespace rules

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
