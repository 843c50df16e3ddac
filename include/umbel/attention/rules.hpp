// SPDX-License-Identifier: BSL-1.0
// What the arguments of attention must look like, as verdicts and one concept.
//
// Self-attention takes one sequence: an optional batch axis, the hidden axis, and one axis more, of
// any name, along which the positions lie. Attention of one sequence to another takes queries
// (batch, query, hidden), keys and values (batch, key, hidden), in any order of axes.
#pragma once

#include <umbel/attention/options.hpp>
#include <umbel/attention/workspace.hpp>
#include <umbel/shape/axes.hpp>

namespace umbel {

namespace say {
struct but_out_has;
struct but_out_is_of_type;
struct the_result_has;
struct the_result_is_of_type;
struct attention;
struct but_keys_have;
struct but_queries_have;
struct but_the_layer_is_of_type;
struct but_the_weights_expect;
struct but_values_have;
struct bytes_but_the_stack_budget_is;
struct bytes_is_for_other_shapes;
struct got;
struct keys_argument_2;
struct keys_have;
struct must_be_of_integers_not_of_type;
struct must_have_an_axis;
struct must_have_only_batch_one_sequence_axis_and;
struct must_have_only_the_axes;
struct needs_a_workspace_of;
struct of_type;
struct queries_argument_1;
struct queries_have;
struct so_pass_one;
struct the_sequence;
struct the_workspace_of;
struct these_need;
struct valid_lens;
struct valid_lens_have;
struct values_argument_3;
}  // namespace say

namespace rules {

using batch_family = axis_family<axes::batch>;
using query_family = axis_family<axes::query>;
using key_family = axis_family<axes::key>;

// One of three arguments: the axes (batch,) Position, hidden, and the layer's element type.
template <class Layer, class Name, class X, class T, class Position, class Hidden>
using attention_argument = first_error<
    verdict<layout_of<X>::template has<Position>, Layer, Name, say::must_have_an_axis, Position,
            say::got, typename layout_of<X>::axes>,
    verdict<layout_of<X>::template has<typename Hidden::family>, Layer, Name,
            say::must_have_an_axis, typename Hidden::family, say::got,
            typename layout_of<X>::axes>,
    verdict<layout_of<X>::rank == 2 + layout_of<X>::template has<batch_family>, Layer, Name,
            say::must_have_only_the_axes, batch_family, Position, typename Hidden::family, say::got,
            typename layout_of<X>::axes>,
    verdict<layout_of<X>::template size_of<typename Hidden::family> == Hidden::size, Layer, Name,
            say::got, axis_of<layout_of<X>, typename Hidden::family>, say::but_the_weights_expect,
            Hidden>,
    verdict<std::is_same_v<typename X::value_type, T>, Layer, Name, say::of_type,
            element<typename X::value_type>, say::but_the_layer_is_of_type, element<T>>>;

// The same size along an axis that both have, or neither.
template <class Layer, class Family, class Left, class LeftHas, class Right, class RightHas>
using same_size =
    verdict<Left::template size_of<Family> == Right::template size_of<Family>, Layer, LeftHas,
            axis_of<Left, Family>, RightHas, axis_of<Right, Family>>;

template <class Layer, class X, class Y, class Z, class T, class Hidden>
using attend_to = first_error<
    attention_argument<Layer, say::queries_argument_1, X, T, query_family, Hidden>,
    attention_argument<Layer, say::keys_argument_2, Y, T, key_family, Hidden>,
    attention_argument<Layer, say::values_argument_3, Z, T, key_family, Hidden>,
    same_size<Layer, batch_family, layout_of<X>, say::queries_have, layout_of<Y>,
              say::but_keys_have>,
    same_size<Layer, batch_family, layout_of<Y>, say::keys_have, layout_of<Z>,
              say::but_values_have>,
    same_size<Layer, key_family, layout_of<Y>, say::keys_have, layout_of<Z>,
              say::but_values_have>>;

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

// Hidden is the axis with its size.
template <class Layer, class X, class T, class Hidden>
using self_attend = first_error<
    verdict<layout_of<X>::template has<typename Hidden::family> &&
                has_one_sequence_axis<layout_of<X>, Hidden>,
            Layer, say::the_sequence, say::must_have_only_batch_one_sequence_axis_and,
            typename Hidden::family, say::got, typename layout_of<X>::axes>,
    verdict<layout_of<X>::template size_of<typename Hidden::family> == Hidden::size, Layer,
            say::the_sequence, say::got, axis_of<layout_of<X>, typename Hidden::family>,
            say::but_the_weights_expect, Hidden>,
    verdict<std::is_same_v<typename X::value_type, T>, Layer, say::the_sequence, say::of_type,
            element<typename X::value_type>, say::but_the_layer_is_of_type, element<T>>>;

// valid_lens: how many keys of each sequence of the batch count. Integers, (batch).
template <class Layer, class Lens, class Queries>
using valid_lens = first_error<
    verdict<std::is_integral_v<typename Lens::value_type>, Layer, say::valid_lens,
            say::must_be_of_integers_not_of_type, element<typename Lens::value_type>>,
    verdict<layout_of<Lens>::rank == 1 && layout_of<Lens>::template has<batch_family>, Layer,
            say::valid_lens, say::must_have_only_the_axes, batch_family, say::got,
            typename layout_of<Lens>::axes>,
    same_size<Layer, batch_family, layout_of<Lens>, say::valid_lens_have, Queries,
              say::but_queries_have>>;

// The lengths, if there are any.
template <class Layer, class Lens, class Queries>
struct lengths_rule {
  using type = valid_lens<Layer, Lens, Queries>;
};
template <class Layer, class Lens, class Queries>
  requires(!requires { typename Lens::layout; })
struct lengths_rule<Layer, Lens, Queries> {
  using type = accepted;
};
template <class Layer, class Lens, class Queries>
using lengths_fit = typename lengths_rule<Layer, Lens, Queries>::type;

// Memory for the result, if it is the caller's: the axes of x in any order, elements not const.
template <class Layer, class Out, class X>
struct out_rule {
  using type = accepted;
};
template <class Layer, class Out, class X>
  requires requires { typename Out::layout; }
struct out_rule<Layer, Out, X> {
  using type = first_error<
      verdict<Out::layout::rank == X::layout::rank &&
                  same_axes<typename X::layout::axes, typename Out::layout>::value,
              Layer, say::the_result_has, typename X::layout::axes, say::but_out_has,
              typename Out::layout::axes>,
      verdict<std::is_same_v<typename Out::element_type, typename X::value_type>, Layer,
              say::the_result_is_of_type, element<typename X::value_type>, say::but_out_is_of_type,
              element<typename Out::element_type>>>;
};
template <class Layer, class Out, class X>
using out_fits = typename out_rule<Layer, std::remove_reference_t<Out>, X>::type;

// Scratch on the stack within its budget, or the very workspace that this call needs.
template <class Layer, class Given, class Wanted>
using scratch_fits = first_error<
    verdict<!std::is_same_v<Given, on_stack> || sizeof(Wanted) <= UMBEL_STACK_BUDGET, Layer,
            say::needs_a_workspace_of, number<sizeof(Wanted)>, say::bytes_but_the_stack_budget_is,
            number<UMBEL_STACK_BUDGET>, say::so_pass_one>,
    verdict<std::is_same_v<Given, on_stack> || std::is_same_v<Given, Wanted>, Layer,
            say::the_workspace_of, number<sizeof(Given)>, say::bytes_is_for_other_shapes,
            say::these_need, number<sizeof(Wanted)>>>;

// ---- the layer itself -----------------------------------------------------------------------------
template <class Hidden, class Heads, class... Options>
using multi_head = first_error<
    well_formed<Hidden>, well_formed<Heads>,
    verdict<Hidden::size % (Heads::size ? Heads::size : 1) == 0, say::attention, Hidden, say::into,
            Heads, say::leaves_a_remainder_of, number<Hidden::size % (Heads::size ? Heads::size : 1)>>,
    options<say::attention, option_kinds<option::bias>, Options...>>;

}  // namespace rules
}  // namespace umbel
