// SPDX-License-Identifier: BSL-1.0
// Ready-made axes with the field's standard names. Your own need one line (axis.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/axis.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::axes {

template <std::size_t N>
struct batch : axis<batch, N> {};  // independent sequences
template <std::size_t N>
struct query : axis<query, N> {};  // positions that attend
template <std::size_t N>
struct key : axis<key, N> {};  // positions that are attended to
template <std::size_t N>
struct token : axis<token, N> {};  // positions of a sequence before it is a query or a key
template <std::size_t N>
struct hidden : axis<hidden, N> {};  // features of a position: the width of the model
template <std::size_t N>
struct heads : axis<heads, N> {};  // attention heads
template <std::size_t N>
struct kv_heads : axis<kv_heads, N> {};  // heads of keys and values, if there are fewer
template <std::size_t N>
struct head_dim : axis<head_dim, N> {};  // features of one head
template <std::size_t N>
struct value_dim : axis<value_dim, N> {};  // features of one head's values, if they differ
template <std::size_t N>
struct score_hidden : axis<score_hidden, N> {};  // features that an additive score is made from
template <std::size_t N>
struct intermediate : axis<intermediate, N> {};  // features between the two feed-forward layers
template <std::size_t N>
struct classes : axis<classes, N> {};  // a classifier's choices
template <std::size_t N>
struct vocabulary : axis<vocabulary, N> {};  // the possible tokens, such as characters
template <std::size_t N>
struct in_features : axis<in_features, N> {};  // features that a linear map reads
template <std::size_t N>
struct out_features : axis<out_features, N> {};  // features that a linear map returns
template <std::size_t N>
struct kernel_size : axis<kernel_size, N> {};  // positions of one window

}  // namespace umbel::axes
UMBEL_WARNINGS_POP
