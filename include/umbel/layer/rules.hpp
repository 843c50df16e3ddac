// SPDX-License-Identifier: BSL-1.0
// Verdicts for every layer: its element type, the axes in its type, its weights, memory for the
// result. Operation or Layer is the first word of a sentence. See workspace_rules.hpp for
// workspaces, and attention/rules.hpp and the layers for the arguments of a layer.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/layer/parts.hpp>
#include <umbel/layer/workspace.hpp>
#include <umbel/shape/axes.hpp>
#include <umbel/tensor/tensor.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct but_has;
struct but_out_has;
struct but_the_layer_has;
struct but_the_layer_has_type;
struct but_the_weights_have_type;
struct but_the_weights_expect;
struct bytes;
struct has_type;
struct must_be_integers_but_have_type;
struct needs_the_axis;
struct the_input_has;
struct the_input_has_type;
struct the_weights_do_not_match_this_layer_and_its_options;
struct the_workspace_is_const;
struct the_workspace_is_for_a_different_layer_or_other_sizes_so_pass_one_for;
struct workspace;
}  // namespace say

// Words that are names in code keep their underscores.
UMBEL_SAYS(multi_head_attention, "multi_head_attention");
UMBEL_SAYS(got, ", got");
UMBEL_SAYS(expects_axes_of_positions_so_use_workspace_for_with_tensors,
           "expects axes of positions, workspace<token<12>>; for tensors use workspace_for");
UMBEL_SAYS(is_unnecessary_since_sequences_share_one_workspace_so_leave_it_out,
           "is unnecessary, since sequences share one workspace; leave it out");
UMBEL_SAYS(the_number_of_axes_must_be_at_least, "the number of axes must be at least");
UMBEL_SAYS(the_number_of_axes_must_be_at_most, "the number of axes must be at most");
UMBEL_SAYS(construct_it_from_one_object_its_weights, "construct it from one object, its weights");
UMBEL_SAYS(several_elements_of_out_share_one_memory_location,
           "several elements of out share one memory location (broadcast or windows)");

UMBEL_SAYS(out_is_a_temporary_so_store_it_in_a_variable,
           "out is a temporary; store it in a variable");
UMBEL_SAYS(
    the_weights_are_a_temporary_that_would_be_destroyed_before_the_layer_so_store_them_in_a_variable,
    "the weights are a temporary that would be destroyed before the layer; store them in a "
    "variable");
UMBEL_SAYS(is_a_width_of_the_layer_so_name_the_axis_of_the_positions,
           "is a width of the layer; name the axis of the positions, workspace<token<12>>");
UMBEL_SAYS(so_pass_one_for, "; pass one for");
UMBEL_SAYS(not_, ", not");
UMBEL_SAYS(needs_float_or_double_not, "needs float or double, not");
UMBEL_SAYS(out_must_be_row_major_in_memory, "out must be row-major in memory");
UMBEL_SAYS(expects_one_workspace_not_parallel, "expects one workspace, not parallel(...)");

// Weights of a different layer.
template <class W, class View, class Layer>
concept foreign_weights = !std::is_convertible_v<const W&, View> && !std::is_base_of_v<Layer, W>;
template <class Given>
concept no_part_of_weights = tensor_like<Given> || std::is_arithmetic_v<Given>;
// Not arguments of a layer's constructor: no weights, other layers' weights, tensors, sizes. (Not
// several parts of weights: layer({w.q, w.k, w.v, w.o}) would be ambiguous.)
template <class View, class Layer, class... Given>
concept not_its_weights = (sizeof...(Given) < 2 && (foreign_weights<Given, View, Layer> && ...)) ||
                          (sizeof...(Given) > 1 && (no_part_of_weights<Given> || ...));
// Replaces refused weights. A constant, so that a formula reports nothing more.
struct refused_weights {};
template <class View>
constexpr View no_weights() noexcept {
  return View(refused_weights{});
}

