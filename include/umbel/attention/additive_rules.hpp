// SPDX-License-Identifier: BSL-1.0
// Verdicts on the arguments of additive attention: queries (batch, query, hidden) and keys (batch,
// key, hidden), which may differ in width; values (batch, key, one axis of any name), with a width
// that the heads divide. See additive.hpp for the layer.
#pragma once

#include <umbel/attention/rules.hpp>
#include <umbel/attention/score.hpp>
#include <umbel/config.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
UMBEL_SAYS(additive_attention, "additive_attention");

namespace rules {

template <class Layout>
inline constexpr bool has_features =
    Layout::template has<key_family> && has_one_sequence_axis<Layout, axes::key<1>>;
// The axis of values that is neither batch nor key.
template <class Layout>
using feature_family = sequence_family<Layout, axes::key<1>>;

template <class Z>
using feature_axis = axis_of<layout_of<Z>, feature_family<layout_of<Z>>>;

template <class Z, class T, class Heads>
using additive_value_width =
    first_error<verdict<remainder<feature_axis<Z>, Heads> == 0, say::additive_attention,
                        feature_axis<Z>, say::into, Heads, say::leaves_a_remainder_of,
                        number<remainder<feature_axis<Z>, Heads>>>,
                verdict<std::is_same_v<typename Z::value_type, T>, say::additive_attention,
                        say::the_values_in_argument_3, say::have_type,
                        element<typename Z::value_type>, say::but_the_layer_has_type, element<T>>>;
template <class Z, class T, class Heads>
struct additive_values_rule {
  using type = verdict<false, say::additive_attention, say::the_values_in_argument_3,
                       struct need_exactly_one_feature_axis_besides_batch_and, key_family,
                       say::not_, typename layout_of<Z>::axes>;
};
template <class Z, class T, class Heads>
  requires has_features<layout_of<Z>>
struct additive_values_rule<Z, T, Heads> {
  using type = additive_value_width<Z, T, Heads>;
};
template <class Z, class T, class Heads>
using additive_values = typename additive_values_rule<Z, T, Heads>::type;

template <class X, class Y, class Z, class T, class Hidden, class KeysHidden, class Heads>
using additive_sequences =
    first_error<attention_argument<say::additive_attention, say::the_queries_in_argument_1, X, T,
                                   query_family, Hidden>,
                attention_argument<say::additive_attention, say::the_keys_in_argument_2, Y, T,
                                   key_family, KeysHidden>,
                additive_values<Z, T, Heads>,
                same_size<say::additive_attention, batch_family, layout_of<X>, say::the_queries,
                          layout_of<Y>, say::but_the_keys>,
                same_size<say::additive_attention, batch_family, layout_of<Y>, say::the_keys,
                          layout_of<Z>, say::but_the_values>,
                same_size<say::additive_attention, key_family, layout_of<Y>, say::the_keys,
                          layout_of<Z>, say::but_the_values>>;
template <class Sequences, class X, class Z, class Hidden, bool = Sequences::ok>
struct additive_call_rule {
  using type = Sequences;
};
// The result has the queries' axes with the values' features instead of Hidden.
template <class Sequences, class X, class Z, class Hidden>
struct additive_call_rule<Sequences, X, Z, Hidden, true> {
  using type = is_new_axis<say::additive_attention, layout_of<X>, feature_family<layout_of<Z>>,
                           typename Hidden::family>;
};
template <class X, class Y, class Z, class T, class Hidden, class KeysHidden, class Heads>
using additive_call =
    typename additive_call_rule<additive_sequences<X, Y, Z, T, Hidden, KeysHidden, Heads>, X, Z,
                                Hidden>::type;

// ---- the layer
//
// Sizes: detail::additive_options.
template <class T, class Hidden, class ScoreHidden, class Sizes, class... Options>
using additive_layer = first_error<
    floating<say::additive_attention, T>, in_place<say::additive_attention, Hidden, axes::hidden>,
    in_place<say::additive_attention, ScoreHidden, axes::score_hidden>,
    well_formed<detail::axis_or_none<Hidden>>, well_formed<detail::axis_or_none<ScoreHidden>>,
    options<say::additive_attention,
            option_kinds<axis_family<axes::heads>, option::bias, option::keys_from, option::softcap,
                         option::empty_rows>,
            Options...>,
    projections_with_bias<say::additive_attention, typename Sizes::bias>,
    in_place<say::additive_attention, typename Sizes::keys, axes::hidden>,
    well_formed<typename Sizes::heads>, well_formed<typename Sizes::keys>,
    holds<detail::axis_or_none<Hidden>, typename Sizes::heads, detail::axis_or_none<ScoreHidden>>,
    holds<typename Sizes::keys, typename Sizes::heads, detail::axis_or_none<ScoreHidden>>,
    scoring<say::additive_attention, typename Sizes::scoring>>;

}  // namespace rules
}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
