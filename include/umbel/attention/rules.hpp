// SPDX-License-Identifier: BSL-1.0
// Verdicts on the arguments of attention, and one concept.
//
// Self-attention accepts one sequence: an optional batch axis, the hidden axis, and one more axis,
// of any name, along which the positions lie. Attention to a second sequence accepts queries
// (batch, query, hidden), keys and values (batch, key, hidden), with axes in any order.
#pragma once

#include <umbel/attention/rope.hpp>
#include <umbel/attention/score.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/norm_options.hpp>
#include <umbel/layer/rules.hpp>
#include <umbel/layer/workspace_rules.hpp>
#include <umbel/mask/base.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct have_type;
struct but_have;
struct but_the_keys;
struct but_the_values;
struct may_have_only_the_axes;
struct need_the_axis;
struct queries_from;
struct the_keys;
struct the_keys_in_argument_2;
struct the_queries;
struct the_queries_in_argument_1;
struct the_sequence;
struct the_values;
struct the_values_in_argument_3;
}  // namespace say

UMBEL_SAYS(so_use, "; use");
UMBEL_SAYS(the_first_argument_is_not_a_multi_head_attention,
           "the first argument is not a multi_head_attention");
UMBEL_SAYS(
    expects_a_sequence_or_queries_and_keys_and_values_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace_or_parallel,
    "expects a sequence, or queries, keys and values; then a mask such as lengths, causal or "
    "all_keys; then a workspace or parallel(...)");
UMBEL_SAYS(
    expects_queries_keys_and_values_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace,
    "expects queries, keys and values; then a mask such as lengths, causal or all_keys; then a "
    "workspace");

template <>
inline constexpr bool rules::takes_a_mask<
    say::
        expects_a_sequence_or_queries_and_keys_and_values_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace_or_parallel> =
    true;
template <>
inline constexpr bool rules::takes_a_mask<
    say::
        expects_queries_keys_and_values_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace> =
    true;
UMBEL_SAYS(
    sizes_are_template_arguments_not_numbers_in_a_call_so_write_multi_head_attention_of_float_hidden_and_heads,
    "sizes are template arguments, not numbers in a call; write multi_head_attention<float, "
    "hidden<64>, "
    "heads<8>>{weights}");
UMBEL_SAYS(so_pass_one_sequence_once_for_self_attention,
           "; for self-attention pass the sequence once, attend(x)");
UMBEL_SAYS(so_pass_queries_keys_and_values, "; pass queries, keys and values");
UMBEL_SAYS(two_sequences_need_values_so_pass_queries_keys_and_values,
           "two sequences need values; pass queries, keys and values");