namespace rules {
// Lengths are integers, not bool, which is a mask of keys.
template <class T>
inline constexpr bool is_length = std::is_integral_v<T> && !std::is_same_v<T, bool>;
// A number that is an argument of a formula has the formula's type.
template <class X>
inline constexpr bool holds_integers = is_length<typename X::value_type>;
template <traced X>
inline constexpr bool holds_integers<X> =
    is_length<typename X::value_type> ||
    (layout_of<X>::rank == 0 && !std::is_same_v<typename X::value_type, bool>);

using batch_family = axis_family<axes::batch>;
using query_family = axis_family<axes::query>;
using key_family = axis_family<axes::key>;
using heads_family = axis_family<axes::heads>;

// Layers compute in float or double.
template <class Layer, class T>
using floating = verdict<std::is_same_v<T, float> || std::is_same_v<T, double>, Layer,
                         say::needs_float_or_double_not, detail::option_word<T>>;

// Axes that a layer accepts by position, with any name except those with another meaning for it: an
// option came too early, or two axes were swapped. Wanted: the family that belongs there.
template <class Family, class... Families>
inline constexpr bool is_one_of = (std::is_same_v<Family, Families> || ...);
template <class Family>
inline constexpr bool names_parts_of_a_layer =
    is_one_of<Family, batch_family, heads_family, axis_family<axes::kv_heads>,
              axis_family<axes::head_dim>, axis_family<axes::value_dim>,
              axis_family<axes::score_hidden>, axis_family<axes::intermediate>>;

template <class Given, class Wanted>
inline constexpr bool is_in_place =
    std::is_same_v<typename Given::family, Wanted> ||
    (!names_parts_of_a_layer<typename Given::family> &&
     !is_one_of<typename Given::family, query_family, key_family, axis_family<axes::token>>);
template <class Given>
inline constexpr bool is_in_place<Given, heads_family> =
    std::is_same_v<typename Given::family, heads_family>;
template <class Given>
inline constexpr bool is_in_place<Given, key_family> =
    std::is_same_v<typename Given::family, key_family>;
template <class Given>
inline constexpr bool is_in_place<Given, axis_family<axes::token>> =
    !names_parts_of_a_layer<typename Given::family> &&
    !std::is_same_v<typename Given::family, axis_family<axes::hidden>>;

template <class Given>
inline constexpr bool is_in_place<Given, axis_family<axes::vocabulary>> =
    is_in_place<Given, axis_family<axes::token>>;

template <class Layer, class Given, class Wanted>
struct in_place_rule {
  using type = verdict<false, Layer, struct expected_the_axis, Wanted, say::but_got,
                       detail::option_word<Given>>;
};
template <class Layer, class Wanted>
struct in_place_rule<Layer, nothing, Wanted> {
  using type = verdict<false, Layer, say::the_axis, Wanted, say::is_missing>;
};
template <class Layer, axis_like Given, class Wanted>
  requires is_in_place<Given, Wanted>
struct in_place_rule<Layer, Given, Wanted> {
  using type = accepted;
};
template <class Layer, class Given, template <std::size_t> class Wanted>
using in_place = typename in_place_rule<Layer, Given, axis_family<Wanted>>::type;

// The members of a layer except its calls: Types, for its arguments, or OfNoAxis if these were
// refused; then the calls, which would name `no_axis`, add no second sentence.
template <class First, class Second, class Third, class Types, class OfNoAxis>
using types_or_none = std::conditional_t<First::ok && Second::ok && Third::ok, Types, OfNoAxis>;

template <class Whole, class Part>
inline constexpr std::size_t remainder = Whole::size % (Part::size ? Part::size : 1);

// A call doesn't write into a temporary.
template <class Layer, class Out>
using out_with_a_name =
    verdict<!temporary_tensor<Out>, Layer, say::out_is_a_temporary_so_store_it_in_a_variable>;

// The caller's memory: the axes of Result, in any order unless RowMajor; elements T, not const.
template <class Layer, class Out, class T, class Result, bool RowMajor>
struct out_rule {
  using type = accepted;
};
template <class Layer, class Out, class T, class Result, bool RowMajor>
  requires requires { typename Out::layout; }
struct out_rule<Layer, Out, T, Result, RowMajor> {
  using layout = typename Out::layout;
  using in_order =
      first_error<same_shape<Layer, Result, layout>,
                  verdict<layout::contiguous, Layer, say::out_must_be_row_major_in_memory>>;
  using type = first_error<
      verdict<layout::rank == Result::rank && same_axes<typename Result::axes, layout>::value,
              Layer, struct the_result_has, typename Result::axes, say::but_out_has,
              typename layout::axes>,
      verdict<std::is_same_v<typename Out::value_type, T>, Layer, struct the_result_has_type,
              element<T>, struct but_out_has_type, element<typename Out::value_type>>,
      verdict<lies_apart<layout>(), Layer, say::several_elements_of_out_share_one_memory_location>,
      verdict<!std::is_const_v<std::remove_pointer_t<decltype(std::declval<Out&>().data())>>, Layer,
              struct out_is_const>,
      std::conditional_t<RowMajor, in_order, accepted>>;
};
template <class Layer, class Out, class T, class Result, bool RowMajor = false>
using out_fits =
    first_error<out_with_a_name<Layer, Out>,
                typename out_rule<Layer, std::remove_reference_t<Out>, T, Result, RowMajor>::type>;
template <class Layer, class Out, class T, class Result>
using row_major_out = out_fits<Layer, Out, T, Result, true>;

// A layer borrows its weights, so they can't be a temporary (nor another's: weights_rules.hpp).
template <class Layer, bool Ok = false>
using weights_with_a_name = verdict<
    Ok, Layer,
    say::
        the_weights_are_a_temporary_that_would_be_destroyed_before_the_layer_so_store_them_in_a_variable>;

// Operation: its name in sentences. Width: the axis with its size, last in row-major memory.
template <class Operation, class X, class T, class Width>
using rows_of = first_error<
    has_axis<Operation, layout_of<X>, typename Width::family>,
    verdict<layout_of<X>::template size_of<typename Width::family> == Width::size, Operation,
            say::the_input_has, axis_of<layout_of<X>, typename Width::family>,
            say::but_the_weights_expect, typename Width::plain>,
    verdict<layout_of<X>::template position<typename Width::family> + 1 == layout_of<X>::rank,
            Operation, typename Width::plain, struct must_be_the_last_axis_of,
            typename layout_of<X>::axes>,
    verdict<layout_of<X>::contiguous, Operation, typename layout_of<X>::axes,
            say::is_not_row_major_in_memory_so_pass_contiguous_of_x>,
    verdict<std::is_same_v<typename X::value_type, T>, Operation, say::the_input_has_type,
            element<typename X::value_type>, say::but_the_weights_have_type, element<T>>>;

}  // namespace rules
}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
