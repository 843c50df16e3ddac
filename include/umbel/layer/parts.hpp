// SPDX-License-Identifier: BSL-1.0
// The names of each layer's weights: one struct per layer, over the types of its parts, in the
// order of the forward pass. Owned, borrowed and packed weights (weights.hpp) share them.
// part_names: the members in order, for the paths of parameters (parameters/parameters.hpp).
#pragma once

#include <umbel/config.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::say {
struct additive_attention;
struct decoder_layer;
struct encoder_layer;
struct feed_forward;
struct layer_norm;
struct multi_head_attention;
struct rms_norm;
}  // namespace umbel::inline UMBEL_TARGET::detail::say

namespace umbel::portable {

// The four projections: queries, keys and values to their heads, and all heads to the result.
template <class Q, class K, class V, class O>
struct multi_head_parts {
  using layer_name = detail::say::multi_head_attention;
  static constexpr const char* part_names[] = {"q", "k", "v", "o"};
  Q q;
  K k;
  V v;
  O o;
};

// The same with a norm for the heads of queries and one for those of keys.
template <class Q, class K, class V, class O, class QueryNorm, class KeyNorm>
struct normed_multi_head_parts {
  using layer_name = detail::say::multi_head_attention;
  static constexpr const char* part_names[] = {"q", "k", "v", "o", "q_norm", "k_norm"};
  Q q;
  K k;
  V v;
  O o;
  QueryNorm q_norm;
  KeyNorm k_norm;
};

// The projections of queries and keys, and the weights of the hyperbolic tangents.
template <class Q, class K, class Score>
struct additive_parts {
  using layer_name = detail::say::additive_attention;
  static constexpr const char* part_names[] = {"q", "k", "score"};
  Q q;
  K k;
  Score score;
};

template <class Up, class Down>
struct feed_forward_parts {
  using layer_name = detail::say::feed_forward;
  static constexpr const char* part_names[] = {"up", "down"};
  Up up;
  Down down;
};
template <class Gate, class Up, class Down>
struct gated_feed_forward_parts {
  using layer_name = detail::say::feed_forward;
  static constexpr const char* part_names[] = {"gate", "up", "down"};
  Gate gate;
  Up up;
  Down down;
};

template <class Norm1, class Attention, class Norm2, class FeedForward>
struct encoder_parts {
  using layer_name = detail::say::encoder_layer;
  static constexpr const char* part_names[] = {"norm1", "attention", "norm2", "feed_forward"};
  Norm1 norm1;
  Attention attention;
  Norm2 norm2;
  FeedForward feed_forward;
};

template <class Norm1, class SelfAttention, class Norm2, class CrossAttention, class Norm3,
          class FeedForward>
struct decoder_parts {
  using layer_name = detail::say::decoder_layer;
  static constexpr const char* part_names[] = {"norm1",           "self_attention", "norm2",
                                               "cross_attention", "norm3",          "feed_forward"};
  Norm1 norm1;
  SelfAttention self_attention;
  Norm2 norm2;
  CrossAttention cross_attention;
  Norm3 norm3;
  FeedForward feed_forward;
};

template <class Gamma, class Beta>
struct layer_norm_parts {
  using layer_name = detail::say::layer_norm;
  static constexpr const char* part_names[] = {"gamma", "beta"};
  Gamma gamma;
  Beta beta;
};

template <class Gamma>
struct layer_norm_parts_without_beta {
  using layer_name = detail::say::layer_norm;
  static constexpr const char* part_names[] = {"gamma"};
  Gamma gamma;
};

template <class Gamma>
struct rms_norm_parts {
  using layer_name = detail::say::rms_norm;
  static constexpr const char* part_names[] = {"gamma"};
  Gamma gamma;
};

}  // namespace umbel::portable
UMBEL_WARNINGS_POP
