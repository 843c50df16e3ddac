// SPDX-License-Identifier: BSL-1.0
// Common to encoder_layer and decoder_layer: the order and kind of norms, the options of each part,
// the layout of sequences in memory, residual sums, the feed-forward network, workers.
#pragma once

#include <umbel/attention/multi_head.hpp>
#include <umbel/block/feed_forward.hpp>
#include <umbel/block/layer_norm.hpp>
#include <umbel/block/rms_norm.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/norm_options.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// Option: norm_first<true>: norms before their parts; norm_first<false>: after the residual sums.
template <bool Value>
struct norm_first {
  using kind = detail::option::norm_first;
  static constexpr bool value = Value;
};

// Option: do the projections of a block's feed-forward network add a bias? For layers in which it
// differs from attention: bias_on<'q', 'k', 'v'>, feed_forward_bias<false> for Qwen2.
template <bool Value>
struct feed_forward_bias {
  using kind = detail::option::feed_forward_bias;
  static constexpr bool value = Value;
};
namespace detail {
UMBEL_SAYS(feed_forward_bias_true_or_false, "feed_forward_bias<true> or feed_forward_bias<false>");

// The options of attention, of the feed-forward network, and of the layer.
using attention_options =
    option_list<axis_family<axes::kv_heads>, axis_family<axes::head_dim>,
                axis_family<axes::value_dim>, option::query_key_norm, option::rope,
                option::score_scale, option::softcap, option::empty_rows>;
// Attention to a memory has no rotary positions, which would compare positions of two sequences.
using memory_attention_options =
    option_list<axis_family<axes::kv_heads>, axis_family<axes::head_dim>,
                axis_family<axes::value_dim>, option::query_key_norm, option::score_scale,
                option::softcap, option::empty_rows>;
using feed_forward_options = option_list<option::activation, option::gated>;

template <class T, class Hidden, class Heads, class Bias, class List>
struct attention_with;
template <class T, class Hidden, class Heads, class Bias, class... Options>
struct attention_with<T, Hidden, Heads, Bias, option_list<Options...>> {
  using sizes = multi_head_options<Hidden, Heads, Bias, Options...>;
  using verdict = rules::multi_head<T, Hidden, Heads, sizes, Bias, Options...>;
  // Refused attention is not instantiated, so that the layer reports the error.
  using type = typename std::conditional_t<
      verdict::ok, std::type_identity<multi_head_attention<T, Hidden, Heads, Bias, Options...>>,
      std::type_identity<multi_head_attention<float, axes::hidden<1>, axes::heads<1>, Bias>>>::type;
};
template <class T, class Hidden, class FeedForward, class Bias, class List>
struct feed_forward_with;
template <class T, class Hidden, class FeedForward, class Bias, class... Options>
struct feed_forward_with<T, Hidden, FeedForward, Bias, option_list<Options...>> {
  using verdict = rules::feed_forward<T, Hidden, FeedForward, Bias, Options...>;
  using type = feed_forward<T, Hidden, FeedForward, Bias, Options...>;
};

template <class T, class Hidden, class... Options>
using norm_of_options =
    norm_with<T, Hidden, option_or<option::norm_by, norm_by<layer_norm>, Options...>, Options...>;

template <class T, class Hidden, class Heads, class FeedForward, class... Options>
struct transformer_parts {
  using bias_option = option_or<option::bias, umbel::bias<false>, Options...>;
  // Letters that aren't projections are refused by the layer, not by attention also.
  using attention_bias =
      std::conditional_t<rules::names_projections<bias_option>, bias_option, umbel::bias<false>>;
  using network_bias =
      umbel::bias<option_or<option::feed_forward_bias, feed_forward_bias<attention_bias::q>,
                            Options...>::value>;
  // Only attention with a norm gets the epsilon and beta of norms.
  using norm_option = option_or<option::query_key_norm, no_query_key_norm, Options...>;
  template <class Kinds>
  using attention_of = attention_with<
      T, Hidden, Heads, attention_bias,
      typename pick_options<decltype(and_kinds(Kinds{}, typename norm_option::kinds_of_block{})),
                            option_list<>, Options...>::type>;
  using attention = attention_of<attention_options>;
  using memory_attention = attention_of<memory_attention_options>;
  using hidden = typename Hidden::plain;
  using feed_forward =
      feed_forward_with<T, hidden, typename FeedForward::plain, network_bias,
                        // A missing activation is refused only once.
                        typename pick_options<feed_forward_options, option_list<>, Options...,
                                              umbel::activation<relu>>::type>;
};

template <std::size_t Count, class T>
constexpr void add_residual(const T* a, const T* b, T* y) noexcept {
  if (__builtin_is_constant_evaluated())
    kernel::plain::add<Count>(a, b, y);
  else
    kernel::add<Count>(a, b, y);
}

// Hands out blocks of N rows of Width elements: f(rows as a constant, first element, workspace).
// present: every_row, or how many of the N.
template <std::size_t N, std::size_t Width, class Given, class Present, class F>
void each_block_of_rows(const Given& given, const Present& present, const F& f) noexcept {
  const auto blocks = blocks_of<N, 4 * Given::workers>(present);
  given.hand_out(blocks.count, [&](std::size_t index, std::size_t worker) noexcept {
    blocks.with_block(
        index, [&](auto rows, std::size_t first) { f(rows, first * Width, given.work[worker]); });
  });
}
// The workers of Given with the member of their workspaces that attention uses.
template <auto Member, class Given>
struct workers_with {
  struct members {
    const Given& given;
    auto& operator[](std::size_t worker) const noexcept { return given.work[worker].*Member; }
  };
  static constexpr std::size_t workers = Given::workers;
  const Given& given;
  members work{given};
  template <class Piece>
  void hand_out(std::size_t count, const Piece& piece) const noexcept {
    given.hand_out(count, piece);
  }
};

namespace rules {
// bias_on<> doesn't set the bias of the feed-forward network.
template <class Usual, class... Options>
using feed_forward_bias_to_say =
    option_to_say<is_said<option::feed_forward_bias, Options...> ||
                      is_one_bias<option_or<option::bias, bias<false>, Options...>>,
                  say::feed_forward_bias_true_or_false, typename Usual::bias>;

// Norm order, activation and bias have no default: PyTorch and today's models differ in them.
template <class Layer, class Usual, class... Options>
using transformer_said =
    options_said<Layer, typename Usual::who,
                 option_to_say<is_said<option::norm_first, Options...>,
                               say::norm_first_true_or_false, typename Usual::norm_first>,
                 activation_to_say<Usual, Options...>, bias_to_say<Usual, Options...>,
                 feed_forward_bias_to_say<Usual, Options...>>;

template <class Layer, class T, class Hidden, class Heads, class FeedForward>
using transformer_arguments = first_error<floating<Layer, T>, in_place<Layer, Hidden, axes::hidden>,
                                          in_place<Layer, Heads, axes::heads>,
                                          in_place<Layer, FeedForward, axes::intermediate>>;

// Layer: its name in sentences. Torch: the words for torch's. Parts: detail::transformer_parts.
template <class Layer, class Torch, class Parts, class... Options>
using transformer_options =
    first_error<options<Layer,
                        option_kinds<option::bias, option::feed_forward_bias, option::norm_bias,
                                     option::norm_first, option::norm_by, option::norm_epsilon,
                                     option::activation, option::gated, axis_family<axes::kv_heads>,
                                     axis_family<axes::head_dim>, axis_family<axes::value_dim>,
                                     option::query_key_norm, option::rope, option::score_scale,
                                     option::softcap, option::empty_rows>,
                        Options...>,
                projections_with_bias<Layer, typename Parts::bias_option>,
                norm_options<Layer, norm_of_options<float, axes::hidden<1>, Options...>>,
                transformer_said<Layer, usual_options<Torch, Options...>, Options...>>;

// The batch axis, if there is one, is the first.
template <class Layer, class X>
using batch_first =
    verdict<!layout_of<X>::template has<batch_family> ||
                layout_of<X>::template position<batch_family> == 0,
            Layer, batch_family, struct must_be_the_first_axis_of, typename layout_of<X>::axes>;
}  // namespace rules
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