namespace rules {

// One of three arguments: the axes (batch,) Position, hidden, and the layer's element type.
template <class Layer, class Name, class X, class T, class Position, class Hidden>
using attention_argument = first_error<
    verdict<layout_of<X>::template has<Position>, Layer, Name, say::need_the_axis, Position,
            say::but_have, typename layout_of<X>::axes>,
    verdict<layout_of<X>::template has<typename Hidden::family>, Layer, Name, say::need_the_axis,
            typename Hidden::family, say::but_have, typename layout_of<X>::axes>,
    verdict<layout_of<X>::rank == 2 + layout_of<X>::template has<batch_family>, Layer, Name,
            say::may_have_only_the_axes, listed<batch_family, Position, typename Hidden::family>,
            say::but_have, typename layout_of<X>::axes>,
    verdict<layout_of<X>::template size_of<typename Hidden::family> == Hidden::size, Layer, Name,
            say::have, axis_of<layout_of<X>, typename Hidden::family>, say::but_the_layer_has,
            Hidden>,
    verdict<std::is_same_v<typename X::value_type, T>, Layer, Name, say::have_type,
            element<typename X::value_type>, say::but_the_layer_has_type, element<T>>>;

// An axis that both have, or neither: "the queries have batch=2 but the keys have no batch".
template <class Layout, class Family>
using have_word = std::conditional_t<Layout::template has<Family>, say::have, struct have_no>;
template <class Layer, class Family, class Left, class LeftName, class Right, class RightName>
using same_size = verdict<Left::template size_of<Family> == Right::template size_of<Family>, Layer,
                          LeftName, have_word<Left, Family>, axis_of<Left, Family>, RightName,
                          have_word<Right, Family>, axis_of<Right, Family>>;

// The same sequence three times instead of queries, keys and values.
template <class Layer, class X, class Y, class Z>
struct one_sequence_rule {
  using type = accepted;
};
template <class Layer, class X>
struct one_sequence_rule<Layer, X, X, X> {
  using type =
      verdict<layout_of<X>::template has<query_family>, Layer, say::the_queries_in_argument_1,
              say::need_the_axis, query_family, say::but_have, typename layout_of<X>::axes,
              say::so_pass_one_sequence_once_for_self_attention>;
};
template <class Layer, class X, class Y, class Z, class T, class Hidden, class KeysHidden = Hidden,
          class ValuesHidden = Hidden>
using attend_to = first_error<
    typename one_sequence_rule<Layer, X, Y, Z>::type,
    attention_argument<Layer, say::the_queries_in_argument_1, X, T, query_family, Hidden>,
    attention_argument<Layer, say::the_keys_in_argument_2, Y, T, key_family, KeysHidden>,
    attention_argument<Layer, say::the_values_in_argument_3, Z, T, key_family, ValuesHidden>,
    same_size<Layer, batch_family, layout_of<X>, say::the_queries, layout_of<Y>, say::but_the_keys>,
    same_size<Layer, batch_family, layout_of<Y>, say::the_keys, layout_of<Z>, say::but_the_values>,
    same_size<Layer, key_family, layout_of<Y>, say::the_keys, layout_of<Z>, say::but_the_values>>;

// The one axis of x that is neither batch nor hidden.
template <class Axes, class Hidden>
struct sequence_axis;
template <class... Axes, class Hidden>
struct sequence_axis<shape<Axes...>, Hidden> {
  template <class A>
  static constexpr bool is_sequence = !std::is_same_v<typename A::family, batch_family> &&
                                      !std::is_same_v<typename A::family, Hidden>;
  static constexpr std::size_t number = (std::size_t{0} + ... + is_sequence<Axes>);
  static constexpr std::size_t at = [] {
    std::size_t position = 0, found = 0;
    ((found = is_sequence<Axes> ? position : found, ++position), ...);
    return found;
  }();
};
template <class Layout, class Hidden>
inline constexpr bool has_one_sequence_axis =
    sequence_axis<typename Layout::axes, typename Hidden::family>::number == 1;
template <class Layout, class Hidden>
using sequence_family = typename Layout::template axis_at<
    sequence_axis<typename Layout::axes, typename Hidden::family>::at>::family;

// Hidden is the axis with its size. Name: that of the argument.
template <class Layer, class X, class T, class Hidden, class Name = say::the_sequence>
using self_attend = first_error<
    verdict<layout_of<X>::template has<typename Hidden::family>, Layer, Name, say::needs_the_axis,
            typename Hidden::family, say::but_has, typename layout_of<X>::axes>,
    verdict<has_one_sequence_axis<layout_of<X>, Hidden>, Layer, Name,
            struct must_have_exactly_one_axis_besides_batch_and, typename Hidden::family, say::not_,
            typename layout_of<X>::axes>,
    verdict<layout_of<X>::template size_of<typename Hidden::family> == Hidden::size, Layer, Name,
            say::has, axis_of<layout_of<X>, typename Hidden::family>, say::but_the_layer_has,
            Hidden>,
    verdict<std::is_same_v<typename X::value_type, T>, Layer, Name, say::has_type,
            element<typename X::value_type>, say::but_the_layer_has_type, element<T>>>;

// A layer with keys or values of a different width can't attend a sequence to itself.
template <class Layer, class Hidden, class KeysHidden, class ValuesHidden>
using one_width = first_error<
    verdict<std::is_same_v<Hidden, KeysHidden>, Layer, struct the_layer_reads_keys_from, KeysHidden,
            say::and_, say::queries_from, Hidden, say::so_pass_queries_keys_and_values>,
    verdict<std::is_same_v<Hidden, ValuesHidden>, Layer, struct the_layer_reads_values_from,
            ValuesHidden, say::and_, say::queries_from, Hidden,
            say::so_pass_queries_keys_and_values>>;

// layer(x, y): the second argument should be a mask but has features: it is a sequence.
template <class Layout>
inline constexpr bool has_axes_of_scores_only =
    Layout::template has<batch_family> + Layout::template has<heads_family> +
        Layout::template has<query_family> + Layout::template has<key_family> ==
    Layout::rank;
template <class Layer, class Mask>
struct no_second_sequence_rule {
  using type = accepted;
};
template <class Layer, class Mask>
  requires requires { typename Mask::layout; }
struct no_second_sequence_rule<Layer, Mask> {
  using type = verdict<Mask::layout::rank == 1 || has_axes_of_scores_only<typename Mask::layout> ||
                           std::is_integral_v<typename Mask::value_type>,
                       Layer, say::two_sequences_need_values_so_pass_queries_keys_and_values>;
};
template <class Layer, class Mask>
using no_second_sequence = typename no_second_sequence_rule<Layer, Mask>::type;

// ---- the layer

// The axes from which queries, keys, values and the context of all heads are made.
template <class Heads, class Sizes>
using projections_fit =
    first_error<holds<typename Sizes::hidden, Heads, typename Sizes::head_dim>,
                holds<typename Sizes::keys, typename Sizes::kv_heads, typename Sizes::head_dim>,
                holds<typename Sizes::values, typename Sizes::kv_heads, typename Sizes::value_dim>,
                holds<Heads, typename Sizes::value_dim, typename Sizes::output>>;

// The divisor of `whole` that is nearest to `part`, or 1.
constexpr std::size_t nearest_divisor(std::size_t whole, std::size_t part) {
  if (part >= whole) return whole;
  for (std::size_t away = 0; away < 10'000; ++away) {
    if (away < part && whole % (part - away) == 0) return part - away;
    if (part + away != 0 && whole % (part + away) == 0) return part + away;
  }
  return 1;
}

template <class Hidden, class Heads, class Sizes>
using head_sizes_fit = first_error<
    well_formed<typename Sizes::kv_heads>, well_formed<typename Sizes::head_dim>,
    well_formed<typename Sizes::value_dim>,
    in_place<say::multi_head_attention, typename Sizes::keys, axes::hidden>,
    in_place<say::multi_head_attention, typename Sizes::values, axes::hidden>,
    in_place<say::multi_head_attention, typename Sizes::output, axes::hidden>,
    well_formed<typename Sizes::keys>, well_formed<typename Sizes::values>,
    well_formed<typename Sizes::output>, projections_fit<Heads, Sizes>,
    verdict<remainder<Heads, typename Sizes::kv_heads> == 0, say::multi_head_attention, Heads,
            say::into, typename Sizes::kv_heads, say::leaves_a_remainder_of,
            number<remainder<Heads, typename Sizes::kv_heads>>, say::so_use,
            axes::kv_heads<rules::nearest_divisor(Heads::size, Sizes::kv_heads::size)>>,
    rope_fits<say::multi_head_attention, typename Sizes::rope, typename Sizes::head_dim>,
    scoring<say::multi_head_attention, typename Sizes::scoring>>;

// Sizes: detail::multi_head_options. Heads divide hidden, unless their width is given.
template <class T, class Hidden, class Heads, class Sizes, class... Options>
using multi_head = first_error<
    floating<say::multi_head_attention, T>,
    in_place<say::multi_head_attention, Hidden, axes::hidden>,
    in_place<say::multi_head_attention, Heads, axes::heads>, well_formed<typename Sizes::hidden>,
    well_formed<typename Sizes::heads>,
    options<say::multi_head_attention,
            decltype(and_kinds(
                option_kinds<option::bias, axis_family<axes::kv_heads>, axis_family<axes::head_dim>,
                             axis_family<axes::value_dim>, option::keys_from, option::values_from,
                             option::output_to, option::query_key_norm, option::rope,
                             option::score_scale, option::softcap, option::empty_rows>{},
                typename Sizes::norm_option::kinds{})),
            Options...>,
    norm_options<say::multi_head_attention, typename Sizes::template norm<float>>,
    projections_with_bias<say::multi_head_attention, typename Sizes::bias>,
    verdict<remainder<typename Sizes::hidden, typename Sizes::heads> == 0 || Sizes::gives_head_dim,
            say::multi_head_attention, typename Sizes::hidden, say::into, typename Sizes::heads,
            say::leaves_a_remainder_of,
            number<remainder<typename Sizes::hidden, typename Sizes::heads>>>,
    head_sizes_fit<typename Sizes::hidden, typename Sizes::heads, Sizes>>;

}  // namespace rules
}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
